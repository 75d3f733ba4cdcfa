//! Compares the dumps in the book with what the compiler prints. `ACCEL_UPDATE=1` updates the book; then read the text around the dumps
//! again.
//!
//! In a page, `<!-- dump: NAME -->` marks the code block below it as the dump of that name.

mod layers;
mod least_squares;
mod line;
mod root;
mod saxpy;
mod tracing;

use accel::prelude::*;
use accel::surface::graph::Node;
use accel::surface::{ArrayFn, Staged, stage};
use accel_codegen::emit;
use accel_codegen::nest::lower::reduce::TiledSum;
use accel_codegen::nest::schedule::apply;
use accel_codegen::nest::strip_sums::Machine;
use accel_codegen::nest::tiled_sums;
use accel_codegen::opencl;
use accel_fusion::kernel::{Op, Program as Kernels};
use accel_fusion::pipeline::{Options, Pipeline, Target, lower};
use accel_trace::Keep;
use std::path::Path;

const LAYERS: &str = include_str!("book/layers.rs");
const LEAST_SQUARES: &str = include_str!("book/least_squares.rs");
const LINE: &str = include_str!("book/line.rs");
const ROOT: &str = include_str!("book/root.rs");
const SAXPY: &str = include_str!("book/saxpy.rs");

/// Compares the dumps in a page with those that `dump` returns, and its listing with the source of the program.
fn check(page: &str, source: &str, dump: impl Fn(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src").join(page);
    let text = std::fs::read_to_string(&path).expect("a page");
    let (_, function) = source.split_once("\n\n").expect("a program below an import");
    assert!(text.contains(&function.replace("pub fn", "fn")), "{page} has another program than the test");

    const START: &str = "<!-- dump: ";
    let mut parts = text.split(START);
    let mut updated = parts.next().unwrap_or_default().to_string();
    let mut count = 0;
    for part in parts {
        let (name, rest) = part.split_once(" -->\n```").expect("a code block after the comment");
        let (language, rest) = rest.split_once('\n').expect("a line");
        let (_, rest) = rest.split_once("\n```\n").expect("the end of the code block");
        updated += &format!("{START}{name} -->\n```{language}\n{}\n```\n{rest}", dump(name).trim_end());
        count += 1;
    }
    assert!(count > 0, "{page} has no dumps");
    if std::env::var_os("ACCEL_UPDATE").is_some() {
        return std::fs::write(&path, updated).expect("a file");
    }
    let differs = text.lines().zip(updated.lines()).find(|(old, new)| old != new);
    assert!(text == updated, "{page} is stale, ACCEL_UPDATE=1 updates it; the first difference is {differs:?}");
}

/// The nodes of a graph without their source lines; `n3` is node 3.
fn graph(staged: &Staged) -> String {
    let node = |(k, n): (usize, &Node)| format!("n{k}: {} = {:?}\n", n.ty, n.op);
    let text: String = staged.nodes.iter().enumerate().map(node).collect();
    let mut parts = text.split("NodeId(");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + "n" + &part.replacen(')', "", 1))
}

/// A kernel program without source lines.
fn kernels(program: &Kernels) -> String {
    let mut text = String::new();
    for line in program.to_string().lines().filter(|line| !line.starts_with("site ")) {
        let mut parts = line.split(" @");
        text += parts.next().unwrap_or_default();
        parts.for_each(|part| text += part.trim_start_matches(|c: char| c.is_ascii_digit()));
        text.push('\n');
    }
    text
}

/// A function of a C file.
fn function(source: &str, name: &str) -> String {
    let start = source.find(&format!("int {name}(")).expect("the function");
    let start = source[..start].rfind('\n').map_or(0, |line| line + 1);
    let end = source[start..].find("\n}\n").expect("its end");
    source[start..start + end + 2].to_string()
}

#[test]
fn how_a_program_is_compiled() {
    let program = afun(least_squares::loss);
    let both = value_and_grad(&program);
    let pipeline = Pipeline::new(both.program().expect("a program"), Target::Processor, Options::default());
    let pipeline = pipeline.expect("a pipeline");
    let page = include_str!("../../book/src/compilation.md");
    assert!(page.contains(DISTANCES), "the chapter has another kernel program than the test");
    check("compilation.md", LEAST_SQUARES, |name| match name {
        "ast" => program.to_string(),
        "kernels" => kernels(&pipeline.optimized(true).expect("an optimised program").program),
        name => nest(name),
    });
}

/// The kernel program of the chapter's section on loop nests.
const DISTANCES: &str = include_str!("book/distances.kernel");

/// The nests of that program: `naive`, or after the step of its schedule that begins with these words; and the `schedule`.
fn nest(name: &str) -> String {
    let program: Kernels = DISTANCES.parse().expect("a kernel program");
    let Some(Op::Reduce { to, rows, .. }) = program.body.stmts.first().map(|s| &s.op) else { panic!("no reduction") };
    let sum = TiledSum::new(&program, *to, rows).expect("a tiled sum");
    let machine = Machine { vector: 4, registers: 16 };
    let (lowered, steps) = (sum.lower(tiled_sums::least(machine)), tiled_sums::schedule(2, machine));
    if name == "schedule" {
        return steps.join("\n");
    }
    let count = steps.iter().position(|step| step.starts_with(name)).map_or(0, |k| k + 1);
    assert_eq!(count == 0, name == "naive", "there is no dump {name}");
    apply(&lowered.nest, &lowered.names, &steps[..count].join("\n")).expect("a nest").to_string()
}

#[test]
fn devices() {
    let program = afun(saxpy::saxpy);
    let pipeline = Pipeline::new(program.program().expect("a program"), Target::Graphics, Options::default());
    let optimized = pipeline.expect("a pipeline").optimized(true).expect("an optimised program").program;
    let device = opencl::Target {
        units: 16,
        largest_group: 1024,
        local_memory: 32 << 10,
        wide: true,
        atomics_64: true,
        look_back: false,
    };
    let source = opencl::emit(&optimized, &device).source;
    let end = source.find("static int loop_0(").expect("the first kernel");
    check("devices.md", SAXPY, |_| source[end..].to_string());
}

#[test]
fn how_it_is_built() {
    let program = afun(line::loss);
    let both = value_and_grad(&program);
    let pipeline = Pipeline::new(both.program().expect("a program"), Target::Processor, Options::default());
    let pipeline = pipeline.expect("a pipeline");
    let optimized = pipeline.optimized(true).expect("an optimised program").program;
    check("how-it-is-built.md", LINE, |name| match name {
        "graph" => graph(&stage(|args| line::loss.apply(args)).expect("a graph")),
        "ast" => program.to_string(),
        "ad" => both.to_string(),
        "simplified" => pipeline.simplified().expect("a program").to_string(),
        "lower" => kernels(&lower(pipeline.simplified().expect("a program")).expect("a kernel program")),
        "kernels" => kernels(&optimized),
        "loop_0" | "accel_run" => function(&emit(&optimized, Default::default()).source, name),
        _ => panic!("there is no dump {name}"),
    });
}

#[test]
fn tracing_of_programs() {
    let dump = |name: &str| match name {
        "arrays" => tracing::trace_of_root(Keep::Arrays),
        "scalars" => tracing::trace_of_root(Keep::Scalars),
        "layers" => tracing::table(),
        _ => panic!("there is no dump {name}"),
    };
    check("tracing.md", ROOT, dump);
    check("tracing.md", LAYERS, dump);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/layers.svg");
    if std::env::var_os("ACCEL_UPDATE").is_some() {
        return std::fs::write(&path, tracing::picture()).expect("a file");
    }
    let picture = std::fs::read_to_string(&path).expect("a picture");
    assert!(picture == tracing::picture(), "layers.svg is stale, ACCEL_UPDATE=1 updates it");
}
