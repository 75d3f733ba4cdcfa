//! Strides of the operands of a contraction.

use crate::text::writer::Writer;
use accel_fusion::kernel::Operand;

impl Writer<'_> {
    /// The distance in memory between elements at consecutive values of parameter `p`.
    pub fn stride(&self, o: &Operand, p: usize) -> String {
        let rank = o.index.len();
        let one = |dim: usize| {
            let inner: String = (dim + 1..rank).map(|k| format!(" * a{}_n{k}", o.array)).collect();
            format!("1{inner}")
        };
        let all: Vec<String> = (0..rank).filter(|dim| o.index[*dim] == p).map(one).collect();
        if all.is_empty() { "0".into() } else { all.join(" + ") }
    }
}
