//! Cleans scalar functions: folds constants, computes equal values once, expresses extents by those of given arrays,
//! removes checks that cannot fail, replaces reads by their producers, and drops dead code.

use crate::kernel::builder::Builder;
use crate::kernel::dead_code::eliminate_dead_code;
use crate::kernel::{ArrayId, IndexVec, Instr, Instrs, Reg, ScalarFn, SiteId, arrays_read, index_vec};
use crate::optimize::facts::poly::{Poly, Sym};
use crate::optimize::facts::shape_analysis::{Facts, Inequality, Node, Ranges, Sides};
use crate::optimize::facts::value_numbers::{Number, Numbers};
use crate::optimize::scalar::cheap_branches;
use crate::optimize::scalar::few_steps::few_steps;
use accel_core::ast::deep;
use accel_core::repr::op::{Cmp, Float2, Int2, Logic, Num2, Op1, Op2};
use accel_core::repr::{Scalar, ScalarType};
use std::collections::{BTreeSet, HashMap};

/// How a scalar function reads an array. Fusion decides by this.
#[derive(Clone, Copy, Debug)]
pub struct ArrayUse {
    /// The array.
    pub array: ArrayId,
    /// Whether the scalar function reads every element at most once, and the read cannot fail.
    pub once: bool,
}

/// What replaces the reads of an array.
pub trait Producers {
    /// The array itself, or another one with the same content.
    fn alias(&self, a: ArrayId) -> ArrayId;
    /// The scalar function of the elements, if it replaces this read.
    fn inlined(&self, u: ArrayUse) -> Option<&ScalarFn>;
    /// Whether the scalar function is executed as often as the array is computed: no loop computes the function only.
    fn is_read_where_made(&self, _: ArrayId) -> bool {
        true
    }
    /// The number of steps of a loop, if the array is the row of its step: NOTE [Rows of steps] in `loop_rows.rs`.
    fn steps(&self, _: ArrayId) -> Option<&Poly> {
        None
    }
    /// The registers with the element at the current index, if the scalar function itself computes it.
    fn element(&self, _: ArrayId) -> Option<&[Reg]> {
        None
    }
}

/// The result of cleaning.
pub struct Cleaned {
    /// The cleaned scalar function.
    pub code: ScalarFn,
    /// The values of those results that are integers for indices.
    pub values: Vec<Option<Poly>>,
    /// The constants among the results.
    pub constants: Vec<Option<Scalar>>,
    /// How arrays are read, after producers replaced reads.
    pub uses: Vec<ArrayUse>,
}

/// How often a scalar function is executed in a run of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExecutionCount {
    /// Once.
    Once,
    /// At most once.
    Maybe,
    /// Any number of times.
    Many,
}

/// Cleans a scalar function. If its parameters are an index, `ranges` are their extents.
pub fn clean(
    facts: &mut Facts,
    producers: &dyn Producers,
    code: &ScalarFn,
    ranges: &[Poly],
    times: ExecutionCount,
) -> Cleaned {
    Cleaner::new(facts, producers, code.param_types(), ranges, times).clean(code)
}

/// Cleans a scalar function, and turns those cheap conditionals into selections whose conditions are `varying`: NOTE
/// [Selections].
pub fn clean_with_selections(
    facts: &mut Facts,
    code: &ScalarFn,
    ranges: &[Poly],
    varying: &IndexVec<Reg, bool>,
) -> Cleaned {
    let c = Cleaner::new(facts, &NoProducers, code.param_types(), ranges, ExecutionCount::Maybe);
    Cleaner { varying: Some(varying), ..c }.clean(code)
}

/// A scalar function that computes integers from extents.
pub fn code_of(facts: &mut Facts, polys: &[Poly]) -> ScalarFn {
    let mut c = Cleaner::new(facts, &NoProducers, &[], &[], ExecutionCount::Once);
    let results = polys.iter().map(|p| c.integer(p)).collect();
    let mut code = c.out.finish(results);
    eliminate_dead_code(&mut code);
    code
}

/// No producers.
pub struct NoProducers;

impl Producers for NoProducers {
    fn alias(&self, a: ArrayId) -> ArrayId {
        a
    }
    fn inlined(&self, _: ArrayUse) -> Option<&ScalarFn> {
        None
    }
}

/// What identifies equal instructions.
#[derive(PartialEq, Eq, Hash, Clone)]
enum Key {
    Integer(Poly),
    Const(Scalar),
    Op1(Op1, Reg),
    Op2(Op2, Reg, Reg),
    Read(ArrayId, Vec<Reg>),
    /// The result of a conditional: NOTE [Value numbers of conditionals].
    If(Number, Number, Number),
}

/// For each register of the old function, the register of the new one with the same value.
type Map = IndexVec<Reg, Reg>;

struct Cleaner<'a> {
    facts: &'a mut Facts,
    producers: &'a dyn Producers,
    out: Builder,
    ranges: &'a [Poly],
    /// The conditions that hold at the current instruction.
    conditions: Vec<Inequality>,
    /// The decisions of the branches around the current instruction.
    decisions: Vec<(Reg, bool)>,
    /// For every register of the new function: its value, if it is an integer for indices.
    polys: IndexVec<Reg, Option<Poly>>,
    constants: IndexVec<Reg, Option<Scalar>>,
    numbers: Numbers,
    /// The comparisons that hold if a boolean register is true, and those that hold if it is false.
    comparisons: HashMap<Reg, Sides>,
    known: HashMap<Key, Vec<Reg>>,
    /// The keys in the order in which they were added, so that those of a branch can be removed again.
    added: Vec<Key>,
    /// Whether the function is executed in every run.
    always: bool,
    /// The number of open branches and loops.
    depth: usize,
    loops: usize,
    /// The registers of the old function that differ between neighbouring elements, if conditionals become selections.
    varying: Option<&'a IndexVec<Reg, bool>>,
    uses: Vec<ArrayUse>,
    /// The number of instructions so far that add to sums.
    emitted: usize,
    /// The lists of states that change by a constant in each step: their first element, and this constant.
    progressions: HashMap<Reg, (Poly, i64)>,
}

impl<'a> Cleaner<'a> {
    fn new(
        facts: &'a mut Facts,
        producers: &'a dyn Producers,
        types: &[ScalarType],
        ranges: &'a [Poly],
        times: ExecutionCount,
    ) -> Self {
        Cleaner {
            facts,
            producers,
            out: Builder::new(types),
            ranges,
            conditions: vec![],
            decisions: vec![],
            polys: index_vec![None; types.len()],
            constants: index_vec![None; types.len()],
            numbers: Numbers::new(types.len()),
            comparisons: HashMap::new(),
            known: HashMap::new(),
            added: vec![],
            always: times == ExecutionCount::Once,
            depth: 0,
            loops: 0,
            varying: None,
            uses: vec![],
            emitted: 0,
            progressions: HashMap::new(),
        }
    }

    fn clean(mut self, code: &ScalarFn) -> Cleaned {
        let (types, index) = (code.param_types(), self.ranges.len());
        for (k, t) in types.iter().enumerate() {
            self.polys[k] = match t {
                ScalarType::I64 if k < index => Some(Poly::sym(Sym::Param(k))),
                ScalarType::I64 => Some(self.unknown(Reg::new(k))),
                _ => None,
            };
        }
        let args: Vec<Reg> = code.param_regs().collect();
        let results = self.inline(code, &args);
        let values = results.iter().map(|r| self.polys[*r].clone()).collect();
        let constants = results.iter().map(|r| self.constants[*r]).collect();
        let mut code = self.out.finish(results);
        eliminate_dead_code(&mut code);
        // Reads that were dropped are no uses.
        let mut read = BTreeSet::new();
        arrays_read(&code.instrs, &mut read);
        let uses = self.uses.into_iter().filter(|u| read.contains(&u.array)).collect();
        Cleaned { code, values, constants, uses }
    }

    /// Applies a scalar function to registers; returns the registers of its results.
    fn inline(&mut self, code: &ScalarFn, args: &[Reg]) -> Vec<Reg> {
        let mut map: Map = index_vec![Reg::NONE; code.types.len()];
        map.raw[..args.len()].copy_from_slice(args);
        self.instrs(code, &code.instrs, &mut map);
        code.results.iter().map(|r| map[*r]).collect()
    }

    fn instrs(&mut self, code: &ScalarFn, instrs: &[Instr], map: &mut Map) {
        deep(|| instrs.iter().for_each(|i| self.instr(code, i, map)));
    }

    fn emit(&mut self, i: Instr) {
        self.numbers.add(&i);
        self.out.emit(i);
    }

    fn reg(&mut self, t: ScalarType, poly: Option<Poly>) -> Reg {
        let r = self.out.reg(t);
        let poly = match (t, poly) {
            (ScalarType::I64, None) => Some(self.unknown(r)),
            (_, poly) => poly,
        };
        self.polys.push(poly);
        self.constants.push(None);
        r
    }

    /// The polynomial of a register of which nothing is known.
    fn unknown(&mut self, r: Reg) -> Poly {
        let p = self.facts.unknown();
        self.known.insert(Key::Integer(p.clone()), vec![r]);
        self.added.push(Key::Integer(p.clone()));
        p
    }

    /// The registers for `key`. If there are none yet, `f` computes them.
    fn once(&mut self, key: Key, f: impl FnOnce(&mut Self) -> Vec<Reg>) -> Vec<Reg> {
        if let Some(rs) = self.known.get(&key) {
            return rs.clone();
        }
        let rs = f(self);
        self.known.insert(key.clone(), rs.clone());
        self.added.push(key);
        rs
    }

    fn constant(&mut self, x: Scalar) -> Reg {
        if let Scalar::I64(n) = x {
            return self.integer(&Poly::constant(n));
        }
        self.once(Key::Const(x), |c| vec![c.fresh_constant(x)])[0]
    }

    fn fresh_constant(&mut self, x: Scalar) -> Reg {
        let poly = if let Scalar::I64(n) = x { Some(Poly::constant(n)) } else { None };
        let r = self.reg(x.ty(), poly);
        self.constants[r] = Some(x);
        self.emit(Instr::Const(r, x));
        r
    }

    /// A register with the value of a polynomial.
    fn integer(&mut self, p: &Poly) -> Reg {
        if let Some(Sym::Param(k)) = p.as_sym() {
            return Reg::new(k);
        }
        self.once(Key::Integer(p.clone()), |c| {
            if let Some(n) = p.as_constant() {
                return vec![c.fresh_constant(Scalar::I64(n))];
            }
            if let Some(s) = p.as_sym() {
                return vec![c.symbol(s, p)];
            }
            // The sum of products, with subtractions last.
            let mut terms: Vec<(Vec<Sym>, i64)> = p.terms().map(|(syms, n)| (syms.to_vec(), n)).collect();
            terms.sort_by_key(|(_, n)| *n < 0);
            let mut sum: Option<(Reg, Poly)> = None;
            for (syms, n) in terms {
                let minus = n < 0 && n != i64::MIN && sum.is_some();
                let (r, q) = c.product(&syms, if minus { -n } else { n });
                sum = Some(match sum {
                    None => (r, q),
                    Some((s, sp)) => {
                        let total = sp.plus(&q, if minus { -1 } else { 1 });
                        (c.arithmetic(Op2::Num(if minus { Num2::Sub } else { Num2::Add }), s, r, &total), total)
                    }
                });
            }
            vec![sum.expect("a sum that is no constant has terms").0]
        })[0]
    }

    fn product(&mut self, syms: &[Sym], n: i64) -> (Reg, Poly) {
        let mut parts: Vec<Poly> = syms.iter().map(|s| Poly::sym(*s)).collect();
        if n != 1 || parts.is_empty() {
            parts.push(Poly::constant(n));
        }
        let mut parts = parts.into_iter();
        let first = parts.next().unwrap_or_default();
        let mut result = (self.integer(&first), first);
        for p in parts {
            let r = self.integer(&p);
            let product = result.1.times(&p).unwrap_or_default();
            result = (self.arithmetic(Op2::Num(Num2::Mul), result.0, r, &product), product);
        }
        result
    }

    /// Emits an operation whose value is `p`.
    fn arithmetic(&mut self, op: Op2, a: Reg, b: Reg, p: &Poly) -> Reg {
        let key = Key::Integer(p.clone());
        if let Some(r) = self.known.get(&key) {
            return r[0];
        }
        let to = self.reg(ScalarType::I64, Some(p.clone()));
        self.emit(Instr::Op2(to, op, a, b));
        self.known.insert(key.clone(), vec![to]);
        self.added.push(key);
        to
    }

    fn symbol(&mut self, s: Sym, p: &Poly) -> Reg {
        match s {
            Sym::Param(k) => Reg::new(k),
            Sym::Extent(a, dim) => {
                let to = self.reg(ScalarType::I64, Some(p.clone()));
                self.emit(Instr::Extent(to, a, dim));
                to
            }
            Sym::Node(n) => match self.facts.node(n).clone() {
                Node::Op(op, a, b) => {
                    let (a, b) = (self.integer(&a), self.integer(&b));
                    let to = self.reg(ScalarType::I64, Some(p.clone()));
                    self.emit(Instr::Op2(to, op, a, b));
                    to
                }
                // Its register was set before a polynomial could contain it.
                Node::Unknown => Reg::NONE,
            },
        }
    }

    fn instr(&mut self, code: &ScalarFn, instr: &Instr, map: &mut Map) {
        match instr {
            Instr::Const(to, x) => map[*to] = self.constant(*x),
            Instr::Op1(to, op, a) => map[*to] = self.op1(*op, map[*a], code.types[*to]),
            Instr::Op2(to, op, a, b) => map[*to] = self.op2(*op, map[*a], map[*b], code.types[*to]),
            Instr::Extent(to, a, dim) => {
                let p = self.facts.dims(self.producers.alias(*a))[*dim].clone();
                map[*to] = self.integer(&p);
            }
            Instr::Read { to, array, index, site, inside } => {
                if let Some(rs) = self.producers.element(*array) {
                    // The merged function reads only elements at its own index. Otherwise its members were not merged.
                    return to.iter().zip(rs).for_each(|(to, r)| map[*to] = map[*r]);
                }
                let types: Vec<_> = to.iter().map(|r| code.types[*r]).collect();
                let index: Vec<_> = index.iter().map(|r| map[*r]).collect();
                let rs = self.read(*array, index, *site, *inside, &types);
                to.iter().zip(rs).for_each(|(to, r)| map[*to] = r);
            }
            Instr::If { cond, then, otherwise, merge } => match self.decision(map[*cond]) {
                Some(c) => {
                    self.instrs(code, if c { then } else { otherwise }, map);
                    merge.iter().for_each(|(to, a, b)| map[*to] = map[if c { *a } else { *b }]);
                }
                _ => {
                    let may_select = self.loops == 0 && self.varying.is_some_and(|varying| varying[*cond]);
                    self.conditional(code, map[*cond], [then, otherwise], merge, map, may_select)
                }
            },
            Instr::Emit { to, index, values, site, inside } => {
                let [index, values] = [index, values].map(|rs| rs.iter().map(|r| map[*r]).collect::<Vec<_>>());
                let inside = *inside || self.is_inside(*to, &self.polys_of(&index));
                self.emitted += 1;
                self.emit(Instr::Emit { to: *to, index, values, site: *site, inside });
            }
            Instr::Get { to, list, at } => {
                map[*to] = self.progression_at(map[*list], map[*at]).unwrap_or_else(|| {
                    let r = self.reg(code.types[*to], None);
                    self.emit(Instr::Get { to: r, list: map[*list], at: map[*at] });
                    r
                });
            }
            Instr::While { state, cond, continues, body, next, lists } => {
                if let Some(steps) = few_steps(instr, |r| *self.constants.get(map[r])?) {
                    return self.steps(code, instr, steps, map);
                }
                let new: Vec<(Reg, Reg)> =
                    state.iter().map(|(to, init)| (self.reg(code.types[*to], None), map[*init])).collect();
                state.iter().zip(&new).for_each(|((to, _), (r, _))| map[*to] = *r);
                self.loops += 1;
                self.numbers.open_loop(new.iter().map(|s| s.0));
                let cond = self.scoped(|c| c.instrs(code, cond, map));
                let continues = map[*continues];
                let body = self.scoped(|c| c.instrs(code, body, map));
                let listed = lists.iter().map(|(to, value)| {
                    let (to, value) = (*to, map[*value]);
                    map[to] = self.reg(code.types[to], None);
                    (map[to], value)
                });
                let lists: Vec<_> = listed.collect();
                self.loops -= 1;
                self.numbers.close_loop();
                let next: Vec<Reg> = next.iter().map(|r| map[*r]).collect();
                self.find_progressions(&new, &next, &lists);
                self.emit(Instr::While { state: new, cond, continues, body, next, lists });
            }
        }
    }

    /// NOTE [Lists of progressions]: the dual of a loop reads the states before its steps from a list. A counter need not be
    /// stored there: its element `k` is `init + k * step`. A loop whose lists are all of this kind needs no memory.
    fn find_progressions(&mut self, state: &[(Reg, Reg)], next: &[Reg], lists: &[(Reg, Reg)]) {
        for (list, value) in lists {
            let Some(k) = state.iter().position(|(r, _)| r == value) else { continue };
            let [Some(init), Some(before), Some(after)] = [state[k].1, *value, next[k]].map(|r| self.polys[r].clone())
            else {
                continue;
            };
            if let Some(step) = after.plus(&before, -1).as_constant() {
                self.progressions.insert(*list, (init, step));
            }
        }
    }

    /// The element of a list at this place, if the list is a progression.
    fn progression_at(&mut self, list: Reg, at: Reg) -> Option<Reg> {
        let (init, step) = self.progressions.get(&list)?;
        let element = init.plus(self.polys[at].as_ref()?, *step);
        Some(self.integer(&element))
    }

    /// Executes this number of steps of a loop one after the other: NOTE [Loops of few steps].
    fn steps(&mut self, code: &ScalarFn, instr: &Instr, steps: usize, map: &mut Map) {
        let Instr::While { state, cond, body, next, .. } = instr else { return };
        state.iter().for_each(|(to, init)| map[*to] = map[*init]);
        for _ in 0..steps {
            self.instrs(code, cond, map);
            self.instrs(code, body, map);
            let values: Vec<Reg> = next.iter().map(|r| map[*r]).collect();
            state.iter().zip(values).for_each(|((to, _), r)| map[*to] = r);
        }
    }

    /// Collects the instructions that `f` adds. Afterwards their values can no longer be reused.
    fn scoped(&mut self, f: impl FnOnce(&mut Self)) -> Instrs {
        let (added, conditions, decisions) = (self.added.len(), self.conditions.len(), self.decisions.len());
        self.depth += 1;
        self.out.open();
        f(self);
        let instrs = self.out.close();
        self.depth -= 1;
        self.conditions.truncate(conditions);
        self.decisions.truncate(decisions);
        for key in self.added.drain(added..) {
            self.known.remove(&key);
        }
        instrs
    }

    /// What a condition is, if it is a constant or decides a branch around the current instruction.
    fn decision(&self, cond: Reg) -> Option<bool> {
        match self.constants[cond] {
            Some(Scalar::Bool(c)) => Some(c),
            _ => self.decisions.iter().find(|(r, _)| *r == cond).map(|(_, decision)| *decision),
        }
    }

    fn conditional(
        &mut self,
        code: &ScalarFn,
        cond: Reg,
        branches: [&[Instr]; 2],
        merge: &[(Reg, Reg, Reg)],
        map: &mut Map,
        may_select: bool,
    ) {
        let facts = self.sides(cond);
        let emitted = self.emitted;
        let [then, otherwise] = [(true, facts.yes), (false, facts.no)].map(|(decision, facts)| {
            let branch = branches[usize::from(!decision)];
            self.scoped(|c| {
                c.conditions.extend(facts);
                c.decisions.push((cond, decision));
                c.instrs(code, branch, map)
            })
        });
        // Two equal conditionals can merge different registers. Where the values are the same, the registers of the
        // first one are used.
        let decision = self.numbers.of(cond);
        let mut merged = vec![];
        for (to, a, b) in merge {
            let (a, b) = (map[*a], map[*b]);
            if a == b {
                map[*to] = a;
                continue;
            }
            map[*to] = match (self.constants[a], self.constants[b]) {
                // The constant, if it is the same in both branches.
                (Some(x), Some(y)) if x == y => self.constant(x),
                (Some(Scalar::Bool(true)), Some(Scalar::Bool(false))) => cond,
                (Some(Scalar::Bool(false)), Some(Scalar::Bool(true))) => self.op1(Op1::Not, cond, ScalarType::Bool),
                _ => {
                    let key = Key::If(decision, self.numbers.of(a), self.numbers.of(b));
                    self.once(key, |c| {
                        let r = c.reg(code.types[*to], None);
                        merged.push((r, a, b));
                        vec![r]
                    })[0]
                }
            };
        }
        // What adds to sums happens, even if the results are known.
        if merged.is_empty() && self.emitted == emitted {
            return;
        }
        let (then, otherwise) = if may_select && self.is_selectable(&then, &otherwise) {
            then.iter().chain(&*otherwise).for_each(|i| self.out.emit(i.clone()));
            (Instrs::default(), Instrs::default())
        } else {
            (then, otherwise)
        };
        self.emit(Instr::If { cond, then, otherwise, merge: merged });
    }

    /// Whether both branches can be computed, whatever the condition is.
    fn is_selectable(&mut self, then: &[Instr], otherwise: &[Instr]) -> bool {
        cheap_branches::are_cheap(self.out.so_far(), then, otherwise)
            && then.iter().chain(otherwise).all(|i| match i {
                Instr::Read { array, index, .. } => self.is_surely_inside(*array, &self.polys_of(index)),
                _ => true,
            })
    }

    fn sides(&self, cond: Reg) -> Sides {
        self.comparisons.get(&cond).cloned().unwrap_or_default()
    }

    fn read(&mut self, array: ArrayId, index: Vec<Reg>, site: SiteId, inside: bool, types: &[ScalarType]) -> Vec<Reg> {
        let array = self.producers.alias(array);
        let polys = self.polys_of(&index);
        let inside = inside || self.is_inside(array, &polys);
        let once = inside && self.loops == 0 && self.producers.is_read_where_made(array) && self.covers(&polys);
        let u = ArrayUse { array, once };
        if inside && let Some(producer) = self.producers.inlined(u) {
            return self.inline(producer, &index);
        }
        self.uses.push(u);
        self.once(Key::Read(array, index.clone()), |c| {
            let to: Vec<Reg> = types.iter().map(|t| c.reg(*t, None)).collect();
            c.emit(Instr::Read { to: to.clone(), array, index, site, inside });
            if let (Some(n), [row]) = (c.producers.steps(array), &to[..]) {
                let row = c.polys[*row].clone().unwrap_or_default();
                c.conditions.extend(Inequality::range(&row, n));
            }
            to
        })
    }

    fn polys_of(&self, index: &[Reg]) -> Vec<Poly> {
        index.iter().map(|r| self.polys[*r].clone().unwrap_or_default()).collect()
    }

    /// What holds if an index is within the bounds of an array.
    fn bounds(&mut self, array: ArrayId, index: &[Poly]) -> Vec<Inequality> {
        let dims = self.facts.dims(array);
        let ranges = Ranges { params: self.ranges, conditions: &self.conditions };
        let index: Vec<Poly> = index.iter().map(|i| self.facts.exact(i, ranges)).collect();
        index.iter().zip(&dims).flat_map(|(i, n)| Inequality::range(i, n)).collect()
    }

    fn is_inside(&mut self, array: ArrayId, index: &[Poly]) -> bool {
        let all = self.bounds(array, index);
        let ranges = Ranges { params: self.ranges, conditions: &self.conditions };
        if self.facts.hold(&all, ranges) {
            return true;
        }
        // All or nothing: if one check stays necessary, no assumption is made for the others.
        let needed = if self.may_assume(index) { self.facts.premises(&all, ranges, true) } else { None };
        needed.map(|needed| self.facts.assume(needed)).is_some()
    }

    /// Whether a read at this index may need assumptions.
    ///
    /// NOTE [Assumptions in branches]: a condition often says that an index is inside, but in a way that the analysis does
    /// not understand. An assumption that the index is inside for all elements would then be wrong for most extents. So
    /// assumptions for reads in branches are made only if each component of the index is a parameter or a constant,
    /// which are nearly always inside without the condition, too.
    ///
    /// NOTE [Assumptions in loops]: a step may never run, and what it reads is often inside for a reason that the analysis does not know. But
    /// a step that reads an array at the index of another one nearly always has two arrays of the same extents, which nothing has compared.
    /// And the neighbours of an index that a minimum or maximum keeps away from the edges are inside unless an extent is very small.
    fn may_assume(&self, index: &[Poly]) -> bool {
        let is_param = |p: &Poly| matches!(p.as_sym(), Some(Sym::Param(_)));
        let is_plain = |p: &Poly| p.as_constant().is_some() || is_param(p);
        match self.always {
            true => self.depth == 0 || self.loops == 0 && index.iter().all(is_plain),
            false => self.loops == 0 && index.iter().all(|p| is_param(p) || self.is_beside_a_bound(p)),
        }
    }

    /// Whether a number is a minimum or a maximum and a constant.
    fn is_beside_a_bound(&self, p: &Poly) -> bool {
        let mut terms = p.terms().filter(|(syms, _)| !syms.is_empty());
        let (Some(([Sym::Node(n)], 1)), None) = (terms.next(), terms.next()) else { return false };
        matches!(self.facts.node(*n), Node::Op(Op2::Num(Num2::Min | Num2::Max), ..))
    }

    /// Whether a read is inside under the conditions here, without a new assumption. It can be in a branch that is
    /// closed already.
    fn is_surely_inside(&mut self, array: ArrayId, index: &[Poly]) -> bool {
        let all = self.bounds(array, index);
        let ranges = Ranges { params: self.ranges, conditions: &self.conditions };
        self.facts.premises(&all, ranges, true).is_some_and(|needed| self.facts.are_assumed(&needed))
    }

    fn op1(&mut self, op: Op1, a: Reg, t: ScalarType) -> Reg {
        if let Some(x) = self.constants[a].and_then(|x| op.eval(x).ok()) {
            return self.constant(x);
        }
        let r = self.once(Key::Op1(op, a), |c| {
            let r = c.reg(t, None);
            c.emit(Instr::Op1(r, op, a));
            vec![r]
        })[0];
        if op == Op1::Not && t == ScalarType::Bool {
            let Sides { yes, no } = self.sides(a);
            self.comparisons.insert(r, Sides { yes: no, no: yes });
        }
        r
    }

    fn op2(&mut self, op: Op2, a: Reg, b: Reg, t: ScalarType) -> Reg {
        let (x, y) = (self.constants[a], self.constants[b]);
        if let (Some(x), Some(y)) = (x, y)
            && let Ok(z) = op.eval(x, y)
        {
            return self.constant(z);
        }
        if let Some(r) = neutral(op, x, y, a, b) {
            return r;
        }
        if let Op2::Float(strong) = op {
            if strong.is_strong_zero(x, y) {
                return self.constant(t.zero());
            }
            if let Some(ordinary) = strong.ordinary(x, y) {
                return self.op2(Op2::Num(ordinary), a, b, t);
            }
        }
        let polys = self.polys[a].clone().zip(self.polys[b].clone());
        match (op, polys) {
            (Op2::Num(_) | Op2::Int(Int2::DivEuclid | Int2::RemEuclid), Some((p, q))) => {
                let ranges = Ranges { params: self.ranges, conditions: &self.conditions };
                let value = self.facts.op(op, &p, &q, ranges);
                if is_composed(op, &p, &q) && multiple_and_more(&value).is_some() {
                    return self.integer(&value);
                }
                if value.as_constant().is_some() || value.as_sym().is_some_and(|s| !matches!(s, Sym::Node(_))) {
                    return self.integer(&value);
                }
                self.arithmetic(op, a, b, &value)
            }
            (Op2::Cmp(cmp), Some((p, q))) => self.compare(cmp, &p, &q, a, b),
            (Op2::Logic(logic), _) => {
                let r = self.plain(op, a, b, t);
                let [x, y] = [a, b].map(|r| self.sides(r));
                let sides = match logic {
                    Logic::And => Sides { yes: [x.yes, y.yes].concat(), no: vec![] },
                    Logic::Or => Sides { yes: vec![], no: [x.no, y.no].concat() },
                };
                self.comparisons.insert(r, sides);
                r
            }
            (Op2::Num(Num2::Add | Num2::Mul) | Op2::Float(Float2::StrongMul), _) if b < a => self.plain(op, b, a, t),
            _ => self.plain(op, a, b, t),
        }
    }

    fn plain(&mut self, op: Op2, a: Reg, b: Reg, t: ScalarType) -> Reg {
        self.once(Key::Op2(op, a, b), |c| {
            let r = c.reg(t, None);
            c.emit(Instr::Op2(r, op, a, b));
            vec![r]
        })[0]
    }

    /// Emits a comparison of integers.
    fn compare(&mut self, cmp: Cmp, p: &Poly, q: &Poly, a: Reg, b: Reg) -> Reg {
        let ranges = Ranges { params: self.ranges, conditions: &self.conditions };
        let (left, right) = (&self.facts.exact(p, ranges), &self.facts.exact(q, ranges));
        let f = &mut *self.facts;
        let decided = match cmp {
            Cmp::Eq | Cmp::Ne if p == q => Some(cmp == Cmp::Eq),
            Cmp::Eq | Cmp::Ne
                if f.hold(&[Inequality::less(left, right)], ranges)
                    || f.hold(&[Inequality::less(right, left)], ranges) =>
            {
                Some(cmp == Cmp::Ne)
            }
            Cmp::Eq | Cmp::Ne if f.assume_equal(p, q) => Some(cmp == Cmp::Eq),
            Cmp::Eq | Cmp::Ne => None,
            _ => {
                let sides = f.sides(cmp, left, right, ranges);
                let is_true = f.hold(&sides.yes, ranges);
                (is_true || f.hold(&sides.no, ranges)).then_some(is_true)
            }
        };
        if let Some(x) = decided {
            return self.constant(Scalar::Bool(x));
        }
        let sides = f.sides(cmp, left, right, ranges);
        let r = self.plain(Op2::Cmp(cmp), a, b, ScalarType::Bool);
        self.comparisons.insert(r, sides);
        r
    }

    /// Whether an index determines all parameters of the scalar function, where the current conditions hold. Then no two
    /// executions read the same element.
    fn covers(&self, index: &[Poly]) -> bool {
        let told = |p: &Poly| {
            let params: BTreeSet<Sym> = p.symbols().filter(|s| matches!(s, Sym::Param(_))).collect();
            let s = params.first().copied().filter(|_| params.len() == 1)?;
            let slope = p.linear(s)?.0.as_constant()?;
            (slope == 1 || slope == -1).then_some(s)
        };
        let is_same = |a: &Inequality, b: &Inequality| a.gap + b.gap == 0 && a.less == b.more && a.more == b.less;
        let equal = self.conditions.iter().filter(|a| self.conditions.iter().any(|b| is_same(a, b)));
        // A parameter that equals a number of extents has one value.
        let fixed = equal.filter(|c| self.facts.is_known(&c.more)).filter_map(|c| told(&c.less));
        self.determined_by(index).iter().filter_map(told).chain(fixed).collect::<BTreeSet<_>>().len()
            == self.ranges.len()
    }

    /// The components of an index, and what they determine: `x` if there are both `x % n` and `x / n`.
    fn determined_by(&self, index: &[Poly]) -> Vec<Poly> {
        let node = |p: &Poly| match p.as_sym() {
            Some(Sym::Node(n)) => match self.facts.node(n) {
                Node::Op(Op2::Num(op), x, n) if self.facts.is_known(n) => Some((*op, x, n)),
                _ => None,
            },
            _ => None,
        };
        let (mut open, mut found): (Vec<Poly>, Vec<Poly>) = (index.to_vec(), vec![]);
        while let Some(p) = open.pop() {
            if let Some((op @ (Num2::Div | Num2::Rem), x, n)) = node(&p) {
                let other = if op == Num2::Div { Num2::Rem } else { Num2::Div };
                if found.iter().any(|q| node(q) == Some((other, x, n))) {
                    open.push(x.clone());
                }
            }
            found.push(p);
        }
        found
    }
}

/// The factor and the constant of a multiple of one symbol plus a constant.
fn multiple_and_more(p: &Poly) -> Option<(i64, i64)> {
    p.terms().try_fold((0, 0), |(factor, constant), (syms, n)| match syms {
        [] => Some((factor, n)),
        [_] if factor == 0 => Some((n, constant)),
        _ => None,
    })
}

/// Whether a constant is added to, or multiplied with, a multiple of a symbol to which another constant was added.
///
/// NOTE [Compositions of linear functions]: integers wrap, so they are a ring, and `(x * a + b) * c + d` is
/// `x * (a * c) + (b * c + d)`. Several steps of a generator of random numbers are one multiplication and one addition.
fn is_composed(op: Op2, p: &Poly, q: &Poly) -> bool {
    let other = match (p.as_constant(), q.as_constant()) {
        (None, Some(_)) => p,
        (Some(_), None) => q,
        _ => return false,
    };
    matches!(op, Op2::Num(Num2::Add | Num2::Sub | Num2::Mul))
        && multiple_and_more(other).is_some_and(|(factor, constant)| factor.unsigned_abs() > 1 && constant != 0)
}

/// The other operand, if one operand is neutral.
fn neutral(op: Op2, x: Option<Scalar>, y: Option<Scalar>, a: Reg, b: Reg) -> Option<Reg> {
    let is = |x: Option<Scalar>, value: f64| match x {
        Some(Scalar::F32(x)) => x.to_bits() == (value as f32).to_bits(),
        Some(Scalar::F64(x)) => x.to_bits() == value.to_bits(),
        _ => false,
    };
    let truth = |x: Option<Scalar>, value: bool| matches!(x, Some(Scalar::Bool(b)) if b == value);
    match op {
        Op2::Num(Num2::Mul) if is(y, 1.0) => Some(a),
        Op2::Num(Num2::Mul) if is(x, 1.0) => Some(b),
        Op2::Num(Num2::Div) if is(y, 1.0) => Some(a),
        Op2::Num(Num2::Add) if is(y, -0.0) => Some(a),
        Op2::Num(Num2::Add) if is(x, -0.0) => Some(b),
        Op2::Num(Num2::Sub) if is(y, 0.0) => Some(a),
        Op2::Logic(Logic::And) if truth(x, true) || truth(y, false) => Some(b),
        Op2::Logic(Logic::And) if truth(y, true) || truth(x, false) => Some(a),
        Op2::Logic(Logic::Or) if truth(x, false) || truth(y, true) => Some(b),
        Op2::Logic(Logic::Or) if truth(y, false) || truth(x, true) => Some(a),
        _ => None,
    }
}
