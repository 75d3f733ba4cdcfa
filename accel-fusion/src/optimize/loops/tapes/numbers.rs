//! Numbers and extents of a kernel program as linear forms, so that two of them can be recognised as equal.

use crate::kernel::dead_code::defined;
use crate::kernel::{ArrayId, ArrayInfo, Block, IndexVec, Instr, Op, Program, Reg, ScalarFn, Stmt, walk};
use accel_core::repr::Scalar;
use accel_core::repr::op::{Num2, Op2};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A sum of multiples of unknown numbers, and a constant. As the integers of programs, it wraps: equal forms are equal
/// numbers.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Linear {
    terms: BTreeMap<Atom, i64>,
    constant: i64,
}

/// An unknown number.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Atom {
    /// The number in an array of rank 0. For the state of a loop, this is its present value.
    Number(ArrayId),
    /// An extent.
    Extent(ArrayId, usize),
    /// A parameter of a scalar function.
    Param(usize),
    /// Anything else, by its text and the arrays in it.
    Other(String, BTreeSet<ArrayId>),
    /// A number that is equal to no other one.
    Unknown(usize),
}

impl Linear {
    /// A constant.
    pub fn constant(constant: i64) -> Linear {
        Linear { constant, ..Linear::default() }
    }

    /// An unknown number.
    pub fn atom(atom: Atom) -> Linear {
        Linear { terms: [(atom, 1)].into(), constant: 0 }
    }

    /// This form and `factor` times another one.
    pub fn plus(&self, other: &Linear, factor: i64) -> Linear {
        let mut sum = self.clone();
        sum.constant = sum.constant.wrapping_add(other.constant.wrapping_mul(factor));
        for (atom, n) in &other.terms {
            let all = sum.terms.entry(atom.clone()).or_insert(0);
            *all = all.wrapping_add(n.wrapping_mul(factor));
        }
        sum.terms.retain(|_, n| *n != 0);
        sum
    }

    /// The arrays that the number depends on.
    pub fn arrays(&self) -> BTreeSet<ArrayId> {
        let of = |atom: &Atom| match atom {
            Atom::Number(a) | Atom::Extent(a, _) => [*a].into(),
            Atom::Param(_) | Atom::Unknown(_) => BTreeSet::new(),
            Atom::Other(_, arrays) => arrays.clone(),
        };
        self.terms.keys().flat_map(of).collect()
    }

    /// Whether the number is known and depends on such arrays only.
    fn is_constant_outside(&self, is_outside: impl Fn(&ArrayId) -> bool) -> bool {
        let of_code = |atom: &Atom| matches!(atom, Atom::Param(_) | Atom::Unknown(_));
        !self.terms.keys().any(of_code) && self.arrays().iter().all(is_outside)
    }

    fn is_known(&self) -> bool {
        !self.terms.keys().any(|atom| matches!(atom, Atom::Unknown(_)))
    }
}

/// Where arrays are defined, as far as it tells their numbers or extents.
enum Definition {
    /// By a loop, or by another operation with such a function: the function for the extents, and for a single number its
    /// function and register.
    Loop(ScalarFn, Option<(ScalarFn, Reg)>),
    /// With the extents of another array.
    Like(ArrayId),
    /// As rows with the outer extents of a function, their length, and what is added to it. With the last two exchanged.
    Scan(ScalarFn, ScalarFn, i64, bool),
    /// With these extents.
    Known(Vec<Linear>),
}

/// The definitions of a program.
pub struct Definitions {
    all: HashMap<ArrayId, Definition>,
    /// Extents that checks have found to be equal to other ones.
    equal: BTreeMap<Atom, Atom>,
    unknown: Cell<usize>,
}

/// The largest depth of definitions that are looked through.
const DEPTH: usize = 12;

impl Definitions {
    /// The definitions of a program.
    pub fn new(program: &Program) -> Definitions {
        let mut definitions = Definitions::of_block(&program.body, &program.arrays);
        // All loops come after these checks, so what the checks say holds in them.
        let first = program.body.stmts.iter().take_while(|s| s.op.blocks().is_empty());
        first.for_each(|s| definitions.check(&s.op));
        definitions
    }

    /// Notes the equal extents of a check.
    fn check(&mut self, op: &Op) {
        let Op::Agree { agreement, left, right } = op else { return };
        for (i, j) in agreement.pairs(left.results.len(), right.results.len()).unwrap_or_default() {
            let extent = |code: &ScalarFn, k: usize| match defined(code, *code.results.get(k)?)? {
                Instr::Extent(_, a, dim) => Some((*a, *dim)),
                _ => None,
            };
            if let (Some(a), Some(b)) = (extent(left, i), extent(right, j)) {
                self.equate(a, b);
            }
        }
    }

    /// Notes that two extents are equal in all loops.
    pub fn equate(&mut self, (a, k): (ArrayId, usize), (b, l): (ArrayId, usize)) {
        let [a, b] = [Atom::Extent(a, k), Atom::Extent(b, l)].map(|atom| self.representative(atom));
        if a != b {
            self.equal.insert(a.clone().max(b.clone()), a.min(b));
        }
    }

    /// Notes the extents of an array.
    pub fn know(&mut self, a: ArrayId, extents: Vec<Linear>) {
        self.all.insert(a, Definition::Known(extents));
    }

    /// The first one of the extents that are equal to this number.
    fn representative(&self, mut atom: Atom) -> Atom {
        while let Some(other) = self.equal.get(&atom) {
            atom = other.clone();
        }
        atom
    }

    fn of_block(b: &Block, arrays: &IndexVec<ArrayId, ArrayInfo>) -> Definitions {
        let mut definitions = Definitions::of([], arrays);
        definitions.add(b, arrays);
        definitions
    }

    /// The definitions of these statements. Nothing is known of the states of loops.
    pub fn of<'s>(stmts: impl IntoIterator<Item = &'s Stmt>, arrays: &IndexVec<ArrayId, ArrayInfo>) -> Definitions {
        let mut definitions = Definitions { all: HashMap::new(), equal: BTreeMap::new(), unknown: Cell::new(0) };
        definitions.define(stmts, arrays);
        definitions
    }

    /// Adds the definitions of a block.
    pub fn add(&mut self, b: &Block, arrays: &IndexVec<ArrayId, ArrayInfo>) {
        self.define(b.walk(), arrays);
        // Inner loops first: their results are used in outer ones.
        for s in Vec::from_iter(b.walk()).into_iter().rev() {
            if let Op::While { to, init, body, .. } = &s.op {
                self.keep_extents(to, init, &body.1, arrays);
            }
        }
    }

    fn define<'s>(&mut self, stmts: impl IntoIterator<Item = &'s Stmt>, arrays: &IndexVec<ArrayId, ArrayInfo>) {
        let all = &mut self.all;
        for s in stmts {
            match &s.op {
                Op::Loop { to, extents, body } => {
                    for (a, columns) in body.results_of(to, arrays) {
                        let number = match columns {
                            [r] if extents.results.is_empty() => Some((body.clone(), *r)),
                            _ => None,
                        };
                        all.insert(a, Definition::Loop(extents.clone(), number));
                    }
                }
                Op::Accumulate { to, sums, extents, .. } => {
                    all.extend(to.iter().map(|a| (*a, Definition::Loop(extents.clone(), None))));
                    all.extend(sums.iter().map(|(a, initial)| (*a, Definition::Like(*initial))));
                }
                Op::Reduce { to, extents, .. } | Op::Reshape { to, extents, .. } => {
                    all.insert(*to, Definition::Loop(extents.clone(), None));
                }
                Op::Scan { to, extents, down, rows, .. } => {
                    let more = i64::from(rows.init.is_some());
                    all.insert(*to, Definition::Scan(extents.clone(), rows.len.clone(), more, *down));
                }
                Op::Permute { to, defaults, .. } => _ = all.insert(*to, Definition::Like(*defaults)),
                Op::Argsort { to, keys, .. } => all.extend(to.iter().map(|a| (*a, Definition::Like(*keys)))),
                _ => {}
            }
        }
    }

    /// Finds the states of a loop that have the extents of the initial state after every step, by induction: if all of
    /// them have before a step, they have after it.
    fn keep_extents(
        &mut self,
        to: &[ArrayId],
        init: &[ArrayId],
        next: &[ArrayId],
        arrays: &IndexVec<ArrayId, ArrayInfo>,
    ) {
        let states = to.iter().zip(init).zip(next).map(|((to, init), next)| (*to, *init, *next));
        let of_first =
            |(to, init, next): (ArrayId, ArrayId, ArrayId)| (to, next, self.extents(init, arrays[init].rank));
        let mut kept: Vec<(ArrayId, ArrayId, Vec<Linear>)> = states.map(of_first).collect();
        loop {
            to.iter().for_each(|a| _ = self.all.remove(a));
            self.all.extend(kept.iter().map(|(a, _, first)| (*a, Definition::Known(first.clone()))));
            let before = kept.len();
            let stays = |(_, next, first): &(ArrayId, ArrayId, Vec<Linear>)| self.extents(*next, first.len()) == *first;
            kept = kept.into_iter().filter(stays).collect();
            if kept.len() == before {
                return;
            }
        }
    }

    /// A number that equals no other one.
    fn unknown(&self) -> Linear {
        self.unknown.set(self.unknown.get() + 1);
        Linear::atom(Atom::Unknown(self.unknown.get()))
    }

    /// The number in an array of rank 0.
    pub fn number(&self, a: ArrayId) -> Linear {
        self.number_within(a, DEPTH)
    }

    fn number_within(&self, a: ArrayId, depth: usize) -> Linear {
        let form = match self.all.get(&a) {
            Some(Definition::Loop(_, Some((code, r)))) if depth > 0 => Some(self.register_within(code, *r, depth - 1)),
            _ => None,
        };
        form.filter(Linear::is_known).unwrap_or_else(|| Linear::atom(Atom::Number(a)))
    }

    /// A register of a scalar function.
    pub fn register(&self, code: &ScalarFn, r: Reg) -> Linear {
        self.register_within(code, r, DEPTH)
    }

    fn register_within(&self, code: &ScalarFn, r: Reg, depth: usize) -> Linear {
        if r < code.params {
            return Linear::atom(Atom::Param(r.index()));
        }
        let Some(definition) = walk(&code.instrs).find(|i| i.sets().contains(&r)).filter(|_| depth > 0) else {
            return self.unknown();
        };
        let value = |r: Reg| self.register_within(code, r, depth - 1);
        match definition {
            Instr::Const(_, Scalar::I64(n)) => Linear::constant(*n),
            Instr::Extent(_, a, dim) => Linear::atom(Atom::Extent(*a, *dim)),
            Instr::Read { to, array, index, .. } if index.is_empty() && to.len() == 1 => {
                self.number_within(*array, depth - 1)
            }
            Instr::Op2(_, Op2::Num(Num2::Add), a, b) => value(*a).plus(&value(*b), 1),
            Instr::Op2(_, Op2::Num(Num2::Sub), a, b) => value(*a).plus(&value(*b), -1),
            Instr::Op1(_, op, a) => self.other(op.name(), [value(*a)], None),
            Instr::Op2(_, op, a, b) => self.other(op.name(), [value(*a), value(*b)], None),
            Instr::Read { to, array, index, .. } => {
                let column = to.iter().position(|t| *t == r);
                self.other(&format!("{column:?} of {array}"), index.iter().map(|i| value(*i)), Some(*array))
            }
            _ => self.unknown(),
        }
    }

    /// A number that is neither a sum nor a difference.
    fn other(&self, name: &str, operands: impl IntoIterator<Item = Linear>, array: Option<ArrayId>) -> Linear {
        let (mut text, mut arrays) = (name.to_string(), BTreeSet::from_iter(array));
        for x in operands {
            if !x.is_known() {
                return self.unknown();
            }
            text += &format!(" {x:?}");
            arrays.extend(x.arrays());
        }
        Linear::atom(Atom::Other(text, arrays))
    }

    /// The numbers of steps that a loop counts itself: the components of its state, with these arrays before the first step and after
    /// a step, that begin with 0 and increase by 1 in each step.
    pub fn counters(&self, state: &[ArrayId], init: &[ArrayId], next: &[ArrayId]) -> impl Iterator<Item = Linear> {
        let number = |a: &ArrayId| Linear::atom(Atom::Number(*a));
        let counts = move |((state, init), next): &((&ArrayId, &ArrayId), &ArrayId)| {
            self.number(**init) == Linear::constant(0)
                && self.number(**next) == number(state).plus(&Linear::constant(1), 1)
        };
        state.iter().zip(init).zip(next).filter(counts).map(move |((state, _), _)| number(state))
    }

    /// The extents of an array.
    pub fn extents(&self, a: ArrayId, rank: usize) -> Vec<Linear> {
        self.extents_within(a, rank, DEPTH)
    }

    fn extents_within(&self, a: ArrayId, rank: usize, depth: usize) -> Vec<Linear> {
        let own = || (0..rank).map(|dim| Linear::atom(self.representative(Atom::Extent(a, dim)))).collect();
        match self.all.get(&a) {
            _ if depth == 0 => own(),
            Some(Definition::Loop(extents, _)) => {
                let value = |r: &Reg| self.look_through(self.register_within(extents, *r, depth - 1), depth - 1);
                extents.results.iter().map(value).collect()
            }
            Some(Definition::Like(other)) => self.extents_within(*other, rank, depth - 1),
            Some(Definition::Scan(outer, len, more, down)) => {
                let value =
                    |code: &ScalarFn, r: Reg| self.look_through(self.register_within(code, r, depth - 1), depth - 1);
                let mut all: Vec<Linear> = outer.results.iter().map(|r| value(outer, *r)).collect();
                all.extend(len.results.iter().map(|r| value(len, *r).plus(&Linear::constant(*more), 1)));
                if *down {
                    let n = all.len();
                    all.swap(n - 2, n - 1);
                }
                all
            }
            Some(Definition::Known(extents)) => {
                extents.iter().map(|n| self.look_through(n.clone(), depth - 1)).collect()
            }
            None => own(),
        }
    }

    /// The form with all extents replaced by what is known of them.
    pub fn looked_through(&self, form: &Linear) -> Linear {
        self.look_through(form.clone(), DEPTH)
    }

    fn look_through(&self, form: Linear, depth: usize) -> Linear {
        if depth == 0 {
            return form;
        }
        let mut sum = Linear::constant(form.constant);
        for (atom, n) in &form.terms {
            let value = match atom {
                Atom::Extent(a, dim) => self.extents_within(*a, *dim + 1, depth - 1).get(*dim).cloned(),
                _ => None,
            };
            sum = sum.plus(&value.unwrap_or_else(|| Linear::atom(atom.clone())), *n);
        }
        sum
    }

    /// The extents that a scalar function computes.
    pub fn extents_of(&self, code: &ScalarFn) -> Vec<Linear> {
        code.results.iter().map(|r| self.look_through(self.register(code, *r), DEPTH)).collect()
    }
}

/// The lists whose rows may have other extents in some steps: a run that stores them is an error then.
pub fn lists_that_check(b: &Block, arrays: &IndexVec<ArrayId, ArrayInfo>) -> BTreeSet<ArrayId> {
    let definitions = Definitions::of_block(b, arrays);
    // The order in which the statements and those of their blocks define arrays.
    let order: HashMap<ArrayId, usize> = b.walk().flat_map(|s| s.op.defines()).zip(0..).collect();
    let mut found = BTreeSet::new();
    for s in b.walk() {
        if let Op::While { to, init, body, .. } = &s.op {
            // What is the same in all steps is defined outside of the loop.
            let is_outside = |a: &ArrayId| order.get(a).is_none_or(|n| *n < order[&to[0]]);
            let is_constant = |n: &Linear| n.is_constant_outside(is_outside);
            let rows = to.iter().zip(&body.1).skip(init.len());
            let varying = rows.filter(|(_, a)| !definitions.extents(**a, arrays[**a].rank).iter().all(is_constant));
            found.extend(varying.map(|(list, _)| *list));
        }
    }
    found
}
