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

/// How a run of a program went.
pub enum Outcome {
    /// It has ended.
    Ended(Ended),
    /// It did not end in time. It was killed, with the processes that it has started.
    Late {
        /// Whether it is known that they have used hardly any processor time: they waited for something.
        idle: bool,
    },
}

/// A program that has used less than this part of its time has waited.
const IDLE: u32 = 50;

/// Runs a program without input until it ends.
///
/// # Errors
/// The program cannot be run.
pub fn run(command: &mut Command, limit: Duration) -> io::Result<Outcome> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn()?;
    let said = beginning(child.stdout.take()).and_then(|out| Ok((out, beginning(child.stderr.take())?)));
    let status = ended(&mut child, limit)?;
    let (output, errors) = said?;
    let text = |from: Receiver<Vec<u8>>| from.recv_timeout(GRACE).unwrap_or_default();
    Ok(match status {
        Ok(status) => Outcome::Ended(Ended { status, output: text(output), errors: text(errors) }),
        Err(Late { used }) => Outcome::Late { idle: used.is_some_and(|used| used < limit / IDLE) },
    })
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

/// A process has not ended in time.
struct Late {
    /// The processor time that its group has used, if known.
    used: Option<Duration>,
}

/// The status of a process that has ended.
type Status = Result<Option<ExitStatus>, Late>;

/// Waits at most `limit` until a process ends. Then kills all of its group.
#[cfg(unix)]
fn ended(child: &mut Child, limit: Duration) -> io::Result<Status> {
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
    let used = if in_time { None } else { processor_time(pid) };
    if !in_time {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let status = match child.wait() {
        Err(e) if e.raw_os_error() == Some(Errno::CHILD.raw_os_error()) => None,
        status => Some(status?),
    };
    waiter.map(|_| if in_time { Ok(status) } else { Err(Late { used }) })
}

/// The processor time that the processes of a group have used, with that of their children that have ended. `None` if the system
/// does not say.
#[cfg(target_os = "linux")]
fn processor_time(group: rustix::process::Pid) -> Option<Duration> {
    let of_process = |stat: String| {
        // After the name, which can contain anything: the state, the parent, the group, ..
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let is_one = fields.get(2)?.parse() == Ok(group.as_raw_nonzero().get());
        let times = || fields.get(11..15)?.iter().map(|t| t.parse::<u64>().ok()).sum::<Option<u64>>();
        is_one.then(times)?
    };
    let all = std::fs::read_dir("/proc").ok()?.flatten();
    let ticks: u64 = all.filter_map(|p| of_process(std::fs::read_to_string(p.path().join("stat")).ok()?)).sum();
    Some(Duration::from_secs(ticks) / rustix::param::clock_ticks_per_second() as u32)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn processor_time(_: rustix::process::Pid) -> Option<Duration> {
    None
}

/// Waits until a process ends.
#[cfg(not(unix))]
fn ended(child: &mut Child, _limit: Duration) -> io::Result<Status> {
    child.wait().map(|status| Ok(Some(status)))
}
