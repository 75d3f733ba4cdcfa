//! One pass over the statements of a program.

use super::code::{Cleaned, Producers, Times, Use, clean, code_of};
use super::columns::used_as_whole;
use super::cost::{LITTLE, PLACES, work};
use super::exchange;
use super::facts::{AtMost, Facts, Ranges};
use super::poly::Poly;
use super::scatter;
use crate::kernel::builder::Builder;
use crate::kernel::{
    ArrayId, ArrayInfo, Block, Code, Instr, Known, Op, Program, Reg, Rows, SiteId, Stmt, arrays_mentioned,
    is_permutation,
};
use accel_core::ast::deep;
use accel_core::repr::op::{Num2, Op2};
use accel_core::repr::{Agreement, Scalar, ScalarType};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What one pass learns for the next one.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct State {
    assumed: usize,
    /// How arrays are read: in how many places, and whether every place reads each element at most once.
    places: BTreeMap<ArrayId, (usize, bool)>,
    statements: usize,
}

impl State {
    /// Whether a further pass would find nothing new.
    pub fn is_stable(&self, before: &State) -> bool {
        self == before
    }
}

/// Goes through the program once.
pub fn run(program: &Program, facts: Facts, before: &State) -> (Program, Facts, State) {
    let first = through(program, facts.clone(), before, true);
    first.unwrap_or_else(|| through(program, facts, before, false).expect("nothing is left for its reader"))
}

/// The same; `None` if a loop that was left for its reader is missing.
fn through(program: &Program, facts: Facts, before: &State, may_wait: bool) -> Option<(Program, Facts, State)> {
    let mut whole = program.results.iter().copied().collect();
    used_as_whole(&program.body, &mut whole);
    let mut p = Pass {
        program: Program {
            arrays: program.arrays.clone(),
            inputs: program.inputs.clone(),
            body: Block::default(),
            results: vec![],
            literals: program.literals.clone(),
            sites: program.sites.clone(),
        },
        facts: facts.about(program),
        known: Arrays { before, aliases: BTreeMap::new(), producers: BTreeMap::new() },
        may_wait,
        later: vec![],
        reads: vec![],
        places: BTreeMap::new(),
        whole,
        open: vec![],
        checked: vec![],
        blocks: 0,
        block_of: HashMap::new(),
        changing: BTreeSet::new(),
        times: Times::Once,
    };
    let mut body = p.block(&program.body);
    p.program.results = program.results.iter().map(|a| p.known.alias(*a)).collect();
    let mut needed: BTreeSet<ArrayId> = p.program.results.iter().copied().collect();
    drop_unused(&mut body, &mut needed);
    if p.later.iter().any(|a| needed.contains(a)) {
        return None;
    }
    let after = State {
        assumed: p.facts.assumed(),
        places: p.places.iter().filter(|(_, n)| n.0 > 0).map(|(a, (all, once))| (*a, (*all, all == once))).collect(),
        statements: body.walk().count(),
    };
    p.program.body = body;
    Some((p.program, p.facts, after))
}

/// What is known of arrays.
struct Arrays<'a> {
    before: &'a State,
    aliases: BTreeMap<ArrayId, ArrayId>,
    producers: BTreeMap<ArrayId, Producer>,
}

struct Producer {
    code: Code,
    work: usize,
    constants: Option<Vec<Scalar>>,
}

impl Producers for Arrays<'_> {
    fn alias(&self, a: ArrayId) -> ArrayId {
        self.aliases.get(&a).copied().unwrap_or(a)
    }

    fn inlined(&self, u: Use) -> Option<&Code> {
        let p = self.producers.get(&u.array)?;
        let places = self.before.places.get(&u.array);
        let good = match places {
            _ if p.work == 0 => true,
            // Not seen yet: the first pass only counts.
            None => false,
            Some((1, _)) => u.once,
            Some((n, once)) => u.once && *once && *n <= PLACES && p.work <= LITTLE,
        };
        good.then_some(&p.code)
    }
}

/// A pass under way.
pub struct Pass<'a> {
    /// The new program: its arrays and sites.
    pub program: Program,
    /// What is known of extents.
    pub facts: Facts,
    known: Arrays<'a>,
    /// Whether loops may be left for their readers, and those that were: NOTE [Chains of loops].
    may_wait: bool,
    later: Vec<ArrayId>,
    /// How arrays are read, in the order in which codes were kept,
    reads: Vec<Use>,
    /// and in how many places, and in how many of these every element at most once.
    places: BTreeMap<ArrayId, (usize, usize)>,
    /// Arrays that are used otherwise than by reading elements.
    whole: BTreeSet<ArrayId>,
    /// The blocks that are open: their numbers, and the statements so far.
    open: Vec<(usize, Vec<Stmt>)>,
    /// How many blocks have been opened.
    blocks: usize,
    /// The block that each array is defined in.
    block_of: HashMap<ArrayId, usize>,
    /// The first parts of the states of loops that were found to change their extents.
    changing: BTreeSet<ArrayId>,
    /// For each of them the extents that are known to be equal after its checks.
    checked: Vec<BTreeSet<(Poly, Poly)>>,
    /// How often what is looked at is executed.
    times: Times,
}

impl Pass<'_> {
    fn block(&mut self, b: &Block) -> Block {
        self.open.push((self.blocks, vec![]));
        self.blocks += 1;
        self.checked.push(BTreeSet::new());
        deep(|| b.stmts.iter().for_each(|s| self.stmt(s)));
        self.checked.pop();
        Block { stmts: self.open.pop().unwrap_or_default().1 }
    }

    /// A statement of the new program.
    pub fn emit(&mut self, op: Op, site: SiteId) {
        if let Some((block, open)) = self.open.last_mut() {
            op.defines().iter().for_each(|a| _ = self.block_of.insert(*a, *block));
            open.push(Stmt { op, site });
        }
    }

    /// A new array.
    pub fn array(&mut self, info: ArrayInfo, dims: Vec<Poly>) -> ArrayId {
        self.facts.array(info.columns.len());
        self.program.arrays.push(info);
        let a = self.program.arrays.len() - 1;
        self.facts.set_dims(a, dims);
        a
    }

    /// The array that `a` is known to be equal to.
    pub fn alias(&self, a: ArrayId) -> ArrayId {
        self.known.alias(a)
    }

    /// The elements of an array if they are all the same constants.
    pub fn constants(&self, a: ArrayId) -> Option<&Vec<Scalar>> {
        self.known.producers.get(&a)?.constants.as_ref()
    }

    /// What cleaning would make of a code over an index within `dims`, which is not part of the program until it is [kept](Self::keep).
    pub fn look(&mut self, code: &Code, dims: &[Poly]) -> Cleaned {
        clean(&mut self.facts, &self.known, code, dims, self.times)
    }

    /// Cleans a code over an index within `dims`.
    pub fn clean(&mut self, code: &Code, dims: &[Poly]) -> Cleaned {
        let cleaned = self.look(code, dims);
        self.keep(&cleaned);
        cleaned
    }

    /// A cleaned code becomes part of the program.
    pub fn keep(&mut self, cleaned: &Cleaned) {
        for u in &cleaned.uses {
            let (all, once) = self.places.entry(u.array).or_insert((0, 0));
            *all += 1;
            *once += usize::from(u.once);
            self.reads.push(*u);
        }
    }

    /// Cleans a code for extents: the simplest code for its values, and these.
    pub fn extents(&mut self, code: &Code) -> (Code, Vec<Poly>) {
        let cleaned = self.clean(code, &[]);
        self.simplest(cleaned)
    }

    /// The simplest code for the values of a cleaned code, and these.
    fn simplest(&mut self, cleaned: Cleaned) -> (Code, Vec<Poly>) {
        let values: Vec<Poly> = cleaned.values.into_iter().map(Option::unwrap_or_default).collect();
        if values.iter().all(|p| self.facts.is_known(p)) {
            return (code_of(&mut self.facts, &values), values);
        }
        (cleaned.code, values)
    }

    /// Whether an index of the target of a statement is inside of an extent for all indices of the source `dims`; with `assume`, this
    /// is assumed where it is not clear; without, it is only said whether it could be.
    pub fn is_inside(&mut self, i: Option<&Poly>, n: &Poly, dims: &[Poly], assume: bool) -> bool {
        let Some(i) = i else { return false };
        let (range, ranges) = (AtMost::range(i, n), Ranges { params: dims, conditions: &[] });
        if self.facts.hold(&range, ranges) {
            return true;
        }
        let needed = if self.times == Times::Once { self.facts.needed(&range, ranges, true) } else { None };
        let may = needed.is_some();
        needed.filter(|_| assume).into_iter().for_each(|needed| self.facts.assume(needed));
        may
    }

    fn define(&mut self, to: &[ArrayId], dims: &[Poly]) {
        to.iter().for_each(|a| self.facts.set_dims(*a, dims.to_vec()));
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.op {
            Op::Literal { to, .. } => {
                self.facts.give(*to);
                self.emit(s.op.clone(), s.site);
            }
            Op::Loop { to, extents, body } => {
                let (extents, dims) = self.extents(extents);
                if self.is_put_into_its_reader(to, &dims, body) {
                    self.define(to, &dims);
                    let p = Producer { code: body.clone(), work: work(body), constants: None };
                    self.known.producers.insert(to[0], p);
                    self.later.extend(to);
                    return;
                }
                self.loop_(to, extents, dims, body, s.site);
            }
            Op::Reduce { to, extents, rows } => {
                let (extents, mut dims) = self.extents(extents);
                self.define(&[*to], &dims);
                let outer = dims.clone();
                let (rows, len) = self.rows(rows, &mut dims);
                if !exchange::sum_of_sums(self, *to, &outer, &len, &rows, s.site) {
                    self.emit(Op::Reduce { to: *to, extents, rows }, s.site);
                }
            }
            Op::Scan { to, extents, reverse, rows } => {
                let (extents, mut dims) = self.extents(extents);
                let outer = dims.clone();
                let (rows, len) = self.rows(rows, &mut dims);
                let last = if rows.init.is_some() { len.plus_constant(1) } else { len };
                self.define(&[*to], &[outer, vec![last]].concat());
                self.emit(Op::Scan { to: *to, extents, reverse: *reverse, rows }, s.site);
            }
            Op::Permute { to, defaults, extents, target, element, comb, known } => {
                let defaults = self.alias(*defaults);
                let (extents, source) = self.extents(extents);
                let dims = self.facts.dims(defaults);
                self.define(&[*to], &dims);
                let p = scatter::Permute { to: *to, defaults, extents, source, target, element, comb, known: *known };
                scatter::permute(self, p, s.site);
            }
            Op::Reshape { to, from, extents } => {
                let from = self.alias(*from);
                let (extents, dims) = self.extents(extents);
                if dims == self.facts.dims(from) {
                    self.known.aliases.insert(*to, from);
                    return;
                }
                self.define(&[*to], &dims);
                self.emit(Op::Reshape { to: *to, from, extents }, s.site);
            }
            Op::Agree { agreement, left, right } => self.agree(*agreement, [left, right], s.site),
            Op::If { to, cond, then, otherwise } => self.if_(to, cond, then, otherwise, s.site),
            Op::While { to, init, cond, body } => self.while_(to, init, cond, body, s.site),
            // Strips are formed again afterwards.
            Op::Strip { body, .. } => body.stmts.iter().for_each(|s| self.stmt(s)),
        }
    }

    /// Keeps a check, unless the shapes agree as they are, by what can be assumed, or after another check.
    fn agree(&mut self, agreement: Agreement, shapes: [&Code; 2], site: SiteId) {
        let sides = shapes.map(|c| self.look(c, &[]));
        let [m, n] = shapes.map(|c| c.results.len());
        let mut open = vec![];
        for (i, j) in agreement.pairs(m, n).unwrap_or_default() {
            match (&sides[0].values[i], &sides[1].values[j]) {
                (Some(p), Some(q)) if p == q || self.facts.assume_equal(p, q) => {}
                (Some(p), Some(q)) => open.push((p.clone().min(q.clone()), p.clone().max(q.clone()))),
                _ => open.push((self.facts.unknown(), self.facts.unknown())),
            }
        }
        if open.iter().all(|pair| self.checked.iter().any(|known| known.contains(pair))) {
            return;
        }
        self.checked.last_mut().into_iter().for_each(|known| known.extend(open.iter().cloned()));
        sides.iter().for_each(|side| self.keep(side));
        let [left, right] = sides.map(|side| self.simplest(side).0);
        self.emit(Op::Agree { agreement, left, right }, site);
    }

    /// Whether a loop will become part of its only reader, so that it need not be cleaned by itself.
    ///
    /// NOTE [Chains of loops]: a loop of a chain is the producer of the next one. If each were cleaned where it stands, with all before it
    /// put in, the work would grow with the square of the length of the chain. What has one reader, of which the pass before saw that
    /// it reads every element at most once, goes there as it is, and is cleaned there, with what it reads. Should it be
    /// mentioned otherwise in the end, the pass is done again without this.
    fn is_put_into_its_reader(&self, to: &[ArrayId], dims: &[Poly], body: &Code) -> bool {
        let &[a] = to else { return false };
        self.may_wait
            && self.known.before.places.get(&a) == Some(&(1, true))
            && !self.whole.contains(&a)
            && dims.iter().all(|p| self.facts.is_known(p) && !self.facts.extents_in(p).contains(&a))
            && work(body) > 0
            && moved(body).is_none()
    }

    /// A loop over the index space `dims`.
    pub fn loop_(&mut self, to: &[ArrayId], extents: Code, dims: Vec<Poly>, body: &Code, site: SiteId) {
        self.define(to, &dims);
        let cleaned = self.clean(body, &dims);
        if let ([to], Some(source)) = (to, self.copied(&cleaned.code, &dims)) {
            self.known.aliases.insert(*to, source);
            return;
        }
        if let [to] = to
            && self.reduced_in_place_of(*to, &cleaned.code, &dims)
        {
            return;
        }
        if let [to] = to {
            let constants = cleaned.constants.iter().copied().collect();
            let p = Producer { work: work(&cleaned.code), code: cleaned.code.clone(), constants };
            self.known.producers.insert(*to, p);
        }
        self.emit(Op::Loop { to: to.to_vec(), extents, body: cleaned.code }, site);
    }

    /// The array that a loop over `dims` copies as it is.
    fn copied(&self, body: &Code, dims: &[Poly]) -> Option<ArrayId> {
        match body.instrs.as_slice() {
            [Instr::Read { to, array, index, inside: true, .. }]
                if *to == body.results
                    && index.iter().copied().eq(0..body.params)
                    && self.facts.dims(*array) == dims =>
            {
                Some(*array)
            }
            _ => None,
        }
    }

    /// A loop that only moves the results of a reduction, as a transposition does: the reduction computes them where they belong. Gives
    /// whether that was so.
    ///
    /// NOTE [What nobody mentions goes]: a pass decides by how the program before it read arrays, but a producer that it puts in place of a
    /// read brings its own reads there: an array may get readers that it did not have. So no statement is removed because its
    /// last reader is thought to be gone: `drop_unused` removes what nothing mentions in the end. What would be computed twice
    /// if it stayed asks how often this pass has put in a read.
    fn reduced_in_place_of(&mut self, to: ArrayId, body: &Code, dims: &[Poly]) -> bool {
        let Some((array, index, plus_zero)) = moved(body) else { return false };
        if !dims.iter().all(|p| self.facts.is_known(p) && !self.facts.extents_in(p).contains(&array)) {
            return false;
        }
        if self.places.get(&array).is_some_and(|(all, _)| *all > 1) {
            return false;
        }
        let (rows, site) = match self.reduction(array, 1) {
            // What is added to 0 is never -0, so that adding 0 once more changes nothing.
            Some((rows, site)) if !plus_zero || starts_with_zero(rows) => (rows.clone(), site),
            _ => return false,
        };
        let mut b = Builder::new(&index_types(dims.len() + 1));
        let args: Vec<Reg> = index.iter().copied().chain([dims.len()]).collect();
        let results = b.inline(&rows.element, &args);
        let element = b.finish(results);
        self.define(&[to], dims);
        let (extents, mut all) = (code_of(&mut self.facts, dims), dims.to_vec());
        let (rows, _) = self.rows(&Rows { element, ..rows }, &mut all);
        self.emit(Op::Reduce { to, extents, rows }, site);
        true
    }

    /// The rows of the reduction in this block that computes an array, if it is only read, in at most so many places, and in each of them every
    /// element at most once.
    pub fn reduction(&self, array: ArrayId, most_places: usize) -> Option<(&Rows, SiteId)> {
        let few = matches!(self.known.before.places.get(&array), Some((n, true)) if *n <= most_places);
        if !few || self.whole.contains(&array) || self.known.aliases.values().any(|a| *a == array) {
            return None;
        }
        self.open.last()?.1.iter().find_map(|s| match &s.op {
            Op::Reduce { to, rows, .. } if *to == array => Some((rows, s.site)),
            _ => None,
        })
    }

    /// Cleans rows, and gives their length; `dims` are the outer extents, to which it is added.
    fn rows(&mut self, rows: &Rows, dims: &mut Vec<Poly>) -> (Rows, Poly) {
        let (len, n) = self.extents(&rows.len);
        let n = n.into_iter().next().unwrap_or_default();
        dims.push(n.clone());
        let element = self.clean(&rows.element, dims).code;
        let init = rows.init.as_ref().map(|c| self.clean(c, &[]).code);
        let op = self.clean(&rows.op, &[]).code;
        (Rows { len, element, init, op, known: rows.known }, n)
    }

    /// A reduction over the index space `dims` of the result and rows of length `len`.
    pub fn reduce(&mut self, to: ArrayId, dims: Vec<Poly>, len: Poly, rows: Reduction, site: SiteId) {
        self.define(&[to], &dims);
        let (extents, n) = (code_of(&mut self.facts, &dims), code_of(&mut self.facts, std::slice::from_ref(&len)));
        let mut all = dims;
        let rows = Rows { len: n, element: rows.element, init: Some(rows.init), op: rows.op, known: rows.known };
        let (rows, _) = self.rows(&rows, &mut all);
        self.emit(Op::Reduce { to, extents, rows }, site);
    }

    fn inner(&mut self, b: &Block, results: &[ArrayId], times: Times) -> (Block, Vec<ArrayId>) {
        let inner = if self.times == Times::Many { Times::Many } else { times };
        let outer = std::mem::replace(&mut self.times, inner);
        let b = self.block(b);
        self.times = outer;
        (b, results.iter().map(|a| self.alias(*a)).collect())
    }

    fn if_(
        &mut self,
        to: &[ArrayId],
        cond: &Code,
        then: &(Block, Vec<ArrayId>),
        otherwise: &(Block, Vec<ArrayId>),
        site: SiteId,
    ) {
        let cond = self.clean(cond, &[]);
        if let [Some(Scalar::Bool(c))] = cond.constants[..] {
            let (b, results) = if c { then } else { otherwise };
            deep(|| b.stmts.iter().for_each(|s| self.stmt(s)));
            to.iter().zip(results).for_each(|(to, a)| {
                let a = self.alias(*a);
                self.known.aliases.insert(*to, a);
            });
            return;
        }
        let first = self.blocks;
        let (then, otherwise) =
            (self.inner(&then.0, &then.1, Times::Maybe), self.inner(&otherwise.0, &otherwise.1, Times::Maybe));
        for (to, (a, b)) in to.iter().zip(then.1.iter().zip(&otherwise.1)) {
            let dims = self.facts.dims(*a);
            // What is computed inside of a branch must not be mentioned outside of it.
            if dims == self.facts.dims(*b) && dims.iter().all(|p| self.is_visible(p, first)) {
                self.define(&[*to], &dims);
            }
        }
        self.emit(Op::If { to: to.to_vec(), cond: cond.code, then, otherwise }, site);
    }

    /// Whether a value is not made of what is defined in blocks that have been opened since there were `first`.
    fn is_visible(&self, p: &Poly, first: usize) -> bool {
        self.facts.extents_in(p).iter().all(|a| self.block_of.get(a).is_none_or(|b| *b < first))
    }

    fn while_(
        &mut self,
        to: &[ArrayId],
        init: &[ArrayId],
        cond: &(Block, ArrayId),
        body: &(Block, Vec<ArrayId>),
        site: SiteId,
    ) {
        let init: Vec<ArrayId> = init.iter().map(|a| self.alias(*a)).collect();
        let first = to.first().copied();
        let kept =
            if first.is_some_and(|a| self.changing.contains(&a)) { None } else { self.keeping(to, &init, cond, body) };
        let (cond, body) = kept.unwrap_or_else(|| {
            self.changing.extend(first);
            for a in to {
                let own = (0..self.program.arrays[*a].rank).map(|_| self.facts.unknown()).collect();
                self.facts.set_dims(*a, own);
            }
            (self.inner(&cond.0, &[cond.1], Times::Many), self.inner(&body.0, &body.1, Times::Many))
        });
        self.emit(Op::While { to: to.to_vec(), init, cond: (cond.0, cond.1[0]), body }, site);
    }

    /// Condition and body of a loop whose state keeps the extents that it has at first; `None` if it does not.
    ///
    /// NOTE [Loops that change extents]: the extents stay what they are at first if the body says so when they do. Where it does not, what was
    /// learned on the way is forgotten, since it may be wrong, and the body is gone through again. So that a nest of loops is not gone through
    /// as often as it has subsets, loops that change extents are remembered: a loop around them may be gone through again, too.
    fn keeping(
        &mut self,
        to: &[ArrayId],
        init: &[ArrayId],
        cond: &(Block, ArrayId),
        body: &(Block, Vec<ArrayId>),
    ) -> Option<((Block, Vec<ArrayId>), (Block, Vec<ArrayId>))> {
        let (facts, arrays, reads) = (self.facts.mark(), self.program.arrays.len(), self.reads.len());
        for (to, a) in to.iter().zip(init) {
            let dims = self.facts.dims(*a);
            self.define(&[*to], &dims);
        }
        let found = (self.inner(&cond.0, &[cond.1], Times::Many), self.inner(&body.0, &body.1, Times::Many));
        if to.iter().zip(&found.1.1).all(|(to, a)| self.facts.dims(*to) == self.facts.dims(*a)) {
            return Some(found);
        }
        self.facts.reset(facts);
        self.program.arrays.truncate(arrays);
        for u in self.reads.drain(reads..) {
            if let Some((all, once)) = self.places.get_mut(&u.array) {
                *all -= 1;
                *once -= usize::from(u.once);
            }
        }
        self.known.aliases.split_off(&arrays);
        self.known.producers.split_off(&arrays);
        for a in cond.0.walk().chain(body.0.walk()).flat_map(|s| s.op.defines()) {
            self.known.aliases.remove(a);
            self.known.producers.remove(a);
        }
        None
    }
}

/// The array that a loop moves the elements of, at an index that is a permutation of its own, and whether it adds 0 to them.
fn moved(body: &Code) -> Option<(ArrayId, &[Reg], bool)> {
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

/// Whether rows are sums of floating-point numbers that start with 0.
fn starts_with_zero(rows: &Rows) -> bool {
    let zero = |i: &Instr| match i {
        Instr::Const(_, Scalar::F32(x)) => x.to_bits() == 0,
        Instr::Const(_, Scalar::F64(x)) => x.to_bits() == 0,
        _ => false,
    };
    rows.known == Some(Known::Sum) && rows.init.as_ref().is_some_and(|c| matches!(&c.instrs[..], [i] if zero(i)))
}

/// What is combined by a reduction that a pass makes.
pub struct Reduction {
    /// From the outer index and the position in the row.
    pub element: Code,
    /// The initial value.
    pub init: Code,
    /// The operator.
    pub op: Code,
    /// What it is.
    pub known: Option<Known>,
}

/// Drops the statements that define nothing that is needed; `needed` becomes what is needed before, with what inner blocks need of their own.
fn drop_unused(b: &mut Block, needed: &mut BTreeSet<ArrayId>) {
    let mut kept = vec![];
    while let Some(mut s) = b.stmts.pop() {
        if !s.op.defines().iter().any(|a| needed.contains(a)) && !checks(&s.op) {
            continue;
        }
        s.op.codes().iter().for_each(|(_, c)| arrays_mentioned(&c.instrs, needed));
        match &mut s.op {
            Op::Permute { defaults, .. } => needed.extend([*defaults]),
            Op::Reshape { from, .. } => needed.extend([*from]),
            Op::If { then, otherwise, .. } => {
                for (b, results) in [then, otherwise] {
                    needed.extend(results.iter().copied());
                    deep(|| drop_unused(b, needed));
                }
            }
            Op::While { init, cond, body, .. } => {
                needed.extend(init.iter().chain(&body.1).copied().chain([cond.1]));
                deep(|| drop_unused(&mut cond.0, needed));
                deep(|| drop_unused(&mut body.0, needed));
            }
            Op::Strip { to, .. } => needed.extend(to.iter().copied()),
            Op::Literal { .. } | Op::Loop { .. } | Op::Reduce { .. } | Op::Scan { .. } | Op::Agree { .. } => {}
        }
        kept.push(s);
    }
    kept.reverse();
    b.stmts = kept;
}

/// Whether an operation is a check or has one in its blocks.
fn checks(op: &Op) -> bool {
    matches!(op, Op::Agree { .. })
        || op.blocks().into_iter().flat_map(Block::walk).any(|s| matches!(s.op, Op::Agree { .. }))
}

/// The types of an index.
pub fn index_types(rank: usize) -> Vec<ScalarType> {
    vec![ScalarType::I64; rank]
}
