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
        let [last, uniform] = [rank - 1, 0].map(Reg::new);
        if !function.varying.contains(&uniform) {
            return self.elements_in_row(name, to, last, function);
        }
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
        first_line(name)
    }

    /// The same for `LANES` elements of one row: NOTE [Lanes of a row]. `last` is the index in the row.
    fn elements_in_row(&mut self, name: &str, to: &[ArrayId], last: Reg, function: &LaneFn) -> String {
        function.code.param_regs().filter(|r| *r != last).for_each(|r| self.line(format!("const i64 r{r} = i{r};")));
        // An array, as for any lanes: compilers gather elements by numbers in memory, but not by the numbers of the lanes themselves.
        self.line(format!("i64 c{last}[{LANES}];"));
        self.line(format!("{} c{last}[l] = i{last} + l;", self.lane()));
        let places = to.iter().flat_map(|a| elements(*a, self.columns(*a).len(), "p + l"));
        let result = |(place, value): (String, &Reg)| Output { place, value: *value, mask: None };
        let results = places.zip(&function.code.results).map(result).collect();
        self.function_in_lanes(function, results);
        first_line(name)
    }

    /// Computes the elements of the arrays `to` at the task's positions with the function `name` for a vector of them, and with the
    /// function `row`, if there is one, where they lie in one row.
    pub fn elements_by_lanes(&mut self, name: &str, row: Option<&str>, to: &[ArrayId], rank: usize, function: &LaneFn) {
        let (body, most) = (function.code, if leave(function) { LEAVING } else { LANES });
        self.hoist(&[body]);
        to.iter().for_each(|a| self.hoist_output(*a, false));
        self.line("const i64 to = task->to;");
        self.line("i64 p = task->from;");
        self.braces(&format!("while (to - p >= {FEW_ELEMENTS})"), |w| {
            w.line(format!("const i64 width = to - p < {most} ? to - p : {most};"));
            let call = |name| format!("{name}(arrays, task, fault, p, width)");
            match row {
                None => w.line(format!("const int failed = {};", call(name))),
                Some(row) => {
                    w.line(format!("const i64 n = task->extents[{}];", rank - 1));
                    w.line(format!("const bool in_row = width == {LANES} && n - p % n >= {LANES};"));
                    w.line(format!("const int failed = in_row ? {} : {};", call(row), call(name)));
                }
            }
            w.line("if (failed > 0) return 1;");
            w.line("if (failed) break;");
            w.line("p += width;");
        });
        let results: Vec<_> = to.iter().flat_map(|a| elements(*a, self.columns(*a).len(), "p")).collect();
        self.rest_in_order(rank, |w| w.code(body, &index(rank), &results));
    }
}

/// The first line of a function that computes the elements at `width` positions from `p` on.
fn first_line(name: &str) -> String {
    format!("static int {name}(const array *arrays, const task *task, i64 *fault, i64 p, i64 width)")
}

/// The function for elements of one row, if they share what they read, and do not leave.
pub fn in_row<'a>(function: &LaneFn<'a>) -> Option<LaneFn<'a>> {
    if leave(function) { None } else { function.in_row() }
}

/// Whether lanes leave: NOTE [Lanes that leave]. What they keep must stay in the caches.
fn leave(function: &LaneFn) -> bool {
    function.leaving().is_some() && function.kept.len() * LEAVING * 8 <= L2 / 2
}
