//! Files that ask for more memory than there is.

use super::machine::{Machine, end};
use crate::support;
use std::fs;
use std::path::Path;
use std::process::Command;

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
