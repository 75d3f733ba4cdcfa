//! Elements of a row at an edge: NOTE [Row selections] in `accel_fusion`.
//!
//! NOTE [Masks]: C compilers move a comparison into the selections that use it, even if it is the same for the whole row. If it
//! compares numbers of another size than those that are selected, they find no vector instruction, and give up the vectors of
//! the loop. A mask, whose bits are all ones or all zeros, is an integer like others. It is computed before the loop.

use crate::text::names::index;
use crate::text::types::bytes;
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{Instr, Reg, ScalarFn};
use accel_fusion::optimize::RowSelections;
use std::collections::BTreeSet;

impl Writer<'_> {
    /// Computes the elements of a row from `p` to `stop`. What they have in common is computed once.
    pub fn selected_row(
        &mut self,
        stop: &str,
        rank: usize,
        independent: bool,
        selections: &RowSelections,
        results: &[String],
    ) {
        let (code, last) = (&selections.code, rank - 1);
        let of_row = |i: &&Instr| !i.sets().iter().any(|r| selections.varying[*r]);
        let (common, own): (Vec<&Instr>, Vec<&Instr>) = code.instrs.iter().partition(of_row);
        for (d, i) in index(last).iter().enumerate() {
            self.line(format!("const i64 r{d} = {i};"));
        }
        common.iter().for_each(|i| self.instr(code, i));
        if self.dialect().has_tables() {
            self.declare_masks(code, &own, selections);
        }
        self.row_to(stop, rank, independent, |w| {
            w.line(format!("const i64 r{last} = i{last};"));
            for i in own {
                match i {
                    Instr::If { cond, merge, .. } if w.has_masks(i, code, selections) => {
                        for (to, a, b) in merge {
                            let t = code.types[*to];
                            w.line(format!("const {t} r{to} = select_{t}(m{cond}_{}, r{a}, r{b});", bytes(t)));
                        }
                    }
                    i => w.instr(code, i),
                }
            }
            for (to, r) in results.iter().zip(&code.results) {
                w.line(format!("{to} = r{r};"));
            }
        });
    }

    /// Whether an instruction selects by a mask.
    fn has_masks(&self, i: &Instr, code: &ScalarFn, selections: &RowSelections) -> bool {
        let Instr::If { cond, merge, .. } = i else { return false };
        let has_mask = |t: ScalarType| t != ScalarType::Bool && bytes(t) >= 4;
        self.dialect().has_tables()
            && i.is_selection()
            && !selections.varying[*cond]
            && merge.iter().all(|(to, ..)| has_mask(code.types[*to]))
    }

    fn declare_masks(&mut self, code: &ScalarFn, own: &[&Instr], selections: &RowSelections) {
        let mut masks: BTreeSet<(Reg, u32)> = BTreeSet::new();
        for i in own {
            let Instr::If { cond, merge, .. } = i else { continue };
            if !self.has_masks(i, code, selections) {
                continue;
            }
            for (to, ..) in merge {
                let t = code.types[*to];
                masks.insert((*cond, bytes(t)));
                self.declarations.declare_once(&format!("select_{t}"), || {
                    let bits = bytes(t) * 8;
                    format!(
                        "static inline {t} select_{t}(u{bits} mask, {t} a, {t} b) {{ \
                         union {{ {t} x; u{bits} bits; }} one = {{ a }}, other = {{ b }}; \
                         one.bits = (one.bits & mask) | (other.bits & ~mask); return one.x; }}"
                    )
                });
            }
        }
        for (cond, bytes) in masks {
            let bits = bytes * 8;
            self.line(format!("const u{bits} m{cond}_{bytes} = -(u{bits})r{cond};"));
        }
    }
}
