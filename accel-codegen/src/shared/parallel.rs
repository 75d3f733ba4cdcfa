//! Calls of the thread pool from kernels.

use crate::analysis::fault::record_length;
use crate::text::writer::Writer;

impl Writer<'_> {
    /// Calls `function` for the first `count` of `tasks`, at the same time; `result` becomes 1 if one fails, with its record.
    pub fn parallel(&mut self, function: &str, tasks: &str, count: &str) {
        self.declarations.need("accel_threads", || "i64 (*accel_threads)(void);".into());
        self.declarations.need("accel_parallel", || {
            "int (*accel_parallel)(function *, const array *, const task *, i64 count, i64 *fault, i64 length);".into()
        });
        let length = record_length(self.program);
        self.line(format!("result = accel_parallel({function}, arrays, {tasks}, {count}, fault, {length});"));
    }
}
