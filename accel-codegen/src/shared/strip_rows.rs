//! The body of a strip.
//!
//! NOTE [Strips of long rows]: a strip executes 32 positions together, because then vectors are as long as they can be,
//! however short rows are, and several results share the numbers that they read. For this, it transposes what it reads and
//! writes. If rows are long and results share nothing, as in a normalisation of rows, this costs more than it gains. Then
//! the strip executes one position at a time: vectors are along its rows, and its working memory is a few rows.
//!
//! If a position has only numbers in working memory, as in `sum(f(matvec(x, w)))`, it still computes 32 positions together
//! where it does not go along rows: the functions of numbers are called for vectors of them.

use super::index_space::INDEPENDENT;
use super::strip::{Statement, Strip, elementwise, in_strip};
use crate::cost_model::LONG_ROW;
use crate::text::names::{index, names};
use crate::text::primitives;
use crate::text::types::in_memory;
use crate::text::writer::{Lanes, Writer};
use accel_fusion::kernel::{ArrayId, Op, Reduction};
use accel_fusion::strip::Role;
use std::collections::BTreeSet;

/// Executes the positions `from..to` (at least one).
pub fn body(strip: &Strip, w: &mut Writer) {
    strip.prepare(w);
    let Some(long) = strip.rows_of(LONG_ROW) else { return strip.in_lanes(w) };
    w.braces(&format!("if (!({long}))"), |w| strip.in_lanes(w));
    w.braces("else", |w| if strip.in_groups() { in_groups(strip, w) } else { in_rows(strip, w) });
}

/// Executes each statement for up to 32 positions: those along rows for one position at a time, the others for all of them.
fn in_groups(strip: &Strip, w: &mut Writer) {
    let columns =
        || strip.rows.iter().flat_map(|a| strip.columns(*a).iter().enumerate().map(|(c, t)| (*a, c, in_memory(*t))));
    strip.positions(w, "lanes", |w| {
        let arrays: BTreeSet<ArrayId> = strip.rows.iter().copied().collect();
        for (role, op, site) in &strip.body {
            w.site = *site;
            let (position, a) = (elementwise(*role, op).1, op.defines()[0]);
            w.lanes = Lanes { arrays: arrays.clone(), position, ..Lanes::default() };
            if matches!(op, Op::Loop { .. }) || *role == Role::Total && strip.rank(a) == 0 {
                strip.statement(w, *role, op);
                continue;
            }
            w.lanes.in_rows = true;
            w.braces("", |w| {
                columns().for_each(|(a, c, t)| w.line(format!("{t} *const g{a}_{c} = s{a}_{c};")));
                w.braces("for (i64 i0 = base; i0 < base + width; i0++)", |w| {
                    columns().for_each(|(a, c, t)| w.line(format!("{t} *const s{a}_{c} = g{a}_{c} + (i0 - base);")));
                    statement(strip, w, (*role, op, *site));
                });
            });
            if *role == Role::Row {
                w.lanes.in_rows = false;
                strip.store(w, a);
            }
        }
    });
}

fn in_rows(strip: &Strip, w: &mut Writer) {
    w.braces("for (i64 i0 = task->from; i0 < task->to; i0++)", |w| {
        // Rows that are used outside are computed where they belong.
        for a in strip.rows.iter().filter(|a| strip.to.contains(a)) {
            for (c, t) in strip.columns(*a).iter().enumerate() {
                let at = format!("o{a}_{c} + i0 * ({})", strip.inner_size(*a));
                w.line(format!("{} *restrict const s{a}_{c} = {at};", in_memory(*t)));
            }
        }
        w.lanes = Lanes { arrays: strip.rows.iter().copied().collect(), in_rows: true, ..Lanes::default() };
        for (role, op, site) in &strip.body {
            w.site = *site;
            w.lanes.position = elementwise(*role, op).1;
            statement(strip, w, (*role, op, *site));
        }
        w.lanes = Lanes::default();
    });
}

fn statement(strip: &Strip, w: &mut Writer, (role, op, _): Statement) {
    match (role, op) {
        (Role::Row, Op::Loop { to, body, .. }) => {
            let place = if strip.is_vector(to[0]) { "i1" } else { "0" };
            let out: Vec<_> = to.iter().flat_map(|a| in_strip(*a, strip.columns(*a).len(), place)).collect();
            if !strip.is_vector(to[0]) {
                return w.code(body, &index(1), &out);
            }
            w.line(INDEPENDENT);
            w.braces(&format!("for (i64 i1 = 0; i1 < a{}_n1; i1++)", to[0]), |w| w.code(body, &index(2), &out));
        }
        (Role::Row, Op::Reduce { to, rows, .. }) => w.braces("", |w| {
            let types = strip.columns(*to);
            let y = names("y", types);
            w.declare(&y, types);
            w.line(format!("i64 k = {};", rows.init.is_none() as u8));
            w.line(format!("const i64 to = m{to};"));
            match &rows.init {
                Some(_) => w.assign(&y, &names(&format!("z{to}_"), types)),
                None => w.code(&rows.element, &["i0".into(), "0".into()], &y),
            }
            w.rest_of_row(types, &y, 1, rows);
            w.assign(&in_strip(*to, types.len(), "0"), &y);
        }),
        (Role::Total, Op::Reduce { to, rows, .. }) => {
            if strip.rank(*to) == 0 {
                return w.braces("", |w| add(strip, w, *to, rows, &["i0".into()], "0"));
            }
            w.line(INDEPENDENT);
            w.braces(&format!("for (i64 i1 = 0; i1 < a{to}_n0; i1++)"), |w| {
                add(strip, w, *to, rows, &["i1".into(), "i0".into()], "i1");
            });
        }
        _ => {}
    }
}

/// Combines an element with the task's partial total.
fn add(strip: &Strip, w: &mut Writer, to: ArrayId, rows: &Reduction, element: &[String], at: &str) {
    let types = strip.columns(to);
    let x = names("x", types);
    let partial: Vec<_> = (0..types.len()).map(|c| format!("t{to}_{c}[{at}]")).collect();
    w.declare(&x, types);
    w.code(&rows.element, element, &x);
    match (rows.monoid, types) {
        (Some(monoid), [t]) => {
            let value = primitives::op2(w.declarations, monoid.operator(), *t, &partial[0], "x0");
            w.line(format!("{} = {value};", partial[0]));
        }
        _ => {
            w.braces("if (i0 == task->from)", |w| w.assign(&partial, &x));
            w.braces("else", |w| w.code(&rows.op, &[partial.clone(), x.clone()].concat(), &partial));
        }
    }
}
