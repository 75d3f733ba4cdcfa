//! Transformations of nests. Each is a function from a nest to an equivalent one, or to the reason why it does not apply.
//! A loop is named by its variable.

pub mod accumulate;
pub mod bind;
pub mod copy;
pub mod hold;
pub mod interchange;
pub mod rfactor;
pub mod specialise;
pub mod split;
pub mod stage;
pub mod tidy;
pub mod unroll_jam;
pub mod vectorise;
