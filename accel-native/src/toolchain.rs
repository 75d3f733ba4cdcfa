//! The C compiler of this machine.

use accel_codegen::{Vectors, parts};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

// NOTE [What the compiler is asked to do]
// Nearly all of the time that a program takes to start is the compiler's, so it is asked for what this code profits from and for nothing
// else. Loops come out in the form that they should have: names are bound once, nothing is computed twice, small functions are marked
// as inline. What is left to gain is vectors, the choice between versions of a loop by a condition that does not change in it (without
// it programs with strips take 1.3 to 2 times as long), loops over a few vectors that are written out (without it partial results
// of reductions are in memory), and registers. For GCC that is `-O1` with a few passes more and a few less, which takes half of the
// time of `-O3`; the programs of the benchmarks run as fast.

/// The level of optimisation and changes to it, for GCC.
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
/// The same for other compilers.
const OPTIMISATION: [&str; 1] = ["-O3"];

/// A compiler and how it is called.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// The program and its first arguments.
    pub command: Vec<String>,
    /// The options. No fast-math: results are those of the interpreter, and loading the code leaves the floating-point state of
    /// the process alone. The options that are there leave out only `errno` and trap flags, which nobody reads.
    pub flags: Vec<String>,
    /// What the machine code depends on besides the source and the options: the compiler's version and the processor.
    pub identity: String,
    /// Whether the C library has vector versions of the mathematical functions.
    pub vector_math: bool,
}

/// The compiler that `$CC` names, or `cc`, `gcc` or `clang`; looked for once.
pub fn toolchain() -> Option<&'static Toolchain> {
    static FOUND: OnceLock<Option<Toolchain>> = OnceLock::new();
    FOUND
        .get_or_init(|| {
            let chosen = std::env::var("CC").unwrap_or_default();
            let candidates = [chosen.as_str(), "cc", "gcc", "clang"];
            let found = candidates.iter().find_map(|c| Toolchain::new(c));
            if found.is_none() {
                tracing::warn!(
                    "no C compiler found (tried $CC, cc, gcc, clang): programs are interpreted, which is slow"
                );
            }
            found
        })
        .as_ref()
}

impl Toolchain {
    /// The compiler of a command line such as `gcc` or `ccache gcc`; `None` if it does not run.
    pub fn new(command: &str) -> Option<Toolchain> {
        let command: Vec<String> = command.split_whitespace().map(String::from).collect();
        let (program, args) = command.split_first()?;
        let version = Command::new(program).args(args).arg("--version").output().ok().filter(|o| o.status.success())?;
        let version = String::from_utf8_lossy(&version.stdout).into_owned();
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
            // What is missing is an error of the compiler, not the end of the process when it is called.
            flags.push("-Wl,--no-undefined");
        }
        if vector_math && !clang {
            flags.push("-mprefer-vector-width=512");
        }
        Some(Toolchain {
            identity: format!("{}\n{}\n{}", command.join(" "), version.lines().next().unwrap_or_default(), processor()),
            flags: flags.into_iter().map(String::from).collect(),
            command,
            vector_math,
        })
    }

    /// Compiles a file to a library, its parts at the same time.
    ///
    /// # Errors
    /// What the compiler said.
    pub fn compile(&self, source: &Path, library: &Path) -> Result<(), String> {
        let text = std::fs::read_to_string(source).map_err(|e| format!("{}: {e}", source.display()))?;
        let count = parts::count(&text);
        if count == 1 {
            return self.run(|c| self.link(c, library, &[source]));
        }
        let objects: Vec<PathBuf> = (0..count).map(|k| library.with_extension(format!("{k}.o"))).collect();
        let part = |k: usize| {
            self.run(|c| {
                // Variables that several parts use are defined in each of them.
                c.args(["-c", "-fcommon", &format!("-DPART={k}"), "-o"]).arg(&objects[k]).arg(source);
            })
        };
        let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
            let part = &part;
            let threads: Vec<_> = (0..count).map(|k| scope.spawn(move || part(k))).collect();
            threads
                .into_iter()
                .map(|t| t.join().unwrap_or_else(|_| Err("the compiler could not be run".into())))
                .collect()
        });
        results.into_iter().collect::<Result<(), String>>()?;
        let objects: Vec<&Path> = objects.iter().map(PathBuf::as_path).collect();
        self.run(|c| self.link(c, library, &objects))
    }

    fn link(&self, command: &mut Command, library: &Path, files: &[&Path]) {
        command.arg("-o").arg(library).args(files);
        // By its full name: the name without a number is that of the development package.
        command.args(self.vector_math.then_some("-l:libmvec.so.1")).arg("-lm");
    }

    fn run(&self, arguments: impl FnOnce(&mut Command)) -> Result<(), String> {
        let (program, args) = self.command.split_first().ok_or("no compiler")?;
        let mut command = Command::new(program);
        command.args(args).args(&self.flags);
        arguments(&mut command);
        let output = command.output().map_err(|e| format!("cannot run {program}: {e}"))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("{program} failed ({}): {}", output.status, said.lines().take(20).collect::<Vec<_>>().join("\n")))
    }
}

/// Whether glibc's vector mathematics is there, in a version that has all the functions (2.35).
fn has_vector_math() -> bool {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
        return false;
    }
    // SAFETY: a part of the C library without initialisers of its own.
    let Ok(library) = (unsafe { libloading::Library::new("libmvec.so.1") }) else { return false };
    // SAFETY: only whether the symbol exists is looked at.
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

/// What tells this processor from others.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let wanted = ["model name", "flags", "Features", "CPU part"];
    let first = |key: &&str| text.lines().find(|l| l.starts_with(*key)).map(String::from);
    let lines: Vec<_> = wanted.iter().filter_map(first).collect();
    format!("{} {}", std::env::consts::ARCH, lines.join(" "))
}
