//! Transformations of nests. Each file of the folder `nests` has a nest, a schedule, and the nest that the schedule makes
//! of it; `ACCEL_UPDATE=1` rewrites the latter. Some have the text of the result as well, in C or in OpenCL C. Both nests are evaluated on random numbers for several extents. In
//! schedules of files, a loop is named as its variable.

use accel_codegen::nest::edit;
use accel_codegen::nest::eval::{Memory, evaluate};
use accel_codegen::nest::ir::{BufferId, Nest, Node};
use accel_codegen::nest::lower;
use accel_codegen::nest::schedule::{Names, apply};
use accel_codegen::nest::side_by_side::{ACROSS, COLUMNS, side_by_side};
use accel_codegen::nest::verify::verify;
use accel_codegen::nest_text;
use accel_core::repr::{Scalar, ScalarType};
use accel_fusion::kernel::{Op, Program, Reg};
use quickcheck::{Arbitrary, Gen, QuickCheck};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Small whole numbers, so that sums are exact in any order.
fn number(seed: &mut u64) -> Scalar {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    Scalar::F64((*seed >> 60) as f64 - 7.0)
}

/// Memory with random numbers, where parameter `k` of type `i64` has the value `extents(k)`.
fn memory(nest: &Nest, extents: impl Fn(usize) -> i64, mut seed: u64) -> Memory {
    let mut registers = HashMap::new();
    for (k, p) in nest.params.iter().enumerate() {
        let x = match nest.types[p.register] {
            ScalarType::I64 => {
                let n = extents(k) / p.multiple * p.multiple;
                Scalar::I64(n.min(p.most.unwrap_or(n)).max(p.least.unwrap_or(0)))
            }
            _ => number(&mut seed),
        };
        registers.insert(p.register, x);
    }
    let size = |b: BufferId| -> i64 {
        let extent = |e: &accel_codegen::nest::ir::Affine| {
            e.terms.iter().fold(e.constant, |sum, (r, k)| match registers[r] {
                Scalar::I64(x) => sum + k * x,
                _ => sum,
            })
        };
        nest.buffers[b].extents.iter().map(extent).product()
    };
    let fixed = nest.buffers.indices().filter(|b| !nest.buffers[*b].space.begins_inside());
    let sizes: Vec<_> = fixed.map(|b| (b, size(b))).collect();
    let buffers = sizes.into_iter().map(|(b, n)| (b, (0..n).map(|_| number(&mut seed)).collect())).collect();
    Memory { registers, buffers }
}

/// What a nest computes, without its parameters.
fn result(nest: &Nest, memory: &Memory) -> Result<HashMap<BufferId, Vec<Scalar>>, String> {
    let mut memory = memory.clone();
    evaluate(nest, &mut memory)?;
    Ok(memory.buffers)
}

/// Checks that two nests with the same parameters and buffers compute the same.
fn compare(before: &Nest, after: &Nest) -> Result<(), String> {
    // The fourth parameter of random nests is a multiple of 8.
    let all = [[3, 5, 2, 16], [1, 1, 1, 8], [0, 2, 0, 24], [9, 1, 4, 8], [2, 17, 1, 8], [1, 2, 9, 32], [4, 3, 2, 0]];
    for (seed, extents) in all.into_iter().enumerate() {
        let memory = memory(before, |k| extents[k % extents.len()], seed as u64);
        // The numbers of parameters do not change.
        let other = Memory {
            registers: before
                .params
                .iter()
                .zip(&after.params)
                .map(|(b, a)| (a.register, memory.registers[&b.register]))
                .collect(),
            buffers: memory.buffers.clone(),
        };
        let (expected, found) = (result(before, &memory)?, result(after, &other)?);
        if expected != found {
            return Err(format!("extents {extents:?}: expected {expected:?}, found {found:?}"));
        }
    }
    Ok(())
}

fn names(nest: &Nest) -> Names {
    edit::loops(&nest.body).into_iter().map(|f| (format!("x{}", f.var), f.var)).collect()
}

fn check(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let (source, rest) = text.split_once("//= schedule\n").ok_or("no schedule")?;
    let (schedule, expected) = rest.split_once("//= result\n").ok_or("no result")?;
    let steps: String = schedule.lines().map(|l| l.trim_start_matches("// ").to_string() + "\n").collect();
    let nest: Nest = source.parse().map_err(|e: accel_core::error::Error| e.to_string())?;
    verify(&nest)?;
    let found = match apply(&nest, &names(&nest), &steps) {
        Ok(after) => {
            verify(&after).map_err(|e| format!("{e} in\n{after}"))?;
            compare(&nest, &after).map_err(|e| format!("{e}\n{after}"))?;
            let again: Nest = after.to_string().parse().map_err(|e: accel_core::error::Error| e.to_string())?;
            if again != after {
                return Err(format!("the text form lost something:\n{after}\n{again}"));
            }
            let mut found = after.to_string();
            for (head, for_device) in [("//= c\n", false), ("//= opencl\n", true)] {
                if expected.contains(head) {
                    let text = nest_text(&after, ScalarType::F64, for_device);
                    found += &(head.to_string() + &text.unwrap_or_else(|why| why + "\n"));
                }
            }
            found
        }
        Err(why) => format!("{why}\n"),
    };
    if found == expected {
        return Ok(());
    }
    if std::env::var_os("ACCEL_UPDATE").is_some() {
        return std::fs::write(path, format!("{source}//= schedule\n{schedule}//= result\n{found}"))
            .map_err(|e| e.to_string());
    }
    Err(format!("expected\n{expected}\nfound\n{found}"))
}

#[test]
fn files() -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/codegen/nests");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).map_err(|e| e.to_string())? {
        let path = entry.map_err(|e| e.to_string())?.path();
        check(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        count += 1;
    }
    if count > 0 { Ok(()) } else { Err("no files".into()) }
}

/// A naive nest of loops `i`, `j`, `l`, `k` in some order, around the sum of a product, and a random schedule. A factor may be
/// computed before, in loops of its own.
#[derive(Clone, Debug)]
struct Case {
    nest: String,
    steps: Vec<String>,
}

/// A nest, the loops of its result, and those over the elements of a sum.
struct Naive {
    nest: String,
    outer: Vec<String>,
    inner: Vec<String>,
    /// The loops that compute a factor.
    before: Vec<String>,
}

impl Naive {
    fn arbitrary(g: &mut Gen) -> Naive {
        // x0, x1, x2: extents; `x3` is a multiple of 8 up to 32. x4 to x7 are the loops, x9 to x11 those of a factor.
        let bounds = ["x0", "x1", "x2", "x3"];
        let mut order = [0, 1, 2, 3];
        order.sort_by_cached_key(|_| u8::arbitrary(g));
        // A row: a store before the sum, in the loops of the result; the last loops are over its elements.
        let of_result = if bool::arbitrary(g) { 2 } else { 3 };
        let (outer, inner) = order.split_at(of_result);
        let index = |all: &[usize]| all.iter().map(|k| format!("x{}", 4 + k)).collect::<Vec<_>>().join(", ");
        let extents = |all: &[usize]| all.iter().map(|k| bounds[*k]).collect::<Vec<_>>().join(", ");
        let mut subset = || -> Vec<usize> {
            let mut all: Vec<usize> = (0..4).filter(|_| bool::arbitrary(g)).collect();
            all.sort_by_cached_key(|_| u8::arbitrary(g));
            all
        };
        let (a, mut b) = (subset(), subset());
        let computes = bool::arbitrary(g);
        // The outermost loop can compute a factor if that has its index first.
        if computes && bool::arbitrary(g) {
            b.retain(|k| *k != outer[0]);
            b.insert(0, outer[0]);
        }
        // An index that may be out of bounds, in all dimensions but the last one.
        let masked = u8::arbitrary(g) % 4 == 0;
        // The elements are combined in any order, or in theirs.
        let at = index(outer);
        let combined = match u8::arbitrary(g) % 4 {
            0 => format!("x18: f64 = load b0[{at}]\nx19: f64 = x16 - x18\nstore b0[{at}] = x19"),
            1 => format!("acc sum b0[{at}] x16"),
            _ => format!("acc sum b0[{at}] x14 * x15"),
        };
        let mut nest = format!(
            "nest\nparam x0: i64 = n0\nparam x1: i64 = n1\nparam x2: i64 = n2\nparam x3: i64 = n3 multiple 8 most 32\n\
             b0: f64 = total a0 0 [{}]\nb1: f64 = array a1 0 [{}]\nb2: f64 = array a2 0 [{b2}]\nb3: f64 = array a3 0 [{b2}]\n{{\n",
            extents(outer),
            extents(&a),
            b2 = extents(&b)
        );
        let open = |nest: &mut String, r: usize, k: usize| *nest += &format!("for x{r} = 0 to {} {{\n", bounds[k]);
        let before: Vec<String> = if computes { (0..b.len()).map(|d| format!("x{}", 8 + d)).collect() } else { vec![] };
        if computes {
            b.iter().enumerate().for_each(|(d, k)| open(&mut nest, 8 + d, *k));
            let at = before.join(", ");
            nest += &format!("x12: f64 = load b3[{at}]\nx13: f64 = x12 + x12\nstore b2[{at}] = x13\n");
            nest += &"}\n".repeat(b.len());
        }
        outer.iter().for_each(|k| open(&mut nest, 4 + k, *k));
        nest += "x17: f64 = 2.0\n";
        if bool::arbitrary(g) {
            nest += &format!("store b0[{}] = x17\n", index(outer));
        }
        inner.iter().for_each(|k| open(&mut nest, 4 + k, *k));
        nest += &format!(
            "x14: f64 = load b1[{}]{}\nx15: f64 = load b2[{}]\nx16: f64 = x14 + x15\n{combined}\n",
            if masked { index(&a).replace(',', " + 1,") } else { index(&a) },
            if masked { " masked 3.0" } else { "" },
            index(&b)
        );
        nest += &"}\n".repeat(4);
        // Registers have numbers without gaps, so those that have no use are set as well.
        let first = if computes { 8 + b.len() } else { 8 };
        let last = if computes { 12 } else { 14 };
        (first..last).for_each(|r| nest += &format!("x{r}: i64 = 1\n"));
        nest += "}\n";
        let names = |all: &[usize]| all.iter().map(|k| format!("x{}", 4 + k)).collect();
        Naive { nest, outer: names(outer), inner: names(inner), before }
    }
}

/// A random step on these loops, whose new loops are named after `at`.
fn step(g: &mut Gen, loops: &mut Vec<String>, at: usize) -> String {
    let name = g.choose(loops).cloned().unwrap_or_default();
    let factor = *g.choose(&[1, 2, 3, 4, 8]).unwrap_or(&2);
    let new: Vec<String> = ["o", "i", "r"].iter().map(|n| format!("{n}{at}")).collect();
    let step = match u8::arbitrary(g) % 15 {
        0 => format!("split {name} {factor} exact {} {}", new[0], new[1]),
        1 | 2 => format!("split {name} {factor} clamp {} {}", new[0], new[1]),
        3 => format!("split {name} {factor} peel {} {} {}", new[0], new[1], new[2]),
        4 => format!("interchange {name}"),
        5 | 6 => format!("unroll {name}"),
        7 => format!("accumulate {name}"),
        8 => format!("rfactor {name} {factor} {}", new[0]),
        9 => format!("bind {name} parallel"),
        10 => format!("bind {name} unroll"),
        11 => format!("bind {name} group 0"),
        12 => format!("bind {name} item 1"),
        13 => format!("hold {name}"),
        _ => format!("specialise {name}"),
    };
    if ["split", "rfactor"].iter().any(|t| step.starts_with(t)) {
        loops.extend(new);
    }
    step
}

/// The steps that divide a result among groups, and these among items.
fn groups(g: &mut Gen, naive: &Naive) -> Vec<String> {
    let [a, b, c] = [0; 3].map(|_| *g.choose(&[1, 2, 3, 4]).unwrap_or(&2));
    let last = naive.inner.last().cloned().unwrap_or_default();
    let (x, y) = (&naive.outer[naive.outer.len() - 2], &naive.outer[naive.outer.len() - 1]);
    let mut steps = vec![
        format!("accumulate {}", naive.inner[0]),
        format!("split {x} {a} clamp gx ix"),
        "interchange ix".into(),
        format!("split {y} {b} clamp gy iy"),
        format!("split {last} {c} clamp k0 k1"),
        "bind gx group 1".into(),
        "bind gy group 0".into(),
        "bind iy item 0".into(),
        "bind ix item 1".into(),
    ];
    // Any of them may be missing.
    if bool::arbitrary(g) {
        steps.remove(usize::arbitrary(g) % steps.len());
    }
    steps
}

impl Arbitrary for Case {
    fn arbitrary(g: &mut Gen) -> Case {
        let naive = Naive::arbitrary(g);
        let mut loops = [&naive.outer[..], &naive.inner, &naive.before].concat();
        let mut steps = vec![];
        if u8::arbitrary(g) % 4 == 0 {
            steps.extend(groups(g, &naive));
            loops.extend(["gx", "ix", "gy", "iy", "k0", "k1"].map(String::from));
        }
        for at in 0..usize::arbitrary(g) % 9 {
            steps.push(step(g, &mut loops, at));
        }
        if bool::arbitrary(g) {
            steps.push(format!("vectorise {}", g.choose(&loops).cloned().unwrap_or_default()));
        }
        Case { nest: naive.nest, steps }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Case>> {
        let case = self.clone();
        Box::new((0..case.steps.len()).map(move |k| {
            let mut less = case.clone();
            less.steps.remove(k);
            less
        }))
    }
}

/// Every schedule that applies keeps what a nest computes. Transformations that do not apply are left out.
#[test]
fn random_schedules_keep_what_nests_compute() {
    // Steps that are tried, steps that apply, and nests that cannot be written.
    static TRIED: AtomicUsize = AtomicUsize::new(0);
    static APPLIED: AtomicUsize = AtomicUsize::new(0);
    static REFUSED: AtomicUsize = AtomicUsize::new(0);
    fn property(case: Case) -> Result<bool, String> {
        let nest: Nest = case.nest.parse().map_err(|e: accel_core::error::Error| format!("{e} in\n{}", case.nest))?;
        verify(&nest)?;
        let mut applied = vec![];
        for step in &case.steps {
            applied.push(step.as_str());
            if apply(&nest, &names(&nest), &applied.join("\n")).is_err() {
                applied.pop();
            }
        }
        TRIED.fetch_add(case.steps.len(), Relaxed);
        APPLIED.fetch_add(applied.len(), Relaxed);
        let after = apply(&nest, &names(&nest), &applied.join("\n")).map_err(|why| why.to_string())?;
        let shown = |e: String| format!("{e}\nsteps: {applied:?}\n{nest}\n{after}");
        // A loop over vectors that holds another loop variable in an index is no nest that can be written.
        if let Err(e) = verify(&after) {
            REFUSED.fetch_add(1, Relaxed);
            return if e.contains("vector loop") { Ok(true) } else { Err(shown(e)) };
        }
        compare(&nest, &after).map_err(shown)?;
        // Whatever is verified has a text form, and is written: groups for devices, vectors in C.
        let again: Nest = after.to_string().parse().map_err(|e: accel_core::error::Error| shown(e.to_string()))?;
        for (for_device, left_out) in [(false, "there are no groups of items"), (true, "there are no vectors")] {
            let text = nest_text(&after, ScalarType::F64, for_device);
            text.map_or_else(|e| if e == left_out { Ok(()) } else { Err(shown(e)) }, |_| Ok(()))?;
        }
        Ok(again == after)
    }
    QuickCheck::new().tests(400).quickcheck(property as fn(Case) -> Result<bool, String>);
    let [tried, applied, refused] = [&TRIED, &APPLIED, &REFUSED].map(|n| n.load(Relaxed));
    // A third of the steps apply, and 7 or 8 nests are refused.
    assert!(4 * applied > tried, "only {applied} of {tried} steps apply");
    assert!(refused <= 25, "{refused} of 400 nests are refused");
}

/// The schedules of reductions side by side keep the order of the elements, for operators of several columns that are no monoid.
#[test]
fn reductions_side_by_side_keep_their_order() -> Result<(), String> {
    let text = "program (a0: Array2<f64>, a1: Array1<f64>)
        site 0 = \"fold1\"
        {
          a2: Array1<f64, f64> = reduce @0
            extents () { x0: i64 = extent a0 1 -> x0 }
            len () { x0: i64 = extent a0 0 -> x0 }
            element (x0: i64, x1: i64) {
              x2: f64 = a0[x1, x0] @0 inside
              x3: f64 = a1[x1] @0 inside
              x4: f64 = x2 - x3
              -> x2, x4
            }
            op (x0: f64, x1: f64, x2: f64, x3: f64) {
              x4: f64 = x2 - x1
              x5: bool = x4 < x0
              x6: f64 = if x5 { x7: f64 = x3 - x0 -> x7 } else { -> x3 }
              -> x4, x6
            }
          -> a2
        }";
    let program: Program = text.parse().map_err(|e: accel_core::error::Error| e.to_string())?;
    let Some(Op::Reduce { to, rows, .. }) = program.body.stmts.first().map(|s| &s.op) else {
        return Err("no reduction".into());
    };
    let (naive, _) = lower::side_by_side::side_by_side(&program, *to, 1, rows);
    let scheduled = |schedule| side_by_side(&program, *to, 1, rows, schedule).map_err(|why| why.to_string());
    let all = [scheduled(COLUMNS)?, scheduled(ACROSS)?];
    verify(&naive)?;
    all.iter().try_for_each(verify)?;
    for (started, first, count, width) in
        [(0, 1, 0, 3), (0, 1, 3, 3), (1, 0, 4, 1), (1, 2, 5, 2), (0, 2, 9, 4), (1, 0, 0, 2)]
    {
        let of_param = |name: &str| match name {
            "i0" => 1,
            "started" => started,
            "first" => first,
            "count" => count,
            "width" => width,
            "a0_n1" => 5,
            _ => 11,
        };
        let values = |nest: &Nest| -> Vec<i64> { nest.params.iter().map(|p| of_param(&p.name)).collect() };
        let of = |nest: &Nest| memory(nest, |k| values(nest)[k], 7);
        for after in &all {
            assert_eq!(
                result(&naive, &of(&naive))?,
                result(after, &of(after))?,
                "{started} {first} {count} {width}\n{after}"
            );
        }
    }
    Ok(())
}

/// The verifier rejects nests that break a rule, and says which.
#[test]
fn mistakes_are_told() {
    let wrong = [
        ("x0: i64 = index x1", "x1 is not set"),
        ("x0: i64 = 1\nx0: i64 = 2", "set twice"),
        ("x0: i64 = 1\nstore b0[0] = x0", "not f64"),
        ("x0: f64 = 1.0\nstore b0[0, 0] = x0", "an index of 2 numbers for 1 extents"),
        ("x0: f64 = 1.0\nstore b1[0] = x0", "does not exist here"),
        ("alloc b0", "does not begin inside"),
        ("for x0 = 0 to 4 vector {\nx1: i64 = x0 + x0\n}", "variable x0 of a vector loop"),
        ("for x0 = 0 to 4 vector {\nx1: f64 = load b0[2 * x0]\n}", "variable x0 of a vector loop"),
        ("for x0 = 0 to 4 vector {\nfor x1 = 0 to 4 vector {\n}\n}", "a vector loop in another one"),
        ("for x0 = 1 to 4 vector {\n}", "not from 0"),
        ("for x0 = 0 to 4 step 0 {\n}", "not positive"),
        ("for x0 = 0 to 4 {\n}\nx1: i64 = index x0", "x0 is not set"),
        ("for x0 = 0 to 4 vector {\nx1: bool = true\nx2: bool = if x1 { -> x1 } else { -> x1 }\n}", "in a vector loop"),
        ("for x0 = 0 to 8 vector {\nx1: f64 = load b0[x0]\nacc sum b0[0] x1\n}", "a vector becomes one number"),
        ("for x0 = 0 to 8 vector {\nx1: f64 = load b0[x0]\nx2: bool = x1 < x1\n}", "no arithmetic"),
        (
            "alloc b3\nfor x0 = 0 to 8 vector {\nx1: f64 = load b0[x0]\nacc sum b3[] x1\n}",
            "begins outside a vector loop",
        ),
        ("x0: i64 = 1\nx1: i64 = if x0 { -> x0 } else { -> x0 }", "not bool"),
        ("x0: bool = true\nx1: i64 = if x0 { -> x0 } else { -> x0 }", "not i64"),
        ("x0: bool = true\nx1: bool = if x0 { x2: bool = not x0 -> x2 } else { -> x2 }", "x2 is not set"),
        ("x0: bool = true\nx1: bool = if x0 { x2: bool = not x0 -> x2 } else { x2: bool = not x0 -> x2 }", "set twice"),
        ("x0: i64 = 1\nx1: i64 = while x0 cond { -> x1 } body { -> x1 }", "not bool"),
        ("x0: bool = true\nx1: bool = while x0 cond { -> x1 } body { x2: i64 = 1 -> x2 }", "not bool"),
        ("x0: bool = true\nx1: bool, x2: i64 = while x0 cond { -> x1 } body { -> x1 } lists x1", "not i64"),
        (
            "x0: bool = true\nx1: bool, x2: bool = while x0 cond { -> x1 } body { -> x1 } lists x1\nx3: bool = not x2",
            "the list x2 is used as a number",
        ),
        ("x0: i64 = 1\nx1: i64 = list x0[x0]", "there is no list x0"),
        ("x0: bool = true\nx1: f64 = if x0 { x2: f64 = a0[] @0 -> x2 } else { x3: f64 = 1.0 -> x3 }", "reads an array"),
        ("alloc b1\nx0: f64 = 1.0\nstore b1[0] = x0 nontemporal", "not in memory from outside"),
        ("x0: f64 = load b0[9] masked 1", "a mask of type i64"),
        ("alloc b1\nx0: f64 = load b1[9] checked @0", "no array whose indices can be checked"),
        ("for x0 = 0 to 4 vector {\nx1: f64 = load b0[x0] masked 0.0\n}", "may be out of bounds in a vector loop"),
        ("for x0 = 0 to 4 item 0 {\nx1: f64 = load b0[x0] checked @0\n}", "while other items wait"),
        ("for x0 = 0 to 4 vector {\nfail 1 @0 0 []\n}", "a failure in a vector loop"),
        ("prefetch b0[0] masked 0.0", "an index that may be out of bounds"),
        ("alloc b1\nprefetch b1[0]", "not in memory from outside"),
        ("for x0 = 1 to 4 parallel {\n}", "does not begin at 0"),
        ("for x0 = 0 to 4 step 2 whole parallel {\n}", "leaves out its last step"),
        ("x0: i64 = 4\nfor x1 = 0 to x0 parallel {\n}", "not known outside"),
        ("for x0 = 0 to 4 parallel {\n}\nfor x1 = 0 to 5 parallel {\n}", "different ranges"),
        ("for x0 = 0 to 4 parallel {\nfor x1 = 0 to 4 parallel {\n}\n}", "a loop (parallel) in another one"),
        (
            "for x0 = 0 to 4 parallel {\n}\nx1: f64 = 1.0\nstore b0[0] = x1",
            "outside the loops that are divided (parallel)",
        ),
        ("for x0 = 0 to 4 vector {\nfor x1 = 0 to 4 item 0 {\n}\n}", "a divided loop in a vector loop"),
        ("x0: i64 = 4\nfor x1 = 0 to x0 unroll {\n}", "without a constant number"),
        ("for x0 = 0 to 4 step 3 whole item 0 {\n}", "leaves out its last step"),
        ("for x0 = 1 to 4 group 0 {\n}", "does not begin at 0"),
        ("for x0 = 0 to 4 group 3 {\n}", "three dimensions"),
        ("x0: i64 = 4\nfor x1 = 0 to x0 item 0 {\n}", "a loop over items that is not from 0"),
        ("for x0 = 0 to 4 item 0 {\nfor x1 = 0 to 4 group 0 {\n}\n}", "groups inside items"),
        ("for x0 = 0 to 4 item 0 {\nfor x1 = 0 to 4 item 0 {\n}\n}", "a loop (item 0) in another one"),
        ("for x0 = 0 to 4 group 0 {\nfor x1 = 0 to 4 item 0 {\n}\nx2: f64 = 1.0\nstore b0[x0] = x2\n}", "(item 0)"),
        ("alloc b1\nfor x0 = 0 to 4 item 0 {\nx1: f64 = 1.0\nstore b1[0] = x1\n}", "does not exist here"),
        ("for x0 = 0 to 4 item 0 {\nalloc b2\n}", "begins in a loop over items"),
        ("barrier", "no items"),
        ("for x0 = 0 to 4 item 0 {\nfor x1 = 0 to x0 {\nbarrier\n}\n}", "some items may not reach it"),
        ("for x0 = 0 to 4 item 0 {\nx1: i64 = index 2 * x0\nif x1 < 3 {\nbarrier\n}\n}", "some items may not reach it"),
        ("for x0 = 0 to 4 item 0 {\nfor x1 = 0 to 4 vector {\nbarrier\n}\n}", "some items may not reach it"),
    ];
    for (body, expected) in wrong {
        let text = format!(
            "nest\nb0: f64 = array a0 0 [8]\nb1: f64 = local [8]\nb2: f64 = group [8]\nb3: f64 = local []\n{{\n{body}\n}}\n"
        );
        let found = text.parse::<Nest>().map_err(|e| e.to_string()).and_then(|n| verify(&n));
        assert!(found.as_ref().is_err_and(|e| e.contains(expected)), "{body}: expected {expected}, found {found:?}");
    }
}

/// The evaluator finds what depends on the order of items and groups.
#[test]
fn races_are_told() {
    let items = |body: &str| format!("for x0 = 0 to 2 group 0 {{\nalloc b1\nfor x1 = 0 to 8 item 0 {{\n{body}\n}}\n}}");
    let wrong = [
        (items("x2: f64 = load b0[x1]\nstore b1[0] = x2"), "two items write different numbers"),
        (items("x2: f64 = load b0[x1]\nstore b1[x1] = x2\nx3: f64 = load b1[0]"), "read while another item writes"),
        (items("x2: f64 = load b0[0]\nstore b0[x1] = x2"), "written while another item reads"),
        (items("x2: f64 = load b1[x1]"), "read before it is written"),
        // Only the items of one group wait for each other.
        (items("x2: f64 = load b0[0]\nbarrier\nstore b0[x1] = x2"), "read while another item writes"),
        ("for x0 = 0 to 8 parallel {\nx1: f64 = 1.0\nacc sum b0[0] x1\n}".into(), "read while another item writes"),
    ];
    let run = |body: &str| {
        let text = format!("nest\nb0: f64 = array a0 0 [8]\nb1: f64 = group [8]\n{{\n{body}\n}}\n");
        let nest: Nest = text.parse().map_err(|e: accel_core::error::Error| e.to_string())?;
        verify(&nest)?;
        result(&nest, &memory(&nest, |_| 0, 1))
    };
    for (body, expected) in wrong {
        let found = run(&body);
        assert!(found.as_ref().is_err_and(|e| e.contains(expected)), "{body}: expected {expected}, found {found:?}");
    }
    let right = items("x2: f64 = load b0[x1]\nstore b1[x1] = x2\nbarrier\nx3: f64 = load b1[7]\nx4: f64 = load b1[0]");
    assert!(run(&right).is_ok());
}

/// The evaluator fails where a nest does, and only there.
#[test]
fn failures_are_told() {
    let run = |body: &str| {
        let text = format!("nest\nb0: f64 = array a0 0 [8]\n{{\n{body}\n}}\n");
        let nest: Nest = text.parse().map_err(|e: accel_core::error::Error| e.to_string())?;
        verify(&nest)?;
        result(&nest, &memory(&nest, |_| 0, 1))
    };
    let wrong = [
        ("x0: f64 = load b0[8] checked @3", "index 8 is not below 8: a fault at @3"),
        ("x0: f64 = 1.0\nstore b0[- 1] checked @2 = x0", "index -1 is not below 8: a fault at @2"),
        ("x0: f64 = load b0[8]", "index 8 is not below 8"),
        ("fail 6 @1 2 [7, 8]", "a fault of kind 6 at @1"),
    ];
    for (body, expected) in wrong {
        let found = run(body);
        assert!(found.as_ref().is_err_and(|e| e.contains(expected)), "{body}: expected {expected}, found {found:?}");
    }
    let right = run(
        "x0: f64 = load b0[8] masked 5.0\nstore b0[0] checked @0 = x0\nstore b0[8] masked 0.0 = x0\nif 1 < 1 {\nfail 6 @1 2 []\n}",
    );
    assert_eq!(right.map(|b| b[&BufferId::new(0)][0]), Ok(Scalar::F64(5.0)));
}

/// Registers are independent of the order in which nodes are visited.
#[test]
fn loops_are_listed_from_the_outside() {
    let nest: Nest = "nest\n{\nfor x0 = 0 to 4 {\nfor x1 = 0 to 4 {\n}\n}\nfor x2 = 0 to 4 {\n}\n}\n".parse().unwrap();
    assert!(edit::loops(&nest.body).into_iter().map(|f| f.var).eq([0, 1, 2].map(Reg::new)));
    assert!(matches!(nest.body[..], [Node::For(_), Node::For(_)]));
}
