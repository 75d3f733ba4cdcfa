//! Runs that go on after errors: NOTE [Which error a run has] in `accel-core/src/interp/mod.rs`.

use accel_core::interp::Interpreted;
use accel_core::prelude::*;
use accel_core::types::Inputs;
use std::collections::BTreeSet;

/// The different errors: an operation of a program can consist of several.
fn errors<A: Arrays, R: Arrays>(f: &Afun<A, R>, inputs: impl Inputs<A>) -> Vec<String> {
    let program = f.program().expect("a program");
    let all = Interpreted::new(program).errors(&inputs.to_tuple()).expect("arguments of these types");
    all.iter().map(Error::to_string).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Whether these are all errors: the operations, with which the text of an error begins, and the ends of these texts. Independent
/// operations have no order.
fn assert_all(found: &[String], expected: &[(&str, &str)]) {
    let has = |(op, what): &(&str, &str)| found.iter().any(|e| e.starts_with(op) && e.ends_with(what));
    assert!(found.len() == expected.len() && expected.iter().all(has), "{found:#?}");
}

#[test]
fn independent_operations_have_errors() {
    let f = afun(|n: Acc<Scalar<i64>>, xs: Acc<Vector<i64>>| {
        let negative = generate(the(n), |i| i);
        let wrong_extents = imap(|i, x: Exp<i64>| i + x, negative);
        let also_wrong = map(|x: Exp<i64>| x + 1, wrong_extents);
        let outside = map(|x: Exp<i64>| xs.at(x), xs);
        let reads = zip_with(|x, y| x + y, outside, xs);
        // The extents of what has failed are known.
        let shorter = generate(outside.len() - 5, |i| i);
        (also_wrong, reads, shorter)
    });
    let found = errors(&f, (&Array::scalar(-1), &Array::vector(vec![0, 3])));
    let expected = [
        ("`generate` at ", "expected extents that are not negative, found [-1]"),
        ("`imap` at ", "expected extents that are not negative, found [-1]"),
        ("`map` at ", "expected extents that are not negative, found [-1]"),
        ("`at` at ", "index [3] is outside the shape [2]"),
        ("`generate` at ", "expected extents that are not negative, found [-3]"),
    ];
    assert_all(&found, &expected);
    assert_eq!(errors(&f, (&Array::scalar(1), &Array::vector(vec![0; 5]))), Vec::<String>::new());
}

/// A backend that fuses the fold with what it reads gets the length of the rows there.
#[test]
fn folds_and_scans_have_the_length_of_failed_rows() {
    let f = afun(|n: Acc<Scalar<i64>>| {
        let rows = fill((0i64, the(n)), 1i64);
        (sum(rows), scanl(|x, y| x + y, 0i64, rows))
    });
    let negative = |found| format!("expected extents that are not negative, found {found}");
    let (shape, length) = (negative("[0, -1]"), negative("[-1]"));
    assert_all(
        &errors(&f, &Array::scalar(-1)),
        &[("`fill` at ", &shape), ("`sum` at ", &length), ("`scanl` at ", &length)],
    );
}

/// One state of a loop fails, another one and a list go on.
#[test]
fn loops_go_on() {
    let f = afun(|xs: Acc<Vector<i64>>| {
        let (states, list) = map_accum_l(
            |(a, k): (Acc<Vector<i64>>, Acc<Scalar<i64>>), x: Acc<Scalar<i64>>| {
                let k = map(|k: Exp<i64>| k + 1, k);
                ((map(move |y: Exp<i64>| y / the(x), a), k), enum_from_n(the(k), 0i64))
            },
            (xs, unit(0i64)),
            xs,
        );
        (states, list)
    });
    let found = errors(&f, &Array::vector(vec![1, 0, 1]));
    let shapes = "expected arrays of one shape in every step, such as [1], found [2] (`pad` makes shorter arrays longer; \
                  `where_` replaces elements, where `filter` leaves them out)";
    assert_all(&found, &[("/ in `map` at ", "integer division by zero"), ("`map_accum_l` at ", shapes)]);
}
