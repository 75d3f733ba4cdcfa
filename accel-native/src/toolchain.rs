//! The C compiler of this machine.

use crate::cache::{Work, place_for_work, remove_old_work};
use crate::files::{read, write};
use crate::limited::{self, Ended, Outcome};
use crate::processor::Kind;
use accel_codegen::{Module, Options, Vectors};
use accel_core::error::{Error, Result};
use accel_core::notice::notice;
use std::io::ErrorKind;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once, OnceLock};
use std::thread::{ScopedJoinHandle, available_parallelism};
use std::time::Duration;

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
/// A function of generated code has up to 100 KB of variables on the stack. With this, it touches each page of them in order, so a
/// stack that is too small ends at its guard page. Without it, the first access can be beyond that page, in other memory. The
/// code of functions with fewer variables than a page is the same with it; a call with 18 KB takes 1.7 µs for one element with
/// it and without.
const PROBES: &str = "-fstack-clash-protection";

/// The option for machine code for this processor only.
const THIS_PROCESSOR: &str = if cfg!(target_arch = "aarch64") { "-mcpu=native" } else { "-march=native" };

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
    /// Whether the user has named it. If it does not work at all, this is an error then.
    pub is_chosen: bool,
    /// Whether the compiler has only waited, or not even translated an empty file in time. Then it is not called any more.
    hangs: Arc<AtomicBool>,
}

/// The reason why a compiler gives nothing.
#[derive(Debug)]
pub enum Failure {
    /// It was killed after its time limit.
    Late {
        /// The text of the reason.
        why: String,
        /// Whether it has only waited.
        idle: bool,
    },
    /// This process cannot run it at the moment: there is no place for its files, or there are no more threads or processes.
    Unable(String),
    /// Anything else, such as its messages.
    Other(String),
}

impl Failure {
    /// The text of the reason.
    pub fn text(self) -> String {
        match self {
            Failure::Late { why, .. } | Failure::Unable(why) | Failure::Other(why) => why,
        }
    }
}

impl From<String> for Failure {
    fn from(why: String) -> Failure {
        Failure::Other(why)
    }
}

type Attempt<T> = std::result::Result<T, Failure>;

/// The default time limit for a call of the compiler.
const DEFAULT_LIMIT: Duration = Duration::from_secs(60);
/// The time limit for an empty file.
const EMPTY_LIMIT: Duration = Duration::from_secs(5);

/// The compiler that `$CC` names, or else `cc`, `gcc` or `clang`. It is searched once. If there is none, or none that ends within its
/// time limit, a notice says so.
///
/// # Errors
/// `Error::Compiler` if the compiler that `$CC` names does not run, or if `$ACCEL_CC_TIMEOUT` is not a time.
pub fn toolchain() -> Result<Option<&'static Toolchain>> {
    static FOUND: OnceLock<Result<Option<Toolchain>>> = OnceLock::new();
    let found = FOUND.get_or_init(find).as_ref().map_err(Clone::clone)?;
    Ok(found.as_ref().filter(|found| !found.hangs()))
}

fn find() -> Result<Option<Toolchain>> {
    // Checked first, so that a wrong limit is not reported as a missing compiler.
    limit().map_err(Error::Compiler)?;
    let chosen = std::env::var_os("CC").unwrap_or_default();
    if !chosen.to_string_lossy().trim().is_empty() {
        let found = chosen.to_str().ok_or("its name is not text".to_string().into()).and_then(Toolchain::new);
        return match found {
            Ok(found) => Ok(Some(found)),
            Err(Failure::Late { why, .. } | Failure::Unable(why)) => {
                notice(&format!("{why}: programs are interpreted, which is slower"));
                Ok(None)
            }
            Err(Failure::Other(why)) => {
                Err(Error::Compiler(format!("the environment variable CC is {chosen:?}: {why}")))
            }
        };
    }
    let mut reasons = vec![];
    for name in ["cc", "gcc", "clang"] {
        match Toolchain::new(name) {
            Ok(found) => return Ok(Some(Toolchain { is_chosen: false, ..found })),
            Err(why) => reasons.push(why.text().lines().next().unwrap_or_default().to_string()),
        }
    }
    let reasons = reasons.join("; ");
    notice(&format!("no C compiler works (CC can name one): programs are interpreted, which is slower: {reasons}"));
    Ok(None)
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

    /// The compiler for a kind of processors instead of this one.
    pub fn for_kind(&self, kind: &Kind) -> Toolchain {
        let flags = self.flags.iter().filter(|flag| **flag != THIS_PROCESSOR).cloned();
        Toolchain { flags: flags.chain(kind.option.map(String::from)).collect(), ..self.clone() }
    }

    /// The options of the compiler, also those that only some programs need.
    pub fn all_flags(&self) -> String {
        [&self.flags[..], &self.flags_for_calls].concat().join(" ")
    }

    /// The compiler of a command line such as `gcc`, `ccache gcc` or `/a path/gcc -m64`.
    ///
    /// # Errors
    /// The compiler does not run.
    pub fn new(command: &str) -> Attempt<Toolchain> {
        let command = words(command);
        let version = |flags: &[&str]| {
            run(&command, limit()?, None, |c| {
                c.args(flags).arg("--version");
            })
        };
        // A compiler that does not know the option complains, and may print its version nevertheless.
        let (ended, probes) = match version(&[PROBES]) {
            Err(Failure::Other(_)) => (version(&[])?, None),
            ended => ended.map(|e| {
                let probes = Some(PROBES).filter(|option| !String::from_utf8_lossy(&e.errors).contains(option));
                (e, probes)
            })?,
        };
        let version = String::from_utf8_lossy(&ended.output).into_owned();
        let vector_math = has_vector_math();
        let clang = version.contains("clang");
        let mut flags = if clang { OPTIMISATION.to_vec() } else { GCC_OPTIMISATION.to_vec() };
        flags.extend([
            "-std=gnu11",
            THIS_PROCESSOR,
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
        flags.extend(probes);
        Ok(Toolchain {
            identity: format!("{}\n{}\n{}", command.join(" "), version.lines().next().unwrap_or_default(), processor()),
            flags: flags.into_iter().map(String::from).collect(),
            flags_for_calls: GCC_FOR_CALLS.iter().filter(|_| !clang).map(|flag| (*flag).into()).collect(),
            command,
            vector_math,
            is_chosen: true,
            hangs: Arc::default(),
        })
    }

    /// Compiles a program to a library, with as many translation units at the same time as there are cores. Returns the
    /// contents of the library, and the compiler's messages.
    ///
    /// # Errors
    /// The compiler's messages, or the reason why it did not run to its end. If it was killed after it has only waited, or because an
    /// empty file takes too long as well, it [`hangs`](Self::hangs).
    pub fn compile(&self, module: &Module) -> Attempt<(Vec<u8>, String)> {
        let _span = tracing::debug_span!("C compiler", bytes = module.source.len()).entered();
        static SWEPT: Once = Once::new();
        let (temporary, longest) = (std::env::temp_dir(), limit()?);
        SWEPT.call_once(|| remove_old_work(&temporary, is_work, 2 * longest));
        let why = match self.compile_in(&temporary, module) {
            Err(why @ (Failure::Other(_) | Failure::Unable(_))) => why,
            ended => return ended,
        };
        if has_room(&temporary) {
            return Err(if self.works_in(&temporary) { why } else { Failure::Unable(why.text()) });
        }
        let Some(place) = place_for_work() else { return Err(Failure::Unable(why.text())) };
        remove_old_work(&place, is_work, 2 * longest);
        self.compile_in(&place, module).map_err(|also| match also {
            Failure::Late { .. } => also,
            also => {
                let both = format!("{}; then {}", why.text(), also.text());
                if has_room(&place) && self.works_in(&place) { Failure::Other(both) } else { Failure::Unable(both) }
            }
        })
    }

    /// Whether the compiler makes a library of an empty file in this place; `true` if the user has chosen it. One that was found may need
    /// other programs that are not, as without a `PATH`.
    fn works_in(&self, place: &Path) -> bool {
        let make = || -> Attempt<String> {
            let work = work_folder(place).map_err(|e| e.to_string())?;
            let (text, library) = (work.path().join("empty.c"), work.path().join("empty.so"));
            write(&text, b"").map_err(|e| e.to_string())?;
            self.run(&library, |c| self.link(c, &library, &[&text]))
        };
        self.is_chosen || make().is_ok()
    }

    /// As [`compile`](Self::compile), with the working folder in this place.
    fn compile_in(&self, place: &Path, module: &Module) -> Attempt<(Vec<u8>, String)> {
        let unable = |path: &Path, e: std::io::Error| Failure::Unable(format!("{}: {e}", path.display()));
        let work = work_folder(place).map_err(|e| unable(place, e))?;
        let (text, library) = (work.path().join("kernels.c"), work.path().join("kernels.so"));
        write(&text, module.source.as_bytes()).map_err(|e| unable(&text, e))?;
        let said = self.compile_file(&text, module, &library).inspect_err(|why| {
            if let Failure::Late { idle, .. } = why
                && (*idle || self.is_late_with_nothing(work.path()))
            {
                self.hangs.store(true, Ordering::Relaxed);
            }
        })?;
        let code = read(&library);
        Ok((code.map_err(|e| self.unloadable_library_error(&format!("{}: {e}", library.display()), &said))?, said))
    }

    /// Whether the compiler does not translate anything in time.
    pub fn hangs(&self) -> bool {
        self.hangs.load(Ordering::Relaxed)
    }

    /// Whether the compiler does not translate an empty file in time either.
    fn is_late_with_nothing(&self, work: &Path) -> bool {
        let (text, object) = (work.join("empty.c"), work.join("empty.o"));
        let compile = || {
            write(&text, b"").map_err(|e| e.to_string())?;
            run(&self.command, limit()?.min(EMPTY_LIMIT), Some(&object), |c| {
                c.arg("-c").arg("-o").arg(&object).arg(&text);
            })
        };
        matches!(compile(), Err(Failure::Late { .. }))
    }

    /// The message for a library that cannot be loaded although the compiler succeeded.
    pub fn unloadable_library_error(&self, why: &str, said: &str) -> String {
        let said = if said.is_empty() { String::new() } else { format!("; it said: {said}") };
        format!("what {} has made cannot be loaded: {why}{said}", self.command.join(" "))
    }

    fn compile_file(&self, source: &Path, module: &Module, library: &Path) -> Attempt<String> {
        let count = module.units;
        let more: &[String] = if module.calls_library { &self.flags_for_calls } else { &[] };
        if count == 1 {
            return self.run(library, |c| self.link(c.args(more), library, &[source]));
        }
        let objects: Vec<PathBuf> = (0..count).map(|k| library.with_extension(format!("{k}.o"))).collect();
        let part = |k: usize| {
            self.run(&objects[k], |c| {
                // Variables that several translation units use are defined in each of them.
                c.args(more).args(["-c", "-fcommon", &format!("-DPART={k}"), "-o"]).arg(&objects[k]).arg(source);
            })
        };
        // More processes than cores would only take longer, each of them, and their time is limited.
        let next = AtomicUsize::new(0);
        let some = || -> Attempt<()> {
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
            let join =
                |t: ScopedJoinHandle<_>| t.join().unwrap_or_else(|_| Err("a panic while it ran".to_string().into()));
            let results = threads.into_iter().map(|t| t.map_or_else(|e| Err(Failure::Unable(e.to_string())), join));
            results.collect::<Vec<_>>().into_iter().collect::<Attempt<()>>()
        })?;
        let objects: Vec<&Path> = objects.iter().map(PathBuf::as_path).collect();
        self.run(library, |c| self.link(c, library, &objects))
    }

    fn link(&self, command: &mut Command, library: &Path, files: &[&Path]) {
        command.arg("-o").arg(library).args(files);
        // By its full name: the name without a version belongs to the development package.
        command.args(self.vector_math.then_some("-l:libmvec.so.1")).arg("-lm");
    }

    /// Runs the compiler. Returns its messages if it succeeds, that is, if it makes this file in its working folder.
    fn run(&self, file: &Path, arguments: impl FnOnce(&mut Command)) -> Attempt<String> {
        let ended = run(&self.command, limit()?, Some(file), |command| {
            command.args(&self.flags);
            arguments(command);
        })?;
        Ok(first_lines(&ended.errors))
    }
}

/// Runs a command line with more arguments. It makes a file, or else it prints something.
///
/// # Errors
/// It cannot be run, takes too long or fails.
fn run(
    command: &[String],
    limit: Duration,
    file: Option<&Path>,
    arguments: impl FnOnce(&mut Command),
) -> Attempt<Ended> {
    let (program, args) = command.split_first().ok_or("no compiler".to_string())?;
    let mut command = Command::new(program);
    command.args(args);
    if let Some(work) = file.and_then(Path::parent) {
        // The compiler's own temporary files: it does not remove them if it is killed.
        command.env("TMPDIR", work);
    }
    arguments(&mut command);
    let no_process = |e: std::io::Error| match (format!("cannot run {program}: {e}"), e.kind()) {
        (why, ErrorKind::WouldBlock | ErrorKind::OutOfMemory) => Failure::Unable(why),
        (why, _) => Failure::Other(why),
    };
    let ended = match limited::run(&mut command, limit).map_err(no_process)? {
        Outcome::Ended(ended) => ended,
        Outcome::Late { idle } => {
            let seconds = limit.as_secs_f64();
            let why = format!("{program} has been killed after {seconds} s (ACCEL_CC_TIMEOUT can allow more)");
            return Err(Failure::Late { why, idle });
        }
    };
    let (success, status) = match ended.status {
        Some(status) => (status.success(), status.to_string()),
        None => {
            let made = file.map_or(!ended.output.is_empty(), Path::exists);
            (made, "its status is unknown, since this process ignores SIGCHLD".into())
        }
    };
    if success {
        return Ok(ended);
    }
    Err(format!("{program} failed ({status}): {}", first_lines(&ended.errors)).into())
}

/// The words of a command line. The first one can be the path of a file with spaces.
fn words(command: &str) -> Vec<String> {
    let command = command.trim();
    let ends = command.match_indices(char::is_whitespace).map(|(at, _)| at).chain([command.len()]);
    let path = ends.rev().find(|end| command[..*end].contains('/') && Path::new(&command[..*end]).is_file());
    let (program, rest) = command.split_at(path.unwrap_or(0));
    let program = Some(program).filter(|p| !p.is_empty());
    program.into_iter().chain(rest.split_whitespace()).map(String::from).collect()
}

fn first_lines(said: &[u8]) -> String {
    String::from_utf8_lossy(said).lines().take(20).collect::<Vec<_>>().join("\n")
}

/// The beginning of the names of working folders, and the number of random letters and digits that follow.
const WORK: (&str, usize) = ("accel-build-", 16);
/// A place without room for a file of this size has no room for a working folder.
const ROOM: usize = 16 << 20;

/// A new folder in this place that nobody else can use.
pub fn work_folder(place: &Path) -> std::io::Result<Work> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.prefix(WORK.0).rand_bytes(WORK.1).tempdir_in(place).map(Work::new)
}

/// Whether this place has room for a working folder.
fn has_room(place: &Path) -> bool {
    work_folder(place).and_then(|work| write(&work.path().join("room"), &vec![0; ROOM])).is_ok()
}

/// Whether this is the name of a working folder.
fn is_work(name: &str) -> bool {
    let random = name.strip_prefix(WORK.0);
    random.is_some_and(|r| r.len() == WORK.1 && r.bytes().all(|b| b.is_ascii_alphanumeric()))
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

    /// Otherwise, a stack that is too small is written beyond its guard page.
    #[test]
    fn each_page_of_the_stack_is_touched() {
        // `orq $0, (%rsp)` of GCC and `movq $0, (%rsp)` of Clang.
        const TOUCHES: [&[u8]; 2] = [&[0x48, 0x83, 0x0c, 0x24, 0], &[0x48, 0xc7, 0x04, 0x24, 0, 0, 0, 0]];
        let Some(toolchain) = toolchain().unwrap() else { return };
        assert!(toolchain.flags.iter().any(|flag| flag == PROBES), "GCC from 8 on and Clang from 11 on know it");
        let source = "void f(int n) { volatile double x[5000]; x[n] = 1; }\n";
        let module = Module { source: source.into(), units: 1, calls_library: false };
        let (library, _) = toolchain.compile(&module).unwrap();
        assert!(TOUCHES.iter().any(|touch| library.windows(touch.len()).any(|bytes| bytes == *touch)));
        let folder = work_folder(&std::env::temp_dir()).unwrap();
        let old = folder.path().join("old-compiler");
        let lines = "case \"$*\" in *clash*) echo \"cc: error: unrecognized $1\" >&2;; esac; exec cc --version\n";
        std::fs::write(&old, lines).unwrap();
        let old = Toolchain::new(&format!("sh {}", old.display()));
        assert!(!old.unwrap().flags.iter().any(|flag| flag == PROBES), "an older compiler");
    }
}
