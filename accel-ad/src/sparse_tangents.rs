//! Sums of sparse tangents: classifies a list of sparse tangents by how they can be added (see the glossary of the book:
//! sparse tangent).

use accel_core::ast::*;

/// The sparse tangents of a list that are not zero, classified by how they can be added.
pub enum Summands<'n, E, U> {
    /// There is no such value.
    None,
    /// There is one such value, which is the sum.
    One(SparseTangent<E, U>),
    /// All values are pairs, which are added component by component. Nothing is computed where their components do not
    /// overlap.
    Pairs(Pairs<E, U, X<'n>, Y<'n>>),
    /// Any other values; the first one is a variable.
    Overlapping(Vec<SparseTangent<E, U>>),
}

/// The components of a list of pairs.
pub struct Pairs<E, U, P, Q> {
    pub firsts: Vec<SparseTangent<E, P>>,
    pub seconds: Vec<SparseTangent<E, Q>>,
    pub eq: Equal<U, (P, Q)>,
}

impl<E, U, P, Q> Pairs<E, U, P, Q> {
    /// Replaces the types of the components by equal ones.
    pub fn retype<P2, Q2>(self, eq: Equal<U, (P2, Q2)>) -> Pairs<E, U, P2, Q2> {
        let same = self.eq.sym().then(eq);
        Pairs {
            firsts: self.firsts.iter().map(|p| p.cast(same.fst())).collect(),
            seconds: self.seconds.iter().map(|p| p.cast(same.snd())).collect(),
            eq,
        }
    }
}

/// Classifies sparse tangents by how they can be added.
pub fn summands<'n, E, U>(parts: &[SparseTangent<E, U>], n: Guard<'n>) -> Summands<'n, E, U> {
    let mut live: Vec<_> = parts.iter().filter(|p| !p.is_zero()).cloned().collect();
    if live.len() < 2 {
        return live.pop().map_or(Summands::None, Summands::One);
    }
    if let Some(pairs) = pairs(&live, n) {
        return Summands::Pairs(pairs);
    }
    live.sort_by_key(|p| fresh1(|v| !matches!(p.view(v), SparseTangentView::Var(_))));
    Summands::Overlapping(live)
}

fn pairs<'n, E, U>(parts: &[SparseTangent<E, U>], n: Guard<'n>) -> Option<Pairs<E, U, X<'n>, Y<'n>>> {
    let (first, rest) = parts.split_first()?;
    let SparseTangentView::Pair(a, b, eq) = first.view(n) else { return None };
    let mut pairs = Pairs { firsts: vec![a], seconds: vec![b], eq };
    for p in rest {
        fresh1(|m| match p.view(m) {
            SparseTangentView::Pair(a, b, q) => {
                let same = q.sym().then(eq);
                pairs.firsts.push(a.cast(same.fst()));
                pairs.seconds.push(b.cast(same.snd()));
                Some(())
            }
            _ => None,
        })?;
    }
    Some(pairs)
}
