//! Checks at run time, and the fault record that a function writes when one fails.

use super::writer::{Scope, Writer};
use crate::analysis::fault::SHORT;
use accel_fusion::kernel::{Reg, SiteId};

impl Writer<'_> {
    /// If `condition` holds, writes a record and returns. If several elements are computed at a time, the caller finds
    /// out which of them fails: it computes them again, one after the other.
    pub fn fault(&mut self, condition: &str, kind: i64, site: SiteId, what: usize, index: &[String]) {
        match self.scope {
            Scope::Element => {}
            Scope::Lanes => return self.line(format!("if ({condition}) {}", self.give_up())),
            Scope::Lane => return self.line(format!("bad |= {condition};")),
        }
        let is_short = 3 + index.len() > self.declarations.record_length;
        debug_assert!(!is_short, "a record of kind {kind} with {} numbers", index.len());
        let (kind, what, index) = if is_short { (SHORT, kind as usize, &[][..]) } else { (kind, what, index) };
        let (name, dialect) = (format!("fault{}", index.len()), self.dialect());
        self.declarations.fails = true;
        self.declarations.declare_once(&name, || {
            let params: String = (0..index.len()).map(|k| format!(", i64 i{k}")).collect();
            let stores: String = (0..index.len()).map(|k| format!(" fault[{}] = i{k};", k + 3)).collect();
            dialect.fault_function(&name, &params, &stores)
        });
        let index: String = index.iter().map(|i| format!(", {i}")).collect();
        let condition = dialect.unlikely(condition);
        self.line(format!("if ({condition}) return {name}(fault, {kind}, {site}, {what}{index});"));
    }

    /// Gives up computing several elements at a time: NOTE [Lanes of scalar functions] in [`accel_fusion::kernel::LaneFn`].
    pub fn give_up(&self) -> &'static str {
        // In a strip, this is inside a loop that is executed once.
        if self.lanes.position == Reg::NONE { "return -1;" } else { "break;" }
    }
}
