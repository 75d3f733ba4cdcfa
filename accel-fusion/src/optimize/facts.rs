//! What is known of extents: symbolic values, what follows from them, and what is assumed.
//!
//! NOTE [Assumptions on extents]: many checks cannot be decided before the extents of the arguments are known: whether the two arrays of a
//! `zip_with` have the same extents, whether `xs[i + 2]` is inside of `xs`. Nearly always the answer is the one that makes the code
//! simpler, so it is assumed and written down: two extents of arguments are equal, a polynomial of them is not negative. A backend asks
//! [`Assumptions::hold`] before it runs the program; where they do not hold it takes the program that was optimised without.

use super::poly::{Poly, Sym};
use crate::kernel::{ArrayId, Program};
use accel_core::repr::Scalar;
use accel_core::repr::op::{Int2, Num2, Op2};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Conditions on the extents of the inputs and literals of a program.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Assumptions {
    zero: BTreeSet<Poly>,
    not_negative: BTreeSet<Poly>,
    /// What the nodes in them are.
    nodes: Vec<Node>,
}

impl Assumptions {
    /// Whether nothing is assumed.
    pub fn is_empty(&self) -> bool {
        self.zero.is_empty() && self.not_negative.is_empty()
    }
    /// Whether they hold where `extent(a, dim)` is an extent of an input or a literal.
    pub fn hold(&self, extent: impl Fn(ArrayId, usize) -> Option<usize>) -> bool {
        let value = |p: &Poly| self.value(p, &extent);
        self.zero.iter().all(|p| value(p) == Some(0))
            && self.not_negative.iter().all(|p| value(p).is_some_and(|n| n >= 0))
    }

    fn value(&self, p: &Poly, extent: &dyn Fn(ArrayId, usize) -> Option<usize>) -> Option<i128> {
        p.value(|s| match s {
            Sym::Extent(a, dim) => i64::try_from(extent(a, dim)?).ok(),
            Sym::Param(_) => None,
            Sym::Node(n) => match self.nodes.get(n)? {
                Node::Op(op, a, b) => {
                    let number = |p| self.value(p, extent).and_then(|n| i64::try_from(n).ok()).map(Scalar::I64);
                    match op.eval(number(a)?, number(b)?) {
                        Ok(Scalar::I64(n)) => Some(n),
                        _ => None,
                    }
                }
                Node::Unknown => None,
            },
        })
    }
}

/// An integer that is not a polynomial.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// An operation such as a division.
    Op(Op2, Poly, Poly),
    /// Something read from memory, or worse.
    Unknown,
}

/// Numbers beyond this one may overflow when they are added to or multiplied with indices.
const HUGE: u64 = 1 << 40;

/// What is known.
#[derive(Clone)]
pub struct Facts {
    /// The extents of every array.
    dims: Vec<Vec<Poly>>,
    /// How many columns every array has.
    columns: Vec<usize>,
    /// Inputs and literals.
    given: BTreeSet<ArrayId>,
    nodes: Vec<Node>,
    numbers: HashMap<(Op2, Poly, Poly), usize>,
    /// Whether something may be assumed.
    assume: bool,
    equal: BTreeMap<Sym, Sym>,
    assumptions: Assumptions,
}

/// The code that a question is about: the extents of its parameters (none is 0 where the code runs), and what else holds there:
/// these are not negative.
#[derive(Clone, Copy)]
pub struct Ranges<'a> {
    /// Parameter `k` is from 0 to `params[k] - 1`.
    pub params: &'a [Poly],
    /// What conditions say that hold.
    pub not_negative: &'a [Poly],
}

impl Facts {
    /// Of a program, nothing but that each array has extents.
    pub fn new(p: &Program, assume: bool) -> Facts {
        let nothing = Facts {
            dims: vec![],
            columns: vec![],
            given: BTreeSet::new(),
            nodes: vec![],
            numbers: HashMap::new(),
            assume,
            equal: BTreeMap::new(),
            assumptions: Assumptions::default(),
        };
        nothing.about(p)
    }
    /// What remains true, and is still assumed, of an equivalent program with the same inputs.
    pub fn about(self, p: &Program) -> Facts {
        let own = |(a, info): (usize, &crate::kernel::ArrayInfo)| {
            (0..info.rank).map(|dim| Poly::sym(Sym::Extent(a, dim))).collect()
        };
        Facts {
            dims: p.arrays.iter().enumerate().map(own).collect(),
            columns: p.arrays.iter().map(|a| a.columns.len()).collect(),
            given: p.inputs.iter().copied().collect(),
            ..self
        }
    }
    /// How much has been assumed.
    pub fn assumed(&self) -> usize {
        self.assumptions.zero.len() + self.assumptions.not_negative.len()
    }
    /// What has been assumed.
    pub fn into_assumptions(self) -> Assumptions {
        Assumptions { nodes: self.nodes, ..self.assumptions }
    }
    /// The arrays whose extents a value is made of.
    pub fn extents_in(&self, p: &Poly) -> BTreeSet<ArrayId> {
        let of = |s: Sym| match s {
            Sym::Extent(a, _) => [a].into_iter().collect(),
            Sym::Param(_) => BTreeSet::new(),
            Sym::Node(n) => match &self.nodes[n] {
                Node::Op(_, a, b) => &self.extents_in(a) | &self.extents_in(b),
                Node::Unknown => BTreeSet::new(),
            },
        };
        p.syms().flat_map(of).collect()
    }
    /// An array is given.
    pub fn give(&mut self, a: ArrayId) {
        self.given.insert(a);
    }
    /// A new array of so many columns, of which nothing is known yet.
    pub fn array(&mut self, columns: usize) {
        self.dims.push(vec![]);
        self.columns.push(columns);
    }
    /// How many columns an array has.
    pub fn columns(&self, a: ArrayId) -> usize {
        self.columns[a]
    }
    /// The extents of an array.
    pub fn dims(&self, a: ArrayId) -> Vec<Poly> {
        self.dims[a].iter().map(|p| self.normal(p)).collect()
    }
    /// An array has these extents; those with an unknown part stand for themselves.
    pub fn set_dims(&mut self, a: ArrayId, dims: Vec<Poly>) {
        let all = dims.into_iter().enumerate();
        let all = all.map(|(dim, p)| if self.is_known(&p) { p } else { Poly::sym(Sym::Extent(a, dim)) });
        self.dims[a] = all.collect();
    }
    /// Whether a polynomial is made of extents alone.
    pub fn is_known(&self, p: &Poly) -> bool {
        p.is_small()
            && p.syms().all(|s| match s {
                Sym::Extent(..) => true,
                Sym::Param(_) => false,
                Sym::Node(n) => match &self.nodes[n] {
                    Node::Op(_, a, b) => self.is_known(a) && self.is_known(b),
                    Node::Unknown => false,
                },
            })
    }
    /// Whether a value is made of extents, indices and numbers that are not huge, so that it does not overflow: `x < x + 1` holds for
    /// these, not for all integers.
    pub fn is_bounded(&self, p: &Poly) -> bool {
        p.terms().all(|(_, n)| n.unsigned_abs() <= HUGE)
            && p.syms().all(|s| match s {
                Sym::Extent(..) | Sym::Param(_) => true,
                Sym::Node(n) => match &self.nodes[n] {
                    Node::Op(_, a, b) => self.is_bounded(a) && self.is_bounded(b),
                    Node::Unknown => false,
                },
            })
    }
    /// What may be used in inequalities instead of a value: itself if it is the number that the polynomial is, or else a symbol.
    ///
    /// NOTE [Inequalities and overflow]: equations hold for numbers that wrap, inequalities do not. From `x + 1 < n`, where x was read
    /// from memory, `x < n` does not follow: x may be the largest integer. So `x + 1` gets a symbol of its own, of which `< n`
    /// is known then; and a read at `x + 1` is looked up under that symbol.
    pub fn exact(&mut self, p: &Poly) -> Poly {
        if self.is_bounded(p) || p.as_sym().is_some() {
            return p.clone();
        }
        self.node_of(Op2::Num(Num2::Add), p, &Poly::default())
    }
    fn node_of(&mut self, op: Op2, a: &Poly, b: &Poly) -> Poly {
        let next = self.nodes.len();
        let n = *self.numbers.entry((op, a.clone(), b.clone())).or_insert(next);
        if n == next {
            self.nodes.push(Node::Op(op, a.clone(), b.clone()));
        }
        Poly::sym(Sym::Node(n))
    }
    /// What a node is.
    pub fn node(&self, n: usize) -> &Node {
        &self.nodes[n]
    }
    /// A number of which nothing is known.
    pub fn unknown(&mut self) -> Poly {
        self.nodes.push(Node::Unknown);
        Poly::sym(Sym::Node(self.nodes.len() - 1))
    }

    fn normal(&self, p: &Poly) -> Poly {
        let replaced: BTreeMap<Sym, Sym> = p.syms().filter_map(|s| Some((s, *self.equal.get(&s)?))).collect();
        let replace = |p: Poly, (s, by): (Sym, Sym)| p.replace(s, &Poly::sym(by)).unwrap_or(p);
        replaced.into_iter().fold(p.clone(), replace)
    }

    /// The value of an operation, if anything but that it is one.
    pub fn op(&mut self, op: Op2, a: &Poly, b: &Poly, ranges: Ranges) -> Poly {
        let simple = match op {
            Op2::Num(Num2::Add) => Some(a.plus(b, 1)),
            Op2::Num(Num2::Sub) => Some(a.plus(b, -1)),
            Op2::Num(Num2::Mul) => a.times(b),
            Op2::Num(Num2::Min | Num2::Max) if a == b => Some(a.clone()),
            _ if !self.is_bounded(a) || !self.is_bounded(b) => None,
            Op2::Num(Num2::Min) if self.at_most(a, b, ranges) => Some(a.clone()),
            Op2::Num(Num2::Min) if self.at_most(b, a, ranges) => Some(b.clone()),
            Op2::Num(Num2::Max) if self.at_most(a, b, ranges) => Some(b.clone()),
            Op2::Num(Num2::Max) if self.at_most(b, a, ranges) => Some(a.clone()),
            Op2::Num(Num2::Min | Num2::Max) if self.assume_equal(a, b) => Some(self.normal(a)),
            // Both operands are at least 0 there, so that all kinds of division agree.
            Op2::Num(Num2::Rem) | Op2::Int(Int2::RemEuclid) if self.in_range(a, b, ranges) => Some(a.clone()),
            Op2::Num(Num2::Div) | Op2::Int(Int2::DivEuclid) if self.in_range(a, b, ranges) => Some(Poly::constant(0)),
            Op2::Num(Num2::Div) | Op2::Int(Int2::DivEuclid) if b.as_constant() == Some(1) => Some(a.clone()),
            Op2::Num(Num2::Rem) | Op2::Int(Int2::RemEuclid) if b.as_constant() == Some(1) => Some(Poly::constant(0)),
            _ => None,
        };
        match simple {
            Some(p) if p.is_small() => p,
            _ => self.node_of(op, a, b),
        }
    }

    /// Assumes that two extents of given arrays are equal.
    pub fn assume_equal(&mut self, a: &Poly, b: &Poly) -> bool {
        let given = |p: &Poly| match p.as_sym() {
            Some(Sym::Extent(a, dim)) if self.assume && self.given.contains(&a) => Some(Sym::Extent(a, dim)),
            _ => None,
        };
        let (Some(a), Some(b)) = (given(a), given(b)) else { return false };
        self.assumptions.zero.insert(Poly::sym(a).plus(&Poly::sym(b), -1));
        self.unite(a, b);
        true
    }

    /// Two extents are equal: the smaller one stands for both.
    fn unite(&mut self, a: Sym, b: Sym) {
        let root = |s: Sym| self.equal.get(&s).copied().unwrap_or(s);
        let (a, b) = (root(a), root(b));
        let (first, second) = (a.min(b), a.max(b));
        if first != second {
            self.equal.values_mut().filter(|s| **s == second).for_each(|s| *s = first);
            self.equal.insert(second, first);
        }
    }

    /// `0 <= i < n`
    pub fn in_range(&self, i: &Poly, n: &Poly, ranges: Ranges) -> bool {
        self.is_not_negative(i, ranges) && self.is_not_negative(&n.plus(i, -1).plus_constant(-1), ranges)
    }

    /// Whether `in_range` holds or can be assumed.
    pub fn can_assume_in_range(&self, i: &Poly, n: &Poly, ranges: Ranges) -> bool {
        let both = [i.clone(), n.plus(i, -1).plus_constant(-1)];
        both.iter().all(|p| self.is_not_negative(p, ranges) || self.may_assume(p, ranges).is_some())
    }

    /// Assumes what is missing for `in_range`.
    pub fn assume_in_range(&mut self, i: &Poly, n: &Poly, ranges: Ranges) {
        for p in [i.clone(), n.plus(i, -1).plus_constant(-1)] {
            if !self.is_not_negative(&p, ranges) {
                let least = self.may_assume(&p, ranges);
                self.assumptions.not_negative.extend(least);
            }
        }
    }

    /// The condition on given extents that makes a polynomial not negative for all parameters.
    fn may_assume(&self, p: &Poly, ranges: Ranges) -> Option<Poly> {
        let least = self.least(p, ranges)?;
        let given = self.is_known(&least) && self.extents_in(&least).iter().all(|a| self.given.contains(a));
        (self.assume && least.as_constant().is_none() && given).then_some(least)
    }

    /// `a <= b`
    pub fn at_most(&self, a: &Poly, b: &Poly, ranges: Ranges) -> bool {
        self.is_not_negative(&b.plus(a, -1), ranges)
    }

    /// Whether a polynomial is at least 0 for all parameters and extents.
    pub fn is_not_negative(&self, p: &Poly, ranges: Ranges) -> bool {
        let holds = |p: &Poly| self.least(p, ranges).is_some_and(|p| self.has_no_minus(&p, ranges));
        holds(p) || ranges.not_negative.iter().any(|fact| holds(&p.plus(fact, -1)))
    }

    /// The least value over all parameters, if it is easy to see for which that is.
    fn least(&self, p: &Poly, ranges: Ranges) -> Option<Poly> {
        let mut p = p.clone();
        // The last parameter first: the extents of one never mention another.
        for (k, extent) in ranges.params.iter().enumerate().rev() {
            let (slope, rest) = p.linear(Sym::Param(k))?;
            p = if self.has_no_minus(&slope, ranges) {
                rest
            } else if self.has_no_minus(&Poly::default().plus(&slope, -1), ranges) {
                rest.plus(&slope.times(&extent.plus_constant(-1))?, 1)
            } else {
                return None;
            };
        }
        if p.syms().any(|s| matches!(s, Sym::Param(_))) { None } else { Some(p) }
    }

    /// Whether all terms are at least 0. Extents are at least 0; those of parameters at least 1.
    fn has_no_minus(&self, p: &Poly, ranges: Ranges) -> bool {
        let holds = |p: &Poly| p.terms().all(|(syms, n)| n >= 0 && syms.iter().all(|s| self.is_natural(*s)));
        if holds(p) {
            return true;
        }
        let mut p = p.clone();
        let positive: BTreeSet<Sym> = ranges.params.iter().filter_map(Poly::as_sym).collect();
        for s in positive {
            let Some(q) = p.replace(s, &Poly::sym(s).plus_constant(1)) else { return false };
            p = q;
        }
        holds(&p)
    }

    fn is_natural(&self, s: Sym) -> bool {
        let natural = |p: &Poly| p.terms().all(|(syms, n)| n >= 0 && syms.iter().all(|s| self.is_natural(*s)));
        match s {
            Sym::Extent(..) | Sym::Param(_) => true,
            Sym::Node(n) => match &self.nodes[n] {
                Node::Op(Op2::Num(Num2::Min | Num2::Div | Num2::Rem), a, b) => natural(a) && natural(b),
                Node::Op(Op2::Num(Num2::Max), a, b) => natural(a) || natural(b),
                _ => false,
            },
        }
    }
}
