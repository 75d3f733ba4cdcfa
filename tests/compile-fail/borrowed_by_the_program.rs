//! A program uses the values in its closures while it is written, and does not keep them: a closure that captures by
//! reference is accepted, but a value moved into a closure is gone.

use accel::prelude::*;

fn main() {
    let table = Array::vector(vec![1.0, 2.0]);
    let prog = afun(move |xs: Acc<Vector<i64>>| gather(xs, use_(&table)));
    let _ = run(&prog, &Array::vector(vec![0]));
    println!("{table}");
}
