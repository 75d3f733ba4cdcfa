//! Kernel programs of any depth. Each maps a vector of `f64` to another, and states the function that it computes.
#![allow(dead_code)] // not every test uses all of them

use accel_core::repr::{ArrayTuple, Column, RawArray};
use accel_fusion::kernel::{Program, evaluate};

/// A kernel program of any depth.
pub struct Deep {
    /// The construct that is nested.
    pub name: &'static str,
    /// The text of the program of a depth.
    pub text: fn(usize) -> String,
    /// The resulting element, for a depth, an element and the first element.
    pub value: fn(usize, f64, f64) -> f64,
}

/// All programs.
pub fn programs() -> [Deep; 5] {
    [
        Deep { name: "conditionals", text: conditionals, value: |n, x, _| nested(n, x, x, x * 0.5) },
        Deep { name: "loops", text: loops, value: |_, x, _| x + 1.0 },
        Deep {
            name: "array conditionals",
            text: array_conditionals,
            value: |n, x, first| nested(n, x, first, x * 0.5),
        },
        Deep { name: "array loops", text: array_loops, value: |_, x, _| x + 1.0 },
        Deep { name: "sums", text: sums, value: |n, x, _| x + added(n, x) },
    ]
}

/// `if 0 < c { if 1/n < c { .. deepest .. + 1/n } else { x * 1/n } + 0 } else { x * 0 }`
fn nested(n: usize, x: f64, c: f64, deepest: f64) -> f64 {
    let number = |k: usize| k as f64 / n as f64;
    let reached = (0..n).find(|k| number(*k) >= c).unwrap_or(n);
    let y = if reached == n { deepest } else { x * number(reached) };
    (0..reached).rev().fold(y, |y, k| y + number(k))
}

/// The number of the first level that is not less than `x`, or half of `x`.
fn added(n: usize, x: f64) -> f64 {
    (0..n).map(|k| k as f64 / n as f64).find(|level| *level >= x).unwrap_or(x * 0.5)
}

/// A number as kernel programs print it.
fn number(k: usize, n: usize) -> String {
    format!("{:?}", k as f64 / n as f64)
}

/// A program of one statement after the other, whose last array is the result.
fn program(body: &str, result: usize) -> String {
    format!("program (a0: Array1<f64>)\nsite 0 = \"deep\"\n{{\n{body}\n-> a{result}\n}}")
}

/// A loop over the elements of an array. `code` computes `x{result}` from the element `x1`.
fn elements(to: usize, from: usize, code: &str, result: usize) -> String {
    format!(
        "a{to}: Array1<f64> = loop @0 extents () {{ x0: i64 = extent a{from} 0 -> x0 }}
         body (x0: i64) {{ x1: f64 = a{from}[x0] @0; {code} -> x{result} }}\n"
    )
}

/// Every level adds to a sum if it is the last one that is reached.
fn sums(n: usize) -> String {
    let mut code = String::new();
    for k in 0..n {
        let (x, c) = (2 + 2 * k, 3 + 2 * k);
        code += &format!("x{x}: f64 = {}; x{c}: bool = x{x} < x1; () = if x{c} {{\n", number(k, n));
    }
    let (half, product) = (2 + 2 * n, 3 + 2 * n);
    code += &format!("x{half}: f64 = 0.5; x{product}: f64 = x1 * x{half}; () = emit a1[x0] x{product} @0\n");
    for k in (0..n).rev() {
        code += &format!("-> }} else {{ () = emit a1[x0] x{} @0 -> }}\n", 2 + 2 * k);
    }
    let body = format!(
        "a1: Array1<f64> = accumulate a0 @0 extents () {{ x0: i64 = extent a0 0 -> x0 }}
         body (x0: i64) {{ x1: f64 = a0[x0] @0; {code} -> }}\n"
    );
    program(&body, 1)
}

/// The innermost branch reads an array, which can fail. On the way out, every level uses what it computed on the way
/// in.
fn conditionals(n: usize) -> String {
    let mut text = String::new();
    for k in 0..n {
        let r = 10 + 5 * k;
        text += &format!(
            "x{r}: f64 = {}; x{}: bool = x{r} < x1; x{}: f64 = if x{} {{\n",
            number(k, n),
            r + 1,
            r + 2,
            r + 1
        );
    }
    text += "x2: f64 = a0[x0] @0; x3: f64 = 0.5; x4: f64 = x2 * x3\n";
    for k in (0..n).rev() {
        let (r, inner) = (10 + 5 * k, if k + 1 == n { 4 } else { 10 + 5 * (k + 1) + 2 });
        text += &format!(
            "x{}: f64 = x{inner} + x{r} -> x{} }} else {{ x{}: f64 = x1 * x{r} -> x{} }}\n",
            r + 3,
            r + 3,
            r + 4,
            r + 4
        );
    }
    // All register numbers have types. These registers were left out above.
    text += "x5: i64 = 0; x6: i64 = 0; x7: i64 = 0; x8: i64 = 0; x9: i64 = 0\n";
    program(&elements(1, 0, &text, 12), 1)
}

/// Every loop runs once.
fn loops(n: usize) -> String {
    let mut text = "x2: i64 = 0; x3: i64 = 1\n".to_string();
    let state = |k: usize| 4 + 3 * k;
    for k in 0..n {
        let (r, from) = (state(k), if k == 0 { 1 } else { state(k - 1) + 1 });
        text += &format!(
            "x{r}: i64, x{}: f64 = while x2, x{from} cond {{ x{}: bool = x{r} < x3 -> x{} }} body {{\n",
            r + 1,
            r + 2,
            r + 2
        );
    }
    let (one, sum) = (state(n), state(n) + 1);
    text += &format!("x{one}: f64 = 1.0; x{sum}: f64 = x{} + x{one}\n", state(n - 1) + 1);
    for k in (0..n).rev() {
        let inner = if k + 1 == n { sum } else { state(k + 1) + 1 };
        text += &format!("-> x3, x{inner} }}\n");
    }
    program(&elements(1, 0, &text, 5), 1)
}

fn array_conditionals(n: usize) -> String {
    let mut text = String::new();
    let array = |k: usize| 1 + 3 * k;
    for k in 0..n {
        text += &format!(
            "a{}: Array1<f64> = if @0 cond () {{ x0: i64 = 0; x1: f64 = a0[x0] @0; x2: f64 = {}; x3: bool = x2 < x1 -> x3 }} then {{\n",
            array(k),
            number(k, n)
        );
    }
    text += &elements(array(n), 0, "x2: f64 = 0.5; x3: f64 = x1 * x2", 3);
    for k in (0..n).rev() {
        let (a, c) = (array(k), number(k, n));
        text += &elements(a + 1, array(k + 1), &format!("x2: f64 = {c}; x3: f64 = x1 + x2"), 3);
        text += &format!("-> a{} }} else {{\n", a + 1);
        text += &elements(a + 2, 0, &format!("x2: f64 = {c}; x3: f64 = x1 * x2"), 3);
        text += &format!("-> a{} }}\n", a + 2);
    }
    program(&text, array(0))
}

/// Every loop runs once.
fn array_loops(n: usize) -> String {
    let flag = |a: usize, value: bool| {
        format!("a{a}: Array0<bool> = loop @0 extents () {{ -> }} body () {{ x0: bool = {value} -> x0 }}\n")
    };
    let mut text = flag(1, true) + &flag(2, false);
    let state = |k: usize| 3 + 2 * k;
    for k in 0..n {
        let (a, from) = (state(k), if k == 0 { 0 } else { state(k - 1) + 1 });
        text +=
            &format!("a{a}: Array0<bool>, a{}: Array1<f64> = while a1, a{from} @0 cond {{ -> a{a} }} body {{\n", a + 1);
    }
    text += &elements(state(n), state(n - 1) + 1, "x2: f64 = 1.0; x3: f64 = x1 + x2", 3);
    for k in (0..n).rev() {
        let inner = if k + 1 == n { state(n) } else { state(k + 1) + 1 };
        text += &format!("-> a2, a{inner} }}\n");
    }
    program(&text, state(0) + 1)
}

/// One argument that leaves the nest on the way, and one that reaches its end.
pub const ARGUMENTS: [[f64; 2]; 2] = [[1.25034, 0.30034], [0.30034, 1.25034]];

pub fn vector(xs: &[f64]) -> RawArray {
    RawArray { extents: (&[xs.len()][..]).into(), columns: vec![Column::from(xs.to_vec())].into() }
}

impl Deep {
    /// The result of the program of a depth for an argument.
    pub fn expected(&self, n: usize, xs: [f64; 2]) -> RawArray {
        vector(&xs.map(|x| (self.value)(n, x, xs[0])))
    }

    /// Checks that a program computes the expected results.
    #[track_caller]
    pub fn is_meant_by(&self, n: usize, program: &Program) {
        for xs in ARGUMENTS {
            let found =
                evaluate(program, &ArrayTuple::Array(vector(&xs))).unwrap_or_else(|e| panic!("{}: {e}", self.name));
            assert_eq!(format!("{found:?}"), format!("{:?}", [self.expected(n, xs)]), "{}", self.name);
        }
    }
}

/// Runs `f` on a stack as small as that of a test thread.
pub fn on_a_small_stack<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|s| {
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn_scoped(s, f).expect("a thread");
        thread.join().expect("no panic")
    })
}
