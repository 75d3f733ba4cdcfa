//! Writes scalar functions for a vector of elements: NOTE [Lanes of scalar functions].
//!
//! Names in the generated code: `c5[l]` is register 5 in lane `l`, and `r5` the same inside a run. Uniform registers are
//! `r5` everywhere. `on5[l]` is the mask of a loop or a branch that sets register 5.

use crate::analysis::slice::needed;
use crate::text::writer::{Scope, Writer};
use accel_core::ast::deep;
use accel_fusion::kernel::{Instr, LaneFn, Reg, ScalarFn, runs, walk};
use std::collections::BTreeSet;

/// A value of a lane that a run assigns.
pub struct Output {
    pub place: String,
    pub value: Reg,
    /// If only some lanes assign it, their mask.
    pub mask: Option<String>,
}

/// A register, and two others with its values: after both branches, or before a loop and after a step.
type Merge = (Reg, Reg, Reg);

impl Writer<'_> {
    /// A function in a strip with branches that C compilers do not vectorise.
    pub fn lane_fn<'c>(&self, code: &'c ScalarFn) -> Option<LaneFn<'c>> {
        let position = self.lanes.position;
        (position != Reg::NONE).then(|| LaneFn::of_branches(code, BTreeSet::from([position])))?
    }

    /// Computes `code` for all lanes `l` of a strip from the values `args`, and assigns its results to `to`.
    pub fn each_lane(&mut self, code: &ScalarFn, args: &[String], to: &[String]) {
        match self.lane_fn(code) {
            Some(function) => self.branches_of_lanes(&function, args, to),
            None => self.braces(self.lane(), |w| w.code(code, args, to)),
        }
    }

    /// Computes such a function and assigns its results, and if an element fails, one lane after the other.
    fn branches_of_lanes(&mut self, function: &LaneFn, args: &[String], to: &[String]) {
        let code = function.code;
        let results = to.iter().zip(&code.results);
        let results = results.map(|(to, r)| Output { place: to.clone(), value: *r, mask: None }).collect();
        let vectors = |w: &mut Self| {
            let position = w.lanes.position;
            w.line(format!("const i64 *const c{position} = position;"));
            for (r, arg) in args.iter().enumerate().take(code.params).filter(|(r, _)| *r != position) {
                w.line(format!("const {} r{r} = {arg};", code.types[r]));
            }
            w.function_in_lanes(function, results);
        };
        if !code.can_fail() {
            return self.braces("", vectors);
        }
        self.braces("", |w| {
            w.line("i64 done = 0;");
            w.braces("do", |w| {
                vectors(w);
                w.line("done = 1;");
            });
            w.line("while (0);");
            w.braces(&format!("if (!done) {}", w.lane()), |w| w.code(code, args, to));
        });
    }

    /// Computes a function for all lanes, of which the values of the varying parameters are `c0[l]`, …, and assigns its results.
    /// If an element fails or lists get too long, it [gives up](Self::give_up), with nothing assigned.
    pub fn function_in_lanes(&mut self, function: &LaneFn, results: Vec<Output>) {
        self.scope = Scope::Lanes;
        self.line("i64 bad = 0;");
        match function.leaving().filter(|_| self.leaving) {
            Some((before, nest, after)) => {
                self.run(function, before, None, &[]);
                if let Some(parts) = Loop::of(nest) {
                    self.loop_of_some_lanes(function, &parts, None, Some((after, results)));
                }
            }
            None => self.in_lanes(function, &function.code.instrs, None, results),
        }
        self.scope = Scope::Element;
    }

    /// Computes instructions, and assigns outputs. With a mask, only its lanes are active, at least one of them.
    fn in_lanes(&mut self, function: &LaneFn, instrs: &[Instr], mask: Option<&str>, results: Vec<Output>) {
        let mut results = Some(results);
        for (run, nest) in runs(instrs) {
            match nest {
                None => self.run(function, run, mask, &results.take().unwrap_or_default()),
                Some(nest) => {
                    self.run(function, run, mask, &[]);
                    deep(|| self.nest_in_lanes(function, nest, mask));
                }
            }
        }
    }

    /// Computes a run: what is uniform once, and the rest in a loop over the lanes.
    fn run(&mut self, function: &LaneFn, run: &[Instr], mask: Option<&str>, outputs: &[Output]) {
        let code = function.code;
        let (uniform, varying) = function.split(run);
        let wanted = function.kept.iter().copied().chain(outputs.iter().map(|o| o.value)).collect();
        let varying = needed(&varying, wanted, &BTreeSet::new());
        self.instrs(code, &uniform);
        let set: BTreeSet<Reg> = walk(&varying).flat_map(Instr::sets).collect();
        let kept: Vec<Reg> = varying.iter().flat_map(Instr::sets).filter(|r| function.kept.contains(r)).collect();
        if kept.is_empty() && outputs.is_empty() {
            return;
        }
        let mut given = BTreeSet::new();
        varying.iter().for_each(|i| i.uses(&mut given));
        given.extend(outputs.iter().map(|o| o.value));
        let lists = code.lists();
        given.retain(|r| function.varying.contains(r) && !set.contains(r) && !lists.contains(r));
        kept.iter().for_each(|r| self.lane_array(code, *r));
        // Indices are within bounds, and divisors are not zero, only in active lanes.
        let can_fail = walk(&varying).any(|i| i.check(code).is_some());
        let guard =
            mask.filter(|_| can_fail || walk(&varying).any(|i| matches!(i, Instr::Read { .. } | Instr::Get { .. })));
        self.scope = Scope::Lane;
        self.braces(self.lane(), |w| {
            given.iter().for_each(|r| w.line(format!("const {} r{r} = c{r}[l];", code.types[*r])));
            w.open(&guard.map(|mask| format!("if ({mask}[l])")).unwrap_or_default());
            w.instrs(code, &varying);
            kept.iter().for_each(|r| w.line(format!("c{r}[l] = r{r};")));
            for Output { place, value, mask } in outputs {
                let condition = mask.as_ref().map(|mask| format!("if ({mask}) ")).unwrap_or_default();
                w.line(format!("{condition}{place} = r{value};"));
            }
            w.close();
        });
        self.scope = Scope::Lanes;
        if can_fail {
            let give_up = self.give_up();
            self.line(format!("if (bad) {give_up}"));
        }
    }

    fn nest_in_lanes(&mut self, function: &LaneFn, nest: &Instr, mask: Option<&str>) {
        if let Instr::If { cond, then, otherwise, merge } = nest {
            self.branches_in_lanes(function, *cond, [then, otherwise], merge, mask);
        } else if let Some(parts) = Loop::of(nest) {
            match function.varying.contains(&parts.continues) {
                true => self.loop_of_some_lanes(function, &parts, mask, None),
                false => self.loop_of_all_lanes(function, &parts, mask),
            }
        }
    }

    fn branches_in_lanes(
        &mut self,
        function: &LaneFn,
        cond: Reg,
        [then, otherwise]: [&[Instr]; 2],
        merge: &[Merge],
        mask: Option<&str>,
    ) {
        let (varying, uniform): (Vec<&Merge>, Vec<&Merge>) =
            merge.iter().partition(|m| function.varying.contains(&m.0));
        varying.iter().for_each(|m| self.lane_array(function.code, m.0));
        uniform.iter().for_each(|m| self.line(format!("{} r{};", function.code.types[m.0], m.0)));
        let branch = |w: &mut Self, instrs, mask: Option<&str>, value: fn(&Merge) -> Reg| {
            let own = mask.map(|mask| format!("{mask}[l]"));
            let output = |m: &&Merge| Output { place: format!("c{}[l]", m.0), value: value(m), mask: own.clone() };
            w.in_lanes(function, instrs, mask, varying.iter().map(output).collect());
            uniform.iter().for_each(|m| w.line(format!("r{} = r{};", m.0, value(m))));
        };
        if !function.varying.contains(&cond) {
            self.braces(&format!("if (r{cond})"), |w| branch(w, then, mask, |m| m.1));
            return self.braces("else", |w| branch(w, otherwise, mask, |m| m.2));
        }
        // Several branches can have the same condition.
        let own = merge.first().map_or(cond, |m| m.0);
        let then = (then, "on", "", (|m| m.1) as fn(&Merge) -> Reg);
        for (instrs, mark, not, value) in [then, (otherwise, "off", "!", |m| m.2)] {
            let on = format!("{mark}{own}");
            let outer = mask.map(|mask| format!("{mask}[l] && ")).unwrap_or_default();
            self.line(format!("i64 {on}[{}], any_{on} = 0;", self.most_lanes()));
            let each = self.lane();
            self.line(format!("{each} {{ {on}[l] = {outer}{not}c{cond}[l]; any_{on} |= {on}[l]; }}"));
            self.braces(&format!("if (any_{on})"), |w| branch(w, instrs, Some(&on), value));
        }
    }

    /// A loop with the same number of steps in all lanes.
    fn loop_of_all_lanes(&mut self, function: &LaneFn, parts: &Loop, mask: Option<&str>) {
        let (code, varying) = (function.code, &function.varying);
        let (varying, uniform): (Vec<_>, Vec<_>) = parts.states().partition(|s| varying.contains(&s.0));
        self.start_in_lanes(function, &varying);
        uniform.iter().for_each(|(to, init, _)| self.line(format!("{} r{to} = r{init};", code.types[*to])));
        self.declare_lists(code, parts.lists);
        self.braces("for (;;)", |w| {
            w.in_lanes(function, parts.cond, mask, vec![]);
            w.line(format!("if (!r{}) break;", parts.continues));
            w.step_in_lanes(function, parts, &varying, mask, None);
            uniform.iter().for_each(|(to, _, next)| w.line(format!("const {} n{to} = r{next};", code.types[*to])));
            uniform.iter().for_each(|(to, ..)| w.line(format!("r{to} = n{to};")));
        });
    }

    /// A loop whose lanes end at different times. If they leave it, each as soon as it has ended, they do what comes after the loop.
    fn loop_of_some_lanes(
        &mut self,
        function: &LaneFn,
        parts: &Loop,
        mask: Option<&str>,
        mut after: Option<(&[Instr], Vec<Output>)>,
    ) {
        let code = function.code;
        let states: Vec<_> = parts.states().collect();
        self.start_in_lanes(function, &states);
        self.declare_lists(code, parts.lists);
        let (on, each) = (mask_name(parts.continues), self.lane());
        let outer = mask.map(|mask| format!("{mask}[l]")).unwrap_or_else(|| "1".into());
        self.line(format!("i64 {on}[{}];", self.most_lanes()));
        self.line(format!("{each} {on}[l] = {outer};"));
        self.braces("for (;;)", |w| {
            let active = format!("{on}[l]");
            let continues = Output { place: active.clone(), value: parts.continues, mask: Some(active.clone()) };
            w.in_lanes(function, parts.cond, Some(&on), vec![continues]);
            w.line(format!("i64 any_{on} = 0;"));
            match after.take() {
                None => {
                    w.line(format!("{each} any_{on} |= {on}[l];"));
                    w.line(format!("if (!any_{on}) break;"));
                }
                Some((after, results)) => {
                    w.line(format!("{each} any_{on} += {on}[l];"));
                    w.braces(&format!("if (2 * any_{on} <= some)"), |w| {
                        w.run(function, after, Some(&format!("!{on}")), &results);
                        w.line(format!("if (!any_{on}) break;"));
                        w.move_together(function, parts, after, &on);
                    });
                }
            }
            w.step_in_lanes(function, parts, &states, Some(&on), Some(active));
        });
    }

    /// Moves the lanes that continue to the first places.
    fn move_together(&mut self, function: &LaneFn, parts: &Loop, after: &[Instr], on: &str) {
        let all: Vec<&Instr> = walk(parts.cond).chain(walk(parts.body)).chain(walk(after)).collect();
        let mut used: BTreeSet<Reg> = function.code.results.iter().chain(parts.next).copied().collect();
        all.iter().for_each(|i| i.uses(&mut used));
        all.iter().flat_map(|i| i.sets()).for_each(|r| _ = used.remove(&r));
        let moved = used.intersection(&function.varying).map(|r| format!("c{r}"));
        let moved: String = moved.chain(["place".into()]).map(|a| format!("{a}[k] = {a}[l]; ")).collect();
        self.line("i64 k = 0;");
        self.line(format!("for (int l = 0; l < some; l++) {{ {moved}k += {on}[l]; }}"));
        self.line("some = k;");
        self.line(format!("{} {on}[l] = 1;", self.lane()));
    }

    /// Assigns the initial state.
    fn start_in_lanes(&mut self, function: &LaneFn, states: &[Merge]) {
        states.iter().for_each(|s| self.lane_array(function.code, s.0));
        let start = |s: &Merge| Output { place: format!("c{}[l]", s.0), value: s.1, mask: None };
        self.run(function, &[], None, &states.iter().map(start).collect::<Vec<_>>());
    }

    /// Computes the next state, and appends to the lists.
    fn step_in_lanes(
        &mut self,
        function: &LaneFn,
        parts: &Loop,
        states: &[Merge],
        mask: Option<&str>,
        active: Option<String>,
    ) {
        let code = function.code;
        self.room(code, parts.lists);
        let count = parts.lists.first().map(|l| format!("c{}", l.0)).unwrap_or_default();
        let append =
            |(list, value): &(Reg, Reg)| Output { place: self.listed(*list, &count), value: *value, mask: None };
        let next = |s: &Merge| Output { place: format!("c{}[l]", s.0), value: s.2, mask: active.clone() };
        let outputs = parts.lists.iter().map(append).chain(states.iter().map(next)).collect();
        self.in_lanes(function, parts.body, mask, outputs);
        if !parts.lists.is_empty() {
            self.line(format!("{count}++;"));
        }
    }

    /// Declares the values of a register in all lanes.
    fn lane_array(&mut self, code: &ScalarFn, r: Reg) {
        self.line(format!("{} c{r}[{}];", code.types[r], self.most_lanes()));
    }
}

/// The name of the mask of a loop with this condition.
pub fn mask_name(continues: Reg) -> String {
    format!("on{continues}")
}

/// The parts of a loop.
struct Loop<'a> {
    state: &'a [(Reg, Reg)],
    cond: &'a [Instr],
    continues: Reg,
    body: &'a [Instr],
    next: &'a [Reg],
    lists: &'a [(Reg, Reg)],
}

impl Loop<'_> {
    fn of(nest: &Instr) -> Option<Loop<'_>> {
        let Instr::While { state, cond, continues, body, next, lists } = nest else { return None };
        Some(Loop { state, cond, continues: *continues, body, next, lists })
    }

    /// The registers of the state, each with its initial and its next value.
    fn states(&self) -> impl Iterator<Item = Merge> {
        self.state.iter().zip(self.next).map(|((to, init), next)| (*to, *init, *next))
    }
}
