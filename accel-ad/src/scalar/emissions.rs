//! Reads of arrays inside of loops, in the dual pass for scalar code.
//!
//! NOTE [Reads in loops]: a loop reads an array any number of times, so the contributions to the adjoint of the array do
//! not fit into an index-adjoint tuple. The dual of the loop emits them to an accumulator (NOTE \[Emissions\] in
//! `accel_core::ast::exp`), and an `accumulate` takes the place of the operation that runs the dual. Not all uses of a
//! dual can emit: the matrices of a scan only need the adjoints of scalars. So the pass runs without emissions first, and
//! finds out which arrays loops read (`found`). If there are any, it runs again with an accumulator for each.
//!
//! If the function itself emits, it is a dual, and the roles are reversed: the emitted value contributes to an element
//! of an array, so the adjoint of the value is this element of the adjoint of the array.

use accel_core::ast::*;
use accel_core::pass::arrays_of_code;
use std::rc::Rc;

/// What the dual pass does about reads in loops and about emissions.
pub struct Emissions<A, E2> {
    /// Whether the code is in a loop.
    pub in_loop: bool,
    /// The last token, if the pass emits.
    pub token: Option<Exp<E2, A, f32>>,
    /// The arrays that loops read, if the pass does not emit.
    pub found: Vec<SomeIdx<A>>,
    /// The arrays for whose adjoints there are accumulators, if the pass emits.
    targets: Rc<[SomeIdx<A>]>,
    /// The adjoints of the accumulators to which the function itself emits. Their accumulators come first.
    adjoints: Rc<[SomeIdx<A>]>,
}

impl<A, E2> Emissions<A, E2> {
    /// A pass that finds reads in loops.
    pub fn finding(adjoints: &[SomeIdx<A>]) -> Self {
        let (targets, adjoints) = (Rc::from([]), adjoints.into());
        Emissions { in_loop: false, token: None, found: vec![], targets, adjoints }
    }
    /// A pass that emits to accumulators for these arrays.
    pub fn emitting(targets: &[SomeIdx<A>], token: &Exp<E2, A, f32>, adjoints: &[SomeIdx<A>]) -> Self {
        let (targets, adjoints) = (targets.into(), adjoints.into());
        Emissions { in_loop: false, token: Some(token.clone()), found: vec![], targets, adjoints }
    }
    /// The state for code in another environment, which is in a loop if this one is, or if `in_loop` is set.
    pub fn inner<F>(&mut self, in_loop: bool, token: Option<Exp<F, A, f32>>) -> Emissions<A, F> {
        Emissions {
            in_loop: self.in_loop || in_loop,
            token,
            found: std::mem::take(&mut self.found),
            targets: self.targets.clone(),
            adjoints: self.adjoints.clone(),
        }
    }
    /// Takes over what the pass found in code that [`inner`](Self::inner) has begun.
    pub fn leave(&mut self, found: Vec<SomeIdx<A>>) {
        self.found = found;
    }
    /// Weakens to a larger code environment.
    pub fn weaken<F>(self, up: &Thinning<E2, F>) -> Emissions<A, F> {
        let Emissions { in_loop, token, found, targets, adjoints } = self;
        Emissions { in_loop, token: token.map(|t| t.weaken(up)), found, targets, adjoints }
    }
    /// Replaces the code environment by an equal one.
    pub fn cast_code<F>(self, q: Equal<E2, F>) -> Emissions<A, F> {
        let Emissions { in_loop, token, found, targets, adjoints } = self;
        Emissions { in_loop, token: token.map(|t| t.cast_env(q)), found, targets, adjoints }
    }
    /// Replaces the array environment by an equal one.
    pub fn cast_aenv<B>(self, q: Equal<A, B>) -> Emissions<B, E2> {
        let Emissions { in_loop, token, found, targets, adjoints } = self;
        Emissions {
            in_loop,
            token: token.map(|t| t.cast_aenv(q)),
            found: found.iter().map(|a| a.cast(q)).collect(),
            targets: targets.iter().map(|a| a.cast(q)).collect(),
            adjoints: adjoints.iter().map(|a| a.cast(q)).collect(),
        }
    }
    /// Notes that a loop reads an array.
    pub fn find<R>(&mut self, array: &Idx<A, R>) {
        if self.found.iter().all(|a| depth(a) != array.depth()) {
            self.found.push(SomeIdx::new(array));
        }
    }
    /// The accumulator for the adjoint of an array.
    pub fn accumulator<Sh, T>(&self, array: &Idx<A, Arr<Sh, T>>) -> Option<Accumulator<Sh, Tan<T>>> {
        let k = self.targets.iter().position(|a| depth(a) == array.depth())?;
        Some(Accumulator::new(self.adjoints.len() + k, &tan_ty(array.ty()).cast(tan_arr())))
    }
    /// The adjoint of an accumulator to which the function itself emits; `None` if it is zero.
    pub fn adjoint_of<Sh, T>(&self, to: &Accumulator<Sh, T>) -> Option<Idx<A, Arr<Sh, Tan<T>>>> {
        fresh1(|n| {
            let adjoint = self.adjoints.get(to.position())?.open(n);
            let q = adjoint.ty().same(&tan_ty(to.array()))?;
            Some(adjoint.cast(q.then(tan_arr())))
        })
    }
    /// Whether the dual of code that is in a loop emits: it reads one of the arrays with accumulators.
    pub fn concern<E, T>(&self, code: &Exp<E, A, T>) -> bool {
        let mut found = false;
        if self.token.is_some() {
            arrays_of_code(code, &mut |k| found |= self.targets.iter().any(|a| depth(a) == k));
        }
        found
    }
}

fn depth<A>(a: &SomeIdx<A>) -> usize {
    fresh1(|n| a.open(n).depth())
}

/// The code without the emissions to the first `n` accumulators; the others move to their places.
pub fn without_emissions<E, A, T>(e: &Exp<E, A, T>, n: usize) -> Exp<E, A, T> {
    fresh3(|x, a, t| {
        let (x, a, t) = (name(x), name(a), name(t));
        deep(|| without_(&e.cast_all(x, a, t), n)).cast_all(x.sym(), a.sym(), t.sym())
    })
}

fn without_<'e, 'a, 't>(e: &Exp<X<'e>, X<'a>, X<'t>>, n: usize) -> Exp<X<'e>, X<'a>, X<'t>> {
    fresh2(|k, c| match e.view(k) {
        _ if let Some(c) = e.custom(c) => Exp::with_rule(&without_emissions(&c.arg, n), &c.functions, c.at),
        ExpView::Const(_) | ExpView::Var(_) => e.clone(),
        ExpView::Let(b, body, q) => Exp::let_(&without_emissions(&b, n), &without_emissions(&body.cast_env(q), n)),
        ExpView::While(w) => {
            let (cond, body) = (without_emissions(&w.cond, n), without_emissions(&w.body, n));
            Exp::while_(&cond.cast_env(w.eq), &body.cast_env(w.eq), &without_emissions(&w.init, n), w.at)
        }
        ExpView::Loop(l) => {
            let trips = match &l.trips {
                ExpTrips::While(cond) => ExpTrips::While(without_emissions(cond, n)),
                ExpTrips::Times(trips) => ExpTrips::Times(without_emissions(trips, n)),
            };
            let body = without_emissions(&l.body, n).cast_env(l.below_rows());
            let (init, xs) = (without_emissions(&l.init, n), without_emissions(&l.xs, n));
            Exp::loop_(&trips.cast(l.below_state), l.dir, &init, (&xs, &l.row), &body, l.at).cast(l.eq.sym())
        }
        ExpView::Op(ExpOp::Emit { token, to, ix, value, at, eq }) => {
            let token = without_emissions(&token, n);
            match to.position().checked_sub(n) {
                None => token,
                Some(k) => {
                    let (ix, value) = (without_emissions(&ix, n), without_emissions(&value, n));
                    token.cast(eq).emit(&to.moved(k), &ix, &value, at).cast(eq.sym())
                }
            }
        }
        ExpView::Op(op) => Exp::op(&op.map(&mut Without(n)), e.ty()),
    })
}

/// How many accumulators are left out, counted from the first.
struct Without(usize);
impl<E, A> ExpMap<E, A, E, A> for Without {
    fn exp<T>(&mut self, e: &Exp<E, A, T>) -> Exp<E, A, T> {
        without_emissions(e, self.0)
    }
    fn avar<T>(&mut self, i: &Idx<A, T>) -> Idx<A, T> {
        i.clone()
    }
}
