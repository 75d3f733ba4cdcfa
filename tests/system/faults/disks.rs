//! Full disks, disks that cannot be written, and homes that are missing.

use super::machine::{Machine, NOTHING, entries, is_root, mode, works};
use crate::support::left_out;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

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

/// Checks that both programs are interpreted, and that one line for each says why.
#[track_caller]
fn is_interpreted(command: &mut Command, why: &str) {
    let said = works(command);
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(said.lines().all(|line| line.contains("so it is interpreted") && line.contains(why)), "{said}");
}

/// With a limit on the size of files, as every user can set it, neither the compiler nor the process can write. A process that tries to
/// would end with a signal.
#[test]
fn without_files_programs_are_interpreted() {
    let machine = Machine::new();
    for (before, blocks) in ["", "trap '' XFSZ; "].into_iter().flat_map(|trap| [0, 1, 8].map(|blocks| (trap, blocks))) {
        is_interpreted(&mut machine.program_after(&format!("{before}ulimit -f {blocks}")), "kernels.");
        assert_eq!(machine.libraries(), NOTHING);
        assert_eq!(entries(&machine.path("tmp")), NOTHING);
    }
    machine.fill();
    assert_eq!(works(&mut machine.program()), "");
}

#[test]
fn a_cache_on_a_full_or_read_only_disk_is_done_without() {
    let machine = Machine::new();
    let cache = machine.path("cache");
    let Some(disk) = Disk::mount(&cache, "size=8k,mode=755") else {
        return left_out("caches on full and read-only disks: no file system can be mounted");
    };
    for _ in 0..2 {
        assert_eq!(works(&mut machine.program()), "");
        assert_eq!(machine.libraries(), NOTHING);
        let whole = machine.programs().len() + machine.keys().len() + machine.files("extents").len();
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
    let said = works(&mut machine.program());
    assert!(said.contains("No space left") && said.contains("so it is interpreted"), "{said}");
}

/// The compiler then works in the folder of the cache.
#[test]
fn a_full_folder_for_temporary_files_is_done_without() {
    let machine = Machine::new();
    let Some(_tmp) = Disk::mount(&machine.path("tmp"), "size=4k,mode=755") else {
        return left_out("a full folder for temporary files: no file system can be mounted");
    };
    assert_eq!(works(&mut machine.program()), "");
    assert_eq!(machine.libraries().len(), 2);
    assert!(entries(&machine.cache()).iter().all(|p| p.is_file()), "no working folder is left");

    let machine = Machine::new();
    assert_eq!(works(machine.program().env("TMPDIR", "/nonexistent")), "");
    assert_eq!(machine.libraries().len(), 2);
}

/// A signal ends a process while its compiler works. The next process removes what it has left.
#[test]
fn the_working_folder_of_a_killed_process_goes() {
    let machine = Machine::new();
    let compiler = machine.compiler("sleep 100");
    let mut killed = machine.program().env("CC", &compiler).spawn().unwrap();
    let start = std::time::Instant::now();
    let left = loop {
        assert!(start.elapsed() < Duration::from_secs(60), "no compilation has begun");
        match &entries(&machine.path("tmp"))[..] {
            [one] if one.join("kernels.c").exists() => break one.clone(),
            _ => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    // While its owner lives, it stays.
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(works(&mut machine.program()), "");
    assert!(left.exists());
    killed.kill().unwrap();
    killed.wait().unwrap();
    machine.libraries().iter().for_each(|file| fs::remove_file(file).unwrap());
    assert_eq!(works(&mut machine.program()), "");
    assert_eq!(entries(&machine.path("tmp")), NOTHING);
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
        assert_eq!((about.permissions().mode() & 0o777, entries(place).len()), (0o700, 8), "{place:?}");
        assert_eq!(works(&mut program), "");
    }
}

/// NOTE [Layers of the cache]: what one process has compiled, others find, and compile nothing.
#[test]
fn a_common_cache_is_only_read() {
    let machine = Machine::new();
    let (common, own) = (machine.path("common"), machine.path("own"));
    assert_eq!(works(machine.program().env("ACCEL_CACHE_DIR", &common)), "");
    assert!(!machine.cache().exists(), "the other places are not used");
    let names = |folder: &Path| {
        let mut all: Vec<_> = entries(folder).iter().map(|p| p.file_name().unwrap().to_owned()).collect();
        all.sort();
        all
    };
    let filled = names(&common);
    assert!(!filled.is_empty());
    mode(&common, 0o500);
    let both = std::env::join_paths([&own, &common]).unwrap();
    let layered = |folders: &std::ffi::OsStr| works(machine.program().env("ACCEL_CACHE_DIR", folders));
    assert_eq!(layered(&both), "");
    assert_eq!(
        (names(&own), names(&common)),
        (vec![], filled.clone()),
        "nothing was compiled, and nothing was written"
    );
    // A damaged file of a layer is made again, in the folder that may be written.
    mode(&common, 0o700);
    let library =
        common.join(filled.iter().find(|name| Path::new(name).extension().is_some_and(|e| e == "so")).unwrap());
    fs::write(&library, b"damaged").unwrap();
    assert_eq!(layered(&both), "");
    assert!(names(&own).iter().any(|name| library.ends_with(name)));
    // Layers that others may write to are not used.
    fs::remove_dir_all(&own).unwrap();
    mode(&common, 0o777);
    assert!(works(machine.program().env("ACCEL_CACHE_DIR", &both)).contains("others may write to it"));
    assert_eq!(names(&own).len(), filled.len());
}
