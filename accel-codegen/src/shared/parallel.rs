//! Calls of the thread pool in kernels.

use crate::text::writer::Writer;

impl Writer<'_> {
    /// Calls `function` for the first `count` of `tasks`, in parallel. `result` becomes 1 if a task fails; the record
    /// is then that task's.
    pub fn parallel(&mut self, function: &str, tasks: &str, count: &str) {
        self.declarations.declare_once("accel_threads", || "i64 (*accel_threads)(void);".into());
        self.declarations.declare_once("accel_parallel", || {
            "int (*accel_parallel)(function *, const array *, const task *, i64 count, i64 *fault, i64 length);".into()
        });
        let length = self.declarations.record_length;
        self.line(format!("result = accel_parallel({function}, arrays, {tasks}, {count}, fault, {length});"));
    }
}
