//! Tests of faults around a program: folders and files of other users in the code cache, compilers that are missing or
//! fail, full disks, killed processes; and of environment variables. Each test starts processes with their own environment, and expects the result of
//! a program, or an error that gives the reason.

mod cache;
mod compilers;
mod disks;
mod machine;
mod memory;
mod others;
mod threads;
mod variables;
