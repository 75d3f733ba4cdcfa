//! Calls of OpenCL. They return errors instead of codes, and objects are released when they are dropped.

use crate::loader::call;
use accel_core::error::{Error, Result};
use ocl::ffi::*;
use std::ffi::{CStr, c_void};
use std::ptr::{NonNull, null, null_mut};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

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
    pub fn buffer(&self, bytes: usize) -> std::result::Result<Mem, cl_int> {
        let mut code = NOT_SET;
        // SAFETY: no host memory is given.
        let mem = unsafe { call!(clCreateBuffer(self.0, CL_MEM_READ_WRITE, bytes, null_mut(), &mut code)) };
        if code == CL_SUCCESS { Ok(Mem::Buffer(Buffer(mem))) } else { Err(code) }
    }

    /// Memory that the host and the commands of this queue share, if the device supports this; the error code if it
    /// cannot be allocated.
    pub fn shared_memory(&self, queue: &Arc<Queue>, bytes: usize) -> std::result::Result<SharedMemory, cl_int> {
        let flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;
        // SAFETY: the context exists.
        let at = NonNull::new(unsafe { call!(clSVMAlloc(self.0, flags, bytes, 0)) });
        let at = at.ok_or(CL_MEM_OBJECT_ALLOCATION_FAILURE)?;
        // SAFETY: there are this many bytes, and nobody else uses them yet. They are initialised for the number that
        // can be stored there.
        unsafe { at.cast::<u8>().write_bytes(0, bytes.min(size_of::<u64>())) };
        Ok(SharedMemory { at, bytes, queue: queue.clone() })
    }

    /// A buffer with these numbers, for kernels to read.
    pub fn numbers(&self, numbers: &[i64]) -> Result<Mem> {
        let (mut code, bytes, data) = (NOT_SET, size_of_val(numbers), numbers.as_ptr().cast_mut().cast());
        // SAFETY: there are this many bytes. The call copies them and does not write to them.
        let mem =
            unsafe { call!(clCreateBuffer(self.0, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, data, &mut code)) };
        check("clCreateBuffer", code)?;
        Ok(Mem::Buffer(Buffer(mem)))
    }

    /// A buffer in host memory.
    ///
    /// # Safety
    /// There are this many bytes at the address. While a command with the buffer may be executed, nobody frees them and
    /// nobody uses them (or nobody writes them, if `read_only`).
    pub unsafe fn host_buffer(
        &self,
        data: *mut c_void,
        bytes: usize,
        read_only: bool,
    ) -> std::result::Result<Buffer, cl_int> {
        let access = if read_only { CL_MEM_READ_ONLY } else { CL_MEM_READ_WRITE };
        let mut code = NOT_SET;
        // SAFETY: the caller's guarantee.
        let mem = unsafe { call!(clCreateBuffer(self.0, access | CL_MEM_USE_HOST_PTR, bytes, data, &mut code)) };
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
    Buffer(Option<&'a Mem>),
    /// Shared virtual memory.
    Shared(&'a SharedMemory),
    /// Local memory of this number of bytes.
    Local(usize),
}

impl Kernel {
    /// Sets a parameter.
    pub fn set(&mut self, index: usize, value: Value) -> Result<()> {
        let raw: cl_mem;
        let (size, data): (usize, *const c_void) = match &value {
            Value::Number(n) => (8, (&raw const *n).cast()),
            Value::Buffer(Some(Mem::Seen(seen))) => return self.set_shared(index, seen),
            Value::Shared(seen) => return self.set_shared(index, seen),
            Value::Buffer(m) => {
                raw = if let Some(Mem::Buffer(m)) = m { m.0 } else { null_mut() };
                (size_of::<cl_mem>(), (&raw const raw).cast())
            }
            Value::Local(bytes) => (*bytes, null()),
        };
        // SAFETY: the value has that size, and is copied. No other thread sets parameters of this kernel object.
        check("clSetKernelArg", unsafe { call!(clSetKernelArg(self.0, index as cl_uint, size, data)) })
    }

    fn set_shared(&mut self, index: usize, seen: &SharedMemory) -> Result<()> {
        // SAFETY: shared virtual memory of the kernel's context. No other thread sets parameters of this kernel object.
        let code = unsafe { call!(clSetKernelArgSVMPointer(self.0, index as cl_uint, seen.at.as_ptr())) };
        check("clSetKernelArgSVMPointer", code)
    }
}

impl Queue {
    /// Enqueues a kernel with the parameters that were set. Returns the event of its end if `wanted`.
    ///
    /// # Safety
    /// The kernel reads and writes only within the buffers among its parameters.
    pub unsafe fn launch(
        &self,
        kernel: &Kernel,
        global: &[usize; 2],
        group: &[usize; 2],
        wanted: bool,
    ) -> Result<Option<Event>> {
        let dims = if global[1] == 1 { 1 } else { 2 };
        let (global, group) = (global.as_ptr(), group.as_ptr());
        let mut event = null_mut();
        let to = if wanted { &raw mut event } else { null_mut() };
        // SAFETY: there are sizes for this number of dimensions, and the caller's guarantee.
        let code =
            unsafe { call!(clEnqueueNDRangeKernel(self.0, kernel.0, dims, null(), global, group, 0, null(), to)) };
        check("clEnqueueNDRangeKernel", code)?;
        Ok(wanted.then(|| Event(event)))
    }

    /// Enqueues a command that fills memory with a value of 1, 2, 4, 8 or 16 bytes.
    pub fn fill(&self, to: &Mem, value: &[u8], bytes: usize) -> Result<()> {
        let (data, size) = (value.as_ptr().cast(), value.len());
        match to {
            Mem::Buffer(to) => {
                // SAFETY: the call copies the value. The buffer has this many bytes, or the call fails.
                let code =
                    unsafe { call!(clEnqueueFillBuffer(self.0, to.0, data, size, 0, bytes, 0, null(), null_mut())) };
                check("clEnqueueFillBuffer", code)
            }
            Mem::Seen(to) => {
                to.has(bytes)?;
                // SAFETY: the call copies the value, and the memory has this many bytes.
                let code = unsafe {
                    call!(clEnqueueSVMMemFill(self.0, to.at.as_ptr(), data, size, bytes, 0, null(), null_mut()))
                };
                check("clEnqueueSVMMemFill", code)
            }
        }
    }

    /// Enqueues a copy from one memory to another.
    pub fn copy(&self, from: &Mem, to: &Mem, bytes: usize) -> Result<()> {
        self.copy_to(from, to, 0, bytes)
    }

    /// As [`copy`](Self::copy), to this place in the other memory, in bytes.
    pub fn copy_to(&self, from: &Mem, to: &Mem, at: usize, bytes: usize) -> Result<()> {
        let end = at.checked_add(bytes).ok_or_else(|| Error::Internal("a place that no memory has".into()))?;
        [(from, bytes), (to, end)]
            .into_iter()
            .try_for_each(|(m, n)| if let Mem::Seen(m) = m { m.has(n) } else { Ok(()) })?;
        // SAFETY: all memory exists. The calls check the sizes of buffers; the sizes of other memory are checked above.
        let (call, code) = unsafe {
            match (from, to) {
                (Mem::Buffer(from), Mem::Buffer(to)) => {
                    let code = call!(clEnqueueCopyBuffer(self.0, from.0, to.0, 0, at, bytes, 0, null(), null_mut()));
                    ("clEnqueueCopyBuffer", code)
                }
                (Mem::Buffer(from), Mem::Seen(to)) => {
                    let to = to.at.as_ptr().byte_add(at);
                    let code =
                        call!(clEnqueueReadBuffer(self.0, from.0, CL_FALSE, 0, bytes, to, 0, null(), null_mut()));
                    ("clEnqueueReadBuffer", code)
                }
                (Mem::Seen(from), Mem::Buffer(to)) => {
                    let from = from.at.as_ptr();
                    let code =
                        call!(clEnqueueWriteBuffer(self.0, to.0, CL_FALSE, at, bytes, from, 0, null(), null_mut()));
                    ("clEnqueueWriteBuffer", code)
                }
                (Mem::Seen(from), Mem::Seen(to)) => {
                    let (from, to) = (from.at.as_ptr(), to.at.as_ptr().byte_add(at));
                    (
                        "clEnqueueSVMMemcpy",
                        call!(clEnqueueSVMMemcpy(self.0, CL_FALSE, to, from, bytes, 0, null(), null_mut())),
                    )
                }
            }
        };
        check(call, code)
    }

    /// Writes to memory, and waits until this is done.
    ///
    /// # Safety
    /// There are this many bytes at the address.
    pub unsafe fn write(&self, to: &Mem, data: *const c_void, bytes: usize) -> Result<()> {
        match to {
            Mem::Buffer(to) => {
                // SAFETY: the caller's guarantee. The call returns when the data was read.
                let code = unsafe {
                    call!(clEnqueueWriteBuffer(self.0, to.0, CL_TRUE, 0, bytes, data, 0, null(), null_mut()))
                };
                check("clEnqueueWriteBuffer", code)
            }
            Mem::Seen(to) => {
                to.has(bytes)?;
                // SAFETY: as above, and the memory has this many bytes.
                let code = unsafe {
                    call!(clEnqueueSVMMemcpy(self.0, CL_TRUE, to.at.as_ptr(), data, bytes, 0, null(), null_mut()))
                };
                check("clEnqueueSVMMemcpy", code)
            }
        }
    }

    /// Enqueues a read of memory from byte `at` on. Returns the event of its end.
    ///
    /// # Safety
    /// There are this many bytes at the address, and nobody uses or frees them until then.
    pub unsafe fn read(&self, from: &Mem, at: usize, data: *mut c_void, bytes: usize) -> Result<Event> {
        let mut event = null_mut();
        match from {
            Mem::Buffer(from) => {
                // SAFETY: the caller's guarantee.
                let code = unsafe {
                    call!(clEnqueueReadBuffer(self.0, from.0, CL_FALSE, at, bytes, data, 0, null(), &mut event))
                };
                check("clEnqueueReadBuffer", code)?;
            }
            Mem::Seen(from) => {
                from.has(at.saturating_add(bytes))?;
                // SAFETY: the caller's guarantee, and the memory has this many bytes.
                let code = unsafe {
                    let from = from.at.as_ptr().byte_add(at);
                    call!(clEnqueueSVMMemcpy(self.0, CL_FALSE, data, from, bytes, 0, null(), &mut event))
                };
                check("clEnqueueSVMMemcpy", code)?;
            }
        }
        Ok(Event(event))
    }

    /// Enqueues that the memory of a host buffer receives what the device has written. Returns the event of its end.
    pub fn publish(&self, buffer: &Buffer, bytes: usize) -> Result<Event> {
        let (mut code, mut event) = (NOT_SET, null_mut());
        // SAFETY: the buffer exists; nobody uses the address.
        let data = unsafe {
            call!(clEnqueueMapBuffer(
                self.0,
                buffer.0,
                CL_FALSE,
                CL_MAP_READ,
                0,
                bytes,
                0,
                null(),
                null_mut(),
                &mut code
            ))
        };
        check("clEnqueueMapBuffer", code)?;
        // SAFETY: the buffer is mapped at this address when the command is executed.
        let code = unsafe { call!(clEnqueueUnmapMemObject(self.0, buffer.0, data, 0, null(), &mut event)) };
        check("clEnqueueUnmapMemObject", code)?;
        Ok(Event(event))
    }

    /// An event for the end of all commands enqueued so far.
    pub fn marker(&self) -> Result<Event> {
        let mut event = null_mut();
        // SAFETY: the queue exists.
        let code = unsafe { call!(clEnqueueMarkerWithWaitList(self.0, 0, null(), &mut event)) };
        check("clEnqueueMarkerWithWaitList", code)?;
        Ok(Event(event))
    }

    /// Makes the device start.
    pub fn flush(&self) -> Result<()> {
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

/// Memory for commands.
pub enum Mem {
    /// A buffer.
    Buffer(Buffer),
    /// Shared virtual memory.
    Seen(SharedMemory),
}

/// Shared virtual memory. The host can access it when no command writes to it, and 64-bit numbers at any time:
/// fine-grained shared virtual memory with atomic operations (OpenCL 2.0, section 3.3.3).
pub struct SharedMemory {
    at: NonNull<c_void>,
    bytes: usize,
    queue: Arc<Queue>,
}

// SAFETY: an address that is passed to OpenCL, which accepts it from any thread. `SharedMemory` controls reads of the
// memory.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    fn has(&self, bytes: usize) -> Result<()> {
        if bytes <= self.bytes { Ok(()) } else { Err(Error::Internal(format!("{bytes} of {} bytes", self.bytes))) }
    }

    /// Copies the first bytes to the host's address `to`.
    ///
    /// # Errors
    /// The memory is smaller.
    ///
    /// # Safety
    /// There is room for this many bytes at the address, and no command that has not ended writes to these bytes of the
    /// memory.
    pub unsafe fn copy_to(&self, to: *mut u8, bytes: usize) -> Result<()> {
        self.has(bytes)?;
        // SAFETY: both have this many bytes, and nobody writes to either.
        unsafe { to.copy_from_nonoverlapping(self.at.as_ptr().cast(), bytes) };
        Ok(())
    }

    /// Overwrites the first bytes.
    ///
    /// # Errors
    /// The memory is smaller.
    ///
    /// # Safety
    /// There are this many bytes at the address, and no command that has not ended uses these bytes of the memory.
    pub unsafe fn copy_from(&self, from: *const u8, bytes: usize) -> Result<()> {
        self.has(bytes)?;
        // SAFETY: both have this many bytes, and nobody else uses them.
        unsafe { from.copy_to_nonoverlapping(self.at.as_ptr().cast(), bytes) };
        Ok(())
    }

    /// The number at the beginning. Commands can use it at the same time.
    ///
    /// # Errors
    /// The memory is too small for a number.
    pub fn number(&self) -> Result<&AtomicU64> {
        self.has(size_of::<AtomicU64>())?;
        // SAFETY: there is memory for it, aligned to the largest type of OpenCL. The device's operations on it are
        // atomic, too.
        Ok(unsafe { self.at.cast().as_ref() })
    }
}

impl Drop for SharedMemory {
    /// Frees the memory when all earlier commands have ended.
    fn drop(&mut self) {
        let at: *const c_void = self.at.as_ptr();
        // SAFETY: the call copies the one address, and nobody uses the memory any more. The result of the call does not
        // matter, since nothing can be done about an error.
        unsafe { call!(clEnqueueSVMFree(self.queue.0, 1, &at, None, null_mut(), 0, null(), null_mut())) };
    }
}

impl Buffer {
    /// Keeps `owner` until the buffer is destroyed. Then no command can use it any more.
    pub fn keep<T: Send + 'static>(&self, owner: T) {
        extern "C" fn destroyed<T>(_: cl_mem, owner: *mut c_void) {
            // SAFETY: the address is that of the box below, and this function is called once.
            drop(unsafe { Box::from_raw(owner.cast::<T>()) });
        }
        let owner = Box::into_raw(Box::new(owner));
        // SAFETY: the buffer exists, and `destroyed` fits the type of the owner. If the call fails, the owner is never
        // dropped, which is safe.
        unsafe { call!(clSetMemObjectDestructorCallback(self.0, Some(destroyed::<T>), owner.cast())) };
    }
}
