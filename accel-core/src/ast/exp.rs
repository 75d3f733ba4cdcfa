//! Scalar expressions: `Exp<E, A, T>` has type `T`, free scalar variables in `E` and free array variables in `A`.

//!
//! NOTE \[Loops and lists\]: `Loop` is the loop that reverse mode needs. It threads a state, as `While` does, reads the
//! rows of a list (a `map_accum`) and makes a list of what its body returns besides the state (a trajectory, if that is
//! the state). The derivative of a `While` in reverse mode first runs the loop and lists its states, and then runs
//! through this list in the opposite direction. The derivative of a `Loop` has the same form, so loops can be
//! differentiated any number of times, in memory that is linear in the number of steps.
//!
//! Lists are private to the scalar code that makes them. Only loops read them. They are not part of a state, so no list
//! contains lists, and each loop of the code needs the memory for its own lists once. Lists of tuples are tuples of
//! lists, so a component that nobody reads is not stored.
//!
//! NOTE \[Emissions\]: scalar code that an `accumulate` runs for each index can add values to elements of arrays, its
//! accumulators, in loops and branches, any number of times. Reverse mode needs this for arrays that a loop reads: each
//! read of an element contributes to the adjoint of this element. An `Emit` has no result of its own. It takes a token, a
//! number that it returns unchanged, and the last token is a result of the code. So emissions have an order, and they are
//! part of what the code computes: no pass drops them, since their token is used, or repeats them, since each token is
//! used once. Tokens are floating-point numbers, so they have an adjoint. It is 1 wherever a token leads to the result,
//! so a value that is emitted depends on the adjoint of its accumulator exactly where the token has an adjoint. An
//! accumulator cannot be read: no variable stands for it.

use super::dir::Dir;
use super::env::{Family, Idx, Key, Thinning, Weaken, idx, seal};
use super::names::{Equal, Erased, Guard, Inv, V, W, X, Y, Z, eq_cons};
use super::prim::{Prim1, Prim2, RawPrim1, RawPrim2};
use super::thin::{RawThinning, RawThinnings, SharedNode};
use super::ty::{Arr, ElementTy, List, Ty, list_ty, ty};
use super::value::Value;
use crate::repr::RawTy;
use frunk::{HCons, HNil};
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

/// Where an operation comes from: the function, method or operator that the user called, and the place of this call.
///
/// The name differs from that of the operation if the function is written in terms of others: `maximum` is a `fold1`.
/// Messages use this name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source {
    /// The name of the function, method or operator.
    pub name: &'static str,
    /// The place in the user's source.
    pub at: &'static Location<'static>,
    /// What the operation computes.
    pub role: Role,
}

/// What an operation computes: what the user wrote, or a derivative of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// What the user wrote.
    Primal,
    /// Contributions to the adjoints of its arguments.
    Adjoint,
    /// What the user wrote, or its tangent.
    Tangent,
}

impl Source {
    /// Where the user wrote an operation.
    pub fn new(name: &'static str, at: &'static Location<'static>) -> Self {
        Source { name, at, role: Role::Primal }
    }
    /// Operations that compute the adjoints of this one.
    pub fn adjoint(self) -> Self {
        Source { role: Role::Adjoint, ..self }
    }
    /// Operations that compute the tangent of this one.
    pub fn tangent(self) -> Self {
        Source { role: Role::Tangent, ..self }
    }
}

impl fmt::Display for Source {
    /// The place: `src/main.rs:7:5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.at.fmt(f)
    }
}

/// Where an operation comes from, if known.
pub type Src = Option<Source>;

/// A scalar expression: a handle of a node and suspended thinnings, which `view` pushes down one level.
pub struct Exp<E, A, T> {
    pub(in crate::ast) node: SharedNode<Node>,
    pub(in crate::ast) th: RawThinnings,
    pub(in crate::ast) ty: Ty<T>,
    ph: Inv<(E, A)>,
}

pub(in crate::ast) type Ex = Exp<Erased, Erased, Erased>;

/// The erased nodes.
pub(in crate::ast) enum Node {
    Const(Value<Erased>),
    Var(u32),
    Let(Ex, Ex),
    Pair(Ex, Ex),
    Fst(Ex),
    Snd(Ex),
    Prim1(RawPrim1, Ex),
    Prim2(RawPrim2, Ex, Ex),
    Cond(Box<[Ex; 3]>),
    /// Condition and body below one binder, initial value.
    While(Box<[Ex; 3]>, Src),
    Loop(Box<RawLoop>),
    /// Argument, function, pushforward and pullback: NOTE \[Rules of one's own\].
    Custom(Box<[Ex; 4]>, Src),
    Index(Idx<Erased, Erased>, Ex, Src),
    Shape(Idx<Erased, Erased>),
    /// Token, index and value.
    Emit(Accumulator<Erased, Erased>, Box<[Ex; 3]>, Src),
}

/// An accumulator of the `accumulate` around scalar code: an array of shape `Sh` with elements of type `T`, to which
/// the code adds.
pub struct Accumulator<Sh, T> {
    /// Its position among the arrays to which the operation adds, from the left.
    position: u32,
    /// Its type.
    array: Ty<Arr<Sh, T>>,
}

impl<Sh, T> Clone for Accumulator<Sh, T> {
    fn clone(&self) -> Self {
        self.relabel()
    }
}

impl<Sh, T> Accumulator<Sh, T> {
    /// The accumulator at a position, and the type of this array.
    pub fn new(position: usize, array: &Ty<Arr<Sh, T>>) -> Self {
        Accumulator { position: position as u32, array: array.clone() }
    }
    fn relabel<Sh2, T2>(&self) -> Accumulator<Sh2, T2> {
        Accumulator { position: self.position, array: self.array.relabel() }
    }
    /// The position among the arrays to which the operation adds, from the left.
    pub fn position(&self) -> usize {
        self.position as usize
    }
    /// The type of the array.
    pub fn array(&self) -> &Ty<Arr<Sh, T>> {
        &self.array
    }
    /// The same type at another position.
    pub fn moved(&self, position: usize) -> Self {
        Accumulator::new(position, &self.array)
    }
}

/// The parts of a loop with lists. The condition is below one binder, the body below two: the state, then the row.
pub(in crate::ast) struct RawLoop {
    pub trips: ExpTrips<Erased, Erased, Erased>,
    pub dir: Dir,
    pub init: Ex,
    pub xs: Ex,
    pub row: RawTy,
    pub body: Ex,
    pub at: Src,
}

/// How often a loop runs. `V` is the environment `E` with the state.
pub enum ExpTrips<E, V, A> {
    /// As long as a condition holds for the state. Such a loop reads no list.
    While(Exp<V, A, bool>),
    /// A number of times, which is the length of the lists that the loop reads.
    Times(Exp<E, A, i64>),
}

/// The view of an expression. Names: `X` is the type of the first argument; `Y` is the type of the second argument, or
/// an extended environment.
pub enum ExpView<'n, E, A, T> {
    /// A constant.
    Const(Value<T>),
    /// A variable.
    Var(Idx<E, T>),
    /// A local definition and the expression in its scope.
    Let(Exp<E, A, X<'n>>, Exp<Y<'n>, A, T>, Equal<Y<'n>, HCons<X<'n>, E>>),
    /// A loop: condition and body below the state variable, and the initial state.
    While(WhileView<'n, E, A, T>),
    /// A loop that reads and makes lists.
    Loop(LoopView<'n, E, A, T>),
    /// All forms that bind no variable.
    Op(ExpOp<'n, E, A, T>),
}

/// `(s, y[k]) = body(s, xs[k])` for all positions `k` in order, from `init`. The result is the last state and the list
/// of all `y`. Names: `X` is the state, `Y` the row of `xs`, `W` that of the result; `V` and `Z` are environments.
pub struct LoopView<'n, E, A, T> {
    /// The number of steps.
    pub trips: ExpTrips<E, V<'n>, A>,
    /// The direction: from the first position to the last, or from the last to the first.
    pub dir: Dir,
    /// The initial state.
    pub init: Exp<E, A, X<'n>>,
    /// The list that is read; `()` if there is none.
    pub xs: Exp<E, A, List<Y<'n>>>,
    /// The type of its rows.
    pub row: ElementTy<Y<'n>>,
    /// The next state, and the row of the result.
    pub body: Exp<Z<'n>, A, (X<'n>, W<'n>)>,
    /// `V` is the environment with the state.
    pub below_state: Equal<V<'n>, HCons<X<'n>, E>>,
    /// `Z` is the environment with the state and the row.
    pub below_row: Equal<Z<'n>, HCons<Y<'n>, V<'n>>>,
    /// The type of the result.
    pub eq: Equal<T, (X<'n>, List<W<'n>>)>,
    /// The place in the user's source.
    pub at: Src,
}

/// `while cond(x) { x = body(x) }` from `init`.
pub struct WhileView<'n, E, A, T> {
    /// The condition: whether to continue.
    pub cond: Exp<Y<'n>, A, bool>,
    /// The next state.
    pub body: Exp<Y<'n>, A, T>,
    /// The initial state.
    pub init: Exp<E, A, T>,
    /// `Y` is the environment with the state.
    pub eq: Equal<Y<'n>, HCons<T, E>>,
    /// The place in the user's source.
    pub at: Src,
}

/// Operations that bind no variable.
pub enum ExpOp<'n, E, A, T> {
    /// A pair.
    Pair(Exp<E, A, X<'n>>, Exp<E, A, Y<'n>>, Equal<T, (X<'n>, Y<'n>)>),
    /// The first component.
    Fst(Exp<E, A, X<'n>>, Equal<X<'n>, (T, Y<'n>)>),
    /// The second component.
    Snd(Exp<E, A, X<'n>>, Equal<X<'n>, (Y<'n>, T)>),
    /// A primitive function of one argument.
    Prim1(Prim1<X<'n>, T>, Exp<E, A, X<'n>>),
    /// A primitive function of two arguments.
    Prim2(Prim2<X<'n>, T>, Exp<E, A, X<'n>>, Exp<E, A, X<'n>>),
    /// A conditional; only the chosen branch is evaluated.
    Cond(Exp<E, A, bool>, Exp<E, A, T>, Exp<E, A, T>),
    /// An element of an array variable.
    Index(Idx<A, Arr<X<'n>, T>>, Exp<E, A, X<'n>>, Src),
    /// The shape of an array variable.
    Shape(Idx<A, X<'n>>, Equal<X<'n>, Arr<T, Y<'n>>>),
    /// Adds to an element of an accumulator: NOTE \[Emissions\]. The result is the token.
    Emit {
        /// The token.
        token: Exp<E, A, T>,
        /// The accumulator.
        to: Accumulator<X<'n>, Y<'n>>,
        /// The index of the element.
        ix: Exp<E, A, X<'n>>,
        /// What is added to it.
        value: Exp<E, A, Y<'n>>,
        /// The place in the user's source.
        at: Src,
        /// Tokens are numbers.
        eq: Equal<T, f32>,
    },
}

/// Visits the parts of a scalar operation.
pub trait ExpVisit<E, A> {
    /// Operands.
    fn exp<T>(&mut self, e: &Exp<E, A, T>);
    /// Array variables.
    fn avar<T>(&mut self, i: &Idx<A, T>);
}

/// A mapping to other environments, applied to the parts of an operation.
pub trait ExpMap<E, A, E2, A2> {
    /// Sub-expressions.
    fn exp<T>(&mut self, e: &Exp<E, A, T>) -> Exp<E2, A2, T>;
    /// Array variables.
    fn avar<T>(&mut self, i: &Idx<A, T>) -> Idx<A2, T>;
}

impl<E, A, T> Clone for Exp<E, A, T> {
    fn clone(&self) -> Self {
        self.relabel()
    }
}

pub(in crate::ast) fn exp<E, A, T>(node: Node, ty: Ty<T>) -> Exp<E, A, T> {
    Exp { node: SharedNode::new(node), th: RawThinnings::default(), ty, ph: PhantomData }
}

impl<E, A, T> Exp<E, A, T> {
    pub(in crate::ast) fn relabel<F, B, U>(&self) -> Exp<F, B, U> {
        Exp { node: self.node.clone(), th: self.th.clone(), ty: self.ty.relabel(), ph: PhantomData }
    }
    pub(in crate::ast) fn thin<F, B, U>(&self, t: &RawThinnings) -> Exp<F, B, U> {
        Exp { node: self.node.clone(), th: self.th.then(t), ty: self.ty.relabel(), ph: PhantomData }
    }
    pub(in crate::ast) fn athin<F, B, U>(&self, t: &RawThinning) -> Exp<F, B, U> {
        let th = RawThinnings { e: self.th.e.clone(), a: self.th.a.then(t) };
        Exp { node: self.node.clone(), th, ty: self.ty.relabel(), ph: PhantomData }
    }
    /// Weakens to a larger scalar environment, in O(1).
    pub fn weaken<E2>(&self, r: &Thinning<E, E2>) -> Exp<E2, A, T> {
        let th = RawThinnings { e: self.th.e.then(&r.0), a: self.th.a.clone() };
        Exp { node: self.node.clone(), th, ty: self.ty.clone(), ph: PhantomData }
    }
    /// Weakens to a larger array environment, in O(1).
    pub fn aweaken<A2>(&self, r: &Thinning<A, A2>) -> Exp<E, A2, T> {
        self.athin(&r.0)
    }
    /// Replaces the type by an equal one.
    pub fn cast<U>(&self, _: Equal<T, U>) -> Exp<E, A, U> {
        self.relabel()
    }
    /// Replaces the scalar environment by an equal one.
    pub fn cast_env<F>(&self, _: Equal<E, F>) -> Exp<F, A, T> {
        self.relabel()
    }
    /// Replaces the array environment by an equal one.
    pub fn cast_aenv<B>(&self, _: Equal<A, B>) -> Exp<E, B, T> {
        self.relabel()
    }
    /// Replaces all type parameters by equal ones.
    pub fn cast_all<F, B, U>(&self, _: Equal<E, F>, _: Equal<A, B>, _: Equal<T, U>) -> Exp<F, B, U> {
        self.relabel()
    }
    /// The type.
    pub fn ty(&self) -> &Ty<T> {
        &self.ty
    }
    /// A constant.
    pub fn constant(v: &Value<T>, t: &Ty<T>) -> Self {
        exp(Node::Const(v.relabel()), t.clone())
    }
    /// A variable.
    pub fn var(i: &Idx<E, T>) -> Self {
        exp(Node::Var(i.0), i.1.clone())
    }
    /// `let x = b in body`
    pub fn let_<B>(b: &Exp<E, A, B>, body: &Exp<HCons<B, E>, A, T>) -> Self {
        exp(Node::Let(b.relabel(), body.relabel()), body.ty.clone())
    }
    /// A primitive function of one argument.
    pub fn prim1<P>(p: Prim1<P, T>, a: &Exp<E, A, P>) -> Self {
        exp(Node::Prim1(p.relabel(), a.relabel()), p.result())
    }
    /// A primitive function of two arguments.
    pub fn prim2<P>(p: Prim2<P, T>, a: &Exp<E, A, P>, b: &Exp<E, A, P>) -> Self {
        exp(Node::Prim2(p.relabel(), a.relabel(), b.relabel()), p.result())
    }
    /// A conditional.
    pub fn cond(c: &Exp<E, A, bool>, t: &Self, e: &Self) -> Self {
        exp(Node::Cond(Box::new([c.relabel(), t.relabel(), e.relabel()])), t.ty.clone())
    }
    /// A loop.
    pub fn while_(cond: &Exp<HCons<T, E>, A, bool>, body: &Exp<HCons<T, E>, A, T>, init: &Self, at: Src) -> Self {
        exp(Node::While(Box::new([cond.relabel(), body.relabel(), init.relabel()]), at), init.ty.clone())
    }
    /// An element of an array variable.
    pub fn index<Sh>(a: &Idx<A, Arr<Sh, T>>, ix: &Exp<E, A, Sh>, at: Src) -> Self {
        exp(Node::Index(a.relabel(), ix.relabel(), at), a.1.sh_elt().1.ty())
    }
    /// The shape of an array variable.
    pub fn shape<U>(a: &Idx<A, Arr<T, U>>) -> Self {
        exp(Node::Shape(a.relabel()), a.1.sh_elt().0.ty())
    }
    /// Builds an operation of type `ty` from its parts. A component of a pair that is visible is the component itself.
    pub fn op(op: &ExpOp<'_, E, A, T>, ty: &Ty<T>) -> Self {
        let node = match op {
            ExpOp::Pair(a, b, _) => Node::Pair(a.relabel(), b.relabel()),
            ExpOp::Fst(a, q) => return a.cast(*q).fst(),
            ExpOp::Snd(a, q) => return a.cast(*q).snd(),
            ExpOp::Prim1(p, a) => Node::Prim1(p.relabel(), a.relabel()),
            ExpOp::Prim2(p, a, b) => Node::Prim2(p.relabel(), a.relabel(), b.relabel()),
            ExpOp::Cond(c, t, e) => Node::Cond(Box::new([c.relabel(), t.relabel(), e.relabel()])),
            ExpOp::Index(a, ix, at) => Node::Index(a.relabel(), ix.relabel(), *at),
            ExpOp::Shape(a, _) => Node::Shape(a.relabel()),
            ExpOp::Emit { token, to, ix, value, at, eq: _ } => {
                Node::Emit(to.relabel(), Box::new([token.relabel(), ix.relabel(), value.relabel()]), *at)
            }
        };
        exp(node, ty.clone())
    }
    /// Takes the expression apart.
    pub fn view<'n>(&self, _: Guard<'n>) -> ExpView<'n, E, A, T> {
        let th = &self.th;
        let array = |i: &Idx<Erased, Erased>| th.a.at(i.0);
        ExpView::Op(match self.node.get() {
            Node::Const(v) => return ExpView::Const(v.relabel()),
            Node::Var(i) => return ExpView::Var(idx(self.th.e.at(*i), self.ty.clone())),
            Node::Let(b, e) => {
                return ExpView::Let(b.thin(th), e.thin(&th.lift()), Equal::axiom());
            }
            Node::While(parts, at) => {
                let [cond, body, init] = &**parts;
                let inner = th.lift();
                return ExpView::While(WhileView {
                    cond: cond.thin(&inner),
                    body: body.thin(&inner),
                    init: init.thin(th),
                    eq: Equal::axiom(),
                    at: *at,
                });
            }
            Node::Loop(parts) => {
                let inner = th.lift();
                return ExpView::Loop(LoopView {
                    trips: match &parts.trips {
                        ExpTrips::While(cond) => ExpTrips::While(cond.thin(&inner)),
                        ExpTrips::Times(n) => ExpTrips::Times(n.thin(th)),
                    },
                    dir: parts.dir,
                    init: parts.init.thin(th),
                    xs: parts.xs.thin(th),
                    row: ElementTy(ty(parts.row.clone())),
                    body: parts.body.thin(&inner.lift()),
                    below_state: Equal::axiom(),
                    below_row: Equal::axiom(),
                    eq: Equal::axiom(),
                    at: parts.at,
                });
            }
            Node::Custom(parts, _) => {
                return ExpView::Let(parts[0].thin(th), parts[1].thin(&th.lift()), Equal::axiom());
            }
            Node::Pair(a, b) => ExpOp::Pair(a.thin(th), b.thin(th), Equal::axiom()),
            Node::Fst(a) => ExpOp::Fst(a.thin(th), Equal::axiom()),
            Node::Snd(a) => ExpOp::Snd(a.thin(th), Equal::axiom()),
            Node::Prim1(p, a) => ExpOp::Prim1(p.relabel(), a.thin(th)),
            Node::Prim2(p, a, b) => ExpOp::Prim2(p.relabel(), a.thin(th), b.thin(th)),
            Node::Cond(parts) => {
                let [c, t, e] = &**parts;
                ExpOp::Cond(c.thin(th), t.thin(th), e.thin(th))
            }
            Node::Index(a, ix, at) => ExpOp::Index(idx(array(a), a.1.relabel()), ix.thin(th), *at),
            Node::Shape(a) => ExpOp::Shape(idx(array(a), a.1.relabel()), Equal::axiom()),
            Node::Emit(to, parts, at) => {
                let [token, ix, value] = &**parts;
                let (token, ix, value) = (token.thin(th), ix.thin(th), value.thin(th));
                ExpOp::Emit { token, to: to.relabel(), ix, value, at: *at, eq: Equal::axiom() }
            }
        })
    }
}

impl<E, A> Exp<E, A, f32> {
    /// Adds a value to an element of an accumulator, and returns the token: NOTE \[Emissions\].
    pub fn emit<Sh, V>(&self, to: &Accumulator<Sh, V>, ix: &Exp<E, A, Sh>, value: &Exp<E, A, V>, at: Src) -> Self {
        let parts = Box::new([self.relabel(), ix.relabel(), value.relabel()]);
        exp(Node::Emit(to.relabel(), parts, at), self.ty.clone())
    }
}

impl<E, A, P, Q> Exp<E, A, (P, Q)> {
    /// A pair.
    pub fn pair(a: &Exp<E, A, P>, b: &Exp<E, A, Q>) -> Self {
        exp(Node::Pair(a.relabel(), b.relabel()), Ty::pair(&a.ty, &b.ty))
    }
    /// The first component. If the pair is visible, this is the component itself.
    pub fn fst(&self) -> Exp<E, A, P> {
        match self.node.get() {
            Node::Pair(a, _) => a.thin(&self.th),
            _ => exp(Node::Fst(self.relabel()), self.ty.parts().0),
        }
    }
    /// The second component. If the pair is visible, this is the component itself.
    pub fn snd(&self) -> Exp<E, A, Q> {
        match self.node.get() {
            Node::Pair(_, b) => b.thin(&self.th),
            _ => exp(Node::Snd(self.relabel()), self.ty.parts().1),
        }
    }
}

impl<E, A, S, Y> Exp<E, A, (S, List<Y>)> {
    /// A loop that reads and makes lists: see [`LoopView`]. `row` is the type of the rows of `xs`.
    pub fn loop_<X>(
        trips: &ExpTrips<E, HCons<S, E>, A>,
        dir: Dir,
        init: &Exp<E, A, S>,
        (xs, row): (&Exp<E, A, List<X>>, &ElementTy<X>),
        body: &Exp<HCons<X, HCons<S, E>>, A, (S, Y)>,
        at: Src,
    ) -> Self {
        let y = ElementTy(body.ty.parts().1);
        let trips = match trips {
            ExpTrips::While(cond) => ExpTrips::While(cond.relabel()),
            ExpTrips::Times(n) => ExpTrips::Times(n.relabel()),
        };
        let (init_, xs, body) = (init.relabel(), xs.relabel(), body.relabel());
        let parts = RawLoop { trips, dir, init: init_, xs, row: row.raw().clone(), body, at };
        exp(Node::Loop(Box::new(parts)), Ty::pair(&init.ty, &list_ty(&y)))
    }
}

impl<'n, E, A, T> LoopView<'n, E, A, T> {
    /// The environment of the body, from the inside out: the row, the state, and the variables from outside.
    pub fn below_rows(&self) -> Equal<Z<'n>, HCons<Y<'n>, HCons<X<'n>, E>>> {
        self.below_row.then(eq_cons(Equal::refl(), self.below_state))
    }
}

impl<E, V, A> ExpTrips<E, V, A> {
    /// Replaces the environment with the state by an equal one.
    pub fn cast<V2>(&self, q: Equal<V, V2>) -> ExpTrips<E, V2, A> {
        match self {
            ExpTrips::While(cond) => ExpTrips::While(cond.cast_env(q)),
            ExpTrips::Times(n) => ExpTrips::Times(n.clone()),
        }
    }
}

impl<'n, E, A, T> ExpOp<'n, E, A, T> {
    /// The same operation with mapped parts.
    pub fn map<E2, A2>(&self, m: &mut impl ExpMap<E, A, E2, A2>) -> ExpOp<'n, E2, A2, T> {
        match self {
            ExpOp::Pair(a, b, q) => {
                let a = m.exp(a);
                ExpOp::Pair(a, m.exp(b), *q)
            }
            ExpOp::Fst(a, q) => ExpOp::Fst(m.exp(a), *q),
            ExpOp::Snd(a, q) => ExpOp::Snd(m.exp(a), *q),
            ExpOp::Prim1(p, a) => ExpOp::Prim1(*p, m.exp(a)),
            ExpOp::Prim2(p, a, b) => {
                let a = m.exp(a);
                ExpOp::Prim2(*p, a, m.exp(b))
            }
            ExpOp::Cond(c, t, e) => {
                let (c, t) = (m.exp(c), m.exp(t));
                ExpOp::Cond(c, t, m.exp(e))
            }
            ExpOp::Index(a, ix, at) => ExpOp::Index(m.avar(a), m.exp(ix), *at),
            ExpOp::Shape(a, q) => ExpOp::Shape(m.avar(a), *q),
            ExpOp::Emit { token, to, ix, value, at, eq } => {
                let (token, ix) = (m.exp(token), m.exp(ix));
                ExpOp::Emit { token, to: to.clone(), ix, value: m.exp(value), at: *at, eq: *eq }
            }
        }
    }
    /// Visits the parts of the operation.
    pub fn visit(&self, v: &mut impl ExpVisit<E, A>) {
        match self {
            ExpOp::Pair(a, b, _) => {
                v.exp(a);
                v.exp(b)
            }
            ExpOp::Fst(a, _) => v.exp(a),
            ExpOp::Snd(a, _) => v.exp(a),
            ExpOp::Prim1(_, a) => v.exp(a),
            ExpOp::Prim2(_, a, b) => {
                v.exp(a);
                v.exp(b)
            }
            ExpOp::Cond(c, t, e) => {
                v.exp(c);
                v.exp(t);
                v.exp(e)
            }
            ExpOp::Index(a, ix, _) => {
                v.avar(a);
                v.exp(ix)
            }
            ExpOp::Shape(a, _) => v.avar(a),
            ExpOp::Emit { token, ix, value, .. } => {
                v.exp(token);
                v.exp(ix);
                v.exp(value)
            }
        }
    }
}

/// Expressions as entries of a table.
pub struct ExpF<E, A>(PhantomData<(E, A)>);
impl<E, A> seal::Family for ExpF<E, A> {}
impl<E, E2, A> seal::Move<E, E2> for ExpF<E, A> {}
impl<E, A> Family for ExpF<E, A> {
    type At<T> = Exp<E, A, T>;
    #[allow(private_interfaces)]
    type Raw = ErasedExp;
    #[allow(private_interfaces)]
    fn raw<T>(x: &Exp<E, A, T>, _: Key) -> ErasedExp {
        ErasedExp(x.relabel())
    }
    #[allow(private_interfaces)]
    fn unraw<T>(r: &ErasedExp, th: &RawThinnings, _: Key) -> Exp<E, A, T> {
        r.0.thin(th)
    }
}
impl<E, E2, A> Weaken<E, E2> for ExpF<E, A> {
    type To = ExpF<E2, A>;
}
/// An expression without type parameters.
#[derive(Clone)]
pub struct ErasedExp(Ex);

/// A function of one argument.
pub struct Fun1<A, P, R>(pub Exp<HCons<P, HNil>, A, R>);
/// A function of two arguments; the second one is bound last.
pub struct Fun2<A, P, Q, R>(pub Exp<HCons<Q, HCons<P, HNil>>, A, R>);

impl<A, P, R> Clone for Fun1<A, P, R> {
    fn clone(&self) -> Self {
        self.relabel()
    }
}
impl<A, P, Q, R> Clone for Fun2<A, P, Q, R> {
    fn clone(&self) -> Self {
        self.relabel()
    }
}
impl<A, P, R> Fun1<A, P, R> {
    pub(in crate::ast) fn relabel<A2, P2, R2>(&self) -> Fun1<A2, P2, R2> {
        Fun1(self.0.relabel())
    }
    pub(in crate::ast) fn athin<A2, P2, R2>(&self, t: &RawThinning) -> Fun1<A2, P2, R2> {
        Fun1(self.0.athin(t))
    }
    /// Weakens to a larger array environment.
    pub fn aweaken<A2>(&self, r: &Thinning<A, A2>) -> Fun1<A2, P, R> {
        Fun1(self.0.aweaken(r))
    }
    /// Replaces the argument and result types by equal ones.
    pub fn cast<P2, R2>(&self, _: Equal<P, P2>, _: Equal<R, R2>) -> Fun1<A, P2, R2> {
        self.relabel()
    }
    /// Replaces the array environment by an equal one.
    pub fn cast_aenv<A2>(&self, _: Equal<A, A2>) -> Fun1<A2, P, R> {
        self.relabel()
    }
}
impl<A, P, Q, R> Fun2<A, P, Q, R> {
    pub(in crate::ast) fn relabel<A2, P2, Q2, R2>(&self) -> Fun2<A2, P2, Q2, R2> {
        Fun2(self.0.relabel())
    }
    pub(in crate::ast) fn athin<A2, P2, Q2, R2>(&self, t: &RawThinning) -> Fun2<A2, P2, Q2, R2> {
        Fun2(self.0.athin(t))
    }
    /// Weakens to a larger array environment.
    pub fn aweaken<A2>(&self, r: &Thinning<A, A2>) -> Fun2<A2, P, Q, R> {
        Fun2(self.0.aweaken(r))
    }
    /// Replaces the argument and result types by equal ones.
    pub fn cast<P2, Q2, R2>(&self, _: Equal<P, P2>, _: Equal<Q, Q2>, _: Equal<R, R2>) -> Fun2<A, P2, Q2, R2> {
        self.relabel()
    }
    /// Replaces the array environment by an equal one.
    pub fn cast_aenv<A2>(&self, _: Equal<A, A2>) -> Fun2<A2, P, Q, R> {
        self.relabel()
    }
}
