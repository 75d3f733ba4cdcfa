//! Programs of numbers: `int accel_call(const scalar *given, scalar *found)`.
//!
//! NOTE [Programs of numbers]
//! A program in which every array has rank 0 is a function of numbers, and one of a few operations takes less time than its tables do. So
//! there is a second way into a program that consists of scalar code only: it takes the scalars of the arguments, sets those
//! of the results, whose types are there already, and has everything else on the stack, where the compiler sees through the tables. It returns
//! 1 where the program fails; what has failed is told by `accel_run`.

use super::writer::Host;
use crate::analysis::fault::record_length;
use accel_fusion::kernel::ArrayId;
use std::fmt::Write;

impl Host<'_> {
    /// Adds the function for such a program, and `accel_run`. Both call `program`.
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
        let (addresses, length) = (addresses.join(", "), record_length(program));
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
