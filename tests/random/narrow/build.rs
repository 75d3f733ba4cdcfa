//! Writes a random program in the surface language.

use super::handles::*;
use super::loops::*;
use super::program::{Scalar, *};
use accel::prelude::{Scalar as Array0, *};
use std::cell::RefCell;

/// The arguments of every random program.
pub type Args = (Vector<f64>, Vector<f64>, Matrix<f64>, Vector<i64>);
/// The results of every random program.
pub type Results = (Array0<f64>, Vector<f64>, Matrix<f64>, Vector<i64>, Vector<(f64, i64)>);

/// Applies the same code to arrays of any element type.
macro_rules! with_array {
    ($array:expr, $xs:ident => $body:expr) => {
        match $array {
            Arr::F($xs) => Element::wrap($body),
            Arr::I($xs) => Element::wrap($body),
            Arr::P($xs) => Element::wrap($body),
        }
    };
}

/// Applies the same code with the Rust type `$T` of the elements.
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
    /// The steps written so far. `None` means to write a step, and every scalar, again for each use.
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

    /// A number that depends on all floats of the results.
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
            Extent::Of { array, dim, plus: 0 } => self.extents(*array)[*dim],
            Extent::Of { array, dim, plus } => self.extents(*array)[*dim] + *plus,
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
            Node::Read { array, index, part, outside } => {
                let index: Vec<_> = index.iter().map(|i| get(*i).i()).collect();
                let extents = self.extents(*array);
                let (allowed, index) = checked(*outside, &index, &extents);
                let element = match self.array(*array) {
                    Arr::F(xs) => xs.read(&index)[*part],
                    Arr::I(xs) => xs.read(&index)[*part],
                    Arr::P(xs) => xs.read(&index)[*part],
                };
                match (allowed, element, ty) {
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
            Step::Permute { outside, op, defaults, target, x } => with_elem!(elem, T => {
                let (defaults, x) = (self.floats::<T>(*defaults), self.floats::<T>(*x));
                permuted(*outside, *op, defaults, x, |ix| self.fun(target, ix))
            }),
            Step::Backpermute { outside, extents, source, x } => {
                let extents: Vec<_> = extents.iter().map(|e| self.extent(e)).collect();
                with_array!(self.array(*x), xs => backpermuted(*outside, &extents, xs, |ix| self.fun(source, ix)))
            }
            Step::Replicate { dims, x } => {
                let dims: Vec<_> = dims.iter().map(|d| d.as_ref().map(|e| self.extent(e))).collect();
                with_array!(self.array(*x), xs => replicated(&dims, xs))
            }
            Step::Slice { dims, x } => with_array!(self.array(*x), xs => sliced(dims, xs)),
            Step::Rearrange(what, x) => with_array!(self.array(*x), xs => rearranged(*what, xs)),
            Step::Concat(x, y) => with_elem!(elem, T => match (self.floats::<T>(*x), self.floats::<T>(*y)) {
                (Ranked::V(x), Ranked::V(y)) => Ranked::V(concat(x, y)),
                (Ranked::M(x), Ranked::M(y)) => {
                    // The number of rows that both have.
                    let rows = x.shape().0.min(y.shape().0);
                    let cut = |m: Acc<Matrix<T>>| backpermute((rows, m.shape().1), |ix| ix, m);
                    Ranked::M(concat(cut(x), cut(y)))
                }
                _ => panic!("concat of other ranks"),
            }),
            Step::Acond { c, x, y, tupled } => {
                let c = self.fun(c, &[])[0].b();
                with_elem!(elem, T => chosen(c, self.floats::<T>(*x), self.floats::<T>(*y), *tupled))
            }
            Step::Awhile { times, f, x } => {
                with_array!(self.array(*x), xs => repeated(*times, xs, |e| self.fun(f, e)))
            }
            Step::Exchange { times, f, x, y } => with_elem!(elem, T => {
                exchanged(*times, self.floats::<T>(*x), self.floats::<T>(*y), |e| self.fun(f, e))
            }),
            Step::Iterate { times, what, x } => with_array!(self.array(*x), xs => iterated(*times, *what, xs)),
        }
    }
}
