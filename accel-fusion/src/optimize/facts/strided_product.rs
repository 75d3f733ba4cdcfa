//! Sums of products whose indices are sums: matrix products, convolutions and their derivatives, in one form.
//!
//! NOTE [Strided products]: let the elements of a sum, or of a permute by addition, be `factor * left[..] * right[..]`. The
//! index of a loop is divided into *digits*: of `p` below `9 * n`, the digits are `p % n` and `p / n`, or, where a program
//! needs more of them, `p % n`, `p / n % 3` and `p / n / 3`. Suppose that every component of the indices of `left`, `right`
//! and the result is a sum of multiples of digits, and a number that consists of extents. Then a step along a digit is a step
//! of a constant length in each of the three arrays, whatever the ranks of these are. So the sum consists of matrix products:
//! a digit on which the result and only the left operand depend is one of rows, and so on. A convolution reads
//! `x[n, i + k, j + l, c] * w[k, l, c, o]`: its rows are `n`, `i` and `j`, its columns `o`, and it sums over `k`, `l` and `c`,
//! whether they are three loops, one loop with three digits, or a copy of the image in another form that is computed where it
//! is read. Its derivative by `x` adds `y[n, i, j, o] * w[k, l, c, o]` to element `[n, i + k, j + l, c]`: there, `i` and `k`
//! *collide*, so only one of them can be part of a matrix product.

use crate::kernel::builder::Builder;
use crate::kernel::contraction::{factor, product_of, summands};
use crate::kernel::{ArrayId, Check, Instr, Monoid, Op, Program, Reduction, Reg, Role, ScalarFn};
use crate::optimize::facts::poly::{Poly, Sym};
use accel_core::ast::deep;
use accel_core::repr::op::{Num2, Op2};
use accel_core::repr::{Scalar, ScalarType};
use std::collections::BTreeMap;

/// A sum of products of elements of two arrays: NOTE [Strided products].
pub struct StridedProduct {
    /// The type of the numbers: `f32` or `f64`.
    pub ty: ScalarType,
    /// A factor of all products: a scalar function without parameters.
    pub factor: ScalarFn,
    /// The numbers that consist of extents: a scalar function without parameters. Below, a number is a position in its
    /// results.
    pub numbers: ScalarFn,
    /// The numbers by which the program divides: they must be more than 0.
    pub divisors: Vec<usize>,
    /// The digits. Those of one component of the index follow each other, the highest one first.
    pub digits: Vec<Digit>,
    /// The index of the result.
    pub result: Vec<Sum>,
    /// Whether this index was proved to be within bounds.
    pub result_inside: bool,
    /// The operand that provides the rows.
    pub left: Factor,
    /// The operand that provides the columns.
    pub right: Factor,
}

/// A digit of the index of a loop.
pub struct Digit {
    /// The parameter.
    pub param: usize,
    /// The number of its values; if there is none, it is the highest digit.
    pub extent: Option<usize>,
    /// In which of the arrays it occurs.
    pub role: Role,
    /// The component of the result's index in which other digits occur, too.
    pub collides: Option<usize>,
}

/// A sum of multiples of digits, and a number.
pub struct Sum {
    /// The digits, with their factors.
    pub terms: Vec<(usize, usize)>,
    /// The number.
    pub offset: usize,
}

/// A column of an array whose elements are multiplied.
pub struct Factor {
    /// The array.
    pub array: ArrayId,
    /// The column.
    pub column: usize,
    /// The index.
    pub index: Vec<Sum>,
    /// Whether the index was proved to be within bounds.
    pub inside: bool,
}

impl StridedProduct {
    /// The sums of rows, if they have this form, with rows and columns. `outer` is the rank of the result.
    pub fn of_rows(outer: usize, rows: &Reduction) -> Option<StridedProduct> {
        Self::terms_of_rows(outer, rows).and_then(|terms| <[_; 1]>::try_from(terms).ok()).map(|[product]| product)
    }

    /// The sums of rows, if their elements are sums of products of this form.
    pub fn terms_of_rows(outer: usize, rows: &Reduction) -> Option<Vec<StridedProduct>> {
        let index = Index { values: (0..outer).map(Value::param).collect(), divisors: vec![], inside: true };
        let values = Values::new(&rows.element, vec![])?;
        let terms = summands(&rows.element, rows.float_sum()?).into_iter();
        terms.map(|r| strided_product(&rows.element, &values, r, &index)).collect()
    }

    /// Whether there are several digits of one component of the loop's index: a loop along it divides for each element.
    pub fn divides(&self) -> bool {
        self.digits.iter().any(|d| d.extent.is_some())
    }

    /// The sums that an operation adds to an array, if it is a permute by addition of this form.
    pub fn of_permute(program: &Program, op: &Op) -> Option<StridedProduct> {
        let Op::Permute { to, target, element, monoid: Some(Monoid::Sum), .. } = op else { return None };
        let [result] = element.results[..] else { return None };
        if !element.types[result].is_float() || program.arrays[*to].columns.len() != 1 {
            return None;
        }
        let (kept, index) = target.results.split_first()?;
        let is_kept = |i: &Instr| matches!(i, Instr::Const(to, Scalar::Bool(true)) if to == kept);
        if !target.instrs.iter().any(is_kept) || target.instrs.iter().any(|i| may_be_outside(target, i)) {
            return None;
        }
        let values = Values::new(target, vec![])?;
        let index = Index { values: values.all(index)?, divisors: values.divisors, inside: false };
        strided_product(element, &Values::new(element, values.nodes)?, result, &index)
    }
}

/// Whether an instruction reads at an index that was not proved to be within bounds.
fn may_be_outside(code: &ScalarFn, i: &Instr) -> bool {
    i.check(code) == Some(Check::Bounds)
}

/// The index of the result.
struct Index {
    values: Vec<Value>,
    divisors: Vec<Poly>,
    /// Whether it was proved to be within bounds.
    inside: bool,
}

/// A sum of multiples of digits, and a number: the value of a register. A digit is `param / below % extent`.
#[derive(Clone, Default)]
struct Value {
    digits: BTreeMap<DigitOf, Poly>,
    number: Poly,
}

/// A digit: the parameter, what it is divided by, and the number of values.
type DigitOf = (usize, Poly, Option<Poly>);

/// What the next digit is divided by, if there is one. `None` if this number is too large.
fn above((_, below, extent): &DigitOf) -> Option<Option<Poly>> {
    extent.as_ref().map_or(Some(None), |n| below.times_exactly(n).map(Some))
}

impl Value {
    fn number(number: Poly) -> Value {
        Value { digits: BTreeMap::new(), number }
    }

    fn of_digit(digit: DigitOf) -> Value {
        Value { digits: [(digit, Poly::constant(1))].into(), number: Poly::default() }
    }

    fn param(p: usize) -> Value {
        Value::of_digit((p, Poly::constant(1), None))
    }

    fn as_number(&self) -> Option<&Poly> {
        self.digits.is_empty().then_some(&self.number)
    }

    /// `self + factor * other`
    fn plus(&self, other: &Value, factor: &Poly) -> Option<Value> {
        let mut sum = self.clone();
        sum.number = sum.number.plus_exactly(&other.number.times_exactly(factor)?)?;
        for (digit, n) in &other.digits {
            let old = sum.digits.remove(digit).unwrap_or_default();
            let new = old.plus_exactly(&n.times_exactly(factor)?)?;
            if new != Poly::default() {
                sum.digits.insert(digit.clone(), new);
            }
        }
        Some(sum)
    }

    /// The digits of a digit.
    fn digit(&self, op: Num2, n: &Poly) -> Option<Value> {
        let [((param, below, extent), factor)] = &Vec::from_iter(&self.digits)[..] else { return None };
        if self.number != Poly::default() || factor.as_constant() != Some(1) {
            return None;
        }
        // Only a divisor that is more than 1 makes digits: those of others would have no end.
        match n.as_constant() {
            Some(1) if op == Num2::Rem => return Some(Value::default()),
            Some(..=0) => return None,
            _ => {}
        }
        // Of a digit with another number of values, the higher ones of its own digits are known if they are whole.
        let higher = extent.as_ref().map_or(Some(None), |e| e.quotient(n).map(Some))?;
        Some(Value::of_digit(match op {
            Num2::Div => (*param, below.times_exactly(n)?, higher),
            _ => (*param, below.clone(), Some(n.clone())),
        }))
    }
}

/// The values of the registers that are sums of digits.
struct Values {
    of: BTreeMap<Reg, Value>,
    divisors: Vec<Poly>,
    /// What [`Sym::Node`] stands for in them: numbers that are no polynomials of extents, such as the number of places at a distance
    /// of 2.
    nodes: Vec<Node>,
}

/// An operation on numbers. It cannot fail.
type Node = (Num2, Poly, Poly);

impl Values {
    /// The values in a scalar function. `None` if it can fail for another reason than that a number of `divisors` is 0, or that
    /// an index is out of bounds.
    fn new(code: &ScalarFn, nodes: Vec<Node>) -> Option<Values> {
        let of = code.param_regs().map(|r| (r, Value::param(r.index()))).collect();
        let mut values = Values { of, divisors: vec![], nodes };
        for i in &code.instrs {
            match values.value(i) {
                Some(value) => _ = values.of.insert(i.sets()[0], value),
                None if matches!(i.check(code), Some(Check::Divisor | Check::Memory)) || !i.inner().is_empty() => {
                    return None;
                }
                None => {}
            }
        }
        Some(values)
    }

    fn value(&mut self, i: &Instr) -> Option<Value> {
        let (op, a, b) = match i {
            Instr::Const(_, Scalar::I64(n)) => return Some(Value::number(Poly::constant(*n))),
            Instr::Extent(_, a, dim) => return Some(Value::number(Poly::sym(Sym::Extent(*a, *dim)))),
            Instr::Op2(_, Op2::Num(op), a, b) => (*op, self.of.get(a)?, self.of.get(b)?),
            _ => return None,
        };
        let operands = || Some((op, a.as_number()?.clone(), b.as_number()?.clone()));
        match op {
            Num2::Add => a.plus(b, &Poly::constant(1)),
            Num2::Sub => a.plus(b, &Poly::constant(-1)),
            Num2::Mul => match (a.as_number(), b.as_number()) {
                (Some(n), _) => Value::default().plus(b, n),
                (_, Some(n)) => Value::default().plus(a, n),
                _ => None,
            },
            Num2::Min | Num2::Max => {
                let node = operands()?;
                Some(self.node(node))
            }
            Num2::Div | Num2::Rem => match operands() {
                Some(node) if node.2.as_constant() > Some(0) => Some(self.node(node)),
                _ => {
                    let (n, a) = (b.as_number()?.clone(), a.clone());
                    let value = a.digit(op, &n)?;
                    self.divisors.push(n);
                    Some(value)
                }
            },
        }
    }

    fn node(&mut self, operands: Node) -> Value {
        let found = self.nodes.iter().position(|n| *n == operands);
        let k = found.unwrap_or_else(|| {
            self.nodes.push(operands);
            self.nodes.len() - 1
        });
        Value::number(Poly::sym(Sym::Node(k)))
    }

    fn all(&self, registers: &[Reg]) -> Option<Vec<Value>> {
        registers.iter().map(|r| self.of.get(r).cloned()).collect()
    }
}

/// A product that a scalar function of an index computes, for a result at the index `result`.
fn strided_product(code: &ScalarFn, values: &Values, product: Reg, result: &Index) -> Option<StridedProduct> {
    let (factors, scalars) = product_of(code, product)?;
    let [a, b] = factors[..] else { return None };
    let read = |r: Reg| {
        code.instrs.iter().find_map(|i| match i {
            Instr::Read { to, array, index, inside, .. } => {
                let column = to.iter().position(|to| *to == r)?;
                Some((*array, column, values.all(index)?, *inside))
            }
            _ => None,
        })
    };
    let (a, b) = (read(a)?, read(b)?);
    // All other reads are of single elements.
    if code.instrs.iter().filter(|i| may_be_outside(code, i)).count() > usize::from(!a.3) + usize::from(!b.3) {
        return None;
    }
    let digits = digits(code.params, &[&result.values[..], &a.2, &b.2].concat())?;
    let divided = |index: &[Value]| index.iter().map(|i| in_digits(i, &digits)).collect::<Option<Vec<Value>>>();
    let is_sum: Vec<bool> = result.values.iter().map(|i| i.digits.len() > 1).collect();
    let (index, a, b) = (divided(&result.values)?, (divided(&a.2)?, a), (divided(&b.2)?, b));
    let occurs = |index: &[Value], d: &DigitOf| index.iter().any(|i| i.digits.contains_key(d));
    // The operand that depends on the outermost part of the result's index provides the rows.
    let first = digits.iter().find(|d| occurs(&a.0, d) != occurs(&b.0, d))?;
    let (left, right) = if occurs(&a.0, first) { (a, b) } else { (b, a) };
    let role = |d: &DigitOf| match (occurs(&index, d), occurs(&left.0, d), occurs(&right.0, d)) {
        (false, ..) => Role::Reduced,
        (true, true, false) => Role::Row,
        (true, false, true) => Role::Column,
        (true, ..) => Role::Batch,
    };
    let roles: Vec<Role> = digits.iter().map(role).collect();
    if !roles.contains(&Role::Row) || !roles.contains(&Role::Column) {
        return None;
    }
    let mut n = Numbers { nodes: &values.nodes, builder: Builder::new(&[]), found: vec![], results: vec![] };
    let sums = |n: &mut Numbers, index: &[Value]| -> Vec<Sum> {
        let place = |d: &DigitOf| digits.iter().position(|x| x == d).unwrap_or_default();
        let one = |i: &Value| Sum {
            terms: i.digits.iter().map(|(d, factor)| (place(d), n.number(factor))).collect(),
            offset: n.number(&i.number),
        };
        index.iter().map(one).collect()
    };
    let own = sums(&mut n, &index);
    let [left, right] = [left, right].map(|(index, (array, column, _, inside))| {
        let index = sums(&mut n, &index);
        Factor { array, column, index, inside }
    });
    // The digits of one component of the loop's index do not collide with each other.
    let collides = |d: usize| own.iter().zip(&is_sum).position(|(s, sum)| *sum && s.terms.iter().any(|t| t.0 == d));
    let all = digits.iter().zip(roles).enumerate().map(|(k, ((param, _, extent), role))| Digit {
        param: *param,
        extent: extent.as_ref().map(|e| n.number(e)),
        role,
        collides: collides(k),
    });
    let digits = all.collect();
    let divisors = values.divisors.iter().chain(&result.divisors).map(|d| n.number(d)).collect();
    let ty = code.types[product];
    let factor = factor(ty, code, scalars);
    let Numbers { builder, results, .. } = n;
    Some(StridedProduct {
        ty,
        factor,
        numbers: builder.finish(results),
        divisors,
        digits,
        result: own,
        result_inside: result.inside,
        left,
        right,
    })
}

/// The digits into which the indices divide the components of a loop's index, from the outermost one to the innermost one.
/// `None` if they do not fit together.
fn digits(params: usize, indices: &[Value]) -> Option<Vec<DigitOf>> {
    let mut all = vec![];
    for p in 0..params {
        // From the lowest digit up.
        let (mut own, mut below) = (vec![], Some(Poly::constant(1)));
        while let Some(b) = below {
            let here = indices.iter().flat_map(|i| i.digits.keys()).filter(|d| d.0 == p && d.1 == b);
            let mut extents: Vec<&Poly> = here.filter_map(|d| d.2.as_ref()).collect();
            extents.sort_unstable();
            extents.dedup();
            // The smallest one divides the others.
            let smallest = |n: &&&Poly| extents.iter().all(|m| m.quotient(n).is_some());
            let extent = match extents.iter().find(smallest) {
                Some(n) => Some((*n).clone()),
                None if extents.is_empty() => None,
                None => return None,
            };
            let digit = (p, b, extent);
            below = above(&digit)?;
            own.push(digit);
        }
        own.reverse();
        all.append(&mut own);
    }
    Some(all)
}

/// A value as a sum of these digits.
fn in_digits(value: &Value, digits: &[DigitOf]) -> Option<Value> {
    let mut sum = Value::number(value.number.clone());
    for (digit, factor) in &value.digits {
        let (p, below, _) = digit;
        let end = above(digit)?;
        let own = digits.iter().rev().filter(|d| d.0 == *p).skip_while(|d| d.1 != *below);
        let mut last = Some(below.clone());
        for d in own.take_while(|d| end.as_ref() != Some(&d.1)) {
            sum = sum.plus(&Value::of_digit(d.clone()), &factor.times_exactly(&d.1.quotient(below)?)?)?;
            last = above(d)?;
        }
        if last != end {
            return None;
        }
    }
    Some(sum)
}

/// The numbers that consist of extents, each once.
struct Numbers<'a> {
    nodes: &'a [Node],
    builder: Builder,
    found: Vec<Poly>,
    results: Vec<Reg>,
}

impl Numbers<'_> {
    /// The position of a number.
    fn number(&mut self, p: &Poly) -> usize {
        if let Some(k) = self.found.iter().position(|q| q == p) {
            return k;
        }
        let r = self.register(p);
        self.results.push(r);
        self.found.push(p.clone());
        self.found.len() - 1
    }

    fn register(&mut self, p: &Poly) -> Reg {
        let mut sum = None;
        for (syms, n) in p.terms() {
            let mut product = self.builder.constant(Scalar::I64(n));
            for s in syms {
                let factor = match *s {
                    Sym::Extent(a, dim) => self.builder.extent(a, dim),
                    Sym::Node(k) => {
                        let (op, a, b) = &self.nodes[k];
                        let [a, b] = [a, b].map(|p| deep(|| self.register(p)));
                        self.builder.index_op(*op, a, b)
                    }
                    Sym::Param(_) => unreachable!("parameters are digits"),
                };
                product = self.builder.index_op(Num2::Mul, product, factor);
            }
            sum = Some(sum.map_or(product, |sum| self.builder.index_op(Num2::Add, sum, product)));
        }
        sum.unwrap_or_else(|| self.builder.constant(Scalar::I64(0)))
    }
}
