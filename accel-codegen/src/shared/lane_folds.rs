//! Reductions of a row in each lane: 32 rows take each step together.

use crate::cost_model::LANES;
use crate::text::names::names;
use crate::text::types::in_memory;
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::Reduction;

impl Writer<'_> {
    /// Reduces a row for every lane `l`. `element` is the index of the element at a position of the row, `z` are the names of
    /// the initial value, and `length` is that of the rows. Returns the names of the results.
    pub fn fold_lanes(
        &mut self,
        types: &[ScalarType],
        rows: &Reduction,
        element: impl Fn(&str) -> Vec<String>,
        z: &[String],
        length: &str,
    ) -> Vec<String> {
        let (y, x) = (names("y", types), names("x", types));
        self.declare_lanes(&y, types);
        let lane: Vec<_> = y.iter().map(|y| format!("{y}[l]")).collect();
        match rows.init {
            Some(_) => self.braces(self.lane(), |w| w.assign(&lane, z)),
            None => self.each_lane(&rows.element, &element("0"), &lane),
        }
        self.braces(&format!("for (i64 k = {}; k < {length}; k++)", rows.init.is_none() as u8), |w| {
            w.elements_of_lanes(rows, &element("k"), |w| {
                w.code(&rows.op, &[lane.clone(), x.clone()].concat(), &lane);
            });
        });
        lane
    }

    /// Executes `then` for every lane, with the columns of the element at an index in `x0`, `x1`, …
    pub fn elements_of_lanes(&mut self, rows: &Reduction, index: &[String], then: impl FnOnce(&mut Self)) {
        let types: Vec<_> = rows.element.results.iter().map(|r| rows.element.types[*r]).collect();
        let x = names("x", &types);
        if self.lane_fn(&rows.element).is_none() {
            return self.braces(self.lane(), |w| {
                w.declare(&x, &types);
                w.code(&rows.element, index, &x);
                then(w);
            });
        }
        let all = names("v", &types);
        self.declare_lanes(&all, &types);
        self.each_lane(&rows.element, index, &all.iter().map(|v| format!("{v}[l]")).collect::<Vec<_>>());
        self.braces(self.lane(), |w| {
            x.iter().zip(&all).zip(&types).for_each(|((x, v), t)| w.line(format!("const {t} {x} = {v}[l];")));
            then(w);
        });
    }

    /// Declares a number for every lane.
    pub fn declare_lanes(&mut self, names: &[String], types: &[ScalarType]) {
        names.iter().zip(types).for_each(|(name, t)| self.line(format!("{} {name}[{LANES}];", in_memory(*t))));
    }
}
