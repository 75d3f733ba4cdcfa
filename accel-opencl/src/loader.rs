//! Loads OpenCL when it is first needed, so that programs start on machines without it.
//!
//! NOTE [Linking without OpenCL]: the crate `ocl` declares the functions of OpenCL. Calls of these declarations would link every
//! program with `libOpenCL`, which exists only where OpenCL is installed. Own functions with these names would take the place of
//! the real ones for the other crates of the program. So only the types of the declarations are used: [`call!`] calls the
//! addresses that [`load`] has found. `ocl` still demands a library with this name; the build script provides an empty one
//! where the linker finds none.

use accel_core::error::{Error, Result};
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function of OpenCL.
pub struct Function {
    name: &'static CStr,
    /// Null before [`load`], and if the library lacks it.
    address: AtomicPtr<c_void>,
}

impl Function {
    /// The function, if there is one. `declared` is not called, so that its declaration is not linked with.
    ///
    /// # Safety
    /// `declared` would return the address of OpenCL's function of this name.
    pub unsafe fn typed<F>(&self, _declared: impl FnOnce() -> F) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let address = self.address.load(Ordering::Acquire);
        // SAFETY: `F` is the type of a function's address, and a function of this type is there.
        (!address.is_null()).then(|| unsafe { std::mem::transmute_copy(&address) })
    }
}

/// What a call of a function returns that the library lacks.
pub trait Missing {
    const MISSING: Self;
}

impl Missing for i32 {
    const MISSING: Self = ocl::ffi::CL_INVALID_OPERATION;
}

impl<T> Missing for *mut T {
    const MISSING: Self = null_mut();
}

/// Calls a function of OpenCL, as `ocl` declares it. If the library lacks the function, the result is an error or null.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        let declared = || {
            let function: unsafe extern "system" fn($($crate::loader::call!(@any $argument)),*) -> _ = ocl::ffi::$name;
            function
        };
        match $crate::loader::functions::$name.typed(declared) {
            Some(function) => function($($argument),*),
            None => $crate::loader::Missing::MISSING,
        }
    }};
    (@any $argument:expr) => { _ };
}
pub(crate) use call;

macro_rules! functions {
    ($($name:ident)*) => {
        #[allow(non_upper_case_globals)]
        pub mod functions {
            $(pub static $name: super::Function = super::Function {
                name: match super::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => c"",
                },
                address: super::AtomicPtr::new(super::null_mut()),
            };)*
        }

        static FUNCTIONS: &[&Function] = &[$(&functions::$name),*];
    };
}
functions! {
    clBuildProgram clCreateBuffer clCreateCommandQueue clCreateContext clCreateKernel clCreateProgramWithSource
    clEnqueueCopyBuffer clEnqueueFillBuffer clEnqueueMarkerWithWaitList clEnqueueNDRangeKernel clEnqueueReadBuffer
    clEnqueueWriteBuffer clFlush clGetDeviceIDs clGetDeviceInfo clGetEventInfo clGetPlatformIDs clGetPlatformInfo
    clGetProgramBuildInfo clReleaseCommandQueue clReleaseContext clReleaseEvent clReleaseKernel clReleaseMemObject
    clReleaseProgram clSetKernelArg clWaitForEvents
}

/// Loads OpenCL once: from the file that the environment variable `ACCEL_OPENCL_LIBRARY` names, or `libOpenCL.so.1`.
///
/// # Errors
/// `Error::Device` if it cannot be loaded.
pub fn load() -> Result<()> {
    static LOADED: OnceLock<Result<libloading::Library>> = OnceLock::new();
    LOADED.get_or_init(find).as_ref().map(|_| ()).map_err(Clone::clone)
}

fn find() -> Result<libloading::Library> {
    let chosen = std::env::var_os("ACCEL_OPENCL_LIBRARY");
    let file = chosen.clone().unwrap_or_else(|| "libOpenCL.so.1".into());
    let failed = |e: libloading::Error| {
        let advice = match chosen {
            Some(_) => "the environment variable ACCEL_OPENCL_LIBRARY names it",
            None => {
                "install an OpenCL loader (Debian, Ubuntu: ocl-icd-libopencl1) and a driver (for the processor: pocl-opencl-icd)"
            }
        };
        Error::Device(format!("cannot load it: {e}; {advice}"))
    };
    // SAFETY: it is the system's OpenCL loader, or the library that the user has named.
    let library = unsafe { libloading::Library::new(&file) }.map_err(failed)?;
    let mut found = 0;
    for f in FUNCTIONS {
        // SAFETY: the address is used only to call the function with this name in OpenCL.
        if let Ok(address) = unsafe { library.get::<*mut c_void>(f.name) } {
            f.address.store(*address, Ordering::Release);
            found += 1;
        }
    }
    if found == 0 {
        return Err(Error::Device(format!("{} is not an OpenCL library", file.to_string_lossy())));
    }
    Ok(library)
}
