//! Functions outside of the language.
//!
//! NOTE \[Foreign functions\]: a foreign function makes arrays of arrays, on the host. The program says which extents its results have, so
//! that these are known as those of any operation, and the function gets the memory of its results. It is pure: equal calls may be one call,
//! and one whose results nobody uses is none. All else about it is its name, which the user gives it, and its identity. Two functions
//! with the same identity are the same. A function without captured values is identified by its type, so that a program that is recorded
//! twice is the same program; any other function is the same only as itself.
//!
//! A function may be linear: then it says which function is its adjoint, and both have derivatives of any order in both modes. Any other
//! function has a derivative only by a rule of the program.
//!
//! A function treats one item. Under `vmap` it is called for each lane: the call has leading dimensions, and the function sees the
//! items, in any order and in parallel. A batched function treats all items in one call: its arguments and results have one more dimension,
//! whose extent is the number of items.

use super::array::{Column, ColumnPart, ColumnView, RawExtents};
use super::{RawArray, ScalarType};
use crate::error::Error;
use std::any::{Any, TypeId};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::iter::once;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An array that a foreign function reads.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The extents, outermost first.
    pub extents: RawExtents,
    /// The columns.
    pub columns: Vec<ColumnView<'a>>,
}

/// An array that a foreign function writes.
#[derive(Debug)]
pub struct ViewMut<'a> {
    /// The extents, outermost first.
    pub extents: RawExtents,
    /// The columns. Their elements are zeros at first.
    pub columns: Vec<ColumnPart<'a>>,
}

impl<'a> View<'a> {
    /// An array as an argument.
    fn of(a: &'a RawArray) -> View<'a> {
        View { extents: a.extents.clone(), columns: a.columns.iter().map(Column::view).collect() }
    }
}

impl<'a> ViewMut<'a> {
    /// An array as a result. Copies columns that are shared.
    fn of(a: &'a mut RawArray) -> ViewMut<'a> {
        ViewMut { extents: a.extents.clone(), columns: a.columns.iter_mut().map(Column::view_mut).collect() }
    }
}

/// What a foreign function does: it reads arrays and writes its results, or says why it cannot.
type Work = dyn Fn(&[View], &mut [ViewMut]) -> Result<(), String> + Send + Sync;

/// A function outside of the language: see NOTE \[Foreign functions\].
#[derive(Clone)]
pub struct Foreign(Arc<Inner>);

struct Inner {
    name: &'static str,
    identity: u64,
    work: Box<Work>,
    adjoint: Option<fn() -> Foreign>,
    is_batched: bool,
}

impl Foreign {
    /// The function that does this work.
    pub fn new<F>(name: &'static str, work: F) -> Foreign
    where
        F: Fn(&[View], &mut [ViewMut]) -> Result<(), String> + Send + Sync + 'static,
    {
        Foreign::with(name, work, None, false)
    }

    /// The function that does this work for a batch of items.
    pub fn batched<F>(name: &'static str, work: F) -> Foreign
    where
        F: Fn(&[View], &mut [ViewMut]) -> Result<(), String> + Send + Sync + 'static,
    {
        Foreign::with(name, work, None, true)
    }

    /// A function that is linear, from one array to one array, of floating-point numbers. `adjoint` is the adjoint map, for the inner product
    /// of all columns.
    pub fn linear<F>(name: &'static str, work: F, adjoint: fn() -> Foreign) -> Foreign
    where
        F: Fn(&[View], &mut [ViewMut]) -> Result<(), String> + Send + Sync + 'static,
    {
        Foreign::with(name, work, Some(adjoint), false)
    }

    fn with<F>(name: &'static str, work: F, adjoint: Option<fn() -> Foreign>, is_batched: bool) -> Foreign
    where
        F: Fn(&[View], &mut [ViewMut]) -> Result<(), String> + Send + Sync + 'static,
    {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut hasher = DefaultHasher::new();
        TypeId::of::<F>().hash(&mut hasher);
        // The lowest bit tells the two kinds apart.
        let identity = match size_of::<F>() {
            0 => hasher.finish() | 1,
            _ => NEXT.fetch_add(2, Ordering::Relaxed),
        };
        Foreign(Arc::new(Inner { name, identity, work: Box::new(work), adjoint, is_batched }))
    }
    /// A function that cannot be called, in the place of one that is not known.
    pub fn unknown(name: &'static str) -> Foreign {
        Foreign::new(name, |_: &[View], _: &mut [ViewMut]| Err("a foreign function that is not known".into()))
    }
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.0.name
    }
    /// The adjoint map, if the function is linear.
    pub fn adjoint(&self) -> Option<Foreign> {
        self.0.adjoint.map(|adjoint| adjoint())
    }
    /// A number that only this function has in this process.
    pub fn identity(&self) -> u64 {
        self.0.identity
    }
}

impl PartialEq for Foreign {
    fn eq(&self, other: &Foreign) -> bool {
        self.0.identity == other.0.identity && self.0.name == other.0.name
    }
}

impl Eq for Foreign {}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.0.name, self.0.identity)
    }
}

/// A call of a foreign function for each item of arrays with leading dimensions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The function.
    pub function: Foreign,
    /// The number of leading dimensions, which all arguments and results have in common.
    pub lanes: usize,
}

impl Call {
    /// The calls for the items, in their order: the arguments and the results of each. For a batched function that is one call for all
    /// items, if there are any.
    pub fn items<'a>(&self, from: &[View<'a>], to: Vec<ViewMut<'a>>) -> Vec<(Vec<View<'a>>, Vec<ViewMut<'a>>)> {
        let outer = to.first().map(|a| &a.extents).or(from.first().map(|a| &a.extents));
        let count = outer.map_or(1, |extents| extents[..self.lanes].iter().product());
        if self.function.0.is_batched {
            let with_items = |extents: &RawExtents| once(count).chain(extents[self.lanes..].iter().copied()).collect();
            let from = from.iter().map(|a| View { extents: with_items(&a.extents), columns: a.columns.clone() });
            let to = to.into_iter().map(|a| ViewMut { extents: with_items(&a.extents), columns: a.columns });
            return (count > 0).then(|| (from.collect(), to.collect())).into_iter().collect();
        }
        let size = |extents: &RawExtents| extents[self.lanes..].iter().product::<usize>();
        let mut items: Vec<_> = (0..count).map(|_| (vec![], vec![])).collect();
        for a in from {
            let (extents, size) = (RawExtents::from_slice(&a.extents[self.lanes..]), size(&a.extents));
            for (k, (arguments, _)) in items.iter_mut().enumerate() {
                let columns = a.columns.iter().map(|c| c.part(k * size, size)).collect();
                arguments.push(View { extents: extents.clone(), columns });
            }
        }
        for a in to {
            let (extents, size) = (RawExtents::from_slice(&a.extents[self.lanes..]), size(&a.extents));
            let mut rest = a.columns;
            for (_, results) in &mut items {
                let (own, others) = rest.into_iter().map(|c| c.split(size)).unzip();
                rest = others;
                results.push(ViewMut { extents: extents.clone(), columns: own });
            }
        }
        items
    }

    /// Calls the function for one of the [items](Self::items), whose results are zeros.
    ///
    /// # Errors
    /// What the function says. A panic is an error, too.
    pub fn item(&self, from: &[View], to: &mut [ViewMut]) -> Result<(), String> {
        let called = catch_unwind(AssertUnwindSafe(|| (self.function.0.work)(from, to)));
        called.unwrap_or_else(|panic| Err(format!("it panicked: {}", text(&*panic))))
    }

    /// Calls the function for all items, one after the other, on behalf of the operation `op`, and returns the results, which have these
    /// extents and columns.
    ///
    /// # Errors
    /// [`Error::Foreign`] with what the function says, or [`Error::Memory`] for a result that has no memory.
    pub fn run(
        &self,
        op: impl Fn() -> String,
        from: &[&RawArray],
        to: Vec<(RawExtents, &[ScalarType])>,
    ) -> crate::error::Result<Vec<RawArray>> {
        let zeros = |(extents, types): (RawExtents, &[ScalarType])| {
            RawArray::zeros(extents.clone(), types).ok_or_else(|| Error::Memory { op: op(), shape: extents.to_vec() })
        };
        let mut results = to.into_iter().map(zeros).collect::<Result<Vec<_>, _>>()?;
        let from: Vec<View> = from.iter().map(|a| View::of(a)).collect();
        for (arguments, mut results) in self.items(&from, results.iter_mut().map(ViewMut::of).collect()) {
            self.item(&arguments, &mut results).map_err(|why| Error::Foreign { op: op(), why })?;
        }
        Ok(results)
    }
}

fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no text").into()
}
