//! Private lists of scalar code: the memory to which loops append, and from which they read.
//!
//! NOTE [Memory of lists]: nobody knows the length of a list before its loop ends. In C, each thread has memory for each
//! list of a function, which grows and is used again for the next element. So lists of short loops stay in caches, and
//! their memory does not depend on the number of elements.

use super::writer::Writer;
use crate::analysis::fault;
use accel_fusion::kernel::{Reg, ScalarFn};

/// The first number of elements for which there is room.
const ROOM: usize = 256;

impl Writer<'_> {
    /// Declares the empty lists of a loop: `c` is the number of elements, `m` the number for which there is room.
    pub fn declare_lists(&mut self, code: &ScalarFn, lists: &[(Reg, Reg)]) {
        let Some((first, _)) = lists.first() else { return };
        self.declarations.declare_once("accel_tape", || "void *(*accel_tape)(i64, i64);".into());
        self.line(format!("i64 c{first} = 0, m{first} = 0;"));
        for (to, _) in lists {
            self.line(format!("{} *r{to} = 0;", code.types[*to]));
        }
    }

    /// Appends the values of a step.
    pub fn append(&mut self, code: &ScalarFn, lists: &[(Reg, Reg)]) {
        let Some((first, _)) = lists.first() else { return };
        let all = code.lists();
        let (count, room) = (format!("c{first}"), format!("m{first}"));
        self.braces(&format!("if (__builtin_expect({count} == {room}, 0))"), |w| {
            w.line(format!("{room} = {room} ? 2 * {room} : {ROOM};"));
            for (to, _) in lists {
                let number = all.iter().position(|l| l == to).unwrap_or_default();
                w.line(format!("r{to} = accel_tape({number}, {room} * (i64)sizeof *r{to});"));
                w.fault(&format!("!r{to}"), fault::MEMORY, w.site, 1, std::slice::from_ref(&room));
            }
        });
        for (to, value) in lists {
            self.line(format!("r{to}[{count}] = r{value};"));
        }
        self.line(format!("{count}++;"));
    }
}
