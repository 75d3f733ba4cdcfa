//! The part of lint that checks array computations.

use super::super::acc::{AForm, ALoop, Ac, RawAccOp, Trips};
use super::super::env::thinning;
use super::super::exp::{Ex, Exp};
use super::super::names::{Erased, fresh1};
use super::super::slice::SliceSpec;
use super::super::thin::RawThinning;
use super::super::ty::{Repr, batched_ty, rows_of};
use super::super::value::conforms;
use super::{Check, Lint, array, custom_types, ensure, pair, same, short, variable};
use crate::repr::RawTy;

impl Lint {
    /// Checks a definition and adds its variable to the scope; returns the body.
    pub(super) fn acc_definition(&mut self, a: &Ac) -> Check<Ac> {
        let AForm::Let(b, body) = &a.node.get().form else { return Ok(a.clone()) };
        self.acc("definition", &part(b, &a.th))?;
        same("the body of a definition", &body.ty.0, &a.ty.0)?;
        self.arrays.push(b.ty.0.clone());
        Ok(part(body, &a.th.lift(1)))
    }

    pub(super) fn acc_node(&mut self, a: &Ac) -> Check {
        let ty = &a.ty.0;
        match &a.node.get().form {
            AForm::Use(arrays) => {
                same("a literal", &arrays.ty().0, ty)?;
                ensure(ty.is_array_tuple(), || format!("a literal has the type {}", short(ty)))?;
                ensure(conforms(arrays.arrays(), ty), || {
                    format!("the arrays of a literal do not have type {}", short(ty))
                })
            }
            AForm::Var(i) => variable("array", &self.arrays, a.th.at(*i), ty),
            // Not reached: `acc` handles chains of definitions itself.
            AForm::Let(..) => self.acc("definition", a),
            AForm::While(parts) => {
                let [cond, body, init] = &**parts;
                let inner = a.th.lift(1);
                self.acc("initial state", &part(init, &a.th))?;
                same("the initial state", &init.ty.0, ty)?;
                self.arrays.push(ty.clone());
                self.acc("condition", &part(cond, &inner))?;
                self.acc("loop body", &part(body, &inner))?;
                self.arrays.pop();
                let one_bool = RawTy::array(RawTy::Unit, bool::raw());
                same("the condition of a loop", &cond.ty.0, &one_bool)?;
                same("the body of a loop", &body.ty.0, ty)
            }
            AForm::Loop(l) => self.loop_(l, &a.th, ty),
            AForm::Custom(parts) => {
                let [arg, function, pushforward, pullback] = &**parts;
                self.acc("argument of a function with a rule", &part(arg, &a.th))?;
                let (p, r) = (&arg.ty.0, &function.ty.0);
                let inner = a.th.lift(1);
                for (what, f, [of, result]) in custom_types(p, r, [function, pushforward, pullback]) {
                    self.arrays.push(of);
                    self.acc(what, &part(f, &inner))?;
                    self.arrays.pop();
                    same(what, &f.ty.0, &result)?;
                }
                same("a function with a rule", r, ty)
            }
            AForm::Op(op) => self.acc_op(op, &a.th, ty),
        }
    }

    fn loop_(&mut self, l: &ALoop<Erased, Erased, Erased, Erased>, th: &RawThinning, ty: &RawTy) -> Check {
        let inner = th.lift(1);
        self.acc("initial state", &part(&l.init, th))?;
        self.acc("rows", &part(&l.xs.relabel(), th))?;
        ensure(fresh1(|n| rows_of(&l.xs.ty, n).is_some()), || format!("rows of {}", short(&l.xs.ty.0)))?;
        if let Trips::Times(n, _) = &l.trips {
            let n = self.fun("number of steps", n, &[], th)?;
            same("the number of steps", &n, &i64::raw())?;
        }
        if let Trips::While(cond) = &l.trips {
            self.arrays.push(l.init.ty.0.clone());
            self.acc("condition", &part(&cond.relabel(), &inner))?;
            self.arrays.pop();
            same("the condition of a loop", &cond.ty.0, &RawTy::array(RawTy::Unit, bool::raw()))?;
        }
        self.arrays.push(l.argument().0);
        self.acc("loop body", &part(&l.body.relabel(), &inner))?;
        self.arrays.pop();
        let (state, entry) = pair(&l.body.ty.0)?;
        same("the next state", state, &l.init.ty.0)?;
        same("loop", ty, &RawTy::pair(state.clone(), batched_ty::<Erased>(&super::super::ty::ty(entry.clone())).0))
    }

    /// Checks a function whose only scalar variables are its arguments; returns its result type.
    fn fun<E, T>(
        &mut self,
        step: &'static str,
        body: &Exp<E, Erased, T>,
        args: &[&RawTy],
        th: &RawThinning,
    ) -> Check<RawTy> {
        self.emitting(step, body, args, vec![], th)
    }
    /// As [`fun`](Self::fun), for a function that may emit to accumulators of these types.
    fn emitting<E, T>(
        &mut self,
        step: &'static str,
        body: &Exp<E, Erased, T>,
        args: &[&RawTy],
        accumulators: Vec<RawTy>,
        th: &RawThinning,
    ) -> Check<RawTy> {
        let outer = std::mem::replace(&mut self.scalars, args.iter().map(|t| (*t).clone()).collect());
        let around = std::mem::replace(&mut self.accumulators, accumulators);
        self.exp(step, &body.athin(th))?;
        (self.scalars, self.accumulators) = (outer, around);
        Ok(body.ty.0.clone())
    }

    /// Checks a function that combines two `t` to one.
    fn combination<E, T>(&mut self, f: &Exp<E, Erased, T>, t: &RawTy, th: &RawThinning) -> Check {
        let r = self.fun("combination", f, &[t, t], th)?;
        same("the result of a combination", &r, t)
    }

    /// Checks an array argument; returns its shape and element types.
    fn source<'a>(&mut self, step: &'static str, a: &'a Ac, th: &RawThinning) -> Check<(&'a RawTy, &'a RawTy)> {
        self.acc(step, &part(a, th))?;
        array(&a.ty.0)
    }

    /// Checks the size of a result.
    fn shape(&mut self, sh: &Ex, th: &RawThinning) -> Check<RawTy> {
        let t = self.fun("shape", sh, &[], th)?;
        ensure(t.is_shape(), || format!("{} is not a shape", short(&t)))?;
        Ok(t)
    }

    fn acc_op(&mut self, op: &RawAccOp, th: &RawThinning, ty: &RawTy) -> Check {
        match op {
            RawAccOp::Unit {} => same("the empty tuple", ty, &RawTy::Unit),
            RawAccOp::Pair { a, b } => {
                self.acc("first", &part(a, th))?;
                self.acc("second", &part(b, th))?;
                same("a pair", ty, &RawTy::pair(a.ty.0.clone(), b.ty.0.clone()))
            }
            RawAccOp::Fst { a } => {
                self.acc("fst", &part(a, th))?;
                same("the first component", pair(&a.ty.0)?.0, ty)
            }
            RawAccOp::Snd { a } => {
                self.acc("snd", &part(a, th))?;
                same("the second component", pair(&a.ty.0)?.1, ty)
            }
            RawAccOp::Cond { cond, then, otherwise } => {
                let c = self.fun("condition", cond, &[], th)?;
                same("a condition", &c, &bool::raw())?;
                self.acc("then", &part(then, th))?;
                self.acc("else", &part(otherwise, th))?;
                same("the first branch", &then.ty.0, ty)?;
                same("the second branch", &otherwise.ty.0, ty)
            }
            RawAccOp::Generate { sh, f } => {
                let sh = self.shape(sh, th)?;
                let t = self.fun("function", &f.0, &[&sh], th)?;
                same("generate", ty, &RawTy::array(sh, t))
            }
            RawAccOp::Map { f, a } => {
                let (sh, t) = self.source("source", a, th)?;
                let r = self.fun("function", &f.0, &[t], th)?;
                same("map", ty, &RawTy::array(sh.clone(), r))
            }
            RawAccOp::Agree { agreement, user: _, left, right, a } => {
                let (left, right) = (self.shape(left, th)?.width(), self.shape(right, th)?.width());
                ensure(agreement.is_defined(left, right), || format!("shapes of {left} and {right} dimensions"))?;
                self.source("source", a, th)?;
                same("agree", ty, &a.ty.0)
            }
            RawAccOp::ZipWith { f, a, b } => {
                let (sh, t) = self.source("first source", a, th)?;
                let (sh2, t2) = self.source("second source", b, th)?;
                same("the shape of the second source", sh2, sh)?;
                let r = self.fun("function", &f.0, &[t, t2], th)?;
                same("zip_with", ty, &RawTy::array(sh.clone(), r))
            }
            RawAccOp::Fold { f, z, a } => {
                let (outer, t) = self.reduced(a, th)?;
                self.combination(&f.0, t, th)?;
                self.initial(z, t, th)?;
                same("fold", ty, &RawTy::array(outer.clone(), t.clone()))
            }
            RawAccOp::Fold1 { f, a } => {
                let (outer, t) = self.reduced(a, th)?;
                self.combination(&f.0, t, th)?;
                same("fold1", ty, &RawTy::array(outer.clone(), t.clone()))
            }
            RawAccOp::Scan { dir: _, f, z, a } => {
                let (_, t) = self.reduced(a, th)?;
                self.combination(&f.0, t, th)?;
                self.initial(z, t, th)?;
                same("scan", ty, &a.ty.0)
            }
            RawAccOp::Scan1 { dir: _, f, a } => {
                let (_, t) = self.reduced(a, th)?;
                self.combination(&f.0, t, th)?;
                same("scan1", ty, &a.ty.0)
            }
            RawAccOp::Accumulate { sh, f, init } => {
                let sh = self.shape(sh, th)?;
                self.acc("accumulators", &part(init, th))?;
                let mut accumulators = vec![];
                array_types(&init.ty.0, &mut accumulators);
                for a in &accumulators {
                    let is_number = array(a)?.1.leaves().iter().all(|t| t.is_num());
                    ensure(is_number, || format!("an accumulator has the type {}", short(a)))?;
                }
                let t = self.emitting("function", &f.0, &[&sh], accumulators, th)?;
                let (element, token) = pair(&t)?;
                same("the last token", token, &f32::raw())?;
                let all = RawTy::pair(RawTy::array(sh, element.clone()), init.ty.0.clone());
                same("accumulate", ty, &all)
            }
            RawAccOp::Permute { comb, defaults, index, a } => {
                let (sh, t) = self.source("defaults", defaults, th)?;
                let (from, t2) = self.source("source", a, th)?;
                same("the elements of the source", t2, t)?;
                self.combination(&comb.0, t, th)?;
                let target = self.fun("index function", &index.0, &[from], th)?;
                same("the result of the index function", &target, &RawTy::pair(bool::raw(), sh.clone()))?;
                same("permute", ty, &defaults.ty.0)
            }
            RawAccOp::Backpermute { sh, f, a } => {
                let sh = self.shape(sh, th)?;
                let (from, t) = self.source("source", a, th)?;
                let index = self.fun("index function", &f.0, &[&sh], th)?;
                same("the result of the index function", &index, from)?;
                same("backpermute", ty, &RawTy::array(sh, t.clone()))
            }
            RawAccOp::Argsort { key, a } => {
                let (_, t) = self.reduced(a, th)?;
                same("the keys", t, &RawTy::Scalar(key.scalar()))?;
                let (sh, _) = array(&a.ty.0)?;
                same("argsort", ty, &RawTy::array(sh.clone(), i64::raw()))
            }
            RawAccOp::Foreign { f, sh, a } => {
                let sh = self.shape(sh, th)?;
                self.acc("argument of a foreign function", &part(a, th))?;
                ensure(ty.is_array_tuple(), || format!("a foreign function has the result {}", short(ty)))?;
                let (mut from, mut to) = (vec![], vec![]);
                array_types(&a.ty.0, &mut from);
                array_types(ty, &mut to);
                let rank = |t: &RawTy| array(t).map_or(0, |(sh, _)| sh.width());
                ensure(from.iter().chain(&to).all(|t| rank(t) >= f.lanes), || "an array without lanes".into())?;
                same("the extents of the results", &sh, &RawTy::shape(to.iter().map(rank).sum()))
            }
            RawAccOp::Reshape { sh, a } => {
                let sh = self.shape(sh, th)?;
                let (_, t) = self.source("source", a, th)?;
                same("reshape", ty, &RawTy::array(sh, t.clone()))
            }
            RawAccOp::Replicate { spec, slx, a } => {
                let (sh, t) = self.source("source", a, th)?;
                same("the shape of the source", sh, spec.small().raw())?;
                self.fixed(spec, slx, th)?;
                same("replicate", ty, &RawTy::array(spec.large().raw().clone(), t.clone()))
            }
            RawAccOp::Slice { spec, slx, a } => {
                let (sh, t) = self.source("source", a, th)?;
                same("the shape of the source", sh, spec.large().raw())?;
                self.fixed(spec, slx, th)?;
                same("slice", ty, &RawTy::array(spec.small().raw().clone(), t.clone()))
            }
        }
    }

    /// Checks the source of a reduction; returns the shape without the innermost dimension, and the element type.
    fn reduced<'a>(&mut self, a: &'a Ac, th: &RawThinning) -> Check<(&'a RawTy, &'a RawTy)> {
        let (sh, t) = self.source("source", a, th)?;
        let (outer, _) = pair(sh)?;
        Ok((outer, t))
    }

    /// Checks the initial value of a reduction.
    fn initial(&mut self, z: &Ex, t: &RawTy, th: &RawThinning) -> Check {
        let z = self.fun("initial value", z, &[], th)?;
        same("the initial value", &z, t)
    }

    /// Checks the fixed dimensions of `replicate` or `slice`.
    fn fixed(&mut self, spec: &SliceSpec<Erased, Erased, Erased>, slx: &Ex, th: &RawThinning) -> Check {
        let t = self.fun("fixed dimensions", slx, &[], th)?;
        same("the index of the fixed dimensions", &t, spec.fixed().raw())
    }
}

/// The types of the arrays of a tuple, from left to right.
fn array_types(t: &RawTy, out: &mut Vec<RawTy>) {
    match t {
        RawTy::Pair(p) => {
            array_types(&p.0, out);
            array_types(&p.1, out)
        }
        RawTy::Array(_) => out.push(t.clone()),
        RawTy::Unit | RawTy::Scalar(_) | RawTy::List(_) => {}
    }
}

fn part(a: &Ac, th: &RawThinning) -> Ac {
    a.weaken(&thinning::<Erased, Erased>(th.clone()))
}
