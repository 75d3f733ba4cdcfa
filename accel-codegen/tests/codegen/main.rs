//! Generation of code: nests, kernels for OpenCL, deep programs, and the size of functions.

mod deep;
mod nests;
mod opencl;
mod size;
