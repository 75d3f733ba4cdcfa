//! The C kernels of each statement, as functions of a task.

use super::shared_kernels::{Member, Shared, renamed};
use super::translation_units::{Function, Head, Name, operation};
use crate::analysis::liveness::{Block, Step};
use crate::c::host::inline::is_inline;
use crate::c::scalar_loops::in_row;
use crate::cost_model::COMPILED;
use crate::shared::accumulate::Accumulate;
use crate::shared::interchanged_reduce::{columns_nest, in_columns};
use crate::shared::permute::Permute;
use crate::shared::row_lanes::lane_monoids;
use crate::shared::scan::{Scan, chains};
use crate::shared::strip::Strip;
use crate::shared::strip_rows;
use crate::shared::tiled_reduce::Tiled;
use crate::shared::ways::{KnownWays, Way, known_ways};
use crate::text::declarations::Declarations;
use crate::text::writer::Writer;
use accel_core::ast::deep;
use accel_fusion::kernel::{ArrayId, LaneFn, Op, Program, Reduction, ScalarFn};
use accel_fusion::optimize::{StridedProduct, by_digits, interior};

/// The functions of all kernels, by statement. The names of statement `n`'s functions contain `n`.
pub fn kernels(
    program: &Program,
    declarations: &mut Declarations,
    body: &Block,
    numbers: bool,
    ways: &KnownWays,
) -> Vec<Vec<Function>> {
    let shared = Shared::new(program, body, numbers);
    let (mut names, mut statements) = (vec![], vec![]);
    for (class, alone) in shared.classes.iter().enumerate() {
        let ways = shared.ways(class, ways);
        let mut own = Kernels::new(&alone.program, declarations, numbers, &ways);
        if let Some(step) = alone.step(body.size + class) {
            own.statement(&step);
        }
        own.functions.iter_mut().for_each(Function::keep);
        names.push(own.functions.iter().filter_map(Function::kernel).collect());
        statements.push(own.functions);
    }
    let mut kernels = Kernels { shared: Some(&shared), names, ..Kernels::new(program, declarations, numbers, ways) };
    kernels.block(body);
    statements.append(&mut kernels.statements);
    statements
}

/// Writes the kernels.
struct Kernels<'a> {
    program: &'a Program,
    /// The statements that share kernels, and the names of these kernels.
    shared: Option<&'a Shared>,
    names: Vec<Vec<Name>>,
    numbers: bool,
    /// The ways of reductions that are written.
    ways: &'a KnownWays,
    declarations: &'a mut Declarations,
    /// The functions of the current statement.
    functions: Vec<Function>,
    /// The functions of the statements before it.
    statements: Vec<Vec<Function>>,
}

impl<'a> Kernels<'a> {
    fn new(program: &'a Program, declarations: &'a mut Declarations, numbers: bool, ways: &'a KnownWays) -> Self {
        let (names, functions, statements) = Default::default();
        Kernels { program, shared: None, names, numbers, ways, declarations, functions, statements }
    }

    fn block(&mut self, b: &Block) {
        for s in b.steps.iter().filter(|s| s.frame.is_none()) {
            match self.shared.and_then(|shared| shared.get(s.number)) {
                Some(member) => {
                    let shared = self.names[member.class].clone();
                    self.like(s, &shared, member);
                }
                None => self.statement(s),
            }
            self.statements.push(std::mem::take(&mut self.functions));
            deep(|| s.blocks.iter().for_each(|b| self.block(b)));
        }
    }

    fn statement(&mut self, s: &Step) {
        match &s.stmt.op {
            Op::Loop { to, extents, body } if !is_inline(&s.stmt.op, self.numbers) && !body.results.is_empty() => {
                let rank = extents.results.len();
                if let Some(function) = self.lane_fn(body).filter(|_| rank > 0) {
                    let name = format!("lanes_{}", s.number);
                    self.inner(s, |w| {
                        w.aliased = s.aliased();
                        w.elements_in_lanes(&name, to, rank, &function)
                    });
                    let row = in_row(&function).map(|of_row| {
                        let name = format!("row_{}", s.number);
                        self.inner(s, |w| {
                            w.aliased = s.aliased();
                            w.elements_in_lanes(&name, to, rank, &of_row)
                        });
                        name
                    });
                    return self.function(s, "", |w| {
                        w.aliased = s.aliased();
                        w.elements_by_lanes(&name, row.as_deref(), to, rank, &function);
                    });
                }
                self.function(s, "", |w| {
                    w.aliased = s.aliased();
                    w.elements(to, extents, body);
                });
            }
            Op::Reduce { to, extents, rows } => self.reduce(s, *to, extents, rows),
            op @ Op::Scan { to, .. } => {
                if let Some(scan) = Scan::new(op) {
                    self.scan(s, *to, &scan)
                }
            }
            Op::Strip { to, len, body } => {
                let strip = Strip::new(self.program, to, len, body);
                self.once(s, "sizes", |w| strip.sizes(w));
                self.function(s, "", |w| strip_rows::body(&strip, w));
                match strip.has_large_totals() {
                    true => self.function(s, "join", |w| strip.join(w)),
                    false => self.cold(s, "join", |w| strip.join(w)),
                }
            }
            Op::Permute { .. } => self.permute(s),
            Op::Accumulate { .. } => self.accumulate(s),
            Op::Literal { .. }
            | Op::Loop { .. }
            | Op::Argsort { .. }
            | Op::Foreign { .. }
            | Op::Reshape { .. }
            | Op::Agree { .. }
            | Op::If { .. }
            | Op::While { .. }
            | Op::Keep { .. }
            | Op::Recall { .. } => {}
        }
    }

    /// The scalar function of a loop, if it is better computed for several elements at a time.
    fn lane_fn<'f>(&self, body: &'f ScalarFn) -> Option<LaneFn<'f>> {
        let of_branches = || LaneFn::of_branches(body, body.param_regs().collect());
        // Branches that the index decides are left out where the index is known.
        let decides = || interior(self.program, body, body.params).is_some() || by_digits(self.program, body).is_some();
        LaneFn::of_loops(body).or_else(|| of_branches().filter(|_| !decides()))
    }

    fn reduce(&mut self, s: &Step, to: ArrayId, extents: &ScalarFn, rows: &Reduction) {
        let (outer, fold) = (extents.results.len(), format!("fold_{}", s.number));
        let (columns, column_part) = (format!("{fold}_columns"), format!("{fold}_column_part"));
        let tile = format!("{fold}_tile");
        let ways = known_ways(self.ways, to);
        let tiled = Tiled::new(self.program, self.declarations.vectors, to, rows);
        let nest = columns_nest(self.program, to, outer, rows);
        if ways.has(Way::Parts) || nest.is_none() && ways.has(Way::Long) {
            self.inner(s, |w| w.fold(&fold, to, outer, rows));
        }
        if ways.has(Way::Parts) {
            self.function(s, "part", |w| w.part(&fold, outer, rows, ""));
            self.cold(s, "join", |w| w.join(to, rows));
        }
        if let Some(tiled) = tiled.as_ref().filter(|_| ways.has(Way::Tiles)) {
            self.function(s, "tile", |w| w.tile(tiled));
        }
        let columns_nest = nest.as_ref().filter(|_| ways.has_any(&[Way::Columns, Way::ColumnParts]));
        if let Some(nest) = columns_nest {
            self.inner(s, |w| w.fold_side_by_side(&columns, to, outer, rows, nest));
        }
        if nest.is_some() && ways.has(Way::ColumnParts) {
            self.function(s, "column_part", |w| w.column_part(&columns, to, outer));
        }
        if ways.has_function("rows") {
            self.function(s, "rows", |w| {
                w.ways = ways;
                tiled.iter().for_each(|tiled| w.in_tiles(&tile, tiled));
                match nest {
                    Some(_) => w.way(Way::Columns, |w| w.fold_columns(&columns, to, outer, rows)),
                    None => w.fold_rows(&fold, to, outer, rows),
                }
            });
        }
        if has_all(self.program, &s.stmt.op) && ways.has_function("all") {
            self.function(s, "all", |w| {
                w.ways = ways;
                if let Some(terms) = StridedProduct::terms_of_rows(outer, rows) {
                    // If there is another way, the library is asked only for what it does better.
                    let slow = match &tiled {
                        _ if terms.len() == 1 => "0".into(),
                        Some(tiled) => tiled.is_impossible(),
                        None => "1".into(),
                    };
                    w.products(to, outer, rows, &terms, &slow);
                }
                tiled.iter().for_each(|tiled| w.all_in_tiles(&tile, tiled));
                match nest {
                    Some(_) => w.in_parts(&column_part, to, rows),
                    None => w.line("return -1;"),
                }
            });
        }
    }

    fn permute(&mut self, s: &Step) {
        let Some(p) = Permute::new(self.program, &s.stmt.op) else { return };
        let name = format!("permute_{}", s.number);
        self.inner(s, |w| w.combine_into(&format!("{name}_into"), &p));
        self.function(s, "", |w| w.scatter(&name, &p));
        if let Some(k) = p.monoid {
            self.function(s, "part", |w| w.private(&name, &p, k));
            self.function(s, "copies", |w| w.combine_copies(&p));
        }
        if p.has_cheap_targets() {
            self.function(s, "range", |w| w.owned(&name, &p));
        }
        if has_all(self.program, &s.stmt.op) {
            self.function(s, "all", |w| {
                if let Some(product) = StridedProduct::of_permute(w.program, &s.stmt.op) {
                    w.added_product(&p, &product);
                }
                w.scatter_all(&name, &p)
            });
        }
    }

    fn accumulate(&mut self, s: &Step) {
        let Some(a) = Accumulate::new(&s.stmt.op) else { return };
        let name = format!("accumulate_{}", s.number);
        self.inner(s, |w| {
            w.aliased = s.aliased();
            w.add_into(&format!("{name}_into"), &a)
        });
        self.function(s, "", |w| w.add_in_order(&name, &a));
        self.function(s, "part", |w| w.accumulate_part(&name, &a));
        self.function(s, "copies", |w| w.add_copies(&a));
        self.function(s, "all", |w| w.accumulate_all(&name, &a));
    }

    fn scan(&mut self, s: &Step, to: ArrayId, scan: &Scan) {
        let name = format!("scan_{}", s.number);
        let ways = known_ways(self.ways, to);
        let has_chains = chains(scan.rows) > 1;
        if ways.has(Way::Long) || !has_chains || lane_monoids(scan.rows).is_some() {
            self.inner(s, |w| w.scan(&name, scan));
        }
        if ways.has(Way::Long) && scan.in_blocks() {
            let block = format!("{name}_block");
            self.inner(s, |w| w.scan_block(&block, scan));
            self.function(s, "rows", |w| w.scan_blocks(&block, scan));
            if ways.has(Way::Large) {
                self.function(s, "all", |w| w.scan_all_blocks(&format!("{name}_rows")));
            }
        } else if ways.has(Way::Long) {
            self.function(s, "rows", |w| w.scan_rows(&name, scan));
        }
        if !ways.has(Way::Parts) {
            return;
        }
        self.cold(s, "carry", |w| w.carry(scan));
        if has_chains {
            let chains = format!("{name}_chains");
            self.inner(s, |w| w.scan_chains(&chains, scan));
            self.function(s, "part", |w| match lane_monoids(scan.rows) {
                Some(_) => w.lanes_of_chains(&name, scan),
                None => w.chains_of_part(&chains, scan, false),
            });
            self.function(s, "write", |w| w.chains_of_part(&chains, scan, true));
        } else {
            self.function(s, "part", |w| w.part(&name, scan.outer, scan.rows, scan.total_arguments()));
            self.function(s, "write", |w| w.write_part(&name, scan));
        }
    }

    /// Writes a function that kernels call. `body` writes it and returns its head.
    fn inner(&mut self, s: &Step, body: impl FnOnce(&mut Writer) -> String) {
        self.add(s, |w| Head::Own(body(w)));
    }

    fn function(&mut self, s: &Step, role: &'static str, body: impl FnOnce(&mut Writer)) {
        self.kernel(s, "", role, body);
    }

    /// Writes a function that runs once per row. It need not be fast, and optimising it would cost time.
    fn cold(&mut self, s: &Step, role: &'static str, body: impl FnOnce(&mut Writer)) {
        self.kernel(s, "__attribute__((cold)) ", role, body);
    }

    /// Writes a function that runs once, without loops: optimising it would take longer than running it.
    fn once(&mut self, s: &Step, role: &'static str, body: impl FnOnce(&mut Writer)) {
        self.kernel(s, AS_IT_IS, role, body);
    }

    /// Writes a function of a task, with an attribute.
    fn kernel(&mut self, s: &Step, attribute: &'static str, role: &'static str, body: impl FnOnce(&mut Writer)) {
        let name = Name { operation: operation(&s.stmt.op).unwrap_or_default(), number: s.number, role };
        self.add(s, |w| {
            body(w);
            Head::Kernel { attribute, name }
        });
    }

    /// Writes the kernels of a statement that shares them with others. Each kernel calls the shared one with the arrays
    /// of this statement, and puts its own sites and arrays into the record of a fault.
    fn like(&mut self, s: &Step, shared: &[Name], member: &Member) {
        let list = |all: &mut dyn Iterator<Item = String>| all.collect::<Vec<_>>().join(", ");
        let constants = list(&mut member.constants.iter().map(|n| n.to_string()));
        let constants = (!constants.is_empty()).then(|| format!("{{ (const i64[]){{ {constants} }}, 0 }}"));
        let table = list(&mut member.arrays.iter().map(|a| format!("arrays[{a}]")).chain(constants));
        let sites = list(&mut member.sites.iter().map(|s| s.to_string()));
        let arrays = list(&mut member.arrays.iter().map(|a| a.to_string()));
        for name in shared {
            self.kernel(s, "", name.role, |w| {
                w.line(format!("const array of_statement[] = {{ {table} }};"));
                let call = format!("{name}(of_statement, task, fault)");
                if !member.can_fail {
                    return w.line(format!("return {call};"));
                }
                w.declarations.declare_once("renamed", renamed);
                w.declarations.fails = true;
                w.line(format!("const int result = {call};"));
                w.line("if (__builtin_expect(result != 1, 1)) return result;");
                w.line(format!("static const i64 sites[] = {{ {sites} }}, names[] = {{ {arrays} }};"));
                w.line("renamed(fault, sites, names);");
                w.line("return 1;");
            });
        }
    }

    fn add(&mut self, s: &Step, body: impl FnOnce(&mut Writer) -> Head) {
        let mut w = Writer::new(self.program, self.declarations, s.stmt.site);
        let head = body(&mut w);
        let body = w.finish();
        // The time of C compilers grows with the square of the size of a function, most of it for optimisation.
        let level = if body.lines().count() < COMPILED { "" } else { AS_IT_IS };
        self.functions.push(Function { head, level, body });
    }
}

/// The attribute of a function that is not optimised.
const AS_IT_IS: &str = "__attribute__((optimize(\"O0\"))) ";

/// Whether a statement has a kernel that can execute all of it, with several threads if this is faster. It returns 0 if
/// it did so, 1 with a record, and -1 if it did nothing because the other kernels are better. Its task has all rows, or
/// all source elements.
pub fn has_all(program: &Program, op: &Op) -> bool {
    match op {
        Op::Reduce { to, extents, rows } => {
            in_columns(extents.results.len(), rows)
                || StridedProduct::terms_of_rows(extents.results.len(), rows).is_some()
                || Tiled::applies(program, *to, rows)
        }
        Op::Scan { .. } => Scan::new(op).is_some_and(|scan| scan.in_blocks()),
        Op::Permute { .. } => Permute::new(program, op).is_some_and(|p| p.monoid.is_some() || p.has_cheap_targets()),
        _ => false,
    }
}
