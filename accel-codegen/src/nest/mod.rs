//! Loop nests: the representation of kernels between the kernel program and the text of C and OpenCL C.
//!
//! ```text
//! operation --lower--> naive nest --schedule: transformations--> nest --write--> C, OpenCL C
//! ```
//!
//! A nest has loops, scalar code, and numbers in buffers ([`ir`]). Its text form is in [`mod@print`] and [`parse`]; [`verify`]
//! checks what the writer relies on, and [`divided`] that tasks, groups and items do all of the work and none of it twice;
//! [`eval`] says what a nest means, and finds [`races`]. [Transformations](transform) are equations: each
//! makes an equivalent nest, or says why it does not apply. [`schedule`] is the lists of transformations for each kind of
//! operation.

pub mod divided;
pub mod edit;
pub mod eval;
pub mod independent;
pub mod ir;
pub mod lower;
pub mod parse;
pub mod print;
pub mod races;
pub mod schedule;
pub mod strip_sums;
pub mod tiled_sums;
pub mod transform;
pub mod verify;
