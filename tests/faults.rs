//! Tests of faults around a program: folders and files of other users in the code cache, compilers that are missing or
//! fail, full disks, killed processes. Each test starts processes with their own environment, and expects the result of
//! a program, or an error that gives the reason.
#![cfg(unix)]

mod support;

use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

/// The time limit for the processes of these tests: a process that takes longer hangs.
const LONGEST: Duration = Duration::from_secs(120);

/// The contents of an empty folder.
const NOTHING: [PathBuf; 0] = [];

/// The folders of a machine: a cache, temporary files, and a place for executables.
struct Machine {
    root: TempDir,
}

impl Machine {
    fn new() -> Machine {
        let machine = Machine { root: TempDir::new().unwrap() };
        for folder in ["cache", "tmp", "bin"] {
            fs::create_dir(machine.path(folder)).unwrap();
        }
        machine
    }

    fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    /// The folder of the code cache.
    fn cache(&self) -> PathBuf {
        self.path("cache/accel")
    }

    fn environment(&self, command: &mut Command) {
        command.env("XDG_CACHE_HOME", self.path("cache")).env("TMPDIR", self.path("tmp"));
        for name in ["CC", "ACCEL_BACKEND", "ACCEL_QUIET", "ACCEL_CC_TIMEOUT", "ACCEL_CACHE_BYTES", "ACCEL_DUMP"] {
            command.env_remove(name);
        }
    }

    /// The process of these tests: it runs two programs of the array language, and prints and compares their results.
    fn program(&self) -> Command {
        let mut command = Command::new(support::example("quickstart"));
        self.environment(&mut command);
        command
    }

    /// The same, in a shell that has executed `before` first.
    fn program_after(&self, before: &str) -> Command {
        let mut command = Command::new("sh");
        self.environment(&mut command);
        command.arg("-c").arg(format!("{before}; exec \"$0\"")).arg(support::example("quickstart"));
        command
    }

    /// A compiler: a script that answers `--version` as `cc` does, and otherwise executes these lines.
    fn compiler(&self, lines: &str) -> PathBuf {
        let path = self.path("bin/compiler");
        let text = format!("#!/bin/sh\ncase \"$*\" in *--version) exec cc --version;; esac\n{lines}\n");
        fs::write(&path, text).unwrap();
        mode(&path, 0o755);
        path
    }

    /// The libraries in the cache.
    fn libraries(&self) -> Vec<PathBuf> {
        self.files("so")
    }

    /// The optimised programs in the cache.
    fn programs(&self) -> Vec<PathBuf> {
        self.files("kernels")
    }

    /// The keys of libraries in the cache.
    fn keys(&self) -> Vec<PathBuf> {
        self.files("key")
    }

    fn files(&self, extension: &str) -> Vec<PathBuf> {
        let is_one = |p: &PathBuf| p.extension().is_some_and(|e| e == extension);
        let mut all: Vec<_> = entries(&self.cache()).into_iter().filter(is_one).collect();
        all.sort();
        all
    }

    /// Fills the cache.
    fn fill(&self) -> Vec<PathBuf> {
        works(&mut self.program());
        let libraries = self.libraries();
        assert_eq!(libraries.len(), 2, "one for each program");
        libraries
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).map(|all| all.map(|e| e.unwrap().path()).collect()).unwrap_or_default()
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0)
}

/// Runs a process to its end, within the time limit.
fn end(command: &mut Command) -> Output {
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
fn works(command: &mut Command) -> String {
    let output = end(command);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{}: {stderr}", output.status);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("32") && stdout.contains("[4.0, 5.0, 6.0]"), "{stdout}");
    stderr
}

/// The error with which the process ends. It must be an error, and neither a panic nor a signal.
#[track_caller]
fn fails(command: &mut Command) -> String {
    let output = end(command);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.signal(), None, "{stderr}");
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}

/// A library that creates a file when it is loaded, in the form of this file of the cache.
fn planted(machine: &Machine, file: &Path, marker: &Path) -> Vec<u8> {
    let (source, library) = (machine.path("plant.c"), machine.path("plant.so"));
    let open = format!("open(\"{}\", O_CREAT | O_WRONLY, 0600)", marker.display());
    let text = format!(
        "#include <fcntl.h>\n__attribute__((constructor)) static void f(void) {{ {open}; }}\n\
         int accel_run(void *r) {{ return 1; }}\n"
    );
    fs::write(&source, text).unwrap();
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status().unwrap();
    assert!(built.success());
    with_digest(file, fs::read(&library).unwrap())
}

/// The key in the name of a file of the cache.
fn key(file: &Path) -> Vec<u8> {
    let digits = file.file_stem().unwrap().to_str().unwrap();
    (0..digits.len()).step_by(2).map(|k| u8::from_str_radix(&digits[k..k + 2], 16).unwrap()).collect()
}

/// The bytes of this file of the cache, if these are its contents.
fn with_digest(file: &Path, mut contents: Vec<u8>) -> Vec<u8> {
    let digest = Sha256::new().chain_update(key(file)).chain_update(&contents).finalize();
    contents.extend_from_slice(&digest);
    contents
}

// ---- files of others

/// Puts libraries for both programs into the cache, as `plant` says. Returns whether a process loaded one of them; the
/// process must work.
#[track_caller]
fn runs_what_is_planted(plant: impl Fn(&Machine, &Path, &[u8])) -> (bool, String) {
    let machine = Machine::new();
    let libraries = machine.fill();
    let marker = machine.path("marker");
    for file in &libraries {
        let code = planted(&machine, file, &marker);
        fs::remove_file(file).unwrap();
        plant(&machine, file, &code);
    }
    let output = end(&mut machine.program());
    let loaded = marker.exists();
    if !loaded {
        // A second process, which must not fail because of what the first one has left.
        works(&mut machine.program());
        assert!(output.status.success() && !marker.exists());
    }
    (loaded, String::from_utf8(output.stderr).unwrap())
}

fn write(file: &Path, code: &[u8], as_mode: u32) {
    fs::write(file, code).unwrap();
    mode(file, as_mode);
}

/// A library in the user's own folder is loaded. So the libraries of the other tests would run if they were loaded.
#[test]
fn what_the_user_has_put_there_is_loaded() {
    assert!(runs_what_is_planted(|_, file, code| write(file, code, 0o600)).0);
}

#[test]
fn a_library_in_a_folder_that_all_can_write_to_is_not_loaded() {
    let (loaded, said) = runs_what_is_planted(|machine, file, code| {
        write(file, code, 0o600);
        mode(&machine.cache(), 0o777);
    });
    assert!(!loaded);
    assert_eq!(said.lines().count(), 1, "one line, for two programs: {said}");
    assert!(said.contains("cache/accel") && said.contains("others may write to it"), "{said}");
}

#[test]
fn a_library_that_all_can_write_is_not_loaded() {
    let (loaded, said) = runs_what_is_planted(|_, file, code| write(file, code, 0o666));
    assert_eq!((loaded, said.as_str()), (false, ""));
}

#[test]
fn a_link_to_a_library_is_not_followed() {
    let (loaded, said) = runs_what_is_planted(|machine, file, code| {
        let elsewhere = machine.path("bin").join(file.file_name().unwrap());
        write(&elsewhere, code, 0o600);
        symlink(&elsewhere, file).unwrap();
    });
    assert_eq!((loaded, said.as_str()), (false, ""));
}

#[test]
fn a_link_to_a_folder_is_not_followed() {
    let (loaded, said) = runs_what_is_planted(|machine, file, code| {
        let elsewhere = machine.path("bin/accel");
        if machine.cache().is_dir() && !machine.cache().is_symlink() {
            fs::rename(machine.cache(), &elsewhere).unwrap();
            symlink(&elsewhere, machine.cache()).unwrap();
        }
        write(file, code, 0o600);
    });
    assert!(!loaded && said.contains("it is a link"), "{said}");
}

#[test]
fn files_and_folders_of_others_are_not_used() {
    if !is_root() {
        eprintln!("only root can make files of others: left out");
        return;
    }
    let give = |path: &Path| std::os::unix::fs::chown(path, Some(1234), None).unwrap();
    let (loaded, said) = runs_what_is_planted(|_, file, code| {
        write(file, code, 0o644);
        give(file);
    });
    assert_eq!((loaded, said.as_str()), (false, ""));
    let (loaded, said) = runs_what_is_planted(|machine, file, code| {
        write(file, code, 0o644);
        give(&machine.cache());
    });
    assert!(!loaded && said.contains("it belongs to user 1234"), "{said}");
    // The other place is occupied as well.
    let machine = Machine::new();
    for folder in [machine.cache(), machine.path("tmp/accel-0")] {
        fs::create_dir(&folder).unwrap();
        give(&folder);
    }
    assert_eq!(works(&mut machine.program()).lines().count(), 1);
    assert_eq!(entries(&machine.path("tmp/accel-0")).len() + machine.libraries().len(), 0);
}

#[test]
fn what_is_made_is_the_users_alone_whatever_the_mask_says() {
    let machine = Machine::new();
    let compiler = machine.compiler("ls -ld \"$TMPDIR\"/* >> \"$TMPDIR/../seen\"\nexec cc \"$@\"");
    works(machine.program_after("umask 000").env("CC", compiler));
    let modes = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(modes(&machine.cache()), 0o700);
    assert!(machine.libraries().iter().all(|file| modes(file) == 0o600));
    let seen = fs::read_to_string(machine.path("seen")).unwrap();
    assert!(seen.lines().count() >= 2 && seen.lines().all(|l| l.starts_with("drwx------")), "{seen}");
    assert_eq!(entries(&machine.path("tmp")), NOTHING, "nothing is left there");
}

// ---- files that are none

/// Replaces the libraries by something else. The process must work, in 1 GB of memory, and must replace what is there.
#[track_caller]
fn is_replaced(put: impl Fn(&Path, &[u8])) {
    let machine = Machine::new();
    let libraries = machine.fill();
    let good: Vec<_> = libraries.iter().map(|file| fs::read(file).unwrap()).collect();
    for (file, good) in libraries.iter().zip(&good) {
        fs::remove_file(file).unwrap();
        put(file, good);
    }
    assert_eq!(works(&mut machine.program_after("ulimit -v 1000000")), "");
    for (file, good) in libraries.iter().zip(&good) {
        assert!(file.symlink_metadata().unwrap().is_file() && fs::read(file).unwrap() == *good, "{file:?}");
    }
}

#[test]
fn pipes_devices_and_endless_files_are_replaced() {
    is_replaced(|file, _| assert!(Command::new("mkfifo").arg(file).status().unwrap().success()));
    is_replaced(|file, _| symlink("/dev/zero", file).unwrap());
    is_replaced(|file, _| fs::File::create(file).unwrap().set_len(1 << 40).unwrap());
    is_replaced(|file, _| fs::create_dir(file).unwrap());
    is_replaced(|file, _| symlink(file, file).unwrap());
}

#[test]
fn damaged_libraries_are_replaced() {
    for quarter in 0..5 {
        is_replaced(|file, good| fs::write(file, &good[..quarter * (good.len() - 1) / 4]).unwrap());
        is_replaced(|file, good| {
            let mut bad = good.to_vec();
            bad[quarter * (good.len() - 1) / 4] ^= 0x10;
            fs::write(file, bad).unwrap();
        });
    }
}

// ---- compilers

#[test]
fn without_a_compiler_one_line_says_so() {
    let machine = Machine::new();
    let no_path = || {
        let mut program = machine.program();
        program.env("PATH", machine.path("bin"));
        program
    };
    let said = works(&mut no_path());
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("no C compiler") && said.contains("interpreted"), "{said}");
    assert_eq!(works(no_path().env("ACCEL_QUIET", "1")), "");
    assert_eq!(works(no_path().env("ACCEL_BACKEND", "interp")), "", "nobody has asked for one");
    // An empty name counts as no name.
    assert_eq!(works(no_path().env("CC", " ")), said);
}

#[test]
fn a_compiler_of_the_users_choice_that_does_not_run_is_an_error() {
    let machine = Machine::new();
    for bad in ["no-such-compiler", "/no/such/compiler -m64", "false", "/dev/null", "/"] {
        let said = fails(machine.program().env("CC", bad));
        assert!(said.contains("CC is") && said.contains(bad), "{said}");
    }
    let script = machine.path("bin/silent");
    fs::write(&script, "#!/bin/sh\nsleep 600\n").unwrap();
    mode(&script, 0o755);
    let said = fails(machine.program().env("CC", &script).env("ACCEL_CC_TIMEOUT", "0.3"));
    assert!(said.contains("bin/silent") && said.contains("killed after 0.3 s"), "{said}");
}

#[test]
fn a_compiler_that_fails_is_told_and_leaves_nothing() {
    let output = "while [ \"$1\" != -o ]; do shift; done";
    let cases = [
        ("echo 'the moon is full' >&2; exit 3".to_string(), vec!["the moon is full", "exit status: 3"]),
        ("kill -9 $$".to_string(), vec!["signal: 9"]),
        ("exit 0".to_string(), vec!["kernels.so", "No such file"]),
        (format!("{output}; echo garbage > \"$2\"; echo 'nearly done' >&2"), vec!["cannot be loaded", "nearly done", "too short"]),
        (format!("{output}; : > \"$2\""), vec!["cannot be loaded", "too short"]),
        (format!("cc \"$@\" && {output} && truncate -s 5000 \"$2\""), vec!["cannot be loaded", "too short"]),
        ("echo 'int f;' > \"$TMPDIR/f.c\"; shift $(($# - 1)); exec cc -shared -o \"$(dirname \"$TMPDIR\"/accel-build-*/kernels.c)/kernels.so\" \"$TMPDIR/f.c\"".to_string(), vec!["cannot be loaded", "accel_run"]),
    ];
    let machine = Machine::new();
    for (lines, told) in cases {
        let compiler = machine.compiler(&lines);
        let said = fails(machine.program().env("CC", &compiler));
        for part in told {
            assert!(said.contains(part), "{lines}: {said}, not {part}");
        }
        assert_eq!(machine.libraries(), NOTHING, "{lines}: nothing bad is kept");
        let left: Vec<_> = entries(&machine.path("tmp")).into_iter().filter(|p| p.is_dir()).collect();
        assert_eq!(left, NOTHING, "{lines}: no folder is left");
    }
    // The same compiler, after it works again.
    let compiler = machine.compiler("exec cc \"$@\"");
    assert_eq!(works(machine.program().env("CC", &compiler)), "");
    assert_eq!(machine.libraries().len(), 2);
}

#[test]
fn a_compiler_that_hangs_is_killed_with_what_it_has_started() {
    let machine = Machine::new();
    let survivor = machine.path("survivor");
    let compiler = machine.compiler(&format!("(sleep 3; touch {}) & sleep 600", survivor.display()));
    let start = Instant::now();
    let said = fails(machine.program().env("CC", &compiler).env("ACCEL_CC_TIMEOUT", "1"));
    assert!(said.contains("killed after 1 s") && said.contains("ACCEL_CC_TIMEOUT"), "{said}");
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    std::thread::sleep(Duration::from_secs(4));
    assert!(!survivor.exists(), "its child lives on");

    for bad in ["", "soon", "0", "-1", "inf", "nan"] {
        let said = fails(machine.program().env("ACCEL_CC_TIMEOUT", bad));
        assert!(said.contains("ACCEL_CC_TIMEOUT") && said.contains(bad), "{said}");
    }
}

/// The output fills neither the pipe nor the memory, and the process does not wait for another process that the
/// compiler has left behind with its pipe.
#[test]
fn a_compiler_that_says_much_or_leaves_something_behind_is_no_trouble() {
    let machine = Machine::new();
    let talks = machine.compiler("head -c 50000000 /dev/zero >&2; exec cc \"$@\"");
    works(machine.program_after("ulimit -v 1000000").env("CC", &talks));
    let machine = Machine::new();
    let leaves = machine.compiler("sleep 20 & exec cc \"$@\"");
    let start = Instant::now();
    works(machine.program().env("CC", &leaves));
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}

// ---- disks

/// A separate file system, which is removed when this value is dropped.
struct Disk(PathBuf);

impl Disk {
    /// `None` if the user may not mount file systems.
    fn mount(at: &Path, options: &str) -> Option<Disk> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "accel-test"]).arg(at).stderr(Stdio::null());
        let mounted = is_root() && mount.status().is_ok_and(|s| s.success());
        mounted.then(|| Disk(at.into()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// With a limit on the size of files, as every user can set it: neither the compiler nor the process can write.
#[test]
fn files_that_cannot_be_written_are_an_error() {
    let machine = Machine::new();
    for blocks in [0, 1, 8] {
        let said = fails(&mut machine.program_after(&format!("trap '' XFSZ; ulimit -f {blocks}")));
        assert!(said.contains("Compiler(") && said.contains("kernels."), "{said}");
        assert_eq!(machine.libraries(), NOTHING);
    }
    machine.fill();
    assert_eq!(works(&mut machine.program()), "");
}

#[test]
fn a_cache_on_a_full_or_read_only_disk_is_done_without() {
    let machine = Machine::new();
    let cache = machine.path("cache");
    let Some(disk) = Disk::mount(&cache, "size=8k,mode=755") else {
        eprintln!("no file system can be mounted: left out");
        return;
    };
    for _ in 0..2 {
        assert_eq!(works(&mut machine.program()), "");
        assert_eq!(machine.libraries(), NOTHING);
        let whole = machine.programs().len() + machine.keys().len();
        assert_eq!(entries(&machine.cache()).len(), whole, "nothing half-written");
    }
    drop(disk);
    let _disk = Disk::mount(&cache, "size=1m,mode=755").unwrap();
    let libraries = machine.fill();
    fs::remove_file(&libraries[0]).unwrap();
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&cache).status().unwrap();
    assert!(remounted.success());
    assert_eq!(works(&mut machine.program()), "");
    assert_eq!(machine.libraries(), libraries[1..]);

    let _tmp = Disk::mount(&machine.path("tmp"), "size=4k,mode=755").unwrap();
    let said = fails(&mut machine.program());
    assert!(said.contains("No space left"), "{said}");
}

#[test]
fn without_a_home_the_cache_is_among_the_temporary_files() {
    for home in [None, Some("/nonexistent"), Some("relative"), Some("/proc")] {
        let machine = Machine::new();
        let mut program = machine.program();
        program.env_remove("XDG_CACHE_HOME").env_remove("HOME");
        if let Some(home) = home {
            program.env("HOME", home);
        }
        if is_root() && home == Some("/nonexistent") {
            // The user root could create the file.
            continue;
        }
        assert_eq!(works(&mut program), "");
        let [place] = &entries(&machine.path("tmp"))[..] else { panic!("{home:?}") };
        let about = fs::metadata(place).unwrap();
        assert_eq!((about.permissions().mode() & 0o777, entries(place).len()), (0o700, 6), "{place:?}");
        assert_eq!(works(&mut program), "");
    }
}

// ---- processes

#[test]
fn what_a_killed_process_leaves_is_removed_when_it_is_old() {
    let machine = Machine::new();
    let compiler = machine.compiler("touch \"$TMPDIR/../started\"; sleep 5");
    let mut killed = machine.program().env("CC", &compiler).stderr(Stdio::null()).spawn().unwrap();
    while !machine.path("started").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = entries(&machine.path("tmp"));
    assert!(left.len() == 1 && left[0].is_dir(), "{left:?}");
    // A young file can be in use.
    works(&mut machine.program());
    assert_eq!(entries(&machine.path("tmp")), left);
    let two_hours_ago = SystemTime::now() - Duration::from_secs(7200);
    fs::File::open(&left[0]).unwrap().set_modified(two_hours_ago).unwrap();
    for file in machine.libraries() {
        fs::remove_file(file).unwrap();
    }
    works(&mut machine.program());
    assert_eq!(entries(&machine.path("tmp")), NOTHING);
}

#[test]
fn damaged_programs_are_replaced() {
    let machine = Machine::new();
    machine.fill();
    let programs = machine.programs();
    let good: Vec<_> = programs.iter().map(|p| fs::read(p).unwrap()).collect();
    for damage in
        [|_: &[u8]| vec![], |good: &[u8]| good[..good.len() / 2].to_vec(), |good: &[u8]| [good, good].concat()]
    {
        programs.iter().zip(&good).for_each(|(p, good)| fs::write(p, damage(good)).unwrap());
        assert_eq!(works(&mut machine.program()), "");
        programs.iter().zip(&good).for_each(|(p, good)| assert!(fs::read(p).unwrap() == *good));
    }
    // A program of others is not used, and cannot be replaced by writing to it.
    programs.iter().for_each(|p| mode(p, 0o666));
    assert_eq!(works(&mut machine.program()), "");
    programs.iter().for_each(|p| assert_eq!(fs::metadata(p).unwrap().permissions().mode() & 0o777, 0o600));
}

/// NOTE [Known libraries] in `accel-native/src/cache.rs`.
#[test]
fn a_library_that_is_known_is_found_without_its_source() {
    let machine = Machine::new();
    let libraries = machine.fill();
    // Under new names, which are not the digests of their sources, only the keys lead to them.
    for (k, library) in libraries.iter().enumerate() {
        let (renamed, mut code) = (machine.cache().join(format!("{k:064x}.so")), fs::read(library).unwrap());
        code.truncate(code.len() - 32);
        write(&renamed, &with_digest(&renamed, code), 0o600);
        let refers = |file: &&PathBuf| fs::read(file).unwrap().starts_with(&key(library));
        let keys = machine.keys();
        let file = keys.iter().find(refers).unwrap();
        write(file, &with_digest(file, key(&renamed)), 0o600);
        fs::remove_file(library).unwrap();
    }
    let renamed = machine.libraries();
    assert_eq!(works(&mut machine.program()), "");
    assert_eq!(machine.libraries(), renamed, "nothing is compiled");
}

/// If the optimised program cannot be compiled, that before all passes is, whose library is not that of the file in the cache.
#[test]
fn the_library_of_a_program_without_passes_is_not_taken_for_the_optimised_ones() {
    let machine = Machine::new();
    let compiler = machine.compiler("[ -e \"$0.works\" ] && exec cc \"$@\"; touch \"$0.works\"; exit 1");
    let program = || {
        let mut program = machine.program();
        program.env("CC", &compiler).env("ACCEL_STRICT", "0");
        program
    };
    assert_eq!(works(&mut program()), "");
    assert_eq!((machine.programs().len(), machine.libraries().len(), machine.keys().len()), (2, 2, 1));
    assert_eq!(works(&mut program()), "");
    assert_eq!((machine.programs().len(), machine.libraries().len(), machine.keys().len()), (2, 3, 2));
}

#[test]
fn damaged_keys_are_replaced() {
    let machine = Machine::new();
    machine.fill();
    let keys = machine.keys();
    assert_eq!(keys.len(), 2, "one for each program");
    let good: Vec<_> = keys.iter().map(|file| fs::read(file).unwrap()).collect();
    let of_no_library = |file: &Path, _: &[u8]| with_digest(file, vec![1; 32]);
    let too_short = |file: &Path, good: &[u8]| with_digest(file, good[..31].to_vec());
    let half = |_: &Path, good: &[u8]| good[..good.len() / 2].to_vec();
    for damage in [of_no_library, too_short, half, |_: &Path, _: &[u8]| vec![]] {
        keys.iter().zip(&good).for_each(|(file, good)| fs::write(file, damage(file, good)).unwrap());
        assert_eq!(works(&mut machine.program()), "");
        keys.iter().zip(&good).for_each(|(file, good)| assert!(fs::read(file).unwrap() == *good));
    }
}

#[test]
fn twenty_processes_compile_one_program() {
    let machine = Machine::new();
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| assert_eq!(works(&mut machine.program()), ""));
        }
    });
    assert_eq!(machine.libraries().len(), 2);
    assert_eq!(machine.programs().len(), 2);
    assert_eq!(machine.keys().len(), 2);
    assert_eq!(entries(&machine.cache()).len(), 6, "nothing unfinished");
    assert_eq!(works(&mut machine.program()), "");
}

#[test]
fn the_cache_keeps_its_limit_with_several_processes() {
    let machine = Machine::new();
    let libraries = machine.fill();
    let sizes: Vec<_> = libraries.iter().map(|file| fs::metadata(file).unwrap().len()).collect();
    let limit = sizes.iter().max().unwrap() + 10;
    libraries.iter().for_each(|file| fs::remove_file(file).unwrap());
    let limited = |bytes: &str| works(machine.program().env("ACCEL_CACHE_BYTES", bytes));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| assert_eq!(limited(&limit.to_string()), ""));
        }
    });
    assert!(machine.libraries().len() <= 1);
    assert_eq!(limited(&limit.to_string()), "");
    assert_eq!(machine.libraries().len(), 1);
    fs::remove_file(&machine.libraries()[0]).unwrap();
    assert_eq!(limited("0"), "");
    assert_eq!(machine.libraries().len(), 0);
    for bad in ["", "much", "-1", "1e9"] {
        let said = fails(machine.program().env("ACCEL_CACHE_BYTES", bad));
        assert!(said.contains("ACCEL_CACHE_BYTES"), "{said}");
    }
}

#[test]
fn the_cache_is_shown_and_cleared() {
    let machine = Machine::new();
    let cache = |arguments: &[&str]| {
        let mut command = Command::new(support::example("cache"));
        machine.environment(command.args(arguments));
        let output = end(&mut command);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let shows =
        |programs: usize, bytes: u64| format!("{}\n{programs} programs\n{bytes} bytes\n", machine.cache().display());
    assert_eq!(cache(&[]), shows(0, 0));
    machine.fill();
    let bytes = entries(&machine.cache()).iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    fs::write(machine.cache().join("notes.txt"), "none of ours").unwrap();
    assert_eq!(cache(&[]), shows(2, bytes));
    assert_eq!(cache(&["clear"]), shows(0, 0));
    assert_eq!(entries(&machine.cache()), [machine.cache().join("notes.txt")]);
    // While other processes run.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(works(&mut machine.program()), ""));
            scope.spawn(|| cache(&["clear"]));
        }
    });
}

/// In a gigabyte of address space, with a problem whose header demands more.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_asks_for_more_memory_than_there_is_is_an_error() {
    let machine = Machine::new();
    let small = fs::read_to_string(support::data_file("ba_n3_m7_p20.txt")).unwrap();
    let file = machine.path("large.txt");
    fs::write(&file, small.replacen("3 7 20", "3 7 3000000", 1)).unwrap();
    let ba = |input: &Path| {
        let mut command = Command::new("sh");
        machine.environment(&mut command);
        command.args(["-c", "ulimit -v 1000000; exec \"$0\" --input \"$1\""]).arg(support::example("ba")).arg(input);
        end(&mut command)
    };
    for (input, told) in [
        (file.as_path(), ":1: expected counts (n m p) that fit into 1024 MB of memory"),
        ("/dev/zero".as_ref(), "a device"),
    ] {
        let output = ba(input);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(told), "{stderr}, not {told}");
    }
    let output = ba(&support::data_file("ba_n3_m7_p20.txt"));
    assert!(output.status.success(), "{output:?}");
}
