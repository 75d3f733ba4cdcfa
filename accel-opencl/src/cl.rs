//! Calls of OpenCL. They return errors instead of codes, and objects are released when they are dropped.

use crate::loader::call;
use accel_core::error::{Error, Result};
use ocl::ffi::*;
use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

macro_rules! objects {
    ($($(#[$doc:meta])* $name:ident $raw:ty, $release:ident;)*) => {$(
        $(#[$doc])*
        pub struct $name($raw);

        // SAFETY: OpenCL counts references to its objects with atomic operations. All calls except `clSetKernelArg` are
        // allowed from any thread at any time, and that one needs a `&mut Kernel`.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the object exists and is not used any more. The result of the call does not matter, since
                // nothing can be done about an error.
                unsafe { call!($release(self.0)) };
            }
        }
    )*};
}
objects! {
    /// A context.
    Context cl_context, clReleaseContext;
    /// An in-order queue of commands.
    Queue cl_command_queue, clReleaseCommandQueue;
    /// A built program.
    Program cl_program, clReleaseProgram;
    /// A kernel object with its arguments.
    Kernel cl_kernel, clReleaseKernel;
    /// A buffer.
    Buffer cl_mem, clReleaseMemObject;
    /// The event of a command.
    Event cl_event, clReleaseEvent;
}

/// The code of a call that has not set one: the library lacks the function.
const NOT_SET: cl_int = CL_INVALID_OPERATION;

macro_rules! errors {
    ($($name:ident)*) => { const ERRORS: &[(cl_int, &str)] = &[$(($name, stringify!($name))),*]; };
}
errors! {
    CL_DEVICE_NOT_FOUND CL_DEVICE_NOT_AVAILABLE CL_COMPILER_NOT_AVAILABLE CL_MEM_OBJECT_ALLOCATION_FAILURE
    CL_OUT_OF_RESOURCES CL_OUT_OF_HOST_MEMORY CL_PROFILING_INFO_NOT_AVAILABLE CL_MEM_COPY_OVERLAP
    CL_BUILD_PROGRAM_FAILURE CL_MAP_FAILURE CL_MISALIGNED_SUB_BUFFER_OFFSET
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST CL_INVALID_VALUE CL_INVALID_DEVICE_TYPE CL_INVALID_PLATFORM
    CL_INVALID_DEVICE CL_INVALID_CONTEXT CL_INVALID_QUEUE_PROPERTIES CL_INVALID_COMMAND_QUEUE CL_INVALID_HOST_PTR
    CL_INVALID_MEM_OBJECT CL_INVALID_BINARY CL_INVALID_BUILD_OPTIONS CL_INVALID_PROGRAM CL_INVALID_PROGRAM_EXECUTABLE
    CL_INVALID_KERNEL_NAME CL_INVALID_KERNEL_DEFINITION CL_INVALID_KERNEL CL_INVALID_ARG_INDEX CL_INVALID_ARG_VALUE
    CL_INVALID_ARG_SIZE CL_INVALID_KERNEL_ARGS CL_INVALID_WORK_DIMENSION CL_INVALID_WORK_GROUP_SIZE
    CL_INVALID_WORK_ITEM_SIZE CL_INVALID_GLOBAL_OFFSET CL_INVALID_EVENT_WAIT_LIST CL_INVALID_EVENT
    CL_INVALID_OPERATION CL_INVALID_BUFFER_SIZE CL_INVALID_GLOBAL_WORK_SIZE CL_INVALID_PROPERTY
    CL_PLATFORM_NOT_FOUND_KHR
}

/// OpenCL's name of an error.
fn name(code: cl_int) -> String {
    let known = ERRORS.iter().find(|(known, _)| *known == code);
    known.map_or_else(|| format!("error {code}"), |(_, name)| (*name).into())
}

/// Whether the error means a lack of memory.
pub fn is_memory(code: cl_int) -> bool {
    [CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY, CL_INVALID_BUFFER_SIZE]
        .contains(&code)
}

/// The error of a call.
pub fn error(call: &str, code: cl_int) -> Error {
    let lost = matches!(code, CL_DEVICE_NOT_AVAILABLE | CL_INVALID_COMMAND_QUEUE | CL_INVALID_CONTEXT);
    let advice = if is_memory(code) {
        ": the device has too little memory"
    } else if lost {
        ": the device does not answer any more"
    } else {
        ""
    };
    Error::Device(format!("{call}: {}{advice}", name(code)))
}

fn check(call: &str, code: cl_int) -> Result<()> {
    if code == CL_SUCCESS { Ok(()) } else { Err(error(call, code)) }
}

/// All platforms. There are none if there is no driver.
pub fn platforms() -> Result<Vec<cl_platform_id>> {
    list("clGetPlatformIDs", |n, list, found| {
        // SAFETY: `list` has room for `n` platforms.
        match unsafe { call!(clGetPlatformIDs(n, list, found)) } {
            // CL_PLATFORM_NOT_FOUND_KHR
            -1001 => CL_SUCCESS,
            code => code,
        }
    })
}

/// All devices of a platform.
pub fn device_ids(platform: cl_platform_id) -> Result<Vec<cl_device_id>> {
    list("clGetDeviceIDs", |n, list, found| {
        // SAFETY: the platform exists, and `list` has room for `n` devices.
        match unsafe { call!(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, list, found)) } {
            CL_DEVICE_NOT_FOUND => CL_SUCCESS,
            code => code,
        }
    })
}

/// Queries the length of a list, and then the list.
fn list<T>(call: &str, ask: impl Fn(cl_uint, *mut *mut T, *mut cl_uint) -> cl_int) -> Result<Vec<*mut T>> {
    let mut n = 0;
    check(call, ask(0, null_mut(), &mut n))?;
    let mut found = vec![null_mut(); n as usize];
    if n > 0 {
        check(call, ask(n, found.as_mut_ptr(), &mut n))?;
    }
    Ok(found)
}

/// A property of a platform, as text.
pub fn platform_text(platform: cl_platform_id, what: cl_platform_info) -> Result<String> {
    // SAFETY: the platform exists, and `data` has `n` bytes.
    text("clGetPlatformInfo", |n, data, size| unsafe { call!(clGetPlatformInfo(platform, what, n, data, size)) })
}

/// A property of a device, as text.
pub fn device_text(device: cl_device_id, what: cl_device_info) -> Result<String> {
    // SAFETY: the device exists, and `data` has `n` bytes.
    text("clGetDeviceInfo", |n, data, size| unsafe { call!(clGetDeviceInfo(device, what, n, data, size)) })
}

fn text(call: &str, ask: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> Result<String> {
    let mut n = 0;
    check(call, ask(0, null_mut(), &mut n))?;
    let mut bytes = vec![0u8; n];
    check(call, ask(n, bytes.as_mut_ptr().cast(), &mut n))?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_end_matches('\0').trim().to_string())
}

/// A property of a device, as a number of at most 64 bits.
pub fn device_number(device: cl_device_id, what: cl_device_info) -> Result<u64> {
    let mut number = 0u64;
    // SAFETY: the device exists, and the number has 8 bytes. If the answer is shorter, the other bytes are 0 (the
    // machine is little-endian, like all machines with OpenCL drivers).
    check("clGetDeviceInfo", unsafe { call!(clGetDeviceInfo(device, what, 8, (&raw mut number).cast(), null_mut())) })?;
    Ok(number)
}

impl Context {
    /// A context for one device.
    pub fn new(device: cl_device_id) -> Result<Context> {
        let mut code = NOT_SET;
        // SAFETY: one device, which exists.
        let context = unsafe { call!(clCreateContext(null(), 1, &device, None, null_mut(), &mut code)) };
        check("clCreateContext", code)?;
        Ok(Context(context))
    }

    /// An in-order queue.
    pub fn queue(&self, device: cl_device_id) -> Result<Queue> {
        let mut code = NOT_SET;
        // SAFETY: the device belongs to the context.
        let queue = unsafe { call!(clCreateCommandQueue(self.0, device, 0, &mut code)) };
        check("clCreateCommandQueue", code)?;
        Ok(Queue(queue))
    }

    /// Builds a program.
    ///
    /// # Errors
    /// The build log with the lines that it names.
    pub fn build(&self, device: cl_device_id, source: &str, options: &CStr) -> Result<Program> {
        let (mut code, text, length) = (NOT_SET, source.as_ptr().cast(), source.len());
        // SAFETY: a single text of this length.
        let program = unsafe { call!(clCreateProgramWithSource(self.0, 1, &text, &length, &mut code)) };
        check("clCreateProgramWithSource", code)?;
        let program = Program(program);
        // SAFETY: the program and the device exist. Without a callback, the call returns when the program is built.
        let code = unsafe { call!(clBuildProgram(program.0, 1, &device, options.as_ptr(), None, null_mut())) };
        let log = self::text("clGetProgramBuildInfo", |n, data, size| {
            // SAFETY: the program and the device exist, and `data` has `n` bytes.
            unsafe { call!(clGetProgramBuildInfo(program.0, device, CL_PROGRAM_BUILD_LOG, n, data, size)) }
        })?;
        if code == CL_SUCCESS {
            tracing::trace!(log, "built");
            return Ok(program);
        }
        let lines = named_lines(&log, source);
        Err(Error::Device(format!("building the generated kernels: {}\n{log}\n{lines}", name(code))))
    }

    /// A buffer in device memory, or the error code if it cannot be created.
    pub fn buffer(&self, bytes: usize) -> std::result::Result<Buffer, cl_int> {
        let mut code = NOT_SET;
        // SAFETY: no host memory is given.
        let mem = unsafe { call!(clCreateBuffer(self.0, CL_MEM_READ_WRITE, bytes, null_mut(), &mut code)) };
        if code == CL_SUCCESS { Ok(Buffer(mem)) } else { Err(code) }
    }
}

/// The lines of the source whose numbers occur in a log.
fn named_lines(log: &str, source: &str) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let mut named: Vec<usize> =
        log.split(':').filter_map(|part| part.trim().parse().ok()).filter(|n| (1..=lines.len()).contains(n)).collect();
    named.sort_unstable();
    named.dedup();
    named.iter().take(20).map(|n| format!("{n:5} | {}\n", lines[n - 1])).collect()
}

impl Program {
    /// A kernel object.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let mut code = NOT_SET;
        let name = std::ffi::CString::new(name).map_err(|_| Error::Internal("a kernel name with a zero".into()))?;
        // SAFETY: the program exists and was built.
        let kernel = unsafe { call!(clCreateKernel(self.0, name.as_ptr(), &mut code)) };
        check("clCreateKernel", code)?;
        Ok(Kernel(kernel))
    }
}

/// A value for a parameter of a kernel.
pub enum Value<'a> {
    /// A number.
    Number(i64),
    /// A buffer, or `None` for an array without elements.
    Buffer(Option<&'a Buffer>),
    /// Local memory of this number of bytes.
    Local(usize),
}

impl Kernel {
    /// Sets a parameter.
    pub fn set(&mut self, index: usize, value: Value) -> Result<()> {
        let raw: cl_mem;
        let (size, data): (usize, *const c_void) = match &value {
            Value::Number(n) => (8, (&raw const *n).cast()),
            Value::Buffer(m) => {
                raw = m.map_or(null_mut(), |m| m.0);
                (size_of::<cl_mem>(), (&raw const raw).cast())
            }
            Value::Local(bytes) => (*bytes, null()),
        };
        // SAFETY: the value has that size, and is copied. No other thread sets parameters of this kernel object.
        check("clSetKernelArg", unsafe { call!(clSetKernelArg(self.0, index as cl_uint, size, data)) })
    }
}

/// NOTE [One command at a time]: OpenCL allows several threads to enqueue commands at the same time. With NVIDIA's driver 580, a
/// process in which two threads did so crashed within 90 s, in a thread of the driver that freed memory which was not its own; with one
/// thread, the same programs ran to the end. So threads take turns.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue {
    /// Enqueues a kernel with the parameters that were set.
    ///
    /// # Safety
    /// The kernel reads and writes only within the buffers among its parameters.
    pub unsafe fn launch(&self, kernel: &Kernel, global: &[usize; 2], group: &[usize; 2]) -> Result<()> {
        let dims = if global[1] == 1 { 1 } else { 2 };
        let (global, group) = (global.as_ptr(), group.as_ptr());
        let _turn = turn();
        // SAFETY: there are sizes for this number of dimensions, and the caller's guarantee.
        let code = unsafe {
            call!(clEnqueueNDRangeKernel(self.0, kernel.0, dims, null(), global, group, 0, null(), null_mut()))
        };
        check("clEnqueueNDRangeKernel", code)
    }

    /// Enqueues a command that fills memory with a value of 1, 2, 4, 8 or 16 bytes.
    pub fn fill(&self, to: &Buffer, value: &[u8], bytes: usize) -> Result<()> {
        let (data, size) = (value.as_ptr().cast(), value.len());
        let _turn = turn();
        // SAFETY: the call copies the value. The buffer has this many bytes, or the call fails.
        let code = unsafe { call!(clEnqueueFillBuffer(self.0, to.0, data, size, 0, bytes, 0, null(), null_mut())) };
        check("clEnqueueFillBuffer", code)
    }

    /// Enqueues a copy from one memory to another.
    pub fn copy(&self, from: &Buffer, to: &Buffer, bytes: usize) -> Result<()> {
        self.copy_to(from, to, 0, bytes)
    }

    /// As [`copy`](Self::copy), to this place in the other memory, in bytes.
    pub fn copy_to(&self, from: &Buffer, to: &Buffer, at: usize, bytes: usize) -> Result<()> {
        let _turn = turn();
        // SAFETY: both buffers exist, and the call checks their sizes.
        let code = unsafe { call!(clEnqueueCopyBuffer(self.0, from.0, to.0, 0, at, bytes, 0, null(), null_mut())) };
        check("clEnqueueCopyBuffer", code)
    }

    /// Writes to memory, and waits until this is done.
    ///
    /// # Safety
    /// There are this many bytes at the address.
    pub unsafe fn write(&self, to: &Buffer, data: *const c_void, bytes: usize) -> Result<()> {
        let _turn = turn();
        // SAFETY: the caller's guarantee. The call returns when the data was read.
        let code = unsafe { call!(clEnqueueWriteBuffer(self.0, to.0, CL_TRUE, 0, bytes, data, 0, null(), null_mut())) };
        check("clEnqueueWriteBuffer", code)
    }

    /// Enqueues a read of memory from byte `at` on. Returns the event of its end.
    ///
    /// # Safety
    /// There are this many bytes at the address, and nobody uses or frees them until then.
    pub unsafe fn read(&self, from: &Buffer, at: usize, data: *mut c_void, bytes: usize) -> Result<Event> {
        let mut event = null_mut();
        let _turn = turn();
        // SAFETY: the caller's guarantee.
        let code =
            unsafe { call!(clEnqueueReadBuffer(self.0, from.0, CL_FALSE, at, bytes, data, 0, null(), &mut event)) };
        check("clEnqueueReadBuffer", code)?;
        Ok(Event(event))
    }

    /// An event for the end of all commands enqueued so far.
    pub fn marker(&self) -> Result<Event> {
        let mut event = null_mut();
        let _turn = turn();
        // SAFETY: the queue exists.
        let code = unsafe { call!(clEnqueueMarkerWithWaitList(self.0, 0, null(), &mut event)) };
        check("clEnqueueMarkerWithWaitList", code)?;
        Ok(Event(event))
    }

    /// Makes the device start.
    pub fn flush(&self) -> Result<()> {
        let _turn = turn();
        // SAFETY: the queue exists.
        check("clFlush", unsafe { call!(clFlush(self.0)) })
    }
}

impl Event {
    /// Waits for the end of the command.
    ///
    /// # Errors
    /// The command failed.
    pub fn wait(&self) -> Result<()> {
        // SAFETY: one event, which exists.
        check("clWaitForEvents", unsafe { call!(clWaitForEvents(1, &self.0)) })
    }

    /// Whether the command has ended.
    pub fn is_complete(&self) -> bool {
        let (mut status, data): (cl_int, _) = (CL_QUEUED, CL_EVENT_COMMAND_EXECUTION_STATUS);
        // SAFETY: the event exists, and the status has 4 bytes.
        let code = unsafe { call!(clGetEventInfo(self.0, data, 4, (&raw mut status).cast(), null_mut())) };
        code == CL_SUCCESS && status <= CL_COMPLETE
    }
}
