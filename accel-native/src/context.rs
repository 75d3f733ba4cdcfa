//! The context of a run: what all runs of a program share, the tables of one run, and what a run leaves for the next.

use crate::abi::{Array, Block, Run};
use crate::callbacks::{RunningTape, SmallMemory, TapeArrays, tape_arrays};
use crate::library::Library;
use crate::memory::Memory;
use crate::pool::Pool;
use crate::scalar_call::ScalarProgram;
use crate::slots::Slots;
use crate::sort::SortMemory;
use accel_codegen::fault::record_length;
use accel_codegen::{Layout, chains};
use accel_core::error::Error;
use accel_core::repr::{Call, ScalarType};
use accel_fusion::kernel::tape::Budget;
use accel_fusion::kernel::{ArrayId, Op, Program, Verified};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Arc;

/// The data that all runs of a program share.
pub struct CompiledProgram {
    pub program: Verified<Program>,
    pub library: Arc<Library>,
    /// The function of scalars, for a scalar program.
    pub numbers: Option<ScalarProgram>,
    pub layout: Layout,
    pub record_length: usize,
    /// The arrays that are literals, and the number of each literal.
    pub literals: Vec<(ArrayId, usize)>,
    /// The types of the accumulated values of scans, and the numbers of chains of their parts, by the array that a scan
    /// defines. The array may have fewer columns.
    pub scans: BTreeMap<usize, (Vec<ScalarType>, usize)>,
    /// The calls of foreign functions, by their first results.
    pub foreign: BTreeMap<usize, Foreign>,
    /// Working memory for strips, and memory for the totals of their tasks.
    pub pool: Arc<Pool>,
    pub totals: Pool,
    /// The buffers of sorts.
    pub sorting: SortMemory,
    /// The arrays of tapes, and the memory for the states of loops.
    pub tapes: Vec<TapeArrays>,
    pub budget: Budget,
    /// What runs have left for the next ones.
    pub spare: Slots<Spare>,
}

/// A call of a foreign function in a program: the function, its arguments and its results.
pub struct Foreign {
    pub call: Call,
    pub from: Vec<ArrayId>,
    pub to: Vec<ArrayId>,
}

/// What a run leaves for the next one.
#[derive(Default)]
pub struct Spare {
    pub tables: Tables,
    pub memory: Memory,
    pub small: Vec<SmallMemory>,
}

/// The tables of a run.
#[derive(Default)]
pub struct Tables {
    pub extents: Vec<i64>,
    /// The columns of arrays of rank 0. `i64` has the alignment of every element type.
    pub cells: Vec<i64>,
    pub columns: Vec<*mut c_void>,
    pub blocks: Vec<*mut Block>,
    pub fault: Vec<i64>,
    pub arrays: Vec<Array>,
}
// SAFETY: a run belongs to one thread, and writes all addresses before it reads any.
unsafe impl Send for Tables {}

impl Tables {
    /// The extents of an array.
    pub fn extents_of(&self, code: &CompiledProgram, a: ArrayId) -> impl Iterator<Item = i64> {
        self.extents[code.layout.extents[a]..].iter().copied().take(code.program.arrays[a].rank)
    }

    /// Resets the tables to their state before a run. They are always those of the same program.
    pub fn reset(&mut self, code: &CompiledProgram) {
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
        // After the first run, the tables have the lengths of this program, so they stay where they are.
        if self.arrays.is_empty() {
            let (extents, columns) = (self.extents.as_mut_ptr(), self.columns.as_mut_ptr());
            let entry = |a: ArrayId| Array {
                extents: extents.wrapping_add(layout.extents[a]),
                columns: columns.wrapping_add(layout.columns[a]),
            };
            self.arrays.extend(code.program.arrays.indices().map(entry));
        }
    }
}

impl CompiledProgram {
    pub fn new(program: Verified<Program>, library: Arc<Library>, budget: Budget) -> CompiledProgram {
        let (mut literals, mut scans, mut foreign) = (vec![], BTreeMap::new(), BTreeMap::new());
        for s in program.body.walk() {
            match &s.op {
                Op::Literal { to, literal } => literals.push((*to, *literal)),
                Op::Scan { to, rows, .. } => _ = scans.insert(to.index(), (rows.columns(), chains(rows))),
                Op::Foreign { to, call, from, .. } => {
                    let called = Foreign { call: call.clone(), from: from.clone(), to: to.clone() };
                    foreign.insert(to[0].index(), called);
                }
                _ => {}
            }
        }
        CompiledProgram {
            layout: Layout::new(&program),
            record_length: record_length(&program),
            numbers: ScalarProgram::new(&program, &library),
            tapes: tape_arrays(&program),
            budget,
            program,
            library,
            literals,
            scans,
            foreign,
            pool: Arc::default(),
            totals: Pool::default(),
            sorting: SortMemory::default(),
            spare: Slots::default(),
        }
    }
}

/// One run. Generated code has the address of the first field, and passes it to the callbacks.
#[repr(C)]
pub struct Context<'a> {
    pub run: Run,
    pub code: &'a CompiledProgram,
    pub memory: &'a mut Memory,
    pub tapes: Vec<RunningTape>,
    /// The error of a callback.
    pub failure: Option<Error>,
}
