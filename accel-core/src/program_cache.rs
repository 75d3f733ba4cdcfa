//! The cache of a process: what was made of programs, so that no program is compiled or differentiated twice.
//!
//! NOTE [Program cache]: a program owns what was made of it: the program for the backend that ran it first, and its
//! derivatives. This costs no search, and threads that run the program do not wait for each other. The same function
//! may be staged again, or run on another backend. So there is also a table of executables by backend and program, with
//! [canonical keys](crate::pass::canonical_key) of programs. It has a limit, and forgets the executable that was not
//! looked up for the longest time. A program with a large array has no key, so only the program itself owns its
//! executable. Errors are not remembered: their reason may vanish.

use crate::ast::{Program, Src};
use crate::backend::{Backend, Executable};
use crate::error::Result;
use crate::pass::canonical_key;
use crate::surface::graph::Captured;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The number of executables in the table.
const EXECUTABLES: usize = 64;
/// The number of derivatives that a program owns.
const DERIVATIVES: usize = 16;

/// A program, and what was made of it.
pub struct CachedProgram {
    program: Program,
    captured: Vec<Captured>,
    key: OnceLock<Option<Arc<[u64]>>>,
    /// The executable of the backend that ran the program first, with the backend's configuration.
    executable: OnceLock<(Box<str>, Arc<dyn Executable>)>,
    derivatives: Mutex<Vec<(Derivation, Arc<CachedProgram>)>>,
}

/// How a program was derived from another one.
#[derive(Clone, PartialEq, Debug)]
pub struct Derivation {
    /// The name of the transformation.
    pub name: &'static str,
    /// The place in the source that its errors mention.
    pub at: Src,
    /// The key of the program that chooses parts of the argument, if there is one.
    pub parts: Option<Vec<u64>>,
}

impl CachedProgram {
    /// A program of which nothing was made yet, and the values for the second component of its argument, if it captures any.
    pub fn new(program: Program, captured: Vec<Captured>) -> Self {
        let (key, executable, derivatives) = Default::default();
        CachedProgram { program, captured, key, executable, derivatives }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The values of programs around it that it uses.
    pub fn captured(&self) -> &[Captured] {
        &self.captured
    }

    /// Uses the executable of a backend. It is compiled if the process does not have it yet.
    ///
    /// # Errors
    /// Whatever prevents the program from being compiled, and the errors of `user`.
    pub fn with_executable<T>(
        &self,
        backend: &dyn Backend,
        user: impl FnOnce(&dyn Executable) -> Result<T>,
    ) -> Result<T> {
        let Some(configuration) = backend.configuration() else {
            return user(&*backend.start(&self.program)?);
        };
        if let Some((first, executable)) = self.executable.get()
            && **first == *configuration
        {
            return user(&**executable);
        }
        let executable = self.executable(backend, configuration)?;
        // Another thread may have run it first.
        let _ = self.executable.set((configuration.into(), executable.clone()));
        user(&*executable)
    }

    fn executable(&self, backend: &dyn Backend, configuration: &str) -> Result<Arc<dyn Executable>> {
        let compile = || {
            let _span = tracing::debug_span!("compile", backend = backend.name()).entered();
            Ok(backend.start(&self.program)?.into())
        };
        let Some(program) = self.key.get_or_init(|| key(&self.program)) else {
            return compile();
        };
        let key = Key { configuration: configuration.into(), program: program.clone() };
        if let Some(found) = table().find(&key) {
            return Ok(found);
        }
        // The table is free meanwhile. If two threads compile the same program, both use what is ready first.
        let executable = compile()?;
        Ok(table().enter(key, executable))
    }

    /// The program that `derive` makes of this one, or one that was derived so before.
    ///
    /// # Errors
    /// The errors of `derive`.
    pub fn derived(
        &self,
        derivation: Derivation,
        derive: impl FnOnce() -> Result<Arc<CachedProgram>>,
    ) -> Result<Arc<CachedProgram>> {
        let find = |all: &[(Derivation, Arc<CachedProgram>)]| {
            all.iter().find(|(d, _)| *d == derivation).map(|(_, program)| program.clone())
        };
        if let Some(found) = find(&locked(&self.derivatives)) {
            return Ok(found);
        }
        let derived = derive()?;
        let mut all = locked(&self.derivatives);
        if let Some(found) = find(&all) {
            return Ok(found);
        }
        if all.len() == DERIVATIVES {
            all.remove(0);
        }
        all.push((derivation, derived.clone()));
        Ok(derived)
    }
}

/// The key of a program without large arrays: the table does not keep such arrays alive.
fn key(program: &Program) -> Option<Arc<[u64]>> {
    let key = canonical_key::program(program);
    key.large.is_empty().then(|| key.words.into())
}

/// A panic cannot leave the lists of this module in an inconsistent state.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    configuration: Box<str>,
    program: Arc<[u64]>,
}

/// Executables by their keys, each with the time of its last use.
struct Table {
    limit: usize,
    entries: HashMap<Key, (Arc<dyn Executable>, u64)>,
    time: u64,
}

/// The table of the process.
fn table() -> MutexGuard<'static, Table> {
    static TABLE: OnceLock<Mutex<Table>> = OnceLock::new();
    locked(TABLE.get_or_init(|| Mutex::new(Table::new(EXECUTABLES))))
}

impl Table {
    fn new(limit: usize) -> Table {
        Table { limit, entries: HashMap::new(), time: 0 }
    }

    fn find(&mut self, key: &Key) -> Option<Arc<dyn Executable>> {
        self.time += 1;
        let (executable, used) = self.entries.get_mut(key)?;
        *used = self.time;
        Some(executable.clone())
    }

    /// Enters an executable, unless there is one already. Returns the one that is in the table now.
    fn enter(&mut self, key: Key, executable: Arc<dyn Executable>) -> Arc<dyn Executable> {
        if let Some(found) = self.find(&key) {
            return found;
        }
        if self.entries.len() == self.limit {
            let oldest = self.entries.values().map(|(_, used)| *used).min();
            self.entries.retain(|_, (_, used)| Some(*used) != oldest);
        }
        self.entries.insert(key, (executable.clone(), self.time));
        executable
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repr::ArrayTuple;

    struct Nothing;
    impl Executable for Nothing {
        fn run(&self, _: &ArrayTuple) -> Result<ArrayTuple> {
            Ok(ArrayTuple::Unit)
        }
    }

    #[test]
    fn the_table_forgets_what_was_not_looked_up_for_the_longest_time() {
        let key = |k: u64| Key { configuration: "test".into(), program: [k].into() };
        let mut table = Table::new(3);
        for k in 0..3 {
            table.enter(key(k), Arc::new(Nothing));
        }
        assert!(table.find(&key(0)).is_some());
        table.enter(key(3), Arc::new(Nothing));
        assert_eq!(table.entries.len(), 3);
        assert_eq!([0, 1, 2, 3].map(|k| table.find(&key(k)).is_some()), [true, false, true, true]);
    }
}
