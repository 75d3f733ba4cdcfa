//! The forms of functions: what they make of the components of their arguments.
//!
//! A form is found by evaluating a function with symbols for the components of its arguments. So it does not matter how the
//! components are taken out and put together; derivatives of operators, for example, do this with many variables.

use accel_core::ast::*;
use accel_core::pass::uses;
use accel_core::repr::op::Num2;
use std::rc::Rc;

/// An argument of a function.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Argument {
    /// The first argument.
    First,
    /// The second argument.
    Second,
}

/// A path into nested pairs: for each step, whether it goes to the second component.
pub type Path = Vec<bool>;

/// The form of a value.
#[derive(Clone)]
pub enum Form {
    /// A component of an argument.
    Part(Argument, Path),
    Pair(Rc<(Form, Form)>),
    /// A function of the same component of both arguments. The given argument comes first.
    Combined(Num2, Argument, Path),
    /// A component of an argument plus or minus something that does not depend on arguments, or that minus the component.
    Shifted(Argument, Path),
    /// Something that does not depend on arguments.
    Common,
    /// Anything else.
    Unknown,
}

impl Form {
    /// The form of the whole argument.
    pub fn argument(a: Argument) -> Form {
        Form::Part(a, vec![])
    }
    /// The form of a component of a pair.
    pub fn component(&self, second: bool) -> Form {
        match self {
            Form::Part(a, path) => Form::Part(*a, [&path[..], &[second]].concat()),
            Form::Pair(p) => if second { &p.1 } else { &p.0 }.clone(),
            Form::Common => Form::Common,
            Form::Combined(..) | Form::Shifted(..) | Form::Unknown => Form::Unknown,
        }
    }
    /// Whether the value does not depend on arguments.
    pub fn is_common(&self) -> bool {
        match self {
            Form::Pair(p) => p.0.is_common() && p.1.is_common(),
            Form::Common => true,
            Form::Part(..) | Form::Combined(..) | Form::Shifted(..) | Form::Unknown => false,
        }
    }
}

/// The form of an expression. `scope` has the forms of its variables; it is used as a stack.
pub fn form<E, A, T>(e: &Exp<E, A, T>, scope: &mut Vec<Form>) -> Form {
    fresh3(|env, a, t| deep(|| form_(&e.cast_all(name(env), name(a), name(t)), scope)))
}

fn form_<'e, 'a, 't>(e: &Exp<X<'e>, X<'a>, X<'t>>, scope: &mut Vec<Form>) -> Form {
    fresh1(|n| match e.view(n) {
        ExpView::Var(i) => scope[scope.len() - 1 - i.depth()].clone(),
        ExpView::Let(b, body, _) if fresh1(|c| e.custom(c).is_none()) => {
            let b = form(&b, scope);
            scope.push(b);
            let body = form(&body, scope);
            scope.pop();
            body
        }
        ExpView::Op(ExpOp::Pair(a, b, _)) => Form::Pair(Rc::new((form(&a, scope), form(&b, scope)))),
        ExpView::Op(ExpOp::Fst(a, _)) => form(&a, scope).component(false),
        ExpView::Op(ExpOp::Snd(a, _)) => form(&a, scope).component(true),
        ExpView::Op(ExpOp::Prim2(Prim2::Num(op, ..), a, b)) => combined(op, form(&a, scope), form(&b, scope)),
        _ => {
            let mut is_common = true;
            uses(e, &mut |i| is_common &= scope[scope.len() - 1 - i].is_common());
            if is_common { Form::Common } else { Form::Unknown }
        }
    })
}

fn combined(op: Num2, a: Form, b: Form) -> Form {
    match (op, a, b) {
        (_, Form::Part(a, path), Form::Part(b, other)) if a != b && path == other => Form::Combined(op, a, path),
        (_, a, b) if a.is_common() && b.is_common() => Form::Common,
        (Num2::Add | Num2::Sub, Form::Part(a, path) | Form::Shifted(a, path), x)
        | (Num2::Add | Num2::Sub, x, Form::Part(a, path) | Form::Shifted(a, path))
            if x.is_common() =>
        {
            Form::Shifted(a, path)
        }
        _ => Form::Unknown,
    }
}
