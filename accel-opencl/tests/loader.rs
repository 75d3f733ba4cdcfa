//! The functions of OpenCL are those of the library that is loaded at run time, whatever the program is linked with.

use accel_opencl::{OpenCl, devices};
use std::fs::write;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A platform with a device, without the functions that follow.
const LIBRARY: &str = "
typedef unsigned long size;
static int list(unsigned n, void **list, unsigned *found) { if (n) *list = (void *)8; if (found) *found = 1; return 0; }
static int info(size n, void *data, size *found) { if (n >= 8) *(size *)data = 1; if (found) *found = 8; return 0; }
int clGetPlatformIDs(unsigned n, void **to, unsigned *found) { return list(n, to, found); }
int clGetDeviceIDs(void *of, size type, unsigned n, void **to, unsigned *found) { return list(n, to, found); }
int clGetPlatformInfo(void *of, unsigned what, size n, void *data, size *found) { return info(n, data, found); }
int clGetDeviceInfo(void *of, unsigned what, size n, void *data, size *found) { return info(n, data, found); }
";
const CONTEXT: &str =
    "void *clCreateContext(void *p, unsigned n, void *d, void *f, void *x, int *code) { *code = 0; return (void *)8; }";

/// How often accel has called the functions below. They are those of another library with which the program is linked. They could
/// not be defined if accel defined functions with these names.
static CALLS: AtomicUsize = AtomicUsize::new(0);

#[unsafe(no_mangle)]
extern "C" fn clGetPlatformIDs() -> i32 {
    CALLS.fetch_add(1, Ordering::Relaxed);
    0
}

#[unsafe(no_mangle)]
extern "C" fn clCreateContext() -> *mut i32 {
    CALLS.fetch_add(1, Ordering::Relaxed);
    std::ptr::null_mut()
}

/// Opens the first device of a library in another process. Returns what it says.
fn opened(name: &str, source: &str) -> String {
    let path = |ending: &str| Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).with_extension(ending);
    write(path("c"), source).unwrap();
    let compiler = Command::new("cc").args(["-w", "-shared", "-fPIC", "-o"]).args([path("so"), path("c")]).status();
    assert!(compiler.expect("the tests need a C compiler").success());
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--ignored", "--exact", "open_the_first_device", "--nocapture"]);
    let output = child.env("ACCEL_OPENCL_LIBRARY", path("so")).output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn open_the_first_device() {
    let found = devices().unwrap();
    println!("{} devices, {:?}", found.len(), OpenCl::on(&found[0]).map(|_| ()).map_err(|e| e.to_string()));
    assert_eq!(CALLS.load(Ordering::Relaxed), 0);
}

/// Otherwise, what happened to be in a register was the address of an object.
#[test]
fn what_a_library_lacks_is_an_error() {
    let context = opened("no_context", LIBRARY);
    assert!(context.contains("clCreateContext: CL_INVALID_OPERATION"), "{context}");
    let queue = opened("no_queue", &[LIBRARY, CONTEXT].concat());
    assert!(queue.contains("clCreateCommandQueue: CL_INVALID_OPERATION"), "{queue}");
}

#[test]
fn functions_of_other_libraries_stay() {
    let before = CALLS.load(Ordering::Relaxed);
    assert_eq!(clGetPlatformIDs(), 0);
    assert!(clCreateContext().is_null());
    assert_eq!(CALLS.load(Ordering::Relaxed), before + 2);
}
