//! Recognises associative operators whose derivatives have rules of their own, from their form.
//!
//! NOTE [Forms of operators]: an operator on tuples often combines each component with the same component of its other
//! argument, for example `(x, a), (y, b) -> (x + y, max a b)`. Its form is found by evaluating it with symbols for the
//! components of its arguments. So it does not matter how the components are taken out and put together; derivatives of
//! operators, for example, do this with many variables. A form that is neither a component nor a primitive function of
//! two components is unknown.

use crate::builders::has_tangent;
use accel_core::ast::*;
use accel_core::repr::op::Num2;
use std::rc::Rc;

/// What an operator computes, as far as floating-point numbers are concerned.
#[derive(Clone, PartialEq, Debug)]
pub enum Operator {
    /// No floating-point number.
    Discrete,
    /// The sum of the arguments, number by number.
    Sum,
    /// The product of two numbers.
    Product,
    /// The minimum or the maximum of two numbers.
    Extremum { is_minimum: bool, first: Argument },
    /// One of the arguments.
    Argument(Argument),
    /// Two operators on the components of pairs.
    Pair(Rc<(Operator, Operator)>),
    /// Another operator.
    Other,
}

/// An argument of an operator. A minimum (maximum) of equal numbers is its first argument.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Argument {
    /// The first argument of the operator.
    First,
    /// The second argument of the operator.
    Second,
}

impl Operator {
    /// Recognises an operator; see NOTE [Forms of operators].
    pub fn of<A, T>(f: &Fun2<A, T, T, T>) -> Operator {
        let all = |a| Form::Part(a, vec![]);
        operator(f.0.ty(), &form(&f.0, &mut vec![all(Argument::First), all(Argument::Second)]), &mut vec![])
    }

    /// An operator on pairs.
    fn pair(a: Operator, b: Operator) -> Operator {
        match (a, b) {
            (Operator::Other, _) | (_, Operator::Other) => Operator::Other,
            (Operator::Discrete, x) | (x, Operator::Discrete) if x.is_uniform() => x,
            (x, y) if x == y && x.is_uniform() => x,
            both => Operator::Pair(Rc::new(both)),
        }
    }

    /// Whether the operator does the same with all numbers of a tuple.
    fn is_uniform(&self) -> bool {
        matches!(self, Operator::Discrete | Operator::Sum | Operator::Argument(_))
    }
}

/// Whether the operator copies a part of one of its arguments that contains floating-point numbers into its result.
pub fn passes_part<A, T>(f: &Fun2<A, T, T, T>) -> bool {
    let all = |a| Form::Part(a, vec![]);
    passes(f.0.ty(), &form(&f.0, &mut vec![all(Argument::First), all(Argument::Second)]))
}

fn passes<T>(t: &Ty<T>, form: &Form) -> bool {
    has_tangent(t)
        && fresh1(|n| match t.view(n) {
            TyView::Pair(a, b, _) => passes(&a, &form.component(false)) || passes(&b, &form.component(true)),
            _ => matches!(form, Form::Part(..)),
        })
}

/// A path into nested pairs: for each step, whether it goes to the second component.
type Path = Vec<bool>;

/// The form of a value.
#[derive(Clone)]
enum Form {
    /// A component of an argument.
    Part(Argument, Path),
    Pair(Rc<(Form, Form)>),
    /// A function of the same component of both arguments. The given argument comes first.
    Combined(Num2, Argument, Path),
    Unknown,
}

impl Form {
    fn component(&self, second: bool) -> Form {
        match self {
            Form::Part(a, path) => Form::Part(*a, [&path[..], &[second]].concat()),
            Form::Pair(p) => if second { &p.1 } else { &p.0 }.clone(),
            Form::Combined(..) | Form::Unknown => Form::Unknown,
        }
    }
}

/// The form of an expression. `scope` has the forms of its variables; it is used as a stack.
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
        ExpView::Op(ExpOp::Prim2(Prim2::Num(op, ..), a, b)) => match (form(&a, scope), form(&b, scope)) {
            (Form::Part(a, path), Form::Part(b, other)) if a != b && path == other => Form::Combined(op, a, path),
            _ => Form::Unknown,
        },
        _ => Form::Unknown,
    })
}

/// The operator whose result, or the component of it at `path`, has a type and a form.
fn operator<T>(t: &Ty<T>, form: &Form, path: &mut Path) -> Operator {
    if !has_tangent(t) {
        return Operator::Discrete;
    }
    fresh1(|n| match t.view(n) {
        TyView::Pair(a, b, _) => {
            let mut component = |second| {
                path.push(second);
                let form = form.component(second);
                let found = if second { operator(&b, &form, path) } else { operator(&a, &form, path) };
                path.pop();
                found
            };
            let first = component(false);
            Operator::pair(first, component(true))
        }
        _ => match form {
            Form::Part(a, p) if p == path => Operator::Argument(*a),
            Form::Combined(op, first, p) if p == path => match op {
                Num2::Add => Operator::Sum,
                Num2::Mul => Operator::Product,
                Num2::Min => Operator::Extremum { is_minimum: true, first: *first },
                Num2::Max => Operator::Extremum { is_minimum: false, first: *first },
                _ => Operator::Other,
            },
            _ => Operator::Other,
        },
    })
}
