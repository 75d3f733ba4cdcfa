//! Evaluates a random program with plain Rust vectors, independently of the library.

use super::program::*;
use std::cell::Cell;

/// A scalar value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    F(f64),
    I(i64),
    B(bool),
}

impl Value {
    pub fn f(self) -> f64 {
        match self {
            Value::F(x) => x,
            other => panic!("{other:?} is not a float"),
        }
    }
    pub fn i(self) -> i64 {
        match self {
            Value::I(x) => x,
            other => panic!("{other:?} is not an integer"),
        }
    }
    fn b(self) -> bool {
        match self {
            Value::B(x) => x,
            other => panic!("{other:?} is not a bool"),
        }
    }
}

/// An element: one scalar or two.
pub type Element = Vec<Value>;

/// An array in row-major order.
#[derive(Clone, PartialEq, Debug)]
pub struct Plain {
    pub shape: Vec<usize>,
    pub data: Vec<Element>,
}

impl Plain {
    fn generate(shape: Vec<usize>, mut f: impl FnMut(&[usize]) -> Element) -> Plain {
        let data = indices(&shape).iter().map(|ix| f(ix)).collect();
        Plain { shape, data }
    }
    fn at(&self, index: &[usize]) -> Element {
        self.data[place(&self.shape, index)].clone()
    }
    /// The floats of all elements.
    pub fn floats(&self) -> impl Iterator<Item = f64> + '_ {
        self.data.iter().flatten().filter_map(|v| if let Value::F(x) = v { Some(*x) } else { None })
    }
}

fn place(shape: &[usize], index: &[usize]) -> usize {
    shape.iter().zip(index).fold(0, |p, (n, i)| p * n + i)
}

/// All indices of a shape in row-major order.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![vec![]], |outer, n| {
        outer.iter().flat_map(|ix| (0..*n).map(move |i| ix.iter().copied().chain([i]).collect())).collect()
    })
}

fn zero(elem: Elem) -> Element {
    elem.scalars()
        .iter()
        .map(|s| match s {
            Scalar::F => Value::F(0.0),
            Scalar::I => Value::I(0),
            Scalar::B => Value::B(false),
        })
        .collect()
}

fn unary(op: Unary, x: Value) -> Value {
    match (op, x) {
        (Unary::Neg, Value::F(x)) => Value::F(-x),
        (Unary::Neg, Value::I(x)) => Value::I(x.wrapping_neg()),
        (Unary::Abs, Value::F(x)) => Value::F(x.abs()),
        (Unary::Abs, Value::I(x)) => Value::I(x.wrapping_abs()),
        (Unary::Signum, Value::F(x)) => Value::F(if x > 0.0 {
            1.0
        } else if x < 0.0 {
            -1.0
        } else {
            x
        }),
        (Unary::Signum, Value::I(x)) => Value::I(x.signum()),
        (Unary::Sin, x) => Value::F(x.f().sin()),
        (Unary::Cos, x) => Value::F(x.f().cos()),
        (Unary::Tanh, x) => Value::F(x.f().tanh()),
        (Unary::Atan, x) => Value::F(x.f().atan()),
        (Unary::Exp, x) => Value::F(x.f().exp()),
        (Unary::Recip, x) => Value::F(1.0 / x.f()),
        (Unary::Sqrt, x) => Value::F(x.f().sqrt()),
        (Unary::Floor, x) => Value::F(x.f().floor()),
        (Unary::Not, Value::B(x)) => Value::B(!x),
        (Unary::Not, x) => Value::I(!x.i()),
        (Unary::CountOnes, x) => Value::I(i64::from(x.i().count_ones())),
        (Unary::ToFloat, x) => Value::F(x.i() as f64),
        (Unary::ToInt, x) => Value::I(x.f() as i64),
        (op, x) => panic!("{op:?} of {x:?}"),
    }
}

fn binary(op: Binary, a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::F(a), Value::F(b)) => Value::F(match op {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
            Binary::Rem => a % b,
            Binary::Min if b < a || a.is_nan() => b,
            Binary::Max if b > a || a.is_nan() => b,
            Binary::Min | Binary::Max => a,
            Binary::Atan2 => a.atan2(b),
            Binary::Hypot => a.hypot(b),
            op => panic!("{op:?} of floats"),
        }),
        (Value::I(a), Value::I(b)) => Value::I(match op {
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::Mul => a.wrapping_mul(b),
            Binary::Min => a.min(b),
            Binary::Max => a.max(b),
            Binary::Xor => a ^ b,
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Shl => a << b.rem_euclid(64),
            op => panic!("{op:?} of integers"),
        }),
        (Value::B(a), Value::B(b)) => Value::B(match op {
            Binary::And => a && b,
            Binary::Or => a || b,
            op => panic!("{op:?} of bools"),
        }),
        (a, b) => panic!("{op:?} of {a:?} and {b:?}"),
    }
}

fn compare(op: Compare, a: Value, b: Value) -> bool {
    let order = match (a, b) {
        (Value::F(a), Value::F(b)) => a.partial_cmp(&b),
        (a, b) => Some(a.i().cmp(&b.i())),
    };
    match op {
        Compare::Lt => order.is_some_and(|o| o.is_lt()),
        Compare::Le => order.is_some_and(|o| o.is_le()),
        Compare::Eq => order.is_some_and(|o| o.is_eq()),
        Compare::Ne => !order.is_some_and(|o| o.is_eq()),
    }
}

fn combine(op: Operator, a: &[Value], b: &[Value]) -> Element {
    let add = |a, b| binary(Binary::Add, a, b);
    let general = |a: Value, b: Value| add(add(a, b), binary(Binary::Mul, a, b));
    match (op, a, b) {
        (Operator::Add, [a], [b]) => vec![add(*a, *b)],
        (Operator::Add, [a, i], [b, j]) => vec![add(*a, *b), add(*i, *j)],
        (Operator::Mul, [a], [b]) => vec![binary(Binary::Mul, *a, *b)],
        (Operator::Min, [a], [b]) => vec![binary(Binary::Min, *a, *b)],
        (Operator::Max, [a], [b]) => vec![binary(Binary::Max, *a, *b)],
        (Operator::General, [a], [b]) => vec![general(*a, *b)],
        (Operator::General, [a, i], [b, j]) => vec![general(*a, *b), binary(Binary::Max, *i, *j)],
        (Operator::First, a, _) => a.to_vec(),
        (Operator::Second, _, b) => b.to_vec(),
        (Operator::Last, [a], [b]) => vec![if b.i() == 0 { *a } else { *b }],
        (Operator::ArgMax, a, b) => if b[0].f() > a[0].f() { b } else { a }.to_vec(),
        (op, a, b) => panic!("{op:?} of {a:?} and {b:?}"),
    }
}

/// The values of the steps so far, for some inputs.
pub struct Evaluator<'a> {
    inputs: &'a Inputs,
    pub arrays: Vec<Plain>,
    /// The largest absolute value of a float in scalar code so far; infinite after a NaN.
    pub largest: Cell<f64>,
    /// Whether a maximum, a minimum or a sign was taken of equal floats: there is no derivative there.
    pub tie: Cell<bool>,
    /// Whether an index was out of bounds, or an extent negative: the program fails, and its values must not be used.
    pub failed: Cell<bool>,
}

impl<'a> Evaluator<'a> {
    pub fn new(inputs: &'a Inputs) -> Self {
        Evaluator { inputs, arrays: vec![], largest: Cell::new(0.0), tie: Cell::new(false), failed: Cell::new(false) }
    }

    /// Computes the next step.
    pub fn step(&mut self, ty: Ty, step: &Step) {
        let value = self.value(ty, step);
        assert_eq!(value.shape.len(), ty.rank, "{step:?}");
        self.arrays.push(value);
    }

    fn fun(&self, f: &Fun, params: &[Value]) -> Element {
        assert_eq!(f.params, params.len(), "{f}");
        let mut v: Vec<Value> = vec![];
        for (ty, node) in &f.nodes {
            let x = match node {
                Node::Param(p) => params[*p],
                Node::F(x) => Value::F(*x),
                Node::I(x) => Value::I(*x),
                Node::Unary(op, a) => {
                    if *op == Unary::Abs {
                        self.compared(v[*a], Value::F(0.0));
                    }
                    unary(*op, v[*a])
                }
                Node::Binary(op, a, b) => {
                    if matches!(op, Binary::Min | Binary::Max) && a != b {
                        self.compared(v[*a], v[*b]);
                    }
                    binary(*op, v[*a], v[*b])
                }
                Node::Quotient(a, k) => Value::I(v[*a].i().div_euclid(*k)),
                Node::Modulo(a, k) => Value::I(v[*a].i().rem_euclid(*k)),
                Node::Compare(op, a, b) => {
                    if a != b {
                        self.compared(v[*a], v[*b]);
                    }
                    Value::B(compare(*op, v[*a], v[*b]))
                }
                Node::Cond(c, a, b) => v[if v[*c].b() { *a } else { *b }],
                Node::Read { array, index, part, outside } => {
                    let array = &self.arrays[*array];
                    let index: Vec<i64> = index.iter().map(|i| v[*i].i()).collect();
                    match self.inside(*outside, &array.shape, &index) {
                        Some(ix) => array.at(&ix)[*part],
                        None => {
                            if *ty == Scalar::I {
                                Value::I(0)
                            } else {
                                Value::F(0.0)
                            }
                        }
                    }
                }
                Node::Extent { array, dim } => Value::I(self.arrays[*array].shape[*dim] as i64),
                Node::Loop { times, init, capture, body } => {
                    (0..*times).fold(v[*init], |x, k| self.fun(body, &[x, v[*capture], Value::I(k)])[0])
                }
            };
            if let Value::F(x) = x {
                self.largest.set(if x.is_nan() { f64::INFINITY } else { self.largest.get().max(x.abs()) });
            }
            v.push(x);
        }
        f.results.iter().map(|i| v[*i]).collect()
    }

    /// Records ties of floats.
    fn compared(&self, a: Value, b: Value) {
        if matches!((a, b), (Value::F(a), Value::F(b)) if a == b) {
            self.tie.set(true);
        }
    }

    fn combine(&self, op: Operator, a: &[Value], b: &[Value]) -> Element {
        if matches!(op, Operator::Min | Operator::Max | Operator::ArgMax) {
            self.compared(a[0], b[0]);
        }
        combine(op, a, b)
    }

    fn extent(&self, e: &Extent) -> usize {
        match e {
            Extent::Const(n) => *n as usize,
            Extent::Of { array, dim, plus } => {
                let n = self.arrays[*array].shape[*dim] as i64 + plus;
                usize::try_from(n).unwrap_or_else(|_| {
                    self.failed.set(true);
                    0
                })
            }
        }
    }

    fn value(&self, ty: Ty, step: &Step) -> Plain {
        let get = |k: &usize| &self.arrays[*k];
        match step {
            Step::Input(i) => self.input(*i),
            Step::Generate { extents, f } => {
                let shape = extents.iter().map(|e| self.extent(e)).collect();
                Plain::generate(shape, |ix| self.fun(f, &ints(ix)))
            }
            Step::Map { f, x } => {
                let x = get(x);
                Plain { shape: x.shape.clone(), data: x.data.iter().map(|e| self.fun(f, e)).collect() }
            }
            Step::ZipWith { f, x, y } => {
                let (x, y) = (get(x), get(y));
                let shape = x.shape.iter().zip(&y.shape).map(|(n, m)| *n.min(m)).collect();
                Plain::generate(shape, |ix| self.fun(f, &[x.at(ix), y.at(ix)].concat()))
            }
            Step::Fold { op, z, x } => {
                let z = z.as_ref().map(|z| self.fun(z, &[]));
                rows(get(x), |row| {
                    let start = z.clone().or_else(|| row.first().cloned());
                    let rest = if z.is_some() { row } else { row.get(1..).unwrap_or_default() };
                    vec![start.map_or_else(|| zero(ty.elem), |z| rest.iter().fold(z, |a, b| self.combine(*op, &a, b)))]
                })
            }
            Step::Scan { left, op, z, x } => {
                let z = z.as_ref().map(|z| self.fun(z, &[]));
                let extra = usize::from(z.is_some());
                let mut all = rows(get(x), |row| {
                    let mut row: Vec<Element> = row.to_vec();
                    if !left {
                        row.reverse();
                    }
                    let mut out: Vec<Element> = vec![];
                    for e in z.iter().chain(&row) {
                        out.push(match out.last() {
                            None => e.clone(),
                            Some(a) if *left => self.combine(*op, a, e),
                            Some(a) => self.combine(*op, e, a),
                        });
                    }
                    if !left {
                        out.reverse();
                    }
                    out
                });
                let n = get(x).shape[ty.rank - 1] + extra;
                all.shape.push(n);
                all
            }
            Step::Permute { outside, op, defaults, target, x } => {
                let (mut out, x) = (get(defaults).clone(), get(x));
                for (ix, e) in indices(&x.shape).iter().zip(&x.data) {
                    let t = self.fun(target, &ints(ix));
                    let to: Vec<i64> = t[1..].iter().map(|i| i.i()).collect();
                    if t[0].b()
                        && let Some(to) = self.inside(*outside, &out.shape, &to)
                    {
                        let p = place(&out.shape, &to);
                        out.data[p] = self.combine(*op, e, &out.data[p]);
                    }
                }
                out
            }
            Step::Backpermute { outside, extents, source, x } => {
                let x = get(x);
                let empty = *outside == Outside::Wraps && x.data.is_empty();
                let shape = extents.iter().map(|e| if empty { 0 } else { self.extent(e) }).collect();
                Plain::generate(shape, |ix| {
                    let from: Vec<i64> = self.fun(source, &ints(ix)).iter().map(|i| i.i()).collect();
                    self.inside(*outside, &x.shape, &from).map_or_else(|| zero(ty.elem), |from| x.at(&from))
                })
            }
            Step::Replicate { dims, x } => {
                let x = get(x);
                let mut old = x.shape.iter();
                let shape = dims.iter().map(|d| match d {
                    Some(e) => self.extent(e),
                    None => *old.next().expect("an extent for each dimension"),
                });
                Plain::generate(shape.collect(), |ix| {
                    x.at(&ix.iter().zip(dims).filter(|(_, d)| d.is_none()).map(|(i, _)| *i).collect::<Vec<_>>())
                })
            }
            Step::Slice { dims, x } => {
                let x = get(x);
                let kept = dims.iter().zip(&x.shape).filter(|(d, _)| d.is_none()).map(|(_, n)| *n);
                Plain::generate(kept.collect(), |ix| {
                    let mut ix = ix.iter().map(|i| *i as i64);
                    let from: Vec<i64> = dims.iter().map(|d| d.or_else(|| ix.next()).expect("an index")).collect();
                    inside(&x.shape, &from).map_or_else(|| zero(ty.elem), |from| x.at(&from))
                })
            }
            Step::Rearrange(what, x) => rearrange(*what, get(x)),
            Step::Concat(x, y) => {
                let (x, y) = (get(x), get(y));
                let last = ty.rank - 1;
                let mut shape: Vec<usize> = x.shape.iter().zip(&y.shape).map(|(n, m)| *n.min(m)).collect();
                let n = x.shape[last];
                shape[last] = n + y.shape[last];
                Plain::generate(shape, |ix| {
                    let mut ix = ix.to_vec();
                    if ix[last] < n {
                        return x.at(&ix);
                    }
                    ix[last] -= n;
                    y.at(&ix)
                })
            }
            Step::Acond { c, x, y, .. } => get(if self.fun(c, &[])[0].b() { x } else { y }).clone(),
            Step::Awhile { times, f, x } => (0..*times).fold(get(x).clone(), |x, k| self.stepped(f, k, &x)),
            Step::Exchange { times, f, x, y } => {
                let start = (get(x).clone(), get(y).clone());
                (0..*times).fold(start, |(x, y), k| (y, self.stepped(f, k, &x))).0
            }
            Step::Iterate { times, what, x } => (0..*times).fold(get(x).clone(), |x, _| rearrange(*what, &x)),
        }
    }

    /// Applies `f` to every element and the number of a step.
    fn stepped(&self, f: &Fun, k: i64, x: &Plain) -> Plain {
        let data = x.data.iter().map(|e| self.fun(f, &[&e[..], &[Value::I(k)]].concat())).collect();
        Plain { shape: x.shape.clone(), data }
    }

    /// The index of an element; `None` if no element is accessed.
    fn inside(&self, outside: Outside, shape: &[usize], index: &[i64]) -> Option<Vec<usize>> {
        if outside == Outside::Wraps {
            return inside(shape, index);
        }
        let is_inside = shape.iter().zip(index).all(|(n, i)| (0..*n as i64).contains(i));
        if !is_inside && outside == Outside::Fails {
            self.failed.set(true);
        }
        is_inside.then(|| index.iter().map(|i| *i as usize).collect())
    }

    fn input(&self, i: usize) -> Plain {
        let floats = |xs: &[f64]| xs.iter().map(|x| vec![Value::F(*x)]).collect::<Vec<_>>();
        let Inputs { xs, ys, m, is } = self.inputs;
        let (shape, data) = match i {
            0 => (vec![xs.len()], floats(xs)),
            1 => (vec![ys.len()], floats(ys)),
            2 => (vec![m.0, m.1], floats(&m.2)),
            _ => (vec![is.len()], is.iter().map(|i| vec![Value::I(*i)]).collect()),
        };
        Plain { shape, data }
    }
}

fn ints(ix: &[usize]) -> Vec<Value> {
    ix.iter().map(|i| Value::I(*i as i64)).collect()
}

/// An index modulo the extents; `None` if there is no element.
fn inside(shape: &[usize], index: &[i64]) -> Option<Vec<usize>> {
    let wrap = |(n, i): (&usize, &i64)| (*n > 0).then(|| i.rem_euclid(*n as i64) as usize);
    shape.iter().zip(index).map(wrap).collect()
}

/// Applies `f` to each innermost row, one after the other. The shape is that of the outer dimensions.
fn rows(x: &Plain, f: impl Fn(&[Element]) -> Vec<Element>) -> Plain {
    let (n, outer) = x.shape.split_last().expect("at least one dimension");
    let count: usize = outer.iter().product();
    let data = (0..count).flat_map(|r| f(&x.data[r * n..(r + 1) * n])).collect();
    Plain { shape: outer.to_vec(), data }
}

fn rearrange(what: Rearrange, x: &Plain) -> Plain {
    let n = x.shape.last().copied().unwrap_or(1);
    let with_last = |n: usize| {
        let mut shape = x.shape.clone();
        *shape.last_mut().expect("at least one dimension") = n;
        shape
    };
    let from_last = |shape: Vec<usize>, from: &dyn Fn(usize) -> usize| {
        Plain::generate(shape, |ix| {
            let mut ix = ix.to_vec();
            let last = ix.last_mut().expect("at least one dimension");
            *last = from(*last);
            x.at(&ix)
        })
    };
    let reshaped = |shape: Vec<usize>| Plain { shape, data: x.data.clone() };
    match what {
        Rearrange::Transpose => Plain::generate(vec![x.shape[1], x.shape[0]], |ix| x.at(&[ix[1], ix[0]])),
        Rearrange::Reverse => from_last(x.shape.clone(), &|i| n - 1 - i),
        Rearrange::Take(k) => from_last(with_last(n.min(k as usize)), &|i| i),
        Rearrange::Skip(k) => {
            let k = n.min(k as usize);
            from_last(with_last(n - k), &|i| i + k)
        }
        Rearrange::Flatten => reshaped(vec![x.data.len()]),
        Rearrange::Row => reshaped(vec![1, n]),
        Rearrange::Column => reshaped(vec![n, 1]),
        Rearrange::Swap => reshaped(vec![x.shape[1], x.shape[0]]),
        Rearrange::Twice => from_last(with_last(2 * n), &|i| i % n),
    }
}

/// The values of all steps of a program on some inputs.
pub fn evaluate(p: &Program, inputs: &Inputs) -> Vec<Plain> {
    let mut e = Evaluator::new(inputs);
    p.steps.iter().for_each(|(ty, s)| e.step(*ty, s));
    e.arrays
}
