//! The dual pass for scalar code. It expects a telescope from the primal pass and walks through it backwards. It
//! establishes the adjoint of every variable before the telescope, and the index-adjoint tuple: the contributions to
//! the adjoints of the arrays that were read (see the glossary of the book: dual pass, index-adjoint tuple).

use super::branches::branches;
use super::code::{Code, materialise, total};
use super::constants::Constants;
use crate::parts::{Live, live};
use crate::rules::{self, Factor};
use crate::terms::{has_tangent, truth};
use crate::used::Used;
use accel_core::ast::*;
use accel_core::error::{Error, Result};

/// The state of the dual pass: the code so far (from `B` to `E2`), the contribution map for the labels `E`, the place
/// of their values in `E2`, the index-adjoint tuple of type `T`, the variables that the code uses, and the labels that
/// are constants.
pub struct Dual<A, B, E, E2, T> {
    pub code: Code<A, B, E2>,
    pub adj: Contributions<E, E2>,
    pub emb: Ren<E, E2>,
    pub sites: Sites<A, T>,
    pub idx: Exp<E2, A, T>,
    pub used: Used,
    pub constants: Constants,
}

/// A state after more code, together with a value in its environment.
pub struct Bound<'k, A, B, E, E2, T, V> {
    pub st: Dual<A, B, E, X<'k>, T>,
    pub val: V,
    pub up: Ren<E2, X<'k>>,
}

impl<A, B, E, E2, T> Dual<A, B, E, E2, T> {
    /// Gives the code environment a name.
    fn rename<'k>(self, k: Guard<'k>) -> (Dual<A, B, E, X<'k>, T>, Equal<E2, X<'k>>) {
        let q = name(k);
        let st = Dual {
            code: self.code.rename(q),
            adj: self.adj.cast_code(q),
            emb: self.emb.to(q),
            sites: self.sites,
            idx: self.idx.cast_env(q),
            used: self.used,
            constants: self.constants,
        };
        (st, q)
    }
    /// Gives the code environment and the type of the index-adjoint tuple names.
    pub fn named<'k, 'i>(self, k: Guard<'k>, i: Guard<'i>) -> Dual<A, B, E, X<'k>, X<'i>> {
        let (st, _) = self.rename(k);
        let v = name(i);
        let (sites, idx) = (st.sites.cast(v), st.idx.cast(v));
        let Dual { code, adj, emb, used, constants, .. } = st;
        Dual { code, adj, emb, sites, idx, used, constants }
    }
    /// Emits a definition.
    pub fn bind<'k, U>(mut self, rhs: &Exp<E2, A, U>, k: Guard<'k>) -> Bound<'k, A, B, E, E2, T, Idx<X<'k>, U>> {
        self.used.scalars(rhs, self.code.size);
        self.bind_noted(rhs, k)
    }
    /// Emits a definition whose variables have been noted.
    pub fn bind_noted<'k, U>(self, rhs: &Exp<E2, A, U>, k: Guard<'k>) -> Bound<'k, A, B, E, E2, T, Idx<X<'k>, U>> {
        let q = name(k);
        let up = Ren::id().up(q);
        let st = Dual {
            code: Code { tele: self.code.tele.snoc(rhs).cast(q), size: self.code.size.push().cast(q) },
            adj: self.adj.grow(q),
            emb: self.emb.then(&up),
            sites: self.sites,
            idx: self.idx.weaken(&up),
            used: self.used,
            constants: self.constants,
        };
        Bound { st, val: Idx::zero(rhs.ty()).cast_env(q), up }
    }
    /// The sum of partial values. It emits code only where two of them overlap.
    pub fn sum<'k, U>(
        self,
        parts: &[Part<E2, U>],
        t: &Ty<U>,
        k: Guard<'k>,
    ) -> Bound<'k, A, B, E, E2, T, Part<X<'k>, U>> {
        deep(|| {
            fresh3(|n, k1, k2| match live(parts, n) {
                Live::None => self.already(Part::zero(), k),
                Live::One(p) => self.already(p, k),
                Live::Pairs(pairs) => {
                    let (ta, tb) = t.cast(pairs.eq).parts();
                    let a = self.sum(&pairs.firsts, &ta, k1);
                    let seconds: Vec<_> = pairs.seconds.iter().map(|p| p.weaken(&a.up)).collect();
                    let b = a.st.sum(&seconds, &tb, k2);
                    let both = Part::pair(&a.val.weaken(&b.up), &b.val).cast(pairs.eq.sym());
                    let (st, q) = b.st.rename(k);
                    Bound { st, val: both.cast_env(q), up: a.up.then(&b.up).to(q) }
                }
                Live::Overlapping(parts) => {
                    let b = self.bind(&total(&parts, t), k);
                    Bound { val: Part::var(&b.val), st: b.st, up: b.up }
                }
            })
        })
    }
    /// A value that needs no code.
    fn already<'k, U>(self, p: Part<E2, U>, k: Guard<'k>) -> Bound<'k, A, B, E, E2, T, Part<X<'k>, U>> {
        let (st, q) = self.rename(k);
        Bound { st, val: p.cast_env(q), up: Ren::id().to(q) }
    }
    /// No code.
    pub fn unchanged<'k>(self, k: Guard<'k>) -> Bound<'k, A, B, E, E2, T, ()> {
        let (st, q) = self.rename(k);
        Bound { st, val: (), up: Ren::id().to(q) }
    }
    /// Adds a contribution to the adjoint of a label.
    pub fn contribute<'k, V>(
        self,
        i: &Idx<E, V>,
        d: &Exp<E2, A, Tan<V>>,
        k: Guard<'k>,
    ) -> Bound<'k, A, B, E, E2, T, ()> {
        if self.constants.contains(i, self.adj.label_size()) {
            return self.unchanged(k);
        }
        if let Some(v) = fresh1(|n| match d.view(n) {
            ExpView::Var(v) => Some(v),
            _ => None,
        }) {
            let mut this = self;
            this.adj.add(i, &Part::var(&v));
            return this.unchanged(k);
        }
        let mut b = self.bind(d, k);
        b.st.adj.add(i, &Part::var(&b.val));
        Bound { st: b.st, val: (), up: b.up }
    }
    /// Applies a local derivative to the adjoint `d` of a result of the same type.
    fn apply<'k, V>(
        self,
        i: &Idx<E, V>,
        t: FloatTy<V>,
        factor: &Factor<E2, A, V>,
        d: &Exp<E2, A, V>,
        k: Guard<'k>,
    ) -> Bound<'k, A, B, E, E2, T, ()> {
        match factor.apply(t, d) {
            Some(e) => self.contribute(i, &e.cast(tan_float(t).sym()), k),
            None => self.unchanged(k),
        }
    }
    /// Replaces the index-adjoint tuple.
    pub fn with_sites<U>(self, sites: Sites<A, U>, idx: Exp<E2, A, U>) -> Dual<A, B, E, E2, U> {
        let Dual { code, adj, emb, used, constants, .. } = self;
        Dual { code, adj, emb, sites, idx, used, constants }
    }
}

/// In normal form, arguments are variables.
pub fn label<E, A, T>(a: &Exp<E, A, T>) -> Result<Idx<E, T>> {
    fresh1(|n| match a.view(n) {
        ExpView::Var(i) => Ok(i),
        _ => Err(Error::Internal("dual pass: an argument is not in normal form".into())),
    })
}

/// Walks through the telescope backwards. `m` names the final code environment, and `i` the type of the index-adjoint
/// tuple.
///
/// # Errors
/// An operation between the labels and the result that has no reverse derivative.
pub fn reverse<'m, 'i, A, B, E, E2, E3, T>(
    tape: &Tele<A, E, E2>,
    st: Dual<A, B, E2, E3, T>,
    m: Guard<'m>,
    i: Guard<'i>,
) -> Result<Dual<A, B, E, X<'m>, X<'i>>> {
    fresh6(|a, b, e, e2, e3, t| {
        let (a, b, e, e2, e3, t) = (name(a), name(b), name(e), name(e2), name(e3), name(t));
        let st = Dual {
            code: Code { tele: st.code.tele.cast_all(a, b, e3), size: st.code.size.cast(e3) },
            adj: st.adj.cast_labels(e2).cast_code(e3),
            emb: st.emb.cast(e2, e3),
            sites: st.sites.cast_aenv(a).cast(t),
            idx: st.idx.cast_all(e3, a, t),
            used: st.used,
            constants: st.constants,
        };
        let r = deep(|| reverse_(&tape.cast_all(a, e, e2), st, m, i))?;
        let (a, b, e, same) = (a.sym(), b.sym(), e.sym(), Equal::refl());
        Ok(Dual {
            code: Code { tele: r.code.tele.cast_all(a, b, same), size: r.code.size },
            adj: r.adj.cast_labels(e),
            emb: r.emb.cast(e, same),
            sites: r.sites.cast_aenv(a),
            idx: r.idx.cast_aenv(a),
            used: r.used,
            constants: r.constants,
        })
    })
}

type Names<'a, 'b, 'e, 'c, 't> = Dual<X<'a>, X<'b>, X<'e>, X<'c>, X<'t>>;

fn reverse_<'m, 'i, 'a, 'b, 'e, 'f, 'c, 't>(
    tape: &Tele<X<'a>, X<'e>, X<'f>>,
    st: Names<'a, 'b, 'f, 'c, 't>,
    m: Guard<'m>,
    i: Guard<'i>,
) -> Result<Names<'a, 'b, 'e, 'm, 'i>> {
    fresh2(|n, k| match tape.view(n) {
        TeleView::Nil(q) => {
            let st = st.named(m, i);
            let emb = st.emb.cast(q.sym(), Equal::refl());
            let Dual { code, adj, sites, idx, used, constants, .. } = st;
            Ok(Dual { code, adj: adj.cast_labels(q.sym()), emb, sites, idx, used, constants })
        }
        TeleView::Snoc(init, rhs, q) => {
            let last = Idx::zero(rhs.ty());
            let mut adj = st.adj.cast_labels(q);
            let parts = adj.take(&last);
            let emb = st.emb.cast(q, Equal::refl());
            let y = emb.at(&last);
            let emb = Ren::shift().then(&emb);
            let Dual { code, sites, idx, used, constants, .. } = st;
            let st = Dual { code, adj: adj.shrink(), emb, sites, idx, used, constants };
            let d = st.sum(&parts, &tan_ty(rhs.ty()), k);
            if d.val.is_zero() || !has_tangent(rhs.ty()) {
                return reverse(&init, d.st, m, i);
            }
            step(&init, &rhs, d.st, &d.val, &d.up.at(&y), m, i)
        }
    })
}

/// Adds the contributions of the definition `rhs`, whose value is `y` and whose adjoint `d` is not zero; then continues
/// with the rest.
fn step<'m, 'i, A, B, E0, E, E2, T, V>(
    init: &Tele<A, E0, E>,
    rhs: &Exp<E, A, V>,
    mut st: Dual<A, B, E, E2, T>,
    d: &Part<E2, Tan<V>>,
    y: &Idx<E2, V>,
    m: Guard<'m>,
    i: Guard<'i>,
) -> Result<Dual<A, B, E0, X<'m>, X<'i>>> {
    let whole = || materialise(d, &tan_ty(y.ty()));
    fresh6(|n, k, l, j, b, r| {
        let op = match rhs.view(n) {
            ExpView::Const(_) => return reverse(init, st, m, i),
            ExpView::Var(a) => {
                st.adj.add(&a, d);
                return reverse(init, st, m, i);
            }
            ExpView::Let(..) => return Err(Error::Internal("dual pass: a let in normal form".into())),
            ExpView::While(w) => {
                return Err(no_rule("while", w.at, "loops are not differentiated in reverse mode yet; `jvp` does"));
            }
            ExpView::Op(op) => op,
        };
        match op {
            ExpOp::Pair(a, b, q) => {
                let p = d.cast(eq_tan(q).then(tan_pair()));
                let (a, b) = (label(&a)?, label(&b)?);
                match p.view(j) {
                    PartView::Pair(da, db, e) => {
                        st.adj.add(&a, &da.cast(e.fst().sym()));
                        st.adj.add(&b, &db.cast(e.snd().sym()));
                        reverse(init, st, m, i)
                    }
                    _ => {
                        let whole = whole().cast(eq_tan(q).then(tan_pair()));
                        let s = st.contribute(&a, &whole.fst(), k);
                        let s = s.st.contribute(&b, &whole.snd().weaken(&s.up), l);
                        reverse(init, s.st, m, i)
                    }
                }
            }
            ExpOp::Fst(a, q) => {
                st.adj.add(&label(&a)?, &Part::pair(d, &Part::zero()).cast(tan_pair().sym().then(eq_tan(q.sym()))));
                reverse(init, st, m, i)
            }
            ExpOp::Snd(a, q) => {
                st.adj.add(&label(&a)?, &Part::pair(&Part::zero(), d).cast(tan_pair().sym().then(eq_tan(q.sym()))));
                reverse(init, st, m, i)
            }
            ExpOp::Prim1(p, a) => {
                let a = label(&a)?;
                let x = Exp::var(&st.emb.at(&a));
                let (t, q, factor) = match p {
                    Prim1::Num(o, t, q) => match t.float() {
                        Some(t) => (t, q, rules::num1(o, t, &x)),
                        None => return reverse(init, st, m, i),
                    },
                    Prim1::Float(o, t, q) => (t, q, rules::float1(o, t, &x, &Exp::var(&y.cast(q.sym())))),
                    Prim1::Cast(from, to) => {
                        if let (Some(from), Some(to)) = (from.float(), to.float()) {
                            let back = Prim1::Cast(to.num().any(), from.num().any());
                            let e = Exp::prim1(back, &whole().cast(tan_float(to))).cast(tan_float(from).sym());
                            return reverse(init, st.contribute(&a, &e, k).st, m, i);
                        }
                        return reverse(init, st, m, i);
                    }
                    Prim1::Test(..) | Prim1::Int(..) | Prim1::Not(..) => return reverse(init, st, m, i),
                };
                let d = whole().cast(eq_tan(q.sym()).then(tan_float(t)));
                reverse(init, st.apply(&a, t, &factor, &d, k).st, m, i)
            }
            ExpOp::Prim2(p, a, b) => {
                let (a, b) = (label(&a)?, label(&b)?);
                let (va, vb) = (Exp::var(&st.emb.at(&a)), Exp::var(&st.emb.at(&b)));
                let (t, q, (fa, fb)) = match p {
                    Prim2::Num(o, t, q) => match t.float() {
                        Some(t) => (t, q, rules::num2(o, t, &va, &vb, &Exp::var(&y.cast(q.sym())))),
                        None => return reverse(init, st, m, i),
                    },
                    Prim2::Float(o, t, q) => (t, q, rules::float2(o, t, &va, &vb, &Exp::var(&y.cast(q.sym())))),
                    Prim2::Int(..) | Prim2::Cmp(..) | Prim2::Logic(..) => return reverse(init, st, m, i),
                };
                let d = whole().cast(eq_tan(q.sym()).then(tan_float(t)));
                let s = st.apply(&a, t, &fa, &d, k);
                let s = s.st.apply(&b, t, &fb.weaken(&s.up), &d.weaken(&s.up), l);
                reverse(init, s.st, m, i)
            }
            ExpOp::Cond(c, t, f) => {
                let st = branches(st, &label(&c)?, &t, &f, d, b, r)?;
                reverse(init, st, m, i)
            }
            ExpOp::Index(array, ix, at) => {
                if !has_tangent(y.ty()) {
                    return reverse(init, st, m, i);
                }
                let v = name(j);
                let ix = Exp::var(&st.emb.at(&label(&ix)?));
                let idx = Exp::pair(&st.idx, &Exp::pair(&whole(), &Exp::pair(&truth(true), &ix))).cast(v);
                let sites = st.sites.snoc(&array, at).cast(v);
                reverse(init, st.with_sites(sites, idx), m, i)
            }
            ExpOp::Shape(..) => reverse(init, st, m, i),
        }
    })
}

/// The error for an operation without a derivative.
pub fn no_rule(op: &'static str, at: Src, detail: &str) -> Error {
    Error::NotDifferentiable {
        op,
        at: at.map_or(String::new(), |at| format!(" at {at}")),
        mode: "reverse-mode",
        detail: detail.into(),
    }
}
