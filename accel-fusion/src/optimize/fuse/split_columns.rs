//! Splits arrays of tuples into arrays of their columns, so that each column can be fused or dropped separately.
//! Reductions and scans keep the used columns and those that influence them, and scans store only the used ones.
//!
//! NOTE [Arrays without columns]: if only the extents of an array are used, it becomes an array without columns. This takes
//! no memory and nothing computes its elements, but its extents have names and are checked as before. So a program whose
//! extents are computed numbers, such as `generate((n, n), f)`, is fused like one whose extents are those of an argument.
//!
//! NOTE [Columns of one value]: columns that share work are stored together. Often they are one value, multiplied by different
//! numbers: so are the adjoints of the elements that a stencil reads. Then the value is stored, and whoever reads a column
//! computes it. A stencil of nine places stores one number instead of nine.

use crate::kernel::builder::{Builder, index_types};
use crate::kernel::dead_code::restricted_to;
use crate::kernel::{
    ArrayId, ArrayInfo, Block, Instr, Op, Program, Reduction, Reg, ScalarFn, SiteId, Stmt, scan_extents, walk,
};
use crate::optimize::rules::{Place, Rule, rewrite};
use crate::optimize::scalar::recomputation::LITTLE_WORK;
use accel_core::ast::deep;
use accel_core::repr::op::Num2;
use accel_core::repr::{Scalar, ScalarType};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Splits loops that define several columns, if only elements and extents of their arrays are used.
pub fn split(program: &Program) -> Program {
    let mut used = BTreeMap::new();
    used_columns(&program.body, &mut used);
    rewrite(program, &mut Splitter { whole: used_as_whole(program), used, columns: BTreeMap::new() })
}

/// The arrays that are used as a whole, not only by reads of elements and extents.
pub fn used_as_whole(program: &Program) -> BTreeSet<ArrayId> {
    let mut found = program.results.iter().copied().collect();
    program.body.walk().for_each(|s| s.op.arrays_used_whole(&mut found));
    found
}

/// `a = loop f, g` is `b = loop f; c = loop g`.
struct Splitter {
    whole: BTreeSet<ArrayId>,
    /// The used columns: those whose register is used in some read.
    used: BTreeMap<ArrayId, BTreeSet<usize>>,
    /// For each array that was split: the new arrays, each with its columns of the old one.
    columns: BTreeMap<ArrayId, Vec<(ArrayId, Vec<usize>)>>,
}

impl Rule for Splitter {
    fn stmt(&mut self, place: &mut Place, s: Stmt, before: &mut Vec<Stmt>) {
        let mut op = s.op;
        op.scalar_fns_mut().into_iter().for_each(|c| self.instrs(&mut c.instrs));
        if let Some((mut to, extents)) = self.only_extents(&op) {
            let body = Builder::new(&index_types(extents.results.len())).finish(vec![]);
            self.stored(place, &mut to, vec![]);
            return before.push(Stmt { op: Op::Loop { to: vec![to], extents, body }, site: s.site });
        }
        if let Op::Reduce { to, rows, .. } = &mut op {
            self.reduction(place, to, rows);
        }
        if let Op::Scan { to, kept, rows, .. } = &mut op {
            self.scan(place, to, kept, rows);
        }
        if let Op::Accumulate { to, body, .. } = &mut op {
            self.accumulate(place, to, body);
        }
        if matches!(op, Op::Permute { .. }) {
            return before.extend(self.permutations(place, op, s.site).into_iter().map(|op| Stmt { op, site: s.site }));
        }
        let Op::Loop { to, extents, body } = op else { return before.push(Stmt { op, site: s.site }) };
        let mut next = 0;
        for a in to {
            let info = place.arrays[a].clone();
            let results = body.results[next..next + info.columns.len()].to_vec();
            next += info.columns.len();
            let all: Vec<usize> = (0..info.columns.len()).collect();
            let used: Vec<usize> = self.used.get(&a).into_iter().flatten().copied().collect();
            let parts = parts(&body, &results, &info.columns, used);
            let stored = |columns: &[usize]| common_values(&body, columns.iter().map(|c| results[*c]).collect());
            let parts: Vec<_> = parts.into_iter().map(|columns| (stored(&columns), columns)).collect();
            let is_kept = matches!(&parts[..], [(values, columns)] if *columns == all && values.len() == all.len());
            if self.whole.contains(&a) || is_kept {
                before.push(loop_(vec![a], &extents, &body, results, s.site));
                continue;
            }
            let mut places = vec![];
            let mut array = |columns: Vec<ScalarType>| place.arrays.push(ArrayInfo { rank: info.rank, columns });
            for (values, columns) in parts {
                if values.len() < columns.len() {
                    let shared = array(values.iter().map(|v| body.types[*v]).collect());
                    before.push(loop_(vec![shared], &extents, &body, values.clone(), s.site));
                    let body = with_read(&body, &values, shared, s.site);
                    for c in columns {
                        let part = array(vec![info.columns[c]]);
                        before.push(loop_(vec![part], &extents, &body, vec![results[c]], s.site));
                        places.push((part, vec![c]));
                    }
                    continue;
                }
                let part = array(columns.iter().map(|c| info.columns[*c]).collect());
                let results = columns.iter().map(|c| results[*c]).collect();
                before.push(loop_(vec![part], &extents, &body, results, s.site));
                places.push((part, columns));
            }
            self.columns.insert(a, places);
        }
    }
}

impl Splitter {
    /// The result and the extents of a reduction or scan of which nothing else is used. A reduction without an initial value
    /// checks that its rows are not empty.
    fn only_extents(&self, op: &Op) -> Option<(ArrayId, ScalarFn)> {
        let is_used = |a: &ArrayId| self.whole.contains(a) || self.used.get(a).is_some_and(|used| !used.is_empty());
        match op {
            Op::Reduce { to, extents, rows } if rows.init.is_some() && !is_used(to) => Some((*to, extents.clone())),
            Op::Scan { to, extents, down, rows, .. } if !is_used(to) => {
                let mut b = Builder::new(&[]);
                let (outer, mut length) = (b.inline(extents, &[]), b.inline(&rows.len, &[])[0]);
                if rows.init.is_some() {
                    let one = b.constant(Scalar::I64(1));
                    length = b.index_op(Num2::Add, length, one);
                }
                Some((*to, b.finish(scan_extents(&outer, length, *down))))
            }
            _ => None,
        }
    }

    /// Divides the arrays of a statement with sums into arrays of their used columns. The statement stays one.
    fn accumulate(&mut self, place: &mut Place, to: &mut Vec<ArrayId>, body: &mut ScalarFn) {
        let mut results = body.results.iter().copied();
        let (mut arrays, mut kept) = (vec![], vec![]);
        for a in to.iter() {
            let info = place.arrays[*a].clone();
            let own: Vec<Reg> = results.by_ref().take(info.columns.len()).collect();
            if self.whole.contains(a) || info.columns.len() < 2 {
                arrays.push(*a);
                kept.extend(own);
                continue;
            }
            // If only the extents of the array are used, the first column has them.
            let used = self.used.get(a).filter(|used| !used.is_empty()).cloned().unwrap_or_else(|| [0].into());
            let mut places = vec![];
            for c in used {
                let part = place.arrays.push(ArrayInfo { rank: info.rank, columns: vec![info.columns[c]] });
                arrays.push(part);
                kept.push(own[c]);
                places.push((part, vec![c]));
            }
            self.columns.insert(*a, places);
        }
        *to = arrays;
        *body = restricted_to(body, kept);
    }

    /// Drops the columns of a reduction to `to` that nothing uses.
    fn reduction(&mut self, place: &mut Place, to: &mut ArrayId, rows: &mut Reduction) {
        let needed = needed(&rows.op, self.used.get(to).cloned().unwrap_or_default());
        if self.whole.contains(to) || needed.is_empty() || needed.len() == rows.op.results.len() {
            return;
        }
        restrict(rows, &needed);
        self.stored(place, to, needed);
    }

    /// Stores only those columns of a scan to `to` that something uses, and drops those that they do not need.
    fn scan(&mut self, place: &mut Place, to: &mut ArrayId, kept: &mut Vec<usize>, rows: &mut Reduction) {
        let used: Vec<usize> = self.used.get(to).into_iter().flatten().copied().collect();
        if self.whole.contains(to) || used.len() >= kept.len() {
            return;
        }
        *kept = used.iter().map(|c| kept[*c]).collect();
        let needed = needed(&rows.op, kept.iter().copied().collect());
        restrict(rows, &needed);
        kept.iter_mut().for_each(|c| *c = needed.partition_point(|n| n < c));
        self.stored(place, to, used);
    }

    /// Divides a permutation that combines each column separately into those of its used columns, if this computes little
    /// twice: several threads can execute them.
    fn permutations(&mut self, place: &mut Place, op: Op, site: SiteId) -> Vec<Op> {
        let Op::Permute { to, defaults, extents, target, element, comb, .. } = &op else { return vec![op] };
        let info = place.arrays[*to].clone();
        let used: Vec<usize> = self.used.get(to).into_iter().flatten().copied().collect();
        let Some(monoids) = comb.column_monoids().filter(|_| info.columns.len() > 1) else { return vec![op] };
        let is_apart = parts(element, &element.results, &info.columns, used.clone()).len() == used.len();
        if self.whole.contains(to) || used.is_empty() || !is_apart {
            return vec![op];
        }
        let (mut ops, mut places) = (vec![], vec![]);
        for c in used {
            let mut array = || {
                let info = ArrayInfo { rank: info.rank, columns: vec![info.columns[c]] };
                place.arrays.push(info)
            };
            let (before, part) = (array(), array());
            let mut b = Builder::new(&[]);
            let dims = (0..info.rank).map(|dim| b.extent(*defaults, dim)).collect();
            let of_defaults = b.finish(dims);
            let mut b = Builder::new(&index_types(info.rank));
            let all: Vec<Reg> = info.columns.iter().map(|t| b.reg(*t)).collect();
            b.emit(Instr::Read { to: all.clone(), array: *defaults, index: b.params(), site, inside: true });
            ops.push(Op::Loop { to: vec![before], extents: of_defaults, body: b.finish(vec![all[c]]) });
            let mut b = Builder::new(&[info.columns[c]; 2]);
            let combined = b.reg(info.columns[c]);
            b.emit(Instr::Op2(combined, monoids[c].operator(), Reg::new(0), Reg::new(1)));
            ops.push(Op::Permute {
                to: part,
                defaults: before,
                extents: extents.clone(),
                target: target.clone(),
                inside: false,
                element: restricted_to(element, vec![element.results[c]]),
                comb: b.finish(vec![combined]),
                monoid: Some(monoids[c]),
            });
            places.push((part, vec![c]));
        }
        self.columns.insert(*to, places);
        ops
    }

    /// Replaces an array by one with some of its columns.
    fn stored(&mut self, place: &mut Place, to: &mut ArrayId, columns: Vec<usize>) {
        let info = &place.arrays[*to];
        let types = columns.iter().map(|c| info.columns[*c]).collect();
        let part = place.arrays.push(ArrayInfo { rank: info.rank, columns: types });
        self.columns.insert(*to, vec![(part, columns)]);
        *to = part;
    }

    fn instrs(&self, instrs: &mut Vec<Instr>) {
        for mut i in std::mem::take(instrs) {
            match &mut i {
                Instr::Read { to, array, index, site, inside } => {
                    if let Some(columns) = self.columns.get(array) {
                        let used = columns.iter().filter(|(_, columns)| !columns.is_empty());
                        instrs.extend(used.map(|(array, columns)| Instr::Read {
                            to: columns.iter().map(|c| to[*c]).collect(),
                            array: *array,
                            index: index.clone(),
                            site: *site,
                            inside: *inside,
                        }));
                        continue;
                    }
                }
                Instr::Extent(_, a, _) => {
                    if let Some([(part, _), ..]) = self.columns.get(a).map(Vec::as_slice) {
                        *a = *part;
                    }
                }
                Instr::If { then, otherwise, .. } => {
                    [then, otherwise].into_iter().for_each(|b| deep(|| self.instrs(b)))
                }
                Instr::While { cond, body, .. } => [cond, body].into_iter().for_each(|b| deep(|| self.instrs(b))),
                _ => {}
            }
            instrs.push(i);
        }
    }
}

/// Drops all columns of a reduction but these, which need no others.
fn restrict(rows: &mut Reduction, needed: &[usize]) {
    let types = rows.columns();
    let count = types.len();
    if needed.len() == count {
        return;
    }
    let choose = |code: &ScalarFn| restricted_to(code, needed.iter().map(|c| code.results[*c]).collect());
    let kept: Vec<ScalarType> = needed.iter().map(|c| types[*c]).collect();
    let op = choose(&rows.op);
    let mut b = Builder::new(&[kept.clone(), kept].concat());
    let parameter = |b: &mut Builder, p: usize| match needed.iter().position(|c| *c == p % count) {
        Some(place) => Reg::new(place + p / count * needed.len()),
        // Nothing that remains reads it.
        None => b.constant(types[p % count].zero()),
    };
    let arguments: Vec<Reg> = (0..2 * count).map(|p| parameter(&mut b, p)).collect();
    let results = b.inline(&op, &arguments);
    let op = b.finish(results.clone());
    rows.op = restricted_to(&op, results);
    rows.element = choose(&rows.element);
    rows.init = rows.init.as_ref().map(choose);
    rows.monoid =
        rows.op.column_monoids().and_then(|monoids| if let [monoid] = monoids[..] { Some(monoid) } else { None });
}

/// The columns that an operator needs to compute the used ones, including these.
fn needed(op: &ScalarFn, mut used: BTreeSet<usize>) -> Vec<usize> {
    let count = op.results.len();
    loop {
        let code = restricted_to(op, used.iter().map(|c| op.results[*c]).collect());
        let mut registers: BTreeSet<Reg> = code.results.iter().copied().collect();
        code.instrs.iter().for_each(|i| i.uses(&mut registers));
        let before = used.len();
        used.extend(registers.range(..Reg::new(code.params)).map(|p| p.index() % count));
        if used.len() == before {
            return used.into_iter().collect();
        }
    }
}

/// Divides the columns of an array into groups, each of which becomes an array. A group is a single column, or all used
/// columns that share work. Columns without work, and integers and conditions with little work, are always single
/// columns: they need not be stored with the others, and a scatter with such targets can be analysed.
fn parts(body: &ScalarFn, results: &[Reg], types: &[ScalarType], used: Vec<usize>) -> Vec<Vec<usize>> {
    let alone = |columns: &[usize]| restricted_to(body, columns.iter().map(|c| results[*c]).collect()).work();
    let singles = |columns: Vec<usize>| columns.into_iter().map(|c| vec![c]);
    let together = alone(&used);
    let apart: usize = used.iter().map(|c| alone(&[*c])).sum();
    match used.len() {
        // Only the extents of the array are used: NOTE [Arrays without columns].
        0 => vec![vec![]],
        _ if apart <= together + LITTLE_WORK => singles(used).collect(),
        _ => {
            let is_light = |c: &usize| {
                let is_float = matches!(types[*c], ScalarType::F32 | ScalarType::F64);
                alone(&[*c]) <= if is_float { 0 } else { LITTLE_WORK }
            };
            let (light, heavy): (Vec<usize>, Vec<usize>) = used.into_iter().partition(is_light);
            [heavy].into_iter().filter(|heavy| !heavy.is_empty()).chain(singles(light)).collect()
        }
    }
}

/// The registers to store for some results of a body, those that little work leads from to several of them: NOTE [Columns of one
/// value].
fn common_values(body: &ScalarFn, results: Vec<Reg>) -> Vec<Reg> {
    if results.len() < 2 {
        return results;
    }
    let definitions: HashMap<Reg, &Instr> =
        body.instrs.iter().flat_map(|i| i.sets().into_iter().map(move |r| (r, i))).collect();
    let near: Vec<Vec<Reg>> = results.iter().map(|r| near(&definitions, *r)).collect();
    let leads_to = |v: Reg, left: &[usize]| left.iter().copied().filter(|k| near[*k].contains(&v)).collect::<Vec<_>>();
    let mut left: Vec<usize> = (0..results.len()).collect();
    let mut values = vec![];
    while let Some(first) = left.first().copied() {
        let mut all: Vec<_> =
            near[first].iter().map(|v| (*v, leads_to(*v, &left))).filter(|(_, found)| found.len() > 1).collect();
        // The one nearest to the result, of those that lead to as many.
        all.sort_by_key(|(_, found)| Reverse(found.len()));
        let best = all.into_iter().find(|(v, found)| is_worth_storing(body, *v, found.iter().map(|k| results[*k])));
        let (value, found) = best.unwrap_or((results[first], vec![first]));
        if definitions.get(&value).is_none_or(|i| i.sets().len() > 1) {
            return results;
        }
        left.retain(|k| !found.contains(k));
        // It may be what an earlier result is, or what another choice of fewer results led to.
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// The registers outside branches and loops from which few operations lead to a register, itself first.
fn near(definitions: &HashMap<Reg, &Instr>, r: Reg) -> Vec<Reg> {
    let (mut found, mut next) = (vec![r], 0);
    while next < found.len() && found.len() <= LITTLE_WORK {
        if let Some(i @ (Instr::Op1(..) | Instr::Op2(..) | Instr::If { .. })) = definitions.get(&found[next]) {
            i.uses(&mut found);
        }
        next += 1;
    }
    found.retain(|r| definitions.get(r).is_some_and(|i| i.sets().len() == 1));
    found
}

/// Whether much work leads to a value, and little work from there to the results.
fn is_worth_storing(body: &ScalarFn, v: Reg, mut results: impl Iterator<Item = Reg>) -> bool {
    let is_much = |body: &ScalarFn, r: Reg| restricted_to(body, vec![r]).work() > LITTLE_WORK;
    if !is_much(body, v) {
        return false;
    }
    let after = with_read(body, &[v], ArrayId::new(0), SiteId::new(0));
    !results.any(|r| r != v && is_much(&after, r))
}

/// The body that reads these values, which it defined outside branches and loops, at its own index of an array.
fn with_read(body: &ScalarFn, values: &[Reg], array: ArrayId, site: SiteId) -> ScalarFn {
    let mut body = body.clone();
    let index = (0..body.params).map(Reg::new).collect();
    body.instrs.retain(|i| !i.sets().iter().any(|r| values.contains(r)));
    body.instrs.insert(0, Instr::Read { to: values.to_vec(), array, index, site, inside: true });
    body
}

/// Adds the columns of arrays that something uses.
fn used_columns(b: &Block, used: &mut BTreeMap<ArrayId, BTreeSet<usize>>) {
    for (_, c) in b.walk().flat_map(|s| s.op.scalar_fns()) {
        let mut registers: BTreeSet<Reg> = c.results.iter().copied().collect();
        c.instrs.iter().for_each(|i| i.uses(&mut registers));
        columns_read(&c.instrs, &registers, used);
    }
}

fn columns_read(instrs: &[Instr], registers: &BTreeSet<Reg>, used: &mut BTreeMap<ArrayId, BTreeSet<usize>>) {
    for i in walk(instrs) {
        if let Instr::Read { to, array, .. } = i {
            let columns = to.iter().enumerate().filter(|(_, r)| registers.contains(r)).map(|(c, _)| c);
            used.entry(*array).or_default().extend(columns);
        }
    }
}

fn loop_(to: Vec<ArrayId>, extents: &ScalarFn, body: &ScalarFn, results: Vec<Reg>, site: SiteId) -> Stmt {
    Stmt { op: Op::Loop { to, extents: extents.clone(), body: restricted_to(body, results) }, site }
}
