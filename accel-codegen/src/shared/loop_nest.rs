//! Writes [nests](crate::nest) in both dialects. A register is a variable `r3`, a local buffer `y3`. In a loop over
//! vectors, what differs between its iterations has the type of a vector. Only C has vectors, and only devices have groups.
//!
//! NOTE [Fused multiply-add]: if a product is summed, and the processor can multiply and add in one instruction, the
//! product is not rounded before the addition, as in any matrix product. The order of a sum is undefined, so its last
//! places are undefined as well.
//!
//! NOTE [Subnormal factors]: processors of the x86 family take a hundred times as long for an operation with a
//! subnormal number (below 2.2e-308 for 64 bits), and such numbers are common where probabilities are multiplied. Only
//! while products are summed, they count as zero. This changes a sum by less than its rounding, unless the whole sum is
//! as tiny or has huge factors.

use crate::analysis::fault;
use crate::c::vectors;
use crate::nest::edit::walk;
use crate::nest::ir::*;
use crate::nest::transform::tidy::used;
use crate::nest::verify::verify;
use crate::text::arrays::local_array;
use crate::text::declarations::Declarations;
use crate::text::dialect::Dialect;
use crate::text::primitives;
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_core::repr::op::Op2;
use accel_fusion::kernel::{Instr, Monoid, Program, Reg, ScalarFn, SiteId};
use std::collections::BTreeSet;

impl Writer<'_> {
    /// Writes a nest that the verifier has accepted, and that [`fits`] the dialect. Its vectors have numbers of type `t`.
    /// Of those in memory, only sums are combined as vectors. If the nest has memory of groups, the writer is at the outermost
    /// level of a kernel.
    pub fn loop_nest(&mut self, nest: &Nest, t: ScalarType) {
        let (mut multiplies, mut around) = (false, false);
        walk(&nest.body, &mut |n| {
            multiplies |= matches!(n, Node::Acc { times: Some(_), .. });
            around |= matches!(n, Node::Store { around: true, .. });
        });
        if has_vectors(nest) {
            vectors::declare(self.declarations, t);
        }
        // Devices that hide latency have no stores that bypass caches.
        let dialect = self.dialect();
        let around = around && !dialect.hides_latency();
        if around {
            self.declare_around();
        }
        for (b, buffer) in nest.buffers.iter_enumerated().filter(|(_, b)| b.space == Space::Group) {
            self.line(format!("local {} y{b}[{}];", buffer.ty, size(buffer)));
        }
        // The registers of a nest have other meanings than those of the strip around it.
        let position = std::mem::replace(&mut self.lanes.position, Reg::NONE);
        self.braces("", |w| {
            let mut code = ScalarFn { types: nest.types.clone(), ..ScalarFn::default() };
            walk(&nest.body, &mut |n| {
                code.instrs.extend(if let Node::Let(i) = n { Some(i.clone()) } else { None });
            });
            // A list for which there is no memory ends the nest. OpenCL has no such mode.
            let flushes = multiplies && code.lists().is_empty() && dialect == Dialect::C;
            if flushes {
                declare_flushing(w);
                w.line("const unsigned state = without_tiny();");
            }
            let used = names_used(nest);
            for p in nest.params.iter().filter(|p| used.contains(&p.register)) {
                w.line(format!("const {} r{} = {};", nest.types[p.register], p.register, p.name));
            }
            let (vectors, in_vectors) = (BTreeSet::new(), in_vectors(nest));
            let mut text = NestText {
                w,
                nest,
                t,
                code,
                flushes,
                around,
                lane: None,
                vectors,
                in_vectors,
                wide: vec![BTreeSet::new()],
            };
            text.nodes(&nest.body);
            if around {
                w.line("STORED();");
            }
            if flushes {
                w.line("with_tiny(state);");
            }
        });
        self.lanes.position = position;
    }
}

/// The statements of a nest whose vectors have numbers of type `t`, in C or for devices, without the declarations that they
/// need.
///
/// # Errors
/// The nest is not well formed, or does not fit the dialect.
pub fn nest_text(nest: &Nest, t: ScalarType, for_device: bool) -> Result<String, String> {
    let device = Dialect::OpenCl { narrow: false, atomics_64: false };
    let dialect = if for_device { device } else { Dialect::C };
    verify(nest)?;
    fits(nest, dialect)?;
    let program = Program::default();
    let mut declarations = Declarations::new(&program, dialect);
    let mut w = Writer::new(&program, &mut declarations, SiteId::new(0));
    w.loop_nest(nest, t);
    Ok(w.finish())
}

/// Checks that a nest can be written in a dialect: in C no items of groups wait for each other, and devices have no vectors.
///
/// # Errors
/// It needs groups or vectors, and the dialect has none.
fn fits(nest: &Nest, dialect: Dialect) -> Result<(), String> {
    let mut waits = nest.buffers.iter().any(|b| b.space == Space::Group);
    walk(&nest.body, &mut |n| waits |= matches!(n, Node::Barrier));
    match dialect.has_groups() {
        false if waits => Err("there are no groups of items".into()),
        true if has_vectors(nest) => Err("there are no vectors".into()),
        _ => Ok(()),
    }
}

/// Whether a nest has loops over vectors.
fn has_vectors(nest: &Nest) -> bool {
    let mut found = false;
    walk(&nest.body, &mut |n| {
        found |= matches!(n, Node::AccLanes { .. } | Node::Transpose { .. });
        found |= matches!(n, Node::For(f) if f.bind == Bind::Vector);
    });
    found
}

/// The registers that the text uses: of the outermost extents of buffers, no position depends on, only checks do.
fn names_used(nest: &Nest) -> BTreeSet<Reg> {
    let inner = nest.buffers.iter().flat_map(|b| b.extents.iter().skip(1));
    let mut bounded = vec![];
    walk(&nest.body, &mut |n| {
        if let Node::Load { from: p, .. } | Node::Store { to: p, .. } | Node::Acc { to: p, .. } = n {
            bounded.extend(nest.buffers[p.buffer].extents.first().filter(|_| !p.is_proved()));
        }
    });
    let of_extents = inner.chain(bounded).flat_map(|e| &e.terms).map(|t| t.0);
    used(&nest.body).into_iter().chain(of_extents).collect()
}

/// Declares the mode of NOTE [Subnormal factors].
fn declare_flushing(w: &mut Writer) {
    w.declarations.declare_once("tiny", || {
        "#ifdef __SSE2__\n\
         static inline unsigned without_tiny(void) { unsigned s = __builtin_ia32_stmxcsr(); __builtin_ia32_ldmxcsr(s | 0x8040); return s; }\n\
         static inline void with_tiny(unsigned s) { __builtin_ia32_ldmxcsr(s); }\n\
         #else\n\
         static inline unsigned without_tiny(void) { return 0; }\n\
         static inline void with_tiny(unsigned s) {}\n\
         #endif"
            .into()
    });
}

/// The text of a nest while it is written.
struct NestText<'w, 'p, 'n> {
    w: &'w mut Writer<'p>,
    nest: &'n Nest,
    t: ScalarType,
    /// All scalar code: the types of registers, and the lists in the order of their numbers.
    code: ScalarFn,
    /// Whether subnormal factors count as zero: NOTE [Subnormal factors].
    flushes: bool,
    /// Whether there are stores that bypass caches.
    around: bool,
    /// The variable of the vector loop around the present place, and the number of its iterations.
    lane: Option<(Reg, i64)>,
    /// The registers that are vectors.
    vectors: BTreeSet<Reg>,
    /// The local buffers that are vectors.
    in_vectors: BTreeSet<BufferId>,
    /// For each block around the present place, the numbers of which it has a vector with equal elements.
    wide: Vec<BTreeSet<Reg>>,
}

impl NestText<'_, '_, '_> {
    fn nodes(&mut self, nodes: &[Node]) {
        nodes.iter().for_each(|n| self.node(n));
    }

    fn block(&mut self, head: &str, nodes: &[Node]) {
        self.w.open(head);
        self.wide.push(BTreeSet::new());
        self.nodes(nodes);
        self.wide.pop();
        self.w.close();
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Load { from: p, .. } | Node::Store { to: p, .. } | Node::Acc { to: p, .. } if !p.is_proved() => {
                self.bounded(node, p);
            }
            Node::For(f) => match (f.bind, f.to.as_constant()) {
                (Bind::Vector, Some(n)) => {
                    self.lane = Some((f.var, n));
                    self.block("", &f.body);
                    self.lane = None;
                }
                (Bind::Unroll, Some(to)) => {
                    let times = (to - f.from.constant + f.step - 1) / f.step;
                    self.w.line(self.w.dialect().copies(times));
                    self.block(&self.head(f), &f.body);
                }
                _ => self.block(&self.head(f), &f.body),
            },
            Node::If { guards, body } => self.block(&format!("if ({})", conditions(guards)), body),
            Node::Index { to, value, limit } => {
                let value = sum(value);
                self.w.line(match limit {
                    None => format!("const i64 r{to} = {value};"),
                    Some(limit) => {
                        let limit = sum(limit);
                        format!("const i64 r{to} = {value} < {limit} ? {value} : {limit} - 1;")
                    }
                });
            }
            Node::Let(i) => self.instr(i),
            Node::Load { to, from } => {
                let number = match self.unaligned(from) {
                    Some(address) => format!("*(const u_{} *){address}", self.t),
                    None => self.number(from),
                };
                let t = match self.is_vector(from) {
                    true => {
                        self.vectors.insert(*to);
                        format!("v_{}", self.nest.types[*to])
                    }
                    false => self.nest.types[*to].to_string(),
                };
                self.w.line(format!("const {t} r{to} = {number};"));
            }
            Node::Fail(f) => self.fault("true", f),
            Node::Store { to, value, around: true } if self.around => {
                let value = if self.is_vector(to) { self.vector(*value) } else { format!("r{value}") };
                let at = position(&self.nest.buffers[to.buffer], &self.first(to));
                let name = self.name(to.buffer).unwrap_or_default();
                self.w.line(format!("store_around(&{name}[{at}], &{value}, sizeof {value});"));
            }
            Node::Prefetch(p) => {
                let (at, name) = (position(&self.nest.buffers[p.buffer], &self.first(p)), self.name(p.buffer));
                if let (Some(name), false) = (name, self.w.dialect().hides_latency()) {
                    self.w.line(format!("__builtin_prefetch(&{name}[{at}], 0, 2);"));
                }
            }
            Node::Store { to, value, .. } => {
                let value = if self.is_vector(to) { self.vector(*value) } else { format!("r{value}") };
                let line = match self.unaligned(to) {
                    Some(address) => format!("*(u_{} *){address} = {value};", self.t),
                    None => format!("{} = {value};", self.number(to)),
                };
                self.w.line(line);
            }
            Node::Acc { to, monoid, value, times } => self.acc(to, *monoid, *value, *times),
            Node::AccLanes { monoid, all } => self.acc_lanes(*monoid, all),
            Node::Transpose { to, from, dim, n } => self.transpose(to, from, *dim, *n),
            Node::Alloc(b) if self.nest.buffers[*b].space == Space::Group => {}
            Node::Alloc(b) => {
                let (t, buffer) = (self.nest.buffers[*b].ty, &self.nest.buffers[*b]);
                let is_vector = self.in_vectors.contains(b);
                self.w.line(match buffer.extents.len() {
                    0 if self.lane.is_none() => format!("{t} y{b};"),
                    0 => format!("v_{t} y{b};"),
                    1 if is_vector => format!("v_{t} y{b};"),
                    _ if is_vector => format!("v_{t} y{b}[{}];", size(buffer) / self.lanes() as i64),
                    _ => local_array(t, &format!("y{b}"), size(buffer)),
                });
            }
            Node::Barrier => self.w.line("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"),
        }
    }

    /// The head of a loop. Where there are no groups, one thread executes all of their iterations.
    fn head(&self, f: &For) -> String {
        let (r, step) = (f.var, f.step);
        let (from, to, step) = match f.bind {
            Bind::Parallel => ("task->from".into(), "task->to".into(), step.to_string()),
            Bind::Group(dim) if self.w.dialect().has_groups() => {
                let step = times(&format!("get_num_groups({dim})"), step);
                (times(&format!("get_group_id({dim})"), f.step), sum(&f.to), step)
            }
            Bind::Item(dim) if self.w.dialect().has_groups() => {
                let step = times(&format!("get_local_size({dim})"), step);
                (times(&format!("get_local_id({dim})"), f.step), sum(&f.to), step)
            }
            _ => (sum(&f.from), sum(&f.to), step.to_string()),
        };
        let more = if f.whole { format!("r{r} + {step} <= {to}") } else { format!("r{r} < {to}") };
        let next = if step == "1" { format!("r{r}++") } else { format!("r{r} += {step}") };
        format!("for (i64 r{r} = {from}; {more}; {next})")
    }

    /// Writes a node whose place may not exist.
    fn bounded(&mut self, node: &Node, p: &Place) {
        let b = &self.nest.buffers[p.buffer];
        let outside = |(i, n): (&Affine, &Affine)| format!("(u64)({}) >= (u64)({})", sum(i), sum(n));
        let outside: Vec<String> = p.index.iter().zip(&b.extents).map(outside).collect();
        let outside = if outside.is_empty() { "false".into() } else { outside.join(" || ") };
        let proved = Place { bounds: Bounds::Proved, ..p.clone() };
        match (p.bounds, b.space, node) {
            (Bounds::Checked(site), Space::Array(a, _), node) => {
                let numbers = p.index.clone();
                self.fault(&outside, &Failure { kind: fault::READ, site, what: a.index(), numbers });
                self.node(&at(node, proved));
            }
            (Bounds::Masked(x), _, Node::Load { to, .. }) => {
                let (t, number) = (self.nest.types[*to], self.number(&proved));
                let otherwise = primitives::constant(self.w.declarations, x);
                self.w.line(format!("const {t} r{to} = {outside} ? {otherwise} : {number};"));
            }
            (_, _, node) => self.block(&format!("if (!({outside}))"), &[at(node, proved)]),
        }
    }

    /// Writes a record and returns, if a condition holds.
    fn fault(&mut self, condition: &str, f: &Failure) {
        if self.flushes {
            self.w.line(format!("if ({condition}) with_tiny(state);"));
        }
        let numbers: Vec<String> = f.numbers.iter().map(sum).collect();
        self.w.fault(condition, f.kind, f.site, f.what, &numbers);
    }

    fn instr(&mut self, i: &Instr) {
        let mut used = vec![];
        i.direct_uses(&mut used);
        if !used.iter().any(|r| self.vectors.contains(r)) {
            return self.w.instr(&self.code, i);
        }
        let value = match i {
            Instr::Op1(_, op, a) => {
                let a = self.vector(*a);
                primitives::op1(self.w.declarations, *op, ScalarType::F64, &a)
            }
            Instr::Op2(_, op, a, b) => {
                let (a, b) = (self.vector(*a), self.vector(*b));
                match op {
                    Op2::Float(op) => vectors::strong(self.w.declarations, *op, self.t, &a, &b),
                    _ => primitives::op2(self.w.declarations, *op, ScalarType::F64, &a, &b),
                }
            }
            // Vectors are operands of arithmetic only.
            _ => return,
        };
        for to in i.sets() {
            self.vectors.insert(to);
            self.w.line(format!("const v_{} r{to} = {value};", self.t));
        }
    }

    /// A register as a vector.
    fn vector(&mut self, r: Reg) -> String {
        if self.vectors.contains(&r) {
            return format!("r{r}");
        }
        if !self.wide.iter().any(|block| block.contains(&r)) {
            self.wide.last_mut().into_iter().for_each(|block| _ = block.insert(r));
            // Subtracting this zero changes no number, not even the sign of a zero.
            let t = self.t;
            self.w.line(format!("const v_{t} w{r} = r{r} - (v_{t}){{0}};"));
        }
        format!("w{r}")
    }

    /// Whether the numbers at a place differ between the iterations of the vector loop.
    fn is_vector(&self, p: &Place) -> bool {
        let Some((lane, _)) = self.lane else { return false };
        p.index.last().is_none_or(|i| i.contains(lane)) && (self.is_local(p) || !p.index.is_empty())
    }

    fn is_local(&self, p: &Place) -> bool {
        self.nest.buffers[p.buffer].space == Space::Local
    }

    /// The name of an array of numbers: all memory but local vectors and local numbers.
    fn name(&self, b: BufferId) -> Option<String> {
        let buffer = &self.nest.buffers[b];
        let own = !buffer.extents.is_empty() && !self.in_vectors.contains(&b);
        name(buffer.space).or_else(|| own.then(|| format!("y{b}")))
    }

    /// The numbers in a vector.
    fn lanes(&self) -> usize {
        self.w.declarations.vectors.lanes(self.t)
    }

    /// The address of a vector in an array, which need not be aligned as that in a strip is.
    fn unaligned(&self, p: &Place) -> Option<String> {
        let b = &self.nest.buffers[p.buffer];
        let in_memory = !matches!(b.space, Space::Strip(..)) && !self.in_vectors.contains(&p.buffer);
        let name = self.name(p.buffer).filter(|_| in_memory && self.is_vector(p))?;
        Some(format!("&{name}[{}]", position(b, &self.first(p))))
    }

    /// The number at a place, or the vector of numbers from there on.
    fn number(&mut self, p: &Place) -> String {
        let (b, t, vector) = (&self.nest.buffers[p.buffer], self.t, self.is_vector(p));
        let Some(name) = self.name(p.buffer) else {
            let n = self.lane.map_or(1, |l| l.1);
            return match b.extents.len() {
                0 | 1 => format!("y{}", p.buffer),
                _ => format!("y{}[{}]", p.buffer, self.vector_at(p, n)),
            };
        };
        let at = position(b, &self.first(p));
        match vector {
            true => format!("*(v_{t} *)&{name}[{at}]"),
            false => format!("{name}[{at}]"),
        }
    }

    /// The index of the first iteration of the vector loop.
    fn first(&self, p: &Place) -> Vec<Affine> {
        let mut index = p.index.clone();
        if let (Some((lane, _)), Some(last)) = (self.lane, index.last_mut()) {
            last.terms.retain(|t| t.0 != lane);
        }
        index
    }

    /// The position in a buffer of vectors with `n` numbers each.
    fn vector_at(&self, p: &Place, n: i64) -> String {
        let extents = self.nest.buffers[p.buffer].extents.iter().filter_map(Affine::as_constant);
        let mut at = Affine::default();
        for (i, extent) in self.first(p).iter().zip(extents) {
            let scaled = Affine::default().plus(&at, extent).and_then(|a| a.plus(i, 1));
            at = scaled.unwrap_or_default();
        }
        // Places of vectors begin at multiples of `n`.
        if at.constant % n != 0 || at.terms.iter().any(|t| t.1 % n != 0) {
            return format!("({}) / {n}", sum(&at));
        }
        at.terms.iter_mut().for_each(|t| t.1 /= n);
        at.constant /= n;
        sum(&at)
    }

    fn acc(&mut self, to: &Place, monoid: Monoid, value: Reg, times: Option<Reg>) {
        let (t, vector) = (self.t, self.is_vector(to));
        if let (Some(address), Monoid::Sum) = (self.unaligned(to), monoid) {
            let value = self.vector(value);
            return self.w.line(format!("*(u_{t} *)({address}) += {value};"));
        }
        let place = self.number(to);
        let operand = |text: &mut Self, r: Reg| if vector { text.vector(r) } else { format!("r{r}") };
        let value = operand(self, value);
        let combined = match times {
            Some(times) => {
                let times = operand(self, times);
                if vector {
                    format!("fma_{t}({value}, {times}, {place})")
                } else {
                    format!("{place} + {value} * {times}")
                }
            }
            None if vector => format!("{place} + {value}"),
            None => primitives::op2(self.w.declarations, monoid.operator(), t, &place, &value),
        };
        self.w.line(format!("{place} = {combined};"));
    }

    /// Adds the sums of eight vectors at a time.
    fn acc_lanes(&mut self, monoid: Monoid, all: &[(Vec<Guard>, Place, BufferId)]) {
        let (t, n) = (self.t, self.lanes());
        for eight in all.chunks(8) {
            self.w.open("");
            if monoid == Monoid::Sum {
                let zero = format!("(v_{t}){{0}}");
                let vectors: Vec<_> =
                    (0..8).map(|k| eight.get(k).map_or(zero.clone(), |e| format!("y{}", e.2))).collect();
                self.w.line(format!("const w_{t} sums = sums_{t}({});", vectors.join(", ")));
            }
            let halves: Vec<_> = eight.chunks(4).collect();
            if monoid == Monoid::Sum && eight.len() == 8 && halves.iter().all(|h| are_adjacent(h)) {
                let guards = strongest(eight.iter().flat_map(|e| &e.0));
                self.w.open(&if guards.is_empty() { String::new() } else { format!("if ({})", conditions(&guards)) });
                for (k, half) in halves.iter().enumerate() {
                    let place = self.number(&half[0].1);
                    let addition = vectors::add_half(self.w.declarations, t, &format!("&{place}"), k);
                    self.w.line(addition);
                }
                self.w.close();
                if guards.is_empty() {
                    self.w.close();
                    continue;
                }
                self.w.open("else");
            } else {
                self.w.open("");
            }
            for (k, (guards, place, from)) in eight.iter().enumerate() {
                let place = self.number(place);
                let values: Vec<String> = match monoid {
                    Monoid::Sum => vec![format!("sums[{k}]")],
                    _ => (0..n).map(|l| format!("y{from}[{l}]")).collect(),
                };
                for value in values {
                    let combined = primitives::op2(self.w.declarations, monoid.operator(), t, &place, &value);
                    let guard = if guards.is_empty() { String::new() } else { format!("if ({}) ", conditions(guards)) };
                    self.w.line(format!("{guard}{place} = {combined};"));
                }
            }
            self.w.close();
            self.w.close();
        }
    }

    /// Vectors along dimension `dim` of `from` become vectors along its last dimension.
    fn transpose(&mut self, to: &Place, from: &Place, dim: usize, n: i64) {
        let t = self.t;
        declare_turn(self.w, t, n as usize);
        let mut rows = vec![];
        for k in 0..n {
            let mut row = from.clone();
            row.index[dim].constant += k;
            let b = &self.nest.buffers[row.buffer];
            let Some(name) = name(b.space) else { continue };
            rows.push(format!("*(const v_{t} *)&{name}[{}]", position(b, &row.index)));
        }
        let width = self.nest.buffers[to.buffer].extents.last().and_then(Affine::as_constant).unwrap_or(n);
        let at = self.vector_at(to, n);
        self.w.line(format!("turn_{t}({}, &y{}[{at}], {});", rows.join(", "), to.buffer, width / n));
    }
}

/// A node that reads or writes another place.
fn at(node: &Node, p: Place) -> Node {
    match node.clone() {
        Node::Load { to, .. } => Node::Load { to, from: p },
        Node::Store { value, around, .. } => Node::Store { to: p, value, around },
        Node::Acc { monoid, value, times, .. } => Node::Acc { to: p, monoid, value, times },
        other => other,
    }
}

/// The name of memory from outside.
fn name(space: Space) -> Option<String> {
    match space {
        Space::Array(a, c) => Some(format!("a{a}_{c}")),
        Space::Strip(a, c) => Some(format!("s{a}_{c}")),
        Space::Total(a, c) => Some(format!("t{a}_{c}")),
        Space::Local | Space::Group => None,
    }
}

/// The number of numbers in a buffer that begins inside.
fn size(b: &Buffer) -> i64 {
    b.extents.iter().filter_map(Affine::as_constant).product()
}

/// The local buffers whose numbers are used as vectors only.
fn in_vectors(nest: &Nest) -> BTreeSet<BufferId> {
    fn search(nodes: &[Node], lane: Option<Reg>, numbers: &mut BTreeSet<BufferId>) {
        for n in nodes {
            match n {
                Node::Load { from: p, .. } | Node::Store { to: p, .. } | Node::Acc { to: p, .. } => {
                    if !p.index.last().zip(lane).is_some_and(|(last, lane)| last.contains(lane)) {
                        numbers.insert(p.buffer);
                    }
                }
                Node::For(f) if f.bind == Bind::Vector => search(&f.body, Some(f.var), numbers),
                n => search(n.inner(), lane, numbers),
            }
        }
    }
    let mut numbers = BTreeSet::new();
    search(&nest.body, None, &mut numbers);
    let local = nest.buffers.iter_enumerated().filter(|(_, b)| b.space == Space::Local && !b.extents.is_empty());
    local.map(|(id, _)| id).filter(|id| !numbers.contains(id)).collect()
}

/// The row-major position of an index.
fn position(b: &Buffer, index: &[Affine]) -> String {
    let Some((first, rest)) = index.split_first() else { return "0".into() };
    rest.iter()
        .zip(&b.extents[1..])
        .fold(sum(first), |at, (i, extent)| format!("({at}) * {} + {}", factor(extent), sum(i)))
}

/// A sum as a factor.
fn factor(a: &Affine) -> String {
    match a.as_register().is_some() || a.as_constant().is_some() {
        true => sum(a),
        false => format!("({})", sum(a)),
    }
}

fn sum(a: &Affine) -> String {
    let term = |(r, k): &(Reg, i64)| if *k == 1 { format!("r{r}") } else { format!("{k} * r{r}") };
    let mut terms: Vec<String> = a.terms.iter().map(term).collect();
    if a.constant != 0 || terms.is_empty() {
        terms.push(a.constant.to_string());
    }
    terms.join(" + ")
}

fn times(number: &str, factor: i64) -> String {
    if factor == 1 { number.into() } else { format!("{number} * {factor}") }
}

fn conditions(guards: &[Guard]) -> String {
    guards.iter().map(|g| format!("{} < {}", sum(&g.smaller), sum(&g.larger))).collect::<Vec<_>>().join(" && ")
}

/// Guards that imply all of these: of guards that differ by a constant, the strongest one.
fn strongest<'g>(guards: impl Iterator<Item = &'g Guard>) -> Vec<Guard> {
    let mut found: Vec<Guard> = vec![];
    for g in guards {
        let difference = |f: &Guard| g.smaller.plus(&f.smaller, -1).and_then(|d| d.as_constant());
        match found.iter_mut().find(|f| f.larger == g.larger && difference(f).is_some()) {
            Some(f) if difference(f).is_some_and(|d| d > 0) => *f = g.clone(),
            Some(_) => {}
            None => found.push(g.clone()),
        }
    }
    found
}

/// Whether four numbers are neighbours in memory wherever all guards hold.
fn are_adjacent(four: &[(Vec<Guard>, Place, BufferId)]) -> bool {
    let place = |k: usize| four.get(k).map(|e| &e.1);
    // Under the guards, a clamped index is its value.
    let Some(first) = place(0) else { return false };
    (1..4).all(|k| {
        let Some(p) = place(k) else { return false };
        let differences: Option<Vec<i64>> =
            p.index.iter().zip(&first.index).map(|(i, f)| i.plus(f, -1).and_then(|d| d.as_constant())).collect();
        let outer = p.index.len() - 1;
        p.buffer == first.buffer
            && differences.is_some_and(|d| d[..outer].iter().all(|d| *d == 0) && d[outer] == k as i64)
    })
}

/// Declares `turn`: it transposes `n` vectors of `n` numbers, and stores the resulting vectors at a distance.
fn declare_turn(w: &mut Writer, t: ScalarType, n: usize) {
    w.declarations.declare_once(&format!("turn_{t}"), || {
        let params: Vec<_> = (0..n).map(|k| format!("v_{t} a{k}")).collect();
        let mut text = format!("static inline void turn_{t}({}, v_{t} *to, int distance) {{\n", params.join(", "));
        // Exchanges blocks of 1, 2, 4, … numbers with those on the other side of the diagonal.
        let (mut names, mut size) = (('a', 'b'), 1);
        while size < n {
            for k in 0..n {
                let (first, low) = (k & !size, k & size == 0);
                let lane = |q: usize| match (low, q & size == 0) {
                    (true, true) => q,
                    (true, false) => n + q - size,
                    (false, true) => q + size,
                    (false, false) => n + q,
                };
                let lanes: Vec<_> = (0..n).map(|q| lane(q).to_string()).collect();
                let ((from, to), lanes) = (names, lanes.join(", "));
                let (a, b) = (format!("{from}{first}"), format!("{from}{}", first + size));
                text += &format!("    const v_{t} {to}{k} = __builtin_shufflevector({a}, {b}, {lanes});\n");
            }
            names = (names.1, (names.1 as u8 + 1) as char);
            size *= 2;
        }
        for k in 0..n {
            text += &format!("    to[distance * {k}] = {}{k};\n", names.0);
        }
        text + "}"
    });
}
