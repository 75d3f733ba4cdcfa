//! Activity analysis: finds out which values depend on the differentiated arguments (see the glossary of the book: activity).
//!
//! NOTE [Activity]: a label is passive if its value does not depend on the arguments that are differentiated. The dual
//! pass leaves passive labels out, so they cost nothing. It also leaves out labels that do not reach the result,
//! because they get no adjoint.
//!
//! The analysis walks a telescope once, forwards, before the dual pass walks it backwards. It looks into
//! scalar functions and loops, but not into the branches of a conditional that is a definition of the telescope: the
//! result of such a conditional is active. Its branches are telescopes with a dual pass of their own, which finds out
//! what is passive in them. If the analysis looked into them here, nested conditionals would take quadratic time.

use crate::builders::has_tangent;
use accel_core::ast::*;
use accel_core::pass::{array_uses, arrays_of_code};
use frunk::{HCons, HNil};
use std::rc::Rc;

/// Whether a value depends on the differentiated arguments: as a whole, or component by component.
#[derive(Clone, PartialEq, Debug)]
pub enum Activity {
    /// The value does not depend on them.
    Passive,
    /// The value can depend on them.
    Active,
    /// The activities of the components of a pair, which differ.
    Pair(Rc<(Activity, Activity)>),
}

impl Activity {
    /// A pair of components.
    pub fn pair(a: Activity, b: Activity) -> Activity {
        match a == b && !matches!(a, Activity::Pair(_)) {
            true => a,
            false => Activity::Pair(Rc::new((a, b))),
        }
    }
    /// The first component.
    pub fn fst(&self) -> Activity {
        match self {
            Activity::Pair(p) => p.0.clone(),
            whole => whole.clone(),
        }
    }
    /// The second component.
    pub fn snd(&self) -> Activity {
        match self {
            Activity::Pair(p) => p.1.clone(),
            whole => whole.clone(),
        }
    }
    /// Whether no component is active.
    pub fn is_passive(&self) -> bool {
        match self {
            Activity::Passive => true,
            Activity::Active => false,
            Activity::Pair(p) => p.0.is_passive() && p.1.is_passive(),
        }
    }
    /// The activity of a value that can be either of two.
    fn or(&self, other: &Activity) -> Activity {
        match (self, other) {
            (Activity::Passive, x) | (x, Activity::Passive) => x.clone(),
            (Activity::Active, _) | (_, Activity::Active) => Activity::Active,
            (Activity::Pair(p), Activity::Pair(q)) => Activity::pair(p.0.or(&q.0), p.1.or(&q.1)),
        }
    }
}

/// The activities of variables, by level.
pub type Levels = Vec<Activity>;

/// The activity of the argument of a function that returns parts of it: those parts are active.
pub fn of_parts<P, R>(parts: &Acc<HCons<P, HNil>, R>) -> Activity {
    let mut argument = vec![Activity::Passive];
    demand(parts, Activity::Active, &mut argument);
    argument.remove(0)
}

/// The parts of the state that a step of a loop needs to compute the results of this activity. The step is a function of the state and a
/// row.
pub fn needed_of_state<A, S, P, R>(step: &Acc<HCons<(S, P), A>, R>, result: Activity) -> Activity {
    let mut argument = vec![Activity::Passive];
    demand(step, result, &mut argument);
    argument.remove(0).fst()
}

/// Marks as active the parts of the variables that `parts` returns where `result` is active, or uses to compute these. Other variables
/// than the last ones, of which there are levels, do not matter.
fn demand<A, R>(parts: &Acc<A, R>, result: Activity, variables: &mut Levels) {
    fresh2(|a, r| deep(|| demand_(&parts.cast_env(name(a)).cast(name(r)), result, variables)))
}

fn demand_<'a, 'r>(parts: &Acc<X<'a>, X<'r>>, result: Activity, variables: &mut Levels) {
    fresh1(|n| match parts.view(n) {
        AccView::Var(i) => needs(i.depth(), result, variables),
        AccView::Let(b, body, _) => {
            variables.push(Activity::Passive);
            demand(&body, result, variables);
            let bound = variables.pop().unwrap_or(Activity::Passive);
            demand(&b, bound, variables);
        }
        AccView::Op(AccOp::Fst { a, .. }) => demand(&a, Activity::pair(result, Activity::Passive), variables),
        AccView::Op(AccOp::Snd { a, .. }) => demand(&a, Activity::pair(Activity::Passive, result), variables),
        AccView::Op(AccOp::Pair { a, b, .. }) => {
            demand(&a, result.fst(), variables);
            demand(&b, result.snd(), variables);
        }
        _ if result.is_passive() => {}
        AccView::Op(op) => op.visit(&mut Whole(variables)),
        AccView::Use(_) | AccView::While(_) | AccView::Loop(..) => {
            array_uses(parts, &mut |depth| needs(depth, Activity::Active, variables));
        }
    })
}

fn needs(depth: usize, activity: Activity, variables: &mut Levels) {
    if let Some(level) = variables.len().checked_sub(1 + depth) {
        variables[level] = variables[level].or(&activity);
    }
}

/// Marks as active what operands of an operation use, of which it needs all.
struct Whole<'v>(&'v mut Levels);

impl<A> AccVisit<A> for Whole<'_> {
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) {
        arrays_of_code(e, &mut |depth| needs(depth, Activity::Active, self.0));
    }
    fn acc<T>(&mut self, a: &Acc<A, T>) {
        demand(a, Activity::Active, self.0);
    }
}

/// The activity of a repeated value: the least one that contains `start` and that `step` preserves.
fn fixpoint(start: Activity, mut step: impl FnMut(&Activity) -> Activity) -> Activity {
    let mut state = start;
    loop {
        let next = state.or(&step(&state));
        if next == state {
            return state;
        }
        state = next;
    }
}

/// The activity of a scalar expression. `scalars` and `arrays` are those of its variables; `scalars` is used as a stack.
fn of_exp<E, A, T>(e: &Exp<E, A, T>, scalars: &mut Levels, arrays: &[Activity]) -> Activity {
    if !has_tangent(e.ty()) {
        return Activity::Passive;
    }
    fresh3(|e2, a, t| deep(|| of_exp_(&e.cast_all(name(e2), name(a), name(t)), scalars, arrays)))
}

fn of_exp_<'e, 'a, 't>(e: &Exp<X<'e>, X<'a>, X<'t>>, scalars: &mut Levels, arrays: &[Activity]) -> Activity {
    fresh2(|n, c| match e.view(n) {
        _ if let Some(c) = e.custom(c) => of_rule(&of_exp(&c.arg, scalars, arrays)),
        ExpView::Const(_) => Activity::Passive,
        ExpView::Var(i) => scalars[scalars.len() - 1 - i.depth()].clone(),
        ExpView::Let(b, body, _) => {
            let b = of_exp(&b, scalars, arrays);
            below(b, scalars, |scalars| of_exp(&body, scalars, arrays))
        }
        ExpView::While(w) => {
            let init = of_exp(&w.init, scalars, arrays);
            fixpoint(init, |state| below(state.clone(), scalars, |scalars| of_exp(&w.body, scalars, arrays)))
        }
        ExpView::Loop(l) => {
            let (state, _, listed) = of_loop(&l, scalars, arrays);
            Activity::pair(state, listed)
        }
        ExpView::Op(op) => match op {
            ExpOp::Pair(a, b, _) => Activity::pair(of_exp(&a, scalars, arrays), of_exp(&b, scalars, arrays)),
            ExpOp::Fst(a, _) => of_exp(&a, scalars, arrays).fst(),
            ExpOp::Snd(a, _) => of_exp(&a, scalars, arrays).snd(),
            ExpOp::Prim1(_, a) => of_exp(&a, scalars, arrays),
            ExpOp::Prim2(_, a, b) => of_exp(&a, scalars, arrays).or(&of_exp(&b, scalars, arrays)),
            ExpOp::Cond(_, a, b) => of_exp(&a, scalars, arrays).or(&of_exp(&b, scalars, arrays)),
            ExpOp::Index(array, ..) => read(&array, arrays),
            ExpOp::Shape(..) => Activity::Passive,
            // A token depends on all that has been emitted.
            ExpOp::Emit { token, value, .. } => {
                let emitted = of_exp(&value, scalars, arrays);
                let token = of_exp(&token, scalars, arrays);
                if emitted.is_passive() { token } else { Activity::Active }
            }
        },
    })
}

/// The activities of a loop's state, of the rows that it reads, and of those that it lists.
fn of_loop<E, A, T>(
    l: &LoopView<'_, E, A, T>,
    scalars: &mut Levels,
    arrays: &[Activity],
) -> (Activity, Activity, Activity) {
    let (init, row) = (of_exp(&l.init, scalars, arrays), of_exp(&l.xs, scalars, arrays));
    let mut listed = Activity::Passive;
    let state = fixpoint(init, |state| {
        below(state.clone(), scalars, |scalars| {
            let both = below(row.clone(), scalars, |scalars| of_exp(&l.body, scalars, arrays));
            listed = both.snd();
            both.fst()
        })
    });
    (state, row, listed)
}

/// The activity of an array that scalar code reads. Arrays outside of `arrays` are passive.
fn read<A, R>(array: &Idx<A, R>, arrays: &[Activity]) -> Activity {
    arrays.len().checked_sub(1 + array.depth()).map_or(Activity::Passive, |level| arrays[level].clone())
}

/// A type's components that have tangents.
pub fn differentiable<R>(t: &Ty<R>) -> Activity {
    fresh1(|n| match t.view(n) {
        TyView::Pair(a, b, _) => deep(|| Activity::pair(differentiable(&a), differentiable(&b))),
        _ if has_tangent(t) => Activity::Active,
        _ => Activity::Passive,
    })
}

/// Calls `f` with one more variable.
fn below<R>(a: Activity, variables: &mut Levels, f: impl FnOnce(&mut Levels) -> R) -> R {
    variables.push(a);
    let r = f(variables);
    variables.pop();
    r
}

/// The activity of a closed scalar function's result, for arguments of these activities.
fn of_fun<E, A, T>(f: &Exp<E, A, T>, arguments: &[&Activity], arrays: &[Activity]) -> Activity {
    of_exp(f, &mut arguments.iter().copied().cloned().collect(), arrays)
}

/// The activity of an array computation. An array has the activity of its elements.
fn of_acc<A, R>(a: &Acc<A, R>, arrays: &mut Levels) -> Activity {
    if !has_tangent(a.ty()) {
        return Activity::Passive;
    }
    fresh2(|a2, r| deep(|| of_acc_(&a.cast_env(name(a2)).cast(name(r)), arrays)))
}

fn of_acc_<'a, 'r>(a: &Acc<X<'a>, X<'r>>, arrays: &mut Levels) -> Activity {
    let passive = &Activity::Passive;
    fresh2(|n, c| match a.view(n) {
        _ if let Some(c) = a.custom(c) => of_rule(&of_acc(&c.arg, arrays)),
        AccView::Use(_) => Activity::Passive,
        AccView::Var(i) => arrays[arrays.len() - 1 - i.depth()].clone(),
        AccView::Let(b, body, _) => {
            let b = of_acc(&b, arrays);
            below(b, arrays, |arrays| of_acc(&body, arrays))
        }
        AccView::While(w) => {
            let init = of_acc(&w.init, arrays);
            fixpoint(init, |state| below(state.clone(), arrays, |arrays| of_acc(&w.body, arrays)))
        }
        AccView::Loop(l, _) => {
            let (init, row) = (of_acc(&l.init, arrays), of_acc(&l.xs, arrays));
            // The body is visited once for each round, since loops can be nested deeply.
            let mut entry = Activity::Passive;
            let state = fixpoint(init, |state| {
                let state = Activity::pair(state.clone(), row.clone());
                let both = below(state, arrays, |arrays| of_acc(&l.body, arrays));
                entry = both.snd();
                both.fst()
            });
            Activity::pair(state, entry)
        }
        AccView::Op(op) => match op {
            AccOp::Unit { .. } => Activity::Passive,
            AccOp::Pair { a, b, .. } => Activity::pair(of_acc(&a, arrays), of_acc(&b, arrays)),
            AccOp::Fst { a, .. } => of_acc(&a, arrays).fst(),
            AccOp::Snd { a, .. } => of_acc(&a, arrays).snd(),
            AccOp::Cond { then, otherwise, .. } => of_acc(&then, arrays).or(&of_acc(&otherwise, arrays)),
            AccOp::Generate { f, .. } => of_fun(&f.0, &[passive], arrays),
            AccOp::Accumulate { f, init, .. } => {
                let init = of_acc(&init, arrays);
                let both = of_fun(&f.0, &[passive], arrays);
                let sums = if both.snd().is_passive() { init } else { Activity::Active };
                Activity::pair(both.fst(), sums)
            }
            AccOp::Map { f, a, .. } => of_fun(&f.0, &[&of_acc(&a, arrays)], arrays),
            AccOp::ZipWith { f, a, b, .. } => {
                let (a, b) = (of_acc(&a, arrays), of_acc(&b, arrays));
                of_fun(&f.0, &[&a, &b], arrays)
            }
            AccOp::Fold { f, z, a, .. } | AccOp::Scan { f, z, a, .. } => {
                let start = of_acc(&a, arrays).or(&of_fun(&z, &[], arrays));
                combined(&f, start, arrays)
            }
            AccOp::Fold1 { f, a, .. } | AccOp::Scan1 { f, a, .. } => {
                let start = of_acc(&a, arrays);
                combined(&f, start, arrays)
            }
            AccOp::Permute { comb, defaults, a, .. } => {
                let start = of_acc(&defaults, arrays).or(&of_acc(&a, arrays));
                combined(&comb, start, arrays)
            }
            AccOp::Agree { a, .. } => of_acc(&a, arrays),
            AccOp::Backpermute { a, .. } => of_acc(&a, arrays),
            // Positions are integers, which have no derivative.
            AccOp::Argsort { .. } => Activity::Passive,
            AccOp::Foreign { a, .. } => of_rule(&of_acc(&a, arrays)),
            AccOp::Reshape { a, .. } => of_acc(&a, arrays),
            AccOp::Replicate { a, .. } => of_acc(&a, arrays),
            AccOp::Slice { a, .. } => of_acc(&a, arrays),
        },
    })
}

/// The activity of the result of a function with a rule, which may have a derivative that the function does not have.
fn of_rule(argument: &Activity) -> Activity {
    if argument.is_passive() { Activity::Passive } else { Activity::Active }
}

/// The activity of values that an operator combines.
fn combined<A, T>(f: &Fun2<A, T, T, T>, start: Activity, arrays: &[Activity]) -> Activity {
    fixpoint(start, |state| of_fun(&f.0, &[state, state], arrays))
}

/// The activities of the labels of scalar code, and of the arrays that it reads.
#[derive(Default)]
pub struct Labels {
    scalars: Levels,
    arrays: Rc<Levels>,
    /// The number of arrays in scope: the first ones of `arrays`.
    in_scope: usize,
}

impl Labels {
    /// The activities of the labels before a telescope. All arrays are passive.
    pub fn new(scalars: Levels) -> Labels {
        Labels { scalars, ..Labels::default() }
    }

    /// Adds the labels of a telescope. `base` are the labels before it; labels after these are forgotten.
    pub fn enter<A, E, E2>(&mut self, tape: &Tele<A, E, E2>, base: Size<E>) {
        self.scalars.truncate(base.get());
        self.extend(tape);
    }

    /// As [`enter`](Self::enter), for the body of a loop. Its state and its row come first.
    pub fn enter_loop<A, E, E2, F, T>(&mut self, l: &LoopView<'_, E, A, T>, tape: &Tele<A, F, E2>, base: Size<E>) {
        self.scalars.truncate(base.get());
        let (state, row, _) = of_loop(l, &mut self.scalars, &self.arrays[..self.in_scope]);
        self.scalars.extend([state, row]);
        self.extend(tape);
    }

    fn extend<A, E, E2>(&mut self, tape: &Tele<A, E, E2>) {
        fresh3(|a, e, f| deep(|| self.extend_(&tape.cast_all(name(a), name(e), name(f)))))
    }

    fn extend_<'a, 'e, 'f>(&mut self, tape: &Tele<X<'a>, X<'e>, X<'f>>) {
        fresh2(|n, m| {
            if let TeleView::Extended(init, rhs, _) = tape.view(n) {
                self.extend(&init);
                let found = match rhs.view(m) {
                    ExpView::Op(ExpOp::Cond(..)) if has_tangent(rhs.ty()) => Activity::Active,
                    _ => of_exp(&rhs, &mut self.scalars, &self.arrays[..self.in_scope]),
                };
                self.scalars.push(found);
            }
        })
    }

    /// Whether a label is passive; `labels` is the number of labels.
    pub fn is_passive<E, T>(&self, i: &Idx<E, T>, labels: Size<E>) -> bool {
        self.scalars[labels.get() - 1 - i.depth()].is_passive()
    }

    /// Whether an array is passive.
    pub fn is_passive_array<A, R>(&self, i: &Idx<A, R>) -> bool {
        read(i, &self.arrays[..self.in_scope]).is_passive()
    }
}

/// The activities of the labels of array code.
#[derive(Default)]
pub struct ArrayLabels(Rc<Levels>);

impl ArrayLabels {
    /// The labels before a telescope.
    pub fn new(labels: Levels) -> ArrayLabels {
        ArrayLabels(Rc::new(labels))
    }

    /// Adds the labels of a telescope. `base` are the labels before it; labels after these are forgotten.
    pub fn enter<A, A2>(&mut self, tape: &ATele<A, A2>, base: Size<A>) {
        let labels = Rc::make_mut(&mut self.0);
        labels.truncate(base.get());
        extend(tape, labels);
    }

    /// Adds the argument of a step of a loop, and the labels of the body of the loop, as [`enter`](Self::enter) does.
    pub fn enter_loop<A, A2, S>(&mut self, argument: Activity, tape: &ATele<HCons<S, A>, A2>, base: Size<A>) {
        let labels = Rc::make_mut(&mut self.0);
        labels.truncate(base.get());
        labels.push(argument);
        extend(tape, labels);
    }

    /// Adds a passive label after the first `labels` ones; other labels after these are forgotten.
    pub fn add_passive<A>(&mut self, labels: Size<A>) {
        let levels = Rc::make_mut(&mut self.0);
        levels.truncate(labels.get());
        levels.push(Activity::Passive);
    }

    /// The activity of a label; `labels` is the number of labels.
    pub fn of<A, R>(&self, i: &Idx<A, R>, labels: Size<A>) -> Activity {
        self.0[labels.get() - 1 - i.depth()].clone()
    }

    /// The activity of the label after the first `labels` ones: the result of the definition that the dual pass is
    /// processing.
    pub fn of_result<A>(&self, labels: Size<A>) -> Activity {
        self.0[labels.get()].clone()
    }

    /// The activities for a scalar function of one argument, which reads arrays of the first `labels` labels.
    pub fn of_function<A>(&self, argument: Activity, labels: Size<A>) -> Labels {
        // The argument, and the adjoint of the result.
        let scalars = vec![argument, Activity::Passive];
        Labels { scalars, arrays: self.0.clone(), in_scope: labels.get() }
    }
}

fn extend<A, A2>(tape: &ATele<A, A2>, labels: &mut Levels) {
    fresh2(|a, b| deep(|| extend_(&tape.cast_all(name(a), name(b)), labels)))
}

fn extend_<'a, 'b>(tape: &ATele<X<'a>, X<'b>>, labels: &mut Levels) {
    fresh2(|n, m| {
        if let ATeleView::Extended(init, rhs, _) = tape.view(n) {
            extend(&init, labels);
            let found = match rhs.view(m) {
                AccView::Op(AccOp::Cond { .. }) if has_tangent(rhs.ty()) => Activity::Active,
                _ => of_acc(&rhs, labels),
            };
            labels.push(found);
        }
    })
}
