//! Machines with folders of their own, and the processes of these tests.

use crate::support;
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The time limit for the processes of these tests: a process that takes longer hangs.
const LONGEST: Duration = Duration::from_secs(120);

/// The contents of an empty folder.
pub const NOTHING: [PathBuf; 0] = [];

/// The folders of a machine: a cache, temporary files, and a place for executables.
pub struct Machine {
    root: TempDir,
}

impl Machine {
    pub fn new() -> Machine {
        let machine = Machine { root: TempDir::new().unwrap() };
        for folder in ["cache", "tmp", "bin"] {
            fs::create_dir(machine.path(folder)).unwrap();
        }
        machine
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    /// The folder of the code cache.
    pub fn cache(&self) -> PathBuf {
        self.path("cache/accel")
    }

    pub fn environment(&self, command: &mut Command) {
        command.env("XDG_CACHE_HOME", self.path("cache")).env("TMPDIR", self.path("tmp"));
        for name in ["CC", "ACCEL_BACKEND", "ACCEL_QUIET", "ACCEL_CC_TIMEOUT", "ACCEL_CACHE_BYTES", "ACCEL_DUMP"] {
            command.env_remove(name);
        }
    }

    /// The process of these tests: it runs two programs of the array language, and prints and compares their results.
    pub fn program(&self) -> Command {
        let mut command = Command::new(support::example("quickstart"));
        self.environment(&mut command);
        command
    }

    /// The same, in a shell that has executed `before` first.
    pub fn program_after(&self, before: &str) -> Command {
        let mut command = Command::new("sh");
        self.environment(&mut command);
        command.arg("-c").arg(format!("{before}; exec \"$0\"")).arg(support::example("quickstart"));
        command
    }

    /// A compiler: a script that answers `--version` as `cc` does, and otherwise executes these lines.
    pub fn compiler(&self, lines: &str) -> PathBuf {
        let path = self.path("bin/compiler");
        let text = format!("#!/bin/sh\ncase \"$*\" in *--version) exec cc --version;; esac\n{lines}\n");
        fs::write(&path, text).unwrap();
        mode(&path, 0o755);
        path
    }

    /// The libraries in the cache.
    pub fn libraries(&self) -> Vec<PathBuf> {
        self.files("so")
    }

    /// The optimised programs in the cache.
    pub fn programs(&self) -> Vec<PathBuf> {
        self.files("kernels")
    }

    /// The keys of libraries in the cache.
    pub fn keys(&self) -> Vec<PathBuf> {
        self.files("key")
    }

    pub fn files(&self, extension: &str) -> Vec<PathBuf> {
        let is_one = |p: &PathBuf| p.extension().is_some_and(|e| e == extension);
        let mut all: Vec<_> = entries(&self.cache()).into_iter().filter(is_one).collect();
        all.sort();
        all
    }

    /// Fills the cache.
    pub fn fill(&self) -> Vec<PathBuf> {
        works(&mut self.program());
        let libraries = self.libraries();
        assert_eq!(libraries.len(), 2, "one for each program");
        libraries
    }
}

pub fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).map(|all| all.map(|e| e.unwrap().path()).collect()).unwrap_or_default()
}

pub fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0)
}

/// Runs a process to its end, within the time limit.
pub fn end(command: &mut Command) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > LONGEST {
            child.kill().unwrap();
            panic!("it does not end: {command:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

/// Checks that the process prints the right results. Returns its standard error.
#[track_caller]
pub fn works(command: &mut Command) -> String {
    let output = end(command);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{}: {stderr}", output.status);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("32") && stdout.contains("[4.0, 5.0, 6.0]"), "{stdout}");
    stderr
}

/// The error with which the process ends. It must be an error, and neither a panic nor a signal.
#[track_caller]
pub fn fails(command: &mut Command) -> String {
    let output = end(command);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.signal(), None, "{stderr}");
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}

/// The key in the name of a file of the cache.
pub fn key(file: &Path) -> Vec<u8> {
    let digits = file.file_stem().unwrap().to_str().unwrap();
    (0..digits.len()).step_by(2).map(|k| u8::from_str_radix(&digits[k..k + 2], 16).unwrap()).collect()
}

/// The bytes of this file of the cache, if these are its contents.
pub fn with_digest(file: &Path, mut contents: Vec<u8>) -> Vec<u8> {
    let digest = Sha256::new().chain_update(key(file)).chain_update(&contents).finalize();
    contents.extend_from_slice(&digest);
    contents
}

/// Writes a file with these permissions.
pub fn write(file: &Path, code: &[u8], as_mode: u32) {
    fs::write(file, code).unwrap();
    mode(file, as_mode);
}
