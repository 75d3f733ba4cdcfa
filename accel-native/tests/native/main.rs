//! The native backend: kernels and their schedules, compilers and caches, threads, and failures of passes.

mod checks;
mod deep;
#[path = "../../../accel-fusion/tests/fusion/deep_kernels/mod.rs"]
mod deep_kernels;
mod failing_passes;
#[path = "../../../tests/core/growth/mod.rs"]
mod growth;
mod kernels;
mod nontemporal;
mod permutes;
mod products;
mod rows;
mod shared_kernels;
mod strided_products;
mod strips;
mod sums;
mod support;
mod thread_ends;
mod tiles;
