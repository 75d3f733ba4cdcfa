//! Schedules: lists of transformations, as text. A loop has a name; a transformation that makes loops names them.
//!
//! ```text
//! split j 8 clamp j0 j1        for j < n = for j0 = 0, 8, .. < n, for j1 < 8
//! split j 8 peel j0 j1 rest    the last iterations have the loop `rest`; copies of inner loops have names such as k'
//! split j 8 overlap j0 j1      the last iterations begin earlier
//! split l 8 exact v lane
//! interchange h                exchanges the loop with the only one in it
//! unroll j1                    copies of the body, merged
//! accumulate k                 combines in a register
//! hold k                       keeps in registers what it reads and writes
//! rfactor l 8 l0               combines in 8 lanes, and then these; l0 is the loop over vectors
//! vectorise lane
//! bind i parallel              divides the iterations among tasks; also `unroll`, `group 0` and `item 0`
//! specialise l0                a copy of the loop for its largest number of iterations
//! stage j0 b1 0 8              copies from buffer 1, transposed: the numbers along dimension 0 become adjacent
//! ```

use super::edit::Why;
use super::ir::*;
use super::transform::accumulate::accumulate;
use super::transform::bind::bind;
use super::transform::hold::hold;
use super::transform::interchange::interchange;
use super::transform::rfactor::rfactor;
use super::transform::specialise::specialise;
use super::transform::split::{Tail, split};
use super::transform::stage::stage;
use super::transform::tidy::tidy;
use super::transform::unroll_jam::unroll_jam;
use super::transform::vectorise::vectorise;
use accel_fusion::kernel::Reg;
use std::collections::BTreeMap;

/// The names of loops.
pub type Names = BTreeMap<String, Reg>;

/// Applies the transformations of a schedule, one after the other, and tidies the result.
///
/// # Errors
/// The first transformation that does not apply, and why.
pub fn apply(nest: &Nest, names: &Names, schedule: &str) -> Result<Nest, Why> {
    let mut s = Scheduler { nest: nest.clone(), names: names.clone() };
    for line in schedule.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        s.step(&words).map_err(|why| Why(format!("{line}: {why}")))?;
    }
    tidy(&s.nest)
}

struct Scheduler {
    nest: Nest,
    names: Names,
}

impl Scheduler {
    fn step(&mut self, words: &[&str]) -> Result<(), Why> {
        let nest = &self.nest;
        self.nest = match *words {
            ["split", name, factor, tail, ref new @ ..] => return self.split(name, number(factor)?, tail, new),
            ["interchange", name] => interchange(nest, self.named(name)?)?,
            ["unroll", name] => unroll_jam(nest, self.named(name)?)?,
            ["accumulate", name] => accumulate(nest, self.named(name)?)?,
            ["hold", name] => hold(nest, self.named(name)?)?,
            ["vectorise", name] => vectorise(nest, self.named(name)?)?,
            ["bind", name, ref to @ ..] => bind(nest, self.named(name)?, binding(to)?)?,
            ["specialise", name] => specialise(nest, self.named(name)?)?,
            ["rfactor", name, lanes, new] => {
                let (nest, outer) = rfactor(nest, self.named(name)?, number(lanes)?)?;
                self.names.insert(new.into(), outer);
                nest
            }
            ["stage", name, buffer, dim, n] => {
                let dim = usize::try_from(number(dim)?).map_err(|e| Why(e.to_string()))?;
                stage(nest, self.named(name)?, self.buffer(buffer)?, dim, number(n)?)?
            }
            _ => return Err(Why("no transformation".into())),
        };
        Ok(())
    }

    fn split(&mut self, name: &str, factor: i64, tail: &str, new: &[&str]) -> Result<(), Why> {
        let (tail, count) = match tail {
            "exact" => (Tail::Exact, 2),
            "clamp" => (Tail::Clamp, 2),
            "peel" => (Tail::Peel, 3),
            "overlap" => (Tail::Overlap, 2),
            _ => return Err(Why("expected `exact`, `clamp`, `peel` or `overlap`".into())),
        };
        if new.len() != count {
            return Err(Why(format!("expected the names of {count} loops")));
        }
        let found = split(&self.nest, self.named(name)?, factor, tail)?;
        self.nest = found.nest;
        self.names.insert(new[0].into(), found.outer);
        self.names.insert(new[1].into(), found.inner);
        if let Some((rest, copies)) = found.rest {
            let named = |(name, r): (&String, &Reg)| Some((format!("{name}'"), *copies.get(r)?));
            let copied: Vec<_> = self.names.iter().filter_map(named).collect();
            self.names.extend(copied);
            self.names.insert(new[2].into(), rest);
        }
        Ok(())
    }

    fn buffer(&self, word: &str) -> Result<BufferId, Why> {
        let id = usize::try_from(number(word.strip_prefix('b').unwrap_or(word))?).map_err(|e| Why(e.to_string()))?;
        match id < self.nest.buffers.len() {
            true => Ok(BufferId::new(id)),
            false => Err(Why(format!("there is no buffer b{id}"))),
        }
    }

    fn named(&self, name: &str) -> Result<Reg, Why> {
        self.names.get(name).copied().ok_or_else(|| Why(format!("there is no loop `{name}`")))
    }
}

fn binding(words: &[&str]) -> Result<Bind, Why> {
    let dim = |word: &str| word.parse().map_err(|_| Why(format!("`{word}` is no dimension")));
    match *words {
        ["parallel"] => Ok(Bind::Parallel),
        ["unroll"] => Ok(Bind::Unroll),
        ["group", d] => Ok(Bind::Group(dim(d)?)),
        ["item", d] => Ok(Bind::Item(dim(d)?)),
        _ => Err(Why("expected `parallel`, `unroll`, `group` or `item`".into())),
    }
}

fn number(word: &str) -> Result<i64, Why> {
    word.parse().map_err(|_| Why(format!("`{word}` is no number")))
}
