//! A function of the C library in a program, with a rule for its derivative.
//!
//! ```sh
//! cargo run --release --example foreign
//! ```

use accel::prelude::*;

// In `libm`: the gamma function, which the language has only as its logarithm.
unsafe extern "C" {
    safe fn tgamma(x: f64) -> f64;
}

fn main() -> Result<(), Error> {
    let values = foreign(
        "tgamma",
        |x: Vector<f64>| Ok::<_, Error>(Array::vector(x.iter().map(|x| tgamma(x)).collect())),
        |x| x.len(),
    );
    // Γ' = Γ ψ
    let gamma = custom_vjp(&values, |x: Acc<Vector<f64>>, y, dy| dy * y * x.digamma());
    let total = afun(|x: Acc<Vector<f64>>| sum(call(&gamma, x)));

    let x = Array::vector(vec![0.5, 1.0, 4.0]);
    println!("Γ(x):  {:?}", run(&gamma, &x)?.to_vec());
    println!("Γ'(x): {:?}", run(grad(&total), &x)?.to_vec());
    println!("{}", check_grad(&total, &x)?);
    Ok(())
}
