//! Arrays that stay on a device, and asynchronous runs.

use crate::compiled::{Prepared, TypedProgram};
use crate::device::OpenDevice;
use crate::location::{Array, Location, upload};
use crate::read_back::{self, Pending};
use accel_core::ast::Repr;
use accel_core::backend::Executable;
use accel_core::error::{Error, Result};
use accel_core::repr::{ArrayTuple, ScalarType};
use accel_core::types::{Arrays, Inputs};
use std::marker::PhantomData;
use std::sync::Arc;

/// Arrays of type `A` on a device: arguments and results of [`Compiled::run_async`]. Cheap to clone.
pub struct DeviceArray<A> {
    device: Arc<OpenDevice>,
    arrays: Vec<(Array, Vec<ScalarType>)>,
    types: PhantomData<fn() -> A>,
}

impl<A> Clone for DeviceArray<A> {
    fn clone(&self) -> Self {
        DeviceArray { device: self.device.clone(), arrays: self.arrays.clone(), types: PhantomData }
    }
}

impl<A: Arrays> DeviceArray<A> {
    /// Copies arrays to a device.
    pub(crate) fn new(device: &Arc<OpenDevice>, arrays: &ArrayTuple) -> Result<Self> {
        let one = |a: &accel_core::repr::RawArray| {
            let types = a.columns.iter().map(|c| c.ty()).collect();
            let extents = a.extents.iter().map(|e| *e as i64).collect();
            // A single element is needed on the host as well, for conditions and extents.
            let host = (a.size() == 1).then(|| a.columns.clone());
            Ok((Array { extents, place: Location { host, device: upload(device, a)? } }, types))
        };
        let arrays = arrays.leaves().into_iter().map(one).collect::<Result<_>>()?;
        Ok(DeviceArray { device: device.clone(), arrays, types: PhantomData })
    }

    /// A copy on the host. Waits until the arrays are computed.
    ///
    /// # Errors
    /// An error of the driver. The failure of a run is reported by [`Running::wait`], not here.
    pub fn to_host(&self) -> Result<A> {
        let mut arrays = read_back::copies(&self.device, &self.arrays)?.into_iter();
        let tuple = ArrayTuple::of(&A::Repr::raw(), &mut arrays);
        A::from_tuple(tuple.ok_or_else(|| Error::Internal("too few arrays".into()))?)
    }
}

/// Arguments on a device for a program with argument type `A`: `&xs`, or `(&xs, &ys)` for several.
pub trait DeviceInputs<A> {
    /// All arrays, from left to right.
    #[doc(hidden)]
    fn leaves(&self) -> Vec<Leaf>;
}

/// An array on a device.
#[doc(hidden)]
pub struct Leaf {
    device: Arc<OpenDevice>,
    array: Array,
}

impl<A> DeviceInputs<A> for &DeviceArray<A> {
    fn leaves(&self) -> Vec<Leaf> {
        self.arrays.iter().map(|(a, _)| Leaf { device: self.device.clone(), array: a.clone() }).collect()
    }
}

macro_rules! tuples {
    ($($name:ident $field:tt),*) => {
        impl<$($name),*> DeviceInputs<($($name,)*)> for ($(&DeviceArray<$name>,)*) {
            fn leaves(&self) -> Vec<Leaf> {
                let parts = [$(DeviceInputs::<$name>::leaves(&self.$field)),*];
                parts.into_iter().flatten().collect()
            }
        }
    };
}
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
tuples!(A 0, B 1, C 2, D 3, E 4);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);

/// A program compiled for one device. Several threads can use it at once.
pub struct Compiled<A, R> {
    prepared: Arc<Prepared<TypedProgram>>,
    device: Arc<OpenDevice>,
    types: PhantomData<fn(A) -> R>,
}

impl<A: Arrays, R: Arrays> Compiled<A, R> {
    pub(crate) fn new(prepared: Prepared<TypedProgram>, device: Arc<OpenDevice>) -> Self {
        Compiled { prepared: Arc::new(prepared), device, types: PhantomData }
    }

    /// Computes the result from arrays of the host.
    ///
    /// # Errors
    /// A check at run time fails, or an error of the driver.
    pub fn run(&self, inputs: impl Inputs<A>) -> Result<R> {
        R::from_tuple(self.prepared.run(&inputs.to_tuple())?)
    }

    /// Starts to compute the result from arrays on the device. It waits only for conditions of branches and loops, for
    /// extents that the device computes, and for derivatives of loops in scalar code, not for the result. Runs are
    /// executed in the order in which they are started.
    ///
    /// # Errors
    /// Arrays of another device, or an error that is found before the device has finished.
    pub fn run_async(&self, inputs: impl DeviceInputs<A>) -> Result<Running<R>> {
        let leaves = inputs.leaves();
        if let Some(other) = leaves.iter().find(|l| !Arc::ptr_eq(&l.device, &self.device)) {
            let (own, other) = (&self.device.about.name, &other.device.about.name);
            return Err(Error::Device(format!("the program is compiled for {own}, and an argument is on {other}")));
        }
        let (code, run) = self.prepared.enqueue(leaves.into_iter().map(|l| l.array).collect())?;
        let types = |k: usize| code.program.arrays[code.program.results[k]].columns.clone();
        let arrays = run.results.into_iter().enumerate().map(|(k, a)| (a, types(k))).collect();
        let results = DeviceArray { device: self.device.clone(), arrays, types: PhantomData };
        let pending = Pending::new(code, run.record, run.shapes)?;
        self.device.begin()?;
        Ok(Running { results, pending })
    }
}

/// A run that was started. It continues if this value is dropped.
pub struct Running<R> {
    results: DeviceArray<R>,
    pending: Pending,
}

impl<R: Arrays> Running<R> {
    /// The results, which may not be computed yet. They can be arguments of further runs. If [`wait`](Self::wait)
    /// fails, they are undefined.
    pub fn results(&self) -> &DeviceArray<R> {
        &self.results
    }

    /// Waits for the end of the run.
    ///
    /// # Errors
    /// A failure on the device, such as an index out of bounds or a division by zero, or an error of the driver.
    pub fn wait(self) -> Result<DeviceArray<R>> {
        self.pending.wait()?;
        Ok(self.results)
    }
}
