//! The labels that are constants. Nothing is contributed to their adjoints: the code would not be used, and it would use
//! the values of other labels, which would have to be recomputed (NOTE [Recomputed definitions]).

use accel_core::ast::*;

/// Whether each label is a constant, by level.
#[derive(Default)]
pub struct Constants(Vec<bool>);

impl Constants {
    /// Adds those of a telescope. `base` are the labels before it; labels after these are forgotten.
    pub fn enter<A, E, E2>(&mut self, tape: &Tele<A, E, E2>, base: Size<E>) {
        self.0.resize(base.get(), false);
        self.extend(tape);
    }

    fn extend<A, E, E2>(&mut self, tape: &Tele<A, E, E2>) {
        fresh3(|a, e, f| deep(|| self.extend_(&tape.cast_all(name(a), name(e), name(f)))))
    }

    fn extend_<'a, 'e, 'f>(&mut self, tape: &Tele<X<'a>, X<'e>, X<'f>>) {
        fresh2(|n, m| {
            if let TeleView::Snoc(init, rhs, _) = tape.view(n) {
                self.extend(&init);
                self.0.push(matches!(rhs.view(m), ExpView::Const(_)));
            }
        })
    }

    /// Whether a label is a constant; `labels` is the number of labels.
    pub fn contains<E, T>(&self, i: &Idx<E, T>, labels: Size<E>) -> bool {
        self.0[labels.get() - 1 - i.depth()]
    }
}
