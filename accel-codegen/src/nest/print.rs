//! The text form of nests.
//!
//! ```text
//! nest
//! param x0: i64 = n multiple 8 most 32
//! b0: f64 = array a3 0 [x0, 32]
//! b1: f64 = local []
//! b2: f64 = group [8]
//! {
//!     for x1 = 0 to x0 step 8 whole {
//!         x2: i64 = index x1 + 3 below x0
//!         x3: f64 = load b0[x1, 2 * x2 + 1]
//!         x4: f64 = x3 * x3
//!         store b0[x1, 0] = x4 nontemporal
//!         prefetch b0[x1 + 16, 0]
//!         alloc b1
//!         acc sum b1[] x3 * x4
//!         x9: f64 = load b0[x1 + 1, 0] masked 0.0
//!         x10: f64 = load b0[x1, x2] checked @3
//!         if x1 < x0, x2 < 7 {
//!             fail 1 @3 0 [x1, x2]
//!         }
//!     }
//!     for x5 = 0 to 8 vector {
//!     }
//!     for x6 = 0 to x0 group 0 {
//!         for x7 = 0 to 8 item 0 {
//!             barrier
//!         }
//!     }
//!     lanes sum b0[x1, 0] from b1 if x1 < x0; b0[x1, 1] from b1
//!     transpose b0[0, 0] = b1[0, 0] 0 8
//! }
//! ```

use super::ir::*;
use accel_fusion::kernel::{constant, with_inner};
use std::fmt::{self, Write};

impl fmt::Display for Nest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nest\n")?;
        for p in &self.params {
            write!(f, "param x{}: {} = {}", p.register, self.types[p.register], p.name)?;
            if p.multiple != 1 {
                write!(f, " multiple {}", p.multiple)?;
            }
            if let Some(least) = p.least {
                write!(f, " least {least}")?;
            }
            if let Some(most) = p.most {
                write!(f, " most {most}")?;
            }
            f.write_str("\n")?;
        }
        for (b, buffer) in self.buffers.iter_enumerated() {
            let space = match buffer.space {
                Space::Array(a, c) => format!("array a{a} {c}"),
                Space::Strip(a, c) => format!("strip a{a} {c}"),
                Space::Total(a, c) => format!("total a{a} {c}"),
                Space::Local => "local".into(),
                Space::Group => "group".into(),
            };
            writeln!(f, "b{b}: {} = {space} {}", buffer.ty, indices(&buffer.extents))?;
        }
        f.write_str("{\n")?;
        self.nodes(f, &self.body, 1)?;
        f.write_str("}\n")
    }
}

impl Nest {
    fn nodes(&self, f: &mut fmt::Formatter<'_>, nodes: &[Node], depth: usize) -> fmt::Result {
        nodes.iter().try_for_each(|n| self.node(f, n, depth))
    }

    fn node(&self, f: &mut fmt::Formatter<'_>, node: &Node, depth: usize) -> fmt::Result {
        let indent = "    ".repeat(depth);
        f.write_str(&indent)?;
        match node {
            Node::For(l) => {
                write!(f, "for x{} = {} to {}", l.var, l.from, l.to)?;
                if l.step != 1 {
                    write!(f, " step {}", l.step)?;
                }
                if l.whole {
                    f.write_str(" whole")?;
                }
                if l.bind != Bind::Seq {
                    write!(f, " {}", l.bind)?;
                }
                f.write_str(" {\n")?;
                self.nodes(f, &l.body, depth + 1)?;
                writeln!(f, "{indent}}}")
            }
            Node::If { guards, body } => {
                writeln!(f, "if {} {{", conditions(guards))?;
                self.nodes(f, body, depth + 1)?;
                writeln!(f, "{indent}}}")
            }
            Node::Let(i) => f.write_str(with_inner(&self.types, i, 2 * depth).trim_start()),
            Node::Index { to, value, limit } => {
                write!(f, "x{to}: i64 = index {value}")?;
                match limit {
                    Some(limit) => writeln!(f, " below {limit}"),
                    None => f.write_str("\n"),
                }
            }
            Node::Load { to, from } => writeln!(f, "x{to}: {} = load {from}", self.types[*to]),
            Node::Store { to, value, around } => {
                writeln!(f, "store {to} = x{value}{}", if *around { " nontemporal" } else { "" })
            }
            Node::Prefetch(p) => writeln!(f, "prefetch {p}"),
            Node::Acc { to, monoid, value, times } => {
                write!(f, "acc {monoid} {to} x{value}")?;
                match times {
                    Some(times) => writeln!(f, " * x{times}"),
                    None => f.write_str("\n"),
                }
            }
            Node::AccLanes { monoid, all } => {
                let one = |(guards, to, from): &(Vec<Guard>, Place, BufferId)| match guards[..] {
                    [] => format!("{to} from b{from}"),
                    _ => format!("{to} from b{from} if {}", conditions(guards)),
                };
                writeln!(f, "lanes {monoid} {}", all.iter().map(one).collect::<Vec<_>>().join("; "))
            }
            Node::Transpose { to, from, dim, n } => writeln!(f, "transpose {to} = {from} {dim} {n}"),
            Node::Alloc(b) => writeln!(f, "alloc b{b}"),
            Node::Fail(Failure { kind, site, what, numbers }) => {
                writeln!(f, "fail {kind} @{site} {what} {}", indices(numbers))
            }
            Node::Barrier => f.write_str("barrier\n"),
        }
    }
}

fn conditions(guards: &[Guard]) -> String {
    guards.iter().map(|g| format!("{} < {}", g.smaller, g.larger)).collect::<Vec<_>>().join(", ")
}

fn indices(index: &[Affine]) -> String {
    format!("[{}]", index.iter().map(Affine::to_string).collect::<Vec<_>>().join(", "))
}

impl fmt::Display for Bind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bind::Seq => f.write_str("seq"),
            Bind::Parallel => f.write_str("parallel"),
            Bind::Vector => f.write_str("vector"),
            Bind::Unroll => f.write_str("unroll"),
            Bind::Group(dim) => write!(f, "group {dim}"),
            Bind::Item(dim) => write!(f, "item {dim}"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}{}", self.buffer, indices(&self.index))?;
        match self.bounds {
            Bounds::Proved => Ok(()),
            Bounds::Checked(site) => write!(f, " checked @{site}"),
            Bounds::Masked(x) => write!(f, " masked {}", constant(x)),
        }
    }
}

impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for (r, k) in &self.terms {
            let sign = match (text.is_empty(), *k < 0) {
                (true, false) => "",
                (true, true) => "- ",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            text += sign;
            match k.unsigned_abs() {
                1 => write!(text, "x{r}")?,
                k => write!(text, "{k} * x{r}")?,
            }
        }
        match (text.is_empty(), self.constant) {
            (true, c) => write!(text, "{c}")?,
            (false, 0) => {}
            (false, c) if c < 0 => write!(text, " - {}", c.unsigned_abs())?,
            (false, c) => write!(text, " + {c}")?,
        }
        f.write_str(&text)
    }
}
