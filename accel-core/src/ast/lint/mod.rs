//! Lint: a dynamic type check of the erased nodes, in addition to the check by rustc (see the glossary of the book:
//! lint).
//!
//! NOTE \[Lint\]: rustc cannot check the trusted module itself: an axiom or a relabelling could be wrong. `lint`
//! recomputes the type of every node from its parts and its environment, and compares it with the stored type. If the
//! parts of a node are correct, the node then has the type that it states, so visiting each node once is enough.
//! Suspended thinnings are pushed down as in `view`. The comparison of two types takes constant time if they share
//! their representation, which they do unless a pass has computed them again.

mod arrays;
#[cfg(test)]
mod tests;

use super::acc::{AForm, Ac, Acc};
use super::env::{Env, UnitF, size};
use super::exp::{Ex, Exp, ExpTrips, Node, RawLoop};
use super::names::{Erased, fresh2};
use super::prim::{Prim1, Prim2, RawPrim1, RawPrim2};
use super::program::Program;
use super::thin::deep;
use super::ty::{ElementTy, Repr, Ty, list_ty, tan_ty, ty};
use crate::error::{Error, Result};
use crate::print::{self, PrintOptions};
use crate::repr::{RawTy, ScalarType};

/// Checks a program: every type must follow from the parts, and every variable must be in scope.
///
/// # Errors
/// [`Error::Internal`] with the first wrong node, the path from the root to it, and what was expected.
pub fn lint(p: &Program) -> Result<()> {
    let mut lint = Lint { arrays: vec![p.arg().clone()], ..Lint::default() };
    if !p.arg().is_array_tuple() {
        return Err(Error::Internal(format!("lint: the argument of a program has the type {}", p.arg())));
    }
    fresh2(|n, m| lint.acc("program", &p.open(n, m).body.relabel())).map_err(Fault::into_error)
}

/// Checks an array computation; `arrays` lists its free variables.
///
/// # Errors
/// As [`lint`].
pub fn lint_acc<A, R>(a: &Acc<A, R>, arrays: &Env<UnitF, A>) -> Result<()> {
    let mut lint = Lint { arrays: array_variables(arrays)?, ..Lint::default() };
    lint.acc("array computation", &a.relabel()).map_err(Fault::into_error)
}

/// Checks a scalar expression; `scalars` and `arrays` list its free variables.
///
/// # Errors
/// As [`lint`].
pub fn lint_exp<E, A, T>(e: &Exp<E, A, T>, scalars: &Env<UnitF, E>, arrays: &Env<UnitF, A>) -> Result<()> {
    let (scalars, arrays) = (scalar_variables(scalars)?, array_variables(arrays)?);
    let mut lint = Lint { scalars, arrays, ..Lint::default() };
    lint.exp("expression", &e.relabel()).map_err(Fault::into_error)
}

/// The types of the free scalar variables, outermost first. They must be element types. Variables that are bound inside
/// have the types of checked terms, so kinds need not be checked at every binder.
fn scalar_variables<E>(env: &Env<UnitF, E>) -> Result<Vec<RawTy>> {
    of_kind("scalar", RawTy::is_element, env)
}

/// The types of the free array variables, which must be arrays or tuples of arrays.
fn array_variables<A>(env: &Env<UnitF, A>) -> Result<Vec<RawTy>> {
    of_kind("array", RawTy::is_array_tuple, env)
}

fn of_kind<E>(what: &str, kind: fn(&RawTy) -> bool, env: &Env<UnitF, E>) -> Result<Vec<RawTy>> {
    let mut types = env.raw_types();
    types.reverse();
    match types.iter().find(|t| !kind(t)) {
        Some(t) => Err(Error::Internal(format!("lint: a free {what} variable has the type {}", short(t)))),
        None => Ok(types),
    }
}

/// A failure: in the current node, or already reported with its path.
enum Fault {
    Here(String),
    Reported(Error),
}

impl Fault {
    fn into_error(self) -> Error {
        match self {
            Fault::Here(text) => Error::Internal(text),
            Fault::Reported(e) => e,
        }
    }
}

type Check<T = ()> = std::result::Result<T, Fault>;

/// The position of the check: the types of the variables in scope, outermost first, those of the accumulators, and the
/// path from the root.
#[derive(Default)]
struct Lint {
    scalars: Vec<RawTy>,
    arrays: Vec<RawTy>,
    accumulators: Vec<RawTy>,
    path: Vec<&'static str>,
}

impl Lint {
    /// Checks one part of a node. The thinnings of the nodes above are already composed into the handle. A chain of
    /// definitions is processed by a loop, everything else by recursion.
    fn exp(&mut self, step: &'static str, e: &Ex) -> Check {
        let (steps, scalars) = (self.path.len(), self.scalars.len());
        self.path.push(step);
        let mut next = e.clone();
        while let Node::Let(..) = next.node.get() {
            next = self.exp_definition(&next).map_err(|fault| self.report_exp(fault, &next))?;
            self.path.push("let body");
        }
        deep(|| self.exp_node(&next)).map_err(|fault| self.report_exp(fault, &next))?;
        self.path.truncate(steps);
        self.scalars.truncate(scalars);
        Ok(())
    }

    fn acc(&mut self, step: &'static str, a: &Ac) -> Check {
        let (steps, arrays) = (self.path.len(), self.arrays.len());
        self.path.push(step);
        let mut next = a.clone();
        while let AForm::Let(..) = next.node.get().form {
            next = self.acc_definition(&next).map_err(|fault| self.report_acc(fault, &next))?;
            self.path.push("let body");
        }
        deep(|| self.acc_node(&next)).map_err(|fault| self.report_acc(fault, &next))?;
        self.path.truncate(steps);
        self.arrays.truncate(arrays);
        Ok(())
    }

    /// Checks a definition and adds its variable to the scope; returns the body.
    fn exp_definition(&mut self, e: &Ex) -> Check<Ex> {
        let Node::Let(b, body) = e.node.get() else { return Ok(e.clone()) };
        self.exp("definition", &b.thin(&e.th))?;
        same("the body of a definition", &body.ty.0, &e.ty.0)?;
        self.scalars.push(b.ty.0.clone());
        Ok(body.thin(&e.th.lift()))
    }

    fn report_exp(&self, fault: Fault, e: &Ex) -> Fault {
        let (scalars, arrays) = (size(self.scalars.len() as u32), size(self.arrays.len() as u32));
        self.report(fault, |options| print::exp(e, scalars, arrays, options))
    }

    fn report_acc(&self, fault: Fault, a: &Ac) -> Fault {
        self.report(fault, |options| print::acc(a, size(self.arrays.len() as u32), options))
    }

    fn report(&self, fault: Fault, show: impl FnOnce(&PrintOptions) -> String) -> Fault {
        const LAST_STEPS: usize = 12;
        let Fault::Here(text) = fault else { return fault };
        let excerpt = show(&PrintOptions { types: false, source_lines: true, max_depth: Some(3) });
        let hidden = self.path.len().saturating_sub(LAST_STEPS);
        let more = if hidden > 0 { format!("({hidden} steps) > ") } else { String::new() };
        let path = self.path[hidden..].join(" > ");
        Fault::Reported(Error::Internal(format!("lint: {text}\n  at: {more}{path}\n  in: {excerpt}")))
    }

    fn exp_node(&mut self, e: &Ex) -> Check {
        let ty = &e.ty.0;
        let part = |x: &Ex| x.thin(&e.th);
        match e.node.get() {
            Node::Const(v) => {
                let found: Vec<ScalarType> = v.scalars().iter().map(|x| x.ty()).collect();
                ensure(ty.is_element(), || format!("a constant has the type {}", short(ty)))?;
                ensure(found[..] == ty.leaves()[..], || {
                    format!("a constant of type {} has the leaves {found:?}", short(ty))
                })
            }
            Node::Var(i) => variable("scalar", &self.scalars, e.th.e.at(*i), ty),
            // Not reached: `exp` handles chains of definitions itself.
            Node::Let(..) => self.exp("definition", e),
            Node::Pair(a, b) => {
                let (a, b) = (part(a), part(b));
                self.exp("first", &a)?;
                self.exp("second", &b)?;
                same("a pair", ty, &RawTy::pair(a.ty.0, b.ty.0))
            }
            Node::Fst(a) => {
                self.exp("fst", &part(a))?;
                same("the first component", pair(&a.ty.0)?.0, ty)
            }
            Node::Snd(a) => {
                self.exp("snd", &part(a))?;
                same("the second component", pair(&a.ty.0)?.1, ty)
            }
            Node::Prim1(p, a) => {
                self.exp("argument", &part(a))?;
                prim1(*p, &a.ty, &e.ty)
            }
            Node::Prim2(p, a, b) => {
                self.exp("left", &part(a))?;
                self.exp("right", &part(b))?;
                same("the right operand", &b.ty.0, &a.ty.0)?;
                prim2(*p, &a.ty, &e.ty)
            }
            Node::Cond(parts) => {
                let [c, t, f] = &**parts;
                self.exp("condition", &part(c))?;
                self.exp("then", &part(t))?;
                self.exp("else", &part(f))?;
                same("a condition", &c.ty.0, &bool::raw())?;
                same("the first branch", &t.ty.0, ty)?;
                same("the second branch", &f.ty.0, ty)
            }
            Node::While(parts, _) => {
                let [cond, body, init] = &**parts;
                let inner = e.th.lift();
                self.exp("initial state", &part(init))?;
                same("the initial state", &init.ty.0, ty)?;
                self.scalars.push(ty.clone());
                self.exp("condition", &cond.thin(&inner))?;
                self.exp("loop body", &body.thin(&inner))?;
                self.scalars.pop();
                same("the condition of a loop", &cond.ty.0, &bool::raw())?;
                same("the body of a loop", &body.ty.0, ty)
            }
            Node::Custom(parts, _) => {
                let [arg, function, pushforward, pullback] = &**parts;
                self.exp("argument of a function with a rule", &part(arg))?;
                let (p, r) = (&arg.ty.0, &function.ty.0);
                let inner = e.th.lift();
                for (what, f, [of, result]) in custom_types(p, r, [function, pushforward, pullback]) {
                    self.scalars.push(of);
                    self.exp(what, &f.thin(&inner))?;
                    self.scalars.pop();
                    same(what, &f.ty.0, &result)?;
                }
                same("a function with a rule", r, ty)
            }
            Node::Loop(parts) => self.loop_with_lists(parts, e),
            Node::Index(a, ix, _) => {
                variable("array", &self.arrays, e.th.a.at(a.0), &a.1.0)?;
                self.exp("index", &part(ix))?;
                let (sh, t) = array(&a.1.0)?;
                same("an index", &ix.ty.0, sh)?;
                same("an array element", t, ty)
            }
            Node::Shape(a) => {
                variable("array", &self.arrays, e.th.a.at(a.0), &a.1.0)?;
                same("a shape", array(&a.1.0)?.0, ty)
            }
            Node::Emit(to, parts, _) => {
                let [token, ix, value] = parts.each_ref().map(part);
                self.exp("token", &token)?;
                self.exp("index", &ix)?;
                self.exp("emitted value", &value)?;
                same("a token", &token.ty.0, &f32::raw())?;
                same("an emission", ty, &f32::raw())?;
                let Some(accumulator) = self.accumulators.get(to.position()) else {
                    let (k, n) = (to.position(), self.accumulators.len());
                    return ensure(false, || format!("accumulator {k} is not in scope: there are {n}"));
                };
                same("an accumulator", &to.array().0, accumulator)?;
                let (sh, t) = array(accumulator)?;
                same("the index of an emission", &ix.ty.0, sh)?;
                same("an emitted value", &value.ty.0, t)
            }
        }
    }
}

impl Lint {
    fn loop_with_lists(&mut self, l: &RawLoop, e: &Ex) -> Check {
        let (state, inner) = (&l.init.ty.0, e.th.lift());
        self.exp("initial state", &l.init.thin(&e.th))?;
        ensure(state.is_element(), || format!("the state of a loop has the type {}", short(state)))?;
        self.exp("lists", &l.xs.thin(&e.th))?;
        ensure(l.row.is_element(), || format!("the rows of a list have the type {}", short(&l.row)))?;
        same("the lists of a loop", &l.xs.ty.0, &list(&l.row))?;
        self.scalars.push(state.clone());
        match &l.trips {
            ExpTrips::While(cond) => {
                self.exp("condition", &cond.thin(&inner))?;
                same("the condition of a loop", &cond.ty.0, &bool::raw())?;
                ensure(l.row.width() == 0, || "a loop with a condition reads lists".into())?;
            }
            ExpTrips::Times(n) => {
                let scalars = self.scalars.pop();
                self.exp("number of steps", &n.thin(&e.th))?;
                same("the number of steps", &n.ty.0, &i64::raw())?;
                self.scalars.extend(scalars);
            }
        }
        self.scalars.push(l.row.clone());
        self.exp("loop body", &l.body.thin(&inner.lift()))?;
        self.scalars.truncate(self.scalars.len() - 2);
        let (next, y) = pair(&l.body.ty.0)?;
        same("the next state of a loop", next, state)?;
        ensure(y.is_element(), || format!("a loop lists values of the type {}", short(y)))?;
        same("a loop", &e.ty.0, &RawTy::pair(state.clone(), list(y)))
    }
}

/// The functions of a function with a rule from `p` to `r`, with the types of their arguments and of their results.
fn custom_types<'f, F>(
    p: &RawTy,
    r: &RawTy,
    [function, pushforward, pullback]: [&'f F; 3],
) -> [(&'static str, &'f F, [RawTy; 2]); 3] {
    let tan = |t: &RawTy| tan_ty(&ty::<Erased>(t.clone())).0;
    let at = |d: &RawTy| RawTy::pair(p.clone(), RawTy::pair(r.clone(), tan(d)));
    [
        ("a function with a rule", function, [p.clone(), r.clone()]),
        ("a pushforward", pushforward, [at(p), tan(r)]),
        ("a pullback", pullback, [at(r), tan(p)]),
    ]
}

/// The type of the lists of values of an element type.
fn list(t: &RawTy) -> RawTy {
    list_ty(&ElementTy(ty::<Erased>(t.clone()))).0
}

/// Checks that a primitive function is defined on its argument type and that its witness is the one for this type.
fn prim1(p: RawPrim1, a: &Ty<Erased>, r: &Ty<Erased>) -> Check {
    let witness = match p {
        Prim1::Num(_, t, _) => t.scalar(),
        Prim1::Float(_, t, _) | Prim1::Test(_, t, _) => t.scalar(),
        Prim1::Int(_, t, _) => t.scalar(),
        Prim1::Not(..) => ScalarType::Bool,
        Prim1::Cast(t, _) | Prim1::Bits(t, _) => t.scalar(),
    };
    same("the argument of a primitive function", &a.0, &RawTy::Scalar(witness))?;
    let defined = Prim1::check(p.op(), a, r).is_some();
    ensure(defined, || format!("`{}` is not defined from {} to {}", p.op(), short(&a.0), short(&r.0)))
}

fn prim2(p: RawPrim2, a: &Ty<Erased>, r: &Ty<Erased>) -> Check {
    let witness = match p {
        Prim2::Num(_, t, _) => t.scalar(),
        Prim2::Float(_, t, _) => t.scalar(),
        Prim2::Int(_, t, _) => t.scalar(),
        Prim2::Cmp(_, t, _) => t.scalar(),
        Prim2::Logic(..) => ScalarType::Bool,
    };
    same("the operands of a primitive function", &a.0, &RawTy::Scalar(witness))?;
    let defined = Prim2::check(p.op(), a, r).is_some();
    ensure(defined, || format!("`{}` is not defined from two {} to {}", p.op(), short(&a.0), short(&r.0)))
}

fn ensure(ok: bool, text: impl FnOnce() -> String) -> Check {
    if ok { Ok(()) } else { Err(Fault::Here(text())) }
}

fn same(what: &str, found: &RawTy, expected: &RawTy) -> Check {
    ensure(found == expected, || format!("{what} has the type {}, expected {}", short(found), short(expected)))
}

/// Checks that a variable with De Bruijn index `i` is in scope and has type `ty`.
fn variable(what: &str, env: &[RawTy], i: u32, ty: &RawTy) -> Check {
    match env.len().checked_sub(i as usize + 1) {
        Some(level) => same(&format!("the {what} variable of index {i}"), &env[level], ty),
        None => ensure(false, || format!("the {what} variable of index {i} is not in scope: there are {}", env.len())),
    }
}

fn pair(t: &RawTy) -> Check<(&RawTy, &RawTy)> {
    match t {
        RawTy::Pair(p) => Ok((&p.0, &p.1)),
        t => Err(Fault::Here(format!("{} is not a pair", short(t)))),
    }
}

fn array(t: &RawTy) -> Check<(&RawTy, &RawTy)> {
    match t {
        RawTy::Array(p) => Ok((&p.0, &p.1)),
        t => Err(Fault::Here(format!("{} is not an array", short(t)))),
    }
}

/// Prints a type; of a long one only the beginning.
fn short(t: &RawTy) -> String {
    const LENGTH: usize = 120;
    let text = t.to_string();
    if text.chars().count() <= LENGTH { text } else { text.chars().take(LENGTH).chain(['…']).collect() }
}
