//! Elementwise loops whose scalar functions have loops, or branches with functions that have versions for vectors: a vector of
//! elements at a time, see NOTE [Lanes of scalar functions].

use crate::cost_model::{FEW_ELEMENTS, L2, LANES, LEAVING};
use crate::shared::lane_code::{Output, mask_name};
use crate::text::names::{elements, index};
use crate::text::writer::Writer;
use accel_fusion::kernel::{ArrayId, Instr, LaneFn, Reg};

impl Writer<'_> {
    /// Writes the function that computes the elements of the arrays `to` at `width` positions from `p` on, up to
    /// `LANES`, or up to `LEAVING` if they leave. It returns -1 if an element fails or lists get too long; then it has computed nothing. Returns its first line.
    pub fn elements_in_lanes(&mut self, name: &str, to: &[ArrayId], rank: usize, function: &LaneFn) -> String {
        self.hoist(&[function.code]);
        to.iter().for_each(|a| self.hoist_output(*a, false));
        self.index_of(rank, "p");
        self.leaving = leave(function);
        let most = self.most_lanes();
        for k in 0..rank {
            self.line(format!("i64 c{k}[{most}];"));
        }
        let (some, place, mask) = match function.leaving().filter(|_| self.leaving) {
            Some((_, Instr::While { continues, .. }, _)) => {
                ("width".into(), "p + place[l]", format!("!{}[l]", mask_name(*continues)))
            }
            _ => (LANES.to_string(), "p + l", "l < width".into()),
        };
        self.braces(&format!("for (int l = 0; l < {some}; l++)"), |w| {
            (0..rank).for_each(|k| w.line(format!("c{k}[l] = i{k};")));
            w.braces("if (l + 1 < width)", |w| w.next_index(rank));
        });
        if self.leaving {
            self.line("i64 some = width;");
            self.line(format!("i64 place[{most}];"));
            self.line(format!("{} place[l] = l;", self.lane()));
        }
        let places = to.iter().flat_map(|a| elements(*a, self.columns(*a).len(), place));
        let result = |(place, value): (String, &Reg)| Output { place, value: *value, mask: Some(mask.clone()) };
        let results = places.zip(&function.code.results).map(result).collect();
        self.function_in_lanes(function, results);
        self.leaving = false;
        format!("static int {name}(const array *arrays, const task *task, i64 *fault, i64 p, i64 width)")
    }

    /// Computes the elements of the arrays `to` at the task's positions with the function `name` for a vector of them.
    pub fn elements_by_lanes(&mut self, name: &str, to: &[ArrayId], rank: usize, function: &LaneFn) {
        let (body, most) = (function.code, if leave(function) { LEAVING } else { LANES });
        self.hoist(&[body]);
        to.iter().for_each(|a| self.hoist_output(*a, false));
        self.line("const i64 to = task->to;");
        self.line("i64 p = task->from;");
        self.braces(&format!("while (to - p >= {FEW_ELEMENTS})"), |w| {
            w.line(format!("const i64 width = to - p < {most} ? to - p : {most};"));
            w.line(format!("const int failed = {name}(arrays, task, fault, p, width);"));
            w.line("if (failed > 0) return 1;");
            w.line("if (failed) break;");
            w.line("p += width;");
        });
        let results: Vec<_> = to.iter().flat_map(|a| elements(*a, self.columns(*a).len(), "p")).collect();
        self.rest_in_order(rank, |w| w.code(body, &index(rank), &results));
    }
}

/// Whether lanes leave: NOTE [Lanes that leave]. What they keep must stay in the caches.
fn leave(function: &LaneFn) -> bool {
    function.leaving().is_some() && function.kept.len() * LEAVING * 8 <= L2 / 2
}
