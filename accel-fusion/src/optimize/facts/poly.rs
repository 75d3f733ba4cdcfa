//! Polynomials of extents and indices with integer coefficients.
//!
//! The integers of the language wrap, and they form a ring: equal polynomials are equal numbers. Comparisons such as
//! `<` need exact integer arithmetic, which fails where a coefficient does not fit.

use crate::kernel::ArrayId;
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::sync::Arc;

/// A variable of a polynomial.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sym {
    /// An extent of an array that is given, or whose extents are not a function of others.
    Extent(ArrayId, usize),
    /// A parameter of the scalar function under consideration.
    Param(usize),
    /// The value of another operation, by its number in [`Facts`](crate::optimize::facts::shape_analysis::Facts).
    Node(usize),
}

/// A product of symbols, in sorted order.
pub type Product = SmallVec<[Sym; 2]>;

/// A sum of products with coefficients; no coefficient is 0. It is shared, since most polynomials are only read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Poly {
    /// In sorted order, each product once.
    terms: Arc<[(Product, i64)]>,
}

/// The largest number of terms of a polynomial. Their number can double with each factor, and each question visits all of them. A
/// position in an array of five dimensions has five. Chosen.
const TERMS: usize = 24;

impl Poly {
    /// A constant.
    pub fn constant(n: i64) -> Poly {
        Poly::term(Product::new(), n)
    }
    /// The polynomial that is a single symbol.
    pub fn sym(s: Sym) -> Poly {
        Poly::term([s].into_iter().collect(), 1)
    }
    fn term(syms: Product, factor: i64) -> Poly {
        if factor == 0 { Poly::default() } else { Poly { terms: [(syms, factor)].into() } }
    }
    /// Makes a polynomial of distinct sorted products.
    fn of(terms: Vec<(Product, i64)>) -> Poly {
        Poly { terms: terms.into() }
    }
    /// The polynomial of distinct sorted products, in sorted order, whose coefficients are not 0; `None` for other terms.
    pub fn of_terms(terms: Vec<(Product, i64)>) -> Option<Poly> {
        let sorted = terms.iter().all(|(syms, factor)| syms.is_sorted() && *factor != 0)
            && terms.windows(2).all(|pair| pair[0].0 < pair[1].0);
        sorted.then(|| Poly::of(terms))
    }
    /// The products, each a sorted list of symbols, with their coefficients.
    pub fn terms(&self) -> impl Iterator<Item = (&[Sym], i64)> {
        self.terms.iter().map(|(syms, n)| (syms.as_slice(), *n))
    }
    /// `self + factor * other`
    pub fn plus(&self, other: &Poly, factor: i64) -> Poly {
        self.sum(other, |m, n| Some(m.wrapping_add(n.wrapping_mul(factor)))).unwrap_or_default()
    }
    /// `self - other` in exact arithmetic.
    pub fn minus_exactly(&self, other: &Poly) -> Option<Poly> {
        self.sum(other, i64::checked_sub)
    }
    /// `self + other` in exact arithmetic.
    pub fn plus_exactly(&self, other: &Poly) -> Option<Poly> {
        self.sum(other, i64::checked_add)
    }
    /// The products of both polynomials; `f` combines the two coefficients of each.
    fn sum(&self, other: &Poly, f: impl Fn(i64, i64) -> Option<i64>) -> Option<Poly> {
        if other.terms.is_empty() {
            return Some(self.clone());
        }
        let mut sum = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => return Some(Poly::of(sum)),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((a, _)), Some((b, _))) => a.cmp(b),
            };
            let first = if order.is_le() { left.next() } else { None };
            let second = if order.is_ge() { right.next() } else { None };
            let n = f(first.map_or(0, |t| t.1), second.map_or(0, |t| t.1))?;
            if let Some((syms, _)) = first.or(second).filter(|_| n != 0) {
                sum.push((syms.clone(), n));
            }
        }
    }
    /// `self + n`
    pub fn plus_constant(&self, n: i64) -> Poly {
        self.plus(&Poly::constant(n), 1)
    }
    /// The product; `None` if it has too many terms.
    pub fn times(&self, other: &Poly) -> Option<Poly> {
        self.product(other, |m, n| Some(m.wrapping_mul(n)), |m, n| Some(m.wrapping_add(n)))
    }
    /// The product in exact arithmetic; `None` also if it has too many terms.
    pub fn times_exactly(&self, other: &Poly) -> Option<Poly> {
        self.product(other, i64::checked_mul, i64::checked_add)
    }
    fn product(
        &self,
        other: &Poly,
        times: impl Fn(i64, i64) -> Option<i64>,
        plus: impl Fn(i64, i64) -> Option<i64>,
    ) -> Option<Poly> {
        if self.terms.len() * other.terms.len() > TERMS {
            return None;
        }
        let mut product = Poly::default();
        for (a, m) in &*self.terms {
            for (b, n) in &*other.terms {
                let mut syms: Product = a.iter().chain(b).copied().collect();
                syms.sort_unstable();
                product = product.sum(&Poly::term(syms, times(*m, *n)?), &plus)?;
            }
        }
        Some(product)
    }
    /// `q` with `self = q * other`, in exact arithmetic, if there is one.
    pub fn quotient(&self, other: &Poly) -> Option<Poly> {
        // The first product in an order that multiplication keeps.
        let first = |p: &Poly| p.terms.iter().max_by(|a, b| (a.0.len(), &b.0).cmp(&(b.0.len(), &a.0))).cloned();
        let (divisor, factor) = first(other)?;
        let (mut rest, mut quotient) = (self.clone(), Poly::default());
        while let Some((mut syms, n)) = first(&rest) {
            for s in &divisor {
                syms.remove(syms.iter().position(|x| x == s)?);
            }
            let exact = n.checked_rem(factor)? == 0 && quotient.is_small();
            let term = exact.then(|| Poly::term(syms, n / factor))?;
            rest = rest.minus_exactly(&term.times_exactly(other)?)?;
            quotient = quotient.plus_exactly(&term)?;
        }
        Some(quotient)
    }
    /// The value, if it is a constant.
    pub fn as_constant(&self) -> Option<i64> {
        match &*self.terms {
            [] => Some(0),
            [(syms, n)] if syms.is_empty() => Some(*n),
            _ => None,
        }
    }
    /// The symbol, if it is a single symbol.
    pub fn as_sym(&self) -> Option<Sym> {
        match &*self.terms {
            [(syms, 1)] if syms.len() == 1 => Some(syms[0]),
            _ => None,
        }
    }
    /// Whether it is small enough for further computations.
    pub fn is_small(&self) -> bool {
        self.terms.len() <= TERMS
    }
    /// All symbols, once for each occurrence.
    pub fn symbols(&self) -> impl Iterator<Item = Sym> {
        self.terms.iter().flat_map(|(syms, _)| syms.iter().copied())
    }
    /// Whether a symbol occurs.
    fn has(&self, s: Sym) -> bool {
        self.symbols().any(|x| x == s)
    }
    /// Replaces a symbol by a polynomial; `None` if the result is too large.
    pub fn replace(&self, s: Sym, by: &Poly) -> Option<Poly> {
        self.replaced(s, by, Poly::times, |p, q| Some(p.plus(q, 1)))
    }
    /// As [`replace`](Self::replace), in exact arithmetic.
    pub fn replace_exactly(&self, s: Sym, by: &Poly) -> Option<Poly> {
        self.replaced(s, by, Poly::times_exactly, Poly::plus_exactly)
    }
    fn replaced(
        &self,
        s: Sym,
        by: &Poly,
        times: fn(&Poly, &Poly) -> Option<Poly>,
        plus: fn(&Poly, &Poly) -> Option<Poly>,
    ) -> Option<Poly> {
        if !self.has(s) {
            return Some(self.clone());
        }
        let mut result = Poly::default();
        for (syms, n) in &*self.terms {
            let (this, others): (Product, Product) = syms.iter().copied().partition(|x| *x == s);
            let mut product = Poly::term(others, *n);
            for _ in this {
                product = times(&product, by)?;
            }
            result = plus(&result, &product)?;
        }
        Some(result)
    }
    /// `(a, b)` with `self = a * s + b`, if there are such `a` and `b` without `s`.
    pub fn linear(&self, s: Sym) -> Option<(Poly, Poly)> {
        if !self.has(s) {
            return Some((Poly::default(), self.clone()));
        }
        let (mut a, mut b) = (vec![], vec![]);
        for (syms, n) in &*self.terms {
            match syms.iter().filter(|x| **x == s).count() {
                0 => b.push((syms.clone(), *n)),
                1 => a.push((syms.iter().copied().filter(|x| *x != s).collect(), *n)),
                _ => return None,
            }
        }
        // Without `s`, the order of the products can differ.
        a.sort_unstable();
        Some((Poly::of(a), Poly::of(b)))
    }
    /// The value, given the values of the symbols; `None` if one is unknown or the value is too large.
    pub fn value(&self, of: impl Fn(Sym) -> Option<i64>) -> Option<i128> {
        self.terms.iter().try_fold(0i128, |sum, (syms, n)| {
            let product = syms.iter().try_fold(i128::from(*n), |p, s| p.checked_mul(i128::from(of(*s)?)));
            sum.checked_add(product?)
        })
    }
    /// An upper bound of the absolute value, given upper bounds of the symbols. It saturates.
    pub fn magnitude(&self, of: impl Fn(Sym) -> u128) -> u128 {
        self.terms.iter().fold(0, |sum: u128, (syms, n)| {
            let product = syms.iter().fold(u128::from(n.unsigned_abs()), |p, s| p.saturating_mul(of(*s)));
            sum.saturating_add(product)
        })
    }
}
