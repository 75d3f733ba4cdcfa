//! Finds scatters that send no two elements to the same place.
//!
//! NOTE [Targets of their own]: a target function is one to one if each component of the index of an element is, plus or minus
//! something that is the same for all elements, a component of its target. So it is for an update of an element (its source has no
//! dimensions), of a row, a column or a block. An element that replaces the default is then the only one that does, and
//! the rule needs no search for the last one: with `y = permute[new, _ -> new] (d, a)`, the adjoint of `a` is that of `y` at the
//! targets, and the adjoint of `d` is that of `y` with zeros there, which is an update as well. If the target is the same for all elements, as
//! for a vector of one element that replaces another one, the last element is known, too.

use crate::forms::{Argument, Form, form};
use accel_core::ast::*;
use accel_core::repr::RawTy;

/// Whether elements that are kept have targets of their own.
pub fn is_one_to_one<A, Sh, Sh2>(index: &Fun1<A, Sh, (bool, Sh2)>, source: &ShapeTy<Sh>) -> bool {
    let target = form(&index.0, &mut vec![Form::argument(Argument::First)]).component(true);
    let (_, to) = index.0.ty().parts();
    let mut found = vec![];
    leaves(to.raw(), &mut |path| {
        let form = path.iter().fold(target.clone(), |form, second| form.component(*second));
        if let Form::Part(_, own) | Form::Shifted(_, own) = form {
            found.push(own);
        }
    });
    let mut all = true;
    leaves(source.raw(), &mut |path| all &= found.iter().any(|own| own == path));
    all
}

/// Whether all elements have the same target, or none has one.
pub fn is_the_same<A, Sh, Sh2>(index: &Fun1<A, Sh, (bool, Sh2)>) -> bool {
    form(&index.0, &mut vec![Form::argument(Argument::First)]).is_common()
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
