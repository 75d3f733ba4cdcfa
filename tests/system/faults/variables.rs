//! Environment variables that only change how a program is compiled, or how much memory it takes: that they have an effect.

use super::machine::{Machine, end, fails, works};
use accel::prelude::*;
use std::process::Command;

/// The optimised program is printed with its checks.
#[test]
fn proofs_are_checked() {
    let machine = Machine::new();
    let dump = |value: &str| works(machine.program().env("ACCEL_DUMP", "checks").env("ACCEL_CHECK", value));
    for off in ["", "0"] {
        assert_eq!(dump(off), "", "ACCEL_CHECK={off}");
    }
    let printed = dump("1");
    assert!(printed.contains(" proved") && !printed.contains(" inside"), "{printed}");
}

#[test]
fn rules_are_left_out() {
    let machine = Machine::new();
    let tried = |without: &str| works(machine.program().env("ACCEL_DUMP", "rules").env("ACCEL_WITHOUT", without));
    for (without, rules) in [("", true), (" share, merge ", false)] {
        let printed = tried(without);
        assert!(printed.contains("-- rules\nfuse\n"), "{printed}");
        for rule in ["share", "merge"] {
            assert_eq!(printed.contains(&format!("-- rules\n{rule}")), rules, "{rule}: {printed}");
        }
    }
    let said = fails(machine.program().env("ACCEL_WITHOUT", "share,junk"));
    assert!(said.contains("some of chains, columns, ") && said.contains("share,junk"), "{said}");
}

#[test]
fn rewrites_of_fusion_are_printed() {
    let machine = Machine::new();
    let tried = |without: &str| {
        let mut part = Command::new(std::env::current_exe().unwrap());
        machine.environment(&mut part);
        part.env("ACCEL_DUMP", "rules").env("ACCEL_WITHOUT", without).env("ACCEL_BACKEND", "native");
        part.args(["--exact", "faults::variables::scattered_chained_and_sorted", "--ignored", "--nocapture"]);
        let output = end(&mut part);
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let all = ["scatter, in `permute`", "chains, in `map`", "sorts\n"];
    let (printed, without) = (tried(""), tried("scatter,chains,sorts"));
    for rule in all.map(|rule| format!("-- rules\n{rule}")) {
        assert!(printed.contains(&rule), "{rule}: {printed}");
        assert!(!without.contains(&rule), "{rule}: {without}");
    }
}

#[test]
#[ignore = "a part"]
fn scattered_chained_and_sorted() {
    let f = afun(|xs: Acc<Vector<f64>>| {
        let reversed = permute(|new, _| new, fill(xs.len(), 0.0), |i| (true, xs.len() - 1 - i), xs);
        let waves = map(|x| (x.sin(), x.cos()), xs);
        let (sines, cosines) = (map(|(sine, _)| sine.exp(), waves), map(|(_, cosine)| cosine.exp(), waves));
        (reversed, sort(xs), sum(sines), sum(cosines))
    });
    run(&f, &Array::vector(vec![3.0, 1.0, 2.0])).unwrap();
}

#[test]
fn wrong_numbers_are_errors() {
    let machine = Machine::new();
    for bad in ["junk", " ", "-1", "1e9", "10M"] {
        let said = fails(machine.program().env("ACCEL_TAPE_BYTES", bad));
        assert!(
            said.contains("ACCEL_TAPE_BYTES") && said.contains("a number of bytes") && said.contains(bad),
            "{said}"
        );
    }
    for good in [" 1000 ", ""] {
        assert_eq!(
            works(machine.program().env("ACCEL_TAPE_BYTES", good).env("ACCEL_CACHE_BYTES", good)),
            "",
            "{good:?}"
        );
    }
}

/// The states of a loop with 300 steps take 300 MB.
#[cfg(target_os = "linux")]
#[test]
fn states_take_the_memory_that_they_may() {
    let peak_with = |bytes: usize| {
        let machine = Machine::new();
        let mut part = Command::new(std::env::current_exe().unwrap());
        machine.environment(&mut part);
        part.env("ACCEL_TAPE_BYTES", bytes.to_string());
        let output =
            end(part.args(["--exact", "faults::variables::a_gradient_through_many_steps", "--ignored", "--nocapture"]));
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{said}");
        let peak = said.lines().find_map(|l| l.strip_prefix("peak: ")).unwrap_or_else(|| panic!("{said}"));
        peak.parse::<usize>().unwrap()
    };
    let [few, all] = [10 << 20, 1 << 30].map(peak_with);
    assert!(few < 150 << 20 && all > 300 << 20, "{few} and {all} bytes");
}

/// Prints the most memory that it has taken.
#[test]
#[ignore = "a part"]
fn a_gradient_through_many_steps() {
    let steps = |x: Acc<Vector<f64>>| sum(aiterate(300, |v: Acc<Vector<f64>>| map(|x| x * 0.9 + x.sin() * 0.1, v), x));
    let n = 1 << 17;
    let gradient = run(grad(&afun(steps)), &Array::vector(vec![0.5; n])).unwrap();
    let expected = gradient.as_slice()[0];
    assert!(0.0 < expected && expected < 1.0 && gradient.iter().all(|x| (x - expected).abs() < 1e-12));
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: usize = peak.trim().trim_end_matches(" kB").parse().unwrap();
    // On a line of its own.
    println!("\npeak: {}", kilobytes << 10);
}
