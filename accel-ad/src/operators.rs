//! Recognises associative operators whose derivatives have rules of their own, from their form.
//!
//! NOTE [Forms of operators]: an operator on tuples often combines each component with the same component of its other
//! argument, for example `(x, a), (y, b) -> (x + y, max a b)`. Other forms than a component or a primitive function of two
//! components have no rules.

use crate::builders::has_tangent;
use crate::forms::{Argument, Form, Path, form};
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
    /// The minimum or the maximum of two numbers. Of equal numbers, it is the given argument.
    Extremum { is_minimum: bool, first: Argument },
    /// One of the arguments.
    Argument(Argument),
    /// Two operators on the components of pairs.
    Pair(Rc<(Operator, Operator)>),
    /// Another operator.
    Other,
}

impl Operator {
    /// Recognises an operator; see NOTE [Forms of operators].
    pub fn of<A, T>(f: &Fun2<A, T, T, T>) -> Operator {
        operator(f.0.ty(), &form_of(f), &mut vec![])
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
    passes(f.0.ty(), &form_of(f))
}

fn form_of<A, T>(f: &Fun2<A, T, T, T>) -> Form {
    form(&f.0, &mut vec![Form::argument(Argument::First), Form::argument(Argument::Second)])
}

fn passes<T>(t: &Ty<T>, form: &Form) -> bool {
    has_tangent(t)
        && fresh1(|n| match t.view(n) {
            TyView::Pair(a, b, _) => passes(&a, &form.component(false)) || passes(&b, &form.component(true)),
            _ => matches!(form, Form::Part(..)),
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
