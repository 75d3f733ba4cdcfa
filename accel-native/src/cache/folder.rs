//! The folder of the cache. It is used only if it and its files belong to the user. All operations use descriptors that
//! were checked.

use rustix::fs::{AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::fs::{flock, fstat, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use std::fs::File as Open;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

/// The limit for the size of a file; larger files are not ours.
const MAX_FILE_BYTES: u64 = 1 << 28;
/// Files of killed processes are removed at this age.
const LEFTOVER_AGE: Duration = Duration::from_secs(3600);
/// The age from which on a working folder is locked if somebody works in it.
const YOUNG: Duration = Duration::from_secs(1);
/// The time of use of a file is recorded at most this often.
const DAY: Duration = Duration::from_secs(24 * 3600);
/// The prefix of the names of unfinished files. Three numbers follow, with hyphens between them.
const UNFINISHED: &str = "build-";

/// A folder that belongs to the user and that nobody else may write to.
pub struct Folder {
    fd: OwnedFd,
    path: PathBuf,
    /// Folders that are only read, for what is not in this one: NOTE [Layers of the cache] in `place.rs`.
    layers: Vec<Folder>,
}

/// The reason why a folder cannot be used.
#[derive(Debug)]
pub enum Unusable {
    /// Others have written to it, or could.
    NotOurs(String),
    /// It cannot be opened or created.
    Failed(io::Error),
}

/// The endings of the names of libraries, of optimised programs, of the keys of their libraries, and of the extents of programs.
pub const LIBRARY: &str = ".so";
pub const PROGRAM: &str = ".kernels";
pub const KEY: &str = ".key";
pub const EXTENTS: &str = ".extents";

/// A library, program or key in the folder.
pub struct File {
    pub name: String,
    pub bytes: u64,
    /// The time of the last use, to a day.
    used: SystemTime,
}

/// The folder for users without a home folder: in the folder for temporary files, with the user's number.
pub fn temporary() -> Option<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    Some(std::env::temp_dir().join(format!("accel-{user}")))
}

/// The reason why a file or folder is not trusted: it belongs to somebody else, or others may write to it.
fn distrust(stat: &Stat) -> Option<String> {
    let user = rustix::process::geteuid().as_raw();
    if stat.st_uid != user {
        return Some(format!("it belongs to user {}, not to {user}", stat.st_uid));
    }
    writable(stat)
}

/// The same for a file or folder that is only read: it may also belong to the administrator.
fn distrust_of_readers(stat: &Stat) -> Option<String> {
    if stat.st_uid == 0 { writable(stat) } else { distrust(stat) }
}

/// The reason if others than its owner may write to it.
fn writable(stat: &Stat) -> Option<String> {
    let mode = stat.st_mode & 0o7777;
    (mode & 0o022 != 0).then(|| format!("others may write to it (its mode is {mode:04o})"))
}

/// How files are opened: to open a pipe would wait for a writer, and a terminal could become the terminal of the process.
const OPEN: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC).union(OFlags::RDONLY);

/// The contents of a file that is trusted.
fn read(file: OwnedFd, distrust: impl Fn(&Stat) -> Option<String>) -> Result<(Open, Vec<u8>, Stat), String> {
    let stat = fstat(&file).map_err(|e| e.to_string())?;
    if !is_file(&stat) {
        return Err("it is not a regular file".into());
    }
    if let Some(why) = distrust(&stat) {
        return Err(why);
    }
    let size = stat.st_size as u64;
    if size > MAX_FILE_BYTES {
        return Err(format!("it has {size} bytes"));
    }
    let file = Open::from(file);
    let mut bytes = Vec::with_capacity(size as usize + 1);
    (&file).take(MAX_FILE_BYTES).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    Ok((file, bytes, stat))
}

/// The contents of a file with code that somebody else may have put there: the user, or the administrator.
///
/// # Errors
/// The reason why it must not or cannot be used.
pub fn read_trusted(path: &Path) -> Result<Vec<u8>, String> {
    let file = openat(CWD, path, OPEN, Mode::empty()).map_err(|e| io::Error::from(e).to_string())?;
    Ok(read(file, distrust_of_readers)?.1)
}

impl Folder {
    /// Opens a folder, or creates it.
    pub fn open(path: &Path) -> Result<Folder, Unusable> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        let open = || openat(CWD, path, flags, Mode::empty());
        let fd = open().or_else(|e| if e == Errno::NOENT { make(path).and_then(|()| open()) } else { Err(e) });
        let fd = match fd {
            Ok(fd) => fd,
            Err(Errno::LOOP | Errno::NOTDIR) if is_link(path) => return Err(Unusable::NotOurs("it is a link".into())),
            Err(e) => return Err(Unusable::Failed(e.into())),
        };
        Self::trusted(fd, path, distrust)
    }

    /// Opens a folder that is only read. It may belong to the administrator, too.
    pub fn open_layer(path: &Path) -> Result<Folder, Unusable> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let fd = openat(CWD, path, flags, Mode::empty()).map_err(|e| Unusable::Failed(e.into()))?;
        Self::trusted(fd, path, distrust_of_readers)
    }

    fn trusted(fd: OwnedFd, path: &Path, distrust: impl Fn(&Stat) -> Option<String>) -> Result<Folder, Unusable> {
        let stat = fstat(&fd).map_err(|e| Unusable::Failed(e.into()))?;
        match distrust(&stat) {
            Some(why) => Err(Unusable::NotOurs(why)),
            None => Ok(Folder { fd, path: path.into(), layers: vec![] }),
        }
    }

    /// This folder, with these for what is not in it.
    pub fn over(self, layers: Vec<Folder>) -> Folder {
        Folder { layers, ..self }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The contents of a file, here or in a layer; `None` if there is none.
    ///
    /// # Errors
    /// The reason why the file must not or cannot be used.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, String> {
        let here = self.read_with(name, distrust)?;
        let in_layers =
            || self.layers.iter().find_map(|layer| layer.read_with(name, distrust_of_readers).ok().flatten());
        Ok(here.or_else(in_layers))
    }

    fn read_with(&self, name: &str, distrust: impl Fn(&Stat) -> Option<String>) -> Result<Option<Vec<u8>>, String> {
        let file = match openat(&self.fd, name, OFlags::NOFOLLOW | OPEN, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err("it is a link".into()),
            Err(e) => return Err(e.to_string()),
        };
        let (file, bytes, stat) = read(file, distrust)?;
        note_use(&file, &stat);
        Ok(Some(bytes))
    }

    /// Writes a file. Then removes the files that were not used for the longest time, so that all files take at most
    /// about `limit` bytes.
    pub fn store(&self, name: &str, contents: &[u8], limit: u64) -> io::Result<()> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let size = contents.len() as u64;
        if size > limit {
            return Err(io::Error::other(format!("{size} bytes are more than the cache may hold")));
        }
        crate::files::check_file_size(contents.len())?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let unfinished = format!("{UNFINISHED}{}-{number}-{now}", std::process::id());
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::WRONLY;
        let file = openat(&self.fd, &unfinished, flags, Mode::RUSR | Mode::WUSR)?;
        let written = Open::from(file)
            .write_all(contents)
            .and_then(|()| Ok(renameat(&self.fd, &unfinished, &self.fd, name)?))
            .inspect_err(|_| {
                let _ = unlinkat(&self.fd, &unfinished, AtFlags::empty());
            });
        // Also if there was no room for the file, since this makes room.
        self.sweep(size, limit);
        written
    }

    /// Removes a file, or an empty folder that has its name.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(Errno::ISDIR | Errno::PERM) => Ok(unlinkat(&self.fd, name, AtFlags::REMOVEDIR)?),
            Err(e) => Err(e.into()),
        }
    }

    /// The libraries, programs and keys in the folder.
    pub fn files(&self) -> io::Result<Vec<File>> {
        let files = self.names()?.into_iter().filter(|n| is_entry(n)).filter_map(|name| {
            // Another process may have removed it meanwhile.
            let stat = statat(&self.fd, &name, AtFlags::SYMLINK_NOFOLLOW).ok().filter(is_file)?;
            Some(File { name, bytes: stat.st_size as u64, used: modified(&stat) })
        });
        Ok(files.collect())
    }

    fn names(&self) -> io::Result<Vec<String>> {
        names(&self.fd)
    }

    // NOTE [Cache eviction]: listing all files takes milliseconds if there are thousands. So a process does it when it
    // stores its first library, and then each time after it has stored a 64th of the limit. Processes that do so at the
    // same time remove the same files: those that were not used for the longest time. If a file disappears between two
    // accesses of another process, that process builds the library again.

    /// Called after `stored` bytes were stored. If it is time, removes unfinished files and evicts files.
    fn sweep(&self, stored: u64, limit: u64) {
        static SINCE: AtomicU64 = AtomicU64::new(u64::MAX);
        let since = SINCE.load(Ordering::Relaxed).saturating_add(stored);
        if since <= limit / 64 {
            SINCE.fetch_add(stored, Ordering::Relaxed);
            return;
        }
        SINCE.store(0, Ordering::Relaxed);
        if let Err(e) = self.remove_leftovers().and_then(|()| self.evict(limit)) {
            tracing::debug!("cannot sweep the cache: {e}");
        }
    }

    /// Removes the unfinished files of processes that were killed.
    fn remove_leftovers(&self) -> io::Result<()> {
        for name in self.names()?.iter().filter(|n| is_unfinished(n)) {
            let stat = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW);
            if stat.is_ok_and(|s| is_file(&s) && is_old(modified(&s), LEFTOVER_AGE)) {
                self.remove(name)?;
            }
        }
        Ok(())
    }

    /// Removes files until all together have at most `limit` bytes.
    fn evict(&self, limit: u64) -> io::Result<()> {
        let mut files = self.files()?;
        files.sort_by(|a, b| (a.used, &a.name).cmp(&(b.used, &b.name)));
        let mut total: u64 = files.iter().map(|f| f.bytes).sum();
        for file in files {
            if total <= limit {
                break;
            }
            self.remove(&file.name)?;
            total -= file.bytes;
        }
        Ok(())
    }
}

/// The working folder of a compilation. It is removed when this value is dropped.
///
/// NOTE \[Abandoned working folders\]: a process that is killed leaves its working folder. While a process works, it holds a lock on
/// the folder, which the system releases when the process ends, however it ends. So a folder that can be locked belongs to nobody,
/// also if the numbers of processes have another meaning here, as in containers. A folder is young until its owner has
/// had time to lock it. Where the file system has no locks, only the age of a folder counts.
pub struct Work {
    folder: TempDir,
    _lock: Option<OwnedFd>,
}

impl Work {
    /// Locks a new folder.
    pub fn new(folder: TempDir) -> Work {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        let open = openat(CWD, folder.path(), flags, Mode::empty());
        let lock = open.and_then(|fd| flock(&fd, FlockOperation::NonBlockingLockExclusive).map(|()| fd));
        Work { folder, _lock: lock.ok() }
    }
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the working folders of killed compilations in `temporary`: NOTE \[Abandoned working folders\]. Without locks, they must be
/// older than an hour and than `longest`. They contain only files.
pub fn remove_old_work(temporary: &Path, is_work: impl Fn(&str) -> bool, longest: Duration) {
    let Ok(entries) = std::fs::read_dir(temporary) else { return };
    for entry in entries.flatten().filter(|e| e.file_name().to_str().is_some_and(&is_work)) {
        if let Err(e) = remove_work(&entry.path(), LEFTOVER_AGE.max(longest)) {
            tracing::debug!("cannot remove {}: {e}", entry.path().display());
        }
    }
}

/// Removes a folder and the files in it, if it is ours and old.
fn remove_work(path: &Path, age: Duration) -> io::Result<()> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let folder = openat(CWD, path, flags, Mode::empty())?;
    let stat = fstat(&folder)?;
    let abandoned = || match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => is_old(modified(&stat), YOUNG),
        Err(Errno::WOULDBLOCK) => false,
        Err(_) => is_old(modified(&stat), age),
    };
    if distrust(&stat).is_none() && stat.st_mode & 0o777 == 0o700 && abandoned() {
        for name in names(&folder)? {
            unlinkat(&folder, &name, AtFlags::empty())?;
        }
        unlinkat(CWD, path, AtFlags::REMOVEDIR)?;
    }
    Ok(())
}

/// The names in a folder that are text.
fn names(folder: &OwnedFd) -> io::Result<Vec<String>> {
    let all = Dir::read_from(folder)?.map(|entry| entry.map(|e| e.file_name().to_str().map(String::from).ok()));
    let names = all.filter_map(|name| name.transpose()).collect::<Result<Vec<_>, _>>()?;
    Ok(names.into_iter().filter(|name| name != "." && name != "..").collect())
}

fn is_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

/// Whether a name is one that [`Folder::store`] gives to a file that is not finished.
fn is_unfinished(name: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let numbers = name.strip_prefix(UNFINISHED).map(|rest| rest.split('-').map(is_number).collect::<Vec<_>>());
    numbers.is_some_and(|numbers| numbers == [true; 3])
}

/// Creates a folder that only the user can read and write, and its parent folders.
fn make(path: &Path) -> Result<(), Errno> {
    let failed = |e: io::Error| e.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error);
    if let Some(parent) = path.parent() {
        let mut builder = std::fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(parent).map_err(failed)?;
    }
    match mkdirat(CWD, path, Mode::RWXU) {
        Err(Errno::EXIST) => Ok(()),
        made => made,
    }
}

fn is_link(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|m| m.is_symlink())
}

/// Whether a name is that of a file of the cache: a key in hexadecimal digits, and the ending of a kind of files.
fn is_entry(name: &str) -> bool {
    let key = [LIBRARY, PROGRAM, KEY, EXTENTS].into_iter().find_map(|ending| name.strip_suffix(ending));
    key.is_some_and(|k| k.len() == 64 && k.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Records that a file was used, if the last record is a day old.
fn note_use(file: &Open, stat: &Stat) {
    if is_old(modified(stat), DAY)
        && let Err(e) = file.set_modified(SystemTime::now())
    {
        tracing::debug!("cannot set the time of a file in the cache: {e}");
    }
}

fn modified(stat: &Stat) -> SystemTime {
    UNIX_EPOCH + Duration::new(u64::try_from(stat.st_mtime).unwrap_or(0), stat.st_mtime_nsec as u32)
}

fn is_old(time: SystemTime, age: Duration) -> bool {
    SystemTime::now().duration_since(time).is_ok_and(|a| a > age)
}
