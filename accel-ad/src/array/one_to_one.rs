//! Finds scatters that send no two elements to the same place.
//!
//! NOTE [Targets of their own]: a target function is one to one if each component of the index of an element is, plus or minus
//! something that is the same for all elements, a component of its target. So it is for an update of an element (its source has no
//! dimensions), of a row, a column or a block. An element that replaces the default is then the only one that does, and
//! the rule needs no search for the last one: with `y = permute[new, _ -> new] (d, a)`, the adjoint of `a` is that of `y` at the
//! targets, and the adjoint of `d` is that of `y` with zeros there, which is an update as well.

use accel_core::ast::*;
use accel_core::pass::uses;
use accel_core::repr::RawTy;
use accel_core::repr::op::Num2;
use std::rc::Rc;

/// What is known of a value of a target function.
#[derive(Clone)]
enum Form {
    /// A part of the index, by its path in nested pairs. A number may have something added that all elements have in common.
    Part(Vec<bool>),
    Pair(Rc<(Form, Form)>),
    /// The same for all elements.
    Common,
    Other,
}

impl Form {
    fn component(&self, second: bool) -> Form {
        match self {
            Form::Part(path) => Form::Part([&path[..], &[second]].concat()),
            Form::Pair(p) => if second { &p.1 } else { &p.0 }.clone(),
            Form::Common => Form::Common,
            Form::Other => Form::Other,
        }
    }
    fn is_common(&self) -> bool {
        match self {
            Form::Pair(p) => p.0.is_common() && p.1.is_common(),
            Form::Common => true,
            Form::Part(_) | Form::Other => false,
        }
    }
}

/// Whether elements that are kept have targets of their own.
pub fn is_one_to_one<A, Sh, Sh2>(index: &Fun1<A, Sh, (bool, Sh2)>, source: &ShapeTy<Sh>) -> bool {
    let target = form(&index.0, &mut vec![Form::Part(vec![])]).component(true);
    let (_, to) = index.0.ty().parts();
    let mut found = vec![];
    leaves(to.raw(), &mut |path| {
        if let Form::Part(own) = path.iter().fold(target.clone(), |form, second| form.component(*second)) {
            found.push(own);
        }
    });
    let mut all = true;
    leaves(source.raw(), &mut |path| all &= found.iter().any(|own| own == path));
    all
}

/// Calls `f` with the path of each number of a shape.
fn leaves(t: &RawTy, f: &mut impl FnMut(&[bool])) {
    let (mut t, mut path) = (t, vec![]);
    while let RawTy::Pair(p) = t {
        path.push(true);
        f(&path);
        path.pop();
        path.push(false);
        t = &p.0;
    }
}

fn form<E, A, T>(e: &Exp<E, A, T>, scope: &mut Vec<Form>) -> Form {
    fresh3(|env, a, t| deep(|| form_(&e.cast_all(name(env), name(a), name(t)), scope)))
}

fn form_<'e, 'a, 't>(e: &Exp<X<'e>, X<'a>, X<'t>>, scope: &mut Vec<Form>) -> Form {
    fresh1(|n| match e.view(n) {
        ExpView::Var(i) => scope[scope.len() - 1 - i.depth()].clone(),
        ExpView::Let(b, body, _) => {
            let b = form(&b, scope);
            scope.push(b);
            let body = form(&body, scope);
            scope.pop();
            body
        }
        ExpView::Op(ExpOp::Pair(a, b, _)) => Form::Pair(Rc::new((form(&a, scope), form(&b, scope)))),
        ExpView::Op(ExpOp::Fst(a, _)) => form(&a, scope).component(false),
        ExpView::Op(ExpOp::Snd(a, _)) => form(&a, scope).component(true),
        ExpView::Op(ExpOp::Prim2(Prim2::Num(Num2::Add | Num2::Sub, ..), a, b)) => {
            match (form(&a, scope), form(&b, scope)) {
                (part @ Form::Part(_), x) | (x, part @ Form::Part(_)) if x.is_common() => part,
                (x, y) if x.is_common() && y.is_common() => Form::Common,
                _ => Form::Other,
            }
        }
        _ => {
            let mut is_common = true;
            uses(e, &mut |i| is_common &= scope[scope.len() - 1 - i].is_common());
            if is_common { Form::Common } else { Form::Other }
        }
    })
}
