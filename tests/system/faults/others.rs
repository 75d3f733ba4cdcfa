//! Files and folders of other users in the cache, and files that are none.

use super::machine::{Machine, NOTHING, end, entries, is_root, mode, with_digest, works, write};
use crate::support::left_out;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

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
        return left_out("files and folders of others in the code cache: only root can make them");
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
    let compiler = machine.compiler("ls -ld \"$TMPDIR\" >> \"$TMPDIR/../../seen\"\nexec cc \"$@\"");
    works(machine.program_after("umask 000").env("CC", compiler));
    let modes = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(modes(&machine.cache()), 0o700);
    assert!(machine.libraries().iter().all(|file| modes(file) == 0o600));
    let seen = fs::read_to_string(machine.path("seen")).unwrap();
    assert!(seen.lines().count() >= 2 && seen.lines().all(|l| l.starts_with("drwx------")), "{seen}");
    assert_eq!(entries(&machine.path("tmp")), NOTHING, "nothing is left there");
}

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
