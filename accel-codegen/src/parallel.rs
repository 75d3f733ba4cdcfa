//! Generated code that runs tasks in parallel by itself.

use crate::code::Writer;
use crate::fault::record_length;

impl Writer<'_> {
    /// In C, `job` is the type of a task: functions have a parameter `task`.
    /// Calls `function` for the first `count` of `tasks`, at the same time; `result` becomes 1 if one fails, with its record.
    pub fn parallel(&mut self, function: &str, tasks: &str, count: &str) {
        self.declarations.need("accel_threads", || "i64 (*accel_threads)(void);".into());
        self.declarations.need("accel_parallel", || {
            "typedef task job;\n\
             int (*accel_parallel)(int (*)(const array *, const task *, i64 *), const array *, const task *, i64, i64 *, i64);".into()
        });
        let length = record_length(self.program);
        self.line(format!("result = accel_parallel({function}, arrays, {tasks}, {count}, fault, {length});"));
    }
}
