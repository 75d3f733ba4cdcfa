//! The native backend: programs are compiled by the system's C compiler, loaded, and run on all cores.
//!
//! ```text
//! typed tree --lower--> kernel program --accel-codegen--> C --cc--> shared library (cached on disk) --> arrays
//! ```
//!
//! Compiled libraries are kept in `$XDG_CACHE_HOME/accel`, or `~/.cache/accel`. The environment variable `CC` chooses the compiler;
//! where there is none, programs are interpreted, after one warning. `ACCEL_DUMP=c` prints the generated code.
//!
//! Floating-point results are those of the reference interpreter but for two things: reductions and scans of long rows combine
//! partial results (in an order that depends on sizes only, not on the number of threads), and mathematical functions of vectors
//! may differ from the scalar ones in the last places (4 at most).

mod abi;
mod buffer;
mod cache;
mod hooks;
mod library;
mod pages;
mod plan;
mod product;
mod runtime;
mod toolchain;

use accel_codegen::{Options, emit};
use accel_core::ast::Program;
use accel_core::backend::{Backend, Executable, check_argument};
use accel_core::error::{Error, Result};
use accel_core::interp::Interpreter;
use accel_core::print;
use accel_core::repr::{ArrayTuple, RawArray, RawTy};
use accel_fusion::kernel;
use runtime::Code;

/// The backend.
#[derive(Clone, Copy, Default, Debug)]
pub struct Native;

impl Backend for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn compile(&self, program: &Program) -> Result<Box<dyn Executable>> {
        let (program, _) = &accel_fusion::simplify(program)?;
        match Kernels::new(accel_fusion::lower(program))? {
            None => Interpreter.compile(program),
            Some(kernels) => {
                Ok(Box::new(Compiled { kernels, arg: program.arg().clone(), result: program.result().clone() }))
            }
        }
    }
}

/// A compiled kernel program.
pub struct Kernels {
    code: Code,
}

impl Kernels {
    /// Compiles a kernel program; `None` if this machine has no C compiler.
    ///
    /// # Errors
    /// `Error::Compiler`, and what [`kernel::verify`] says: generated code does not check what it excludes.
    pub fn new(program: kernel::Program) -> Result<Option<Kernels>> {
        kernel::verify(&program)?;
        print::dump_with("kernels", || program.to_string());
        let Some(toolchain) = toolchain::toolchain() else { return Ok(None) };
        let module = emit(&program, Options { vector_math: toolchain.vector_math });
        print::dump_with("c", || module.source.clone());
        let library = cache::library(&module, toolchain)?;
        let plan = plan::plan(&program, &module.kernels);
        Ok(Some(Kernels { code: Code { program, plan, library } }))
    }

    /// Computes the result arrays from the input arrays. The inputs must have the ranks and element types of the program.
    ///
    /// # Errors
    /// Inputs that do not fit, and everything that is checked at run time.
    pub fn run(&self, inputs: Vec<RawArray>) -> Result<Vec<RawArray>> {
        let program = &self.code.program;
        let fits = |(id, a): (&usize, &RawArray)| {
            let info = &program.arrays[*id];
            a.extents.len() == info.rank
                && a.columns.iter().map(|c| c.ty()).eq(info.columns.iter().copied())
                && a.columns.iter().all(|c| c.len() == a.size())
        };
        if inputs.len() != program.inputs.len() || !program.inputs.iter().zip(&inputs).all(fits) {
            return Err(Error::Internal("inputs that do not fit the kernel program".into()));
        }
        runtime::run(&self.code, inputs)
    }
}

/// A compiled typed program.
struct Compiled {
    kernels: Kernels,
    arg: RawTy,
    result: RawTy,
}

impl Executable for Compiled {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple> {
        check_argument(argument, &self.arg)?;
        let mut inputs = vec![];
        leaves(argument, &mut inputs);
        let mut results = self.kernels.run(inputs)?.into_iter();
        tuple(&self.result, &mut results).ok_or_else(|| Error::Internal("a program with too few results".into()))
    }
}

/// The arrays of a tuple, from left to right.
fn leaves(a: &ArrayTuple, out: &mut Vec<RawArray>) {
    match a {
        ArrayTuple::Unit => {}
        ArrayTuple::Array(a) => out.push(a.clone()),
        ArrayTuple::Pair(p) => {
            leaves(&p.0, out);
            leaves(&p.1, out);
        }
    }
}

/// The tuple of a type with the next arrays.
fn tuple(t: &RawTy, arrays: &mut impl Iterator<Item = RawArray>) -> Option<ArrayTuple> {
    Some(match t {
        RawTy::Pair(p) => {
            let first = tuple(&p.0, arrays)?;
            ArrayTuple::pair(first, tuple(&p.1, arrays)?)
        }
        RawTy::Array(_) => ArrayTuple::Array(arrays.next()?),
        RawTy::Unit | RawTy::Scalar(_) => ArrayTuple::Unit,
    })
}
