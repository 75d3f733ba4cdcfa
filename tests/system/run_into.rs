//! Runs with results in the memory of the caller: NOTE [Results in place] says how they get there.

use accel::backend::Backend;
use accel::compile_on;
use accel::native::{Native, Options};
use accel::prelude::*;
use accel_core::interp::Interpreter;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does everything.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends has no counter any more.
        let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
        // SAFETY: the caller's guarantee.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's guarantee.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

type V = Acc<Vector<f64>>;
type S = Acc<Scalar<f64>>;

/// The logarithm of a density: a regression with a scale.
fn density(x: V, scale: S, data: Acc<Matrix<f64>>, y: V) -> S {
    let residual = y - matvec(data, x);
    let scale = the(scale);
    map(move |s| s * -0.5 / scale.exp() - scale, sum(residual * residual)) - sum(x.cos())
}

fn native() -> impl Backend {
    Native::with(Options { strict: true, ..Options::default() })
}

fn backends() -> [(&'static str, Box<dyn Backend>); 2] {
    [("native", Box::new(native())), ("interpreter", Box::new(Interpreter))]
}

fn data(n: usize, m: usize) -> (Matrix<f64>, Vector<f64>) {
    let number = |k: usize| (k as f64 * 0.7).sin();
    (Array::matrix(n, m, (0..n * m).map(number).collect()).unwrap(), Array::vector((0..n).map(number).collect()))
}

#[test]
fn a_value_and_a_gradient_in_slices() {
    let program = value_and_grad(afun(density).by(|(x, scale, ..)| (x, scale)));
    let (data, y) = data(100, 7);
    let x: Vec<f64> = (0..7).map(|k| k as f64 * 0.1).collect();
    for (name, backend) in backends() {
        let compiled = compile_on(&*backend, &program).unwrap();
        let expected = compiled.run((&Array::vector(x.clone()), 0.25, &data, &y)).unwrap();
        let (mut value, mut gradient, mut by_scale) = (0.0, vec![0.0; 7], 0.0);
        for _ in 0..3 {
            let places = (&mut value, (&mut gradient[..], &mut by_scale));
            compiled.run_into((&x[..], 0.25, &data, &y), places).unwrap();
            let found = (value, (gradient.clone(), by_scale));
            assert_eq!(found, (expected.0.item(), (expected.1.0.to_vec(), expected.1.1.item())), "{name}");
        }
    }
}

/// The second run has all the memory that it needs. Parallel loops would count in their own threads, so the work is small.
#[test]
fn calls_do_not_allocate() {
    let of_density = value_and_grad(afun(density).by(|(x, scale, ..)| (x, scale)));
    let (data, y) = data(50, 6);
    let x = [0.1; 6];
    let compiled = compile_on(&native(), &of_density).unwrap();
    let (mut value, mut gradient, mut by_scale) = (0.0, [0.0; 6], 0.0);
    let mut call = || {
        let places = (&mut value, (&mut gradient[..], &mut by_scale));
        compiled.run_into((&x[..], 0.25, &data, &y), places).unwrap();
    };
    assert_eq!(allocations(&mut call), 0);

    // Intermediate arrays, a scan and a loop, also where earlier calls had other extents.
    let program = afun(|xs: V| {
        let sums = scanl1(|a, b| a + b, xs.sin());
        let last = aiterate(10, |y: V| map(|y| y * 0.5, y) + reverse(sums), sums);
        (last, sums)
    });
    let compiled = compile_on(&native(), &program).unwrap();
    for n in [300, 20, 30, 400] {
        let (xs, mut last, mut sums) = (vec![0.5; n], vec![0.0; n], Array::vector(vec![0.0; n]));
        let mut call = || compiled.run_into(&xs[..], (&mut last[..], &mut sums)).unwrap();
        assert_eq!(allocations(&mut call), 0, "{n} elements");
    }
}

/// The allocations of this thread in a later call.
fn allocations(call: &mut dyn FnMut()) -> usize {
    (0..3).for_each(|_| call());
    let before = ALLOCATIONS.get();
    (0..100).for_each(|_| call());
    ALLOCATIONS.get() - before
}

/// A record of parameters.
#[derive(Clone, Arrays)]
struct Layer {
    weights: Matrix<f64>,
    bias: Vector<f64>,
}

#[test]
fn records_and_shared_arrays() {
    let program = afun(|l: Acc<Layer>, x: V| {
        let l = l.unlift();
        let y = matvec(l.weights, x) + l.bias;
        (LayerAcc { weights: l.weights * 2.0, bias: y }, l.bias, l.bias)
    });
    let (weights, bias) = data(3, 2);
    let layer = Layer { weights, bias };
    for (name, backend) in backends() {
        let compiled = compile_on(&*backend, &program).unwrap();
        let mut result = Layer { weights: Array::matrix(3, 2, vec![0.0; 6]).unwrap(), bias: layer.bias.clone() };
        let (mut first, mut second) = (Array::vector(vec![0.0; 3]), [0.0; 3]);
        let kept = result.weights.clone();
        for _ in 0..2 {
            compiled.run_into((&layer, &[1.0, 2.0][..]), (&mut result, &mut first, &mut second[..])).unwrap();
            let twice: Vec<f64> = layer.weights.to_vec().iter().map(|x| x * 2.0).collect();
            assert_eq!(result.weights.to_vec(), twice, "{name}");
            assert_eq!((first.to_vec(), &second[..]), (layer.bias.to_vec(), layer.bias.as_slice()), "{name}");
        }
        assert_eq!(kept.to_vec(), [0.0; 6], "{name}: what others share is changed");
        assert_eq!(layer.bias.to_vec(), data(3, 2).1.to_vec(), "{name}: the argument is changed");
    }
}

#[test]
fn mistakes_are_errors_and_change_nothing() {
    let program = afun(|xs: V, k: Acc<Scalar<i64>>| (map(|x| x * 2.0, xs), unit(xs.at(the(k)))));
    for (name, backend) in backends() {
        let compiled = compile_on(&*backend, &program).unwrap();
        let (mut doubled, mut element) = (vec![7.0; 3], 7.0);
        let mut call = |n: usize, k: i64, doubled: &mut [f64]| {
            compiled.run_into((&vec![1.5; n][..], k), (doubled, &mut element)).map_err(|e| e.to_string())
        };
        call(3, 0, &mut doubled).unwrap();
        let wrong = call(4, 0, &mut doubled).unwrap_err();
        assert_eq!(wrong, "`run_into`: expected a result of shape [3], found [4]", "{name}");
        let outside = call(3, 5, &mut doubled).unwrap_err();
        assert!(outside.contains("index [5] is outside the shape [3]"), "{name}: {outside}");
        assert_eq!(doubled, [3.0; 3], "{name}");
        call(3, 2, &mut doubled).unwrap();
        let mut none = [];
        let empty = call(0, 0, &mut none).unwrap_err();
        assert!(empty.contains("index [0] is outside the shape [0]"), "{name}: {empty}");
        assert_eq!(element, 1.5, "{name}");
    }
}

/// Results that are arguments, several times, and large ones, between other runs.
#[test]
fn large_results_and_arguments_as_results() {
    let program = afun(|xs: V| (xs, map(|x| x + 1.0, xs), xs));
    let compiled = compile_on(&native(), &program).unwrap();
    for n in [0, 1, 1_000, 3_000_000, 7] {
        let xs: Vec<f64> = (0..n).map(|k| k as f64).collect();
        let (mut a, mut b, mut c) = (vec![-1.0; n], Array::vector(vec![-1.0; n]), vec![-1.0; n]);
        compiled.run_into(&xs[..], (&mut a[..], &mut b, &mut c[..])).unwrap();
        let run = compiled.run(&Array::vector(xs.clone())).unwrap();
        assert!(a == xs && c == xs && b.as_slice() == run.1.as_slice());
        assert_eq!(run.0.as_slice(), xs);
        compiled.run_into(&run.1, (&mut a[..], &mut b, &mut c[..])).unwrap();
        assert!(a == run.1.as_slice() && b.as_slice().iter().zip(&a).all(|(b, a)| *b == a + 1.0));
    }
}

#[test]
fn threads_call_one_program() {
    let program = value_and_grad(afun(|x: V| sum(map(|x| x.sin() * x, x))));
    let compiled = compile_on(&native(), &program).unwrap();
    std::thread::scope(|scope| {
        for k in 0..8 {
            let compiled = compiled.clone();
            scope.spawn(move || {
                let x = vec![k as f64; 10 + k];
                let (mut value, mut gradient) = (0.0, vec![0.0; 10 + k]);
                for _ in 0..200 {
                    compiled.run_into(&x[..], (&mut value, &mut gradient[..])).unwrap();
                }
                let x = k as f64;
                assert!((value - (10 + k) as f64 * x.sin() * x).abs() < 1e-9);
                assert!(gradient.iter().all(|g| (g - (x.cos() * x + x.sin())).abs() < 1e-12));
            });
        }
    });
}
