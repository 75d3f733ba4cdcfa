//! A process compiles and differentiates a program once.

use accel_ad::{grad, jvp, value_and_grad, vjp};
use accel_core::ast::Program;
use accel_core::backend::{Backend, Executable};
use accel_core::interp::Interpreter;
use accel_core::pass::canonical_key;
use accel_core::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

type V = Acc<Vector<f64>>;

/// The interpreter, which counts how often it compiles. Each instance has its own configuration.
struct Counting {
    configuration: Option<&'static str>,
    compiled: AtomicUsize,
    /// The number of compilations that fail first.
    failures: usize,
}

impl Counting {
    fn new(configuration: &'static str) -> Self {
        Counting { configuration: Some(configuration), compiled: AtomicUsize::new(0), failures: 0 }
    }
    fn compiled(&self) -> usize {
        self.compiled.load(Ordering::SeqCst)
    }
}

impl Backend for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }
    fn compile(&self, program: &Program) -> Result<Box<dyn Executable>, Error> {
        if self.compiled.fetch_add(1, Ordering::SeqCst) < self.failures {
            return Err(Error::Compiler("not yet".into()));
        }
        Interpreter.compile(program)
    }
    fn configuration(&self) -> Option<&str> {
        self.configuration
    }
}

fn squares(factor: f64) -> Afun<Vector<f64>, Scalar<f64>> {
    afun(move |xs: V| sum(map(|x| x * x * factor, xs)))
}

fn numbers() -> Vector<f64> {
    Array::vector(vec![1.0, 2.0, 3.0])
}

#[test]
fn a_program_is_compiled_once_for_each_configuration() {
    let (first, second) = (Counting::new("first"), Counting::new("second"));
    let prog = squares(1.0);
    for backend in [&first, &second, &first, &second] {
        assert_eq!(prog.run_on(backend, &numbers()).unwrap().item(), 14.0);
        assert_eq!(prog.clone().run_on(backend, &numbers()).unwrap().item(), 14.0);
    }
    assert_eq!([first.compiled(), second.compiled()], [1, 1]);
    let each_time = Counting { configuration: None, ..Counting::new("") };
    for k in 1..3 {
        prog.run_on(&each_time, &numbers()).unwrap();
        assert_eq!(each_time.compiled(), k);
    }
}

#[test]
fn a_function_that_is_staged_again_is_the_same_program() {
    let backend = Counting::new("staged again");
    for k in 1..4 {
        for _ in 0..3 {
            assert_eq!(squares(k as f64).run_on(&backend, &numbers()).unwrap().item(), 14.0 * k as f64);
        }
        assert_eq!(backend.compiled(), k);
    }
}

#[test]
fn derivatives_are_made_and_compiled_once() {
    let backend = Counting::new("derivatives");
    let (prog, xs, one) = (squares(1.0), numbers(), Array::scalar(1.0));
    for _ in 0..3 {
        assert_eq!(grad(&prog).run_on(&backend, &xs).unwrap().to_vec(), [2.0, 4.0, 6.0]);
        assert_eq!(grad(prog.by(|xs| xs)).run_on(&backend, &xs).unwrap().to_vec(), [2.0, 4.0, 6.0]);
        assert_eq!(value_and_grad(&prog).run_on(&backend, &xs).unwrap().0.item(), 14.0);
        assert_eq!(vjp(&prog).run_on(&backend, (&xs, &one)).unwrap().to_vec(), [2.0, 4.0, 6.0]);
        assert_eq!(jvp(&prog).run_on(&backend, (&xs, &xs)).unwrap().1.item(), 28.0);
        let second = |v: f64| vjp(grad(&prog)).run_on(&backend, (&xs, &Array::vector(vec![v; 3]))).unwrap().to_vec();
        assert_eq!(second(1.0), [2.0; 3]);
    }
    assert!(backend.compiled() <= 6, "{}", backend.compiled());
    let programs = [0, 1].map(|_| std::ptr::from_ref(grad(&prog).program().unwrap()));
    assert_eq!(programs[0], programs[1]);
}

#[test]
fn parts_by_which_a_program_is_differentiated_are_told_apart() {
    let backend = Counting::new("parts");
    let prog = afun(|xs: V, ys: V| sum(zip_with(|x, y| x * x * y, xs, ys)));
    let (xs, ys) = (Array::vector(vec![3.0]), Array::vector(vec![5.0]));
    for _ in 0..2 {
        assert_eq!(grad(prog.by(|(x, _)| x)).run_on(&backend, (&xs, &ys)).unwrap().to_vec(), [30.0]);
        assert_eq!(grad(prog.by(|(_, y)| y)).run_on(&backend, (&xs, &ys)).unwrap().to_vec(), [9.0]);
        let (by_y, by_x) = grad(prog.by(|(x, y)| (y, x))).run_on(&backend, (&xs, &ys)).unwrap();
        assert_eq!((by_y.to_vec(), by_x.to_vec()), (vec![9.0], vec![30.0]));
        let (by_x, by_y) = grad(&prog).run_on(&backend, (&xs, &ys)).unwrap();
        assert_eq!((by_y.to_vec(), by_x.to_vec()), (vec![9.0], vec![30.0]));
    }
}

#[test]
fn errors_are_not_remembered() {
    let backend = Counting { failures: 2, ..Counting::new("errors") };
    let prog = squares(7.0);
    for _ in 0..2 {
        assert!(matches!(prog.run_on(&backend, &numbers()), Err(Error::Compiler(_))));
    }
    for _ in 0..2 {
        assert_eq!(prog.run_on(&backend, &numbers()).unwrap().item(), 98.0);
    }
    assert_eq!(backend.compiled(), 3);
}

#[test]
fn threads_share_what_is_compiled() {
    let backend = Counting::new("threads");
    let prog = squares(3.0);
    prog.run_on(&backend, &numbers()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    assert_eq!(prog.run_on(&backend, &numbers()).unwrap().item(), 42.0);
                    assert_eq!(squares(3.0).run_on(&backend, &numbers()).unwrap().item(), 42.0);
                }
            });
        }
    });
    assert_eq!(backend.compiled(), 1);
}

#[test]
fn programs_with_large_arrays_are_compiled_once_each() {
    let backend = Counting::new("large arrays");
    let with = |x: f64, n: usize| afun(move |xs: V| concat(xs, use_(&Array::vector(vec![x; n]))));
    for (n, times) in [(10, 2), (100_000, 3)] {
        let before = backend.compiled();
        let programs = [1.0, 2.0, 2.0].map(|x| with(x, n));
        for (prog, x) in programs.iter().zip([1.0, 2.0, 2.0]) {
            for _ in 0..2 {
                assert_eq!(prog.run_on(&backend, &numbers()).unwrap().to_vec()[3..], vec![x; n]);
            }
        }
        assert_eq!(backend.compiled() - before, times, "{n} elements");
    }
}

/// Programs that differ in a single detail.
fn programs() -> Vec<Program> {
    let by_row = |right: bool| {
        let step = |s: Acc<Scalar<f64>>, x: Acc<Scalar<f64>>| (zip_with(|s, x| s - x, s, x), s);
        afun(move |xs: V| {
            let start = unit(lit(0.0));
            if right { map_accum_r(step, start, xs) } else { map_accum_l(step, start, xs) }
        })
    };
    let unary = |f: fn(Exp<f64>) -> Exp<f64>| afun(move |xs: V| map(f, xs)).program().unwrap().clone();
    let binary = |f: fn(V, V) -> V| afun(f).program().unwrap().clone();
    let mut all = vec![
        unary(|x| x),
        unary(|x| x + 1.0),
        unary(|x| x + 2.0),
        unary(|x| x - 1.0),
        unary(|x| lit(1.0) - x),
        unary(|x| x.sin()),
        unary(|x| x.cos()),
        unary(|x| cond(x.gt(0.0), x, -x)),
        unary(|x| cond(x.gt(0.0), -x, x)),
        unary(|x| while_(|y: Exp<f64>| y.lt(9.0), |y| y * 2.0, x)),
        unary(|x| while_(|y: Exp<f64>| y.lt(8.0), |y| y * 2.0, x)),
        unary(|x| x.cast::<f32>().cast::<f64>()),
        unary(|x| x.cast::<i64>().cast::<f64>()),
        binary(|x, y| zip_with(|x, y| x + y, x, y)),
        binary(|x, y| zip_with(|x, y| x + y, y, x)),
        binary(|x, y| zip_with_min(|x, y| x + y, x, y)),
        binary(|x, y| concat(x, y)),
        binary(|x, y| concat(y, x)),
        binary(|x, _| scanl1(|a, b| a + b, x)),
        binary(|x, _| scanr1(|a, b| a + b, x)),
        binary(|x, _| use_(&Array::vector(vec![1.0])).map_with(x)),
        binary(|x, _| use_(&Array::vector(vec![2.0])).map_with(x)),
        afun(|xs: Acc<Vector<f32>>| xs).program().unwrap().clone(),
        afun(|xs: Acc<Matrix<f64>>| xs).program().unwrap().clone(),
        afun(|xs: Acc<Matrix<f64>>| transpose(xs)).program().unwrap().clone(),
        afun(|xs: Acc<Matrix<f64>>| sum(xs)).program().unwrap().clone(),
        by_row(false).program().unwrap().clone(),
        by_row(true).program().unwrap().clone(),
    ];
    let sums = squares(1.0);
    all.push(sums.program().unwrap().clone());
    all.push(grad(&sums).program().unwrap().clone());
    all.push(value_and_grad(&sums).program().unwrap().clone());
    all
}

/// Gives an array that is part of a program a use.
trait MapWith {
    fn map_with(self, xs: V) -> V;
}
impl MapWith for V {
    fn map_with(self, xs: V) -> V {
        map(move |x| x * self.at(0), xs)
    }
}

#[test]
fn different_programs_have_different_keys() {
    let (first, second) = (programs(), programs());
    let key = |p| canonical_key::program(p).words;
    for (i, p) in first.iter().enumerate() {
        for (j, q) in second.iter().enumerate() {
            assert_eq!(key(p) == key(q), i == j, "programs {i} and {j}");
        }
    }
}

#[test]
fn places_in_the_source_are_part_of_a_program() {
    let (a, b) = (afun(|xs: V| map(|x| x.sin(), xs)), afun(|xs: V| map(|x| x.sin(), xs)));
    let key = |p: &Afun<_, Vector<f64>>| canonical_key::program(p.program().unwrap()).words;
    assert_ne!(key(&a), key(&b));
}

#[test]
fn keys_are_as_long_as_programs() {
    let chain = |n: usize| afun(move |xs: V| sum((0..n).fold(xs, |a, _| zip_with(|x, y| x * y, a, a))));
    let words = |n| canonical_key::program(grad(&chain(n)).program().unwrap()).words.len();
    let (one, two, four) = (words(100), words(200), words(400));
    assert!(four - two <= 2 * (two - one) + 100, "{one}, {two}, {four}");
}
