//! Proofs about numbers that overflow: a conclusion under assumptions that hold is true of the program's numbers as
//! mathematical integers.

use super::*;
use crate::kernel::{ArrayInfo, index_vec};
use accel_core::repr::op::Num2::{Add, Div, Max, Min, Mul, Rem, Sub};
use quickcheck::{Arbitrary, Gen, QuickCheck, TestResult};

/// Two arguments of two dimensions each, and one that the program computes.
const ARRAYS: usize = 3;
const GIVEN: usize = 2;
const RANK: usize = 2;

const EXTENTS: [usize; 16] = [
    0,
    1,
    2,
    3,
    100,
    1 << 16,
    (1 << 16) + 1,
    1 << 24,
    (1 << 31) - 1,
    1 << 31,
    1 << 32,
    (1 << 32) + 1,
    1 << 40,
    1 << 47,
    MAX_EXTENT - 1,
    MAX_EXTENT,
];

const CONSTANTS: [i64; 20] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    7,
    1 << 15,
    1 << 16,
    -(1 << 16),
    1 << 31,
    1 << 32,
    1 << 47,
    1 << 48,
    -(1 << 48),
    1 << 62,
    -(1 << 62),
    i64::MAX,
    i64::MIN,
    i64::MIN + 1,
];

/// A number of a program.
#[derive(Clone, Debug)]
enum Number {
    Extent(ArrayId, usize),
    Param(usize),
    /// A number read from memory.
    Data(usize),
    Constant(i64),
    Op(Op2, Box<[Number; 2]>),
}

use Number::{Constant, Extent, Param};

fn op(op: Num2, a: Number, b: Number) -> Number {
    Number::Op(Op2::Num(op), Box::new([a, b]))
}

const OPS: [Op2; 12] = [
    // Polynomials occur more often than other operations.
    Op2::Num(Add),
    Op2::Num(Add),
    Op2::Num(Sub),
    Op2::Num(Sub),
    Op2::Num(Mul),
    Op2::Num(Mul),
    Op2::Num(Min),
    Op2::Num(Max),
    Op2::Num(Div),
    Op2::Num(Rem),
    Op2::Int(Int2::DivEuclid),
    Op2::Int(Int2::RemEuclid),
];

/// The values of the variables.
struct Values {
    extents: [[usize; RANK]; ARRAYS],
    params: Vec<i64>,
    data: [i64; 2],
}

impl Number {
    /// A random number with parameters below `params`, and with data if there are any.
    fn any(g: &mut Gen, depth: usize, params: usize) -> Number {
        if depth > 0 && u8::arbitrary(g) % 4 > 0 {
            let op = *g.choose(&OPS).unwrap_or(&OPS[0]);
            return Number::Op(op, Box::new([(); 2].map(|()| Number::any(g, depth - 1, params))));
        }
        match u8::arbitrary(g) % 8 {
            0..3 => Extent(ArrayId::new(usize::arbitrary(g) % ARRAYS), usize::arbitrary(g) % RANK),
            3..6 if params > 0 => Param(usize::arbitrary(g) % params),
            6 if params > 0 => Number::Data(usize::arbitrary(g) % 2),
            _ => Constant(*g.choose(&CONSTANTS).unwrap_or(&0)),
        }
    }

    /// The optimiser's value of the number. `data` are values of which nothing is known.
    fn poly(&self, facts: &mut Facts, ranges: Ranges, data: &[Poly; 2]) -> Poly {
        match self {
            Extent(a, dim) => facts.dims(*a)[*dim].clone(),
            Param(k) => Poly::sym(Sym::Param(*k)),
            Number::Data(k) => data[*k].clone(),
            Constant(n) => Poly::constant(*n),
            Number::Op(op, operands) => {
                let [a, b] = operands.each_ref().map(|x| x.poly(facts, ranges, data));
                facts.op(*op, &a, &b, ranges)
            }
        }
    }

    /// The number that the program computes; `None` where it divides by zero.
    fn value(&self, v: &Values) -> Option<i64> {
        match self {
            Extent(a, dim) => Some(v.extents[a.index()][*dim] as i64),
            Param(k) => v.params.get(*k).copied(),
            Number::Data(k) => Some(v.data[*k]),
            Constant(n) => Some(*n),
            Number::Op(op, operands) => {
                let [a, b] = operands.each_ref().map(|x| x.value(v));
                match op.eval(Scalar::I64(a?), Scalar::I64(b?)) {
                    Ok(Scalar::I64(n)) => Some(n),
                    _ => None,
                }
            }
        }
    }
}

/// The question whether a read is within bounds, and the extents for which the answer is checked.
#[derive(Clone, Debug)]
struct Question {
    assume: bool,
    /// Whether the assumptions can be more than that numbers are exact.
    more: bool,
    params: Vec<Number>,
    /// `less + gap <= more`
    conditions: Vec<(Number, bool, Number)>,
    claim: (Number, bool, Number),
    /// Random numbers that choose extents, parameters and data.
    places: Vec<[u64; 10]>,
}

impl Arbitrary for Question {
    fn arbitrary(g: &mut Gen) -> Question {
        let params: Vec<_> = (0..usize::arbitrary(g) % 3).map(|_| Number::any(g, 1, 0)).collect();
        let n = params.len();
        let inequality = |g: &mut Gen, depth| (Number::any(g, depth, n), bool::arbitrary(g), Number::any(g, depth, n));
        let conditions = (0..usize::arbitrary(g) % 3).map(|_| inequality(g, 1)).collect();
        let claim = inequality(g, 2);
        let places = (0..20).map(|_| [(); 10].map(|()| u64::arbitrary(g))).collect();
        Question { assume: bool::arbitrary(g), more: bool::arbitrary(g), params, conditions, claim, places }
    }
}

impl Question {
    /// The assumptions under which the analysis finds that the condition holds, if it does.
    fn asked(&self) -> Option<Assumptions> {
        let array = ArrayInfo { rank: RANK, columns: vec![] };
        let inputs = (0..GIVEN).map(ArrayId::new).collect();
        let program = Program { arrays: index_vec![array; ARRAYS], inputs, ..Program::default() };
        let mut facts = Facts::new(&program, self.assume);
        let data = [facts.unknown(), facts.unknown()];
        let none = Ranges { params: &[], conditions: &[] };
        let params: Vec<_> = self.params.iter().map(|n| n.poly(&mut facts, none, &data)).collect();
        let ranges = Ranges { params: &params, conditions: &[] };
        let mut inequality = |(less, gap, more): &(Number, bool, Number), ranges: Ranges| {
            let [less, more] = [less, more].map(|x| {
                let p = x.poly(&mut facts, ranges, &data);
                facts.exact(&p, ranges)
            });
            Inequality { less, gap: i64::from(*gap), more }
        };
        let conditions: Vec<_> = self.conditions.iter().map(|c| inequality(c, ranges)).collect();
        let ranges = Ranges { conditions: &conditions, ..ranges };
        let claim = inequality(&self.claim, ranges);
        let needed = facts.premises(&[claim], ranges, self.more)?;
        facts.assume(needed);
        Some(facts.into_assumptions())
    }

    /// Values for which the scalar function runs: the parameters are within their extents, and the conditions hold.
    fn values(&self, place: &[u64; 10]) -> Option<Values> {
        let extent = |k: usize| EXTENTS[place[k] as usize % EXTENTS.len()];
        let extents = [0, 1, 2].map(|a| [extent(RANK * a), extent(RANK * a + 1)]);
        let data =
            [place[6], place[7]].map(|x| if x % 2 == 0 { x as i64 } else { CONSTANTS[x as usize % CONSTANTS.len()] });
        let mut values = Values { extents, params: vec![], data };
        let mut params = vec![];
        for (n, choice) in self.params.iter().zip(&place[8..]) {
            let n = n.value(&values).filter(|n| (1..=MAX_EXTENT as i64).contains(n))?;
            // The first and the last value occur more often than others.
            params.push(match choice % 4 {
                0 => 0,
                1 | 2 => n - 1,
                _ => (choice / 4) as i64 % n,
            });
        }
        values.params = params;
        self.conditions.iter().all(|c| holds(c, &values) == Some(true)).then_some(values)
    }

    /// Checks the conclusion. Returns the number of values for which it was true, or an error for a value for which it
    /// is false.
    fn check(&self) -> Result<usize, String> {
        let Some(assumptions) = self.asked() else { return Ok(0) };
        let mut count = 0;
        for values in self.places.iter().filter_map(|p| self.values(p)) {
            if !assumptions.hold(|a, dim| (a < GIVEN).then(|| values.extents[a.index()][dim])) {
                continue;
            }
            match holds(&self.claim, &values) {
                // The program fails before it would read.
                None => {}
                Some(true) => count += 1,
                Some(false) => {
                    let Values { extents, params, data } = values;
                    return Err(format!("{self:?} for {extents:?} {params:?} {data:?}\n{assumptions:?}"));
                }
            }
        }
        Ok(count)
    }
}

/// Whether the condition holds for the numbers that the program computes.
fn holds((less, gap, more): &(Number, bool, Number), v: &Values) -> Option<bool> {
    Some(i128::from(less.value(v)?) + i128::from(*gap) <= i128::from(more.value(v)?))
}

#[test]
fn what_is_claimed_is_true_of_numbers_that_wrap() {
    fn property(q: Question) -> TestResult {
        match q.check() {
            Ok(0) => TestResult::discard(),
            Ok(_) => TestResult::passed(),
            Err(e) => TestResult::error(e),
        }
    }
    let mut check = QuickCheck::new().tests(2_000).max_tests(60_000).min_tests_passed(500);
    check.quickcheck(property as fn(Question) -> TestResult);
}

/// All combinations of the interesting extents.
fn places() -> Vec<[u64; 10]> {
    let all = 0..EXTENTS.len() as u64;
    all.clone().flat_map(|a| all.clone().map(move |b| [a, b, a, b, a, b, 17, 19, 1, 1])).collect()
}

fn claim(assume: bool, params: Vec<Number>, less: Number, more: Number) -> Question {
    Question { assume, more: false, params, conditions: vec![], claim: (less, true, more), places: places() }
}

#[test]
fn what_is_claimed_of_extreme_extents() {
    let n = || Extent(ArrayId::new(0), 0);
    let last = || Param(0);
    // Exact for all extents.
    let shifted = claim(false, vec![n()], last(), op(Add, n(), Constant(1 << 62)));
    assert!(shifted.check().is_ok_and(|n| n > 200));
    // The product might wrap to a smaller number. So nothing is concluded without an assumption, and with one only
    // where it holds.
    for factor in [1 << 14, 1 << 15, 1 << 16, 1 << 31, 1 << 62, i64::MAX] {
        let scaled = |assume| claim(assume, vec![n()], last(), op(Mul, n(), Constant(factor)));
        let fits_always = factor < 1 << 15;
        assert_eq!(scaled(false).asked().is_some(), fits_always, "{factor}");
        let some = scaled(true).check().expect("no number of the program is another integer");
        assert_eq!(some > 0, factor < 1 << 53, "{factor}");
    }
    // A constant such that no sum with an extent fits.
    for constant in [i64::MAX, i64::MAX - 1000] {
        let largest = claim(true, vec![n()], last(), op(Add, n(), Constant(constant)));
        assert!(largest.asked().is_none());
    }
    // The difference is the least integer.
    let least = claim(true, vec![n()], op(Sub, last(), Constant(i64::MIN)), op(Sub, n(), Constant(i64::MIN)));
    assert!(least.asked().is_none());
    // Squares, the largest of which is 2^96.
    let square = claim(true, vec![n()], last(), op(Mul, n(), n()));
    assert!(square.check().is_ok_and(|n| n > 100));
    assert!(claim(false, vec![n()], last(), op(Mul, n(), n())).asked().is_none());
}

/// Quotients of remainders, quotients of numbers below an extent, and clamps followed by a shift.
#[test]
fn what_is_claimed_of_digits_and_clamps() {
    let extent = |k| Extent(ArrayId::new(k), 0);
    let (n, m) = (|| extent(0), || extent(1));
    let clamped = || op(Min, op(Max, Param(0), Constant(1)), op(Sub, n(), Constant(2)));
    let less = |less, more| (vec![n(), m()], less, more);
    let rows = |less| (vec![op(Sub, n(), Constant(2)), m()], less, n());
    for ((params, less, more), condition) in [
        (rows(op(Add, Param(0), op(Div, op(Rem, Param(1), Constant(9)), Constant(3)))), false),
        (rows(op(Add, Param(0), op(Div, Param(1), Constant(3)))), true),
        (less(Constant(-1), op(Sub, clamped(), Constant(1))), true),
        (less(op(Add, clamped(), Constant(1)), n()), false),
    ] {
        let question = |more_is_assumed| Question {
            more: more_is_assumed,
            ..claim(true, params.clone(), less.clone(), more.clone())
        };
        assert_eq!(question(false).asked().is_some(), !condition, "{less:?}");
        assert!(question(true).check().expect("true of all numbers") > 10, "{less:?}");
    }
    // A quotient of 3 is too large.
    let wide = claim(
        true,
        vec![op(Sub, n(), Constant(2)), m()],
        op(Add, Param(0), op(Div, op(Rem, Param(1), Constant(10)), Constant(3))),
        n(),
    );
    assert!(wide.asked().is_none());
}
