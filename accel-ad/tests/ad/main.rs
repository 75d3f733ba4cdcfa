//! Differentiation: its builders, deep programs, and its caches.

mod builders;
mod deep;
mod program_cache;
