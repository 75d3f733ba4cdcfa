//! Splitting: `for i < n { A(i) } = for i0 = 0, f, .. < n { for i1 < f { A(i0 + i1) } }`

use super::copy::{Copy, Merge};
use crate::nest::edit::{Why, allocated, at_loop, bounds_around, walk};
use crate::nest::independent::read_and_written;
use crate::nest::ir::*;
use accel_core::repr::op::{Num2, Op2};
use accel_core::repr::{Scalar, ScalarType};
use accel_fusion::kernel::{Instr, Reg};
use std::collections::{BTreeMap, BTreeSet};

/// What happens if the factor does not divide the number of iterations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tail {
    /// It visibly divides it.
    Exact,
    /// The last iterations repeat the last value. They write the same numbers again, and combine nothing.
    Clamp,
    /// A loop of its own executes the last iterations.
    Peel,
    /// The last iterations begin earlier. Those that were executed before write the same numbers again. There are at least
    /// as many iterations as the factor.
    Overlap,
}

/// The result of splitting a loop: the nest, and the variables of its loops.
pub struct Split {
    /// The nest.
    pub nest: Nest,
    /// The outer loop.
    pub outer: Reg,
    /// The inner loop, over the numbers below the factor.
    pub inner: Reg,
    /// The loop for the last iterations, if they are peeled off, and the copies of the loops inside it.
    pub rest: Option<(Reg, BTreeMap<Reg, Reg>)>,
}

/// Splits the loop over `var`, which has steps of 1.
///
/// # Errors
/// The loop is bound or has other steps, it does not visibly have the number of iterations that `tail` demands, or `tail` would
/// repeat iterations that change what they have read.
pub fn split(nest: &Nest, var: Reg, factor: i64, tail: Tail) -> Result<Split, Why> {
    let (mut outer, mut inner, mut rest) = (Reg::NONE, Reg::NONE, None);
    let bounds = bounds_around(&nest.body, var);
    let nest = at_loop(nest, var, |nest, f| {
        if f.step != 1 || f.bind != Bind::Seq || factor < 1 {
            return Err(Why(format!("the loop over x{var} has other steps, or is bound")));
        }
        if matches!(tail, Tail::Clamp | Tail::Overlap) && changes_what_it_read(nest, &f.body) {
            return Err(Why(format!("the loop over x{var} changes what it has read, so no iteration can be repeated")));
        }
        (outer, inner) = (nest.register(ScalarType::I64), nest.register(ScalarType::I64));
        let is_multiple =
            |a: &Affine| a.terms.iter().all(|(r, k)| multiple(nest, *r) * k % factor == 0) && a.constant % factor == 0;
        let starts_whole = is_multiple(&f.from);
        if tail == Tail::Exact && !(starts_whole && is_multiple(&f.to)) {
            return Err(Why(format!("{factor} does not visibly divide the number of iterations over x{var}")));
        }
        if tail == Tail::Peel && !starts_whole {
            return Err(Why(format!("the loop over x{var} does not visibly begin with a multiple of {factor}")));
        }
        let mut value = Affine::from(outer).plus(&inner.into(), 1).ok_or_else(Why::too_large)?;
        let mut body = f.body.clone();
        let mut start = vec![];
        let limit = match tail {
            Tail::Exact | Tail::Peel => None,
            Tail::Overlap => {
                if !has_at_least(nest, &f, factor) || !combined(&body).is_empty() {
                    return Err(Why(format!(
                        "the loop over x{var} may be shorter than {factor}, or it combines numbers"
                    )));
                }
                let first = nest.register(ScalarType::I64);
                let limit = f.to.plus(&Affine::constant(factor - 1), -1).ok_or_else(Why::too_large)?;
                start.push(Node::Index { to: first, value: outer.into(), limit: Some(limit) });
                value = value.replaced(outer, &first.into()).ok_or_else(Why::too_large)?;
                None
            }
            Tail::Clamp => {
                let guard = Guard { smaller: value.clone(), larger: f.to.clone() };
                let sums = combined(&body);
                guard_sums(&mut body, var, &guard, &sums);
                Some(f.to.clone())
            }
        };
        body.insert(0, Node::Index { to: var, value, limit });
        let loop_ = |var, from, to, step, whole, body| For { var, from, to, step, whole, bind: Bind::Seq, body };
        let inner_loop = loop_(inner, Affine::constant(0), Affine::constant(factor), 1, false, body);
        let whole = tail == Tail::Peel;
        start.push(Node::For(inner_loop));
        let head = loop_(outer, f.from.clone(), f.to.clone(), factor, whole, start);
        let mut nodes = vec![Node::For(head)];
        if whole {
            let start = last_multiple(nest, &f.to, factor, &mut nodes);
            let last = nest.register(ScalarType::I64);
            let mut around = bounds;
            around.push((last, f.to.clone()));
            let mut copy = Copy::with(var, last.into());
            let body = Merge::another(nest, around, &f.body, &mut copy)?;
            let mut inner = BTreeMap::new();
            walk(&f.body, &mut |n| {
                if let Node::For(f) = n {
                    inner.extend(copy.register(f.var).map(|r| (f.var, r)));
                }
            });
            rest = Some((last, inner));
            nodes.push(Node::For(loop_(last, start.into(), f.to.clone(), 1, false, body)));
        }
        Ok(nodes)
    })?;
    Ok(Split { nest, outer, inner, rest })
}

/// A number that divides a register.
pub fn multiple(nest: &Nest, r: Reg) -> i64 {
    let of_loop = |n: &Node| match n {
        Node::For(f) if f.var == r && f.from.as_constant() == Some(0) => Some(f.step),
        _ => None,
    };
    let mut found = nest.params.iter().find(|p| p.register == r).map(|p| p.multiple);
    walk(&nest.body, &mut |n| found = found.or(of_loop(n)));
    found.unwrap_or(1)
}

/// Adds nodes that compute the largest multiple of a factor that is at most `n`, which is not negative.
fn last_multiple(nest: &mut Nest, n: &Affine, factor: i64, nodes: &mut Vec<Node>) -> Reg {
    let all = nest.register(ScalarType::I64);
    let by = nest.register(ScalarType::I64);
    let beyond = nest.register(ScalarType::I64);
    let last = nest.register(ScalarType::I64);
    nodes.push(Node::Index { to: all, value: n.clone(), limit: None });
    nodes.push(Node::Let(Instr::Const(by, Scalar::I64(factor))));
    nodes.push(Node::Let(Instr::Op2(beyond, Op2::Num(Num2::Rem), all, by)));
    nodes.push(Node::Let(Instr::Op2(last, Op2::Num(Num2::Sub), all, beyond)));
    last
}

/// Whether a loop from 0 has at least this many iterations.
fn has_at_least(nest: &Nest, f: &For, count: i64) -> bool {
    let least = |r: Reg| nest.params.iter().find(|p| p.register == r).and_then(|p| p.least);
    let n = f.to.as_constant().or_else(|| least(f.to.as_register()?));
    f.from.as_constant() == Some(0) && n.is_some_and(|n| n >= count)
}

/// Whether nodes read numbers that they change, and that they have not stored before at the same place. Then they compute
/// something else when they are executed again.
fn changes_what_it_read(nest: &Nest, nodes: &[Node]) -> bool {
    !reads_only_stored(&read_and_written(nest, nodes), nodes, &mut vec![])
}

/// Whether each number of these buffers that nodes read is one that was stored before, in the same iteration.
fn reads_only_stored(changed: &BTreeSet<BufferId>, nodes: &[Node], stored: &mut Vec<Place>) -> bool {
    let before = stored.len();
    let all = nodes.iter().all(|n| match n {
        Node::Load { from, .. } => !changed.contains(&from.buffer) || stored.contains(from),
        Node::Transpose { from, .. } => !changed.contains(&from.buffer),
        Node::AccLanes { all, .. } => !all.iter().any(|a| changed.contains(&a.2)),
        Node::Store { to, .. } => {
            stored.extend(Some(to.clone()).filter(Place::is_proved));
            true
        }
        n => reads_only_stored(changed, n.inner(), stored),
    });
    stored.truncate(before);
    all
}

/// The buffers that begin outside and hold numbers that nodes combine.
fn combined(nodes: &[Node]) -> BTreeSet<BufferId> {
    let (inside, mut found) = (allocated(nodes), BTreeSet::new());
    walk(nodes, &mut |n| match n {
        Node::Acc { to, .. } => _ = found.insert(to.buffer),
        Node::AccLanes { all, .. } => found.extend(all.iter().map(|a| a.1.buffer)),
        _ => {}
    });
    found.difference(&inside).copied().collect()
}

/// Guards all nodes that combine numbers of these buffers, and those that store their first values. Where the guard holds, the
/// loop variable is what it is clamped from.
fn guard_sums(nodes: &mut [Node], var: Reg, guard: &Guard, sums: &BTreeSet<BufferId>) {
    let replaced = |p: &mut Place| {
        for i in &mut p.index {
            *i = i.replaced(var, &guard.smaller).unwrap_or_else(|| i.clone());
        }
    };
    for n in nodes {
        match n {
            Node::If { guards, body } => match &mut body[..] {
                [Node::Acc { to, .. } | Node::Store { to, .. }] if sums.contains(&to.buffer) => {
                    replaced(to);
                    guards.push(guard.clone());
                }
                body => guard_sums(body, var, guard, sums),
            },
            Node::For(For { body, .. }) => guard_sums(body, var, guard, sums),
            Node::AccLanes { all, .. } => all.iter_mut().for_each(|(guards, to, _)| {
                replaced(to);
                guards.push(guard.clone());
            }),
            Node::Acc { to, .. } | Node::Store { to, .. } if sums.contains(&to.buffer) => {
                replaced(to);
                *n = Node::If { guards: vec![guard.clone()], body: vec![n.clone()] };
            }
            _ => {}
        }
    }
}
