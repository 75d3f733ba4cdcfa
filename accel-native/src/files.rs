//! Files of bounded sizes.

use std::io::ErrorKind;
use std::path::Path;

/// Writes a file, unless it is larger than files may be: then the system would end this process with a signal.
pub fn write(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    check_file_size(contents.len())?;
    std::fs::write(path, contents)
}

/// Writes a file, or replaces it, so that nobody but its owner may write to it, whatever the mode of new files is. Others see all of it
/// or nothing.
pub fn write_for_owner(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    check_file_size(contents.len())?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".accel-").make_in(folder, |unfinished| {
        let mut options = std::fs::OpenOptions::new();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
        options.write(true).create_new(true).open(unfinished)
    })?;
    std::io::Write::write_all(&mut file, contents)?;
    file.persist(path)?;
    Ok(())
}

/// Whether this process may write files of this size.
///
/// # Errors
/// `ErrorKind::FileTooLarge` if it may not.
pub fn check_file_size(_bytes: usize) -> std::io::Result<()> {
    #[cfg(unix)]
    if let Some(most) = rustix::process::getrlimit(rustix::process::Resource::Fsize).current
        && most < _bytes as u64
    {
        return Err(ErrorKind::FileTooLarge.into());
    }
    Ok(())
}

/// The limit for the size of a library; what is larger was not made from our code.
const MAX_LIBRARY_BYTES: u64 = 1 << 28;

/// The contents of a file that a compiler has made. To read a pipe would wait for a writer, and a device may never end.
pub fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let about = std::fs::symlink_metadata(path)?;
    if !about.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    if about.len() > MAX_LIBRARY_BYTES {
        return Err(std::io::Error::other(format!("it has {} bytes", about.len())));
    }
    std::fs::read(path)
}
