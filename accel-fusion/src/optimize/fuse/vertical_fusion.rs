//! Vertical fusion: one pass over the statements of a program, which moves producers into their consumers.

use crate::kernel::dead_code::drop_dead_statements;
use crate::kernel::{ArrayId, Block, Op, Program, Reduction, ScalarFn, SiteId, Stmt, Trips, scan_extents};
use crate::optimize::facts::poly::Poly;
use crate::optimize::facts::shape_analysis::{Facts, Inequality, Ranges};
use crate::optimize::fuse::accumulators::{self, Accumulate};
use crate::optimize::fuse::fused_program::{Arrays, Pass, Permute, Producer, State};
use crate::optimize::fuse::reshapes;
use crate::optimize::fuse::rewrites::{
    CHAINS, Fusion, PERMUTE_SUMS, PRODUCT_SUMS, SELECTED_TERMS, STEPS, SUM_BY_ROWS, SUM_INTERCHANGE,
};
use crate::optimize::fuse::scatter;
use crate::optimize::fuse::split_columns::used_as_whole;
use crate::optimize::loops::loop_rows::is_natural;
use crate::optimize::loops::steps_of_batches::{self, Loop};
use crate::optimize::scalar::scalar_cleanup::{Cleaned, ExecutionCount, Producers};
use crate::optimize::sums::permute_sums;
use crate::optimize::sums::product_sums;
use crate::optimize::sums::selected_terms;
use crate::optimize::sums::sum_interchange;
use accel_core::ast::deep;
use accel_core::repr::{Agreement, MAX_EXTENT, Scalar};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A rewrite of a reduction: from its array, extents, length of rows, rows and site to whether it has emitted other statements.
type Sums = fn(&mut Pass, ArrayId, &[Poly], &Poly, &Reduction, SiteId) -> bool;

/// Runs the pass once.
pub fn run(program: &Program, facts: Facts, before: &State, how: Fusion) -> (Program, Facts, State) {
    let first = run_once(program, facts.clone(), before, how, how.does(CHAINS));
    first.unwrap_or_else(|| run_once(program, facts, before, how, false).expect("nothing is left for its reader"))
}

/// As [`run`]; `None` if a loop is missing that was left to its consumer.
fn run_once(
    program: &Program,
    facts: Facts,
    before: &State,
    how: Fusion,
    may_defer: bool,
) -> Option<(Program, Facts, State)> {
    let mut p = Pass {
        program: Program {
            arrays: program.arrays.clone(),
            inputs: program.inputs.clone(),
            body: Block::default(),
            results: vec![],
            literals: program.literals.clone(),
            sites: program.sites.clone(),
        },
        facts: facts.restricted_to(program),
        known: Arrays {
            before,
            aliases: BTreeMap::new(),
            producers: BTreeMap::new(),
            steps: BTreeMap::new(),
            loop_of: HashMap::new(),
            open_loop: 0,
            free_digits: false,
        },
        how,
        may_wait: may_defer,
        later: vec![],
        reads: vec![],
        places: BTreeMap::new(),
        whole: used_as_whole(program),
        open: vec![],
        checked: vec![],
        blocks: 0,
        loops: 0,
        block_of: HashMap::new(),
        changing: BTreeSet::new(),
        times: ExecutionCount::Once,
        outside: vec![],
    };
    p.program.body = p.block(&program.body);
    p.program.results = program.results.iter().map(|a| p.known.alias(*a)).collect();
    let needed = drop_dead_statements(&mut p.program);
    if p.later.iter().any(|a| needed.contains(a)) {
        return None;
    }
    let after = State {
        assumed: p.facts.assumed(),
        places: p.places.iter().filter(|(_, n)| n.0 > 0).map(|(a, (all, once))| (*a, (*all, all == once))).collect(),
        statements: p.program.body.walk().count(),
    };
    Some((p.program, p.facts, after))
}

impl Pass<'_> {
    fn block(&mut self, b: &Block) -> Block {
        self.open(|pass| deep(|| b.stmts.iter().for_each(|s| pass.stmt(s))))
    }

    /// Moves a statement into its consumers, or emits it.
    pub fn stmt(&mut self, s: &Stmt) {
        match &s.op {
            Op::Literal { to, .. } => {
                self.facts.declare_given(*to);
                self.emit(s.op.clone(), s.site);
            }
            Op::Loop { to, extents, body } => {
                let (extents, dims) = self.extents(extents);
                if self.rewrites(CHAINS, s.site, |p| p.is_deferred_to_its_consumer(to, &dims, body)) {
                    self.define(to, &dims);
                    let p = Producer { code: body.clone(), work: body.work(), constants: None, is_view: false };
                    self.known.producers.insert(to[0], p);
                    self.later.extend(to);
                    return;
                }
                self.loop_(to, extents, dims, body, s.site);
                self.rewrites(PERMUTE_SUMS, s.site, permute_sums::sum_of_permutations);
                self.rewrites(PRODUCT_SUMS, s.site, product_sums::added);
            }
            Op::Accumulate { to, sums, extents, body } => {
                accumulators::accumulate(self, Accumulate { to, sums, extents, body }, s.site);
            }
            Op::Reduce { to, extents, rows } => {
                let (extents, mut dims) = self.extents(extents);
                self.define(&[*to], &dims);
                let outer = dims.clone();
                let moved = self.rows_of_moved_elements(rows, &outer);
                let (rows, len) = self.rows(moved.as_ref().unwrap_or(rows), &mut dims);
                let mut replaced =
                    |rewrite, by: Sums| self.rewrites(rewrite, s.site, |p| by(p, *to, &outer, &len, &rows, s.site));
                if !replaced(SELECTED_TERMS, selected_terms::selected)
                    && !replaced(SUM_BY_ROWS, reshapes::sum_by_rows)
                    && !replaced(SUM_INTERCHANGE, sum_interchange::sum_of_sums)
                    && !replaced(PRODUCT_SUMS, product_sums::nested)
                {
                    self.emit(Op::Reduce { to: *to, extents, rows }, s.site);
                }
            }
            Op::Scan { to, kept, extents, reverse, down, rows } => {
                let (extents, mut dims) = self.extents(extents);
                let outer = dims.clone();
                let (rows, len) = self.rows(rows, &mut dims);
                let last = if rows.init.is_some() { len.plus_constant(1) } else { len };
                self.define(&[*to], &scan_extents(&outer, last, *down));
                let (kept, reverse, down) = (kept.clone(), *reverse, *down);
                self.emit(Op::Scan { to: *to, kept, extents, reverse, down, rows }, s.site);
            }
            Op::Permute { to, defaults, extents, target, element, comb, monoid, .. } => {
                let defaults = self.alias(*defaults);
                let (extents, source) = self.extents(extents);
                let dims = self.facts.dims(defaults);
                self.define(&[*to], &dims);
                let p = Permute { to: *to, defaults, extents, source, target, element, comb, monoid: *monoid };
                scatter::permute(self, p, s.site);
            }
            Op::Argsort { to, keys, moved } => {
                let keys = self.alias(*keys);
                let moved = moved.iter().map(|a| a.map(|a| self.alias(a))).collect();
                let dims = self.facts.dims(keys);
                self.define(to, &dims);
                self.emit(Op::Argsort { to: to.clone(), keys, moved }, s.site);
            }
            Op::Foreign { to, call, from, extents } => {
                let from = from.iter().map(|a| self.alias(*a)).collect();
                let (extents, dims) = self.extents(extents);
                let mut left = &dims[..];
                for a in to {
                    let (own, rest) = left.split_at(self.program.arrays[*a].rank);
                    self.define(&[*a], own);
                    left = rest;
                }
                self.emit(Op::Foreign { to: to.clone(), call: call.clone(), from, extents }, s.site);
            }
            Op::Reshape { to, from, extents } => {
                let from = self.alias(*from);
                let (extents, dims) = self.extents(extents);
                if dims == self.facts.dims(from) {
                    self.known.aliases.insert(*to, from);
                    return;
                }
                if let Some(body) = self.reshaped(from, &dims, s.site) {
                    return self.loop_(&[*to], extents, dims, &body, s.site);
                }
                if let Some(code) = self.reshaped_digits(from, &dims, s.site) {
                    let p = Producer { work: code.work().max(1), code, constants: None, is_view: true };
                    self.known.producers.insert(*to, p);
                }
                self.define(&[*to], &dims);
                self.emit(Op::Reshape { to: *to, from, extents }, s.site);
            }
            Op::Agree { agreement, left, right } => self.agree(*agreement, [left, right], s.site),
            Op::If { to, cond, then, otherwise } => self.if_(to, cond, then, otherwise, s.site),
            Op::While { to, init, trips, row, body } => self.while_(to, init, trips, *row, body, s.site),
            Op::Keep { tape, arrays } => {
                let arrays = arrays.iter().map(|a| self.alias(*a)).collect();
                self.emit(Op::Keep { tape: *tape, arrays }, s.site);
            }
            Op::Recall { to, tape, at, step } => {
                let at = self.clean(at, &[]).code;
                let step = self.inner(&step.0, &step.1, ExecutionCount::Many);
                self.emit(Op::Recall { to: to.clone(), tape: *tape, at, step }, s.site);
            }
            // Strips are formed again after the pass.
            Op::Strip { body, .. } => body.stmts.iter().for_each(|s| self.stmt(s)),
        }
    }

    /// Keeps a check of two shapes, unless they agree anyway, by an assumption, or because of another check.
    ///
    /// NOTE [Extents that were compared]: after the check, the extents are equal. If they are those of arrays, one name stands for
    /// both until the end of the block. Then what comes after it can have reads that are within bounds only because of the check, so no
    /// later pass may move it before the check.
    pub fn agree(&mut self, agreement: Agreement, shapes: [&ScalarFn; 2], site: SiteId) {
        // A number within its bound is not the bound: weights are smaller than an image, not as large.
        let assume = self.facts.assumes();
        self.facts.allow_assumptions(assume && agreement != Agreement::Bounds);
        let sides = shapes.map(|c| self.preview(c, &[]));
        self.facts.allow_assumptions(assume);
        let [m, n] = shapes.map(|c| c.results.len());
        if self.is_certain(agreement, &sides.each_ref().map(|side| &side.values[..])) {
            return;
        }
        if agreement.is_of_one_operation() {
            return self.compare(agreement, sides, site);
        }
        let mut open = vec![];
        for (i, j) in agreement.pairs(m, n).unwrap_or_default() {
            match (&sides[0].values[i], &sides[1].values[j]) {
                (Some(p), Some(q)) if p == q || self.facts.assume_equal(p, q) => {}
                // A program that does not come here works with other numbers, too.
                (Some(p), Some(q)) if self.times != ExecutionCount::Maybe && self.facts.assume_agreement(p, q) => {}
                (Some(p), Some(q)) => open.push((p.clone().min(q.clone()), p.clone().max(q.clone()))),
                _ => open.push((self.facts.unknown(), self.facts.unknown())),
            }
        }
        if open.iter().all(|pair| self.checked.iter().any(|known| known.contains(pair))) {
            return;
        }
        self.checked.last_mut().into_iter().for_each(|known| known.extend(open.iter().cloned()));
        self.compare(agreement, sides, site);
        open.iter().for_each(|(p, q)| self.facts.compared(p, q));
    }

    /// Whether a check of the shapes of one operation holds, perhaps by an assumption.
    fn is_certain(&mut self, agreement: Agreement, [left, right]: &[&[Option<Poly>]; 2]) -> bool {
        let (Some(left), Some(right)) = (known(left), known(right)) else { return false };
        let zero = Poly::default();
        let possible = || left.iter().map(|n| Inequality::new(&zero, n)).collect::<Vec<_>>();
        let size = |shape: &[Poly]| shape.iter().try_fold(Poly::constant(1), |size, n| size.times(n));
        let needed = match agreement {
            Agreement::Extents => possible(),
            Agreement::Size if size(&left).is_some_and(|n| size(&right) == Some(n)) => possible(),
            Agreement::Inside => left.iter().zip(&right).flat_map(|(i, n)| Inequality::range(i, n)).collect(),
            Agreement::Nonempty => left.last().into_iter().map(|n| Inequality::less(&zero, n)).collect(),
            Agreement::Bounds => {
                let inside = left.iter().zip(&right).map(|(moved, n)| self.facts.where_inside(moved, n));
                let Some(all) = inside.collect::<Option<Vec<_>>>() else { return false };
                all.concat()
            }
            _ => return false,
        };
        let is_large = |n: &Poly| n.as_constant().is_some_and(|n| n > MAX_EXTENT as i64);
        if left.iter().any(is_large) {
            return false;
        }
        // What is within bounds does not depend on the step, and a check would be executed in each.
        let may_assume = self.times == ExecutionCount::Once || agreement == Agreement::Bounds;
        let premises = self.facts.premises(&needed, Ranges::default(), may_assume);
        premises.map(|premises| self.facts.assume(premises)).is_some()
    }

    fn compare(&mut self, agreement: Agreement, sides: [Cleaned; 2], site: SiteId) {
        sides.iter().for_each(|side| self.keep(side));
        let [left, right] = sides.map(|side| self.simplest(side).0);
        self.emit(Op::Agree { agreement, left, right }, site);
    }

    fn inner(&mut self, b: &Block, results: &[ArrayId], times: ExecutionCount) -> (Block, Vec<ArrayId>) {
        let inner = if self.times == ExecutionCount::Many { ExecutionCount::Many } else { times };
        let outer = (self.times, self.known.open_loop);
        self.times = inner;
        if times == ExecutionCount::Many {
            self.loops += 1;
            self.known.open_loop = self.loops;
        }
        let b = self.block(b);
        (self.times, self.known.open_loop) = outer;
        (b, results.iter().map(|a| self.alias(*a)).collect())
    }

    fn if_(
        &mut self,
        to: &[ArrayId],
        cond: &ScalarFn,
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
        let (first, reads) = (self.blocks, self.reads.len());
        let then = self.inner(&then.0, &then.1, ExecutionCount::Maybe);
        let (before, outside) = (self.reads.len(), self.outside.len());
        let decided = |s: &Stmt| matches!(s.op, Op::Permute { .. }) && s.site == site;
        self.outside.extend(otherwise.0.stmts.iter().any(decided).then_some(site));
        let otherwise = self.inner(&otherwise.0, &otherwise.1, ExecutionCount::Maybe);
        self.outside.truncate(outside);
        self.only_one_of(reads, before);
        for (to, (a, b)) in to.iter().zip(then.1.iter().zip(&otherwise.1)) {
            let dims = self.facts.dims(*a);
            // Values computed inside a branch must not be used outside it.
            if dims == self.facts.dims(*b) && dims.iter().all(|p| self.is_visible(p, first)) {
                self.define(&[*to], &dims);
            }
        }
        self.emit(Op::If { to: to.to_vec(), cond: cond.code, then, otherwise }, site);
    }

    /// Whether a value does not depend on arrays that are defined in blocks from number `first` on.
    pub fn is_visible(&self, p: &Poly, first: usize) -> bool {
        self.facts.extents_in(p).iter().all(|a| self.block_of.get(a).is_none_or(|b| *b < first))
    }

    fn while_(
        &mut self,
        to: &[ArrayId],
        init: &[ArrayId],
        trips: &Trips,
        row: Option<ArrayId>,
        body: &(Block, Vec<ArrayId>),
        site: SiteId,
    ) {
        let init: Vec<ArrayId> = init.iter().map(|a| self.alias(*a)).collect();
        let first = to.first().copied();
        let number = self.number_of_steps(trips, site);
        self.known.steps.extend(row.zip(number.clone()));
        let number = number.filter(is_natural);
        let known = Loop { to, init: &init, trips, row, body };
        if self.rewrites(STEPS, site, |p| steps_of_batches::unrolled(p, &known, number.as_ref(), site)) {
            return;
        }
        let kept = if first.is_some_and(|a| self.changing.contains(&a)) {
            None
        } else {
            self.with_constant_extents(to, &init, trips, body, number.as_ref())
        };
        let (trips, body) = kept.unwrap_or_else(|| {
            self.changing.extend(first);
            for a in &to[..init.len()] {
                let own = (0..self.program.arrays[*a].rank).map(|_| self.facts.unknown()).collect();
                self.facts.set_dims(*a, own);
            }
            self.steps(trips, body, number.as_ref())
        });
        self.emit(Op::While { to: to.to_vec(), init, trips, row, body }, site);
    }

    /// The condition and the body of a loop with this number of steps, if it is known.
    fn steps(
        &mut self,
        trips: &Trips,
        body: &(Block, Vec<ArrayId>),
        number: Option<&Poly>,
    ) -> (Trips, (Block, Vec<ArrayId>)) {
        let trips = match trips {
            Trips::While(cond, continues) => {
                let (cond, continues) = self.inner(cond, &[*continues], ExecutionCount::Many);
                Trips::While(cond, continues[0])
            }
            Trips::Times(n, dir) => Trips::Times(self.alias(*n), *dir),
        };
        (trips, self.in_steps(number, |p| p.inner(&body.0, &body.1, ExecutionCount::Many)))
    }

    /// The condition and the body of a loop whose state keeps its initial extents; `None` if it does not keep them.
    ///
    /// NOTE [Loops that change extents]: the extents of the state are constant if the body preserves them, under the
    /// assumption that they are constant. If the body does not, the facts found under this assumption may be wrong.
    /// They are dropped, and the pass visits the body again. With this alone, the passes over a nest of loops would
    /// grow exponentially with its depth. So loops that change extents are remembered, because a surrounding loop may
    /// be visited again, too.
    fn with_constant_extents(
        &mut self,
        to: &[ArrayId],
        init: &[ArrayId],
        trips: &Trips,
        body: &(Block, Vec<ArrayId>),
        number: Option<&Poly>,
    ) -> Option<(Trips, (Block, Vec<ArrayId>))> {
        let (facts, arrays, reads) = (self.facts.mark(), self.program.arrays.next_idx(), self.reads.len());
        for (to, a) in to.iter().zip(init) {
            let dims = self.facts.dims(*a);
            self.define(&[*to], &dims);
        }
        let first = self.blocks;
        let found = self.steps(trips, body, number);
        if to.iter().zip(init).zip(&found.1.1).all(|((to, _), a)| self.facts.dims(*to) == self.facts.dims(*a)) {
            self.lists(&to[init.len()..], &found.1.1[init.len()..], number.cloned(), first);
            return Some(found);
        }
        self.facts.reset(facts);
        self.program.arrays.truncate(arrays.index());
        self.reads.split_off(reads).into_iter().for_each(|u| self.forget(u));
        self.known.aliases.split_off(&arrays);
        self.known.producers.split_off(&arrays);
        let cond = if let Trips::While(cond, _) = trips { Some(cond) } else { None };
        for a in cond.into_iter().chain([&body.0]).flat_map(Block::walk).flat_map(|s| s.op.defines()) {
            self.known.aliases.remove(&a);
            self.known.producers.remove(&a);
            self.facts.forget_rows(a);
        }
        None
    }
}

fn known(values: &[Option<Poly>]) -> Option<Vec<Poly>> {
    values.iter().cloned().collect()
}
