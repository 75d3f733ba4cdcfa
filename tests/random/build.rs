//! Writes a random program in the surface language.

use super::program::{Scalar, *};
use accel::prelude::{Scalar as Array0, *};
use std::cell::RefCell;

/// The arguments of every random program.
pub type Args = (Vector<f64>, Vector<f64>, Matrix<f64>, Vector<i64>);
/// The results of every random program.
pub type Results = (Array0<f64>, Vector<f64>, Matrix<f64>, Vector<i64>, Vector<(f64, i64)>);

/// A scalar handle of any type.
#[derive(Clone, Copy)]
enum Sc {
    F(Exp<f64>),
    I(Exp<i64>),
    B(Exp<bool>),
}

/// Arrays of one element type.
#[derive(Clone, Copy)]
enum Ranked<T> {
    S(Acc<Array0<T>>),
    V(Acc<Vector<T>>),
    M(Acc<Matrix<T>>),
}

/// An array handle of any type.
#[derive(Clone, Copy)]
enum Arr {
    F(Ranked<f64>),
    I(Ranked<i64>),
    P(Ranked<(f64, i64)>),
}

/// The element types.
trait Element: Elt + Copy {
    const ZERO: Self;
    fn open(e: Self::Exp) -> Vec<Sc>;
    fn close(parts: &[Sc]) -> Exp<Self>;
    fn wrap(xs: Ranked<Self>) -> Arr;
    fn unwrap(xs: Arr) -> Ranked<Self>;
    fn operator(op: Operator, a: Self::Exp, b: Self::Exp) -> Exp<Self>;
}

fn add_general<T: Num>(a: Exp<T>, b: Exp<T>) -> Exp<T> {
    a + b + a * b
}

fn on_numbers<T: Num>(op: Operator, a: Exp<T>, b: Exp<T>) -> Exp<T> {
    match op {
        Operator::Add => a + b,
        Operator::Mul => a * b,
        Operator::Min => a.min(b),
        Operator::Max => a.max(b),
        Operator::General => add_general(a, b),
        Operator::Last => cond(b.eq(constant(T::zero())), a, b),
        Operator::ArgMax => panic!("{op:?} of numbers"),
    }
}

impl Element for f64 {
    const ZERO: f64 = 0.0;
    fn open(e: Exp<f64>) -> Vec<Sc> {
        vec![Sc::F(e)]
    }
    fn close(parts: &[Sc]) -> Exp<f64> {
        parts[0].f()
    }
    fn wrap(xs: Ranked<f64>) -> Arr {
        Arr::F(xs)
    }
    fn unwrap(xs: Arr) -> Ranked<f64> {
        if let Arr::F(xs) = xs { xs } else { panic!("not floats") }
    }
    fn operator(op: Operator, a: Exp<f64>, b: Exp<f64>) -> Exp<f64> {
        on_numbers(op, a, b)
    }
}

impl Element for i64 {
    const ZERO: i64 = 0;
    fn open(e: Exp<i64>) -> Vec<Sc> {
        vec![Sc::I(e)]
    }
    fn close(parts: &[Sc]) -> Exp<i64> {
        parts[0].i()
    }
    fn wrap(xs: Ranked<i64>) -> Arr {
        Arr::I(xs)
    }
    fn unwrap(xs: Arr) -> Ranked<i64> {
        if let Arr::I(xs) = xs { xs } else { panic!("not integers") }
    }
    fn operator(op: Operator, a: Exp<i64>, b: Exp<i64>) -> Exp<i64> {
        on_numbers(op, a, b)
    }
}

impl Element for (f64, i64) {
    const ZERO: (f64, i64) = (0.0, 0);
    fn open((x, i): (Exp<f64>, Exp<i64>)) -> Vec<Sc> {
        vec![Sc::F(x), Sc::I(i)]
    }
    fn close(parts: &[Sc]) -> Exp<(f64, i64)> {
        pair(parts[0].f(), parts[1].i())
    }
    fn wrap(xs: Ranked<(f64, i64)>) -> Arr {
        Arr::P(xs)
    }
    fn unwrap(xs: Arr) -> Ranked<(f64, i64)> {
        if let Arr::P(xs) = xs { xs } else { panic!("not pairs") }
    }
    fn operator(op: Operator, a: (Exp<f64>, Exp<i64>), b: (Exp<f64>, Exp<i64>)) -> Exp<(f64, i64)> {
        match op {
            Operator::Add => pair(a.0 + b.0, a.1 + b.1),
            Operator::General => pair(add_general(a.0, b.0), a.1.max(b.1)),
            Operator::ArgMax => cond::<(f64, i64)>(a.0.lt(b.0), b, a),
            op => panic!("{op:?} of pairs"),
        }
    }
}

impl Sc {
    fn f(self) -> Exp<f64> {
        if let Sc::F(x) = self { x } else { panic!("not a float") }
    }
    fn i(self) -> Exp<i64> {
        if let Sc::I(x) = self { x } else { panic!("not an integer") }
    }
    fn b(self) -> Exp<bool> {
        if let Sc::B(x) = self { x } else { panic!("not a bool") }
    }
}

/// Does the same with arrays of any element type.
macro_rules! with_array {
    ($array:expr, $xs:ident => $body:expr) => {
        match $array {
            Arr::F($xs) => Element::wrap($body),
            Arr::I($xs) => Element::wrap($body),
            Arr::P($xs) => Element::wrap($body),
        }
    };
}

/// Does the same with the Rust type `$T` of the elements.
macro_rules! with_elem {
    ($elem:expr, $T:ident => $body:expr) => {
        match $elem {
            Elem::F => {
                type $T = f64;
                Element::wrap($body)
            }
            Elem::I => {
                type $T = i64;
                Element::wrap($body)
            }
            Elem::P => {
                type $T = (f64, i64);
                Element::wrap($body)
            }
        }
    };
}

/// Writes the steps of a program.
pub struct Builder<'a> {
    program: &'a Program,
    inputs: [Arr; INPUTS.len()],
    /// The steps written so far; `None` to write a step anew wherever it is used, and every scalar too.
    shared: Option<RefCell<Vec<Arr>>>,
}

impl<'a> Builder<'a> {
    pub fn new(p: &'a Program, args: Acc<Args>, sharing: bool) -> Self {
        let (xs, ys, m, is) = args.unlift();
        let inputs = [Arr::F(Ranked::V(xs)), Arr::F(Ranked::V(ys)), Arr::F(Ranked::M(m)), Arr::I(Ranked::V(is))];
        let b = Builder { program: p, inputs, shared: sharing.then(|| RefCell::new(vec![])) };
        if let Some(shared) = &b.shared {
            for (ty, step) in &p.steps {
                let a = b.step(*ty, step);
                shared.borrow_mut().push(a);
            }
        }
        b
    }

    /// The results as a tuple.
    pub fn results(&self) -> Acc<Results> {
        let [x, v, m, i, p] = self.program.results.map(|k| self.array(k));
        let (Arr::F(Ranked::S(x)), Arr::F(Ranked::V(v)), Arr::F(Ranked::M(m))) = (x, v, m) else {
            panic!("results of other types");
        };
        let (Arr::I(Ranked::V(i)), Arr::P(Ranked::V(p))) = (i, p) else { panic!("results of other types") };
        (x, v, m, i, p).into_acc()
    }

    /// A number to which all floats of the results contribute.
    pub fn objective(&self) -> Acc<Array0<f64>> {
        let (x, v, m, _, p) = self.results().unlift();
        let v = sum(imap(|i, x: Exp<f64>| (x + i.cast::<f64>() * 0.1).tanh(), v));
        let m = sum_all(imap(|(i, j), x: Exp<f64>| (x * 0.5 + (i - j).cast::<f64>() * 0.1).sin(), m));
        let p = sum(map(|(x, i): (Exp<f64>, Exp<i64>)| x.tanh() * i.cast::<f64>().tanh(), p));
        let total = zip_with(|a, b| a + b, zip_with(|a, b| a + b, v, m), p);
        zip_with(|a: Exp<f64>, b| a.tanh() + b, x, total)
    }

    fn array(&self, k: usize) -> Arr {
        match &self.shared {
            Some(shared) => shared.borrow()[k],
            None => self.step(self.program.steps[k].0, &self.program.steps[k].1),
        }
    }

    fn floats<T: Element>(&self, k: usize) -> Ranked<T> {
        T::unwrap(self.array(k))
    }

    fn extents(&self, k: usize) -> Vec<Exp<i64>> {
        match self.array(k) {
            Arr::F(xs) => xs.extents(),
            Arr::I(xs) => xs.extents(),
            Arr::P(xs) => xs.extents(),
        }
    }

    fn extent(&self, e: &Extent) -> Exp<i64> {
        match e {
            Extent::Const(n) => constant(*n),
            Extent::Of { array, dim } => self.extents(*array)[*dim],
        }
    }

    fn fun(&self, f: &Fun, params: &[Sc]) -> Vec<Sc> {
        if self.shared.is_none() {
            return f.results.iter().map(|i| self.unshared(f, *i, params)).collect();
        }
        let mut v: Vec<Sc> = vec![];
        for (ty, node) in &f.nodes {
            let x = self.node(*ty, node, params, &|i| v[i]);
            v.push(x);
        }
        f.results.iter().map(|i| v[*i]).collect()
    }

    fn unshared(&self, f: &Fun, i: usize, params: &[Sc]) -> Sc {
        let (ty, node) = &f.nodes[i];
        self.node(*ty, node, params, &|i| self.unshared(f, i, params))
    }

    fn node(&self, ty: Scalar, node: &Node, params: &[Sc], get: &dyn Fn(usize) -> Sc) -> Sc {
        match node {
            Node::Param(p) => params[*p],
            Node::F(x) => Sc::F(constant(*x)),
            Node::I(x) => Sc::I(constant(*x)),
            Node::Unary(op, a) => unary(*op, get(*a)),
            Node::Binary(op, a, b) => binary(*op, get(*a), get(*b)),
            Node::Quotient(a, k) => Sc::I(get(*a).i().div_euclid(*k)),
            Node::Modulo(a, k) => Sc::I(get(*a).i().rem_euclid(*k)),
            Node::Compare(op, a, b) => match (get(*a), get(*b)) {
                (Sc::F(a), Sc::F(b)) => Sc::B(compare(*op, a, b)),
                (a, b) => Sc::B(compare(*op, a.i(), b.i())),
            },
            Node::Cond(c, a, b) => match (get(*a), get(*b)) {
                (Sc::F(a), Sc::F(b)) => Sc::F(cond(get(*c).b(), a, b)),
                (Sc::I(a), Sc::I(b)) => Sc::I(cond(get(*c).b(), a, b)),
                (a, b) => Sc::B(cond(get(*c).b(), a.b(), b.b())),
            },
            Node::Read { array, index, part } => {
                let index: Vec<_> = index.iter().map(|i| get(*i).i()).collect();
                let extents = self.extents(*array);
                let index = wrap(&index, &extents);
                let element = match self.array(*array) {
                    Arr::F(xs) => xs.read(&index)[*part],
                    Arr::I(xs) => xs.read(&index)[*part],
                    Arr::P(xs) => xs.read(&index)[*part],
                };
                match (not_empty(&extents), element, ty) {
                    (None, element, _) => element,
                    (Some(c), Sc::F(x), Scalar::F) => Sc::F(cond(c, x, 0.0)),
                    (Some(c), x, _) => Sc::I(cond(c, x.i(), 0)),
                }
            }
            Node::Extent { array, dim } => Sc::I(self.extents(*array)[*dim]),
            Node::Loop { times, init, capture, body } => {
                let (init, capture) = (get(*init).f(), get(*capture));
                let state = while_::<(i64, f64), _, _>(
                    |(k, _)| k.lt(*times),
                    |(k, x)| (k + 1, self.fun(body, &[Sc::F(x), capture, Sc::I(k)])[0].f()),
                    (0i64, init),
                );
                Sc::F(state.snd())
            }
        }
    }

    fn step(&self, ty: Ty, step: &Step) -> Arr {
        let elem = ty.elem;
        match step {
            Step::Input(i) => self.inputs[*i],
            Step::Generate { extents, f } => {
                let extents: Vec<_> = extents.iter().map(|e| self.extent(e)).collect();
                with_elem!(elem, T => generated::<T>(&extents, |ix| self.fun(f, ix)))
            }
            Step::Map { f, x } => {
                let x = self.array(*x);
                with_elem!(elem, R => match x {
                    Arr::F(x) => mapped::<_, R>(x, |e| self.fun(f, e)),
                    Arr::I(x) => mapped::<_, R>(x, |e| self.fun(f, e)),
                    Arr::P(x) => mapped::<_, R>(x, |e| self.fun(f, e)),
                })
            }
            Step::ZipWith { f, x, y } => {
                let (x, y) = (self.array(*x), self.array(*y));
                let f = |e: &[Sc]| self.fun(f, e);
                with_elem!(elem, R => match (x, y) {
                    (Arr::F(x), Arr::F(y)) => zipped::<_, _, R>(x, y, f),
                    (Arr::F(x), Arr::I(y)) => zipped::<_, _, R>(x, y, f),
                    (Arr::I(x), Arr::F(y)) => zipped::<_, _, R>(x, y, f),
                    (Arr::I(x), Arr::I(y)) => zipped::<_, _, R>(x, y, f),
                    (Arr::P(x), Arr::F(y)) => zipped::<_, _, R>(x, y, f),
                    (Arr::P(x), Arr::P(y)) => zipped::<_, _, R>(x, y, f),
                    _ => panic!("a zip_with that is not generated"),
                })
            }
            Step::Fold { op, z, x } => {
                let z = z.as_ref().map(|z| self.fun(z, &[]));
                with_array!(self.array(*x), xs => folded(*op, z.as_deref(), xs))
            }
            Step::Scan { left, op, z, x } => {
                let z = z.as_ref().map(|z| self.fun(z, &[]));
                with_array!(self.array(*x), xs => scanned(*left, *op, z.as_deref(), xs))
            }
            Step::Permute { op, defaults, target, x } => with_elem!(elem, T => {
                let (defaults, x) = (self.floats::<T>(*defaults), self.floats::<T>(*x));
                permuted(*op, defaults, x, |ix| self.fun(target, ix))
            }),
            Step::Backpermute { extents, source, x } => {
                let extents: Vec<_> = extents.iter().map(|e| self.extent(e)).collect();
                with_array!(self.array(*x), xs => backpermuted(&extents, xs, |ix| self.fun(source, ix)))
            }
            Step::Replicate { dims, x } => {
                let dims: Vec<_> = dims.iter().map(|d| d.as_ref().map(|e| self.extent(e))).collect();
                with_array!(self.array(*x), xs => replicated(&dims, xs))
            }
            Step::Slice { dims, x } => with_array!(self.array(*x), xs => sliced(dims, xs)),
            Step::Rearrange(what, x) => with_array!(self.array(*x), xs => rearranged(*what, xs)),
            Step::Concat(x, y) => with_elem!(elem, T => match (self.floats::<T>(*x), self.floats::<T>(*y)) {
                (Ranked::V(x), Ranked::V(y)) => Ranked::V(concat(x, y)),
                (Ranked::M(x), Ranked::M(y)) => Ranked::M(concat(x, y)),
                _ => panic!("concat of other ranks"),
            }),
            Step::Acond { c, x, y, tupled } => {
                let c = self.fun(c, &[])[0].b();
                with_elem!(elem, T => chosen(c, self.floats::<T>(*x), self.floats::<T>(*y), *tupled))
            }
            Step::Awhile { times, f, x } => {
                with_array!(self.array(*x), xs => repeated(*times, xs, |e| self.fun(f, e)))
            }
        }
    }
}

fn unary(op: Unary, x: Sc) -> Sc {
    match (op, x) {
        (Unary::Neg, Sc::I(x)) => Sc::I(-x),
        (Unary::Abs, Sc::I(x)) => Sc::I(x.abs()),
        (Unary::Signum, Sc::I(x)) => Sc::I(x.signum()),
        (Unary::Not, Sc::B(x)) => Sc::B(!x),
        (Unary::Not, x) => Sc::I(!x.i()),
        (Unary::CountOnes, x) => Sc::I(x.i().count_ones()),
        (Unary::ToFloat, x) => Sc::F(x.i().cast()),
        (Unary::ToInt, x) => Sc::I(x.f().cast()),
        (op, x) => {
            let x = x.f();
            Sc::F(match op {
                Unary::Neg => -x,
                Unary::Abs => x.abs(),
                Unary::Signum => x.signum(),
                Unary::Sin => x.sin(),
                Unary::Cos => x.cos(),
                Unary::Tanh => x.tanh(),
                Unary::Atan => x.atan(),
                Unary::Exp => x.exp(),
                Unary::Recip => x.recip(),
                Unary::Sqrt => x.sqrt(),
                Unary::Floor => x.floor(),
                Unary::Not | Unary::CountOnes | Unary::ToFloat | Unary::ToInt => unreachable!("matched above"),
            })
        }
    }
}

fn binary(op: Binary, a: Sc, b: Sc) -> Sc {
    match (a, b) {
        (Sc::F(a), Sc::F(b)) => Sc::F(match op {
            Binary::Div => a / b,
            Binary::Rem => a % b,
            Binary::Atan2 => a.atan2(b),
            Binary::Hypot => a.hypot(b),
            op => arithmetic(op, a, b),
        }),
        (Sc::I(a), Sc::I(b)) => Sc::I(match op {
            Binary::Xor => a ^ b,
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Shl => a << b,
            op => arithmetic(op, a, b),
        }),
        (a, b) => Sc::B(if op == Binary::And { a.b() & b.b() } else { a.b() | b.b() }),
    }
}

fn arithmetic<T: Num>(op: Binary, a: Exp<T>, b: Exp<T>) -> Exp<T> {
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Min => a.min(b),
        Binary::Max => a.max(b),
        op => panic!("{op:?} of numbers"),
    }
}

fn compare<T: Num>(op: Compare, a: Exp<T>, b: Exp<T>) -> Exp<bool> {
    match op {
        Compare::Lt => a.lt(b),
        Compare::Le => a.le(b),
        Compare::Eq => a.eq(b),
        Compare::Ne => a.ne(b),
    }
}

/// Whether there is an element; `None` for an array without dimensions, which has one.
fn not_empty(extents: &[Exp<i64>]) -> Option<Exp<bool>> {
    extents.iter().map(|n| n.ne(0)).reduce(|a, b| a & b)
}

/// Indices modulo extents; where an extent is 0 there is no right index.
fn wrap(index: &[Exp<i64>], extents: &[Exp<i64>]) -> Vec<Exp<i64>> {
    index.iter().zip(extents).map(|(i, n)| i.rem_euclid(n.max(1))).collect()
}

impl<T: Element> Ranked<T> {
    fn extents(self) -> Vec<Exp<i64>> {
        match self {
            Ranked::S(_) => vec![],
            Ranked::V(xs) => vec![xs.shape()],
            Ranked::M(xs) => {
                let (n, m) = xs.shape();
                vec![n, m]
            }
        }
    }

    fn read(self, ix: &[Exp<i64>]) -> Vec<Sc> {
        T::open(match self {
            Ranked::S(xs) => the(xs),
            Ranked::V(xs) => xs.at(ix[0]),
            Ranked::M(xs) => xs.at((ix[0], ix[1])),
        })
    }
}

/// The scalars of an array without dimensions cannot be indices of anything, so ranks are matched one by one below.
fn generated<T: Element>(extents: &[Exp<i64>], f: impl FnOnce(&[Sc]) -> Vec<Sc>) -> Ranked<T> {
    match extents {
        [] => Ranked::S(unit(T::close(&f(&[])))),
        [n] => Ranked::V(generate(*n, |i| T::close(&f(&[Sc::I(i)])))),
        [n, m] => Ranked::M(generate((*n, *m), |(i, j)| T::close(&f(&[Sc::I(i), Sc::I(j)])))),
        _ => panic!("more than two dimensions"),
    }
}

fn mapped<T: Element, R: Element>(xs: Ranked<T>, f: impl FnOnce(&[Sc]) -> Vec<Sc>) -> Ranked<R> {
    let f = |x| R::close(&f(&T::open(x)));
    match xs {
        Ranked::S(xs) => Ranked::S(map(f, xs)),
        Ranked::V(xs) => Ranked::V(map(f, xs)),
        Ranked::M(xs) => Ranked::M(map(f, xs)),
    }
}

fn zipped<A: Element, B: Element, R: Element>(
    xs: Ranked<A>,
    ys: Ranked<B>,
    f: impl FnOnce(&[Sc]) -> Vec<Sc>,
) -> Ranked<R> {
    let f = |x, y| R::close(&f(&[A::open(x), B::open(y)].concat()));
    match (xs, ys) {
        (Ranked::S(xs), Ranked::S(ys)) => Ranked::S(zip_with(f, xs, ys)),
        (Ranked::V(xs), Ranked::V(ys)) => Ranked::V(zip_with(f, xs, ys)),
        (Ranked::M(xs), Ranked::M(ys)) => Ranked::M(zip_with(f, xs, ys)),
        _ => panic!("zip_with of other ranks"),
    }
}

fn folded<T: Element>(op: Operator, z: Option<&[Sc]>, xs: Ranked<T>) -> Ranked<T> {
    let f = |a, b| T::operator(op, a, b);
    match (xs, z) {
        (Ranked::V(xs), Some(z)) => Ranked::S(fold(f, T::close(z), xs)),
        (Ranked::M(xs), Some(z)) => Ranked::V(fold(f, T::close(z), xs)),
        (Ranked::V(xs), None) => Ranked::S(acond(xs.shape().ne(0), fold1(f, xs), fill((), constant(T::ZERO)))),
        (Ranked::M(xs), None) => {
            let (n, m) = xs.shape();
            Ranked::V(acond(m.ne(0), fold1(f, xs), fill(n, constant(T::ZERO))))
        }
        (Ranked::S(_), _) => panic!("fold of rank 0"),
    }
}

fn scanned<T: Element>(left: bool, op: Operator, z: Option<&[Sc]>, xs: Ranked<T>) -> Ranked<T> {
    match xs {
        Ranked::S(_) => panic!("scan of rank 0"),
        Ranked::V(xs) => Ranked::V(scanned_rows(left, op, z, xs)),
        Ranked::M(xs) => Ranked::M(scanned_rows(left, op, z, xs)),
    }
}

fn scanned_rows<Sh: Shape, T: Element>(
    left: bool,
    op: Operator,
    z: Option<&[Sc]>,
    xs: Acc<Array<Snoc<Sh>, T>>,
) -> Acc<Array<Snoc<Sh>, T>> {
    let f = |a, b| T::operator(op, a, b);
    match (z, left) {
        (Some(z), true) => scanl(f, T::close(z), xs),
        (Some(z), false) => scanr(f, T::close(z), xs),
        (None, true) => scanl1(f, xs),
        (None, false) => scanr1(f, xs),
    }
}

fn permuted<T: Element>(
    op: Operator,
    defaults: Ranked<T>,
    xs: Ranked<T>,
    target: impl Fn(&[Sc]) -> Vec<Sc>,
) -> Ranked<T> {
    let extents = defaults.extents();
    let f = |a, b| T::operator(op, a, b);
    let to = |ix: &[Exp<i64>]| {
        let ix: Vec<_> = ix.iter().map(|i| Sc::I(*i)).collect();
        let t = target(&ix);
        let place: Vec<_> = t[1..].iter().map(|i| i.i()).collect();
        let keep = not_empty(&extents).map_or_else(|| t[0].b(), |some| t[0].b() & some);
        (keep, wrap(&place, &extents))
    };
    let one = |ix: &[Exp<i64>]| {
        let (keep, place) = to(ix);
        (keep, place[0])
    };
    let two = |ix: &[Exp<i64>]| {
        let (keep, place) = to(ix);
        (keep, (place[0], place[1]))
    };
    match (defaults, xs) {
        (Ranked::V(d), Ranked::V(xs)) => Ranked::V(permute(f, d, |i| one(&[i]), xs)),
        (Ranked::V(d), Ranked::M(xs)) => Ranked::V(permute(f, d, |(i, j)| one(&[i, j]), xs)),
        (Ranked::M(d), Ranked::V(xs)) => Ranked::M(permute(f, d, |i| two(&[i]), xs)),
        (Ranked::M(d), Ranked::M(xs)) => Ranked::M(permute(f, d, |(i, j)| two(&[i, j]), xs)),
        _ => panic!("permute of other ranks"),
    }
}

fn backpermuted<T: Element>(extents: &[Exp<i64>], xs: Ranked<T>, source: impl FnOnce(&[Sc]) -> Vec<Sc>) -> Ranked<T> {
    let old = xs.extents();
    let sh: Vec<_> = extents.iter().map(|n| not_empty(&old).map_or(*n, |some| cond(some, *n, 0))).collect();
    let from = |ix: &[Exp<i64>]| {
        let ix: Vec<_> = ix.iter().map(|i| Sc::I(*i)).collect();
        let from: Vec<_> = source(&ix).iter().map(|i| i.i()).collect();
        wrap(&from, &old)
    };
    match (&sh[..], xs) {
        ([n], Ranked::V(xs)) => Ranked::V(backpermute(*n, |i| from(&[i])[0], xs)),
        ([n], Ranked::M(xs)) => Ranked::V(backpermute(
            *n,
            |i| {
                let from = from(&[i]);
                (from[0], from[1])
            },
            xs,
        )),
        ([n, m], Ranked::V(xs)) => Ranked::M(backpermute((*n, *m), |(i, j)| from(&[i, j])[0], xs)),
        ([n, m], Ranked::M(xs)) => Ranked::M(backpermute(
            (*n, *m),
            |(i, j)| {
                let from = from(&[i, j]);
                (from[0], from[1])
            },
            xs,
        )),
        _ => panic!("backpermute of other ranks"),
    }
}

fn replicated<T: Element>(dims: &[Option<Exp<i64>>], xs: Ranked<T>) -> Ranked<T> {
    match (dims, xs) {
        ([Some(n)], Ranked::S(xs)) => Ranked::V(replicate(*n, xs)),
        ([Some(n), Some(m)], Ranked::S(xs)) => Ranked::M(replicate((*n, *m), xs)),
        ([Some(n), None], Ranked::V(xs)) => Ranked::M(replicate((*n, All), xs)),
        ([None, Some(n)], Ranked::V(xs)) => Ranked::M(replicate((All, *n), xs)),
        _ => panic!("replicate of other ranks"),
    }
}

fn sliced<T: Element>(dims: &[Option<i64>], xs: Ranked<T>) -> Ranked<T> {
    let extents = xs.extents();
    let fixed: Vec<_> = dims.iter().zip(&extents).filter_map(|(d, n)| d.map(|i| (constant(i), *n))).collect();
    let (ix, cut): (Vec<_>, Vec<_>) = fixed.into_iter().unzip();
    let (ix, some) = (wrap(&ix, &cut), not_empty(&cut).expect("a fixed dimension"));
    let zero = constant(T::ZERO);
    match (dims, xs) {
        ([Some(_)], Ranked::V(xs)) => Ranked::S(acond(some, slice(ix[0], xs), fill((), zero))),
        ([Some(_), Some(_)], Ranked::M(xs)) => Ranked::S(acond(some, slice((ix[0], ix[1]), xs), fill((), zero))),
        ([Some(_), None], Ranked::M(xs)) => Ranked::V(acond(some, slice((ix[0], All), xs), fill(extents[1], zero))),
        ([None, Some(_)], Ranked::M(xs)) => Ranked::V(acond(some, slice((All, ix[0]), xs), fill(extents[0], zero))),
        _ => panic!("slice of other ranks"),
    }
}

fn rearranged<T: Element>(what: Rearrange, xs: Ranked<T>) -> Ranked<T> {
    match (what, xs) {
        (Rearrange::Transpose, Ranked::M(xs)) => Ranked::M(transpose(xs)),
        (Rearrange::Reverse, Ranked::V(xs)) => Ranked::V(reverse(xs)),
        (Rearrange::Reverse, Ranked::M(xs)) => Ranked::M(reverse(xs)),
        (Rearrange::Take(n), Ranked::V(xs)) => Ranked::V(take(n, xs)),
        (Rearrange::Take(n), Ranked::M(xs)) => Ranked::M(take(n, xs)),
        (Rearrange::Drop(n), Ranked::V(xs)) => Ranked::V(drop(n, xs)),
        (Rearrange::Drop(n), Ranked::M(xs)) => Ranked::M(drop(n, xs)),
        (Rearrange::Flatten, Ranked::M(xs)) => Ranked::V(flatten(xs)),
        (Rearrange::Flatten, Ranked::S(xs)) => Ranked::V(flatten(xs)),
        (Rearrange::Row, Ranked::V(xs)) => Ranked::M(reshape((1, xs.len()), xs)),
        (Rearrange::Column, Ranked::V(xs)) => Ranked::M(reshape((xs.len(), 1), xs)),
        (Rearrange::Swap, Ranked::M(xs)) => {
            let (n, m) = xs.shape();
            Ranked::M(reshape((m, n), xs))
        }
        _ => panic!("{what:?} of another rank"),
    }
}

fn chosen<T: Element>(c: Exp<bool>, xs: Ranked<T>, ys: Ranked<T>, tupled: bool) -> Ranked<T> {
    fn choose<Sh: Shape, T: Element>(
        c: Exp<bool>,
        xs: Acc<Array<Sh, T>>,
        ys: Acc<Array<Sh, T>>,
        tupled: bool,
    ) -> Acc<Array<Sh, T>> {
        if tupled { acond(c, (xs, ys), (ys, xs)).unlift().0 } else { acond(c, xs, ys) }
    }
    match (xs, ys) {
        (Ranked::S(xs), Ranked::S(ys)) => Ranked::S(choose(c, xs, ys, tupled)),
        (Ranked::V(xs), Ranked::V(ys)) => Ranked::V(choose(c, xs, ys, tupled)),
        (Ranked::M(xs), Ranked::M(ys)) => Ranked::M(choose(c, xs, ys, tupled)),
        _ => panic!("acond of other ranks"),
    }
}

fn repeated<T: Element>(times: i64, xs: Ranked<T>, f: impl FnOnce(&[Sc]) -> Vec<Sc>) -> Ranked<T> {
    fn repeat<Sh: Shape, T: Element>(
        times: i64,
        xs: Acc<Array<Sh, T>>,
        f: impl FnOnce(&[Sc]) -> Vec<Sc>,
    ) -> Acc<Array<Sh, T>> {
        let (_, xs) = awhile(
            |(k, _): (Acc<Array0<i64>>, Acc<Array<Sh, T>>)| the(k).lt(times),
            |(k, xs)| {
                let step = |x| T::close(&f(&[T::open(x), vec![Sc::I(the(k))]].concat()));
                (map(|k: Exp<i64>| k + 1, k), map(step, xs))
            },
            (unit(0i64), xs),
        )
        .unlift();
        xs
    }
    match xs {
        Ranked::S(xs) => Ranked::S(repeat(times, xs, f)),
        Ranked::V(xs) => Ranked::V(repeat(times, xs, f)),
        Ranked::M(xs) => Ranked::M(repeat(times, xs, f)),
    }
}
