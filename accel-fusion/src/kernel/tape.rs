//! Tapes: the states of a loop, kept within a budget for another loop that takes them from the last one to the first.
//!
//! NOTE [Kept states]: the derivative of a loop needs the states before all steps, in the opposite order. `Keep`, the first
//! statement of the loop's body, offers each state to a tape. `Recall`, the first statement of the other loop's body,
//! gets a state back. A tape need not keep all states. `Recall` computes a state that is missing from the last one
//! before it, by the loop's own statements. So a state is the same whether it was kept or not, bit for bit. This file
//! chooses the states that are kept, in the same way for all backends:
//!
//! - *Forward*, the number of steps is not known. A tape keeps every state until its budget is full. Then it drops every
//!   second one, and from then on keeps every second, every fourth, .. state. So it holds between half its budget and all
//!   of it, at equal distances.
//! - *Backward*, between two kept states, the number of steps is known. There it takes the places that optimal
//!   checkpointing takes (Griewank and Walther, "Revolve", 2000): with room for `s` states, `binomial(s + r, s)` steps
//!   are taken at most `r` times again. So if all states of a distance fit into the budget that is free, each step is
//!   taken once more. With room for one state, everything starts from the first one for each state.
//!
//! A budget is for all memory of the states, also for what describes them. But it always has room for as many states as it has room
//! for their elements, up to [`FEW`]: the descriptions of a few states take little memory, and each of the first few saves many sweeps.
//!
//! Kept states are shared with the arrays that they come from, not copied.

use accel_core::error::{Error, Result};

/// The memory that is used for states before the free memory is looked at, in bytes. For this, a file of the system has to be read, which
/// most runs do not need. Chosen.
const AT_FIRST: usize = 64 << 20;

/// The memory that is assumed to be free if the system does not say, in bytes. A quarter of it is used: less than most machines have.
/// Chosen.
const USUAL: usize = 4 << 30;

/// This number of states need room only for their elements. With so many, each of 153 steps is taken at most twice again:
/// `binomial(18, 16)`. Chosen.
const FEW: usize = 16;

/// The memory that a state takes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StateSize {
    /// The bytes of the elements of its arrays.
    pub elements: usize,
    /// The bytes that it takes besides.
    pub besides: usize,
}

/// The bytes that the states of all tapes of a run may take together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Budget {
    /// This number of bytes. One state is always kept, however large it is.
    Bytes(usize),
    /// A quarter of the memory that is free when it is needed.
    Free,
}

impl Budget {
    /// The budget of this number of bytes; a part of the free memory if no number is given.
    pub fn new(bytes: Option<usize>) -> Budget {
        bytes.map_or(Budget::Free, Budget::Bytes)
    }

    /// The bytes that the environment variable `ACCEL_TAPE_BYTES` sets; `None` if it is not set, or empty.
    ///
    /// # Errors
    /// `Error::Environment` if it is not a number.
    pub fn from_env() -> Result<Option<usize>> {
        let name = "ACCEL_TAPE_BYTES";
        let Some(text) = std::env::var_os(name).filter(|text| !text.is_empty()) else { return Ok(None) };
        let bytes = text.to_str().and_then(|t| t.trim().parse().ok());
        let found = || text.to_string_lossy().into_owned();
        bytes.map(Some).ok_or_else(|| Error::Environment { name, expected: "a number of bytes", found: found() })
    }

    /// Each of `n` equal parts.
    pub fn shared(self, n: usize) -> Limit {
        let n = n.max(1);
        match self {
            Budget::Bytes(bytes) => Limit { bytes: bytes / n, more: None },
            Budget::Free => Limit { bytes: AT_FIRST / n, more: Some(n) },
        }
    }
}

/// The bytes that the states of one tape may take.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    bytes: usize,
    /// The number of tapes that share a quarter of the free memory, if that may be more.
    more: Option<usize>,
}

impl Limit {
    /// The number of bytes, as far as it is known without a query of the free memory.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of states of this size for which there is room.
    fn states(&self, size: StateSize) -> usize {
        let all = |bytes: usize| self.bytes / bytes.max(1);
        all(size.elements + size.besides).max(all(size.elements).min(FEW)).max(1)
    }

    /// Queries the free memory, once.
    fn grow(&mut self) {
        if let Some(n) = self.more.take() {
            self.bytes = self.bytes.max(free_memory() / 4 / n);
        }
    }
}

/// The memory that the system can give without swapping, in bytes.
fn free_memory() -> usize {
    let read = || {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        let kilobytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kilobytes.checked_mul(1 << 10)
    };
    read().unwrap_or(USUAL)
}

/// A tape, with states of type `S`: see NOTE [Kept states].
#[derive(Debug)]
pub struct Tape<S> {
    limit: Limit,
    size: StateSize,
    /// The kept states, each with its number, in order.
    kept: Vec<(usize, S)>,
    /// The number of states that were offered.
    offered: usize,
    /// While states are offered: the distance of those that are kept.
    distance: usize,
    /// While states are computed again: the number of the next one that is kept.
    next: usize,
}

/// The last kept state at or before a requested one.
#[derive(Debug)]
pub enum Found<'t, S> {
    /// The requested state. The tape does not keep it any longer.
    Exact(S),
    /// An earlier state, with its number. The tape keeps it.
    Before(usize, &'t S),
}

impl<S> Tape<S> {
    /// A tape without states.
    pub fn new(limit: Limit) -> Tape<S> {
        Tape { limit, size: StateSize::default(), kept: vec![], offered: 0, distance: 1, next: 0 }
    }

    /// The first state, if there are states.
    pub fn first(&self) -> Option<&S> {
        self.kept.first().map(|(_, state)| state)
    }

    /// The number of states that are kept.
    pub fn held(&self) -> usize {
        self.kept.len()
    }

    fn room(&self) -> usize {
        self.limit.states(self.size)
    }

    /// Whether the state that is offered next will be kept. `size` is the memory that a state takes; `drop` gets the
    /// states that are left out from now on.
    pub fn keeps_next(&mut self, size: StateSize, drop: impl FnMut(S)) -> bool {
        if self.kept.is_empty() {
            (self.size, self.offered, self.distance) = (size, 0, 1);
        }
        let k = self.offered;
        self.offered += 1;
        if !k.is_multiple_of(self.distance) {
            return false;
        }
        if self.kept.len() >= self.room() {
            self.limit.grow();
        }
        if self.kept.len() >= self.room() {
            self.thin(drop);
        }
        k.is_multiple_of(self.distance)
    }

    /// Keeps the state for which [`keeps_next`](Self::keeps_next) was true.
    pub fn keep(&mut self, state: S) {
        self.kept.push((self.offered - 1, state));
    }

    /// Leaves out every second state.
    fn thin(&mut self, mut drop: impl FnMut(S)) {
        self.distance *= 2;
        let distance = self.distance;
        for (k, state) in std::mem::take(&mut self.kept) {
            if k.is_multiple_of(distance) {
                self.kept.push((k, state));
            } else {
                drop(state);
            }
        }
    }

    /// Goes back to state `at`: finds the last state until then. If that is an earlier one, the caller computes the next
    /// ones and asks [`keeps`](Self::keeps) for each of them before `at`. Later states are not needed any more; `drop` gets
    /// them. `None` if there is no such state.
    pub fn back(&mut self, at: usize, mut drop: impl FnMut(S)) -> Option<Found<'_, S>> {
        // If there is too little room behind the last state for those that follow it, more room is made, once.
        let missing = at.saturating_sub(self.kept.last()?.0);
        if self.distance > 1 && missing + self.kept.len() > self.room() {
            self.thin(&mut drop);
        }
        self.distance = 1;
        while self.kept.last()?.0 > at {
            self.kept.pop().into_iter().for_each(|(_, state)| drop(state));
        }
        if self.kept.last()?.0 == at {
            return self.kept.pop().map(|(_, state)| Found::Exact(state));
        }
        let last = self.kept.last()?.0;
        self.next = last + self.advance(at - last);
        self.kept.last().map(|(k, state)| Found::Before(*k, state))
    }

    /// Whether state `k`, which was computed again on the way to state `at`, is to be kept.
    pub fn keeps(&self, k: usize, at: usize) -> bool {
        k == self.next && k < at
    }

    /// Keeps state `k`, for which [`keeps`](Self::keeps) was true.
    pub fn keep_again(&mut self, k: usize, at: usize, state: S) {
        self.kept.push((k, state));
        self.next = k + self.advance(at - k);
    }

    /// The distance from the last kept state to the next one that is kept, on the way to a state `gap` steps ahead.
    fn advance(&self, gap: usize) -> usize {
        let free = self.room().saturating_sub(self.kept.len());
        if free == 0 { gap } else { first_part(gap + 1, free + 1) }
    }
}

/// Where optimal checkpointing divides a sequence of `length > 1` states, the first of which is kept, if there is room
/// for `room > 1` of them.
fn first_part(length: usize, room: usize) -> usize {
    // The number of times that steps are taken again.
    let mut r = 1;
    while reach(room, r) < length {
        r += 1;
    }
    let before = if r < 2 { 0 } else { reach(room, r - 2) };
    before.max(length.saturating_sub(reach(room - 1, r))).max(1)
}

/// The longest sequence of states for which steps are taken at most `r` times again: `binomial(room + r, r)`.
fn reach(room: usize, r: usize) -> usize {
    let mut n: usize = 1;
    for k in 1..=r {
        // The product of consecutive integers is divisible, so every quotient is exact.
        match n.checked_mul(room + k) {
            Some(product) => n = product / k,
            None => return usize::MAX,
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: StateSize = StateSize { elements: 1, besides: 0 };

    /// Takes `n` steps forward and all of them back, where a state is its own number and takes one byte. Returns the largest
    /// number of states held and the number of steps taken again.
    fn there_and_back(n: usize, bytes: usize) -> (usize, usize) {
        there_and_back_with(n, bytes, SMALL)
    }

    fn there_and_back_with(n: usize, bytes: usize, size: StateSize) -> (usize, usize) {
        let mut tape = Tape::new(Budget::Bytes(bytes).shared(1));
        let (mut held, mut again) = (0, 0);
        for k in 0..n {
            if tape.keeps_next(size, |_| ()) {
                tape.keep(k);
            }
            held = held.max(tape.held());
        }
        for at in (0..n).rev() {
            let mut k = match tape.back(at, |_| ()) {
                Some(Found::Exact(state)) => state,
                Some(Found::Before(k, state)) => {
                    assert_eq!(k, *state);
                    k
                }
                None => panic!("state {at} of {n} is lost"),
            };
            while k < at {
                k += 1;
                again += 1;
                if tape.keeps(k, at) {
                    tape.keep_again(k, at, k);
                }
                held = held.max(tape.held());
            }
            assert_eq!(k, at);
        }
        assert_eq!(tape.held(), 0, "{n} steps");
        (held, again)
    }

    #[test]
    fn all_states_come_back_within_the_budget() {
        for bytes in 0..12 {
            for n in (0..70).chain([200, 333]) {
                assert!(there_and_back(n, bytes).0 <= bytes.max(1), "{n} steps, room for {bytes}");
            }
        }
    }

    #[test]
    fn what_fits_is_not_computed_again() {
        for n in 0..100 {
            assert_eq!(there_and_back(n, 100), (n, 0));
        }
    }

    #[test]
    fn long_loops_take_few_sweeps_more() {
        // Room for B states: B^2 / 4 steps need one more sweep, and two for as many as binomial(B / 2 + 2, 2) per distance.
        for (n, bytes, sweeps) in
            [(1_000, 100, 1), (2_000, 100, 1), (20_000, 100, 2), (1_000_000, 8_000, 1), (100_000, 32, 4)]
        {
            let (held, again) = there_and_back(n, bytes);
            assert!(held <= bytes && again <= sweeps * n, "{n} steps, {bytes}: {held} states, {again} steps again");
        }
    }

    #[test]
    fn few_states_take_few_sweeps() {
        // What describes a state takes more than its elements, as for vectors of 8 numbers on the native backend.
        let size = StateSize { elements: 64, besides: 150 };
        // With room for s states, binomial(s + r, s) steps need r sweeps.
        for (room, sweeps) in [(2, 180), (3, 47), (4, 25), (5, 17), (6, 13), (8, 9), (10, 7), (16, 5)] {
            for n in [16_000, 15_999, 1_001] {
                let (held, again) = there_and_back_with(n, room * size.elements, size);
                assert!(
                    held <= room && again <= sweeps * n,
                    "{n} steps, room for {room}: {held} states, {again} steps again"
                );
            }
        }
        // Many states take no more than the budget.
        let (held, _) = there_and_back_with(10_000, 100 * (64 + 150), size);
        assert!(held <= 100, "{held}");
    }

    #[test]
    fn sequences_are_divided_optimally() {
        // The least number of steps for each length and room, by dynamic programming.
        let (lengths, rooms) = (60, 6);
        let mut least = vec![vec![0usize; rooms + 1]; lengths + 1];
        for length in 2..=lengths {
            for room in 1..=rooms {
                let split = |m: usize| m + least[m][room] + least[length - m][room - 1];
                let best = match room {
                    1 => length * (length - 1) / 2,
                    _ => (1..length).map(split).min().unwrap_or_default(),
                };
                let ours = if room == 1 { best } else { split(first_part(length, room)) };
                assert_eq!(ours, best, "{length} states, room for {room}");
                least[length][room] = best;
            }
        }
    }

    #[test]
    fn the_free_memory_is_known() {
        assert!(free_memory() >= 1 << 20);
        let mut limit = Budget::Free.shared(2);
        assert_eq!(limit.states(SMALL), AT_FIRST / 2);
        limit.grow();
        assert!(limit.states(SMALL) >= AT_FIRST / 2 && limit.more.is_none());
    }
}
