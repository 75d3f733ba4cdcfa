//! Writes outlined code as functions: NOTE [Outlined functions].

use super::outlined::Outlined;
use super::types::{in_memory, in_staging};
use super::writer::Writer;
use accel_fusion::kernel::{Instr, Reg, ScalarFn};
use std::collections::BTreeSet;
use std::fmt::Write;

impl Writer<'_> {
    /// Writes an instruction as a function, and a call of it.
    pub fn outline(&mut self, code: &ScalarFn, instr: &Instr) {
        let outer = self.begin();
        let (outer_outlined, outer_params) =
            (self.outlined.replace(Outlined::default()), std::mem::take(&mut self.params));
        let (depth, fails) = (self.depth, self.declarations.fails);
        (self.depth, self.declarations.fails) = (0, false);
        self.instr(code, instr);
        let sets = instr.sets();
        sets.iter().for_each(|r| self.line(format!("*to{r} = r{r};")));
        let body = self.end(outer);

        let outlined = std::mem::replace(&mut self.outlined, outer_outlined).unwrap_or_default();
        let outer = self.begin();
        for (array, columns) in &outlined.arrays {
            self.hoist_extents(*array);
            columns.iter().for_each(|c| self.hoist_column(*array, *c, "const "));
        }
        let names = self.end(outer);
        let name = format!("outlined_{}", self.declarations.outlined.len());
        let mut parameters = match self.host {
            Some(_) => "run *r, i64 *fault".into(),
            None => self.parameters(),
        };
        self.declarations.functions.insert(name.clone(), std::mem::replace(&mut self.params, outer_params));
        let mut arguments = match self.host {
            Some(_) => "r, fault".into(),
            None => self.arguments(&name),
        };
        let mut add = |declaration: String, argument: String| {
            let _ = write!(parameters, ", {declaration}");
            let _ = write!(arguments, ", {argument}");
        };
        let lists: BTreeSet<Reg> = code.lists().into_iter().collect();
        let space = self.global();
        let ty = |r: &Reg| match lists.contains(r) {
            true => format!("{space}{} *", code.types[*r]),
            false => code.types[*r].to_string(),
        };
        outlined.given.iter().for_each(|r| add(format!("const {} r{r}", ty(r)), format!("r{r}")));
        if !outlined.in_strip.is_empty() {
            add("const int l".into(), "l".into());
        }
        for (a, c) in &outlined.in_strip {
            let is_staged = self.lanes.staged.contains(a);
            let held = if is_staged { in_staging } else { in_memory }(self.program.arrays[*a].columns[*c]);
            add(format!("const {}{held} *s{a}_{c}", self.global()), format!("s{a}_{c}"));
        }
        for (a, c) in &outlined.sums {
            let (t, space) = (in_memory(self.program.arrays[*a].columns[*c]), self.global());
            add(format!("{space}{t} *a{a}_{c}"), format!("a{a}_{c}"));
        }
        sets.iter().for_each(|r| add(format!("{} *to{r}", ty(r)), format!("&r{r}")));
        self.declarations.outlined.push(format!(
            "\nstatic __attribute__((noinline)) int {name}({parameters}) {{\n{names}{body}    return 0;\n}}\n"
        ));

        sets.iter().for_each(|r| self.line(format!("{} r{r};", ty(r))));
        let call = format!("{name}({arguments})");
        // If the caller is a kernel itself, which returns nothing, nothing can fail.
        self.line(if self.declarations.fails { format!("if ({call}) return 1;") } else { format!("{call};") });
        self.depth = depth;
        self.declarations.fails |= fails;
        if let Some(outer) = &mut self.outlined {
            outer.enter(instr);
            outer.includes(outlined);
        }
    }
}
