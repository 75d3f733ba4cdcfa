//! Checks at run time, and the fault record that a function writes when one fails.

use super::writer::{Scope, Writer};
use accel_fusion::kernel::SiteId;

impl Writer<'_> {
    /// If `condition` holds, writes a record and returns. If several elements are computed at a time, the caller finds
    /// out which of them fails: it computes them again, one after the other.
    pub fn fault(&mut self, condition: &str, kind: i64, site: SiteId, what: usize, index: &[String]) {
        match self.scope {
            Scope::Element => {}
            Scope::Lanes => return self.line(format!("if ({condition}) return -1;")),
            Scope::Lane => return self.line(format!("bad |= {condition};")),
        }
        let (name, opencl) = (format!("fault{}", index.len()), self.is_opencl());
        self.declarations.fails = true;
        self.declarations.declare_once(&name, || {
            let params: String = (0..index.len()).map(|k| format!(", i64 i{k}")).collect();
            let stores: String = (0..index.len()).map(|k| format!(" fault[{}] = i{k};", k + 3)).collect();
            if opencl {
                return format!(
                    "static int {name}(global i64 *fault, i64 kind, i64 site, i64 what{params}) {{\n    \
                     if (atomic_cmpxchg((volatile global int *)fault, 0, (int)kind) != 0) return 1;\n    \
                     fault[1] = site; fault[2] = what;{stores}\n    return 1;\n}}"
                );
            }
            format!(
                "static __attribute__((cold, noinline)) int {name}(i64 *fault, i64 kind, i64 site, i64 what{params}) \
                 {{ fault[0] = kind; fault[1] = site; fault[2] = what;{stores} return 1; }}"
            )
        });
        let index: String = index.iter().map(|i| format!(", {i}")).collect();
        let condition = self.dialect().unlikely(condition);
        self.line(format!("if ({condition}) return {name}(fault, {kind}, {site}, {what}{index});"));
    }
}
