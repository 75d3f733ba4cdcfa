//! A run of a compiled program: the call, and the translation of failure records to errors.
//!
//! NOTE [Results in place]: a result is new memory of the run, which becomes a column without a copy, or goes to memory of the caller. Then it
//! is copied once, and the memory of the run stays for the next one, so that nothing is allocated. Generated code does not write
//! to the caller's memory itself: a result may be an argument, or two results the same array, and a run that fails must not leave half of a
//! result. An argument may be memory of the caller, too: generated code only reads it, as it does columns.

use crate::abi::{Run, SmallStates};
use crate::callbacks::{CALLS, RunningTape};
use crate::context::{CompiledProgram, Context, Spare, Tables};
use crate::memory::{Memory, cell, element_size};
use accel_codegen::Layout;
use accel_codegen::fault::{self, STRIP, WAY};
use accel_core::error::{Error, Result};
use accel_core::repr::{Column, RawArray, RawExtents, ScalarType, View, ViewMut};
use accel_fusion::kernel::ArrayId;
use smallvec::SmallVec;

/// The results of a run. A single one needs no heap memory.
pub type Results = SmallVec<[RawArray; 1]>;

/// What a run comes to.
pub enum Outcome<R> {
    /// The results, and the largest number of bytes that they and the intermediate arrays had together.
    Done(R, usize),
    /// The strip that defines this array does not pay for the arguments.
    NoStrip(ArrayId),
    /// The program was compiled without a way to compute a reduction that the arguments need: NOTE [Ways on demand] in `accel_codegen`.
    NoWay,
}

#[cfg(test)]
impl<R> Outcome<R> {
    /// The results and the bytes of a program whose strips pay.
    fn done(self) -> (R, usize) {
        match self {
            Outcome::Done(results, bytes) => (results, bytes),
            Outcome::NoStrip(strip) => panic!("the strip of array {strip} does not pay"),
            Outcome::NoWay => panic!("a way to compute a reduction is missing"),
        }
    }
}

/// Where the results of a run go.
pub trait Place {
    type Results;

    /// Takes the results of a run.
    ///
    /// # Safety
    /// The run has computed its results, and nobody else uses its tables and its memory.
    unsafe fn take(&mut self, code: &CompiledProgram, tables: &Tables, memory: &mut Memory) -> Result<Self::Results>;
}

/// New arrays, to which the memory of the run goes.
pub struct New;

impl Place for New {
    type Results = Results;

    unsafe fn take(&mut self, code: &CompiledProgram, tables: &Tables, memory: &mut Memory) -> Result<Results> {
        let (program, layout) = (&code.program, &code.layout);
        let columns_of_results: usize = program.results.iter().map(|a| program.arrays[*a].columns.len()).sum();
        let result = |a: &ArrayId| {
            let (info, c) = (&program.arrays[*a], layout.columns[*a]);
            let shape: RawExtents = tables.extents_of(code, *a).map(|e| e as usize).collect();
            let n = shape.iter().product();
            let column = |(k, t): (usize, _)| {
                // SAFETY: the caller's guarantee: the cell or all `n` elements of the block were written.
                unsafe {
                    if info.rank == 0 {
                        cell(tables.columns[c + k], t)
                    } else {
                        memory.column(tables.blocks[c + k], t, n, columns_of_results > 1)
                    }
                }
            };
            RawArray { columns: info.columns.iter().copied().enumerate().map(column).collect(), extents: shape }
        };
        Ok(program.results.iter().map(result).collect())
    }
}

/// Memory of the caller. The memory of the run stays for the next one.
pub struct Into<'r, 'a>(pub &'r mut [ViewMut<'a>]);

impl Place for Into<'_, '_> {
    type Results = ();

    unsafe fn take(&mut self, code: &CompiledProgram, tables: &Tables, memory: &mut Memory) -> Result<()> {
        let (program, layout) = (&code.program, &code.layout);
        if self.0.len() != program.results.len() {
            return Err(Error::Internal("as many places as results".into()));
        }
        for (place, a) in self.0.iter().zip(&program.results) {
            place.check(&tables.extents_of(code, *a).map(|e| e as usize).collect::<RawExtents>())?;
        }
        for (place, a) in self.0.iter_mut().zip(&program.results) {
            let (info, c) = (&program.arrays[*a], layout.columns[*a]);
            let n: usize = tables.extents_of(code, *a).map(|e| e as usize).product();
            let mut fits = true;
            place.overwrite(|k, mut part| {
                fits &= info.columns.get(k) == Some(&part.ty()) && part.bytes() == n * element_size(part.ty());
                if !fits {
                    return;
                }
                let from = match info.rank {
                    0 => tables.columns[c + k].cast_const(),
                    // SAFETY: the caller's guarantee; blocks exist as long as the memory.
                    _ => unsafe { (*tables.blocks[c + k]).data.cast_const() },
                };
                // SAFETY: the place has the extents and the type of the result, all of whose elements were written. It is memory of the
                // caller, so it is not memory of the run.
                unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), part.as_mut_ptr(), part.bytes()) };
            });
            fits.then_some(()).ok_or_else(|| Error::Internal("a result of another type than its place".into()))?;
        }
        for a in program.results.iter().filter(|a| program.arrays[**a].rank > 0) {
            let c = layout.columns[*a];
            for block in &tables.blocks[c..c + program.arrays[*a].columns.len()] {
                // SAFETY: the run is over, so its memory is not used from now on.
                unsafe { memory.keep(*block) };
            }
        }
        Ok(())
    }
}

/// Runs the program on arguments of its types.
///
/// # Errors
/// A check at run time fails, or the place does not fit the results.
pub fn run<P: Place>(code: &CompiledProgram, arguments: &[View<'_>], place: &mut P) -> Result<Outcome<P::Results>> {
    code.spare.with(|spare| {
        let done = run_with(spare, code, arguments, place);
        if !matches!(done, Ok(Outcome::Done(..))) {
            *spare = Spare::default();
        }
        done
    })
}

/// Runs the program with the tables and the memory of an earlier run, which are in order again if there are results.
fn run_with<P: Place>(
    spare: &mut Spare,
    code: &CompiledProgram,
    arguments: &[View<'_>],
    place: &mut P,
) -> Result<Outcome<P::Results>> {
    let (program, layout) = (&code.program, &code.layout);
    let Spare { tables, memory, small: small_memory } = spare;
    tables.reset(code);
    memory.begin();
    let literals = code.literals.iter().map(|(to, l)| (*to, View::Array(&program.literals[*l])));
    for (to, a) in program.inputs.iter().copied().zip(arguments.iter().copied()).chain(literals) {
        put(to, &a, layout, tables, memory);
    }
    let mut small = vec![SmallStates::NONE; code.tapes.len()];
    let run = Run {
        arrays: tables.arrays.as_ptr(),
        extents: tables.extents.as_mut_ptr(),
        columns: tables.columns.as_mut_ptr(),
        blocks: tables.blocks.as_mut_ptr(),
        fault: tables.fault.as_mut_ptr(),
        site: 0,
        calls: &CALLS,
        tapes: small.as_mut_ptr(),
    };
    let tapes = RunningTape::all(code.tapes.len(), code.budget, small_memory);
    let mut context = Context { run, code, memory, tapes, failure: None };
    // SAFETY: the program was verified, and the code was generated from it. The tables are as it expects: inputs and
    // literals are present with all their elements, the memory of the tables does not move, and nobody else uses the
    // context or the tables meanwhile.
    let failed = unsafe { (code.library.entry)(std::ptr::from_mut(&mut context).cast()) } != 0;
    let Context { run, memory, tapes, failure, .. } = context;
    small_memory.extend(tapes.into_iter().rev().map(RunningTape::left));
    let Tables { extents, fault, .. } = &*tables;
    if failed && failure.is_none() && fault[0] == STRIP {
        return Ok(Outcome::NoStrip(ArrayId::new(fault[2] as usize)));
    }
    if failed && failure.is_none() && fault[0] == WAY {
        return Ok(Outcome::NoWay);
    }
    if failed {
        let shape = |a: ArrayId| {
            let first = layout.extents[a];
            extents[first..first + program.arrays[a].rank].iter().map(|e| *e as usize).collect()
        };
        return Err(
            failure.unwrap_or_else(|| fault::error(program, fault, fault::entry(&program.sites, run.site), shape))
        );
    }
    // SAFETY: the program has not failed, so it has computed its results; generated code runs no more.
    let results = unsafe { place.take(code, tables, memory)? };
    let peak = memory.peak;
    memory.end();
    Ok(Outcome::Done(results, peak))
}

/// Enters an argument or a literal in the tables.
fn put(to: ArrayId, a: &View<'_>, layout: &Layout, tables: &mut Tables, memory: &mut Memory) {
    let (e, c) = (layout.extents[to], layout.columns[to]);
    for (place, extent) in tables.extents[e..].iter_mut().zip(a.extents()) {
        *place = *extent as i64;
    }
    let has_block = !a.extents().is_empty();
    let mut put = |k: usize, data: *const u8, t: ScalarType, column: Option<&Column>| {
        // Generated code only reads it.
        tables.columns[c + k] = data.cast_mut().cast();
        if has_block {
            tables.blocks[c + k] = memory.borrow(data, t, column);
        }
    };
    match a {
        View::Array(a) => a.columns.iter().enumerate().for_each(|(k, c)| put(k, c.as_ptr(), c.ty(), Some(c))),
        View::Slice(_, elements) | View::Part(_, elements) => put(0, elements.as_ptr(), elements.ty(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::New;
    use crate::kernels::{Form, Kernels};
    use accel_core::repr::{Column, RawArray, View};
    use accel_fusion::kernel::tape::Budget;
    use accel_fusion::kernel::{Verified, parse};

    /// The largest number of bytes of a run on one array of `n` doubles, and the first result.
    fn peak(statements: &str, result: &str, n: usize) -> (usize, RawArray) {
        let text = format!("program (a0: Array1<f64>)\nsite 0 = \"map\"\n{{\n{statements}\n  -> {result}\n}}");
        let program = Verified::new(parse(&text).unwrap()).unwrap();
        let kernels = Kernels::of_pipeline(&program, Form::new(Budget::Free, vec![]), None, &[])
            .unwrap()
            .expect("the tests need a C compiler");
        let input = RawArray { extents: vec![n].into(), columns: vec![vec![1.0; n].into()].into() };
        let (mut results, peak) =
            super::run(kernels.whole().unwrap(), &[View::Array(&input)], &mut New).unwrap().done();
        (peak, results.remove(0))
    }

    fn map(to: usize, from: usize, with: usize) -> String {
        format!(
            "a{to}: Array1<f64> = loop @0 extents () {{ x0: i64 = extent a{from} 0 -> x0 }} body (x0: i64) {{ \
             x1: f64 = a{from}[x0] @0 inside; x2: f64 = a{with}[x0] @0; x3: f64 = x1 + x2 -> x3 }}\n"
        )
    }

    #[test]
    fn a_chain_of_maps_is_done_in_place() {
        let n = 100_000;
        let statements: String = (1..=50).map(|k| map(k, k - 1, 0)).collect();
        let (peak, result) = peak(&statements, "a50", n);
        assert_eq!(result.columns[0], Column::from(vec![51.0; n]));
        assert_eq!(peak, 8 * n);
    }

    #[test]
    fn memory_of_results_is_used_again_once_nobody_has_them() {
        let n = 1 << 20;
        let text = format!("program (a0: Array1<f64>)\nsite 0 = \"map\"\n{{\n{}  -> a1\n}}", map(1, 0, 0));
        let program = Verified::new(parse(&text).unwrap()).unwrap();
        let kernels = Kernels::of_pipeline(&program, Form::new(Budget::Free, vec![]), None, &[])
            .unwrap()
            .expect("the tests need a C compiler");
        let input = |x: f64| RawArray { extents: vec![n].into(), columns: vec![vec![x; n].into()].into() };
        let run = |x: f64| {
            super::run(kernels.whole().unwrap(), &[View::Array(&input(x))], &mut New).unwrap().done().0.remove(0)
        };
        let place = |a: &RawArray| a.columns[0].as_ptr();
        let first = run(1.0);
        let second = run(2.0);
        assert_ne!(place(&first), place(&second));
        let (place_of_second, kept) = (place(&second), second.clone());
        let third = run(3.0);
        assert_ne!(place(&third), place_of_second);
        let place_of_third = place(&third);
        drop(third);
        let fourth = run(4.0);
        assert_eq!(place(&fourth), place_of_third);
        for (a, x) in [(first, 2.0), (second, 4.0), (kept, 4.0), (fourth, 8.0)] {
            assert_eq!(a.columns[0], Column::from(vec![x; n]));
        }
    }

    #[test]
    fn memory_is_used_again() {
        // Each array is needed by the next two loops, so the next one cannot overwrite it.
        let n = 100_000;
        let statements: String = (1..=20).map(|k| map(k, k - 1, k.saturating_sub(2))).collect();
        let (peak, result) = peak(&statements, "a20", n);
        let (mut a, mut b) = (1.0, 2.0);
        (1..20).for_each(|_| (a, b) = (b, a + b));
        assert_eq!(result.columns[0], Column::from(vec![b; n]));
        assert!(peak <= 3 * 8 * n, "{peak}");
    }

    #[test]
    fn memory_of_other_sizes_does_not_stay() {
        let mut statements = String::new();
        for k in 1..=20 {
            statements += &format!(
                "a{k}: Array1<f64> = loop @0 extents () {{ x0: i64 = extent a{0} 0; x1: i64 = 1000; x2: i64 = x0 + x1 -> x2 }} \
                 body (x0: i64) {{ x1: i64 = 0; x2: f64 = a{0}[x1] @0; x3: f64 = x2 + x2 -> x3 }}\n",
                k - 1
            );
        }
        let n = 500_000;
        let (peak, result) = peak(&statements, "a20", n);
        assert_eq!(result.columns[0], Column::from(vec![1_048_576.0; n + 20_000]));
        assert!(peak <= 8 * (2 * n + 40_000) + super::super::memory::KEPT_BYTES, "{peak}");
    }

    /// The states of a loop of 100 steps, added up from the last to the first, within a budget.
    const TAPE: &str = r#"program (a0: Array1<f64>)
site 0 = "loop"
{
  a1: Array0<i64> = loop @0 extents () { -> } body () { x0: i64 = 0 -> x0 }
  a2: Array1<f64>, a3: Array0<i64> = while a0, a1 @0
    cond {
      a4: Array0<bool> = loop @0
        extents () { -> }
        body () { x0: i64 = a3[] @0 inside; x1: i64 = 100; x2: bool = x0 < x1 -> x2 }
      -> a4
    }
    body {
      () = keep 0 a2, a3 @0
      a5: Array1<f64> = loop @0
        extents () { x0: i64 = extent a2 0 -> x0 }
        body (x0: i64) { x1: f64 = a2[x0] @0 inside; x2: f64 = 1.0; x3: f64 = x1 + x2 -> x3 }
      a6: Array0<i64> = loop @0
        extents () { -> }
        body () { x0: i64 = a3[] @0 inside; x1: i64 = 1; x2: i64 = x0 + x1 -> x2 }
      -> a5, a6
    }
  a7: Array1<f64>, a8: Array0<i64> = while a0, a1 @0
    cond {
      a9: Array0<bool> = loop @0
        extents () { -> }
        body () { x0: i64 = a8[] @0 inside; x1: i64 = 100; x2: bool = x0 < x1 -> x2 }
      -> a9
    }
    body {
      a10: Array1<f64>, a11: Array0<i64> = recall 0 @0
        at () { x0: i64 = 99; x1: i64 = a8[] @0 inside; x2: i64 = x0 - x1 -> x2 }
        step {
          a12: Array1<f64> = loop @0
            extents () { x0: i64 = extent a10 0 -> x0 }
            body (x0: i64) { x1: f64 = a10[x0] @0 inside; x2: f64 = 1.0; x3: f64 = x1 + x2 -> x3 }
          a13: Array0<i64> = loop @0
            extents () { -> }
            body () { x0: i64 = a11[] @0 inside; x1: i64 = 1; x2: i64 = x0 + x1 -> x2 }
          -> a12, a13
        }
      a14: Array1<f64> = loop @0
        extents () { x0: i64 = extent a0 0 -> x0 }
        body (x0: i64) {
          x1: f64 = a7[x0] @0 inside
          x2: f64 = a10[x0] @0 inside
          x3: i64 = a11[] @0 inside
          x4: f64 = as f64 x3
          x5: f64 = x2 * x4
          x6: f64 = x1 + x5
          -> x6
        }
      a15: Array0<i64> = loop @0
        extents () { -> }
        body () { x0: i64 = a8[] @0 inside; x1: i64 = 1; x2: i64 = x0 + x1 -> x2 }
      -> a14, a15
    }
  -> a7
}"#;

    #[test]
    fn states_stay_within_their_budget() {
        let program = Verified::new(parse(TAPE).unwrap()).unwrap();
        let n = 10_000;
        let input = RawArray { extents: vec![n].into(), columns: vec![vec![1.0; n].into()].into() };
        // 1 + sum of (k + 1) k
        let expected = Column::from(vec![1.0 + 333_300.0; n]);
        for (states, budget) in [1, 2, 3, 7, 20, 99].map(|k| (k, Budget::Bytes(k * (8 * n + 500)))) {
            let kernels = Kernels::of_pipeline(&program, Form::new(budget, vec![]), None, &[])
                .unwrap()
                .expect("the tests need a C compiler");
            for _ in 0..2 {
                let (mut results, peak) =
                    super::run(kernels.whole().unwrap(), &[View::Array(&input)], &mut New).unwrap().done();
                assert_eq!(results.remove(0).columns[0], expected, "{states} states");
                // Besides: the state of each loop, the next one, and blocks that are kept for reuse.
                assert!(
                    peak <= 8 * n * (states + 6) + super::super::memory::KEPT_BYTES,
                    "{states} states: {peak} bytes"
                );
            }
        }
        let all = Kernels::of_pipeline(&program, Form::new(Budget::Free, vec![]), None, &[])
            .unwrap()
            .expect("the tests need a C compiler");
        let (_, peak) = super::run(all.whole().unwrap(), &[View::Array(&input)], &mut New).unwrap().done();
        assert!(peak >= 8 * n * 100, "{peak}");
    }

    #[test]
    fn small_states_are_copied() {
        let input = |n| RawArray { extents: vec![n].into(), columns: vec![vec![1.0; n].into()].into() };
        let run = |text: &str, budget, n: usize| {
            let program = Verified::new(parse(text).unwrap()).unwrap();
            let kernels = Kernels::of_pipeline(&program, Form::new(budget, vec![]), None, &[])
                .unwrap()
                .expect("the tests need a C compiler");
            // The second run uses the memory of the first one again.
            let runs = [n, n, n + 1].map(|n| {
                super::run(kernels.whole().unwrap(), &[View::Array(&input(n))], &mut New).unwrap().done().0.remove(0)
            });
            assert_eq!(runs[0].columns, runs[1].columns);
            assert_eq!(runs[2].columns[0], Column::from(vec![runs[0].columns[0].get(0).map_or(0.0, number); n + 1]));
            runs[0].columns[0].clone()
        };
        // Memory for small states that is full at once, after some steps, and never.
        for budget in [Budget::Bytes(1_000), Budget::Bytes(8_000), Budget::Bytes(16_000), Budget::Free] {
            assert_eq!(run(TAPE, budget, 10), Column::from(vec![333_301.0; 10]));
            // The recalled array is the next state, so it outlives its step.
            let outlives = TAPE.replace("-> a14, a15", "-> a10, a15");
            assert_ne!(outlives, TAPE);
            assert_eq!(run(&outlives, budget, 10), Column::from(vec![1.0; 10]));
        }
    }

    fn number(x: accel_core::repr::Scalar) -> f64 {
        match x {
            accel_core::repr::Scalar::F64(x) => x,
            other => panic!("{other:?}"),
        }
    }
}
