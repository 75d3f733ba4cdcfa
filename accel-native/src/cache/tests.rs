use super::folder::Unusable;
use super::*;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

const SOURCE: &str = "int accel_run(void *run) { return 0; }\n";

/// A module of one translation unit.
fn module(source: &str) -> Module {
    Module { source: source.into(), units: 1, calls_library: false }
}

fn toolchain() -> Toolchain {
    Toolchain::new("cc").expect("the tests need a C compiler")
}

/// A folder that can hold a cache.
fn temporary() -> (TempDir, Folder) {
    let dir = TempDir::new().unwrap();
    let folder = Folder::open(&dir.path().join("accel")).unwrap();
    (dir, folder)
}

fn build(source: &str, key: &Key, folder: &Folder) -> Result<Library> {
    let library = find_or_build(&module(source), key, &toolchain(), Some(folder), DEFAULT_BYTES)?;
    Ok(library.expect("the compiler is in time"))
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn age(path: &Path, hours: u64) {
    let file = fs::File::open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3600 * hours)).unwrap();
}

#[test]
fn what_is_kept_is_found_and_what_is_bad_is_built_again() {
    let (_dir, folder) = temporary();
    let key = key(SOURCE, &toolchain());
    let (name, path) = (file_name(&key, LIBRARY), folder.path().join(file_name(&key, LIBRARY)));
    assert!(stored(&folder, &name, &key).unwrap().is_none());
    build(SOURCE, &key, &folder).unwrap();
    assert!(stored(&folder, &name, &key).unwrap().is_some());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);

    let good = fs::read(&path).unwrap();
    let digested = |code: &[u8]| [code, &digest(&key, code)].concat();
    let unloadable = digested(b"not a library, but with the digest of one");
    let cases: [(&[u8], &str); 6] = [
        (b"", "damaged"),
        (&good[..good.len() / 2], "damaged"),
        (b"something else", "damaged"),
        (&[&good[..], b"x"].concat(), "damaged"),
        (&unloadable, "kernels.so"),
        (&digested(&good[..good.len() / 2]), "too short"),
    ];
    for (bad, why) in cases {
        fs::write(&path, bad).unwrap();
        mode(&path, 0o600);
        let e = stored(&folder, &name, &key).err().unwrap();
        assert!(e.contains(why), "{e}, not {why}");
        build(SOURCE, &key, &folder).unwrap();
        assert!(fs::read(&path).unwrap() == good, "it is built again");
    }
    // The file of another program.
    let other = super::key("other", &toolchain());
    assert!(stored(&folder, &name, &other).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no working files are left");
}

#[test]
fn only_regular_files_of_the_user_are_read() {
    let (dir, folder) = temporary();
    let key = key(SOURCE, &toolchain());
    build(SOURCE, &key, &folder).unwrap();
    let (name, path) = (file_name(&key, LIBRARY), folder.path().join(file_name(&key, LIBRARY)));
    let good = fs::read(&path).unwrap();
    let elsewhere = dir.path().join("elsewhere");
    fs::write(&elsewhere, &good).unwrap();

    type Plant<'a> = Box<dyn Fn() + 'a>;
    let write = |as_mode| {
        let (path, good) = (&path, &good);
        move || {
            fs::write(path, good).unwrap();
            mode(path, as_mode);
        }
    };
    let huge = || fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let mut cases: Vec<(Plant, &str)> = vec![
        (Box::new(write(0o666)), "others may write"),
        (Box::new(write(0o620)), "others may write"),
        (Box::new(|| symlink(&elsewhere, &path).unwrap()), "link"),
        (Box::new(|| symlink("/dev/zero", &path).unwrap()), "link"),
        (Box::new(|| mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap()), "regular"),
        (Box::new(|| fs::create_dir(&path).unwrap()), "regular"),
        (Box::new(huge), "bytes"),
    ];
    if rustix::process::geteuid().is_root() {
        cases.push((
            Box::new(|| {
                write(0o600)();
                std::os::unix::fs::chown(&path, Some(1234), None).unwrap();
            }),
            "belongs to user 1234",
        ));
    }
    for (plant, why) in cases {
        folder.remove(&name).unwrap();
        plant();
        let e = stored(&folder, &name, &key).err().unwrap();
        assert!(e.contains(why), "{e}, not {why}");
        build(SOURCE, &key, &folder).unwrap();
        assert!(stored(&folder, &name, &key).unwrap().is_some(), "{why}: it is built again");
    }
    assert!(fs::read(&elsewhere).unwrap() == good, "nothing is written through a link");
}

#[test]
fn folders_that_others_can_write_to_are_not_used() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a/b/accel");
    let refused = |path: &Path| match Folder::open(path).err().unwrap() {
        Unusable::NotOurs(why) => why,
        Unusable::Failed(e) => panic!("{e}"),
    };
    let made = Folder::open(&path).unwrap();
    assert_eq!(fs::metadata(made.path()).unwrap().permissions().mode() & 0o7777, 0o700);
    for bad in [0o777, 0o1777, 0o770, 0o702] {
        mode(&path, bad);
        assert!(refused(&path).contains("others may write"));
    }
    mode(&path, 0o755);
    Folder::open(&path).unwrap();
    let link = dir.path().join("link");
    symlink(&path, &link).unwrap();
    assert_eq!(refused(&link), "it is a link");
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(1234), None).unwrap();
        assert_eq!(refused(&path), "it belongs to user 1234, not to 0");
    }
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    for not_a_folder in [file.clone(), file.join("below"), "/proc/accel".into()] {
        assert!(matches!(Folder::open(&not_a_folder), Err(Unusable::Failed(_))), "{not_a_folder:?}");
    }
}

#[test]
fn without_a_cache_programs_are_built() {
    let (_dir, folder) = temporary();
    let key = key(SOURCE, &toolchain());
    find_or_build(&module(SOURCE), &key, &toolchain(), None, DEFAULT_BYTES).unwrap();
    // Nothing is stored if the limit is too small or the name of the file is taken.
    find_or_build(&module(SOURCE), &key, &toolchain(), Some(&folder), 10).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_known_library_depends_on_the_program_the_generator_and_the_compiler() {
    let (toolchain, vectors) = (toolchain(), crate::toolchain::vectors());
    let name = |toolchain: &Toolchain| name_of_key(&[1; 32], "", vectors, toolchain);
    let other = |change: &dyn Fn(&mut Toolchain)| {
        let mut other = super::tests::toolchain();
        change(&mut other);
        name(&other)
    };
    assert_eq!(name(&toolchain), other(&|_| {}));
    let names = [
        name(&toolchain),
        name_of_key(&[2; 32], "", vectors, &toolchain),
        other(&|t| t.identity.push('x')),
        other(&|t| t.flags.push("-x".into())),
        other(&|t| t.flags_for_calls.push("-y".into())),
        other(&|t| t.vector_math = !t.vector_math),
    ];
    for (k, name) in names.iter().enumerate() {
        assert!(!names[..k].contains(name), "{k}");
    }
}

#[test]
fn what_has_not_been_used_for_longest_goes_first() {
    let (_dir, folder) = temporary();
    let ending = |k: usize| [LIBRARY, folder::PROGRAM, KEY][k % 3];
    let names: Vec<String> = (0..6).map(|k| format!("{k:064x}{}", ending(k))).collect();
    for (k, name) in names.iter().enumerate().take(5) {
        folder.store(name, &[0; 1000], 1 << 20).unwrap();
        age(&folder.path().join(name), 100 - 10 * k as u64);
    }
    fs::write(folder.path().join("notes"), [0; 5000]).unwrap();
    // The first two files were used since.
    assert_eq!(folder.read(&names[0]).unwrap().unwrap().len(), 1000);
    assert_eq!(folder.read(&names[1]).unwrap().unwrap().len(), 1000);
    folder.store(&names[5], &[0; 1000], 4000).unwrap();
    let mut left: Vec<_> = folder.files().unwrap().into_iter().map(|f| f.name).collect();
    left.sort();
    assert_eq!(left, [&names[0], &names[1], &names[4], &names[5]].map(String::clone));
    assert!(folder.path().join("notes").exists(), "what is none of ours stays");
    assert!(folder.store(&names[2], &[0; 5000], 4000).is_err());
    assert_eq!(folder.files().unwrap().len(), 4);
}

#[test]
fn what_killed_processes_have_left_is_removed_when_it_is_old() {
    let (_dir, folder) = temporary();
    let path = |name: &str| folder.path().join(name);
    // The names of ours, and names that others may give to theirs.
    let files = ["build-1-2-3", "build-4-5-6", "build-1-2", "build-1-2-3-4", "build-1-2-x", "build-old", "build-"];
    let folders = ["build-release", "build-7-8-9"];
    folders.iter().for_each(|name| fs::create_dir(path(name)).unwrap());
    let inside = folders.map(|name| format!("{name}/precious"));
    let all: Vec<&str> = files.into_iter().chain(inside.iter().map(String::as_str)).collect();
    all.iter().for_each(|name| fs::write(path(name), "").unwrap());
    all.iter().chain(&folders).filter(|name| **name != "build-4-5-6").for_each(|name| age(&path(name), 2));
    folder.store("x", b"1", 1).unwrap();
    assert!(!path("build-1-2-3").exists());
    assert!(all[1..].iter().all(|name| path(name).exists()));
}

#[test]
fn only_abandoned_working_folders_of_compilations_are_removed() {
    let dir = TempDir::new().unwrap();
    let is_work = |name: &str| name.starts_with("accel-build-");
    let [old, new, deep, open, link, file, other, owned] =
        ["old", "new", "deep", "open", "link", "file", "other", "owned"]
            .map(|name| dir.path().join(if name == "other" { name.into() } else { format!("accel-build-{name}") }));
    for folder in [&old, &new, &deep, &open, &other, &owned] {
        fs::create_dir(folder).unwrap();
        mode(folder, if folder == &open { 0o755 } else { 0o700 });
        fs::write(folder.join("kernels.c"), "").unwrap();
    }
    fs::create_dir(deep.join("results")).unwrap();
    fs::write(deep.join("results/precious"), "").unwrap();
    symlink(&other, &link).unwrap();
    fs::write(&file, "").unwrap();
    [&deep, &open, &file, &other, &owned].into_iter().for_each(|path| age(path, 2));
    // Nobody works in it.
    fs::File::open(&old).unwrap().set_modified(SystemTime::now() - Duration::from_secs(3)).unwrap();
    // As long as somebody works in a folder, it stays, however old it is.
    let owner = fs::File::open(&owned).unwrap();
    owner.lock().unwrap();
    remove_old_work(dir.path(), is_work, Duration::ZERO);
    assert!(!old.exists());
    for left in [
        &new.join("kernels.c"),
        &deep.join("results/precious"),
        &open.join("kernels.c"),
        &other.join("kernels.c"),
        &owned.join("kernels.c"),
        &link,
        &file,
    ] {
        assert!(left.exists(), "{}", left.display());
    }
    // Closing the file would not do: a child that another test is starting has it open until it executes its program.
    owner.unlock().unwrap();
    remove_old_work(dir.path(), is_work, Duration::ZERO);
    assert!(!owned.exists() && new.exists());
}

#[test]
fn what_the_compiler_says_is_told() {
    let (_dir, folder) = temporary();
    let missing = "int accel_run(void *run) { return no_such_function(run); }\n";
    for (source, said) in [("nonsense", "nonsense"), (missing, "no_such_function")] {
        let e = build(source, &[0; 32], &folder).err().unwrap();
        assert!(e.to_string().contains(said), "{e}");
    }
    // A broken file in the cache does not help.
    let name = file_name(&[0; 32], LIBRARY);
    folder.store(&name, b"other", DEFAULT_BYTES).unwrap();
    let e = build("nonsense", &[0; 32], &folder).err().unwrap().to_string();
    assert!(
        e.contains("nonsense") && e.contains("what was in the cache could not be used either: it is damaged"),
        "{e}"
    );
}

#[test]
fn there_may_be_no_compiler() {
    assert!(Toolchain::new("no-such-compiler").err().unwrap().text().contains("no-such-compiler"));
    assert!(Toolchain::new("").is_err());
    assert!(Toolchain::new("false").err().unwrap().text().contains("exit status: 1"));
}
