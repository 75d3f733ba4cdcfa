//! The entry point of scalar programs: `int accel_call(const scalar *given, scalar *found)`.
//!
//! NOTE [Scalar programs]: a program in which every array has rank 0 is a function of scalars. If it has only a few
//! operations, these take less time than the tables of a run. So a program that consists only of scalar code has a
//! second entry point. It takes the scalars of the arguments, and sets those of the results, whose types are set before
//! the call. Everything else is on the stack, where the C compiler removes the tables. It returns 1 if the program
//! fails; `accel_run` then finds out why.

use super::writer::Host;
use accel_fusion::kernel::ArrayId;
use std::fmt::Write;

impl Host<'_> {
    /// Adds this entry point and `accel_run`, both of which call `program`.
    pub fn call(&mut self) {
        let program = self.w.program;
        let types = program.arrays.iter().flat_map(|a| &a.columns);
        let cells: String = types.enumerate().map(|(c, t)| format!("    {t} c{c};\n")).collect();
        let addresses: Vec<_> = (0..self.layout.column_count).map(|c| format!("&c{c}")).collect();
        let copies = |arrays: &[ArrayId], copy: fn(usize, usize) -> String| -> String {
            arrays.iter().flat_map(|a| self.columns(*a)).enumerate().map(|(k, c)| copy(k, c)).collect()
        };
        let given =
            copies(&program.inputs, |k, c| format!("    __builtin_memcpy(&c{c}, &given[{k}].value, sizeof c{c});\n"));
        let found =
            copies(&program.results, |k, c| format!("    __builtin_memcpy(&found[{k}].value, &c{c}, sizeof c{c});\n"));
        let (addresses, length) = (addresses.join(", "), self.w.declarations.record_length);
        let _ = write!(
            self.functions,
            "
typedef struct {{ u64 type; u64 value; }} scalar;
int accel_call(const scalar *given, scalar *found) {{
{cells}    void *columns[] = {{ {addresses} }};
    i64 fault[{length}];
    run r = {{ .columns = columns, .fault = fault }};
{given}    if (program(&r)) return 1;
{found}    return 0;
}}

int accel_run(run *r) {{
    return program(r);
}}
"
        );
    }
}
