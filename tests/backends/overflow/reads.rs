//! Random programs that read at indices made of extents and constants, with or without a guard.

use super::{I, LARGE, M, columns, numbers, others};
use accel::interp::Interpreter;
use accel::prelude::*;
use accel::repr::ArrayTuple;
use quickcheck::{Arbitrary, Gen, QuickCheck};

/// Integers computed from two extents and an index.
#[derive(Clone, Debug)]
enum Number {
    Extent(bool),
    Index,
    Data,
    Constant(i64),
    Op(usize, Box<[Number; 2]>),
}

const CONSTANTS: [i64; 19] = [
    0,
    1,
    -1,
    2,
    3,
    4,
    10,
    1 << 15,
    1 << 16,
    1 << 31,
    1 << 32,
    (1 << 32) + 1,
    1 << 40,
    1 << 47,
    1 << 48,
    1 << 62,
    -(1 << 48),
    i64::MAX,
    i64::MIN,
];

const EXTENTS: [usize; 16] = [
    0,
    1,
    2,
    3,
    7,
    1 << 16,
    1 << 21,
    1 << 22,
    (1 << 31) - 1,
    1 << 31,
    1 << 32,
    (1 << 32) + 1,
    1 << 40,
    1 << 47,
    LARGE - 1,
    LARGE,
];

impl Number {
    fn any(g: &mut Gen, depth: usize, with_index: bool) -> Number {
        let leaf = depth == 0 || u8::arbitrary(g) % 4 == 0;
        if !leaf {
            // Polynomials occur more often than other operations.
            let op = *g.choose(&[0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 4, 5, 6]).unwrap_or(&0);
            return Number::Op(op, Box::new([(); 2].map(|()| Number::any(g, depth - 1, with_index))));
        }
        match u8::arbitrary(g) % 6 {
            0 | 1 => Number::Extent(bool::arbitrary(g)),
            2 if with_index => Number::Index,
            3 if with_index => Number::Data,
            _ => Number::Constant(*g.choose(&CONSTANTS).unwrap_or(&0)),
        }
    }

    /// The number in a program.
    fn exp(&self, extents: [Exp<i64>; 2], index: Exp<i64>, data: Exp<i64>) -> Exp<i64> {
        match self {
            Number::Extent(second) => extents[usize::from(*second)],
            Number::Index => index,
            Number::Data => data,
            Number::Constant(n) => constant(*n),
            Number::Op(op, operands) => {
                let [a, b] = operands.each_ref().map(|x| x.exp(extents, index, data));
                match op {
                    0 => a + b,
                    1 => a - b,
                    2 => a * b,
                    3 => a.min(b),
                    4 => a.max(b),
                    5 => a / b,
                    _ => a % b,
                }
            }
        }
    }

    /// Whether no array of this extent is large.
    fn is_small(&self, extents: [usize; 2]) -> bool {
        match self {
            Number::Op(_, operands) => operands.iter().all(|x| x.is_small(extents)),
            leaf => leaf.value(extents).is_none_or(|n| n.unsigned_abs() <= 10),
        }
    }

    /// The value, for numbers without index and data.
    fn value(&self, extents: [usize; 2]) -> Option<i64> {
        Some(match self {
            Number::Extent(second) => extents[usize::from(*second)] as i64,
            Number::Index | Number::Data => return None,
            Number::Constant(n) => *n,
            Number::Op(op, operands) => {
                let (a, b) = (operands[0].value(extents)?, operands[1].value(extents)?);
                match op {
                    0 => a.wrapping_add(b),
                    1 => a.wrapping_sub(b),
                    2 => a.wrapping_mul(b),
                    3 => a.min(b),
                    4 => a.max(b),
                    _ if b == 0 => return None,
                    5 => a.wrapping_div(b),
                    _ => a.wrapping_rem(b),
                }
            }
        })
    }
}

/// An array of a computed extent, and reads of it with or without guards.
#[derive(Clone, Debug)]
struct Reads {
    extent: Number,
    index: Number,
    left: Number,
    right: Number,
    guard: usize,
}

impl Arbitrary for Reads {
    fn arbitrary(g: &mut Gen) -> Reads {
        Reads {
            extent: Number::any(g, 3, false),
            index: Number::any(g, 2, true),
            left: Number::any(g, 2, true),
            right: Number::any(g, 2, true),
            guard: usize::arbitrary(g) % 5,
        }
    }
}

impl Reads {
    fn program(&self) -> Afun<(Matrix<f64>, Matrix<f64>, Vector<i64>), (Vector<i64>, Vector<i64>, Vector<i64>)> {
        let this = self.clone();
        afun(move |a: M, b: M, data: I| {
            let extents = [a.shape().1, b.shape().1];
            let none = constant(0i64);
            let array = numbers(this.extent.exp(extents, none, none));
            let value = |x: &Number, i: Exp<i64>| x.exp(extents, i, data.at(i));
            let all = imap(|i, _| value(&this.left, i), data);
            let read = imap(
                |i, _: Exp<i64>| {
                    let (k, left, right) = (value(&this.index, i), value(&this.left, i), value(&this.right, i));
                    let inside = k.ge(0).and(k.lt(array.len()));
                    match this.guard {
                        0 => array.at(k),
                        1 => cond(inside, array.at(k), -1i64),
                        2 => cond(left.le(right), array.at(k), -1i64),
                        3 => cond(k.ge(0).and(k.lt(right)), array.at(k), -1i64),
                        _ => cond(inside, array.at(k), left.min(right)),
                    }
                },
                data,
            );
            (array, all, read)
        })
    }

    /// Checks the program for some extents for which the array fits into memory, or does not exist.
    fn agrees(&self, chosen: &[(usize, usize)]) {
        let f = self.program();
        let Ok(program) = f.program() else {
            // An extent that no array has, as a constant.
            assert!(matches!(self.extent, Number::Constant(n) if !(0..=LARGE as i64).contains(&n)), "{self:?}");
            return;
        };
        let data = Array::vector(vec![0, 1, 2, -1, 1 << 20, i64::MAX, i64::MIN]);
        let compiled: Vec<_> =
            others().into_iter().map(|b| (b.name(), b.compile(program).expect("a compiled program"))).collect();
        for (a, b) in chosen {
            let n = self.extent.value([*a, *b]);
            // A program does not have to divide where it knows the larger of two numbers, and then has an array of that extent.
            let fits = n.map_or_else(|| self.extent.is_small([*a, *b]), |n| n <= 1000 || n > LARGE as i64);
            if !fits {
                continue;
            }
            let inputs = (&columns(*a), &columns(*b), &data);
            let expected = run_on(&Interpreter, &f, inputs);
            let [x, y] = [columns(*a), columns(*b)].map(|m| ArrayTuple::Array(m.raw().clone()));
            let argument = ArrayTuple::pair(ArrayTuple::pair(x, y), ArrayTuple::Array(data.raw().clone()));
            for (name, program) in &compiled {
                let found = program.run(&argument);
                match (&expected, &found) {
                    (Ok((p, q, r)), Ok(found)) => {
                        let raw: Vec<_> = found.leaves().into_iter().cloned().collect();
                        assert_eq!(raw, [p.raw().clone(), q.raw().clone(), r.raw().clone()], "{name}: {a} {b}\n{f}");
                    }
                    (Err(_), Err(_)) => {}
                    // A value that does not influence the result can be omitted, such as the index of a read that a
                    // condition on extents excludes.
                    (Err(Error::DivisionByZero { .. }), Ok(_)) => {}
                    _ => panic!("{name}: {a} {b}: {:?} instead of {:?}\n{f}", found, expected.map(|_| ())),
                }
            }
        }
    }
}

#[test]
fn indices_of_extreme_extents_are_those_of_the_interpreter() {
    fn property(reads: Reads, places: Vec<(usize, usize)>) -> bool {
        let chosen = places.iter().map(|(a, b)| (EXTENTS[a % EXTENTS.len()], EXTENTS[b % EXTENTS.len()]));
        let all: Vec<_> = chosen.chain([(3, 7), (LARGE, LARGE), (1 << 22, 1 << 22), (1 << 32, 1 << 32)]).collect();
        reads.agrees(&all);
        true
    }
    QuickCheck::new().tests(60).quickcheck(property as fn(Reads, Vec<(usize, usize)>) -> bool);
}

fn op(op: usize, a: Number, b: Number) -> Number {
    Number::Op(op, Box::new([a, b]))
}

/// Found by the property above. The index divides by an extent that is 0, but it does not influence the result, because
/// the array has no elements. So the interpreter fails, and a backend that does not divide computes the right values.
#[test]
fn an_index_that_decides_nothing_may_be_left_out() {
    use Number::{Constant, Extent, Index};
    let reads = Reads {
        extent: Constant(0),
        index: op(5, op(5, Extent(false), Extent(true)), op(0, Constant(1 << 47), Constant(-1))),
        left: op(4, op(1, Constant(1 << 40), Index), Constant(1 << 32)),
        right: op(2, Constant(10), Constant(1 << 40)),
        guard: 4,
    };
    let (f, data) = (reads.program(), Array::vector(vec![5, 6, 7]));
    let left = Array::vector((0..3).map(|i| (1 << 40) - i).collect());
    let values = (Array::vector(vec![]), left.clone(), left);
    for (a, b) in [(0, 0), (1 << 48, 0)] {
        let inputs = (&columns(a), &columns(b), &data);
        let divides = |r: &Result<_, Error>| matches!(r, Err(Error::DivisionByZero { .. }));
        assert!(divides(&run_on(&Interpreter, &f, inputs)));
        for backend in others() {
            let found = run_on(backend, &f, inputs);
            assert!(divides(&found) || found.as_ref().ok() == Some(&values), "{}: {found:?}\n{f}", backend.name());
        }
    }
    reads.agrees(&[(0, 0), (0, 1), (1 << 48, 1), (1 << 48, 0)]);
}

/// Found by the property above: with an array without elements, the guard is never true, and the smaller of index and
/// extent is the result.
#[test]
fn guards_over_arrays_without_elements_leave_the_other_value() {
    use Number::{Constant, Extent, Index};
    let reads = Reads {
        extent: op(0, op(1, op(0, Extent(true), Constant(-1)), Extent(false)), Constant(1 << 31)),
        index: op(2, op(1, Constant(4), Constant(-(1 << 48))), op(0, Constant(1 << 47), Constant(2))),
        left: Index,
        right: Extent(true),
        guard: 4,
    };
    reads.agrees(&[(1 << 31, 1), (1 << 31, 2), (1 << 31, 3)]);
}
