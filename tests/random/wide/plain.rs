//! Evaluates a random program with plain Rust vectors, independently of the library. It knows the types of small programs
//! (`small.rs`): `f64`, `i64`, `bool`, and tuples of them.

use super::program::*;
use super::types::{Elem, Ty, column};
use accel::repr::op::*;
use accel::repr::{ArrayTuple, RawArray, Scalar, ScalarType};
use std::cell::Cell;
use std::cmp::Ordering;

/// A value: a scalar, or all scalars of a tuple.
pub type Value = Vec<Scalar>;

/// An array in row-major order.
#[derive(Clone, PartialEq, Debug)]
pub struct Plain {
    pub shape: Vec<usize>,
    pub data: Vec<Value>,
}

impl Plain {
    pub fn of(a: &RawArray) -> Plain {
        let element = |i| a.columns.iter().map(|c| c.get(i).expect("an element")).collect();
        Plain { shape: a.extents.to_vec(), data: (0..a.size()).map(element).collect() }
    }
    pub fn raw(&self, elem: &Elem) -> RawArray {
        let leaves = elem.leaves().into_iter().enumerate();
        let columns = leaves.map(|(k, p)| column(p, self.data.iter().map(|x| x[k]))).collect();
        RawArray { extents: self.shape.iter().copied().collect(), columns }
    }
    fn generate(shape: Vec<usize>, mut f: impl FnMut(&[usize]) -> Value) -> Plain {
        let data = indices(&shape).iter().map(|ix| f(ix)).collect();
        Plain { shape, data }
    }
    fn at(&self, index: &[usize]) -> Value {
        self.data[place(&self.shape, index)].clone()
    }
    /// All elements as one row.
    fn flat(&self) -> Plain {
        Plain { shape: vec![self.data.len()], data: self.data.clone() }
    }
    /// The elements in another order: the innermost index `i` of the result, of `n`, is the index `from(i)` here.
    fn along_rows(&self, n: usize, from: impl Fn(usize) -> usize) -> Plain {
        let shape = [&self.shape[..self.shape.len() - 1], &[n]].concat();
        Plain::generate(shape, |ix| {
            let (last, outer) = ix.split_last().expect("at least one dimension");
            self.at(&[outer, &[from(*last)]].concat())
        })
    }
    /// The components of all elements, the next one with this number of scalars.
    fn parts(&self, widths: impl Iterator<Item = usize>) -> Vec<Plain> {
        let mut first = 0;
        let part = |width| {
            let range = first..first + width;
            first += width;
            Plain { shape: self.shape.clone(), data: self.data.iter().map(|x| x[range.clone()].to_vec()).collect() }
        };
        widths.map(part).collect()
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

fn zero(elem: &Elem) -> Value {
    elem.zero().into_iter().map(|x| x.0).collect()
}

fn int(x: &[Scalar]) -> i64 {
    if let [Scalar::I64(i)] = x { *i } else { panic!("{x:?} is not an integer") }
}

fn truth(x: &[Scalar]) -> bool {
    if let [Scalar::Bool(b)] = x { *b } else { panic!("{x:?} is not a bool") }
}

/// An index as arguments of a scalar function.
fn ints(ix: &[usize]) -> Vec<Value> {
    ix.iter().map(|i| vec![Scalar::I64(*i as i64)]).collect()
}

fn op1(op: Op1, x: Scalar) -> Scalar {
    use Scalar::{Bool, F64, I64};
    match (op, x) {
        (Op1::Num(Num1::Neg), F64(x)) => F64(-x),
        (Op1::Num(Num1::Abs), F64(x)) => F64(x.abs()),
        (Op1::Num(Num1::Signum), F64(x)) if x > 0.0 => F64(1.0),
        (Op1::Num(Num1::Signum), F64(x)) if x < 0.0 => F64(-1.0),
        (Op1::Num(Num1::Signum), F64(x)) => F64(x),
        (Op1::Num(Num1::Neg), I64(x)) => I64(x.wrapping_neg()),
        (Op1::Num(Num1::Abs), I64(x)) => I64(x.wrapping_abs()),
        (Op1::Num(Num1::Signum), I64(x)) => I64(x.signum()),
        (Op1::Float(op), F64(x)) => F64(match op {
            Float1::Sin => x.sin(),
            Float1::Cos => x.cos(),
            Float1::Tanh => x.tanh(),
            Float1::Atan => x.atan(),
            Float1::Exp => x.exp(),
            Float1::Recip => 1.0 / x,
            Float1::Sqrt => x.sqrt(),
            Float1::Floor => x.floor(),
            Float1::Ceil => x.ceil(),
            Float1::Round => x.round(),
            Float1::Trunc => x.trunc(),
            op => panic!("{op:?} is no function of small programs"),
        }),
        (Op1::Test(FloatTest::IsNan), F64(x)) => Bool(x.is_nan()),
        (Op1::Test(FloatTest::IsInfinite), F64(x)) => Bool(x.is_infinite()),
        (Op1::Test(FloatTest::IsFinite), F64(x)) => Bool(x.is_finite()),
        (Op1::Int(Int1::BitNot), I64(x)) => I64(!x),
        (Op1::Int(Int1::CountOnes), I64(x)) => I64(x.count_ones().into()),
        (Op1::Int(Int1::LeadingZeros), I64(x)) => I64(x.leading_zeros().into()),
        (Op1::Int(Int1::TrailingZeros), I64(x)) => I64(x.trailing_zeros().into()),
        (Op1::Not, Bool(x)) => Bool(!x),
        (Op1::Cast(ScalarType::F64), I64(x)) => F64(x as f64),
        (Op1::Cast(ScalarType::F64), Bool(x)) => F64(f64::from(u8::from(x))),
        (Op1::Cast(ScalarType::I64), F64(x)) => I64(x as i64),
        (Op1::Cast(ScalarType::I64), Bool(x)) => I64(x.into()),
        (Op1::Cast(ScalarType::Bool), F64(x)) => Bool(x != 0.0),
        (Op1::Cast(ScalarType::Bool), I64(x)) => Bool(x != 0),
        (Op1::Cast(to), x) if to == x.ty() => x,
        (op, x) => panic!("{op} of {x:?}"),
    }
}

fn ordering(a: Scalar, b: Scalar) -> Option<Ordering> {
    match (a, b) {
        (Scalar::F64(a), Scalar::F64(b)) => a.partial_cmp(&b),
        (Scalar::I64(a), Scalar::I64(b)) => Some(a.cmp(&b)),
        (Scalar::Bool(a), Scalar::Bool(b)) => Some(a.cmp(&b)),
        (a, b) => panic!("{a:?} compared with {b:?}"),
    }
}

/// The order in which arrays are sorted: NaN come last.
fn sorting(a: Scalar, b: Scalar) -> Ordering {
    let is_nan = |x| matches!(x, Scalar::F64(x) if x.is_nan());
    ordering(a, b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

fn compare(op: Cmp, a: Scalar, b: Scalar) -> bool {
    let order = ordering(a, b);
    match op {
        Cmp::Lt => order.is_some_and(Ordering::is_lt),
        Cmp::Le => order.is_some_and(Ordering::is_le),
        Cmp::Gt => order.is_some_and(Ordering::is_gt),
        Cmp::Ge => order.is_some_and(Ordering::is_ge),
        Cmp::Eq => order.is_some_and(Ordering::is_eq),
        Cmp::Ne => !order.is_some_and(Ordering::is_eq),
    }
}

/// A function of two arguments; `None` for a division of integers by 0.
fn op2(op: Op2, a: Scalar, b: Scalar) -> Option<Scalar> {
    use Scalar::{Bool, F64, I64};
    Some(match (op, a, b) {
        (Op2::Num(op), F64(a), F64(b)) => F64(match op {
            Num2::Add => a + b,
            Num2::Sub => a - b,
            Num2::Mul => a * b,
            Num2::Div => a / b,
            Num2::Rem => a % b,
            Num2::Min if b < a || a.is_nan() => b,
            Num2::Max if b > a || a.is_nan() => b,
            Num2::Min | Num2::Max => a,
        }),
        (Op2::Float(Float2::Atan2), F64(a), F64(b)) => F64(a.atan2(b)),
        (Op2::Float(Float2::Hypot), F64(a), F64(b)) => F64(a.hypot(b)),
        (Op2::Num(Num2::Div | Num2::Rem) | Op2::Int(Int2::DivEuclid | Int2::RemEuclid), I64(_), I64(0)) => return None,
        (Op2::Num(op), I64(a), I64(b)) => I64(match op {
            Num2::Add => a.wrapping_add(b),
            Num2::Sub => a.wrapping_sub(b),
            Num2::Mul => a.wrapping_mul(b),
            Num2::Div => a.wrapping_div(b),
            Num2::Rem => a.wrapping_rem(b),
            Num2::Min => a.min(b),
            Num2::Max => a.max(b),
        }),
        (Op2::Int(op), I64(a), I64(b)) => I64(match op {
            Int2::And => a & b,
            Int2::Or => a | b,
            Int2::Xor => a ^ b,
            Int2::Shl => a << b.rem_euclid(64),
            Int2::Shr => a >> b.rem_euclid(64),
            Int2::DivEuclid => a.wrapping_div_euclid(b),
            Int2::RemEuclid => a.wrapping_rem_euclid(b),
        }),
        (Op2::Cmp(op), a, b) => Bool(compare(op, a, b)),
        (Op2::Logic(Logic::And), Bool(a), Bool(b)) => Bool(a && b),
        (Op2::Logic(Logic::Or), Bool(a), Bool(b)) => Bool(a || b),
        (op, a, b) => panic!("{op} of {a:?} and {b:?}"),
    })
}

/// The most elements of an array.
const MOST: usize = 1 << 18;

/// What is known of a run.
#[derive(Default)]
pub struct Evaluator {
    /// The largest absolute value of a float in scalar code so far; infinite after a NaN.
    pub largest: Cell<f64>,
    /// Whether a maximum, a minimum or a sign was taken of equal floats: there is no derivative there.
    pub tie: Cell<bool>,
    /// Whether an operation failed, also one that the results do not need: the values after it must not be used.
    pub failed: Cell<bool>,
}

/// A value with its type.
type Typed<'a> = (Value, &'a Elem);

impl Evaluator {
    /// The results of a block whose parameters are the last arrays. `arrays` stay as they are.
    fn block(&self, block: &Block, mut arrays: Vec<Plain>) -> Vec<Plain> {
        for def in &block.defs {
            let defined = self.step(&def.tys, &def.step, &arrays);
            arrays.extend(defined);
        }
        block.results.iter().map(|a| arrays[*a].clone()).collect()
    }

    /// The arrays that an operation defines.
    pub fn step(&self, tys: &[Ty], step: &Step, arrays: &[Plain]) -> Vec<Plain> {
        let defined = self.values(tys, step, arrays);
        assert!(defined.iter().map(|a| a.shape.len()).eq(tys.iter().map(|ty| ty.rank)), "{step:?}");
        defined
    }

    /// The condition `holds` of an operation.
    fn require(&self, holds: bool) -> bool {
        self.failed.set(self.failed.get() || !holds);
        holds
    }

    fn record(&self, x: Scalar) -> Scalar {
        if let Scalar::F64(x) = x {
            self.largest.set(if x.is_nan() { f64::INFINITY } else { self.largest.get().max(x.abs()) });
        }
        x
    }

    /// Records ties of floats.
    fn compared(&self, a: Scalar, b: Scalar) {
        if matches!((a, b), (Scalar::F64(a), Scalar::F64(b)) if a == b) {
            self.tie.set(true);
        }
    }

    fn op2(&self, op: Op2, a: Scalar, b: Scalar) -> Scalar {
        if matches!(op, Op2::Num(Num2::Min | Num2::Max) | Op2::Cmp(_)) {
            self.compared(a, b);
        }
        let x = op2(op, a, b);
        self.require(x.is_some());
        self.record(x.unwrap_or(Scalar::I64(0)))
    }

    fn num(&self, op: Num2, a: Scalar, b: Scalar) -> Scalar {
        self.op2(Op2::Num(op), a, b)
    }

    fn basic(&self, op: Basic, a: Scalar, b: Scalar) -> Scalar {
        let bits = |int, logic| match a {
            Scalar::Bool(_) => self.op2(logic, a, b),
            _ => self.op2(Op2::Int(int), a, b),
        };
        match op {
            Basic::Add => self.num(Num2::Add, a, b),
            Basic::Mul => self.num(Num2::Mul, a, b),
            Basic::Min => self.num(Num2::Min, a, b),
            Basic::Max => self.num(Num2::Max, a, b),
            Basic::And => bits(Int2::And, Op2::Logic(Logic::And)),
            Basic::Or => bits(Int2::Or, Op2::Logic(Logic::Or)),
            Basic::Xor => bits(Int2::Xor, Op2::Cmp(Cmp::Ne)),
            Basic::General => self.num(Num2::Add, self.num(Num2::Add, a, b), self.num(Num2::Mul, a, b)),
        }
    }

    /// Two elements combined.
    fn operator(&self, op: &Operator, a: &[Scalar], b: &[Scalar]) -> Value {
        match op {
            Operator::Each(ops) => {
                ops.iter().zip(a.iter().zip(b)).map(|(op, (a, b))| self.basic(*op, *a, *b)).collect()
            }
            Operator::First => a.to_vec(),
            Operator::Second => b.to_vec(),
            Operator::ArgMax => {
                self.compared(a[0], b[0]);
                let is_nan = matches!(b[0], Scalar::F64(x) if x.is_nan());
                if is_nan || compare(Cmp::Lt, a[0], b[0]) { b.to_vec() } else { a.to_vec() }
            }
            Operator::Affine => {
                let shifted = self.num(Num2::Mul, b[0], a[1]);
                vec![self.num(Num2::Mul, a[0], b[0]), self.num(Num2::Add, shifted, b[1])]
            }
        }
    }

    /// The results of a function of some values, given the values around it.
    fn fun<'a>(&self, arrays: &[Plain], f: &'a Fun, outer: &[Typed<'a>], params: Vec<Value>) -> Vec<Value> {
        assert_eq!(f.params.len(), params.len(), "{f:?}");
        let mut values = outer.to_vec();
        values.extend(params.into_iter().zip(&f.params));
        for (elem, node) in &f.nodes {
            let x = self.node(arrays, elem, node, &values);
            x.iter().for_each(|x| {
                self.record(*x);
            });
            values.push((x, elem));
        }
        f.results.iter().map(|v| values[*v].0.clone()).collect()
    }

    fn node<'a>(&self, arrays: &[Plain], elem: &Elem, node: &'a Node, values: &[Typed<'a>]) -> Value {
        let get = |v: &Val| &values[*v].0;
        let one = |v: &Val| get(v)[0];
        match node {
            Node::Const(leaves) => leaves.iter().map(|x| x.0).collect(),
            Node::Op1(op, a) => {
                if matches!(op, Op1::Num(Num1::Abs | Num1::Signum)) {
                    self.compared(one(a), Scalar::F64(0.0));
                }
                vec![op1(*op, one(a))]
            }
            // A number compared with itself is no tie.
            Node::Op2(Op2::Num(Num2::Min | Num2::Max), a, b) if a == b => get(a).clone(),
            Node::Op2(Op2::Cmp(op), a, b) if a == b => vec![Scalar::Bool(compare(*op, one(a), one(b)))],
            Node::Op2(op, a, b) => vec![self.op2(*op, one(a), one(b))],
            Node::Clamp(x, low, high) => {
                vec![self.num(Num2::Min, self.num(Num2::Max, one(x), one(low)), one(high))]
            }
            Node::Powi(x, n) => vec![powi(one(x), *n)],
            Node::Cond(c, a, b) => get(if truth(get(c)) { a } else { b }).clone(),
            Node::Tuple(parts) => parts.iter().flat_map(get).copied().collect(),
            Node::Part(x, i) => {
                let Elem::Tuple(parts) = values[*x].1 else { panic!("a part of a scalar") };
                let first: usize = parts[..*i].iter().map(|p| p.leaves().len()).sum();
                get(x)[first..first + elem.leaves().len()].to_vec()
            }
            Node::Read { array, index, outside } => {
                let (a, index) = (&arrays[*array], index.iter().map(|i| int(get(i))).collect::<Vec<_>>());
                self.inside(*outside, &a.shape, &index).map_or_else(|| zero(elem), |ix| a.at(&ix))
            }
            Node::Extent { array, dim } => vec![Scalar::I64(arrays[*array].shape[*dim] as i64)],
            Node::Size(array) => vec![Scalar::I64(arrays[*array].data.len() as i64)],
            Node::While { times, init, continues, body } => {
                let (times, mut x) = (int(get(times)).min(MOST_STEPS), get(init).clone());
                for k in 0.. {
                    let state = vec![vec![Scalar::I64(k)], x.clone()];
                    if !truth(&self.fun(arrays, continues, values, state.clone())[0]) || k >= times {
                        break;
                    }
                    x = self.fun(arrays, body, values, state).remove(0);
                }
                x
            }
            Node::Gradient { .. } => panic!("small programs have no gradients in scalar code"),
        }
    }

    /// The index of an element; `None` if no element is accessed.
    fn inside(&self, outside: Outside, shape: &[usize], index: &[i64]) -> Option<Vec<usize>> {
        if outside == Outside::Wraps {
            let wrap = |(n, i): (&usize, &i64)| (*n > 0).then(|| i.rem_euclid(*n as i64) as usize);
            return shape.iter().zip(index).map(wrap).collect();
        }
        let is_inside = shape.iter().zip(index).all(|(n, i)| (0..*n as i64).contains(i));
        self.require(is_inside || outside == Outside::Skips);
        is_inside.then(|| index.iter().map(|i| *i as usize).collect())
    }

    /// A shape with these extents, if there is one that is not too large.
    fn shape(&self, extents: &[i64]) -> Vec<usize> {
        let shape: Vec<usize> = extents.iter().map(|n| usize::try_from(*n).unwrap_or(usize::MAX)).collect();
        let fits = shape.iter().all(|n| *n <= MOST) && shape.iter().fold(1, |p: usize, n| p.saturating_mul(*n)) <= MOST;
        if self.require(fits) { shape } else { vec![0; extents.len()] }
    }

    /// The common extents of arrays. With `strict`, others are an error.
    fn common(&self, strict: bool, arrays: &[&Plain]) -> Vec<usize> {
        let shape = (0..arrays[0].shape.len()).map(|d| arrays.iter().map(|a| a.shape[d]).min().unwrap_or(0)).collect();
        self.require(!strict || arrays.iter().all(|a| a.shape == shape));
        shape
    }

    /// The element that each row is folded to; without `z`, an empty row is an error.
    fn fold(&self, elem: &Elem, x: &Plain, z: Option<Value>, f: impl Fn(&[Scalar], &[Scalar]) -> Value) -> Plain {
        rows(x, |row| {
            let folded = z.iter().chain(row).cloned().reduce(|a, b| f(&a, &b));
            self.require(folded.is_some());
            vec![folded.unwrap_or_else(|| zero(elem))]
        })
    }

    /// All partial results of each row.
    fn scan(&self, op: &Operator, z: Option<Value>, right: bool, x: &Plain) -> Plain {
        let extra = usize::from(z.is_some());
        let mut all = rows(x, |row| {
            let mut row = row.to_vec();
            if right {
                row.reverse();
            }
            let mut out: Vec<Value> = vec![];
            for e in z.iter().chain(&row) {
                out.push(match out.last() {
                    None => e.clone(),
                    Some(a) if right => self.operator(op, e, a),
                    Some(a) => self.operator(op, a, e),
                });
            }
            if right {
                out.reverse();
            }
            out
        });
        all.shape.push(x.shape[x.shape.len() - 1] + extra);
        all
    }

    /// The positions of the elements of each row in sorted order.
    fn sorted(&self, x: &Plain, descending: bool) -> Plain {
        let mut all = rows(x, |row| {
            let mut positions: Vec<usize> = (0..row.len()).collect();
            positions.sort_by(|i, j| {
                let order = sorting(row[*i][0], row[*j][0]);
                if descending { order.reverse() } else { order }
            });
            positions.windows(2).for_each(|pair| self.compared(row[pair[0]][0], row[pair[1]][0]));
            ints(&positions)
        });
        all.shape.push(x.shape[x.shape.len() - 1]);
        all
    }

    fn values(&self, tys: &[Ty], step: &Step, arrays: &[Plain]) -> Vec<Plain> {
        let get = |a: &Arr| &arrays[*a];
        let elem = &tys[0].elem;
        let call = |f: &Fun, params: Vec<Value>| self.fun(arrays, f, &[], params);
        let value = |f: &Fun| call(f, vec![]).remove(0);
        let numbers = |f: &Fun| call(f, vec![]).iter().map(|x| int(x)).collect::<Vec<_>>();
        let shape = |f: &Fun| self.shape(&numbers(f));
        let nothing = || Plain::generate(vec![0; tys[0].rank], |_| zero(elem));
        let one = match step {
            Step::Use(given) => Plain::of(&given.raw()),
            Step::Generate { shape: sh, f } => Plain::generate(shape(sh), |ix| call(f, ints(ix)).remove(0)),
            Step::Fill { shape: sh, x } => Plain::generate(shape(sh), |_| value(x)),
            Step::EnumFromN { shape: sh, start } => {
                let (sh, start) = (shape(sh), value(start)[0]);
                Plain::generate(sh.clone(), |ix| {
                    let k = op1(Op1::Cast(start.ty()), Scalar::I64(place(&sh, ix) as i64));
                    vec![self.num(Num2::Add, k, start)]
                })
            }
            Step::Map { f, x } => {
                let x = get(x);
                Plain::generate(x.shape.clone(), |ix| call(f, vec![x.at(ix)]).remove(0))
            }
            Step::Imap { f, x } => {
                let x = get(x);
                Plain::generate(x.shape.clone(), |ix| call(f, [ints(ix), vec![x.at(ix)]].concat()).remove(0))
            }
            Step::ZipWith { strict, f, x, y } => {
                let (x, y) = (get(x), get(y));
                Plain::generate(self.common(*strict, &[x, y]), |ix| call(f, vec![x.at(ix), y.at(ix)]).remove(0))
            }
            Step::ZipWith3 { strict, f, x, y, z } => {
                let (x, y, z) = (get(x), get(y), get(z));
                Plain::generate(self.common(*strict, &[x, y, z]), |ix| {
                    call(f, vec![x.at(ix), y.at(ix), z.at(ix)]).remove(0)
                })
            }
            Step::Zip { strict, x, y } => {
                let (x, y) = (get(x), get(y));
                Plain::generate(self.common(*strict, &[x, y]), |ix| [x.at(ix), y.at(ix)].concat())
            }
            Step::Zip3 { strict, x, y, z } => {
                let (x, y, z) = (get(x), get(y), get(z));
                Plain::generate(self.common(*strict, &[x, y, z]), |ix| [x.at(ix), y.at(ix), z.at(ix)].concat())
            }
            Step::Unzip { x } | Step::Unzip3 { x } => {
                return get(x).parts(tys.iter().map(|ty| ty.elem.leaves().len()));
            }
            Step::Fold { op, z, all, x } => {
                let x = if *all { get(x).flat() } else { get(x).clone() };
                self.fold(elem, &x, z.as_ref().map(value), |a, b| self.operator(op, a, b))
            }
            Step::Reduce { what, all, x } => {
                let x = if *all { get(x).flat() } else { get(x).clone() };
                let number = |x: f64| Some(vec![elem.leaves()[0].ty().from_f64(x)]);
                let (op, z) = match what {
                    Reduce::Sum => (Basic::Add, number(0.0)),
                    Reduce::Product => (Basic::Mul, number(1.0)),
                    Reduce::Maximum => (Basic::Max, None),
                    Reduce::Minimum => (Basic::Min, None),
                    Reduce::All => (Basic::And, number(1.0)),
                    Reduce::Any => (Basic::Or, number(0.0)),
                };
                self.fold(elem, &x, z, |a, b| vec![self.basic(op, a[0], b[0])])
            }
            Step::Scan { op, z, right, x } => self.scan(op, z.as_ref().map(value), *right, get(x)),
            Step::ScanEx { op, z, right, x } => {
                let (n, all) = (get(x).shape[tys[0].rank - 1], self.scan(op, Some(value(z)), *right, get(x)));
                let (partial, total) = if *right { (1, 0) } else { (0, n) };
                let mut totals = all.along_rows(1, |_| total);
                totals.shape.pop();
                return vec![all.along_rows(n, |i| i + partial), totals];
            }
            Step::Permute { op, defaults, outside, target, x } => {
                let (mut out, x) = (get(defaults).clone(), get(x));
                for (ix, e) in indices(&x.shape).iter().zip(&x.data) {
                    let t = call(target, ints(ix));
                    let to: Vec<i64> = t[1..].iter().map(|i| int(i)).collect();
                    if truth(&t[0])
                        && let Some(to) = self.inside(*outside, &out.shape, &to)
                    {
                        let p = place(&out.shape, &to);
                        out.data[p] = self.operator(op, e, &out.data[p]);
                    }
                }
                out
            }
            Step::Scatter { to, defaults, x } => {
                let (to, mut out, x) = (get(to), get(defaults).clone(), get(x));
                self.common(true, &[to, x]);
                for (to, e) in to.data.iter().zip(&x.data) {
                    if let Some(to) = self.inside(Outside::Fails, &out.shape, &[int(to)]) {
                        out.data[to[0]] = e.clone();
                    }
                }
                out
            }
            Step::Backpermute { shape: sh, outside, source, x } => {
                let x = get(x);
                let empty = *outside == Outside::Wraps && x.data.is_empty();
                let sh = if empty { vec![0; tys[0].rank] } else { shape(sh) };
                Plain::generate(sh, |ix| {
                    let from: Vec<i64> = call(source, ints(ix)).iter().map(|i| int(i)).collect();
                    self.inside(*outside, &x.shape, &from).map_or_else(|| zero(elem), |from| x.at(&from))
                })
            }
            Step::Gather { from, x } => {
                let (from, x) = (get(from), get(x));
                Plain::generate(from.shape.clone(), |ix| {
                    let i = self.inside(Outside::Fails, &x.shape, &[int(&from.at(ix))]);
                    i.map_or_else(|| zero(elem), |i| x.at(&i))
                })
            }
            Step::Reshape { shape: sh, x } => {
                let (shape, data) = (shape(sh), get(x).data.clone());
                if self.require(shape.iter().product::<usize>() == data.len()) {
                    Plain { shape, data }
                } else {
                    nothing()
                }
            }
            Step::Flatten { x } => get(x).flat(),
            Step::Replicate { new, extents, x } => {
                let (x, mut added) = (get(x), numbers(extents).into_iter());
                let mut old = x.shape.iter().map(|n| *n as i64);
                let extents = new.iter().map(|new| if *new { added.next() } else { old.next() }.expect("an extent"));
                Plain::generate(self.shape(&extents.collect::<Vec<_>>()), |ix| {
                    x.at(&ix.iter().zip(new).filter(|(_, new)| !**new).map(|(i, _)| *i).collect::<Vec<_>>())
                })
            }
            Step::Slice { gone, indices, x } => {
                let (x, fixed) = (get(x), numbers(indices));
                let kept = gone.iter().zip(&x.shape).filter(|(gone, _)| !**gone).map(|(_, n)| *n);
                let cut: Vec<usize> = gone.iter().zip(&x.shape).filter(|(gone, _)| **gone).map(|(_, n)| *n).collect();
                match self.inside(Outside::Fails, &cut, &fixed) {
                    None => nothing(),
                    Some(fixed) => Plain::generate(kept.collect(), |ix| {
                        let (mut fixed, mut ix) = (fixed.iter(), ix.iter());
                        let from = gone.iter().map(|gone| if *gone { fixed.next() } else { ix.next() });
                        x.at(&from.map(|i| *i.expect("an index")).collect::<Vec<_>>())
                    }),
                }
            }
            Step::Rearrange { what: Rearrange::Transpose, x } => {
                let x = get(x);
                Plain::generate(vec![x.shape[1], x.shape[0]], |ix| x.at(&[ix[1], ix[0]]))
            }
            Step::Rearrange { what, x } => {
                let (x, n) = (get(x), get(x).shape[tys[0].rank - 1]);
                match what {
                    Rearrange::Reverse | Rearrange::Turned => x.along_rows(n, |i| n - 1 - i),
                    Rearrange::Tail => x.along_rows(n.saturating_sub(1), |i| i + 1),
                    _ => x.along_rows(n.saturating_sub(1), |i| i),
                }
            }
            Step::Take { n: count, x } | Step::Skip { n: count, x } => {
                let (x, n) = (get(x), get(x).shape[tys[0].rank - 1]);
                let count = numbers(count)[0].clamp(0, n as i64) as usize;
                match step {
                    Step::Take { .. } => x.along_rows(count, |i| i),
                    _ => x.along_rows(n - count, |i| i + count),
                }
            }
            Step::Concat { x, y } => {
                let (x, y, last) = (get(x), get(y), tys[0].rank - 1);
                let mut shape: Vec<usize> = x.shape.iter().zip(&y.shape).map(|(n, m)| *n.min(m)).collect();
                self.require(x.shape[..last] == y.shape[..last]);
                let n = x.shape[last];
                shape[last] = n + y.shape[last];
                Plain::generate(shape, |ix| match ix[last].checked_sub(n) {
                    None => x.at(ix),
                    Some(i) => y.at(&[&ix[..last], &[i]].concat()),
                })
            }
            Step::Sort { what, x } => {
                use Sort::*;
                let positions = self.sorted(get(x), matches!(what, PositionsDescending | ElementsDescending));
                match what {
                    Positions | PositionsDescending => positions,
                    Elements | ElementsDescending => moved(get(x), &positions),
                }
            }
            Step::SortByKey { descending, x, y } => {
                self.common(true, &[get(x), get(y)]);
                let positions = self.sorted(get(x), *descending);
                if get(x).shape != get(y).shape {
                    return vec![get(x).clone(), get(y).clone()];
                }
                return vec![moved(get(x), &positions), moved(get(y), &positions)];
            }
            Step::Product { what, x, y } => {
                let (x, y) = (get(x), get(y));
                let agree = self.require(x.shape.last() == y.shape.first());
                let n = if agree { y.shape[0] } else { 0 };
                let shape = match what {
                    Product::Dot => vec![],
                    Product::Matvec => vec![x.shape[0]],
                    Product::Matmul => vec![x.shape[0], y.shape[1]],
                };
                let zero = zero(elem)[0];
                Plain::generate(shape, |ix| {
                    let (row, column) = ix.split_at(ix.len().min(1));
                    let product = |k: usize| {
                        let (a, b) = (x.at(&[row, &[k]].concat()), y.at(&[&[k], column].concat()));
                        self.num(Num2::Mul, a[0], b[0])
                    };
                    vec![(0..n).map(product).fold(zero, |a, b| self.num(Num2::Add, a, b))]
                })
            }
            Step::Acond { c, then, otherwise } => {
                let chosen = if truth(&value(c)) { then } else { otherwise };
                return chosen.iter().map(|a| get(a).clone()).collect();
            }
            Step::Awhile { times, continues, init, body } => {
                let times = numbers(times)[0].min(MOST_STEPS);
                let mut state: Vec<Plain> = init.iter().map(|a| get(a).clone()).collect();
                for k in 0.. {
                    let number = Plain { shape: vec![], data: vec![vec![Scalar::I64(k)]] };
                    let inside = [arrays, &[number], &state].concat();
                    if !truth(&self.fun(&inside, continues, &[], vec![])[0]) || k >= times {
                        break;
                    }
                    state = self.block(body, inside);
                }
                return state;
            }
            Step::Call { program, args } => return self.block(program, args.iter().map(|a| get(a).clone()).collect()),
        };
        vec![one]
    }
}

/// A power by repeated squares, from the lowest bit on.
fn powi(x: Scalar, n: i32) -> Scalar {
    let Scalar::F64(x) = x else { panic!("{x:?} is not a float") };
    let (mut square, mut rest, mut power) = (x, n.unsigned_abs(), None);
    while rest > 0 {
        if rest % 2 == 1 {
            power = Some(power.map_or(square, |p: f64| p * square));
        }
        rest /= 2;
        square *= square;
    }
    let power = power.unwrap_or(1.0);
    Scalar::F64(if n < 0 { 1.0 / power } else { power })
}

/// Applies `f` to each innermost row, one after the other. The shape is that of the outer dimensions.
fn rows(x: &Plain, f: impl Fn(&[Value]) -> Vec<Value>) -> Plain {
    let (n, outer) = x.shape.split_last().expect("at least one dimension");
    let count: usize = outer.iter().product();
    let data = (0..count).flat_map(|r| f(&x.data[r * n..(r + 1) * n])).collect();
    Plain { shape: outer.to_vec(), data }
}

/// The elements of each row at the positions in the same row.
fn moved(x: &Plain, positions: &Plain) -> Plain {
    Plain::generate(x.shape.clone(), |ix| {
        let outer = &ix[..ix.len() - 1];
        x.at(&[outer, &[int(&positions.at(ix)) as usize]].concat())
    })
}

/// The results of a program for an argument, and what is known of the run.
pub fn evaluate(p: &Program, argument: &ArrayTuple) -> (Vec<Plain>, Evaluator) {
    let e = Evaluator::default();
    let results = e.block(&p.body, argument.leaves().into_iter().map(Plain::of).collect());
    (results, e)
}
