//! Tiled reductions: NOTE [Tiled sums] in [`crate::nest::tiled_sums`].

use super::ways::Way;
use crate::cost_model::TASKS;
use crate::nest::applied::applied;
use crate::nest::edit::Why;
use crate::nest::ir::Nest;
use crate::nest::lower::reduce::TiledSum;
use crate::nest::strip_sums::Machine;
use crate::nest::tiled_sums::{ROWS, least, tiled_sum};
use crate::nest::verify::verify;
use crate::text::names::names;
use crate::text::registers::Vectors;
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Program, Reduction};

/// A reduction in tiles.
pub struct Tiled<'a> {
    to: ArrayId,
    rows: &'a Reduction,
    rank: usize,
    nest: Nest,
    t: ScalarType,
    least: i64,
}

impl<'a> Tiled<'a> {
    /// The reduction, if it can be executed in tiles.
    pub fn new(program: &Program, vectors: Vectors, to: ArrayId, rows: &'a Reduction) -> Option<Tiled<'a>> {
        let sum = TiledSum::new(program, to, rows)?;
        let machine = Machine::new(vectors, sum.t);
        let nest = tiled_sum(&sum, machine).and_then(|nest| verify(&nest).map_err(Why).map(|()| nest));
        let nest = applied("tiles", nest)?;
        Some(Tiled { to, rows, rank: sum.rank(), nest, t: sum.t, least: least(machine) })
    }

    /// The condition that the result is too narrow for tiles.
    pub fn is_impossible(&self) -> String {
        format!("{} < {}", self.width(), self.least)
    }

    /// The innermost extent of the result of a task.
    fn width(&self) -> String {
        format!("task->extents[{}]", self.rank - 1)
    }

    /// The least innermost extent of a result that is wide enough for tiles.
    pub fn least(&self) -> i64 {
        self.least
    }

    /// The condition that the result of a task is wide enough for tiles.
    fn is_possible(&self) -> String {
        format!("{} >= {}", self.width(), self.least)
    }

    /// Whether a reduction can be executed in tiles.
    pub fn applies(program: &Program, to: ArrayId, rows: &Reduction) -> bool {
        TiledSum::new(program, to, rows).is_some()
    }
}

impl Writer<'_> {
    /// Reduces the rows from `task->from` to `task->to`, positions in the outermost dimension of the result.
    pub fn tile(&mut self, tiled: &Tiled) {
        let types = self.columns(tiled.to);
        self.initial(&names("z", &types), &types, tiled.rows, &[&tiled.rows.element]);
        self.hoist_output(tiled.to, false);
        self.loop_nest(&tiled.nest, tiled.t);
    }

    /// Executes all of a small reduction in tiles, and returns. Otherwise execution continues after it.
    pub fn in_tiles(&mut self, function: &str, tiled: &Tiled) {
        let all = (0..tiled.rank).map(|d| format!("task->extents[{d}]")).collect::<Vec<_>>().join(" * ");
        let head = format!("if ({} && task->from == 0 && task->to == {all})", tiled.is_possible());
        self.braces(&head, |w| {
            w.way(Way::Tiles, |w| {
                w.line("const job all = { 0, task->extents[0], 0, 0, task->len, task->extents, 0 };");
                w.line(format!("return {function}(arrays, &all, fault);"));
            });
        });
    }

    /// Executes all of a large reduction in tiles, in parallel, and returns. Otherwise execution continues after it.
    pub fn all_in_tiles(&mut self, function: &str, tiled: &Tiled) {
        self.braces(&format!("if ({} && task->extents[0] > 1)", tiled.is_possible()), |w| {
            if !w.ways.has(Way::Tiles) {
                return w.line("return no_way(arrays, task, fault);");
            }
            w.line("const i64 rows = task->extents[0];");
            let tasks = TASKS as i64 * ROWS;
            w.line(format!("const i64 size = (rows + {}) / {tasks} * {ROWS};", tasks - 1));
            w.line(format!("job jobs[{TASKS}];"));
            w.line("i64 count = 0;");
            w.braces("for (i64 from = 0; from < rows; from += size)", |w| {
                w.line("const i64 to = from + size < rows ? from + size : rows;");
                w.line("jobs[count++] = (job){ from, to, 0, 0, task->len, task->extents, 0 };");
            });
            w.line("int result;");
            w.parallel(function, "jobs", "count");
            w.line("return result;");
        });
    }
}
