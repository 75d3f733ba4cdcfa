//! Shrinking: makes smaller programs that are still well-typed.

use super::program::*;

/// Programs that are a little smaller, the smallest first.
pub fn candidates(p: &Program) -> Vec<Program> {
    let mut all = vec![];
    // Programs without one step: its uses become uses of an earlier step of its type.
    for k in (PRELUDE..p.steps.len()).rev() {
        for j in earlier(p, k) {
            all.push(without(p, k, j));
        }
    }
    for r in 0..p.results.len() {
        let first = first_of(p, p.steps[p.results[r]].0);
        if first != p.results[r] {
            let mut q = p.clone();
            q.results[r] = first;
            all.push(q);
        }
    }
    all = all.into_iter().map(|q| swept(&q)).collect();
    for k in PRELUDE..p.steps.len() {
        for step in smaller_steps(&p.steps[k].1) {
            let mut q = p.clone();
            q.steps[k].1 = step;
            all.push(swept(&q));
        }
    }
    all.extend(smaller_inputs(&p.inputs).into_iter().map(|inputs| Program { inputs, ..p.clone() }));
    all.retain(|q| q != p);
    all
}

fn first_of(p: &Program, ty: Ty) -> usize {
    p.steps.iter().position(|(t, _)| *t == ty).expect("a step of the type")
}

/// A few earlier steps of the type of step `k`.
fn earlier(p: &Program, k: usize) -> Vec<usize> {
    let all: Vec<usize> = (0..k).filter(|j| p.steps[*j].0 == p.steps[k].0).collect();
    let last = all.last().copied().filter(|_| all.len() > 1);
    all.first().copied().into_iter().chain(last).collect()
}

/// The program without step `k`; `j` takes its place.
fn without(p: &Program, k: usize, j: usize) -> Program {
    let mut q = p.clone();
    q.steps.remove(k);
    let mut redirect = |i: &mut usize| match (*i).cmp(&k) {
        std::cmp::Ordering::Less => {}
        std::cmp::Ordering::Equal => *i = j,
        std::cmp::Ordering::Greater => *i -= 1,
    };
    q.steps.iter_mut().for_each(|(_, s)| s.arrays_mut(&mut redirect));
    q.results.iter_mut().for_each(redirect);
    q
}

/// The program without its unused steps.
pub fn swept(p: &Program) -> Program {
    let mut q = p.clone();
    for (_, step) in &mut q.steps {
        if let Some(f) = step.funs_mut() {
            *f = swept_fun(f);
        }
    }
    for k in (PRELUDE..q.steps.len()).rev() {
        if !q.live()[k] {
            // Nothing refers to it.
            q = without(&q, k, 0);
        }
    }
    q
}

fn swept_fun(f: &Fun) -> Fun {
    let mut live = vec![false; f.nodes.len()];
    f.results.iter().for_each(|i| live[*i] = true);
    for i in (0..f.nodes.len()).rev() {
        if live[i] {
            f.nodes[i].1.nodes().into_iter().for_each(|j| live[j] = true);
        }
    }
    let mut places = vec![];
    let mut next = 0;
    for l in &live {
        places.push(next);
        next += usize::from(*l);
    }
    let mut g = f.clone();
    g.nodes = f.nodes.iter().zip(&live).filter(|(_, l)| **l).map(|(n, _)| n.clone()).collect();
    for (_, node) in &mut g.nodes {
        node.nodes_mut(&mut |i| *i = places[*i]);
    }
    g.results.iter_mut().for_each(|i| *i = places[*i]);
    g
}

fn smaller_steps(step: &Step) -> Vec<Step> {
    let mut all = vec![];
    if let Some(f) = step.clone().funs_mut() {
        for smaller in smaller_funs(f) {
            let mut s = step.clone();
            *s.funs_mut().expect("the same step") = smaller;
            all.push(s);
        }
    }
    let mut s = step.clone();
    match &mut s {
        Step::Generate { extents, .. } | Step::Backpermute { extents, .. } => {
            for i in 0..extents.len() {
                for n in [1, 2] {
                    let mut s = step.clone();
                    if let Step::Generate { extents, .. } | Step::Backpermute { extents, .. } = &mut s
                        && extents[i] != Extent::Const(1)
                        && extents[i] != Extent::Const(n)
                    {
                        extents[i] = Extent::Const(n);
                        all.push(s);
                    }
                }
            }
        }
        Step::Replicate { dims, .. } => {
            dims.iter_mut().flatten().for_each(|e| *e = Extent::Const(1));
            all.push(s);
        }
        Step::Slice { dims, .. } => {
            dims.iter_mut().flatten().for_each(|i| *i = 0);
            all.push(s);
        }
        Step::Fold { op, .. } | Step::Scan { op, .. } | Step::Permute { op, .. } if *op != Operator::Add => {
            *op = Operator::Add;
            all.push(s);
        }
        Step::Acond { tupled, .. } if *tupled => {
            *tupled = false;
            all.push(s);
        }
        Step::Awhile { times, .. } | Step::Exchange { times, .. } | Step::Iterate { times, .. } if *times > 1 => {
            *times -= 1;
            all.push(s);
        }
        _ => {}
    }
    all
}

fn smaller_funs(f: &Fun) -> Vec<Fun> {
    let mut all = vec![];
    for i in (0..f.nodes.len()).rev() {
        let (ty, node) = &f.nodes[i];
        // Replaces uses of a node by another one.
        for j in (0..i).filter(|j| f.nodes[*j].0 == *ty) {
            let mut g = f.clone();
            let mut redirect = |k: &mut usize| {
                if *k == i {
                    *k = j;
                }
            };
            g.nodes.iter_mut().for_each(|(_, n)| n.nodes_mut(&mut redirect));
            g.results.iter_mut().for_each(redirect);
            all.push(g);
        }
        let constants: &[Node] = match (ty, node) {
            (_, Node::F(_) | Node::I(_)) => &[],
            (Scalar::F, _) => &[Node::F(1.0), Node::F(0.5)],
            (Scalar::I, _) => &[Node::I(0), Node::I(1)],
            (Scalar::B, _) => &[],
        };
        if let Node::Read { outside: Outside::Skips, .. } = node {
            let mut g = f.clone();
            if let Node::Read { outside, .. } = &mut g.nodes[i].1 {
                *outside = Outside::Wraps;
            }
            all.push(g);
        }
        for c in constants {
            let mut g = f.clone();
            g.nodes[i].1 = c.clone();
            all.push(g);
        }
        if let Node::Loop { times, body, .. } = node {
            let fewer = (*times > 1).then(|| (times - 1, (**body).clone()));
            for (n, b) in fewer.into_iter().chain(smaller_funs(body).into_iter().map(|b| (*times, b))) {
                let mut g = f.clone();
                if let Node::Loop { times, body, .. } = &mut g.nodes[i].1 {
                    (*times, **body) = (n, b);
                }
                all.push(g);
            }
        }
    }
    all.into_iter().map(|f| swept_fun(&f)).filter(|g| g != f).collect()
}

fn smaller_inputs(inputs: &Inputs) -> Vec<Inputs> {
    let mut all = vec![];
    let mut with = |change: &dyn Fn(&mut Inputs)| {
        let mut i = inputs.clone();
        change(&mut i);
        all.push(i);
    };
    with(&|i| {
        i.xs.pop();
    });
    with(&|i| {
        i.ys.pop();
    });
    with(&|i| {
        i.is.pop();
    });
    let (rows, columns) = (inputs.m.0, inputs.m.1);
    if rows > 0 {
        with(&|i| {
            i.m.0 -= 1;
            i.m.2.truncate((rows - 1) * columns);
        });
    }
    if columns > 0 {
        with(&|i| {
            i.m.1 -= 1;
            let mut place = 0usize;
            i.m.2.retain(|_| {
                place += 1;
                !place.is_multiple_of(columns)
            });
        });
    }
    for k in 0..inputs.is.len() {
        with(&|i| i.is[k] /= 2);
    }
    // Only towards these values, so that shrinking terminates.
    let round = |xs: &[f64]| xs.iter().all(|x| [1.0, 0.5, 2.0].contains(x));
    for value in [1.0, 0.5, 2.0] {
        if !round(&inputs.xs) {
            with(&|i| i.xs.fill(value));
        }
        if !round(&inputs.ys) {
            with(&|i| i.ys.fill(value));
        }
        if !round(&inputs.m.2) {
            with(&|i| i.m.2.fill(value));
        }
    }
    all
}
