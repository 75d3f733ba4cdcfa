//! Helper functions of the tests.

use accel_core::ast::Program;
use accel_core::pass::{Counts, count};
use accel_core::prelude::*;
use accel_fusion::{Options, Rule, Stats, simplify, simplify_with};

/// Simplifies and checks a program. A second simplifier, with an empty cache, must find nothing to do.
pub fn simplified(p: &Program) -> (Program, Stats) {
    let (q, stats) = simplify(p).expect("simplify");
    accel_core::ast::lint(&q).unwrap_or_else(|e| panic!("{e}\nof\n{p}"));
    let (_, left) = simplify(&q).expect("simplify");
    assert_eq!(left.total(), 0, "{left}\nof\n{q}");
    (q, stats)
}

/// The body of the simplified program as text. Checks that every rule of `rules` was applied.
pub fn after<A: Arrays, R: Arrays>(f: &Afun<A, R>, rules: &[Rule]) -> String {
    let (p, stats) = simplified(f.program().expect("program"));
    for r in rules {
        assert!(stats.count(*r) > 0, "{} was not applied: {stats}\n{}\n{p}", r.name(), f.program().unwrap());
    }
    assert!(stats.rounds < 8, "{stats}\n{p}");
    let text = p.to_string();
    let lines: Vec<_> = text.lines().skip(1).map(|l| l.strip_prefix("  ").unwrap_or(l)).collect();
    lines.join("\n")
}

/// The body of `map f` over a vector, simplified.
pub fn mapped<T, R>(f: impl Fn(Exp<T>) -> Exp<R>, rules: &[Rule]) -> String
where
    T: Elt<Exp = Exp<T>> + Primitive,
    R: Elt + Primitive,
{
    after(&afun(move |xs: Acc<Vector<T>>| map(&f, xs)), rules)
}

/// The simplified program.
pub fn simple<A: Arrays, R: Arrays>(f: &Afun<A, R>) -> Afun<A, R> {
    Afun::from_result(f.program().map(|p| simplified(p).0))
}

/// The simplified program, for derivatives.
pub fn derivative<A: Arrays, R: Arrays>(f: &Afun<A, R>) -> Afun<A, R> {
    let simplified = simplify_with(f.program().expect("program"), Options { unsigned_zeros: true });
    Afun::from_result(simplified.map(|(p, stats)| {
        accel_core::ast::lint(&p).unwrap_or_else(|e| panic!("{e}\nof\n{f}"));
        assert!(stats.rounds < 8, "{stats}\n{p}");
        let (_, left) = simplify_with(&p, Options { unsigned_zeros: true }).expect("simplify");
        assert_eq!(left.total(), 0, "{left}\nof\n{p}");
        println!("{stats}");
        p
    }))
}

/// The numbers of nodes before and after.
pub fn counts<A, R>(f: &Afun<A, R>) -> (Counts, Counts) {
    let p = f.program().expect("program");
    (count(p), count(&simplified(p).0))
}
