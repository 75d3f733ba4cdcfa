//! Convolutions that are sums of matrix products, and their gradients, compared with the interpreter. Those by the image add
//! products to results that meet: NOTE [Products that meet] in `accel-native/src/product/shape.rs`.

#[path = "../../benches/programs/convolution.rs"]
mod convolution;

use crate::support::agree::{CLOSE, compare};
use accel::interp::Interpreter;
use accel::prelude::*;
use convolution::{Four, formula, matrix_of_patches, nine_products, places_written_out};

type Images = Array<Dim4, f64>;
type Convolution = fn(Four<f64>, Four<f64>) -> Four<f64>;

fn numbers(extents: [usize; 4], seed: u64) -> Images {
    let mut state = seed;
    let mut number = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    };
    let size = extents.iter().product();
    Array::from_vec(extents, (0..size).map(|_| number()).collect()).expect("as many numbers as the extents say")
}

/// Images of these extents and as many channels of results.
fn arguments([images, rows, columns, channels]: [usize; 4], outputs: usize) -> (Images, Images) {
    (numbers([images, rows, columns, channels], 1), numbers([3, 3, channels, outputs], 2))
}

fn gradient(of: Convolution) -> Afun<(Images, Images), (Scalar<f64>, (Images, Images))> {
    let loss = afun(move |xs, weights| sum_all(map(|y: Exp<f64>| y * y, of(xs, weights))));
    value_and_grad(&loss)
}

/// Small products, products of the library, and many of them, in threads.
#[test]
fn gradients_are_those_of_the_interpreter() {
    const SMALL: [([usize; 4], usize); 3] = [([2, 10, 10, 4], 5), ([40, 5, 6, 3], 2), ([1, 4, 30, 8], 8)];
    const LARGE: [([usize; 4], usize); 2] = [([2, 12, 20, 9], 7), ([3, 40, 21, 5], 6)];
    let forms: [(Convolution, &[_]); 4] = [
        (formula, &[&SMALL[..], &LARGE].concat()),
        (matrix_of_patches, &SMALL),
        (nine_products, &SMALL),
        (places_written_out, &SMALL),
    ];
    for (of, extents) in forms {
        let native = compile(gradient(of)).expect("a program");
        let meaning = compile_on(&Interpreter, gradient(of)).expect("a program");
        for (extents, outputs) in extents {
            let x = arguments(*extents, *outputs);
            let [expected, found] = [meaning.run(&x), native.run(&x)].map(|y| y.map(|y| y.to_tuple()));
            assert!(expected.is_ok(), "{extents:?}: {expected:?}");
            compare(&expected, &found, CLOSE).unwrap_or_else(|e| panic!("{extents:?}: {e}"));
        }
    }
}

/// Which threads compute which products changes from run to run.
#[test]
fn results_are_the_same_in_every_run() {
    let native = compile(gradient(formula)).expect("a program");
    let x = arguments([8, 34, 34, 8], 16);
    let first = native.run(&x).expect("a gradient").1.0.to_vec();
    for _ in 0..200 {
        assert!(native.run(&x).expect("a gradient").1.0.to_vec() == first);
    }
}
