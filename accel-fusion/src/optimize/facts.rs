//! What is known of extents: symbolic values, what follows from them, and what is assumed.
//!
//! NOTE [Assumptions on extents]: many checks cannot be decided before the extents of the arguments are known: whether the two arrays of a
//! `zip_with` have the same extents, whether `xs[i + 2]` is inside of `xs`. Nearly always the answer is the one that makes the code
//! simpler, so it is assumed and written down: two extents of arguments are equal, a polynomial of them is not negative. A backend asks
//! [`Assumptions::hold`] before it runs the program; where they do not hold it takes the program that was optimised without.
//!
//! NOTE [Proofs and overflow]: the numbers of a program wrap, and equations of polynomials hold for numbers that wrap. Inequalities do not:
//! they are about integers. So one number is said to be at most another one only where both are *exact*: each is the integer that its
//! polynomial is, because that fits into 64 bits (what is computed on the way does not matter, as it wraps there and back again).
//! - A symbol is exact: it is the number itself.
//! - The magnitude of a polynomial is what it is at most, whatever its sign: that of all its terms together, where every extent is
//!   [`MAX_EXTENT`], which no array exceeds, and every index less. Where this fits, the polynomial is exact in every run: so are sums and
//!   differences of extents and indices.
//! - Where it does not, as for products of extents, it is assumed that the magnitude fits for the extents of the arguments, and this is
//!   evaluated without wrapping before each run. Where nothing may be assumed, nothing is concluded.
//! - A quotient, a minimum and so on is at least 0 where its operands are, if they are exact.
//!
//! Differences of such polynomials, and their values at the first and last index, are integers that no program computes: their factors
//! are computed without wrapping.

use super::poly::{Poly, Sym};
use crate::kernel::{ArrayId, Program};
use accel_core::repr::op::{Int2, Num2, Op2};
use accel_core::repr::{MAX_EXTENT, Scalar};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Conditions on the extents of the inputs and literals of a program.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Assumptions {
    zero: BTreeSet<Poly>,
    not_negative: BTreeSet<Poly>,
    exact: BTreeSet<Quantity>,
    /// What the nodes in them are.
    nodes: Vec<Node>,
}

/// A number that does not overflow, whatever the indices that it is made of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Quantity {
    value: Poly,
    /// The extents of the indices.
    params: Vec<Poly>,
}

impl Assumptions {
    /// Whether nothing is assumed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// How many conditions there are.
    fn len(&self) -> usize {
        self.zero.len() + self.not_negative.len() + self.exact.len()
    }
    /// Whether they hold where `extent(a, dim)` is an extent of an input or a literal.
    pub fn hold(&self, extent: impl Fn(ArrayId, usize) -> Option<usize>) -> bool {
        let value = |p: &Poly| self.value(p, &extent);
        let bounds = Bounds { nodes: &self.nodes, extent: &extent };
        self.zero.iter().all(|p| value(p) == Some(0))
            && self.not_negative.iter().all(|p| value(p).is_some_and(|n| n >= 0))
            && self.exact.iter().all(|q| fits(bounds.magnitude(&q.value, &q.params)))
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

/// Whether all numbers of this magnitude fit into 64 bits.
fn fits(magnitude: u128) -> bool {
    magnitude <= i64::MAX as u128
}

/// How large numbers are where some extents are known.
struct Bounds<'a> {
    nodes: &'a [Node],
    extent: &'a dyn Fn(ArrayId, usize) -> Option<usize>,
}

impl Bounds<'_> {
    /// That of any number of 64 bits.
    const ANY: u128 = 1 << 63;

    /// The magnitude of a polynomial with parameters of these extents.
    fn magnitude(&self, p: &Poly, params: &[Poly]) -> u128 {
        p.magnitude(|s| match s {
            Sym::Extent(a, dim) => (self.extent)(a, dim).unwrap_or(MAX_EXTENT) as u128,
            // Where the extent wraps, it is still one that an array has.
            Sym::Param(k) => params.get(k).map_or(Self::ANY, |n| self.magnitude(n, &[]).min(MAX_EXTENT as u128)),
            Sym::Node(n) => self.nodes.get(n).map_or(Self::ANY, |node| self.of_node(node, params)),
        })
    }

    fn of_node(&self, node: &Node, params: &[Poly]) -> u128 {
        let Node::Op(op, a, b) = node else { return Self::ANY };
        let (a, b) = (self.magnitude(a, params), self.magnitude(b, params));
        match op {
            _ if !fits(a) || !fits(b) => Self::ANY,
            Op2::Num(Num2::Min | Num2::Max) => a.max(b),
            Op2::Num(Num2::Rem) => a.min(b),
            Op2::Num(Num2::Div) | Op2::Int(Int2::DivEuclid) => a,
            Op2::Int(Int2::RemEuclid) => b,
            _ => Self::ANY,
        }
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

/// Of a value that is made of more operations than this, nothing is known: what is asked about values is asked about all that they are
/// made of.
const LARGEST: usize = 64;

/// What does not even fit where the arguments have this extent is not assumed to fit.
const USUAL: usize = 1 << 10;

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

/// What was known at some time: see [`Facts::mark`].
pub struct Mark {
    arrays: usize,
    equal: BTreeMap<Sym, Sym>,
    assumptions: Assumptions,
}

/// The code that a question is about: the extents of its parameters (none is 0 where the code runs), and what else holds there.
#[derive(Clone, Copy)]
pub struct Ranges<'a> {
    /// Parameter `k` is from 0 to `params[k] - 1`.
    pub params: &'a [Poly],
    /// What conditions say that hold.
    pub conditions: &'a [AtMost],
}

/// `less + gap <= more`, for two numbers of a program.
#[derive(Clone, Debug)]
pub struct AtMost {
    /// The smaller one,
    pub less: Poly,
    /// by how much at least,
    pub gap: i64,
    /// and the larger one.
    pub more: Poly,
}

impl AtMost {
    /// `a <= b`
    pub fn new(a: &Poly, b: &Poly) -> AtMost {
        AtMost { less: a.clone(), gap: 0, more: b.clone() }
    }
    /// `a < b`
    pub fn less(a: &Poly, b: &Poly) -> AtMost {
        AtMost { gap: 1, ..AtMost::new(a, b) }
    }
    /// `0 <= i < n`
    pub fn range(i: &Poly, n: &Poly) -> [AtMost; 2] {
        [AtMost::new(&Poly::default(), i), AtMost::less(i, n)]
    }
    /// What is not negative then, as an integer.
    fn difference(&self) -> Option<Poly> {
        self.more.minus_exactly(&self.less)?.minus_exactly(&Poly::constant(self.gap))
    }
}

/// What has to be assumed for something to hold.
#[derive(Default, Debug)]
pub struct Needed {
    not_negative: Vec<Poly>,
    exact: Vec<Quantity>,
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
    /// What is known now, as far as it can be taken back.
    pub fn mark(&self) -> Mark {
        Mark { arrays: self.dims.len(), equal: self.equal.clone(), assumptions: self.assumptions.clone() }
    }
    /// Forgets new arrays, and what was assumed since. The extents of other arrays that were set since must be set again.
    pub fn reset(&mut self, mark: Mark) {
        self.dims.truncate(mark.arrays);
        self.columns.truncate(mark.arrays);
        (self.equal, self.assumptions) = (mark.equal, mark.assumptions);
    }
    /// How much has been assumed.
    pub fn assumed(&self) -> usize {
        self.assumptions.len()
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
    /// What may be used in inequalities instead of a value: itself if it is exact, or else a symbol.
    ///
    /// NOTE [Symbols for numbers that may have wrapped]: from `x + 1 < n`, where x was read from memory, `x < n` does not follow: x may be
    /// the largest integer. So `x + 1` gets a symbol of its own, of which `< n` is known then; and a read at `x + 1` is looked up under
    /// that symbol.
    pub fn exact(&mut self, p: &Poly, ranges: Ranges) -> Poly {
        if self.exact_if(p, ranges, &mut Needed::default()).is_some() {
            return p.clone();
        }
        self.node_of(Op2::Num(Num2::Add), p, &Poly::default())
    }
    /// Notes what has to be assumed for a polynomial to be exact. `None` if it cannot be.
    fn exact_if(&self, p: &Poly, ranges: Ranges, needed: &mut Needed) -> Option<()> {
        let magnitude = |extent: &dyn Fn(ArrayId, usize) -> Option<usize>| {
            Bounds { nodes: &self.nodes, extent }.magnitude(p, ranges.params)
        };
        if p.as_sym().is_some() || fits(magnitude(&|_, _| None)) {
            return Some(());
        }
        let usual = |a, _| self.given.contains(&a).then_some(USUAL);
        (self.assume && fits(magnitude(&usual))).then_some(())?;
        let (mut params, used) = (ranges.params.to_vec(), self.params_in(p));
        let unused = (0..params.len()).filter(|k| !used.contains(k)).collect::<Vec<_>>();
        unused.into_iter().for_each(|k| params[k] = Poly::default());
        needed.exact.push(Quantity { value: p.clone(), params });
        Some(())
    }
    /// The parameters that a value is made of.
    fn params_in(&self, p: &Poly) -> BTreeSet<usize> {
        let of = |s: Sym| match s {
            Sym::Extent(..) => BTreeSet::new(),
            Sym::Param(k) => [k].into_iter().collect(),
            Sym::Node(n) => match &self.nodes[n] {
                Node::Op(_, a, b) => &self.params_in(a) | &self.params_in(b),
                Node::Unknown => BTreeSet::new(),
            },
        };
        p.syms().flat_map(of).collect()
    }
    fn node_of(&mut self, op: Op2, a: &Poly, b: &Poly) -> Poly {
        let next = self.nodes.len();
        let n = *self.numbers.entry((op, a.clone(), b.clone())).or_insert(next);
        if n == next {
            let size = self.size(a) + self.size(b);
            self.nodes.push(if size < LARGEST { Node::Op(op, a.clone(), b.clone()) } else { Node::Unknown });
        }
        Poly::sym(Sym::Node(n))
    }
    /// How many operations a value is made of, each as often as it occurs.
    fn size(&self, p: &Poly) -> usize {
        let of = |s: Sym| match s {
            Sym::Extent(..) | Sym::Param(_) => 0,
            Sym::Node(n) => match &self.nodes[n] {
                Node::Op(_, a, b) => 1 + self.size(a) + self.size(b),
                Node::Unknown => 0,
            },
        };
        p.syms().map(of).sum()
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
            Op2::Num(Num2::Min | Num2::Max) => self.extreme(op, a, b, ranges),
            // Both operands are at least 0 there, so that all kinds of division agree.
            Op2::Num(Num2::Rem) | Op2::Int(Int2::RemEuclid) if self.hold(&AtMost::range(a, b), ranges) => {
                Some(a.clone())
            }
            Op2::Num(Num2::Div) | Op2::Int(Int2::DivEuclid) if self.hold(&AtMost::range(a, b), ranges) => {
                Some(Poly::constant(0))
            }
            Op2::Num(Num2::Div) | Op2::Int(Int2::DivEuclid) if b.as_constant() == Some(1) => Some(a.clone()),
            Op2::Num(Num2::Rem) | Op2::Int(Int2::RemEuclid) if b.as_constant() == Some(1) => Some(Poly::constant(0)),
            _ => None,
        };
        match simple {
            Some(p) if p.is_small() => p,
            _ => self.node_of(op, a, b),
        }
    }

    /// A minimum or maximum, if it is known which of two it is.
    fn extreme(&mut self, op: Op2, a: &Poly, b: &Poly, ranges: Ranges) -> Option<Poly> {
        let (where_less, where_more) = if op == Op2::Num(Num2::Min) { (a, b) } else { (b, a) };
        if self.hold(&[AtMost::new(a, b)], ranges) {
            Some(where_less.clone())
        } else if self.hold(&[AtMost::new(b, a)], ranges) {
            Some(where_more.clone())
        } else {
            self.assume_equal(a, b).then(|| self.normal(a))
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

    /// Whether all of these hold; then it is assumed that what they are made of is exact.
    pub fn hold(&mut self, all: &[AtMost], ranges: Ranges) -> bool {
        let needed = self.needed(all, ranges, false);
        needed.map(|needed| self.assume(needed)).is_some()
    }

    /// What has to be assumed for all of these to hold; with `more`, this may be more than that what they are made of is exact.
    pub fn needed(&self, all: &[AtMost], ranges: Ranges, more: bool) -> Option<Needed> {
        let mut needed = Needed::default();
        all.iter().try_for_each(|x| {
            let p = x.difference()?;
            self.not_negative_if(&p, ranges, more, &mut needed)?;
            [&x.less, &x.more].into_iter().try_for_each(|p| self.exact_if(p, ranges, &mut needed))
        })?;
        Some(needed)
    }

    /// The product of two extents, if it is one that arrays can have, or else a larger number: the product itself might wrap to one.
    pub fn product_of_extents(&mut self, a: &Poly, b: &Poly) -> Option<Poly> {
        let ranges = Ranges { params: &[], conditions: &[] };
        let product = a.times(b)?;
        if [a, b].iter().any(|p| p.as_constant() == Some(1)) {
            return Some(product);
        }
        let largest = AtMost::new(&product, &Poly::constant(MAX_EXTENT as i64));
        if let Some(needed) = self.needed(&[largest], ranges, true) {
            self.assume(needed);
            return Some(product);
        }
        // Where b is more than this, the product is too large, and where it is replaced by this, it still is.
        let at_least_one = self.op(Op2::Num(Num2::Max), a, &Poly::constant(1), ranges);
        let most = self.op(Op2::Num(Num2::Div), &Poly::constant(2 * MAX_EXTENT as i64), &at_least_one, ranges);
        a.times(&self.op(Op2::Num(Num2::Min), b, &most, ranges))
    }

    /// Assumes what is needed.
    pub fn assume(&mut self, needed: Needed) {
        self.assumptions.not_negative.extend(needed.not_negative);
        self.assumptions.exact.extend(needed.exact);
    }

    /// Notes what has to be assumed for an integer to be at least 0 for all parameters and extents; with `more` also a condition on given
    /// extents that makes it so.
    fn not_negative_if(&self, p: &Poly, ranges: Ranges, more: bool, needed: &mut Needed) -> Option<()> {
        let holds = |p: &Poly| {
            let mut found = Needed::default();
            let least = self.least(p, ranges, &mut found)?;
            self.has_no_minus(&least, ranges, &mut found).then_some(found)
        };
        let by_condition = |c: &AtMost| {
            let mut found = holds(&p.minus_exactly(&c.difference()?)?)?;
            [&c.less, &c.more].into_iter().try_for_each(|p| self.exact_if(p, ranges, &mut found))?;
            Some(found)
        };
        let found = holds(p).or_else(|| ranges.conditions.iter().find_map(by_condition));
        let found = found.or_else(|| if more { self.condition(p, ranges) } else { None })?;
        needed.not_negative.extend(found.not_negative);
        needed.exact.extend(found.exact);
        Some(())
    }

    /// The condition on given extents that makes an integer at least 0 for all parameters.
    fn condition(&self, p: &Poly, ranges: Ranges) -> Option<Needed> {
        let mut needed = Needed::default();
        let least = self.least(p, ranges, &mut needed)?;
        let given = self.is_known(&least) && self.extents_in(&least).iter().all(|a| self.given.contains(a));
        (self.assume && least.as_constant().is_none() && given).then_some(())?;
        needed.not_negative.push(least);
        Some(needed)
    }

    /// The least value over all parameters, if it is easy to see for which that is.
    fn least(&self, p: &Poly, ranges: Ranges, needed: &mut Needed) -> Option<Poly> {
        let mut p = p.clone();
        // The last parameter first: the extents of one never mention another.
        for (k, extent) in ranges.params.iter().enumerate().rev() {
            let (slope, rest) = p.linear(Sym::Param(k))?;
            p = if self.has_no_minus(&slope, ranges, needed) {
                rest
            } else if self.has_no_minus(&Poly::default().minus_exactly(&slope)?, ranges, needed) {
                self.exact_if(extent, ranges, needed)?;
                rest.plus_exactly(&slope.times_exactly(&extent.minus_exactly(&Poly::constant(1))?)?)?
            } else {
                return None;
            };
        }
        if p.syms().any(|s| matches!(s, Sym::Param(_))) { None } else { Some(p) }
    }

    /// Whether all terms are at least 0. Extents are at least 0; those of parameters at least 1.
    fn has_no_minus(&self, p: &Poly, ranges: Ranges, needed: &mut Needed) -> bool {
        if self.all_natural(p, ranges, needed) {
            return true;
        }
        let mut p = p.clone();
        let positive: BTreeSet<Sym> = ranges.params.iter().filter_map(Poly::as_sym).collect();
        for s in positive {
            let Some(q) = p.replace_exactly(s, &Poly::sym(s).plus(&Poly::constant(1), 1)) else { return false };
            p = q;
        }
        self.all_natural(&p, ranges, needed)
    }

    /// Whether no term has a minus.
    fn all_natural(&self, p: &Poly, ranges: Ranges, needed: &mut Needed) -> bool {
        p.terms().all(|(syms, n)| n >= 0 && syms.iter().all(|s| self.is_natural(*s, ranges, needed)))
    }

    fn is_natural(&self, s: Sym, ranges: Ranges, needed: &mut Needed) -> bool {
        let mut natural = |p: &Poly| self.all_natural(p, ranges, needed) && self.exact_if(p, ranges, needed).is_some();
        match s {
            Sym::Extent(..) | Sym::Param(_) => true,
            Sym::Node(n) => match &self.nodes[n] {
                Node::Op(Op2::Num(Num2::Min | Num2::Div) | Op2::Int(Int2::DivEuclid), a, b) => natural(a) && natural(b),
                // It has the sign of the first operand.
                Node::Op(Op2::Num(Num2::Rem), a, _) => natural(a),
                Node::Op(Op2::Int(Int2::RemEuclid), ..) => true,
                Node::Op(Op2::Num(Num2::Max), a, b) => natural(a) || natural(b),
                _ => false,
            },
        }
    }
}

#[cfg(test)]
mod tests;
