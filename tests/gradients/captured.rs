//! Programs that capture arrays and numbers of the program around them: for the inner derivative these are constants, and
//! an outer one differentiates by them, too.

use crate::harness::{Differentiated, V, always, jacobian, kinked, smooth};
use crate::refined::{Any, AtLeast3, Few, NonEmpty, Refined};
use accel::prelude::*;
use accel::{jacobian_forward, jacobian_reverse};

type S = Acc<Scalar<f64>>;

/// A function of two vectors and a number whose derivatives of all orders depend on everything, and are bounded.
fn energy(w: V, data: V, t: Exp<f64>) -> S {
    sum(zip_with_min(|w, d| (w * 0.3 + d.sin() * t).sin() * d.cos() + (w * 0.5).cos() * d.sin() * t, w, data))
}

/// Checks the first derivatives of a program, and those of its gradient.
#[track_caller]
fn twice<I: Refined, M>(inputs: I, program: impl ArrayFn<M, Args = I::Arrays, Result = Scalar<f64>> + Copy) {
    smooth(inputs, program);
    always::<I>(Differentiated::of(&grad(afun(program))));
}

#[test]
fn gradients() {
    twice((Any, Any), |xs: V, data: V| {
        let t = (data.len().cast::<f64>() + 1.0).recip();
        let by_w = grad(afun(|w: V| energy(w, data, t)));
        energy(call(by_w, xs), data, t)
    });
}

#[test]
fn the_result_depends_on_the_number_only_through_the_inner_gradient() {
    twice((Any, Any), |xs: V, ys: V| {
        let t = the(ys.sum_of_sines()) * 0.02;
        let (value, by_w) = call(value_and_grad(afun(|w: V| energy(w, w, t))), xs);
        zip_with(|v, s| v * 0.1 + s, value, sum(map(|g| g.cos(), by_w)))
    });
}

#[test]
fn auxiliary_results() {
    twice((Any, Any), |xs: V, data: V| {
        let loss = afun(|w: V| (energy(w, data, lit(0.5)), zip_with_min(|w, d| w * d, w, data)));
        let ((value, products), by_w) = call(value_and_grad_with_aux(&loss), xs);
        value + energy(products, by_w, lit(0.1))
    });
}

#[test]
fn products_with_jacobians() {
    let layer = |w: V, data: V| zip_with_min(|w, d| (w * d).sin() + d * w, w, data);
    jacobian((Any, Any), move |xs: V, data: V| {
        let prog = afun(move |w: V| layer(w, data));
        let y = call(&prog, xs);
        call(vjp(&prog), (xs, map(|y| y.cos(), y)))
    });
    jacobian((Any, Any), move |xs: V, data: V| {
        let prog = afun(move |w: V| layer(w, data));
        call(jvp(&prog), (xs, map(|x| x.cos(), xs)))
    });
    jacobian((Any, Any), |xs: V, data: V| {
        call(hvp(afun(|w: V| energy(w, data, lit(0.3)))), (xs, map(|x| x.cos(), xs)))
    });
}

#[test]
fn jacobians_and_hessians() {
    let layer = |w: V, data: V| zip_with_min(|w, d| (w * d).sin() + d * w, w, data);
    jacobian((Few(Any), Few(Any)), move |xs: V, data: V| call(accel::jacobian(afun(|w: V| layer(w, data))), xs));
    jacobian((Few(Any), Few(Any)), move |xs: V, data: V| call(jacobian_forward(afun(|w: V| layer(w, data))), xs));
    jacobian((Few(Any), Few(Any)), move |xs: V, data: V| call(jacobian_reverse(afun(|w: V| layer(w, data))), xs));
    jacobian((Few(Any), Few(Any)), |xs: V, data: V| call(hessian(afun(|w: V| energy(w, data, lit(0.3)))), xs));
}

#[test]
fn chosen_arguments() {
    twice((Few(Any), Few(Any), Few(Any)), |xs: V, ys: V, data: V| {
        let prog = afun(|u: V, v: V| energy(u, zip_with_min(|v, d| v + d, v, data), the(data.sum_of_sines()) * 0.02));
        let by_v = call(grad(prog.by(|(_, v)| v)), (xs, ys));
        let (_, along) = call(jvp(prog.by(|(u, _)| u)), ((xs, ys), map(|x| x.sin(), xs)));
        energy(by_v, xs, lit(0.2)) + along
    });
}

#[test]
fn programs_in_programs_in_programs() {
    // The innermost program uses values of both programs around it, which it passes over the one between.
    twice((Few(Any), Few(Any)), |xs: V, data: V| {
        let inner = |w: V| {
            let t = the(w.sum_of_sines()) * 0.02;
            call(grad(afun(|u: V| energy(zip_with_min(|u, w| u + w.sin(), u, w), data, t))), data)
        };
        call(grad(afun(|w: V| energy(inner(w), w, lit(0.4)))), xs).sum_of_sines()
    });
}

trait SumOfSines {
    fn sum_of_sines(self) -> S;
}
impl SumOfSines for V {
    fn sum_of_sines(self) -> S {
        sum(map(|x| x.sin(), self))
    }
}

#[test]
fn in_loops() {
    // Three steps of gradient descent, whose loss uses the state of the loop and arrays outside of it.
    twice((Few(Any), Few(Any)), |xs: V, data: V| {
        let step = |i: Exp<i64>, x: V| {
            let t = i.cast::<f64>() * 0.1;
            let loss = afun(|w: V| energy(zip_with(|w, x| w + x.sin(), w, x), data, t));
            zip_with(|x, g| x - g * 0.1, x, call(grad(&loss), x))
        };
        aiterate_indexed(3, step, xs).sum_of_sines()
    });
    // A loop with a condition, and a program in the condition.
    kinked((Few(Any), Few(Any)), |xs: V, data: V| {
        let far = |x: V| the(call(afun(|w: V| sum(zip_with_min(|w, x| w * x, w, x))), data)).abs().gt(0.5);
        let halved = |x: V| map(|g| g * 0.5, call(grad(afun(|w: V| sum(zip_with_min(|w, x| w * x, w, x)))), x));
        awhile(far, halved, xs).sum_of_sines()
    });
    jacobian((Few(NonEmpty), Few(Any)), |xs: V, data: V| {
        let step = |s: S, x: S| {
            let (s, x) = (the(s), the(x));
            let next = call(grad(afun(|w: S| energy(map(|d| d * the(w), data), data, s * 0.1 + x))), unit(x));
            (map(|n| n.tanh(), next), map(|n| n.sin(), next))
        };
        map_accum_l(step, unit(0.5), xs)
    });
}

#[test]
fn in_branches() {
    kinked((NonEmpty, Any), |xs: V, data: V| {
        let by_w = |t: f64| call(grad(afun(|w: V| energy(w, data, xs.at(0) * t))), xs);
        acond(xs.at(0).gt(0.2), by_w(0.5), by_w(-0.25)).sum_of_sines()
    });
    // The branch is in the program that captures.
    kinked((NonEmpty, Any), |xs: V, data: V| {
        let loss = afun(|w: V| acond(xs.at(0).gt(0.2), energy(w, data, xs.at(0)), sum(w)));
        call(grad(&loss), xs).sum_of_sines()
    });
}

#[test]
fn in_lanes() {
    jacobian((Few(Any), Few(Any)), |xs: V, data: V| {
        vmap(|x| call(grad(afun(|w: V| energy(map(|w| w * the(x), w), data, the(x)))), data), xs)
    });
    jacobian((Few(Any), Few(Any)), |xs: V, data: V| {
        let by_w = grad(afun(|w: S| energy(map(|d| d * the(w), data), data, the(sum(data)))));
        call(by_w.vmap(), xs)
    });
    jacobian((AtLeast3, Few(Any)), |xs: V, data: V| {
        vmap(|x| call(hessian(afun(|w: S| energy(map(|d| d * the(w), data), data, the(x)))), x), xs)
    });
}

#[derive(Clone, PartialEq, Debug, Arrays)]
struct Line {
    slope: Scalar<f64>,
    offsets: Vector<f64>,
}

#[test]
fn records() {
    jacobian((Any, Any), |xs: V, data: V| {
        let line = LineAcc { slope: sum(data), offsets: data }.into_acc();
        let loss = afun(|w: V| {
            let line = line.unlift();
            let slope = the(line.slope);
            sum(zip_with_min(|w, b| (w * slope + b).sin(), w, line.offsets))
        });
        let both = afun(|| line);
        (call(grad(&loss), xs), call(both, ()))
    });
}
