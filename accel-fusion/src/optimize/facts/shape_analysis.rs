//! Shape analysis: symbolic values of extents, proofs about them, and assumptions.
//!
//! NOTE [Assumptions on extents]: many checks cannot be decided before the extents of the arguments are known: whether
//! the two arrays of a `zip_with` have the same extents, or whether `xs[i + 2]` is within the bounds of `xs`. Nearly
//! always, the answer that makes the program simpler is right. So the optimiser assumes it and records the assumption:
//! two extents of arguments are equal, or a polynomial of them is not negative. A backend calls [`Assumptions::hold`]
//! before it runs the program. If the assumptions do not hold, it runs the program that was optimised without
//! assumptions.
//!
//! NOTE [Proofs and overflow]: the integers of a program wrap. Equations of polynomials hold for integers that wrap.
//! Inequalities do not: they are about mathematical integers. So the analysis concludes that one number is at most
//! another one only if both are *exact*: the number equals its polynomial as a mathematical integer, because this fits
//! into 64 bits. (Intermediate results do not matter: what wraps on the way wraps back again.)
//! - A symbol is exact, because it is the number itself.
//! - The magnitude of a polynomial is an upper bound of its absolute value. It adds up the magnitudes of all terms,
//!   where every extent is [`MAX_EXTENT`], which no array exceeds, and every index is less. If this fits into 64 bits,
//!   the polynomial is exact in every run. Sums and differences of extents and indices are such polynomials.
//! - If it does not fit, as for products of extents, the analysis assumes that the magnitude fits for the extents of
//!   the arguments. Every run evaluates this without wrapping. If no assumptions are allowed, the analysis concludes
//!   nothing.
//! - A quotient, a minimum and so on is at least 0 if its operands are, provided that they are exact.
//!
//! Differences of such polynomials, and their values at the first and last index, are integers that no program
//! computes. Their coefficients are computed without wrapping.

use crate::kernel::{ArrayId, ArrayInfo, IndexVec, Program, divides_integers, visit};
use crate::optimize::facts::poly::{Poly, Sym};
use accel_core::repr::op::{Cmp, Int2, Num2, Op2};
use accel_core::repr::{MAX_EXTENT, Scalar, ScalarType};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Conditions on the extents of the inputs and literals of a program.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Assumptions {
    pub(crate) zero: BTreeSet<Poly>,
    pub(crate) not_negative: BTreeSet<Poly>,
    pub(crate) exact: BTreeSet<BoundedNumber>,
    /// The operations behind the nodes in the conditions.
    pub(crate) nodes: Vec<Node>,
}

/// A number that must not overflow for any values of its indices.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct BoundedNumber {
    pub(crate) value: Poly,
    /// The extents of the indices.
    pub(crate) params: Vec<Poly>,
}

impl Assumptions {
    /// Whether there are no assumptions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The pairs of extents that are equal.
    pub fn equal_extents(&self) -> impl Iterator<Item = [(ArrayId, usize); 2]> {
        let extent = |p: Poly| if let Some(Sym::Extent(a, dim)) = p.as_sym() { Some((a, dim)) } else { None };
        let pair = |p: &Poly| difference_of_symbols(p).and_then(|(a, b)| Some([extent(a)?, extent(b)?]));
        self.zero.iter().filter_map(pair).collect::<Vec<_>>().into_iter()
    }
    /// The number of conditions.
    fn len(&self) -> usize {
        self.zero.len() + self.not_negative.len() + self.exact.len()
    }
    /// Whether the conditions hold. `extent(a, dim)` is an extent of an input or a literal.
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

/// Upper bounds of numbers, where some extents are known.
struct Bounds<'a> {
    nodes: &'a [Node],
    extent: &'a dyn Fn(ArrayId, usize) -> Option<usize>,
}

impl Bounds<'_> {
    /// The magnitude of an arbitrary 64-bit number.
    const ANY: u128 = i64::MIN.unsigned_abs() as u128;

    /// The magnitude of a polynomial whose parameters have these extents.
    fn magnitude(&self, p: &Poly, params: &[Poly]) -> u128 {
        p.magnitude(|s| match s {
            Sym::Extent(a, dim) => (self.extent)(a, dim).unwrap_or(MAX_EXTENT) as u128,
            // Even if the extent wraps, it is one that an array can have.
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
    /// A number read from memory, or any other number without a known form.
    Unknown,
}

/// The number of minima and maxima in a number that are replaced by their operands: an index is often clamped at both ends.
const CLAMPS: usize = 2;
/// The analysis gives up on values with more operations than this, because every question about a value visits all its
/// operations.
const MAX_OPERATIONS: usize = 64;

/// If a polynomial does not even fit for arguments of this extent, the analysis does not assume that it fits. A product of up to six of
/// them does. Chosen: a larger one refuses sizes of arrays, and a program of a smaller one is compiled twice for ordinary arguments.
const TYPICAL_EXTENT: usize = 1 << 10;

/// The facts that the analysis knows.
#[derive(Clone)]
pub struct Facts {
    /// The extents of inputs that are constants.
    known: InputExtents,
    /// The extents of every array.
    dims: IndexVec<ArrayId, Vec<Poly>>,
    /// The number of columns of every array.
    columns: IndexVec<ArrayId, usize>,
    /// Inputs and literals.
    given: BTreeSet<ArrayId>,
    nodes: Vec<Node>,
    numbers: HashMap<(Op2, Poly, Poly), usize>,
    /// Whether assumptions are allowed.
    assume: bool,
    /// Extents that are equal in each run.
    equal: Names,
    /// The extents that are equal where the analysis is now, because a statement has compared them.
    compared: Names,
    /// For extents of lists, the number of rows, and the extent of each row: NOTE [Rows of lists].
    rows: BTreeMap<Sym, (Poly, Poly)>,
    /// The numbers of steps of the loops around the analysis.
    steps: Vec<Poly>,
    assumptions: Assumptions,
}

/// Extents that have another name: that of an extent that equals them, or a number.
#[derive(Clone, Default)]
struct Names {
    /// A number, or a smaller symbol, which may have a name itself.
    all: BTreeMap<Sym, Poly>,
    /// The symbols in the order in which they got their names.
    order: Vec<Sym>,
}

impl Names {
    /// The name that no other one stands for; `None` if the symbol has none.
    fn of(&self, s: Sym) -> Option<&Poly> {
        std::iter::successors(self.all.get(&s), |p| p.as_sym().and_then(|s| self.all.get(&s))).last()
    }

    /// The polynomial with these names in place of symbols.
    fn replace<'n>(p: &Poly, name: impl Fn(Sym) -> Option<&'n Poly>) -> Poly {
        let names: BTreeMap<Sym, &Poly> = p.symbols().filter_map(|s| Some((s, name(s)?))).collect();
        names.into_iter().fold(p.clone(), |p, (s, by)| p.replace(s, by).unwrap_or(p))
    }

    fn normal(&self, p: &Poly) -> Poly {
        Names::replace(p, |s| self.of(s))
    }

    /// Two extents, or an extent and a number, are equal: from now on, the number or the smaller symbol stands for both. Returns whether
    /// they can be equal.
    fn equate(&mut self, a: &Poly, b: &Poly) -> bool {
        let root = |p: &Poly| p.as_sym().and_then(|s| self.of(s)).unwrap_or(p).clone();
        let (a, b) = (root(a), root(b));
        let (name, s) = match (a.as_sym(), b.as_sym()) {
            (Some(x), Some(y)) if x < y => (a, y),
            (Some(x), _) => (b, x),
            (None, Some(y)) => (a, y),
            (None, None) => return a == b,
        };
        if name.as_sym() != Some(s) {
            self.all.insert(s, name);
            self.order.push(s);
        }
        true
    }

    /// Forgets all but the first names.
    fn truncate(&mut self, len: usize) {
        self.order.drain(len.min(self.order.len())..).for_each(|s| _ = self.all.remove(&s));
    }
}

/// The state of the facts at some time: see [`Facts::mark`].
pub struct Mark {
    arrays: usize,
    equal: usize,
    assumptions: Assumptions,
}

/// The context of a question: the extents of the parameters (none is 0 where the scalar function runs), and conditions
/// that hold.
#[derive(Clone, Copy, Default)]
pub struct Ranges<'a> {
    /// Parameter `k` lies between 0 and `params[k] - 1`.
    pub params: &'a [Poly],
    /// The conditions that hold.
    pub conditions: &'a [Inequality],
}

/// `less + gap <= more`, for two numbers of a program.
#[derive(Clone, Debug)]
pub struct Inequality {
    /// The smaller number.
    pub less: Poly,
    /// The least difference.
    pub gap: i64,
    /// The larger number.
    pub more: Poly,
}

impl Inequality {
    /// `a <= b`
    pub fn new(a: &Poly, b: &Poly) -> Inequality {
        Inequality { less: a.clone(), gap: 0, more: b.clone() }
    }
    /// `a < b`
    pub fn less(a: &Poly, b: &Poly) -> Inequality {
        Inequality { gap: 1, ..Inequality::new(a, b) }
    }
    /// `0 <= i < n`
    pub fn range(i: &Poly, n: &Poly) -> [Inequality; 2] {
        [Inequality::new(&Poly::default(), i), Inequality::less(i, n)]
    }
    /// The integer that is not negative if the condition holds.
    pub fn difference(&self) -> Option<Poly> {
        self.more.minus_exactly(&self.less)?.minus_exactly(&Poly::constant(self.gap))
    }
}

/// What holds if a condition is true, and what holds if it is false.
#[derive(Clone, Default, Debug)]
pub struct Sides {
    /// If it is true.
    pub yes: Vec<Inequality>,
    /// If it is false.
    pub no: Vec<Inequality>,
}

/// The assumptions that a conclusion needs.
#[derive(Default, Debug)]
pub struct Premises {
    not_negative: Vec<Poly>,
    exact: Vec<BoundedNumber>,
}

impl Premises {
    fn add(&mut self, more: Premises) {
        self.not_negative.extend(more.not_negative);
        self.exact.extend(more.exact);
    }

    fn and(mut self, more: Premises) -> Premises {
        self.add(more);
        self
    }
}

/// The extents of the inputs of a program that are the same in every run: for each input, one for each dimension. There may be fewer
/// inputs; nothing is known about the others.
pub type InputExtents = Vec<Box<[Option<usize>]>>;

impl Facts {
    /// The facts about a program before the analysis: only that each array has extents.
    pub fn new(p: &Program, assume: bool) -> Facts {
        Facts::with(p, assume, InputExtents::default())
    }
    /// As [`new`](Self::new), with extents of inputs that are constants.
    pub fn with(p: &Program, assume: bool, known: InputExtents) -> Facts {
        let nothing = Facts {
            known,
            dims: IndexVec::new(),
            columns: IndexVec::new(),
            given: BTreeSet::new(),
            nodes: vec![],
            numbers: HashMap::new(),
            assume,
            equal: Names::default(),
            compared: Names::default(),
            rows: BTreeMap::new(),
            steps: vec![],
            assumptions: Assumptions::default(),
        };
        nothing.restricted_to(p)
    }
    /// Whether assumptions are allowed.
    pub fn assumes(&self) -> bool {
        self.assume
    }
    /// Allows assumptions, or forbids them.
    pub fn allow_assumptions(&mut self, assume: bool) {
        self.assume = assume;
    }
    /// Keeps the facts and assumptions that remain valid for an equivalent program with the same inputs.
    pub fn restricted_to(self, p: &Program) -> Facts {
        let own = |(a, info): (ArrayId, &ArrayInfo)| (0..info.rank).map(|dim| Poly::sym(Sym::Extent(a, dim))).collect();
        let mut dims: IndexVec<ArrayId, Vec<Poly>> = p.arrays.iter_enumerated().map(own).collect();
        for (a, known) in p.inputs.iter().zip(&self.known) {
            for (dim, n) in dims[*a].iter_mut().zip(known) {
                n.iter().for_each(|n| *dim = Poly::constant(*n as i64));
            }
        }
        Facts {
            dims,
            columns: p.arrays.iter().map(|a| a.columns.len()).collect(),
            given: p.inputs.iter().copied().collect(),
            rows: BTreeMap::new(),
            ..self
        }
    }
    /// Records the current state of what can be undone.
    pub fn mark(&self) -> Mark {
        Mark { arrays: self.dims.len(), equal: self.equal.order.len(), assumptions: self.assumptions.clone() }
    }
    /// Forgets arrays and assumptions since `mark`. The extents of other arrays that were set since must be set again.
    pub fn reset(&mut self, mark: Mark) {
        self.dims.truncate(mark.arrays);
        self.columns.truncate(mark.arrays);
        self.equal.truncate(mark.equal);
        self.assumptions = mark.assumptions;
    }
    /// The number of assumptions.
    pub fn assumed(&self) -> usize {
        self.assumptions.len()
    }
    /// The assumptions.
    pub fn into_assumptions(self) -> Assumptions {
        Assumptions { nodes: self.nodes, ..self.assumptions }
    }
    /// The arrays whose extents occur in a value.
    pub fn extents_in(&self, p: &Poly) -> BTreeSet<ArrayId> {
        let of = |s: Sym| match s {
            Sym::Extent(a, _) => [a].into_iter().collect(),
            Sym::Param(_) => BTreeSet::new(),
            Sym::Node(n) => match &self.nodes[n] {
                Node::Op(_, a, b) => &self.extents_in(a) | &self.extents_in(b),
                Node::Unknown => BTreeSet::new(),
            },
        };
        p.symbols().flat_map(of).collect()
    }
    /// Declares that an array is given.
    pub fn declare_given(&mut self, a: ArrayId) {
        self.given.insert(a);
    }
    /// Declares a new array with this number of columns. Nothing else is known of it yet.
    pub fn array(&mut self, columns: usize) {
        self.dims.push(vec![]);
        self.columns.push(columns);
    }
    /// The number of columns of an array.
    pub fn columns(&self, a: ArrayId) -> usize {
        self.columns[a]
    }
    /// The extents of an array.
    pub fn dims(&self, a: ArrayId) -> Vec<Poly> {
        self.dims[a].iter().map(|p| self.normal(p)).collect()
    }
    /// The extents of an array; `None` if the analysis has not seen it.
    pub fn known_dims(&self, a: ArrayId) -> Option<Vec<Poly>> {
        (a < self.dims.len()).then(|| self.dims(a))
    }
    /// Sets the extents of an array. Extents with an unknown part become symbols, and equal ones the same symbol.
    pub fn set_dims(&mut self, a: ArrayId, dims: Vec<Poly>) {
        let first = |p: &Poly| dims.iter().position(|q| q == p).unwrap_or_default();
        let name = |p: &Poly| if self.is_known(p) { p.clone() } else { Poly::sym(Sym::Extent(a, first(p))) };
        self.dims[a] = dims.iter().map(name).collect();
    }
    /// Whether all values are known, and none depends on the extents of an array, which may go.
    pub fn are_known_without(&self, a: ArrayId, all: &[Poly]) -> bool {
        all.iter().all(|p| self.is_known(p) && !self.extents_in(p).contains(&a))
    }
    /// Whether a polynomial consists of extents only.
    pub fn is_known(&self, p: &Poly) -> bool {
        p.is_small()
            && p.symbols().all(|s| match s {
                Sym::Extent(..) => true,
                Sym::Param(_) => false,
                Sym::Node(n) => match &self.nodes[n] {
                    Node::Op(_, a, b) => self.is_known(a) && self.is_known(b),
                    Node::Unknown => false,
                },
            })
    }
    /// What a comparison of integers says. Numbers that differ are in order if one of them is never the greater one: `i != 0` says that an
    /// index is at least 1.
    pub fn sides(&mut self, cmp: Cmp, a: &Poly, b: &Poly, ranges: Ranges) -> Sides {
        let both = vec![Inequality::new(a, b), Inequality::new(b, a)];
        let mut unequal = || {
            let order = [(a, b), (b, a)].into_iter().find(|(a, b)| self.hold(&[Inequality::new(a, b)], ranges));
            order.map(|(a, b)| Inequality::less(a, b)).into_iter().collect()
        };
        let (yes, no) = match cmp {
            Cmp::Lt => (vec![Inequality::less(a, b)], vec![Inequality::new(b, a)]),
            Cmp::Le => (vec![Inequality::new(a, b)], vec![Inequality::less(b, a)]),
            Cmp::Gt => (vec![Inequality::less(b, a)], vec![Inequality::new(a, b)]),
            Cmp::Ge => (vec![Inequality::new(b, a)], vec![Inequality::less(a, b)]),
            Cmp::Eq => (both, unequal()),
            Cmp::Ne => (unequal(), both),
        };
        Sides { yes, no }
    }
    /// Whether there is an integer division whose divisor is not a constant.
    pub fn may_divide_by_zero(&self, p: &Poly) -> bool {
        p.symbols().any(|s| {
            let Sym::Node(n) = s else { return false };
            let Node::Op(op, a, b) = &self.nodes[n] else { return false };
            divides_integers(*op, ScalarType::I64) && b.as_constant().is_none_or(|n| n == 0)
                || self.may_divide_by_zero(a)
                || self.may_divide_by_zero(b)
        })
    }
    /// The number to use for a value in inequalities: the value itself if it is exact, or else a symbol.
    ///
    /// NOTE [Symbols for inexact numbers]: if x was read from memory, `x < n` does not follow from `x + 1 < n`: x may
    /// be the largest integer. So `x + 1` gets a symbol of its own. The condition is then about this symbol, and a read
    /// at `x + 1` finds it there.
    pub fn exact(&mut self, p: &Poly, ranges: Ranges) -> Poly {
        if self.exact_if(p, ranges, &mut Premises::default()).is_some() {
            return p.clone();
        }
        self.node_of(Op2::Num(Num2::Add), p, &Poly::default())
    }
    /// Adds the assumptions under which a polynomial is exact. `None` if there are none.
    fn exact_if(&self, p: &Poly, ranges: Ranges, needed: &mut Premises) -> Option<()> {
        let magnitude = |extent: &dyn Fn(ArrayId, usize) -> Option<usize>| {
            Bounds { nodes: &self.nodes, extent }.magnitude(p, ranges.params)
        };
        if p.as_sym().is_some() || fits(magnitude(&|_, _| None)) {
            return Some(());
        }
        let usual = |a, _| self.given.contains(&a).then_some(TYPICAL_EXTENT);
        (self.assume && fits(magnitude(&usual))).then_some(())?;
        let (mut params, used) = (ranges.params.to_vec(), self.params_in(p));
        let unused = (0..params.len()).filter(|k| !used.contains(k)).collect::<Vec<_>>();
        unused.into_iter().for_each(|k| params[k] = Poly::default());
        needed.exact.push(BoundedNumber { value: p.clone(), params });
        Some(())
    }
    /// The parameters that occur in a value.
    pub fn params_in(&self, p: &Poly) -> BTreeSet<usize> {
        let of = |s: Sym| match s {
            Sym::Extent(..) => BTreeSet::new(),
            Sym::Param(k) => [k].into_iter().collect(),
            Sym::Node(n) => match &self.nodes[n] {
                Node::Op(_, a, b) => &self.params_in(a) | &self.params_in(b),
                Node::Unknown => BTreeSet::new(),
            },
        };
        p.symbols().flat_map(of).collect()
    }
    fn node_of(&mut self, op: Op2, a: &Poly, b: &Poly) -> Poly {
        let next = self.nodes.len();
        let n = *self.numbers.entry((op, a.clone(), b.clone())).or_insert(next);
        if n == next {
            let size = self.size(a) + self.size(b);
            self.nodes.push(if size < MAX_OPERATIONS { Node::Op(op, a.clone(), b.clone()) } else { Node::Unknown });
        }
        Poly::sym(Sym::Node(n))
    }
    /// The number of operations in a value, counted with repetitions.
    fn size(&self, p: &Poly) -> usize {
        let of = |s: Sym| match s {
            Sym::Extent(..) | Sym::Param(_) => 0,
            Sym::Node(n) => match &self.nodes[n] {
                Node::Op(_, a, b) => 1 + self.size(a) + self.size(b),
                Node::Unknown => 0,
            },
        };
        p.symbols().map(of).sum()
    }
    /// The operation of a node.
    pub fn node(&self, n: usize) -> &Node {
        &self.nodes[n]
    }
    /// A new number of which nothing is known.
    pub fn unknown(&mut self) -> Poly {
        self.nodes.push(Node::Unknown);
        Poly::sym(Sym::Node(self.nodes.len() - 1))
    }

    /// The value by the names of extents.
    fn normal(&self, p: &Poly) -> Poly {
        visit();
        Names::replace(&self.equal.normal(p), |s| self.name(s))
    }

    /// The name of an extent where the analysis is now.
    fn name(&self, mut s: Sym) -> Option<&Poly> {
        let next = |s: Sym| self.compared.of(s).or_else(|| self.extent_of_row(s));
        let mut name = next(s)?;
        // An extent of a row can be that of a later array. All other names are smaller symbols or numbers, so this ends.
        while let Some(smaller) = name.as_sym().filter(|n| *n < s)
            && let Some(other) = next(smaller)
        {
            (s, name) = (smaller, other);
        }
        Some(name)
    }

    /// If this is an extent of a list of as many rows as a loop here has steps, the extent of a row.
    fn extent_of_row(&self, s: Sym) -> Option<&Poly> {
        let (number, extent) = self.rows.get(&s)?;
        let known = |p: &Poly| self.compared.normal(&self.equal.normal(p));
        self.steps.iter().any(|n| n == number || known(n) == known(number)).then_some(extent)
    }

    /// The value of an operation, if more is known of it than the operation.
    pub fn op(&mut self, op: Op2, a: &Poly, b: &Poly, ranges: Ranges) -> Poly {
        let simple = match op {
            Op2::Num(Num2::Add) => Some(a.plus(b, 1)),
            Op2::Num(Num2::Sub) => Some(a.plus(b, -1)),
            Op2::Num(Num2::Mul) => a.times(b),
            Op2::Num(Num2::Min | Num2::Max) if a == b => Some(a.clone()),
            Op2::Num(Num2::Min | Num2::Max) => self.min_or_max(op, a, b, ranges),
            // Both operands are at least 0 there, so all kinds of division agree.
            Op2::Num(Num2::Rem) | Op2::Int(Int2::RemEuclid) if self.hold(&Inequality::range(a, b), ranges) => {
                Some(a.clone())
            }
            Op2::Num(Num2::Div) | Op2::Int(Int2::DivEuclid) if self.hold(&Inequality::range(a, b), ranges) => {
                Some(Poly::constant(0))
            }
            Op2::Num(Num2::Div) | Op2::Int(Int2::DivEuclid) if b.as_constant() == Some(1) => Some(a.clone()),
            Op2::Num(Num2::Rem) | Op2::Int(Int2::RemEuclid) if b.as_constant() == Some(1) => Some(Poly::constant(0)),
            _ => None,
        };
        match simple {
            Some(p) if p.is_small() => p,
            _ => {
                self.name_largest_quotient(op, a, b, ranges);
                self.node_of(op, a, b)
            }
        }
    }

    /// Makes a number of the largest quotient, if it consists of extents: a bound for what is computed with the quotient.
    fn name_largest_quotient(&mut self, op: Op2, a: &Poly, n: &Poly, ranges: Ranges) {
        if let (Op2::Num(Num2::Div), false) = (op, self.params_in(a).is_empty())
            && let Some(most) = self.most(a, ranges, &mut Premises::default())
            && most.as_constant().is_none()
            && self.is_known(&most)
            && self.is_known(n)
        {
            self.node_of(op, &most, n);
        }
    }

    /// The minimum or maximum of two values, if it is known which of the two it is.
    fn min_or_max(&mut self, op: Op2, a: &Poly, b: &Poly, ranges: Ranges) -> Option<Poly> {
        let (where_less, where_more) = if op == Op2::Num(Num2::Min) { (a, b) } else { (b, a) };
        if self.hold(&[Inequality::new(a, b)], ranges) {
            Some(where_less.clone())
        } else if self.hold(&[Inequality::new(b, a)], ranges) {
            Some(where_more.clone())
        } else {
            self.assume_equal(a, b).then(|| self.normal(a))
        }
    }

    /// The conditions under which the first number, which is the second one or the nearest bound, is the second one. `None` if it is another
    /// number.
    pub fn where_inside(&self, moved: &Poly, n: &Poly) -> Option<Vec<Inequality>> {
        if moved == n {
            return Some(vec![]);
        }
        let Some(Sym::Node(k)) = moved.as_sym() else { return None };
        let (a, condition) = match &self.nodes[k] {
            Node::Op(Op2::Num(Num2::Min), a, most) => (a, Inequality::new(n, most)),
            Node::Op(Op2::Num(Num2::Max), a, least) => (a, Inequality::new(least, n)),
            _ => return None,
        };
        let mut all = self.where_inside(a, n)?;
        all.push(condition);
        Some(all)
    }

    /// Assumes that two extents of given arrays are equal.
    pub fn assume_equal(&mut self, a: &Poly, b: &Poly) -> bool {
        let is_extent = |p: &Poly| p.as_constant().is_none();
        is_extent(a) && is_extent(b) && self.assume_agreement(a, b)
    }

    /// Assumes that two extents of given arrays, or such an extent and a number, are equal, where the program fails if they are not.
    pub fn assume_agreement(&mut self, a: &Poly, b: &Poly) -> bool {
        let given = |p: &Poly| match p.as_sym() {
            Some(Sym::Extent(a, _)) => self.given.contains(&a),
            _ => p.as_constant().is_some(),
        };
        let may = self.assume && given(a) && given(b) && self.equal.equate(a, b);
        if may {
            self.assumptions.zero.insert(a.plus(b, -1));
        }
        may
    }

    /// Two numbers are equal where the analysis is now.
    pub fn compared(&mut self, a: &Poly, b: &Poly) {
        let is_extent = |p: &Poly| matches!(p.as_sym(), Some(Sym::Extent(..)));
        let [a, b] = [a, b].map(|p| self.normal(p));
        if is_extent(&a) && is_extent(&b) {
            self.compared.equate(&a, &b);
        }
    }
    /// The rows of a list have these extents.
    pub fn set_rows(&mut self, list: ArrayId, rows: Vec<Poly>) {
        let number = self.dims(list).swap_remove(0);
        let own = |(k, n)| (Sym::Extent(list, k + 1), (number.clone(), n));
        self.rows.extend(rows.into_iter().enumerate().map(own));
    }
    /// Forgets the extents of the rows of a list.
    pub fn forget_rows(&mut self, list: ArrayId) {
        (0..self.dims[list].len()).for_each(|k| _ = self.rows.remove(&Sym::Extent(list, k)));
    }
    /// Enters a loop with this number of steps.
    pub fn enter(&mut self, steps: Poly) {
        self.steps.push(steps);
    }
    /// Leaves the innermost loop that was entered.
    pub fn leave(&mut self) {
        self.steps.pop();
    }
    /// How many extents were compared.
    pub fn number_compared(&self) -> usize {
        self.compared.order.len()
    }
    /// Forgets all but the first comparisons.
    pub fn forget_compared(&mut self, first: usize) {
        self.compared.truncate(first);
    }

    /// Whether all conditions hold. If so, adds the assumption that the numbers in them are exact.
    pub fn hold(&mut self, all: &[Inequality], ranges: Ranges) -> bool {
        let needed = self.premises(all, ranges, false);
        needed.map(|needed| self.assume(needed)).is_some()
    }

    /// The assumptions under which all conditions hold. Without `more`, they only say that the numbers in the
    /// conditions are exact.
    pub fn premises(&self, all: &[Inequality], ranges: Ranges, more: bool) -> Option<Premises> {
        let mut needed = Premises::default();
        all.iter().try_for_each(|x| {
            let p = x.difference()?;
            self.not_negative_if(&p, ranges, more, &mut needed)?;
            [&x.less, &x.more].into_iter().try_for_each(|p| self.exact_if(p, ranges, &mut needed))
        })?;
        Some(needed)
    }

    /// The product of two extents, if it is a possible extent of an array; otherwise a larger number. The product
    /// itself could wrap to a possible extent.
    pub fn product_of_extents(&mut self, a: &Poly, b: &Poly) -> Option<Poly> {
        let ranges = Ranges { params: &[], conditions: &[] };
        let product = a.times(b)?;
        if [a, b].iter().any(|p| p.as_constant() == Some(1)) {
            return Some(product);
        }
        let largest = Inequality::new(&product, &Poly::constant(MAX_EXTENT as i64));
        if let Some(needed) = self.premises(&[largest], ranges, true) {
            self.assume(needed);
            return Some(product);
        }
        // If b exceeds this limit, the product is too large. If the limit replaces b, it is still too large.
        let at_least_one = self.op(Op2::Num(Num2::Max), a, &Poly::constant(1), ranges);
        let most = self.op(Op2::Num(Num2::Div), &Poly::constant(2 * MAX_EXTENT as i64), &at_least_one, ranges);
        a.times(&self.op(Op2::Num(Num2::Min), b, &most, ranges))
    }

    /// Adds the assumptions.
    pub fn assume(&mut self, needed: Premises) {
        for p in needed.not_negative {
            // Two extents are equal if both differences are not negative.
            if self.assumptions.not_negative.contains(&Poly::default().plus(&p, -1))
                && let Some((a, b)) = difference_of_symbols(&p)
            {
                self.assume_equal(&a, &b);
            }
            self.assumptions.not_negative.insert(p);
        }
        self.assumptions.exact.extend(needed.exact);
    }

    /// Whether these assumptions were made already.
    pub fn are_assumed(&self, needed: &Premises) -> bool {
        needed.not_negative.iter().all(|p| self.assumptions.not_negative.contains(p))
            && needed.exact.iter().all(|p| self.assumptions.exact.contains(p))
    }

    /// Adds the assumptions under which an integer is at least 0 for all parameters and extents. With `more`, this can
    /// be a condition on given extents.
    fn not_negative_if(&self, p: &Poly, ranges: Ranges, more: bool, needed: &mut Premises) -> Option<()> {
        let holds = |p: &Poly| self.least_is_not_negative(p, ranges, CLAMPS);
        let assumed = |p: &Poly| self.condition(p, ranges).filter(|needed| self.are_assumed(needed));
        let by_condition = |c: &Inequality| {
            let rest = p.minus_exactly(&c.difference()?)?;
            let mut found = holds(&rest).or_else(|| assumed(&rest))?;
            [&c.less, &c.more].into_iter().try_for_each(|p| self.exact_if(p, ranges, &mut found))?;
            Some(found)
        };
        let found = holds(p).or_else(|| ranges.conditions.iter().find_map(by_condition)).or_else(|| assumed(p));
        let found = found.or_else(|| if more { self.condition(p, ranges) } else { None })?;
        needed.add(found);
        Some(())
    }

    /// The assumptions under which the least value is at least 0. A minimum or maximum is one of its operands; up to `depth`
    /// of them are replaced by these. A minimum is at most either operand, so one of them suffices for an upper bound. A
    /// quotient or remainder is replaced by the largest number that it can be.
    fn least_is_not_negative(&self, p: &Poly, ranges: Ranges, depth: usize) -> Option<Premises> {
        let mut found = Premises::default();
        if let Some(least) = self.least(p, ranges, &mut found)
            && self.has_nonnegative_terms(&least, ranges, &mut found)
        {
            return Some(found);
        }
        self.by_operands(p, ranges, depth, &|p, depth| self.least_is_not_negative(p, ranges, depth))
    }

    /// The assumptions under which `holds` for the operands of a minimum, a maximum, a quotient or a remainder in `p`, so that `p` is at
    /// least 0. The number is how many of them may be replaced then.
    fn by_operands(
        &self,
        p: &Poly,
        ranges: Ranges,
        depth: usize,
        holds: &dyn Fn(&Poly, usize) -> Option<Premises>,
    ) -> Option<Premises> {
        let rest = depth.checked_sub(1)?;
        p.symbols().find_map(|s| {
            let Sym::Node(n) = s else { return None };
            let Node::Op(Op2::Num(op), a, b) = &self.nodes[n] else { return None };
            let slope = p.linear(s)?.0.as_constant()?;
            if matches!(op, Num2::Div | Num2::Rem) && slope < 0 {
                let (most, found) = self.most_of_digit(*op, a, b, ranges)?;
                return Some(found.and(holds(&p.replace_exactly(s, &most)?, rest)?));
            }
            let (Num2::Min | Num2::Max) = op else { return None };
            let operand = |x: &Poly| {
                let mut found = holds(&p.replace_exactly(s, x)?, rest)?;
                [a, b].into_iter().try_for_each(|x| self.exact_if(x, ranges, &mut found))?;
                Some(found)
            };
            if (slope < 0) == (*op == Num2::Min) {
                return operand(a).or_else(|| operand(b));
            }
            Some(operand(a)?.and(operand(b)?))
        })
    }

    /// The largest quotient or remainder of two numbers that are at least 0, and the assumptions that this needs. The
    /// divisor is not 0, as the program divides by it.
    fn most_of_digit(&self, op: Num2, a: &Poly, n: &Poly, ranges: Ranges) -> Option<(Poly, Premises)> {
        let mut needed = Premises::default();
        self.has_nonnegative_terms(a, ranges, &mut needed).then_some(())?;
        self.exact_if(a, ranges, &mut needed)?;
        self.is_positive_divisor(n, ranges, &mut needed).then_some(())?;
        let one = Poly::constant(1);
        let more = match op {
            Num2::Rem => n.clone(),
            _ => {
                let most = self.most(a, ranges, &mut needed)?;
                if let Some(quotient) = self.numbers.get(&(Op2::Num(op), most.clone(), n.clone())) {
                    return Some((Poly::sym(Sym::Node(*quotient)), needed));
                }
                match (most.as_constant(), n.as_constant()) {
                    (Some(most), Some(n)) => Poly::constant(most.checked_div(n)?.checked_add(1)?),
                    _ => most.plus_exactly(&one)?.quotient(n)?,
                }
            }
        };
        Some((more.minus_exactly(&one)?, needed))
    }

    /// The largest value over all parameters, if it is easy to see where it is.
    fn most(&self, p: &Poly, ranges: Ranges, needed: &mut Premises) -> Option<Poly> {
        let zero = Poly::default();
        let negative = self.with_extreme_digits(&zero.minus_exactly(p)?, ranges, needed)?;
        zero.minus_exactly(&self.least(&negative, ranges, needed)?)
    }

    /// The condition on given extents under which an integer is at least 0 for all parameters.
    fn condition(&self, p: &Poly, ranges: Ranges) -> Option<Premises> {
        self.condition_of_least(p, ranges).or_else(|| {
            let holds = |p: &Poly, depth| {
                self.least_is_not_negative(p, ranges, depth).or_else(|| self.condition_of_least(p, ranges))
            };
            self.by_operands(p, ranges, CLAMPS, &holds)
        })
    }

    fn condition_of_least(&self, p: &Poly, ranges: Ranges) -> Option<Premises> {
        let mut needed = Premises::default();
        let p = self.with_extreme_digits(p, ranges, &mut needed)?;
        let least = self.least(&p, ranges, &mut needed)?;
        (least.as_constant().is_none() && self.can_be_assumed_of(&least)).then_some(())?;
        needed.not_negative.push(least);
        Some(needed)
    }

    /// The least value over all values of the quotients and remainders in a number that depend on parameters.
    fn with_extreme_digits(&self, p: &Poly, ranges: Ranges, needed: &mut Premises) -> Option<Poly> {
        let mut least = p.clone();
        for s in p.symbols() {
            let Sym::Node(n) = s else { continue };
            let Node::Op(Op2::Num(op @ (Num2::Div | Num2::Rem)), a, n) = &self.nodes[n] else { continue };
            let slope = least.linear(s)?.0.as_constant()?;
            if slope != 0 && !self.params_in(a).is_empty() {
                let (most, found) = self.most_of_digit(*op, a, n, ranges)?;
                needed.add(found);
                least = least.replace_exactly(s, &if slope < 0 { most } else { Poly::default() })?;
            }
        }
        Some(least)
    }

    /// The least value over all parameters, if it is easy to see where it is.
    fn least(&self, p: &Poly, ranges: Ranges, needed: &mut Premises) -> Option<Poly> {
        let mut p = p.clone();
        // Starts with the last parameter: the extent of a parameter never contains another parameter.
        for (k, extent) in ranges.params.iter().enumerate().rev() {
            let (slope, rest) = p.linear(Sym::Param(k))?;
            p = if self.has_nonnegative_terms(&slope, ranges, needed) {
                rest
            } else if self.has_nonnegative_terms(&Poly::default().minus_exactly(&slope)?, ranges, needed) {
                self.exact_if(extent, ranges, needed)?;
                rest.plus_exactly(&slope.times_exactly(&extent.minus_exactly(&Poly::constant(1))?)?)?
            } else {
                return None;
            };
        }
        if p.symbols().any(|s| matches!(s, Sym::Param(_))) { None } else { Some(p) }
    }

    /// Whether all terms are at least 0. Extents are at least 0; extents of parameters are at least 1.
    fn has_nonnegative_terms(&self, p: &Poly, ranges: Ranges, needed: &mut Premises) -> bool {
        if self.all_nonnegative(p, ranges, needed) {
            return true;
        }
        let mut p = p.clone();
        let positive: BTreeSet<Sym> = ranges.params.iter().filter_map(Poly::as_sym).collect();
        for s in positive {
            let Some(q) = p.replace_exactly(s, &Poly::sym(s).plus(&Poly::constant(1), 1)) else { return false };
            p = q;
        }
        self.all_nonnegative(&p, ranges, needed)
    }

    /// Whether all coefficients and symbols are at least 0.
    fn all_nonnegative(&self, p: &Poly, ranges: Ranges, needed: &mut Premises) -> bool {
        p.terms().all(|(syms, n)| n >= 0 && syms.iter().all(|s| self.is_nonnegative(*s, ranges, needed)))
    }

    fn is_nonnegative(&self, s: Sym, ranges: Ranges, needed: &mut Premises) -> bool {
        let natural = |p: &Poly, needed: &mut Premises| {
            self.has_nonnegative_terms(p, ranges, needed) && self.exact_if(p, ranges, needed).is_some()
        };
        match s {
            Sym::Extent(..) | Sym::Param(_) => true,
            Sym::Node(n) => match &self.nodes[n] {
                Node::Op(Op2::Num(Num2::Min), a, b) => natural(a, needed) && natural(b, needed),
                Node::Op(Op2::Num(Num2::Div) | Op2::Int(Int2::DivEuclid), a, b) => {
                    natural(a, needed) && self.is_positive_divisor(b, ranges, needed)
                }
                // A remainder has the sign of the first operand.
                Node::Op(Op2::Num(Num2::Rem), a, _) => natural(a, needed),
                Node::Op(Op2::Int(Int2::RemEuclid), ..) => true,
                Node::Op(Op2::Num(Num2::Max), a, b) => natural(a, needed) || natural(b, needed),
                _ => false,
            },
        }
    }

    /// Whether a number consists of extents of arguments and literals.
    pub fn is_given(&self, n: &Poly) -> bool {
        self.is_known(n) && self.extents_in(n).iter().all(|a| self.given.contains(a))
    }

    /// Whether assumptions can be made of a number.
    fn can_be_assumed_of(&self, n: &Poly) -> bool {
        self.assume && self.is_given(n)
    }

    /// Whether a number by which a program divides is more than 0. It is not 0, and if it consists of extents of arguments,
    /// it can be assumed that it is not negative: nearly always it is an extent, such as `n - 2`.
    fn is_positive_divisor(&self, n: &Poly, ranges: Ranges, needed: &mut Premises) -> bool {
        if !self.has_nonnegative_terms(n, ranges, needed) {
            if !self.can_be_assumed_of(n) {
                return false;
            }
            needed.not_negative.push(n.clone());
        }
        self.exact_if(n, ranges, needed).is_some()
    }
}

/// The symbols of which a polynomial is the difference.
fn difference_of_symbols(p: &Poly) -> Option<(Poly, Poly)> {
    let symbol = |sign: i64| p.terms().find(|(_, n)| *n == sign).and_then(|(syms, _)| Some(Poly::sym(*syms.first()?)));
    let (a, b) = (symbol(1)?, symbol(-1)?);
    (a.plus(&b, -1) == *p).then_some((a, b))
}

#[cfg(test)]
mod tests;
