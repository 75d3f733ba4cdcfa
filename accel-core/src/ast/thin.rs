//! Untyped support of the trusted module: thinnings in normal form, persistent lists with suspended thinnings, and
//! links whose drop does not recurse (see the glossary of the book: thinning).
//!
//! NOTE [Suspended thinnings]: weakening a term or a table takes constant time. The handle composes the new thinning
//! with the one that it already carries, and `view` pushes it down one level. A thinning is a sorted list of cuts
//! `(from, by)`: the index `i` becomes `i` plus the sum of `by` over all cuts with `from <= i`. Extending an
//! environment n times at its end is the single cut `(0, n)`, so in the common case composition takes constant time,
//! too.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// A strictly monotone map on De Bruijn indices.
#[derive(Clone, Default, Debug)]
pub(in crate::ast) enum RawThinning {
    #[default]
    Id,
    Cut((u32, u32)),
    Cuts(Arc<[(u32, u32)]>),
}

impl RawThinning {
    /// `i -> i + n`
    pub fn shift(n: u32) -> RawThinning {
        if n == 0 { RawThinning::Id } else { RawThinning::Cut((0, n)) }
    }

    fn cuts(&self) -> &[(u32, u32)] {
        match self {
            RawThinning::Id => &[],
            RawThinning::Cut(c) => std::slice::from_ref(c),
            RawThinning::Cuts(c) => c,
        }
    }

    /// The thinning with these cuts, the first one first.
    pub fn of(v: &[(u32, u32)]) -> RawThinning {
        match v {
            [] => RawThinning::Id,
            [c] => RawThinning::Cut(*c),
            _ => RawThinning::Cuts(v.into()),
        }
    }

    pub fn at(&self, i: u32) -> u32 {
        self.cuts().iter().take_while(|(from, _)| *from <= i).fold(i, |r, (_, by)| r + by)
    }

    /// The same map below `n` binders.
    pub fn lift(&self, n: u32) -> RawThinning {
        match self {
            RawThinning::Id => RawThinning::Id,
            RawThinning::Cut((c, a)) => RawThinning::Cut((c + n, *a)),
            RawThinning::Cuts(v) => RawThinning::Cuts(v.iter().map(|(c, a)| (c + n, *a)).collect()),
        }
    }

    /// The smallest `i` with `self.at(i) >= x`.
    fn inverse(&self, x: u32) -> u32 {
        let (mut from, mut sum) = (0, 0);
        for (c, a) in self.cuts() {
            let i = from.max(x.saturating_sub(sum));
            if i < *c {
                return i;
            }
            from = *c;
            sum += a;
        }
        from.max(x.saturating_sub(sum))
    }

    /// The composition: first `self`, then `next`.
    pub fn then(&self, next: &RawThinning) -> RawThinning {
        match (self, next) {
            (RawThinning::Id, t) | (t, RawThinning::Id) => t.clone(),
            (RawThinning::Cut((c, a)), RawThinning::Cut((d, b))) if c <= d && *d <= c + a => {
                RawThinning::Cut((*c, a + b))
            }
            _ => self.merge(next),
        }
    }

    fn merge(&self, next: &RawThinning) -> RawThinning {
        let mut first = self.cuts().iter().copied().peekable();
        let mut second = next.cuts().iter().map(|(d, b)| (self.inverse(*d), *b)).peekable();
        let mut out: Vec<(u32, u32)> = vec![];
        loop {
            let from_first = match (first.peek(), second.peek()) {
                (None, None) => return RawThinning::of(&out),
                (Some(x), Some(y)) => x.0 <= y.0,
                (x, _) => x.is_some(),
            };
            let Some((c, a)) = (if from_first { first.next() } else { second.next() }) else {
                return RawThinning::of(&out);
            };
            match out.last_mut() {
                Some(last) if last.0 == c => last.1 += a,
                _ => out.push((c, a)),
            }
        }
    }
}

/// Thinnings of the expression environment and of the array environment.
#[derive(Clone, Default, Debug)]
pub(in crate::ast) struct RawThinnings {
    pub e: RawThinning,
    pub a: RawThinning,
}

impl RawThinnings {
    pub fn then(&self, next: &RawThinnings) -> RawThinnings {
        RawThinnings { e: self.e.then(&next.e), a: self.a.then(&next.a) }
    }
    /// The same pair below one binder of the expression environment.
    pub fn lift(&self) -> RawThinnings {
        RawThinnings { e: self.e.lift(1), a: self.a.clone() }
    }
}

/// A persistent random-access list (skew binary, Okasaki 1995). Every edge carries a suspended thinning, so thinning
/// the whole list takes constant time.
pub(in crate::ast) struct List<R> {
    spine: Option<Arc<Spine<R>>>,
    th: RawThinnings,
}
struct Spine<R> {
    len: usize,
    size: usize,
    tree: (Arc<Tree<R>>, RawThinnings),
    rest: List<R>,
}
struct Tree<R> {
    item: (R, RawThinnings),
    kids: Option<[(Arc<Tree<R>>, RawThinnings); 2]>,
}

impl<R> Clone for List<R> {
    fn clone(&self) -> Self {
        List { spine: self.spine.clone(), th: self.th.clone() }
    }
}

impl<R: Clone> List<R> {
    pub fn new() -> Self {
        List { spine: None, th: RawThinnings::default() }
    }
    pub fn len(&self) -> usize {
        self.spine.as_ref().map_or(0, |s| s.len)
    }
    pub fn thin(&self, t: &RawThinnings) -> Self {
        List { spine: self.spine.clone(), th: self.th.then(t) }
    }
    fn cons(size: usize, tree: (Arc<Tree<R>>, RawThinnings), rest: List<R>) -> Self {
        let len = rest.len() + size;
        List { spine: Some(Arc::new(Spine { len, size, tree, rest })), th: RawThinnings::default() }
    }
    pub fn push(&self, item: R) -> Self {
        let item = (item, RawThinnings::default());
        if let Some(s1) = &self.spine
            && let Some(s2) = &s1.rest.spine
            && s1.size == s2.size
        {
            let th2 = s1.rest.th.then(&self.th);
            let kids = Some([(s1.tree.0.clone(), s1.tree.1.then(&self.th)), (s2.tree.0.clone(), s2.tree.1.then(&th2))]);
            let tree = (Arc::new(Tree { item, kids }), RawThinnings::default());
            return Self::cons(1 + 2 * s1.size, tree, s2.rest.thin(&th2));
        }
        Self::cons(1, (Arc::new(Tree { item, kids: None }), RawThinnings::default()), self.clone())
    }
    /// The newest item with its suspended thinning, and the rest.
    pub fn pop(&self) -> Option<((R, RawThinnings), Self)> {
        let s = self.spine.as_ref()?;
        let th = s.tree.1.then(&self.th);
        let mut rest = s.rest.thin(&self.th);
        if let Some([l, r]) = &s.tree.0.kids {
            rest = Self::cons(s.size / 2, (r.0.clone(), r.1.then(&th)), rest);
            rest = Self::cons(s.size / 2, (l.0.clone(), l.1.then(&th)), rest);
        }
        let (x, h) = &s.tree.0.item;
        Some(((x.clone(), h.then(&th)), rest))
    }
    /// Item `i`, counted from the newest, with its suspended thinning.
    pub fn get(&self, mut i: usize) -> (R, RawThinnings) {
        let (mut list, mut th) = (self, self.th.clone());
        loop {
            let s = list.spine.as_ref().expect("typed indices are in scope");
            if i < s.size {
                let (mut tree, mut size) = (&s.tree.0, s.size);
                th = s.tree.1.then(&th);
                while i > 0 {
                    size /= 2;
                    let right = i > size;
                    let kid = &tree.kids.as_ref().expect("a tree of more than one item has kids")[right as usize];
                    i -= 1 + if right { size } else { 0 };
                    th = kid.1.then(&th);
                    tree = &kid.0;
                }
                return (tree.item.0.clone(), tree.item.1.then(&th));
            }
            i -= s.size;
            th = s.rest.th.then(&th);
            list = &s.rest;
        }
    }
}

/// An owning pointer to a node. Dropping a deep chain is a loop, not a recursion.
pub(in crate::ast) struct SharedNode<N: Send + Sync + 'static>(Option<Arc<N>>);

thread_local! {
    /// Nodes that wait to be dropped, and whether a loop is dropping them already.
    static GRAVES: RefCell<(bool, Vec<Arc<dyn Any + Send + Sync>>)> = const { RefCell::new((false, vec![])) };
}

impl<N: Send + Sync> SharedNode<N> {
    pub fn new(n: N) -> Self {
        SharedNode(Some(Arc::new(n)))
    }
    pub fn get(&self) -> &N {
        self.0.as_ref().expect("a link is empty only while it is dropped")
    }
}
impl<N: Send + Sync> Clone for SharedNode<N> {
    fn clone(&self) -> Self {
        SharedNode(self.0.clone())
    }
}
impl<N: Send + Sync> Drop for SharedNode<N> {
    fn drop(&mut self) {
        let Some(node) = self.0.take() else { return };
        if Arc::strong_count(&node) > 1 {
            return;
        }
        let busy = GRAVES.try_with(|g| {
            let mut g = g.borrow_mut();
            g.1.push(node);
            std::mem::replace(&mut g.0, true)
        });
        if busy == Ok(false) {
            while let Some(dead) = GRAVES.with(|g| g.borrow_mut().1.pop()) {
                drop(dead)
            }
            GRAVES.with(|g| g.borrow_mut().0 = false)
        }
    }
}

/// Runs a step of a recursive pass. The stack grows on demand, so long chains of lets do not overflow it.
#[inline]
pub fn deep<R>(f: impl FnOnce() -> R) -> R {
    if cfg!(debug_assertions) {
        STEPS.set(STEPS.get() + 1);
    }
    if stacker::remaining_stack().is_some_and(|left| left >= 256 << 10) {
        return f();
    }
    // The code that changes the stack is the same for all steps, and compiled once.
    #[cold]
    fn grow(step: &mut dyn FnMut()) {
        stacker::grow(64 << 20, step);
    }
    let (mut f, mut result) = (Some(f), None);
    grow(&mut || result = f.take().map(|f| f()));
    result.expect("a step runs once")
}

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// How many steps of recursive passes this thread has run, that is how often it has called [`deep`]. Only debug builds count them. Tests
/// of how the work of passes grows with programs compare such numbers, which are the same in each run, unlike times.
pub fn steps() -> u64 {
    STEPS.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_items_and_thinnings_apart() {
        let th = RawThinnings { e: RawThinning::shift(1), a: RawThinning::Id };
        let list = (0..100).fold(List::new(), |l: List<usize>, k| l.thin(&th).push(k));
        assert_eq!(list.len(), 100);
        let mut rest = list.clone();
        for i in 0..100u32 {
            let (x, th) = list.get(i as usize);
            assert_eq!((x, th.e.at(0)), (99 - i as usize, i));
            let ((x, th), r) = rest.pop().unwrap();
            assert_eq!((x, th.e.at(0)), (99 - i as usize, i));
            rest = r;
        }
        assert!(rest.pop().is_none());
    }

    #[test]
    fn composition_agrees_with_pointwise_application() {
        let ts = [
            RawThinning::Id,
            RawThinning::shift(2),
            RawThinning::shift(1).lift(1),
            RawThinning::shift(3).lift(2),
            RawThinning::shift(1).lift(1).then(&RawThinning::shift(1)),
            RawThinning::shift(2).lift(3).then(&RawThinning::shift(1).lift(1)),
        ];
        for a in &ts {
            for b in &ts {
                for c in &ts {
                    let all = a.then(b).then(c);
                    (0..16).for_each(|i| assert_eq!(all.at(i), c.at(b.at(a.at(i)))));
                }
            }
        }
    }
}
