//! A run of a compiled program: the tables, the call, and what a record of a failure means.

use crate::abi::{Array, Block, Run};
use crate::library::Library;
use crate::memory::{Memory, cell};
use crate::numbers::Numbers;
use crate::parallel::CALLS;
use crate::pool::Pool;
use accel_codegen::Layout;
use accel_codegen::fault::{self, STRIP, record_length};
use accel_core::error::{Error, Result};
use accel_core::repr::{RawArray, RawExtents};
use accel_fusion::kernel::{ArrayId, Block as Statements, Op, Program, Verified};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What all runs of a program share.
pub struct Code {
    pub program: Verified<Program>,
    library: Arc<Library>,
    /// If it is a program of scalar code only.
    pub numbers: Option<Numbers>,
    layout: Layout,
    record_length: usize,
    /// The arrays that are literals, and which.
    literals: Vec<(ArrayId, usize)>,
    /// Working memory for strips, and memory for the totals of their tasks.
    pub pool: Arc<Pool>,
    pub totals: Pool,
    spare: Mutex<Option<Box<Spare>>>,
}

/// What the last run leaves for the next one.
#[derive(Default)]
struct Spare {
    tables: Tables,
    memory: Memory,
}

/// The tables of a run.
#[derive(Default)]
struct Tables {
    extents: Vec<i64>,
    /// The columns of arrays of rank 0; numbers have the alignment of every type.
    cells: Vec<i64>,
    columns: Vec<*mut c_void>,
    blocks: Vec<*mut Block>,
    fault: Vec<i64>,
    arrays: Vec<Array>,
}
// SAFETY: a run belongs to one thread, and writes all addresses anew before it reads any.
unsafe impl Send for Tables {}

impl Tables {
    /// As they are before a run.
    fn reset(&mut self, code: &Code) {
        let layout = &code.layout;
        let fill = |table: &mut Vec<i64>, n| {
            table.clear();
            table.resize(n, 0);
        };
        fill(&mut self.extents, layout.extent_count);
        fill(&mut self.cells, layout.column_count);
        fill(&mut self.fault, code.record_length);
        self.columns.clear();
        self.columns.extend(self.cells.iter_mut().map(|c| std::ptr::from_mut(c).cast::<c_void>()));
        self.blocks.clear();
        self.blocks.resize(layout.column_count, std::ptr::null_mut());
        let (extents, columns) = (self.extents.as_mut_ptr(), self.columns.as_mut_ptr());
        let entry = |a: ArrayId| Array {
            extents: extents.wrapping_add(layout.extents[a]),
            columns: columns.wrapping_add(layout.columns[a]),
        };
        self.arrays.clear();
        self.arrays.extend((0..code.program.arrays.len()).map(entry));
    }
}

impl Code {
    pub fn new(program: Verified<Program>, library: Arc<Library>) -> Code {
        let mut literals = vec![];
        find_literals(&program.body, &mut literals);
        Code {
            layout: Layout::new(&program),
            record_length: record_length(&program),
            numbers: Numbers::new(&program, &library),
            program,
            library,
            literals,
            pool: Arc::default(),
            totals: Pool::default(),
            spare: Mutex::default(),
        }
    }

    fn spare(&self) -> MutexGuard<'_, Option<Box<Spare>>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn find_literals(b: &Statements, found: &mut Vec<(ArrayId, usize)>) {
    for s in b.walk() {
        if let Op::Literal { to, literal } = s.op {
            found.push((to, literal));
        }
    }
}

/// One run. Generated code has the address of its first field, and gives it to the functions that it calls back.
#[repr(C)]
pub struct Context<'a> {
    pub run: Run,
    pub code: &'a Code,
    pub memory: &'a mut Memory,
    /// What a callback could not do.
    pub failure: Option<Error>,
}

/// The results for arguments of the program's types, and the most bytes that they and intermediate arrays took together. `None` if a
/// strip would take too much memory.
///
/// # Errors
/// Everything that is checked at run time.
pub fn run(code: &Code, arguments: &[&RawArray]) -> Result<Option<(Vec<RawArray>, usize)>> {
    let (program, layout) = (&code.program, &code.layout);
    let mut spare = code.spare().take().unwrap_or_default();
    let Spare { tables, memory } = &mut *spare;
    tables.reset(code);
    memory.begin();
    let literals = code.literals.iter().map(|(to, l)| (*to, &program.literals[*l]));
    for (to, a) in program.inputs.iter().copied().zip(arguments.iter().copied()) {
        put(to, a, layout, tables, memory);
    }
    for (to, a) in literals {
        put(to, a, layout, tables, memory);
    }
    let run = Run {
        arrays: tables.arrays.as_ptr(),
        extents: tables.extents.as_mut_ptr(),
        columns: tables.columns.as_mut_ptr(),
        blocks: tables.blocks.as_mut_ptr(),
        fault: tables.fault.as_mut_ptr(),
        site: 0,
        calls: &CALLS,
    };
    let mut context = Context { run, code, memory, failure: None };
    // SAFETY: the program was verified, the code was made from it, and the tables are as it expects: inputs and literals are there with
    // all their elements, the memory of the tables is not moved, and no one else uses the context or the tables meanwhile.
    let failed = unsafe { (code.library.entry)(std::ptr::from_mut(&mut context).cast()) } != 0;
    let Context { run, memory, failure, .. } = context;
    let Tables { extents, columns, blocks, fault, .. } = &*tables;
    if failed && failure.is_none() && fault[0] == STRIP {
        return Ok(None);
    }
    if failed {
        let shape = |a: ArrayId| {
            let first = layout.extents[a];
            extents[first..first + program.arrays[a].rank].iter().map(|e| *e as usize).collect()
        };
        return Err(failure.unwrap_or_else(|| fault::error(program, fault, run.site as usize, shape)));
    }
    let result = |a: &ArrayId| {
        let (info, e, c) = (&program.arrays[*a], layout.extents[*a], layout.columns[*a]);
        let shape: RawExtents = extents[e..e + info.rank].iter().map(|e| *e as usize).collect();
        let n = shape.iter().product();
        let column = |(k, t): (usize, _)| {
            // SAFETY: the program has computed its results: the cell or all `n` elements of the block have been written.
            unsafe { if info.rank == 0 { cell(columns[c + k], t) } else { memory.column(blocks[c + k], t, n) } }
        };
        RawArray { columns: info.columns.iter().copied().enumerate().map(column).collect(), extents: shape }
    };
    let results = program.results.iter().map(result).collect();
    let peak = memory.peak;
    memory.end();
    *code.spare() = Some(spare);
    Ok(Some((results, peak)))
}

/// Makes an argument or a literal known.
fn put(to: ArrayId, a: &RawArray, layout: &Layout, tables: &mut Tables, memory: &mut Memory) {
    let (e, c) = (layout.extents[to], layout.columns[to]);
    for (place, extent) in tables.extents[e..].iter_mut().zip(&*a.extents) {
        *place = *extent as i64;
    }
    for (k, column) in a.columns.iter().enumerate() {
        // Generated code only reads it.
        tables.columns[c + k] = column.as_ptr().cast_mut().cast();
        if !a.extents.is_empty() {
            tables.blocks[c + k] = memory.borrow(column.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Kernels;
    use accel_core::repr::{Column, RawArray};
    use accel_fusion::kernel::{Verified, parse};

    /// The most bytes of a run on one array of `n` doubles, and the first result.
    fn peak(statements: &str, result: &str, n: usize) -> (usize, RawArray) {
        let text = format!("program (a0: Array1<f64>)\nsite 0 = \"map\"\n{{\n{statements}\n  -> {result}\n}}");
        let program = Verified::new(parse(&text).unwrap()).unwrap();
        let kernels = Kernels::of_pipeline(&program).unwrap().expect("the tests need a C compiler");
        let input = RawArray { extents: vec![n].into(), columns: vec![vec![1.0; n].into()].into() };
        let (mut results, peak) = super::run(&kernels.code, &[&input]).unwrap().expect("no strips");
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
        let kernels = Kernels::of_pipeline(&program).unwrap().expect("the tests need a C compiler");
        let input = |x: f64| RawArray { extents: vec![n].into(), columns: vec![vec![x; n].into()].into() };
        let run = |x: f64| super::run(&kernels.code, &[&input(x)]).unwrap().unwrap().0.remove(0);
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
        // Each is needed by the next two, so that none can be written over at once by the next one.
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
        assert!(peak <= 8 * (2 * n + 40_000) + super::super::memory::KEPT, "{peak}");
    }
}
