//! The available memory, for inputs whose size does not limit the memory that they need.

use std::fs::read_to_string;

/// The number of bytes that this process can get: what the system can give without swapping, and at most what the
/// limits of the process and of its control group allow. `None` if the system does not report it.
pub fn available_memory() -> Option<u64> {
    let system = field("/proc/meminfo", "MemAvailable:").map(|kilobytes| kilobytes.saturating_mul(1024));
    let process = field("/proc/self/limits", "Max address space");
    let group = read_to_string("/proc/self/cgroup").ok().and_then(|groups| {
        let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?.to_string();
        field(&format!("/sys/fs/cgroup{path}/memory.max"), "")
    });
    [system, process, group].into_iter().flatten().min()
}

/// The number after a name in a file.
fn field(file: &str, name: &str) -> Option<u64> {
    let text = read_to_string(file).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The approximate number of bytes of the Jacobian of a bundle adjustment problem, with its input: cameras, points, and
/// 31 entries for each observation, with their columns and the derivatives from which they are computed.
pub fn ba_bytes(n: usize, m: usize, p: usize) -> u64 {
    let all = [(n, 2 * 88), (m, 2 * 24), (p, 800)].map(|(count, each)| (count as u64).saturating_mul(each));
    all.into_iter().fold(0, u64::saturating_add)
}

/// Checks that this number of bytes is available.
///
/// # Errors
/// `(needed, available)`, as text for users.
pub fn check_memory(bytes: u64) -> Result<(), (String, String)> {
    check(bytes, available_memory())
}

fn check(bytes: u64, available: Option<u64>) -> Result<(), (String, String)> {
    let people = |bytes: u64| format!("{} MB of memory", bytes.div_ceil(1_000_000));
    match available {
        Some(there) if bytes > there => Err((format!("about {}", people(bytes)), people(there))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_told() {
        assert_eq!(check(1000, None), Ok(()));
        assert_eq!(check(1000, Some(1000)), Ok(()));
        let told = check(ba_bytes(1, 1, 3_000_000), Some(1 << 30));
        assert_eq!(told, Err(("about 2401 MB of memory".into(), "1074 MB of memory".into())));
        assert_eq!(ba_bytes(usize::MAX, usize::MAX, usize::MAX), u64::MAX);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_says_how_much_there_is() {
        assert!(available_memory().unwrap() > 1 << 20);
        assert_eq!(field("/proc/meminfo", "No such field"), None);
    }
}
