//! Private lists of scalar code: the memory to which loops append, and from which they read.
//!
//! NOTE [Memory of lists]: the length of a list is unknown until its loop ends. In C, each thread has memory for each
//! list of a function, which grows and is used again for the next element. So lists of short loops stay in caches, and
//! their memory does not depend on the number of elements.
//!
//! On OpenCL devices, memory does not grow while a kernel runs. There is one buffer, the tape, in which each work-item
//! has room for the same number of elements of each list. An item whose list is full says so in the tape, and stops.
//! Then the host enlarges the tape and executes the statement again: statements only write their results, so this
//! costs only time. The first number of the tape is 1 if a list was full, the second is the room of a list. Neighbouring
//! items append at the same time, so equal positions of their lists are neighbours in memory.

use super::parameters::{Arg, Parameter};
use super::writer::{Scope, Writer};
use crate::analysis::fault;
use crate::cost_model::LANES;
use accel_fusion::kernel::{Reg, ScalarFn};

/// The first number of elements for which there is room; it doubles when it is full. Lists of short loops never grow, and take 2 KB
/// of a cache if their elements have 64 bits.
const ROOM: usize = 256;

/// The largest number of elements of lists of several lanes: with more, their memory would be much larger than the
/// caches.
const LONG: usize = ROOM << 8;

/// The names of the places in the tape: the number of items and the number of this one, and the start of a list of this
/// item. Each element takes 8 bytes, whatever its type.
const PLACES: &str = "\
#define ITEMS (get_global_size(0) * get_global_size(1))
#define ITEM (get_global_id(1) * get_global_size(0) + get_global_id(0))
#define LISTS(T, k) ((global T *)(tape + 2 + (k) * ITEMS * (ulong)tape[1]))";

impl Writer<'_> {
    /// Declares the empty lists of a loop: `c` is the number of elements, `m` the number for which there is room.
    pub fn declare_lists(&mut self, code: &ScalarFn, lists: &[(Reg, Reg)]) {
        let Some((first, _)) = lists.first() else { return };
        if !self.dialect().calls_runtime() {
            return self.declare_lists_of_item(code, lists, *first);
        }
        self.declarations.declare_once("accel_tape", || "void *(*accel_tape)(i64, i64);".into());
        self.line(format!("i64 c{first} = 0, m{first} = 0;"));
        for (to, _) in lists {
            self.line(format!("{} *r{to} = 0;", code.types[*to]));
        }
    }

    fn declare_lists_of_item(&mut self, code: &ScalarFn, lists: &[(Reg, Reg)], first: Reg) {
        self.params.add(Arg::Tape, Parameter::buffer("global i64", "tape".into()));
        self.declarations.declare_once("Lists", || PLACES.into());
        self.line(format!("i64 c{first} = 0;"));
        self.line(format!("const i64 m{first} = tape[1];"));
        for (to, _) in lists {
            let (t, number) = (code.types[*to], number(code, *to));
            self.line(format!("global {t} *r{to} = LISTS({t}, {number}) + ITEM;"));
        }
    }

    /// An element of a list.
    pub fn listed(&self, list: Reg, at: &str) -> String {
        match self.scope {
            _ if !self.dialect().calls_runtime() => format!("r{list}[(ulong){at} * ITEMS]"),
            Scope::Element => format!("r{list}[{at}]"),
            Scope::Lanes | Scope::Lane => format!("r{list}[{at} * {LANES} + l]"),
        }
    }

    /// Appends the values of a step.
    pub fn append(&mut self, code: &ScalarFn, lists: &[(Reg, Reg)]) {
        let Some((first, _)) = lists.first() else { return };
        self.room(code, lists);
        let count = format!("c{first}");
        for (to, value) in lists {
            let place = self.listed(*to, &count);
            self.line(format!("{place} = r{value};"));
        }
        self.line(format!("{count}++;"));
    }

    /// Makes room for the values of a step.
    pub fn room(&mut self, code: &ScalarFn, lists: &[(Reg, Reg)]) {
        let Some((first, _)) = lists.first() else { return };
        let (count, room) = (format!("c{first}"), format!("m{first}"));
        if !self.dialect().calls_runtime() {
            // The function returns 1, as after a failure, but there is none to record.
            self.declarations.fails = true;
            self.braces(&format!("if ({count} == {room})"), |w| {
                w.line("tape[0] = 1;");
                w.line("return 1;");
            });
            return;
        }
        let elements = if self.scope == Scope::Element { String::new() } else { format!("{LANES} * ") };
        self.braces(&format!("if (__builtin_expect({count} == {room}, 0))"), |w| {
            if w.scope != Scope::Element {
                w.line(format!("if ({room} == {LONG}) return -1;"));
            }
            w.line(format!("{room} = {room} ? 2 * {room} : {ROOM};"));
            for (to, _) in lists {
                let number = number(code, *to);
                w.line(format!("r{to} = accel_tape({number}, {room} * {elements}(i64)sizeof *r{to});"));
                w.fault(&format!("!r{to}"), fault::MEMORY, w.site, 1, std::slice::from_ref(&room));
            }
        });
    }
}

/// The number of a list among those of its function.
fn number(code: &ScalarFn, list: Reg) -> usize {
    code.lists().iter().position(|l| *l == list).unwrap_or_default()
}
