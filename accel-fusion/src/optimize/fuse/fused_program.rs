//! The program that vertical fusion constructs, and facts about its arrays.

use crate::kernel::builder::{Builder, index_types};
use crate::kernel::dead_code::defined;
use crate::kernel::{
    ArrayId, ArrayInfo, Block, Instr, Monoid, Op, Program, Reduction, Reg, ScalarFn, SiteId, Stmt, arrays_read,
    is_permutation,
};
use crate::optimize::facts::poly::Poly;
use crate::optimize::facts::shape_analysis::{Facts, Inequality, Premises, Ranges};
use crate::optimize::facts::strided_product::StridedProduct;
use crate::optimize::fuse::rewrites::{Fusion, REDUCED_IN_PLACE};
use crate::optimize::scalar::recomputation::{LITTLE_WORK, MAX_READS};
use crate::optimize::scalar::scalar_cleanup::{ArrayUse, Cleaned, ExecutionCount, Producers, clean, code_of};
use accel_core::print;
use accel_core::repr::Scalar;
use accel_core::repr::op::{Num2, Op2};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What one pass learns for the next one.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct State {
    pub(crate) assumed: usize,
    /// For each array, the number of reads, and whether every read uses each element at most once.
    pub(crate) places: BTreeMap<ArrayId, (usize, bool)>,
    pub(crate) statements: usize,
}

impl State {
    /// Whether another pass would find nothing new.
    pub fn is_stable(&self, before: &State) -> bool {
        self == before
    }
}

/// The facts about arrays.
pub struct Arrays<'a> {
    pub(crate) before: &'a State,
    pub(crate) aliases: BTreeMap<ArrayId, ArrayId>,
    pub(crate) producers: BTreeMap<ArrayId, Producer>,
    /// The numbers of steps of loops, for the rows of their steps.
    pub(crate) steps: BTreeMap<ArrayId, Poly>,
    /// The innermost loop around the definition of each array, and around the current statement; 0 if there is none.
    pub(crate) loop_of: HashMap<ArrayId, usize>,
    pub(crate) open_loop: usize,
    /// Whether the quotients and remainders of indices take no work, as they do in the operand of a strided product.
    pub(crate) free_digits: bool,
}

pub struct Producer {
    pub(crate) code: ScalarFn,
    pub(crate) work: usize,
    pub(crate) constants: Option<Vec<Scalar>>,
    /// Whether it takes no work to compute the array, as it is another one in a new shape.
    pub(crate) is_view: bool,
}

impl Producer {
    /// Whether elements are moved without other work than that of their indices.
    pub(crate) fn moves(&self) -> bool {
        let read = |r: Reg| matches!(defined(&self.code, r), Some(Instr::Read { inside: true, .. }));
        self.code.is_straight_line() && self.code.results.iter().all(|r| read(*r))
    }
}

impl Producers for Arrays<'_> {
    fn alias(&self, a: ArrayId) -> ArrayId {
        self.aliases.get(&a).copied().unwrap_or(a)
    }

    fn is_read_where_made(&self, a: ArrayId) -> bool {
        self.loop_of.get(&a).copied().unwrap_or_default() == self.open_loop
    }

    fn steps(&self, row: ArrayId) -> Option<&Poly> {
        self.steps.get(&row)
    }

    fn inlined(&self, u: ArrayUse) -> Option<&ScalarFn> {
        let p = self.producers.get(&u.array)?;
        let places = self.before.places.get(&u.array);
        let good = match places {
            _ if p.work == 0 || (self.free_digits && p.moves()) => true,
            _ if p.is_view => false,
            // The first pass has no counts yet, and only counts.
            None => false,
            Some((1, _)) => u.once,
            Some((n, once)) => u.once && *once && *n <= MAX_READS && p.work <= LITTLE_WORK,
        };
        good.then_some(&p.code)
    }
}

/// The state of a pass.
pub struct Pass<'a> {
    /// The new program: its arrays and sites.
    pub program: Program,
    /// The facts about extents.
    pub facts: Facts,
    pub(crate) known: Arrays<'a>,
    pub(crate) how: Fusion<'a>,
    /// Whether loops may be left to their consumers, and those that were: NOTE [Chains of loops].
    pub(crate) may_wait: bool,
    pub(crate) later: Vec<ArrayId>,
    /// The reads of arrays, in the order in which scalar functions were kept.
    pub(crate) reads: Vec<ArrayUse>,
    /// For each array the number of reads, and the number of those that use every element at most once.
    pub(crate) places: BTreeMap<ArrayId, (usize, usize)>,
    /// Arrays that are used as a whole, not only by reads.
    pub(crate) whole: BTreeSet<ArrayId>,
    /// The open blocks: their numbers, and the statements so far.
    pub(crate) open: Vec<(usize, Vec<Stmt>)>,
    /// The number of blocks opened so far.
    pub(crate) blocks: usize,
    /// The number of loops opened so far.
    pub(crate) loops: usize,
    /// The block that each array is defined in.
    pub(crate) block_of: HashMap<ArrayId, usize>,
    /// The first components of the states of those loops that turned out to change their extents.
    pub(crate) changing: BTreeSet<ArrayId>,
    /// For each open block, the pairs of extents that are equal after its checks.
    pub(crate) checked: Vec<BTreeSet<(Poly, Poly)>>,
    /// How often the current statement is executed.
    pub(crate) times: ExecutionCount,
    /// The sites of permutes known to have targets out of bounds: NOTE [Targets within bounds] in `scatter.rs`.
    pub(crate) outside: Vec<SiteId>,
}

impl Pass<'_> {
    /// Applies a rewrite to a statement, unless it is switched off. Both `f` and this function return whether it fits.
    /// `ACCEL_DUMP=rules` prints that it does.
    pub fn rewrites(&mut self, rewrite: &'static str, site: SiteId, f: impl FnOnce(&mut Self) -> bool) -> bool {
        let fits = self.how.does(rewrite) && f(self);
        if fits {
            print::dump_with("rules", || format!("{rewrite}, in `{}`", self.program.sites[site].name));
        }
        fits
    }

    /// Adds a statement to the new program.
    pub fn emit(&mut self, op: Op, site: SiteId) {
        if let Some((block, open)) = self.open.last_mut() {
            op.defines().iter().for_each(|a| _ = self.block_of.insert(*a, *block));
            open.push(Stmt { op, site });
        }
    }

    /// The block of the statements that `f` emits.
    pub fn open(&mut self, f: impl FnOnce(&mut Self)) -> Block {
        self.open.push((self.blocks, vec![]));
        self.blocks += 1;
        self.checked.push(BTreeSet::new());
        let compared = self.facts.number_compared();
        f(self);
        self.facts.forget_compared(compared);
        self.checked.pop();
        Block { stmts: self.open.pop().unwrap_or_default().1 }
    }

    /// The same for a branch of a statement that is executed once.
    pub fn branch(&mut self, f: impl FnOnce(&mut Self)) -> Block {
        let times = std::mem::replace(&mut self.times, ExecutionCount::Maybe);
        let b = self.open(f);
        self.times = times;
        b
    }

    /// A run executes only one of two branches, those with the reads from `first` and from `second` on. What both of them read
    /// is counted once, so that it can be computed in each of them instead of in memory.
    pub fn only_one_of(&mut self, first: usize, second: usize) {
        let mut both: BTreeMap<ArrayId, [usize; 2]> = BTreeMap::new();
        let (then, otherwise) = self.reads[first..].split_at(second - first);
        for (k, uses) in [then, otherwise].into_iter().enumerate() {
            uses.iter().for_each(|u| both.entry(u.array).or_default()[k] += 1);
        }
        self.reads[first..].iter().filter(|u| !u.once).for_each(|u| _ = both.remove(&u.array));
        for u in self.reads.split_off(second) {
            match both.get_mut(&u.array) {
                Some([n, m]) if *n > 0 && *m > 0 => {
                    (*n, *m) = (*n - 1, *m - 1);
                    self.forget(u);
                }
                _ => self.reads.push(u),
            }
        }
    }

    /// Takes a read back.
    pub fn forget(&mut self, u: ArrayUse) {
        if let Some((all, once)) = self.places.get_mut(&u.array) {
            *all -= 1;
            *once -= usize::from(u.once);
        }
    }

    /// Declares a new array.
    pub fn array(&mut self, info: ArrayInfo, dims: Vec<Poly>) -> ArrayId {
        self.facts.array(info.columns.len());
        let a = self.program.arrays.push(info);
        self.define(&[a], &dims);
        a
    }

    /// The array that `a` is known to be equal to.
    pub fn alias(&self, a: ArrayId) -> ArrayId {
        self.known.alias(a)
    }

    /// The constants that all elements of an array equal, if there are such.
    pub fn constants(&self, a: ArrayId) -> Option<&Vec<Scalar>> {
        self.known.producers.get(&a)?.constants.as_ref()
    }

    /// Cleans a scalar function of an index within `dims` to inspect the result. It becomes part of the program only
    /// with [`keep`](Self::keep).
    pub fn preview(&mut self, code: &ScalarFn, dims: &[Poly]) -> Cleaned {
        clean(&mut self.facts, &self.known, code, dims, self.times)
    }

    /// Cleans a scalar function of an index within `dims`.
    pub fn clean(&mut self, code: &ScalarFn, dims: &[Poly]) -> Cleaned {
        let cleaned = self.preview(code, dims);
        self.keep(&cleaned);
        cleaned
    }

    /// Makes a cleaned scalar function part of the program.
    pub fn keep(&mut self, cleaned: &Cleaned) {
        for u in &cleaned.uses {
            let (all, once) = self.places.entry(u.array).or_insert((0, 0));
            *all += 1;
            *once += usize::from(u.once);
            self.reads.push(*u);
        }
    }

    /// Cleans a scalar function for extents. Returns the simplest function for the values, and the values.
    pub fn extents(&mut self, code: &ScalarFn) -> (ScalarFn, Vec<Poly>) {
        let cleaned = self.clean(code, &[]);
        self.simplest(cleaned)
    }

    /// The simplest scalar function for the values of a cleaned one, and the values.
    pub fn simplest(&mut self, cleaned: Cleaned) -> (ScalarFn, Vec<Poly>) {
        let values: Vec<Poly> = cleaned.values.into_iter().map(Option::unwrap_or_default).collect();
        if values.iter().all(|p| self.facts.is_known(p)) {
            return (code_of(&mut self.facts, &values), values);
        }
        (cleaned.code, values)
    }

    /// Whether an index of a statement's target is within an extent, for all indices of the source. With `assume`, this is
    /// assumed if it is not certain. Without `assume`, the result only says whether it could be.
    pub fn is_inside(&mut self, i: Option<&Poly>, n: &Poly, ranges: Ranges, assume: bool) -> bool {
        let Some(i) = i else { return false };
        let range = Inequality::range(i, n);
        if self.facts.hold(&range, ranges) {
            return true;
        }
        let needed = if self.times == ExecutionCount::Once { self.facts.premises(&range, ranges, true) } else { None };
        let may = needed.is_some();
        needed.filter(|_| assume).into_iter().for_each(|needed| self.facts.assume(needed));
        may
    }

    /// The assumptions under which a condition holds that all large extents satisfy; `None` if there are none, or if nothing may be assumed.
    pub fn for_large_extents(&mut self, x: &Inequality) -> Option<Premises> {
        if let Some(found) = self.facts.premises(std::slice::from_ref(x), Ranges::default(), false) {
            return Some(found);
        }
        let difference = x.difference()?;
        let mut growing = difference.terms().filter(|(syms, _)| !syms.is_empty()).map(|(_, n)| n > 0).peekable();
        let may = growing.peek().is_some() && growing.all(|grows| grows) && self.times == ExecutionCount::Once;
        may.then(|| self.facts.premises(std::slice::from_ref(x), Ranges::default(), true)).flatten()
    }

    pub fn define(&mut self, to: &[ArrayId], dims: &[Poly]) {
        for a in to {
            self.facts.set_dims(*a, dims.to_vec());
            self.known.loop_of.insert(*a, self.known.open_loop);
        }
    }

    /// Whether a loop will be moved into its only consumer, so that it need not be cleaned where it stands.
    ///
    /// NOTE [Chains of loops]: in a chain, each loop is the producer of the next one. If the pass cleaned each loop
    /// where it stands, with all its producers inside, the work would grow with the square of the length of the chain.
    /// So a loop with one consumer, which reads every element at most once according to the pass before, is moved there
    /// unchanged. It is cleaned there, together with the consumer. If the array turns out to be used in another way,
    /// the pass is repeated without this rule.
    pub fn is_deferred_to_its_consumer(&self, to: &[ArrayId], dims: &[Poly], body: &ScalarFn) -> bool {
        let &[a] = to else { return false };
        self.may_wait
            && self.known.before.places.get(&a) == Some(&(1, true))
            && !self.whole.contains(&a)
            && self.facts.are_known_without(a, dims)
            && body.work() > 0
            && moved_array(body).is_none()
    }

    /// Processes a loop over the index space `dims`.
    pub fn loop_(&mut self, to: &[ArrayId], extents: ScalarFn, dims: Vec<Poly>, body: &ScalarFn, site: SiteId) {
        self.define(to, &dims);
        let cleaned = self.clean(body, &dims);
        if let ([to], Some(source)) = (to, self.copied(&cleaned.code, &dims)) {
            self.known.aliases.insert(*to, source);
            return;
        }
        if let [to] = to
            && self.rewrites(REDUCED_IN_PLACE, site, |p| p.reduced_in_place_of(*to, &cleaned.code, &dims))
        {
            return;
        }
        if let [to] = to {
            let constants = cleaned.constants.iter().copied().collect();
            let p = Producer { work: cleaned.code.work(), code: cleaned.code.clone(), constants, is_view: false };
            self.known.producers.insert(*to, p);
        }
        self.emit(Op::Loop { to: to.to_vec(), extents, body: cleaned.code }, site);
    }

    /// The array that a loop over `dims` copies unchanged.
    pub fn copied(&self, body: &ScalarFn, dims: &[Poly]) -> Option<ArrayId> {
        match body.instrs.as_slice() {
            [Instr::Read { to, array, index, inside: true, .. }]
                if *to == body.results
                    && index.iter().copied().eq(body.param_regs())
                    && self.facts.dims(*array) == dims =>
            {
                Some(*array)
            }
            _ => None,
        }
    }

    /// Handles a loop that only moves the results of a reduction, such as a transposition: the reduction computes them
    /// directly in their place. Returns whether it was such a loop.
    ///
    /// NOTE [Dead statements]: a pass decides by the reads that the pass before it counted. A producer that replaces a
    /// read brings its own reads along, so an array can get new readers during the pass. So no statement is removed
    /// because its last reader seems to be gone: at the end, `drop_dead_statements` removes the statements whose arrays nothing
    /// uses. A decision that would compute something twice if the old statement stayed uses the counts of this pass.
    pub fn reduced_in_place_of(&mut self, to: ArrayId, body: &ScalarFn, dims: &[Poly]) -> bool {
        let Some((array, index, plus_zero)) = moved_array(body) else { return false };
        if !self.facts.are_known_without(array, dims) {
            return false;
        }
        if self.places.get(&array).is_some_and(|(all, _)| *all > 1) {
            return false;
        }
        let (rows, site) = match self.reduction(array, 1) {
            Some((rows, site)) if !plus_zero || is_never_negative_zero(rows) => (rows.clone(), site),
            _ => return false,
        };
        let mut b = Builder::new(&index_types(dims.len() + 1));
        let args: Vec<Reg> = index.iter().copied().chain([Reg::new(dims.len())]).collect();
        let results = b.inline(&rows.element, &args);
        let element = b.finish(results);
        self.define(&[to], dims);
        let (extents, mut all) = (code_of(&mut self.facts, dims), dims.to_vec());
        let (rows, _) = self.rows(&Reduction { element, ..rows }, &mut all);
        self.emit(Op::Reduce { to, extents, rows }, site);
        true
    }

    /// The rows of the reduction in this block that computes an array, if the array is only read, at most `most_places`
    /// times, and every read uses each element at most once.
    pub fn reduction(&self, array: ArrayId, most_places: usize) -> Option<(&Reduction, SiteId)> {
        let few = matches!(self.known.before.places.get(&array), Some((n, true)) if *n <= most_places);
        if !few || self.whole.contains(&array) || self.known.aliases.values().any(|a| *a == array) {
            return None;
        }
        match self.definition(array)? {
            Stmt { op: Op::Reduce { rows, .. }, site } => Some((rows, *site)),
            _ => None,
        }
    }

    /// The place in this block of the statement that defines an array, if there is one.
    pub fn place(&self, a: ArrayId) -> Option<usize> {
        self.open.last()?.1.iter().position(|s| s.op.defines().contains(&a))
    }

    /// The statement of this block that defines an array, if there is one.
    pub fn definition(&self, a: ArrayId) -> Option<&Stmt> {
        self.open.last()?.1.get(self.place(a)?)
    }

    /// Rows whose elements are read where the program moves them from, if the sum is a strided product then. So a matrix of
    /// patches of an image, which is only multiplied by another matrix, is not stored.
    pub fn rows_of_moved_elements(&mut self, rows: &Reduction, outer: &[Poly]) -> Option<Reduction> {
        let mut read = BTreeSet::new();
        arrays_read(&rows.element.instrs, &mut read);
        let moves = |a: &ArrayId| self.known.producers.get(&self.alias(*a)).is_some_and(|p| p.work > 0 && p.moves());
        if !self.how.strided || rows.float_sum().is_none() || !read.iter().any(moves) {
            return None;
        }
        let len = self.preview(&rows.len, &[]).values.pop().flatten()?;
        self.known.free_digits = true;
        let element = self.preview(&rows.element, &[outer, &[len]].concat()).code;
        self.known.free_digits = false;
        let moved = Reduction { element, ..rows.clone() };
        StridedProduct::of_rows(outer.len(), &moved).map(|_| moved)
    }

    /// Cleans rows and returns their length. `dims` are the outer extents; the length is added to them.
    pub fn rows(&mut self, rows: &Reduction, dims: &mut Vec<Poly>) -> (Reduction, Poly) {
        let (len, n) = self.extents(&rows.len);
        let n = n.into_iter().next().unwrap_or_default();
        dims.push(n.clone());
        let element = self.clean(&rows.element, dims).code;
        let init = rows.init.as_ref().map(|c| self.clean(c, &[]).code);
        let op = self.clean(&rows.op, &[]).code;
        (Reduction { len, element, init, op, monoid: rows.monoid }.without_zeros().with_products_of_matrices(), n)
    }

    /// Emits a reduction over the index space `dims` of the result, with rows of length `len`.
    pub fn reduce(&mut self, to: ArrayId, dims: Vec<Poly>, len: Poly, rows: NewReduction, site: SiteId) {
        self.define(&[to], &dims);
        let (extents, n) = (code_of(&mut self.facts, &dims), code_of(&mut self.facts, std::slice::from_ref(&len)));
        let mut all = dims;
        let rows = Reduction { len: n, element: rows.element, init: Some(rows.init), op: rows.op, monoid: rows.monoid };
        let (rows, _) = self.rows(&rows, &mut all);
        self.emit(Op::Reduce { to, extents, rows }, site);
    }
}

/// The array whose elements a loop moves, the index, which is a permutation of the loop's own index, and whether the
/// loop adds 0 to them.
pub(crate) fn moved_array(body: &ScalarFn) -> Option<(ArrayId, &[Reg], bool)> {
    let (mut read, mut zero, mut sum) = (None, None, None);
    for i in &body.instrs {
        match i {
            Instr::Read { to, array, index, inside: true, .. } if read.is_none() => read = Some((to, *array, index)),
            Instr::Const(r, Scalar::F32(x)) if *x == 0.0 => zero = Some(*r),
            Instr::Const(r, Scalar::F64(x)) if *x == 0.0 => zero = Some(*r),
            Instr::Op2(r, Op2::Num(Num2::Add), a, b) if sum.is_none() => sum = Some((*r, [*a, *b])),
            _ => return None,
        }
    }
    let (to, array, index) = read?;
    let plus_zero = match (sum, zero, &to[..], &body.results[..]) {
        (None, None, read, results) if read == results => false,
        (Some((r, operands)), Some(z), [x], [result])
            if r == *result && (operands == [z, *x] || operands == [*x, z]) =>
        {
            true
        }
        _ => return None,
    };
    is_permutation(index, body.params).then_some((array, index, plus_zero))
}

/// Whether the accumulated values of these rows are sums of floating-point numbers, none of which is -0, so that adding 0
/// changes nothing. A sum is -0 only if both operands are. So it suffices that the first value is 0 or a sum of 0 and
/// something.
pub(crate) fn is_never_negative_zero(rows: &Reduction) -> bool {
    let is_zero = |i: &Instr, r: &Reg| match i {
        Instr::Const(to, Scalar::F32(x)) => to == r && x.to_bits() == 0,
        Instr::Const(to, Scalar::F64(x)) => to == r && x.to_bits() == 0,
        _ => false,
    };
    let first = rows.init.as_ref().unwrap_or(&rows.element);
    let zero = |r: &Reg| defined(first, *r).is_some_and(|i| is_zero(i, r));
    let is_positive = |r: &Reg| match defined(first, *r) {
        Some(Instr::Op2(_, Op2::Num(Num2::Add), a, b)) => zero(a) || zero(b),
        _ => zero(r),
    };
    rows.monoid == Some(Monoid::Sum) && first.results.iter().all(is_positive)
}

/// A `Permute` statement with cleaned extents.
#[derive(Clone)]
pub struct Permute<'a> {
    /// The array defined.
    pub to: ArrayId,
    /// The initial elements.
    pub defaults: ArrayId,
    /// The extents of the source as a scalar function.
    pub extents: ScalarFn,
    /// The extents of the source as values.
    pub source: Vec<Poly>,
    /// The target of each source element.
    pub target: &'a ScalarFn,
    /// The elements.
    pub element: &'a ScalarFn,
    /// The operator.
    pub comb: &'a ScalarFn,
    /// Its monoid, if recognised.
    pub monoid: Option<Monoid>,
}

/// The rows of a reduction that a pass creates.
pub struct NewReduction {
    /// From the outer index and the position in the row.
    pub element: ScalarFn,
    /// The initial value.
    pub init: ScalarFn,
    /// The operator.
    pub op: ScalarFn,
    /// Its monoid, if recognised.
    pub monoid: Option<Monoid>,
}
