//! The evals: one module for each, with its program and the JSON form of its input and its output.

pub mod ba;
pub mod det;
pub mod gmm;
pub mod hello;
pub mod ht;
pub mod kmeans;
pub mod llsq;
pub mod lse;
pub mod lstm;
pub mod ode;
pub mod particle;
pub mod saddle;

use crate::module::Module;
use accel::backend::Backend;
use accel::prelude::*;

/// The evals of this tool, each with the function that makes its module. This takes as long as compilation.
pub const EVALS: &[(&str, fn(&'static dyn Backend) -> Result<Module, Error>)] = &[
    ("ba", ba::module),
    ("det", det::module),
    ("gmm", gmm::module),
    ("hello", hello::module),
    ("ht", ht::module),
    ("kmeans", kmeans::module),
    ("llsq", llsq::module),
    ("lse", lse::module),
    ("lstm", lstm::module),
    ("ode", ode::module),
    ("particle", particle::module),
    ("saddle", saddle::module),
];
