//! Loads OpenCL when it is first needed, so that programs start on machines without it.
//!
//! NOTE [Linking without OpenCL]: `ocl` demands to be linked with `libOpenCL`, which exists only where OpenCL is
//! installed. The build script provides an empty library instead, and this module defines a function for each of its
//! names. Each function jumps to the function of the same name in the library that [`load`] has found. No function may
//! be called before.

use accel_core::error::{Error, Result};
use std::ffi::{CStr, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The replacement of a function that the library lacks. It returns `CL_INVALID_OPERATION`.
extern "C" fn missing() -> i32 {
    -59
}

/// A function of OpenCL: its name, the address of the real one, and the function that jumps there.
struct Symbol {
    name: &'static CStr,
    slot: &'static AtomicPtr<c_void>,
    jump: unsafe extern "C" fn(),
}

macro_rules! symbols {
    ($($name:ident)*) => {
        #[allow(non_upper_case_globals)]
        mod slots {
            $(pub static $name: super::AtomicPtr<super::c_void> =
                super::AtomicPtr::new(super::missing as *const () as *mut super::c_void);)*
        }

        $(
        // SAFETY: callers declare the function as OpenCL does, and all registers are passed on unchanged. No other
        // function of the process has this name, since the library itself is not linked.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            #[cfg(target_arch = "x86_64")]
            std::arch::naked_asm!("jmp qword ptr [rip + {slot}]", slot = sym slots::$name);
            #[cfg(target_arch = "aarch64")]
            std::arch::naked_asm!(
                "adrp x16, {slot}", "ldr x16, [x16, :lo12:{slot}]", "br x16", slot = sym slots::$name
            );
        }
        )*

        /// All functions that `ocl` can call.
        static SYMBOLS: &[Symbol] = &[$(Symbol {
            name: match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            },
            slot: &slots::$name,
            jump: $name,
        }),*];
    };
}
symbols! {
    clBuildProgram clCloneKernel clCompileProgram clCreateBuffer clCreateCommandQueue clCreateCommandQueueWithProperties
    clCreateContext clCreateContextFromType clCreateFromGLBuffer clCreateFromGLRenderbuffer clCreateFromGLTexture
    clCreateFromGLTexture2D clCreateFromGLTexture3D clCreateImage clCreateImage2D clCreateImage3D clCreateKernel
    clCreateKernelsInProgram clCreatePipe clCreateProgramWithBinary clCreateProgramWithBuiltInKernels clCreateProgramWithIL
    clCreateProgramWithSource clCreateSampler clCreateSamplerWithProperties clCreateSubBuffer clCreateSubDevices
    clCreateUserEvent clEnqueueAcquireGLObjects clEnqueueBarrier clEnqueueBarrierWithWaitList clEnqueueCopyBuffer
    clEnqueueCopyBufferRect clEnqueueCopyBufferToImage clEnqueueCopyImage clEnqueueCopyImageToBuffer clEnqueueFillBuffer
    clEnqueueFillImage clEnqueueMapBuffer clEnqueueMapImage clEnqueueMarker clEnqueueMarkerWithWaitList
    clEnqueueMigrateMemObjects clEnqueueNDRangeKernel clEnqueueNativeKernel clEnqueueReadBuffer clEnqueueReadBufferRect
    clEnqueueReadImage clEnqueueReleaseGLObjects clEnqueueSVMFree clEnqueueSVMMap clEnqueueSVMMemFill clEnqueueSVMMemcpy
    clEnqueueSVMMigrateMem clEnqueueSVMUnmap clEnqueueTask clEnqueueUnmapMemObject clEnqueueWaitForEvents
    clEnqueueWriteBuffer clEnqueueWriteBufferRect clEnqueueWriteImage clFinish clFlush clGetCommandQueueInfo
    clGetContextInfo clGetDeviceAndHostTimer clGetDeviceIDs clGetDeviceInfo clGetEventInfo clGetEventProfilingInfo
    clGetExtensionFunctionAddress clGetExtensionFunctionAddressForPlatform clGetGLContextInfoKHR clGetGLObjectInfo
    clGetGLTextureInfo clGetHostTimer clGetImageInfo clGetKernelArgInfo clGetKernelInfo clGetKernelSubGroupInfo
    clGetKernelWorkGroupInfo clGetMemObjectInfo clGetPipeInfo clGetPlatformIDs clGetPlatformInfo clGetProgramBuildInfo
    clGetProgramInfo clGetSamplerInfo clGetSupportedImageFormats clLinkProgram clReleaseCommandQueue clReleaseContext
    clReleaseDevice clReleaseEvent clReleaseKernel clReleaseMemObject clReleaseProgram clReleaseSampler
    clRetainCommandQueue clRetainContext clRetainDevice clRetainEvent clRetainKernel clRetainMemObject clRetainProgram
    clRetainSampler clSVMAlloc clSVMFree clSetDefaultDeviceCommandQueue clSetEventCallback clSetKernelArg
    clSetKernelArgSVMPointer clSetKernelExecInfo clSetMemObjectDestructorCallback clSetUserEventStatus clUnloadCompiler
    clUnloadPlatformCompiler clWaitForEvents
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
    for s in SYMBOLS {
        // SAFETY: the address is used only to call the function with this name in OpenCL.
        let Ok(address) = (unsafe { library.get::<*mut c_void>(s.name) }) else { continue };
        if *address != s.jump as *const () as *mut c_void {
            s.slot.store(*address, Ordering::Release);
            found += 1;
        }
    }
    if found == 0 {
        return Err(Error::Device(format!("{} is not an OpenCL library", file.to_string_lossy())));
    }
    Ok(library)
}
