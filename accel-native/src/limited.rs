//! Runs other programs with a time limit.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::Builder;
use std::time::Duration;

/// The number of bytes of a program's output that are kept.
const MAX_OUTPUT: u64 = 1 << 16;
/// The time to wait for output after the program has ended: another process that it started may still hold its pipes.
const GRACE: Duration = Duration::from_millis(500);

/// The result of a program that has ended.
pub struct Ended {
    /// Its status. If this process ignores the signal `SIGCHLD`, the system keeps none.
    pub status: Option<ExitStatus>,
    /// The beginning of its standard output.
    pub output: Vec<u8>,
    /// The beginning of its standard error.
    pub errors: Vec<u8>,
}

/// Runs a program without input until it ends. Returns `None` if it did not end in time; then the program and the
/// processes that it started were killed.
///
/// # Errors
/// The program cannot be run.
pub fn run(command: &mut Command, limit: Duration) -> io::Result<Option<Ended>> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn()?;
    let said = beginning(child.stdout.take()).and_then(|out| Ok((out, beginning(child.stderr.take())?)));
    let status = ended(&mut child, limit)?;
    let (output, errors) = said?;
    let text = |from: Receiver<Vec<u8>>| from.recv_timeout(GRACE).unwrap_or_default();
    Ok(status.map(|status| Ended { status, output: text(output), errors: text(errors) }))
}

/// The beginning of the output. The rest is read as well, so that no writer waits for room in the pipe.
fn beginning(from: Option<impl Read + Send + 'static>) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = channel();
    let Some(mut from) = from else { return Ok(receiver) };
    Builder::new().spawn(move || {
        let mut first = vec![];
        let _ = from.by_ref().take(MAX_OUTPUT).read_to_end(&mut first);
        let _ = sender.send(first);
        let _ = io::copy(&mut from, &mut io::sink());
    })?;
    Ok(receiver)
}

/// Waits at most `limit` until a process ends. Then kills all of its group.
#[cfg(unix)]
fn ended(child: &mut Child, limit: Duration) -> io::Result<Option<Option<ExitStatus>>> {
    use rustix::io::Errno;
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
    let pid = Pid::from_child(child);
    let (sender, end) = channel();
    // This does not collect the exit status. Until somebody does, the number means this process and its group.
    let waiter = Builder::new().spawn(move || {
        let wait = || waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        while matches!(wait(), Err(Errno::INTR)) {}
        let _ = sender.send(());
    });
    let in_time = waiter.is_ok() && end.recv_timeout(limit).is_ok();
    if !in_time {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let status = match child.wait() {
        Err(e) if e.raw_os_error() == Some(Errno::CHILD.raw_os_error()) => None,
        status => Some(status?),
    };
    waiter.map(|_| in_time.then_some(status))
}

/// Waits until a process ends.
#[cfg(not(unix))]
fn ended(child: &mut Child, _limit: Duration) -> io::Result<Option<Option<ExitStatus>>> {
    child.wait().map(|status| Some(Some(status)))
}
