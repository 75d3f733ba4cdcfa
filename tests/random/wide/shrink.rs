//! Shrinking: makes smaller programs that are still well-typed.

use super::generate::values;
use super::program::*;
use super::types::{Data, Elem, Given, Number, Ty};
use accel::repr::Scalar;

/// The program without definitions that its results do not need.
pub fn swept(p: &Program) -> Program {
    let mut q = p.clone();
    sweep(&mut q.body, 0);
    for k in (0..q.inputs.len()).rev() {
        let mut used = q.body.results.contains(&k);
        q.body.arrays_mut(&mut |a| used |= *a == k);
        if !used && q.inputs.len() > 1 {
            q.inputs.remove(k);
            q.body.params.remove(k);
            q.body.arrays_mut(&mut |a| *a -= usize::from(*a > k));
        }
    }
    q
}

/// Removes the definitions that a block does not need, and the parts of functions that the others do not need.
fn sweep(block: &mut Block, base: Arr) {
    for k in (0..block.defs.len()).rev() {
        let level = block.levels(base)[k];
        let count = block.defs[k].tys.len();
        let mine = level..level + count;
        let mut used = block.results.iter().any(|a| mine.contains(a));
        for later in &mut block.defs[k + 1..] {
            later.step.arrays_mut(&mut |a| used |= mine.contains(a));
        }
        if used {
            let step = &mut block.defs[k].step;
            step.funs_mut().into_iter().for_each(|f| sweep_fun(f, 0));
            if let Some(inner) = step.block_mut() {
                sweep(inner, level);
            }
            if let Step::Call { program, .. } = step {
                sweep(program, 0);
            }
        } else {
            remove(block, k, base, &[]);
        }
    }
}

/// Removes a definition. If something refers to its arrays, the arrays `instead` take their place.
fn remove(block: &mut Block, k: usize, base: Arr, instead: &[Arr]) {
    let level = block.levels(base)[k];
    let count = block.defs[k].tys.len();
    block.defs.remove(k);
    let mut change = |a: &mut Arr| {
        if *a >= level + count {
            *a -= count;
        } else if *a >= level {
            *a = instead[*a - level];
        }
    };
    block.defs[k..].iter_mut().for_each(|d| d.step.arrays_mut(&mut change));
    block.results.iter_mut().for_each(change);
}

/// Removes what the results of a function do not need. It begins at level `base`.
fn sweep_fun(f: &mut Fun, base: Val) {
    for k in (0..f.nodes.len()).rev() {
        let v = base + f.params.len() + k;
        let mut used = f.results.contains(&v);
        f.nodes[k + 1..].iter_mut().for_each(|(_, n)| n.vals_mut(&mut |w| used |= *w == v));
        if used {
            f.nodes[k].1.funs_mut().into_iter().for_each(|g| sweep_fun(g, v));
        } else {
            f.nodes.remove(k);
            let mut change = |w: &mut Val| *w -= usize::from(*w > v);
            f.nodes[k..].iter_mut().for_each(|(_, n)| n.vals_mut(&mut change));
            f.results.iter_mut().for_each(change);
        }
    }
}

/// Programs that are a little smaller, the smallest first.
pub fn candidates(p: &Program) -> Vec<Program> {
    let mut all = vec![];
    let with = |change: &dyn Fn(&mut Program)| {
        let mut q = p.clone();
        change(&mut q);
        swept(&q)
    };
    // Programs with a single result.
    if p.body.results.len() > 1 {
        all.extend(p.body.results.iter().map(|a| with(&|q| q.body.results = vec![*a])));
        all.extend((0..p.body.results.len()).map(|k| {
            with(&|q| {
                q.body.results.remove(k);
            })
        }));
    }
    // Programs with a definition's values as inputs.
    if let Some(values) = values(p) {
        let types = p.body.types();
        let levels = p.body.levels(0);
        for k in (0..p.body.defs.len()).rev() {
            let (level, count) = (levels[k], p.body.defs[k].tys.len());
            if values.len() < level + count || values[level..level + count].iter().any(|a| a.size() > 3000) {
                continue;
            }
            let given: Vec<Given> = (level..level + count).map(|a| Given::listed(&types[a], &values[a])).collect();
            all.push(swept(&as_inputs(p, k, &given)));
        }
    }
    for k in (0..p.body.defs.len()).rev() {
        all.extend(without(&p.body, 0, k).into_iter().map(|body| swept(&Program { body, ..p.clone() })));
    }
    // Programs with smaller loops, calls and functions.
    for k in (0..p.body.defs.len()).rev() {
        let level = p.body.levels(0)[k];
        for step in smaller_steps(&p.body.defs[k].step, level, &p.body.types()) {
            all.push(with(&|q| q.body.defs[k].step = step.clone()));
        }
    }
    for k in 0..p.inputs.len() {
        all.extend(smaller_input(&p.inputs[k]).into_iter().map(|given| {
            let mut q = p.clone();
            q.inputs[k] = given;
            q
        }));
    }
    all.retain(|q| q != p);
    all.dedup();
    all
}

/// The program with inputs instead of a definition.
fn as_inputs(p: &Program, k: usize, given: &[Given]) -> Program {
    let mut q = p.clone();
    let (n, level, count) = (p.inputs.len(), p.body.levels(0)[k], given.len());
    q.body.defs.remove(k);
    // The arrays before the definition get higher numbers, also in the bodies of loops there. Those after it keep their
    // numbers.
    q.body.defs[..k].iter_mut().for_each(|d| {
        d.step.arrays_mut(&mut |a| {
            if *a >= n {
                *a += count;
            }
        });
    });
    let mut change = |a: &mut Arr| {
        if (level..level + count).contains(a) {
            *a = *a - level + n;
        } else if (n..level).contains(a) {
            *a += count;
        }
    };
    q.body.defs[k..].iter_mut().for_each(|d| d.step.arrays_mut(&mut change));
    q.body.results.iter_mut().for_each(change);
    q.inputs.extend(given.iter().cloned());
    q.body.params.extend(given.iter().map(Given::ty));
    q
}

/// A block without one of its definitions.
fn without(block: &Block, base: Arr, k: usize) -> Vec<Block> {
    let level = block.levels(base)[k];
    let types = block.types();
    // Earlier arrays of the same types; in a loop, only those of the loop.
    let tys = &block.defs[k].tys;
    let earlier = |ty: &Ty| {
        let all: Vec<Arr> = (base..level).filter(|a| types[*a - base] == *ty).collect();
        [all.first().copied(), all.last().copied()]
    };
    let mut found = vec![];
    for which in [1, 0] {
        let instead: Option<Vec<Arr>> = tys.iter().map(|ty| earlier(ty)[which]).collect();
        if let Some(instead) = instead {
            let mut b = block.clone();
            remove(&mut b, k, base, &instead);
            found.push(b);
        }
    }
    found.dedup();
    found
}

fn smaller_steps(step: &Step, level: Arr, types: &[Ty]) -> Vec<Step> {
    let mut all = vec![];
    let count = step.clone().funs_mut().len();
    for i in 0..count {
        let f = step.clone().funs_mut()[i].clone();
        for smaller in smaller_funs(&f, &[]) {
            let mut s = step.clone();
            *s.funs_mut()[i] = smaller;
            all.push(s);
        }
    }
    if let Some(block) = step.clone().block_mut() {
        for smaller in smaller_blocks(block, level) {
            let mut s = step.clone();
            *s.block_mut().expect("the same loop") = smaller;
            all.push(s);
        }
    }
    // Arithmetic becomes a sum, which `bool` does not have.
    let each = |op: &Operator| -> Vec<Operator> {
        match op {
            Operator::Each(ops) => (0..ops.len())
                .filter(|k| matches!(ops[*k], Basic::Mul | Basic::Min | Basic::Max | Basic::General))
                .map(|k| {
                    let mut ops = ops.clone();
                    ops[k] = Basic::Add;
                    Operator::Each(ops)
                })
                .collect(),
            _ => vec![],
        }
    };
    match step {
        Step::Call { program, args } => {
            for smaller in smaller_blocks(program, 0) {
                all.push(Step::Call { program: smaller, args: args.clone() });
            }
        }
        Step::Fold { op, z, all: whole, x } => {
            all.extend(each(op).into_iter().map(|op| Step::Fold { op, z: z.clone(), all: *whole, x: *x }));
        }
        Step::Scan { op, z, right, x } => {
            all.extend(each(op).into_iter().map(|op| Step::Scan { op, z: z.clone(), right: *right, x: *x }));
        }
        Step::Use(given) => all.extend(smaller_input(given).into_iter().map(Step::Use)),
        Step::Imap { f, x } => {
            let rank = types[*x].rank;
            // As a map, if the index is not used.
            let mut used = false;
            f.clone().vals_mut(&mut |v| used |= *v < rank);
            if !used {
                let mut f = f.clone();
                f.params.drain(..rank);
                f.vals_mut(&mut |v| *v -= rank);
                all.push(Step::Map { f, x: *x });
            }
        }
        _ => {}
    }
    all
}

fn smaller_blocks(block: &Block, level: Arr) -> Vec<Block> {
    let mut all = vec![];
    for k in (0..block.defs.len()).rev() {
        all.extend(without(block, level, k));
        let inner = block.levels(level)[k];
        let mut types = vec![Ty::new(0, Elem::I64); level];
        types.extend(block.types());
        for step in smaller_steps(&block.defs[k].step, inner, &types) {
            let mut b = block.clone();
            b.defs[k].step = step;
            all.push(b);
        }
    }
    all
}

/// Smaller functions; `outer` are the types of the values around it.
fn smaller_funs(f: &Fun, outer: &[Elem]) -> Vec<Fun> {
    let mut all = vec![];
    let base = outer.len();
    let elems: Vec<Elem> = outer.iter().chain(&f.params).chain(f.nodes.iter().map(|(e, _)| e)).cloned().collect();
    for k in (0..f.nodes.len()).rev() {
        let v = base + f.params.len() + k;
        let (elem, node) = &f.nodes[k];
        // Uses another value of the type instead.
        let mut others: Vec<Val> = (0..v).filter(|w| elems[*w] == *elem).collect();
        if others.len() > 6 {
            others.drain(3..others.len() - 3);
        }
        for w in others {
            let mut g = f.clone();
            let mut change = |u: &mut Val| {
                if *u == v {
                    *u = w;
                }
            };
            g.nodes[k + 1..].iter_mut().for_each(|(_, n)| n.vals_mut(&mut change));
            g.results.iter_mut().for_each(change);
            all.push(g);
        }
        let mut put = |node: Node| {
            let mut g = f.clone();
            g.nodes[k].1 = node;
            all.push(g);
        };
        let numbers = |x: f64| elem.leaves().into_iter().map(|p| Number(p.ty().from_f64(x))).collect::<Vec<_>>();
        match node {
            Node::Const(leaves) => {
                for x in [0.0, 1.0, 2.0] {
                    let simple = numbers(x);
                    let simpler = |a: &Number, b: &Number| size_of_number(*a) < size_of_number(*b);
                    if simple.iter().zip(leaves).any(|(a, b)| simpler(a, b)) {
                        put(Node::Const(simple));
                    }
                }
            }
            _ => {
                put(Node::Const(numbers(0.0)));
                put(Node::Const(numbers(1.0)));
            }
        }
        match node {
            Node::Read { array, index, outside } if *outside != Outside::Fails => {
                put(Node::Read { array: *array, index: index.clone(), outside: Outside::Fails });
            }
            Node::While { times, init, continues, body } => {
                for continues in smaller_funs(continues, &elems[..v]) {
                    put(Node::While { times: *times, init: *init, continues, body: body.clone() });
                }
                for body in smaller_funs(body, &elems[..v]) {
                    put(Node::While { times: *times, init: *init, continues: continues.clone(), body });
                }
            }
            Node::Gradient { f: g, at, with_value } => {
                for g in smaller_funs(g, &elems[..v]) {
                    put(Node::Gradient { f: g, at: *at, with_value: *with_value });
                }
            }
            _ => {}
        }
    }
    all.iter_mut().for_each(|g| sweep_fun(g, base));
    all.retain(|g| g != f);
    all
}

/// A measure that makes shrinking terminate.
fn size_of_number(x: Number) -> u32 {
    let x = match x.0 {
        Scalar::F64(x) => x,
        Scalar::F32(x) => x.into(),
        Scalar::Bool(x) => f64::from(u8::from(x)),
        Scalar::I8(x) => x.into(),
        Scalar::I16(x) => x.into(),
        Scalar::I32(x) => x.into(),
        Scalar::I64(x) => x as f64,
        Scalar::U8(x) => x.into(),
        Scalar::U16(x) => x.into(),
        Scalar::U32(x) => x.into(),
        Scalar::U64(x) => x as f64,
    };
    [0.0, 1.0, 2.0].iter().position(|y| x.to_bits() == f64::to_bits(*y)).map_or(3, |k| k as u32)
}

fn smaller_input(given: &Given) -> Vec<Given> {
    let mut all = vec![];
    let raw = given.raw();
    let listed = |extents: Vec<usize>| {
        // The part of the array that is left.
        let mut columns = vec![vec![]; raw.columns.len()];
        let mut index = vec![0usize; extents.len()];
        let size: usize = extents.iter().product();
        for _ in 0..size {
            let at = index.iter().zip(&given.extents).fold(0, |p, (i, n)| p * n + i);
            for (list, c) in columns.iter_mut().zip(&raw.columns) {
                list.push(Number(c.get(at).expect("an element")));
            }
            for (i, n) in index.iter_mut().zip(&extents).rev() {
                *i += 1;
                if *i < *n {
                    break;
                }
                *i = 0;
            }
        }
        Given { elem: given.elem.clone(), extents, data: Data::Listed(columns) }
    };
    for dim in 0..given.extents.len() {
        let n = given.extents[dim];
        for m in [0, 1, n / 2, n.saturating_sub(1)] {
            let mut extents = given.extents.clone();
            extents[dim] = m;
            if m < n && extents.iter().product::<usize>() <= 3000 {
                all.push(listed(extents));
            }
        }
    }
    if given.size() <= 300 {
        match &given.data {
            Data::Made { .. } => all.push(listed(given.extents.clone())),
            Data::Listed(columns) => {
                let change = |f: &dyn Fn(usize, Number) -> Option<Number>| {
                    let mut columns = columns.clone();
                    let mut changed = false;
                    for (k, c) in columns.iter_mut().enumerate() {
                        for x in c.iter_mut() {
                            if let Some(y) = f(k, *x).filter(|y| size_of_number(*y) < size_of_number(*x)) {
                                *x = y;
                                changed = true;
                            }
                        }
                    }
                    changed.then(|| Given { data: Data::Listed(columns), ..given.clone() })
                };
                let all_to = |v: f64| change(&|_, x| Some(Number(x.prim().ty().from_f64(v))));
                all.extend([0.0, 1.0].into_iter().filter_map(all_to));
                // Removes elements one by one.
                if given.size() <= 12 {
                    for k in 0..columns.len() {
                        for i in 0..columns[k].len() {
                            for v in [0.0, 1.0, 2.0] {
                                let mut columns = columns.clone();
                                let x = &mut columns[k][i];
                                let y = Number(x.prim().ty().from_f64(v));
                                if size_of_number(y) < size_of_number(*x) {
                                    *x = y;
                                    all.push(Given { data: Data::Listed(columns), ..given.clone() });
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    all
}
