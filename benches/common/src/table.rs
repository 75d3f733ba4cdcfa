//! One table of all workloads: the two sides of a case are measured alternately, and their medians are compared.

use crate::case::{Asked, Case, Measure, Pair, Result};
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

/// The extent of the measurements.
pub struct Effort {
    /// The number of turns of each side.
    pub rounds: usize,
    /// The number of turns if one side is another process, which takes seconds to start.
    pub rounds_elsewhere: usize,
    /// The minimal time of a turn.
    pub turn: Duration,
}

const FULL: Effort = Effort { rounds: 9, rounds_elsewhere: 3, turn: Duration::from_millis(100) };
const QUICK: Effort = Effort { rounds: 3, rounds_elsewhere: 1, turn: Duration::from_millis(20) };
/// Work that takes longer than this gets one turn.
const PATIENCE: Duration = Duration::from_secs(2);

/// Measures the cases whose theme or work contains one of the filters (all, if there is none) and prints them.
pub fn print(cases: Vec<Case>, options: &[&str]) -> Result<()> {
    let effort = if options.contains(&"--quick") { QUICK } else { FULL };
    let filters: Vec<&str> = options.iter().filter(|o| !o.starts_with("--")).copied().collect();
    print_machine(&effort);
    println!("| work | reference | reference time | our time | ratio | asked | met |");
    println!("| --- | --- | ---: | ---: | ---: | --- | --- |");
    for case in cases {
        let chosen = |filter: &&str| case.theme.contains(*filter) || case.work.contains(*filter);
        if !filters.is_empty() && !filters.iter().any(chosen) {
            continue;
        }
        let (work, reference, asked) = (case.work, case.reference, case.asked);
        match (case.setup)().and_then(|pair| measure(pair, &effort)) {
            Ok(times) => println!("{}", row(&work, reference, &asked, times)),
            Err(reason) => {
                let reason = reason.to_string();
                let reason = reason.lines().next().unwrap_or_default().replace('|', "\\|");
                println!("| {work} | {reference} | | | | {} | not run: {reason} |", asked_text(&asked));
            }
        }
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// The medians, in seconds, and the median of the rounds' ratios (reference time over ours).
pub struct Times {
    /// The reference.
    pub reference: f64,
    /// Our program.
    pub ours: f64,
    /// How many times as fast as the reference we are.
    pub speed: f64,
}

/// Measures both sides of a case alternately.
///
/// # Errors
/// A run fails.
pub fn measure(pair: Pair, effort: &Effort) -> Result<Times> {
    let (mut reference, mut ours) = (pair.reference, pair.ours);
    let (reference_plan, our_plan) = (plan(&mut reference, effort)?, plan(&mut ours, effort)?);
    let (mut reference_times, mut our_times, mut speeds) = (vec![], vec![], vec![]);
    for _ in 0..reference_plan.rounds.min(our_plan.rounds) {
        let (r, o) = (turn(&mut reference, reference_plan.runs)?, turn(&mut ours, our_plan.runs)?);
        reference_times.push(r);
        our_times.push(o);
        speeds.push(r / o);
    }
    Ok(Times { reference: median(reference_times), ours: median(our_times), speed: median(speeds) })
}

/// How often one side is measured, and the number of runs in a turn.
struct Plan {
    rounds: usize,
    runs: usize,
}

/// Tries one side. The first run also faults in memory and starts threads.
fn plan(measure: &mut Measure, effort: &Effort) -> Result<Plan> {
    let Measure::Work(work) = measure else { return Ok(Plan { rounds: effort.rounds_elsewhere, runs: 1 }) };
    let begin = Instant::now();
    work()?;
    if begin.elapsed() > PATIENCE {
        return Ok(Plan { rounds: 1, runs: 1 });
    }
    let begin = Instant::now();
    let mut runs = 0;
    while begin.elapsed() < effort.turn {
        work()?;
        runs += 1;
    }
    Ok(Plan { rounds: effort.rounds, runs })
}

/// The time of one run in seconds: the median, which other processes report as well.
fn turn(measure: &mut Measure, runs: usize) -> Result<f64> {
    let work = match measure {
        Measure::Elsewhere(work) => return Ok(work()?.as_secs_f64()),
        Measure::Work(work) => work,
    };
    let run = |_| {
        let begin = Instant::now();
        work()?;
        Ok(begin.elapsed().as_secs_f64())
    };
    Ok(median((0..runs).map(run).collect::<Result<_>>()?))
}

/// The middle one of some numbers.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn row(work: &str, reference: &str, asked: &[Asked], times: Times) -> String {
    let met = |asked: &Asked| match asked {
        Asked::Speed(least) => times.speed >= *least,
        Asked::Cost(most) => 1.0 / times.speed <= *most,
        Asked::Within(most) => times.ours <= most.as_secs_f64(),
    };
    let ratio = match asked.first() {
        Some(Asked::Cost(_)) => format!("{:.2} of its time", 1.0 / times.speed),
        _ => format!("{:.2}", times.speed),
    };
    let met = match asked {
        [] => "",
        _ if asked.iter().all(met) => "yes",
        _ => "no",
    };
    let (reference_time, our_time) = (seconds(times.reference), seconds(times.ours));
    format!("| {work} | {reference} | {reference_time} | {our_time} | {ratio} | {} | {met} |", asked_text(asked))
}

fn asked_text(asked: &[Asked]) -> String {
    let text = |asked: &Asked| match asked {
        Asked::Speed(least) => format!("≥ {least}"),
        Asked::Cost(most) => format!("≤ {most} of its time"),
        Asked::Within(most) => format!("≤ {most:?}"),
    };
    asked.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Three digits, in a suitable unit.
pub fn seconds(s: f64) -> String {
    let (value, unit) = if s < 1e-3 {
        (s * 1e6, "µs")
    } else if s < 1.0 {
        (s * 1e3, "ms")
    } else {
        (s, "s")
    };
    let decimals = if value < 10.0 {
        2
    } else if value < 100.0 {
        1
    } else {
        0
    };
    format!("{value:.decimals$} {unit}")
}

/// Prints the machine, the date and the versions.
pub fn print_machine(effort: &Effort) {
    let file = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let (cpus, load) = (file("/proc/cpuinfo"), file("/proc/loadavg"));
    let model = cpus.lines().find_map(|l| l.strip_prefix("model name")).unwrap_or("unknown processor");
    let cores = std::thread::available_parallelism().map_or(0, |n| n.get());
    let first_line = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).output().map(|o| o.stdout).unwrap_or_default();
        String::from_utf8_lossy(&output).lines().next().unwrap_or("unknown").to_string()
    };
    println!(
        "{}, {}, {cores} cores, load {} at the start; revision {}; {}; {}. Medians of {} turns ({} for other processes).",
        first_line("date", &["-u", "+%F %H:%M UTC"]),
        model.trim_start_matches([' ', '\t', ':']),
        load.split(' ').next().unwrap_or("unknown"),
        first_line("git", &["describe", "--always", "--dirty"]),
        first_line("rustc", &["--version"]),
        first_line("cc", &["--version"]),
        effort.rounds,
        effort.rounds_elsewhere,
    );
    println!();
}
