//! Products of arrays that an equation of letters describes, checked when the program is recorded.

use super::graph::attribute_to;
use super::index::{components, from_components};
use super::nodes::At;
use super::primitives::{agree_shapes, failed};
use super::{Acc, Exp, IntoShape, generate, shape, sum};
use crate::array::Array;
use crate::repr::Agreement;
use crate::types::{Dim0, Dim1, Dim2, Dim3, Dim4, Dim5, Dim6, Num, Shape};
use std::collections::BTreeMap;
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;
type N = Exp<i64>;

/// The sums of products that an equation describes: a group of letters for each array, one letter for each of its dimensions, and behind
/// `->` those of the result. The result has at each index the sum of the products of the elements at that index, over all values of the
/// letters that it does not have. In NumPy, `einsum(equation, *factors)`:
///
/// | equation | |
/// | --- | --- |
/// | `einsum("ij,jk->ik", (a, b))` | the product of two matrices |
/// | `einsum("bqhd,bkhd->bhqk", (q, k))` | the scores of attention with several heads |
/// | `einsum("i,ij,j->", (x, a, y))` | a bilinear form |
/// | `einsum("ii->i", a)` | the diagonal of a matrix |
///
/// `factors` is an array, or a tuple of up to four. More than two are multiplied from left to right, and a letter is summed as soon as no other array
/// has it, so their order decides how much is computed.
///
/// An equation that does not fit to the arrays or to the type of the result is an error when the program is built, and so is a product with
/// more than six dimensions, or with more than four letters that are summed at once. Different extents of a letter are an error when the
/// program runs; it names the letter.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// type Matrices = Acc<Array<Dim3, f64>>;
/// let products = afun(|a: Matrices, b: Matrices| -> Matrices { einsum("bij,bjk->bik", (a, b)) });
/// let a = Array::from_vec([2, 1, 2], vec![1.0, 2.0, 3.0, 4.0])?;
/// let b = Array::from_vec([2, 2, 1], vec![1.0, 1.0, 10.0, 1.0])?;
/// assert_eq!(run_with(&Interpreter, &products, (&a, &b))?.as_slice(), [3.0, 34.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn einsum<Sh: Shape, F: Factors>(equation: &str, factors: F) -> Arr<Sh, F::Elt> {
    let site = ("einsum", Location::caller());
    let product = Equation::parse(equation, F::RANKS, Sh::RANK).and_then(|equation| {
        let mut extents = BTreeMap::new();
        let factors = factors.read(site.1, &equation.factors, &mut extents);
        let _site = attribute_to(site.0, site.1);
        product(&equation.result, factors, &extents)
    });
    product.unwrap_or_else(|Mistake { expected, found }| failed(site, expected, found))
}

/// What is wrong with an equation.
struct Mistake {
    expected: String,
    found: String,
}

/// The letters of the factors and of the result.
struct Equation {
    factors: Vec<Vec<char>>,
    result: Vec<char>,
}

impl Equation {
    /// An equation for arrays of these ranks and a result of this rank.
    fn parse(text: &str, ranks: &[usize], rank: usize) -> Result<Equation, Mistake> {
        let wrong =
            |expected: String, found: String| Err(Mistake { expected, found: format!("{found} in \"{text}\"") });
        let letters = |group: &str| group.chars().filter(|c| *c != ' ').collect::<Vec<_>>();
        let Some((factors, result)) = text.split_once("->") else {
            return wrong("an equation such as \"ij,jk->ik\"".into(), "no `->`".into());
        };
        let (factors, result) = (factors.split(',').map(letters).collect::<Vec<_>>(), letters(result));
        if let Some(c) = factors.concat().iter().chain(&result).find(|c| !c.is_ascii_alphabetic()) {
            return wrong("the letters a to z and A to Z".into(), format!("`{c}`"));
        }
        if factors.len() != ranks.len() {
            return wrong(format!("letters for {} arrays", ranks.len()), format!("letters for {}", factors.len()));
        }
        for (group, rank) in factors.iter().zip(ranks) {
            if group.len() != *rank {
                let found = format!("`{}`", group.iter().collect::<String>());
                return wrong(format!("{rank} letters for an array of {rank} dimensions"), found);
            }
        }
        if let Some(c) = result.iter().find(|c| !factors.concat().contains(c)) {
            return wrong("letters of the result that an array has".into(), format!("`{c}`"));
        }
        if let Some((_, c)) = result.iter().enumerate().find(|(i, c)| result[..*i].contains(c)) {
            return wrong("each letter of the result once".into(), format!("`{c}` twice"));
        }
        if result.len() != rank {
            let found = format!("`{}`", result.iter().collect::<String>());
            return wrong(format!("{rank} letters for a result of {rank} dimensions"), found);
        }
        Ok(Equation { factors, result })
    }
}

/// A factor: its letters, and how its element for an index is read.
#[doc(hidden)]
pub struct Factor<T> {
    letters: Vec<char>,
    read: Box<dyn Fn(&[N]) -> Exp<T>>,
}

impl<T: Num> Factor<T> {
    fn of<Sh: Shape>(letters: &[char], xs: Arr<Sh, T>) -> Self {
        Factor { letters: letters.to_vec(), read: Box::new(move |ix| xs.at(from_components::<Sh>(ix))) }
    }
}

/// What [`einsum`] multiplies: an array of numbers, or a tuple of up to four with elements of the same type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be multiplied by `einsum`",
    note = "it takes an array of numbers, or a tuple of up to four: `einsum(\"ij,jk->ik\", (a, b))`"
)]
pub trait Factors {
    /// The type of all elements.
    type Elt: Num;
    /// The numbers of dimensions.
    #[doc(hidden)]
    const RANKS: &[usize];
    /// The factors, with checks that the extents of a letter are equal, and the extent of each letter.
    #[doc(hidden)]
    fn read(self, at: At, letters: &[Vec<char>], extents: &mut BTreeMap<char, N>) -> Vec<Factor<Self::Elt>>;
}

impl<Sh: Shape, T: Num> Factors for Arr<Sh, T> {
    type Elt = T;
    const RANKS: &[usize] = &[Sh::RANK];
    fn read(self, at: At, letters: &[Vec<char>], extents: &mut BTreeMap<char, N>) -> Vec<Factor<T>> {
        vec![checked(at, &letters[0], extents, self)]
    }
}

macro_rules! factors {
    ($($($S:ident $x:ident $k:literal),+;)*) => { $(
        impl<T: Num, $($S: Shape),+> Factors for ($(Arr<$S, T>,)+) {
            type Elt = T;
            const RANKS: &[usize] = &[$($S::RANK),+];
            fn read(self, at: At, letters: &[Vec<char>], extents: &mut BTreeMap<char, N>) -> Vec<Factor<T>> {
                let ($($x,)+) = self;
                vec![$(checked(at, &letters[$k], extents, $x)),+]
            }
        }
    )* };
}
factors! {
    A a 0;
    A a 0, B b 1;
    A a 0, B b 1, C c 2;
    A a 0, B b 1, C c 2, D d 3;
}

/// A factor with checks that its extents are those of its letters so far.
fn checked<Sh: Shape, T: Num>(
    at: At,
    letters: &[char],
    extents: &mut BTreeMap<char, N>,
    mut xs: Arr<Sh, T>,
) -> Factor<T> {
    let own = {
        let _site = attribute_to("einsum", at);
        components(shape(xs))
    };
    for (letter, extent) in letters.iter().zip(own) {
        let known = *extents.entry(*letter).or_insert(extent);
        if known.handle() != extent.handle() {
            let site = (name_of(*letter), at);
            let _site = attribute_to(site.0, site.1);
            xs = agree_shapes(site, Agreement::All, known.into_shape(), extent.into_shape(), xs);
        }
    }
    Factor::of(letters, xs)
}

/// The name in the error of different extents.
macro_rules! names {
    ($($letter:literal)*) => {
        fn name_of(letter: char) -> &'static str {
            match letter {
                $($letter => concat!("einsum, letter ", $letter),)*
                _ => "einsum",
            }
        }
    };
}
names! {
    'a' 'b' 'c' 'd' 'e' 'f' 'g' 'h' 'i' 'j' 'k' 'l' 'm' 'n' 'o' 'p' 'q' 'r' 's' 't' 'u' 'v' 'w' 'x' 'y' 'z'
    'A' 'B' 'C' 'D' 'E' 'F' 'G' 'H' 'I' 'J' 'K' 'L' 'M' 'N' 'O' 'P' 'Q' 'R' 'S' 'T' 'U' 'V' 'W' 'X' 'Y' 'Z'
}

/// The product of some factors, from left to right.
fn product<Sh: Shape, T: Num>(
    result: &[char],
    factors: Vec<Factor<T>>,
    extents: &BTreeMap<char, N>,
) -> Result<Arr<Sh, T>, Mistake> {
    let mut rest = factors.into_iter();
    let mut some: Vec<Factor<T>> = rest.by_ref().take(2).collect();
    while let Some(next) = rest.next() {
        let mut kept: Vec<char> = vec![];
        for letter in some.iter().flat_map(|factor| &factor.letters) {
            let later = || rest.as_slice().iter().chain([&next]).any(|factor| factor.letters.contains(letter));
            if !kept.contains(letter) && (result.contains(letter) || later()) {
                kept.push(*letter);
            }
        }
        some = vec![stored(&kept, some, extents)?, next];
    }
    contracted(result, some, extents)
}

/// A product of one or two factors as a factor with these letters.
fn stored<T: Num>(
    letters: &[char],
    factors: Vec<Factor<T>>,
    extents: &BTreeMap<char, N>,
) -> Result<Factor<T>, Mistake> {
    macro_rules! of {
        ($($rank:literal $sh:ty)*) => {
            match letters.len() {
                $($rank => Ok(Factor::of(letters, contracted::<$sh, T>(letters, factors, extents)?)),)*
                n => Err(Mistake { expected: "products of at most six dimensions".into(), found: n.to_string() }),
            }
        };
    }
    of!(0 Dim0 1 Dim1 2 Dim2 3 Dim3 4 Dim4 5 Dim5 6 Dim6)
}

/// The sum of the products of one or two factors over the letters that the result does not have.
fn contracted<Sh: Shape, T: Num>(
    result: &[char],
    factors: Vec<Factor<T>>,
    extents: &BTreeMap<char, N>,
) -> Result<Arr<Sh, T>, Mistake> {
    let mut letters = result.to_vec();
    for letter in factors.iter().flat_map(|factor| &factor.letters) {
        if !letters.contains(letter) {
            letters.push(*letter);
        }
    }
    Ok(match letters.len() - result.len() {
        0 => terms(&letters, factors, extents),
        1 => sum(terms(&letters, factors, extents)),
        2 => sum(sum(terms(&letters, factors, extents))),
        3 => sum(sum(sum(terms(&letters, factors, extents)))),
        4 => sum(sum(sum(sum(terms(&letters, factors, extents))))),
        n => {
            let found = format!("{n}: `{}`", letters[result.len()..].iter().collect::<String>());
            return Err(Mistake { expected: "at most four letters that are summed at once".into(), found });
        }
    })
}

/// The products of the elements of the factors, for all values of these letters.
fn terms<Sh: Shape, T: Num>(letters: &[char], factors: Vec<Factor<T>>, extents: &BTreeMap<char, N>) -> Arr<Sh, T> {
    let sh = from_components::<Sh>(&letters.iter().map(|letter| extents[letter]).collect::<Vec<_>>());
    generate(sh, |ix| {
        let ix: BTreeMap<char, N> = letters.iter().copied().zip(components(ix.into_shape())).collect();
        let element = |factor: &Factor<T>| (factor.read)(&factor.letters.iter().map(|c| ix[c]).collect::<Vec<_>>());
        let product = factors.iter().map(element).reduce(|x, y| x * y);
        product.unwrap_or_else(|| super::constant(T::one()))
    })
}
