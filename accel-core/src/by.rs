//! Programs with chosen parts of their argument: the parts by which they are differentiated.

use crate::afun::Afun;
use crate::ast::Program;
use crate::elaborate::elaborate;
use crate::error::{Error, Result};
use crate::surface::graph::{ArrayOp, NodeId, Op, Staged};
use crate::surface::{Acc, IntoAcc, stage};
use crate::types::Arrays;
use std::marker::PhantomData;
use std::panic::Location;

/// A program, together with chosen parts of its argument. [`Afun::by`] makes it, and the derivative functions take it.
pub struct By<Args, Part, R> {
    program: Afun<Args, R>,
    parts: Result<Program>,
    types: PhantomData<fn() -> Part>,
}

impl<Args, Part, R> Clone for By<Args, Part, R> {
    fn clone(&self) -> Self {
        By { program: self.program.clone(), parts: self.parts.clone(), types: PhantomData }
    }
}

impl<Args: Arrays, R: Arrays> Afun<Args, R> {
    /// Chooses the parts of the argument by which the program is differentiated. The other parts are data: nothing is
    /// computed for their derivatives, and they are never the reason for an error.
    ///
    /// `choose` takes the argument apart as a pattern does, and returns an argument, a component or field of one, or a
    /// tuple of such parts. The derivative has the type of what it returns.
    ///
    /// ```text
    /// grad(prog.by(|(w, _, _)| w))              // the first of three arguments
    /// grad(prog.by(|(model, _)| model.bias))    // a field of a record
    /// jvp(prog.by(|(a, _, c)| (c, a)))          // two arguments, in any order
    /// ```
    ///
    /// ```
    /// use accel_core::prelude::*;
    ///
    /// let prog = afun(|w: Acc<Vector<f64>>, x: Acc<Vector<f64>>| dot(w, x));
    /// assert!(prog.by(|(w, _)| w).parts().is_ok());
    /// let error = prog.by(|(w, _)| map(|w| w * 2.0, w)).parts().unwrap_err().to_string();
    /// assert!(error.contains("`map`") && error.contains("no part of the argument"));
    /// ```
    ///
    /// # Errors
    /// Stored in the derivative and reported when it is used ([`Error::Choice`]): a result of `choose` that is computed
    /// from the argument instead of being a part of it, or a part that is chosen twice.
    #[track_caller]
    pub fn by<Part: IntoAcc>(&self, choose: impl FnOnce(Args::Acc) -> Part) -> By<Args, Part::Arrays, R> {
        let at = Location::caller();
        let staged = stage(|args: Acc<Args>| choose(args.unlift()).into_acc());
        let parts = self.cached().and(staged).and_then(|s| {
            check(&s, at)?;
            elaborate(&s)
        });
        By { program: self.clone(), parts, types: PhantomData }
    }
}

impl<Args, Part, R> By<Args, Part, R> {
    /// The program.
    pub fn program(&self) -> &Afun<Args, R> {
        &self.program
    }

    /// The function from the argument to the chosen parts. It consists of projections, pairs and local definitions.
    ///
    /// # Errors
    /// The mistake in the choice.
    pub fn parts(&self) -> Result<&Program> {
        self.parts.as_ref().map_err(Error::clone)
    }
}

/// The way from a tuple to a part of it: whether each step goes to the first component.
type Path = Vec<bool>;

/// Checks that the result of a recorded choice consists of different parts of the argument.
fn check(choice: &Staged, at: &'static Location<'static>) -> Result<()> {
    if !choice.captured.is_empty() {
        return Err(Error::Choice { at, detail: "it uses a value of the program around it".into() });
    }
    let mut chosen = vec![];
    parts(choice, choice.root, at, &mut chosen)?;
    for (k, path) in chosen.iter().enumerate() {
        if chosen[..k].iter().any(|other| path.starts_with(other) || other.starts_with(path)) {
            return Err(Error::Choice { at, detail: "a part of the argument is chosen twice".into() });
        }
    }
    Ok(())
}

/// Adds the paths of all parts in the result of a choice.
fn parts(choice: &Staged, n: NodeId, at: &'static Location<'static>, chosen: &mut Vec<Path>) -> Result<()> {
    match choice.nodes[n.index()].op {
        Op::Array(ArrayOp::Unit) => Ok(()),
        Op::Array(ArrayOp::Pair(a, b)) => {
            parts(choice, a, at, chosen)?;
            parts(choice, b, at, chosen)
        }
        _ => {
            chosen.push(path(choice, n, at)?);
            Ok(())
        }
    }
}

/// The path of a part.
fn path(choice: &Staged, n: NodeId, at: &'static Location<'static>) -> Result<Path> {
    let step = |a, first| {
        let mut path = path(choice, a, at)?;
        path.push(first);
        Ok(path)
    };
    let node = &choice.nodes[n.index()];
    match node.op {
        Op::Param if n == choice.param => Ok(vec![]),
        Op::Array(ArrayOp::Fst(a)) => step(a, true),
        Op::Array(ArrayOp::Snd(a)) => step(a, false),
        _ => {
            let detail = format!("`{}` at {} is no part of the argument", node.name, node.at);
            Err(Error::Choice { at, detail })
        }
    }
}
