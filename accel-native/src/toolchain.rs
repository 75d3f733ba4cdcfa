//! The C compiler of this machine.

use crate::cache::remove_old_work;
use crate::limited::{self, Ended};
use crate::notice::notice;
use accel_codegen::{Module, Options, Vectors};
use accel_core::error::{Error, Result};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};
use std::thread::{ScopedJoinHandle, available_parallelism};
use std::time::Duration;
use tempfile::TempDir;

// NOTE [Compiler options]: nearly all of the start-up time of a program is the time of the C compiler. So the compiler
// gets only the options from which generated code profits. The generator emits loops in their final form: names are
// bound once, nothing is computed twice, small functions are marked as inline. What the compiler can still improve is
// vectorisation, unswitching (without it, programs with strips take 1.3 to 2 times as long), complete unrolling of
// loops over a few vectors (without it, partial results of reductions are in memory), and register allocation. For GCC,
// this is `-O1` with a few passes added and a few removed. It takes half of the time of `-O3`, and the programs of the
// benchmarks run as fast.
//
// One pass of `-fexpensive-optimizations` clears the upper halves of vector registers before calls and returns (`vzeroupper`).
// Without it, libraries that are compiled for older processors, such as the C library's `tanh`, wait for each other's halves: on
// a Xeon, 0.4 µs in each call, 14 times the time of an LSTM. Programs without such calls do not get this option: the compiler
// takes an eighth longer, and the gradient of an energy of 2,000 bodies took 15 ms with it instead of 9.

/// The optimisation level of GCC, and changes to it.
const GCC_OPTIMISATION: [&str; 12] = [
    "-O1",
    "-fstrict-aliasing",
    "-ftree-loop-vectorize",
    "-fvect-cost-model=dynamic",
    "-funswitch-loops",
    "-fpeel-loops",
    "-fno-ivopts",
    "-fno-tree-bit-ccp",
    "-fno-tree-dominator-opts",
    "-fno-tree-sink",
    "-fno-tree-slsr",
    "-fira-region=one",
];
/// What GCC gets in addition for programs that call mathematical functions of the C library.
const GCC_FOR_CALLS: [&str; 1] = ["-fexpensive-optimizations"];
/// The optimisation level of other compilers.
const OPTIMISATION: [&str; 1] = ["-O3"];

/// A compiler, and how to call it.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// The program and its first arguments.
    pub command: Vec<String>,
    /// The options. They do not include fast-math: results are those of the interpreter, and loading the library does
    /// not change the floating-point state of the process. The floating-point options only remove `errno` and trap
    /// flags, which nobody reads.
    pub flags: Vec<String>,
    /// More options for programs that call mathematical functions of the C library.
    pub flags_for_calls: Vec<String>,
    /// What the machine code depends on besides the source and the options: the version of the compiler, and the
    /// processor.
    pub identity: String,
    /// Whether the C library has vector versions of the mathematical functions.
    pub vector_math: bool,
}

/// The default time limit for a call of the compiler.
const DEFAULT_LIMIT: Duration = Duration::from_secs(60);
/// The prefix of the names of compilations' working folders.
const WORK: &str = "accel-build-";

/// The compiler that `$CC` names, or else `cc`, `gcc` or `clang`. It is searched once. If there is none, a notice says
/// so.
///
/// # Errors
/// `Error::Compiler` if the compiler that `$CC` names does not run, or if `$ACCEL_CC_TIMEOUT` is not a time.
pub fn toolchain() -> Result<Option<&'static Toolchain>> {
    static FOUND: OnceLock<Result<Option<Toolchain>>> = OnceLock::new();
    FOUND.get_or_init(find).as_ref().map(Option::as_ref).map_err(Clone::clone)
}

fn find() -> Result<Option<Toolchain>> {
    // Checked first, so that a wrong limit is not reported as a missing compiler.
    limit().map_err(Error::Compiler)?;
    let chosen = std::env::var_os("CC").unwrap_or_default();
    if !chosen.to_string_lossy().trim().is_empty() {
        let found = chosen.to_str().ok_or("its name is not text".to_string()).and_then(Toolchain::new);
        let bad = |why| Error::Compiler(format!("the environment variable CC is {chosen:?}: {why}"));
        return found.map(Some).map_err(bad);
    }
    let found = ["cc", "gcc", "clang"].iter().find_map(|c| Toolchain::new(c).ok());
    if found.is_none() {
        notice("no C compiler is found (cc, gcc, clang; CC can name one): programs are interpreted, which is slower");
    }
    Ok(found)
}

/// The time limit for a call of the compiler.
fn limit() -> std::result::Result<Duration, String> {
    let Some(text) = std::env::var_os("ACCEL_CC_TIMEOUT") else { return Ok(DEFAULT_LIMIT) };
    let seconds = text.to_str().and_then(|t| t.trim().parse().ok()).filter(|s| *s > 0.0);
    let limit = seconds.and_then(|s| Duration::try_from_secs_f64(s).ok());
    limit.ok_or_else(|| format!("ACCEL_CC_TIMEOUT: expected a number of seconds above 0, found {text:?}"))
}

impl Toolchain {
    /// The options of the generator for this compiler.
    pub fn options(&self, vectors: Vectors) -> Options {
        Options { vector_math: self.vector_math, vectors }
    }

    /// The options of the compiler, also those that only some programs need.
    pub fn all_flags(&self) -> String {
        [&self.flags[..], &self.flags_for_calls].concat().join(" ")
    }

    /// The compiler of a command line such as `gcc` or `ccache gcc`.
    ///
    /// # Errors
    /// The compiler does not run.
    pub fn new(command: &str) -> std::result::Result<Toolchain, String> {
        let command: Vec<String> = command.split_whitespace().map(String::from).collect();
        let ended = run(&command, |c| {
            c.arg("--version");
        })?;
        let version = String::from_utf8_lossy(&ended.output).into_owned();
        let vector_math = has_vector_math();
        let machine = if cfg!(target_arch = "aarch64") { "-mcpu=native" } else { "-march=native" };
        let clang = version.contains("clang");
        let mut flags = if clang { OPTIMISATION.to_vec() } else { GCC_OPTIMISATION.to_vec() };
        flags.extend([
            "-std=gnu11",
            machine,
            "-fno-math-errno",
            "-fno-trapping-math",
            "-ffp-contract=off",
            "-fwrapv",
            "-w",
            "-shared",
            "-fPIC",
        ]);
        if cfg!(target_os = "linux") {
            // A missing function becomes an error of the compiler. Otherwise, its call would end the process.
            flags.push("-Wl,--no-undefined");
        }
        if vector_math && !clang {
            flags.push("-mprefer-vector-width=512");
        }
        Ok(Toolchain {
            identity: format!("{}\n{}\n{}", command.join(" "), version.lines().next().unwrap_or_default(), processor()),
            flags: flags.into_iter().map(String::from).collect(),
            flags_for_calls: GCC_FOR_CALLS.iter().filter(|_| !clang).map(|flag| (*flag).into()).collect(),
            command,
            vector_math,
        })
    }

    /// Compiles a program to a library, with as many translation units at the same time as there are cores. Returns the
    /// contents of the library, and the compiler's messages.
    ///
    /// # Errors
    /// The compiler's messages, or the reason why it did not run to its end.
    pub fn compile(&self, module: &Module) -> std::result::Result<(Vec<u8>, String), String> {
        let _span = tracing::debug_span!("C compiler", bytes = module.source.len()).entered();
        static SWEPT: Once = Once::new();
        let longest = limit()?;
        SWEPT.call_once(|| remove_old_work(WORK, 2 * longest));
        let work = work_folder().map_err(|e| format!("{}: {e}", std::env::temp_dir().display()))?;
        let (text, library) = (work.path().join("kernels.c"), work.path().join("kernels.so"));
        std::fs::write(&text, &module.source).map_err(|e| format!("{}: {e}", text.display()))?;
        let said = self.compile_file(&text, module, &library)?;
        let code = std::fs::read(&library);
        Ok((code.map_err(|e| self.unloadable_library_error(&format!("{}: {e}", library.display()), &said))?, said))
    }

    /// The message for a library that cannot be loaded although the compiler succeeded.
    pub fn unloadable_library_error(&self, why: &str, said: &str) -> String {
        let said = if said.is_empty() { String::new() } else { format!("; it said: {said}") };
        format!("what {} has made cannot be loaded: {why}{said}", self.command.join(" "))
    }

    fn compile_file(&self, source: &Path, module: &Module, library: &Path) -> std::result::Result<String, String> {
        let count = module.units;
        let more: &[String] = if module.calls_library { &self.flags_for_calls } else { &[] };
        if count == 1 {
            return self.run(|c| self.link(c.args(more), library, &[source]));
        }
        let objects: Vec<PathBuf> = (0..count).map(|k| library.with_extension(format!("{k}.o"))).collect();
        let part = |k: usize| {
            self.run(|c| {
                // Variables that several translation units use are defined in each of them.
                c.args(more).args(["-c", "-fcommon", &format!("-DPART={k}"), "-o"]).arg(&objects[k]).arg(source);
            })
        };
        // More processes than cores would only take longer, each of them, and their time is limited.
        let next = AtomicUsize::new(0);
        let some = || -> std::result::Result<(), String> {
            loop {
                match next.fetch_add(1, Ordering::Relaxed) {
                    k if k < count => _ = part(k).inspect_err(|_| next.store(count, Ordering::Relaxed))?,
                    _ => return Ok(()),
                }
            }
        };
        let processes = available_parallelism().map_or(1, NonZero::get).min(count);
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..processes).map(|_| std::thread::Builder::new().spawn_scoped(scope, some)).collect();
            let join = |t: ScopedJoinHandle<_>| t.join().unwrap_or_else(|_| Err("a panic while it ran".into()));
            let results = threads.into_iter().map(|t| t.map_or_else(|e| Err(e.to_string()), join));
            results.collect::<Vec<_>>().into_iter().collect::<std::result::Result<(), String>>()
        })?;
        let objects: Vec<&Path> = objects.iter().map(PathBuf::as_path).collect();
        self.run(|c| self.link(c, library, &objects))
    }

    fn link(&self, command: &mut Command, library: &Path, files: &[&Path]) {
        command.arg("-o").arg(library).args(files);
        // By its full name: the name without a version belongs to the development package.
        command.args(self.vector_math.then_some("-l:libmvec.so.1")).arg("-lm");
    }

    /// Runs the compiler. Returns its messages if it succeeds.
    fn run(&self, arguments: impl FnOnce(&mut Command)) -> std::result::Result<String, String> {
        let ended = run(&self.command, |command| {
            command.args(&self.flags);
            arguments(command);
        })?;
        Ok(first_lines(&ended.errors))
    }
}

/// Runs a command line with more arguments.
///
/// # Errors
/// It cannot be run, takes too long or fails.
fn run(command: &[String], arguments: impl FnOnce(&mut Command)) -> std::result::Result<Ended, String> {
    let (program, args) = command.split_first().ok_or("no compiler")?;
    let limit = limit()?;
    let mut command = Command::new(program);
    command.args(args);
    arguments(&mut command);
    let ended = limited::run(&mut command, limit).map_err(|e| format!("cannot run {program}: {e}"))?;
    let ended = ended.ok_or_else(|| {
        format!("{program} has been killed after {} s (ACCEL_CC_TIMEOUT can allow more)", limit.as_secs_f64())
    })?;
    if ended.status.success() {
        return Ok(ended);
    }
    Err(format!("{program} failed ({}): {}", ended.status, first_lines(&ended.errors)))
}

fn first_lines(said: &[u8]) -> String {
    String::from_utf8_lossy(said).lines().take(20).collect::<Vec<_>>().join("\n")
}

/// A new temporary folder that nobody else can use.
pub fn work_folder() -> std::io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.prefix(WORK).tempdir()
}

/// Whether glibc's library of vector mathematics is installed, in a version that has all the functions (2.35).
fn has_vector_math() -> bool {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
        return false;
    }
    // SAFETY: this part of the C library has no initialisers of its own.
    let Ok(library) = (unsafe { libloading::Library::new("libmvec.so.1") }) else { return false };
    // SAFETY: the symbol is only looked up, not used.
    unsafe { library.get::<*const ()>(c"_ZGVbN2v_erfc") }.is_ok()
}

/// The vector registers of this processor.
pub fn vectors() -> Vectors {
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx512f") {
            return Vectors { bytes: 64, registers: 32 };
        }
        let bytes = if std::is_x86_feature_detected!("avx") { 32 } else { 16 };
        Vectors { bytes, registers: 16 }
    }
    #[cfg(not(target_arch = "x86_64"))]
    Vectors { bytes: 16, registers: 32 }
}

/// A text that identifies this kind of processor.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let wanted = ["model name", "flags", "Features", "CPU part"];
    let first = |key: &&str| text.lines().find(|l| l.starts_with(*key)).map(String::from);
    let lines: Vec<_> = wanted.iter().filter_map(first).collect();
    format!("{} {}", std::env::consts::ARCH, lines.join(" "))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// NOTE [Compiler options]: otherwise functions for older processors are slow after code with vectors.
    #[test]
    fn vector_registers_are_cleared_before_calls_and_returns() {
        const VZEROUPPER: [u8; 3] = [0xc5, 0xf8, 0x77];
        let Some(toolchain) = toolchain().unwrap().filter(|_| std::is_x86_feature_detected!("avx")) else { return };
        let source = "double tanh(double);\n\
                      void f(double *x, int n) { for (int i = 0; i < n; i++) x[i] *= 2; x[0] = tanh(x[0]); }\n\
                      void g(double *x, int n) { for (int i = 0; i < n; i++) x[i] *= 2; }\n";
        let (library, _) = toolchain.compile(&Module { source: source.into(), units: 1, calls_library: true }).unwrap();
        assert!(library.windows(3).filter(|bytes| *bytes == VZEROUPPER).count() >= 2);
    }
}
