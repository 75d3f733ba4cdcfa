//! What a program is made of is used while it is written and not kept: a closure that captures by reference is fine, a
//! value moved into one is gone.

use accel::prelude::*;

fn main() {
    let table = Array::vector(vec![1.0, 2.0]);
    let prog = afun(move |xs: Acc<Vector<i64>>| gather(xs, use_(&table)));
    let _ = run(&prog, &Array::vector(vec![0]));
    println!("{table}");
}
