//! Hoisted checks: indices that are sums are checked once for all elements, before a statement.
//!
//! NOTE [Hoisted checks]: in a loop over time steps, a statement reads row `steps - 1 - t` of an array, where `t` is a number in
//! memory. Nothing is known about it before the program runs, so every element is checked: C compilers do not vectorise such a
//! loop, and statements that can fail have no tiles and no lanes. But the index is a sum of multiples of the statement's own
//! indices and of numbers that are the same for all elements. So if two corners of the index space are within bounds, then all
//! elements are, and the statement needs no checks:
//!
//! ```text
//! if a corner is outside { find the first element whose check fails }
//! the statement, without checks
//! ```
//!
//! Lists of a loop's states and copies of them keep the checks of their readers: they may become tapes, which have no number of rows
//! (NOTE [Lists that become tapes]) and whose readers need no checks. The search makes their checks, too: the failure that it finds is
//! the first one of all.
//!
//! Where a check fails in a statement whose result has too many elements for the memory, the check is reported.
//!
//! Integers wrap. If the value at the low corner is within bounds, it is less than 2^48, and so are extents: the statement
//! refuses others. Factors are small, so the values at all other elements are exact sums.
//!
//! The statement must not be executed if the search fails, so this pass is only for targets on which a failure ends the run at once.

use crate::kernel::builder::Builder;
use crate::kernel::dead_code::restricted_to;
use crate::kernel::{
    ArrayId, ArrayInfo, Block, Check, IndexVec, Instr, Op, Program, Reg, ScalarFn, SiteId, Stmt, arrays_read,
    index_vec, walk, walk_mut,
};
use accel_core::ast::deep;
use accel_core::repr::op::{Cmp, Logic, Num1, Num2, Op1, Op2};
use accel_core::repr::{MAX_EXTENT, MAX_SIZE, Scalar, ScalarType};
use std::collections::{BTreeMap, BTreeSet};

/// The largest sum of the factors of an index, without signs.
const FACTORS: i64 = 1 << 12;
/// The largest number of checks of a statement that are made before it. Chosen: each of them is about ten lines of C.
const MOST: usize = 32;

/// Checks indices that are sums once for all elements.
pub(crate) fn hoist_checks(program: &Program) -> Program {
    let mut program = program.clone();
    let body = std::mem::take(&mut program.body);
    let lists = lists(&body);
    program.body = block(&mut program, &lists, body);
    program
}

/// The lists of loops, their copies, and sums that begin with them.
fn lists(body: &Block) -> BTreeSet<ArrayId> {
    let mut lists = BTreeSet::new();
    for s in body.walk() {
        match &s.op {
            Op::While { to, init, .. } => lists.extend(&to[init.len()..]),
            Op::Accumulate { sums, .. } => {
                let sums: Vec<_> = sums.iter().filter(|s| lists.contains(&s.1)).map(|s| s.0).collect();
                lists.extend(sums);
            }
            Op::Loop { to, body, .. } => {
                let mut read = BTreeSet::new();
                arrays_read(&body.instrs, &mut read);
                if !read.is_disjoint(&lists) {
                    lists.extend(to);
                }
            }
            _ => {}
        }
    }
    lists
}

fn block(program: &mut Program, lists: &BTreeSet<ArrayId>, mut b: Block) -> Block {
    let mut stmts = vec![];
    for mut s in std::mem::take(&mut b.stmts) {
        for inner in s.op.blocks_mut() {
            *inner = deep(|| block(program, lists, std::mem::take(inner)));
        }
        let guard = guard(program, lists, &s);
        if let Some(op) = guard {
            stmts.push(Stmt { op, site: s.site });
            code_mut(&mut s.op).into_iter().for_each(|code| without_checks(code, lists));
        }
        stmts.push(s);
    }
    Block { stmts }
}

/// The scalar function from the index of a statement to its elements.
fn code_mut(op: &mut Op) -> Option<&mut ScalarFn> {
    match op {
        Op::Loop { body, .. } | Op::Accumulate { body, .. } => Some(body),
        Op::Reduce { rows, .. } | Op::Scan { rows, .. } => Some(&mut rows.element),
        _ => None,
    }
}

fn without_checks(code: &mut ScalarFn, lists: &BTreeSet<ArrayId>) {
    walk_mut(&mut code.instrs, |i| {
        if let Instr::Read { array, inside, .. } | Instr::Emit { to: array, inside, .. } = i {
            *inside |= !lists.contains(array);
        }
    });
}

/// The statement that makes all checks of an operation if one fails that is not of a list, if it can be made.
fn guard(program: &mut Program, lists: &BTreeSet<ArrayId>, s: &Stmt) -> Option<Op> {
    let op = &s.op;
    let (extents, code) = match op {
        Op::Loop { extents, body, .. } | Op::Accumulate { extents, body, .. } => (vec![extents], body),
        // The order of elements is that of a loop.
        Op::Reduce { extents, rows, .. } | Op::Scan { extents, rows, reverse: false, .. } => {
            (vec![extents, &rows.len], &rows.element)
        }
        _ => return None,
    };
    if code.params == 0 || extents.iter().any(|c| !c.is_total()) {
        return None;
    }
    let is_stored = matches!(op, Op::Loop { .. });
    let space = Space { extents, code, constants: constants(code), checks: checks(op, code)?, is_stored };
    let hoisted: Vec<_> = space.checks.iter().filter(|c| !lists.contains(&c.array)).collect();
    if hoisted.is_empty() {
        return None;
    }
    let cond = space.is_a_corner_outside(&hoisted);
    let body = space.first_failure(program);
    let found = program.arrays.push(ArrayInfo { rank: 0, columns: vec![ScalarType::I64] });
    let search = Op::Loop { to: vec![found], extents: ScalarFn::default(), body };
    let then = Block { stmts: vec![Stmt { op: search, site: s.site }] };
    Some(Op::If { to: vec![], cond, then: (then, vec![]), otherwise: (Block::default(), vec![]) })
}

/// A read, or an addition to a sum, whose index is checked.
struct Checked<'a> {
    /// The array, or the initial array of a sum.
    array: ArrayId,
    index: &'a [Reg],
    site: SiteId,
    /// For each component of the index, the factors of the statement's indices.
    factors: Vec<Vec<i64>>,
}

/// The checks of a scalar function, if there are any, and if it cannot fail otherwise.
fn checks<'a>(op: &Op, code: &'a ScalarFn) -> Option<Vec<Checked<'a>>> {
    let constants = constants(code);
    let is_checked = |i: &Instr| i.check(code).is_some() && !divides_by_constant(code, &constants, i);
    let all = walk(&code.instrs).filter(|i| is_checked(i)).count();
    if !(1..=MOST).contains(&all) {
        return None;
    }
    let factors = factors(code, &constants);
    let mut checks = vec![];
    for i in code.instrs.iter().filter(|i| is_checked(i)) {
        let (array, index, site) = match (i, op) {
            (Instr::Read { array, index, site, .. }, _) => (*array, index, *site),
            (Instr::Emit { to, index, site, .. }, Op::Accumulate { sums, .. }) => {
                (sums.iter().find(|s| s.0 == *to)?.1, index, *site)
            }
            _ => return None,
        };
        let factors = index.iter().map(|r| factors[*r].clone()).collect::<Option<_>>()?;
        checks.push(Checked { array, index, site, factors });
    }
    // Those in branches are made for some elements only.
    (checks.len() == all).then_some(checks)
}

type Constants = BTreeMap<Reg, i64>;

fn constants(code: &ScalarFn) -> Constants {
    let constant = |i: &Instr| match i {
        Instr::Const(to, Scalar::I64(x)) => Some((*to, *x)),
        _ => None,
    };
    code.instrs.iter().filter_map(constant).collect()
}

fn divides_by_constant(code: &ScalarFn, constants: &Constants, i: &Instr) -> bool {
    let Instr::Op2(_, _, _, b) = i else { return false };
    i.check(code) == Some(Check::Divisor) && constants.get(b).is_some_and(|b| *b != 0)
}

/// For each register that is a sum of multiples of the parameters and of a number that is the same for all of them: the factors.
/// Such numbers do not depend on checks.
fn factors(code: &ScalarFn, constants: &Constants) -> IndexVec<Reg, Option<Vec<i64>>> {
    let none = vec![0; code.params];
    let mut all: IndexVec<Reg, Option<Vec<i64>>> = index_vec![None; code.types.len()];
    for r in code.param_regs() {
        let mut own = none.clone();
        own[r.index()] = 1;
        all[r] = Some(own);
    }
    for i in &code.instrs {
        let of = |r: Reg| all[r].as_deref();
        let is_same = |r: Reg| of(r) == Some(&none);
        let combined = |a: Reg, b: Reg, sign: i64| -> Option<Vec<i64>> {
            Some(of(a)?.iter().zip(of(b)?).map(|(a, b)| a + sign * b).collect())
        };
        let scaled = |a: Reg, by: i64| Some(of(a)?.iter().map(|a| a * by).collect());
        let found = match i {
            Instr::Const(..) | Instr::Extent(..) => Some(none.clone()),
            Instr::Read { index, .. } if index.is_empty() => Some(none.clone()),
            Instr::Op1(_, _, a) if is_same(*a) => Some(none.clone()),
            Instr::Op2(_, _, a, b) if is_same(*a) && is_same(*b) => {
                (i.check(code).is_none() || divides_by_constant(code, constants, i)).then(|| none.clone())
            }
            Instr::Op1(_, Op1::Num(Num1::Neg), a) => scaled(*a, -1),
            Instr::Op2(_, Op2::Num(Num2::Add), a, b) => combined(*a, *b, 1),
            Instr::Op2(_, Op2::Num(Num2::Sub), a, b) => combined(*a, *b, -1),
            Instr::Op2(_, Op2::Num(Num2::Mul), a, b) => {
                let small = |r: Reg| constants.get(&r).copied().filter(|x| x.unsigned_abs() <= FACTORS as u64);
                small(*b).and_then(|x| scaled(*a, x)).or_else(|| scaled(*b, small(*a)?))
            }
            _ => None,
        };
        // Other types of numbers wrap earlier.
        let fits = |f: &Vec<i64>| {
            let size: i64 = f.iter().map(|x| x.abs()).sum();
            size == 0 || size <= FACTORS && i.sets().iter().all(|r| code.types[*r] == ScalarType::I64)
        };
        let found = found.filter(fits);
        i.sets().iter().for_each(|r| all[*r] = found.clone());
    }
    all
}

/// The index space of a statement, and what it checks.
struct Space<'a> {
    extents: Vec<&'a ScalarFn>,
    code: &'a ScalarFn,
    constants: Constants,
    checks: Vec<Checked<'a>>,
    /// Whether the statement stores all elements.
    is_stored: bool,
}

/// See [`Space::simple`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Simple {
    Constant(i64),
    Index(Reg),
}

/// For each index, whether it has its last value instead of its first one.
type Corner = Vec<bool>;

impl Checked<'_> {
    /// The corners at which component `k` of the index is least and largest.
    fn corners(&self, k: usize) -> [Corner; 2] {
        let all = &self.factors[k];
        [all.iter().map(|f| *f < 0).collect(), all.iter().map(|f| *f > 0).collect()]
    }
}

impl Space<'_> {
    /// The scalar function without parameters that says whether there is an element, and one of these indices is out of bounds at a
    /// corner.
    fn is_a_corner_outside(&self, checks: &[&Checked]) -> ScalarFn {
        let mut b = Builder::new(&[]);
        let n = self.sizes(&mut b);
        let zero = b.constant(Scalar::I64(0));
        let compare = |b: &mut Builder, cmp: Cmp, x: Reg, y: Reg| op(b, Op2::Cmp(cmp), x, y);
        let largest = b.constant(Scalar::I64(MAX_EXTENT as i64));
        // Larger extents are errors of the statement, and so are more elements, if it stores them.
        let bounds = |n: &Reg| [compare(&mut b, Cmp::Gt, *n, zero), compare(&mut b, Cmp::Le, *n, largest)];
        let mut has_elements: Vec<Reg> = n.iter().flat_map(bounds).collect();
        if self.is_stored {
            let sizes = n.iter().map(|n| cast(&mut b, *n)).collect::<Vec<_>>();
            let size = b.product(ScalarType::F64, sizes);
            let most = b.constant(Scalar::F64(MAX_SIZE as f64));
            has_elements.extend(size.map(|size| op(&mut b, Op2::Cmp(Cmp::Le), size, most)));
        }
        let has_elements = all_hold(&mut b, has_elements);
        let (then, outside) = b.block(|b| {
            let ends = ends(b, &n);
            let (mut inside, mut known) = (vec![], BTreeSet::new());
            for c in checks {
                let mut corners = BTreeMap::new();
                for (k, r) in c.index.iter().enumerate() {
                    let largest = match self.simple(*r) {
                        None => {
                            c.corners(k).into_iter().for_each(|corner| {
                                corners.entry(corner).or_insert_with(BTreeSet::new).insert(k);
                            });
                            continue;
                        }
                        Some(simple) if !known.insert((c.array, k, simple)) => continue,
                        Some(Simple::Constant(x)) => b.constant(Scalar::I64(x)),
                        Some(Simple::Index(r)) => ends[r.index()][1],
                    };
                    let extent = b.extent(c.array, k);
                    inside.push(compare(b, Cmp::Lt, largest, extent));
                }
                for (corner, components) in corners {
                    let index = self.index_at(b, c, &at(&ends, &corner));
                    for k in components {
                        let extent = b.extent(c.array, k);
                        inside.push(compare(b, Cmp::Ge, index[k], zero));
                        inside.push(compare(b, Cmp::Lt, index[k], extent));
                    }
                }
            }
            let inside = all_hold(b, inside);
            let outside = b.reg(ScalarType::Bool);
            b.emit(Instr::Op1(outside, Op1::Not, inside));
            outside
        });
        let (otherwise, no) = b.block(|b| b.constant(Scalar::Bool(false)));
        let result = b.reg(ScalarType::Bool);
        b.emit(Instr::If { cond: has_elements, then, otherwise, merge: vec![(result, outside, no)] });
        b.finish(vec![result])
    }

    /// A component of an index that is at least 0 everywhere.
    fn simple(&self, r: Reg) -> Option<Simple> {
        if r < self.code.params {
            return Some(Simple::Index(r));
        }
        self.constants.get(&r).filter(|x| **x >= 0).map(|x| Simple::Constant(*x))
    }

    /// The scalar function without parameters that makes the checks of one element after the other. One of them fails.
    fn first_failure(&self, program: &Program) -> ScalarFn {
        let mut b = Builder::new(&[]);
        let [zero, one] = [0, 1].map(|x| b.constant(Scalar::I64(x)));
        let mut n = self.sizes(&mut b);
        for (d, n) in n.iter_mut().enumerate() {
            // Whether a check fails does not depend on this index.
            if self.checks.iter().all(|c| c.factors.iter().all(|f| f[d] == 0)) {
                *n = one;
            }
        }
        let index: Vec<Reg> = n.iter().map(|_| b.reg(ScalarType::I64)).collect();
        let (cond, continues) = b.block(|b| op(b, Op2::Cmp(Cmp::Lt), index[0], n[0]));
        let (body, next) = b.block(|b| {
            for c in &self.checks {
                let at = self.index_at(b, c, &index);
                let to = program.arrays[c.array].columns.iter().map(|t| b.reg(*t)).collect();
                b.emit(Instr::Read { to, array: c.array, index: at, site: c.site, inside: false });
            }
            let (mut next, mut carry) = (vec![], one);
            for d in (0..n.len()).rev() {
                let mut own = b.index_op(Num2::Add, index[d], carry);
                if d > 0 {
                    let wraps = op(b, Op2::Cmp(Cmp::Eq), own, n[d]);
                    let [digit, more] = [0; 2].map(|_| b.reg(ScalarType::I64));
                    let merge = vec![(digit, zero, own), (more, one, zero)];
                    let (then, otherwise) = Default::default();
                    b.emit(Instr::If { cond: wraps, then, otherwise, merge });
                    (own, carry) = (digit, more);
                }
                next.insert(0, own);
            }
            next
        });
        let state = index.iter().map(|i| (*i, zero)).collect();
        b.emit(Instr::While { state, cond, continues, body, next, lists: vec![] });
        b.finish(vec![index[0]])
    }

    fn sizes(&self, b: &mut Builder) -> Vec<Reg> {
        self.extents.iter().flat_map(|c| b.inline(c, &[])).collect()
    }

    /// The checked index at an index of the statement.
    fn index_at(&self, b: &mut Builder, c: &Checked, at: &[Reg]) -> Vec<Reg> {
        // Sums of multiples need no instruction with others inside, and what is added to sums is never dead.
        let mut code = self.code.clone();
        code.instrs.retain(|i| i.inner().is_empty() && !matches!(i, Instr::Emit { .. }));
        b.inline(&restricted_to(&code, c.index.to_vec()), at)
    }
}

/// The first and the last value of each index.
fn ends(b: &mut Builder, n: &[Reg]) -> Vec<[Reg; 2]> {
    let [zero, one] = [0, 1].map(|x| b.constant(Scalar::I64(x)));
    n.iter().map(|n| [zero, b.index_op(Num2::Sub, *n, one)]).collect()
}

fn at(ends: &[[Reg; 2]], corner: &Corner) -> Vec<Reg> {
    ends.iter().zip(corner).map(|(ends, last)| ends[usize::from(*last)]).collect()
}

fn cast(b: &mut Builder, n: Reg) -> Reg {
    let to = b.reg(ScalarType::F64);
    b.emit(Instr::Op1(to, Op1::Cast(ScalarType::F64), n));
    to
}

fn all_hold(b: &mut Builder, conditions: Vec<Reg>) -> Reg {
    let found = conditions.into_iter().reduce(|x, y| op(b, Op2::Logic(Logic::And), x, y));
    found.unwrap_or_else(|| b.constant(Scalar::Bool(true)))
}

fn op(b: &mut Builder, op: Op2, x: Reg, y: Reg) -> Reg {
    let to = b.reg(ScalarType::Bool);
    b.emit(Instr::Op2(to, op, x, y));
    to
}
