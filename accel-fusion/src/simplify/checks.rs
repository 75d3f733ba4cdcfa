//! The checks that operations make of shapes.
//!
//! NOTE [Checks of shapes]: a program whose shapes are wrong fails, also if it uses only a shape, or a part of it, that
//! does not depend on the mistake. But the shape of an array is replaced by shapes of other arrays (NOTE [Canonical
//! extents]), and arrays that are not used are dropped. So a check must outlive its array. `agree` is a check that stands
//! by itself. The other operations that check shapes get an `agree` around them, unless it visibly holds:
//!
//! ```text
//! reshape s a = agree[size] s (shape a) (reshape s a)
//! ```
//!
//! After the walk that counts uses, this `agree` goes if the operation stays, for it makes the check itself. If the
//! operation goes, only the check stays: `agree[size] s (shape a) ()`, an array without elements that nothing uses. Of a
//! conditional that is not used, the checks in its branches stay. Both stay, operation and check, if something uses the
//! shape of the array, or if only the shape of something made from it is used: later passes may drop the operation.

use super::definitions::Definition;
use super::rules::operations::variable;
use super::shapes::{Extent, Shapes, component, shape_of};
use accel_core::ast::*;
use accel_core::repr::{Agreement, MAX_EXTENT, RawTy};
use frunk::HNil;

/// What is known where an operation on variables is defined.
pub struct Checks<'c, A> {
    /// The known shapes.
    pub shapes: &'c Shapes,
    /// The definitions of the variables.
    pub defs: &'c Env<AccF<A>, A>,
    /// Whether the operation is executed only once.
    pub once: bool,
}

impl<A> Checks<'_, A> {
    /// The operation `e` on variables with the check around it that it makes; `None` if the check visibly holds, or if there
    /// is none.
    pub fn checked<R>(&self, e: &Acc<A, R>) -> Option<Acc<A, R>> {
        fresh1(|n| {
            let AccView::Op(op) = e.view(n) else { return None };
            let none = Exp::constant(&Value::unit(), &Ty::of());
            match op {
                AccOp::Generate { sh, eq, .. } => self.extents_of(&sh, &e.cast(eq)).map(|e| e.cast(eq.sym())),
                AccOp::Backpermute { sh, eq, .. } => self.extents_of(&sh, &e.cast(eq)).map(|e| e.cast(eq.sym())),
                AccOp::Replicate { spec, slx, a, eq } => {
                    let a = variable(&a)?;
                    // The extents that are left of each kind, from the outermost one on.
                    let mut old = spec.kept().iter().filter(|kept| **kept).count();
                    let mut new = spec.kept().len() - old;
                    let extents = spec.kept().iter().map(|kept| {
                        let left = if *kept { &mut old } else { &mut new };
                        *left -= 1;
                        if *kept { self.extent(&a, *left) } else { component(&slx, *left) }
                    });
                    let all = shape_of(&extents.collect::<Option<Vec<_>>>()?, &spec.large().ty())?;
                    self.extents_of(&all, &e.cast(eq)).map(|e| e.cast(eq.sym()))
                }
                AccOp::Reshape { sh, a, eq } => {
                    let a = variable(&a)?;
                    let new = self.shapes.known(e).filter(|_| self.is_possible(e));
                    let is_same = new.is_some_and(|new| factors(&new) == factors(self.shapes.get(&a)));
                    (!is_same).then_some(())?;
                    Some(agree(Agreement::Size, &sh, &self.shape(&a), &e.cast(eq)).cast(eq.sym()))
                }
                AccOp::Slice { spec, slx, a, eq } => {
                    let a = variable(&a)?;
                    let rank = spec.kept().len();
                    let fixed = (0..rank).filter(|dim| !spec.kept()[*dim]);
                    let cut: Option<Vec<_>> = fixed.map(|dim| self.extent(&a, rank - 1 - dim)).collect();
                    let cut = shape_of(&cut?, slx.ty())?;
                    Some(agree(Agreement::Inside, &slx, &cut, &e.cast(eq)).cast(eq.sym()))
                }
                AccOp::Fold1 { a, eq, .. } => {
                    let a = variable(&a)?;
                    let is_empty = !matches!(self.shapes.get(&a).last(), Some(Extent::Const(1..)));
                    is_empty.then_some(())?;
                    Some(agree(Agreement::Nonempty, &self.shape(&a), &none, &e.cast(eq)).cast(eq.sym()))
                }
                // `agree` is a check already. The others check no shapes.
                AccOp::Unit { .. }
                | AccOp::Pair { .. }
                | AccOp::Fst { .. }
                | AccOp::Snd { .. }
                | AccOp::Cond { .. }
                | AccOp::Map { .. }
                | AccOp::Agree { .. }
                | AccOp::ZipWith { .. }
                | AccOp::Fold { .. }
                | AccOp::Scan { .. }
                | AccOp::Scan1 { .. }
                | AccOp::Accumulate { .. }
                | AccOp::Permute { .. }
                | AccOp::Foreign { .. }
                | AccOp::Argsort { .. } => None,
            }
        })
    }

    /// The array `e` with the check that its extents, which come from `sh`, are possible; `None` if they visibly are.
    fn extents_of<L, Sh, T>(&self, sh: &Exp<HNil, A, L>, e: &Acc<A, Arr<Sh, T>>) -> Option<Acc<A, Arr<Sh, T>>> {
        let none = Exp::constant(&Value::unit(), &Ty::of());
        (!self.is_possible(e)).then(|| agree(Agreement::Extents, sh, &none, e))
    }

    /// Whether all extents of the result are visibly those of arrays.
    fn is_possible<R>(&self, e: &Acc<A, R>) -> bool {
        let is_possible = |x: &Extent| match x {
            Extent::Const(n) => (0..=MAX_EXTENT as i64).contains(n),
            Extent::Dim { .. } => true,
        };
        self.shapes.known(e).is_some_and(|all| all.iter().all(is_possible))
    }

    fn shape<Sh, T>(&self, a: &Idx<A, Arr<Sh, T>>) -> Exp<HNil, A, Sh> {
        self.shapes.resolve(a, self.defs, self.once).unwrap_or_else(|| Exp::shape(a))
    }

    fn extent<Sh, T>(&self, a: &Idx<A, Arr<Sh, T>>, drop: usize) -> Option<Exp<HNil, A, i64>> {
        let known = self.shapes.resolve_one(a, drop, self.defs, self.once);
        known.or_else(|| component(&Exp::shape(a), drop))
    }
}

/// The factors of a size: the product of the constants, and the other extents.
fn factors(extents: &[Extent]) -> (i128, Vec<(usize, usize)>) {
    let (mut constant, mut others) = (1i128, vec![]);
    for e in extents {
        match e {
            Extent::Const(n) => constant = constant.saturating_mul(i128::from(*n)),
            Extent::Dim { level, dim } => others.push((*level, *dim)),
        }
    }
    others.sort_unstable();
    (constant, others)
}

fn agree<A, L, M, Sh, T>(
    agreement: Agreement,
    left: &Exp<HNil, A, L>,
    right: &Exp<HNil, A, M>,
    e: &Acc<A, Arr<Sh, T>>,
) -> Acc<A, Arr<Sh, T>> {
    let name = operation(e).unwrap_or("array");
    Acc::agree(agreement, name, left, right, e, e.at())
}

/// The array without elements around which a check stands by itself.
fn nothing_else<A>() -> Acc<A, Arr<(), ()>> {
    let unit = Exp::constant(&Value::unit(), &Ty::of());
    Acc::generate(&ShapeTy::known(), &unit, &Fun1(Exp::constant(&Value::unit(), &Ty::of())), None)
}

/// Whether an array of this type has nothing but the checks in its definition.
pub fn is_only_checked<R>(t: &Ty<R>) -> bool {
    matches!(t.raw(), RawTy::Array(p) if p.0 == RawTy::Unit && p.1 == RawTy::Unit)
}

/// The check around an operation without elements, by itself: there, nothing but the check is left of the operation.
pub fn standing<A, R>(e: &Acc<A, R>) -> Option<Acc<A, R>> {
    let checks = checks_of(e)?;
    Some(checks.cast(checks.ty().same(e.ty())?))
}

/// The operation inside of the check that it makes itself: the check has its name. Others, such as a `split`, make a check of this kind
/// of any array.
pub fn unchecked<A, R>(e: &Acc<A, R>) -> Option<Acc<A, R>> {
    if is_only_checked(e.ty()) {
        return None;
    }
    fresh1(|n| match e.view(n) {
        AccView::Op(AccOp::Agree { agreement, user, a, eq, .. }) if agreement.is_of_one_operation() => {
            (operation(&a) == Some(user)).then(|| a.cast(eq.sym()))
        }
        _ => None,
    })
}

/// The name of the operation that defines an array.
fn operation<A, R>(e: &Acc<A, R>) -> Option<&'static str> {
    fresh1(|n| if let AccView::Op(op) = e.view(n) { Some(op.operation()) } else { None })
}

/// What is needed of the definition of a variable, besides checks if it is not used.
pub fn needed<A, R>(e: &Acc<A, R>, info: &Definition) -> Option<Acc<A, R>> {
    let checks_itself = info.value && !info.shape;
    info.is_used().then(|| unchecked(e).filter(|_| checks_itself).unwrap_or_else(|| e.clone()))
}

/// The checks in a definition that is not used, if there are any.
pub fn checks_of<A, R>(e: &Acc<A, R>) -> Option<Acc<A, Arr<(), ()>>> {
    fresh1(|n| match e.view(n) {
        AccView::Op(AccOp::Agree { agreement, user, left, right, .. }) => {
            Some(Acc::agree(agreement, user, &left, &right, &nothing_else(), e.at()))
        }
        AccView::Op(AccOp::Cond { cond, then, otherwise }) => {
            (has_checks(&then) || has_checks(&otherwise)).then_some(())?;
            Some(Acc::cond(&cond, &without_result(&then), &without_result(&otherwise), e.at()))
        }
        _ => None,
    })
}

/// Whether there are checks in the definitions of a branch.
fn has_checks<A, R>(e: &Acc<A, R>) -> bool {
    fresh2(|a, r| deep(|| has_checks_(&e.cast_env(name(a)).cast(name(r)))))
}

fn has_checks_<'a, 'r>(e: &Acc<X<'a>, X<'r>>) -> bool {
    fresh1(|n| match e.view(n) {
        AccView::Let(b, body, _) => has_checks(&b) || has_checks(&body),
        AccView::Op(AccOp::Agree { .. }) => true,
        AccView::Op(AccOp::Cond { then, otherwise, .. }) => has_checks(&then) || has_checks(&otherwise),
        _ => false,
    })
}

/// The definitions of a branch without its result.
fn without_result<A, R>(e: &Acc<A, R>) -> Acc<A, Arr<(), ()>> {
    fresh2(|a, r| {
        let a = name(a);
        deep(|| without_result_(&e.cast_env(a).cast(name(r)))).cast_env(a.sym())
    })
}

fn without_result_<'a, 'r>(e: &Acc<X<'a>, X<'r>>) -> Acc<X<'a>, Arr<(), ()>> {
    fresh1(|n| match e.view(n) {
        AccView::Let(b, body, q) => Acc::let_(&b, &without_result(&body).cast_env(q)),
        _ => nothing_else(),
    })
}
