//! Unroll and jam: merges several copies of a scalar function, for different arguments, into one that computes common
//! values once. A C compiler would also find these, but only after a long search.

use accel_fusion::kernel::{IndexVec, Instr, Reg, ScalarFn, renamed};

/// The merged copies of a scalar function.
pub struct Copies {
    /// The merged function. Its parameters are the distinct arguments.
    pub code: ScalarFn,
    /// The arguments.
    pub args: IndexVec<Reg, String>,
    /// For each copy, the new register of each register of the original.
    pub registers: Vec<IndexVec<Reg, Reg>>,
    /// For each register, the register of the original that it is a copy of.
    pub original: IndexVec<Reg, Reg>,
}

impl Copies {
    /// Copies a branch-free function for each of the arguments.
    pub fn new(code: &ScalarFn, arguments: &[Vec<String>]) -> Copies {
        let mut all =
            Copies { code: ScalarFn::default(), args: IndexVec::new(), registers: vec![], original: IndexVec::new() };
        for args in arguments {
            let params = code.param_regs().zip(args).map(|(r, arg)| all.param(code, r, arg)).collect();
            all.registers.push(params);
        }
        all.code.params = all.args.len();
        for copy in 0..arguments.len() {
            all.registers[copy].resize(code.types.len(), Reg::NONE);
            code.instrs.iter().for_each(|i| all.instr(code, copy, i));
        }
        all
    }

    fn register(&mut self, code: &ScalarFn, original: Reg) -> Reg {
        self.code.types.push(code.types[original]);
        self.original.push(original)
    }

    fn param(&mut self, code: &ScalarFn, original: Reg, arg: &str) -> Reg {
        let same = |r: &Reg| self.args[*r] == arg && self.original[*r] == original;
        match self.args.indices().find(same) {
            Some(r) => r,
            None => {
                self.args.push(arg.into());
                self.register(code, original)
            }
        }
    }

    /// Copies an instruction, unless an equal one exists already.
    fn instr(&mut self, code: &ScalarFn, copy: usize, i: &Instr) {
        let of = i.sets();
        let renamed = |to: &[Reg]| {
            let results = |r: &Reg| of.iter().position(|x| x == r).map(|k| to[k]);
            renamed(i, &|r| results(r).unwrap_or(self.registers[copy][*r]))
        };
        let same = |j: &&Instr| {
            let to = j.sets();
            to.iter().map(|r| self.original[*r]).eq(of.iter().copied()) && renamed(&to) == **j
        };
        let to = match self.code.instrs.iter().find(same).map(|i| i.sets().to_vec()) {
            Some(to) => to,
            None => {
                let next = self.original.next_idx();
                let to: Vec<Reg> = (0..of.len()).map(|k| next + k).collect();
                let instr = renamed(&to);
                of.iter().for_each(|r| _ = self.register(code, *r));
                self.code.instrs.push(instr);
                to
            }
        };
        of.iter().zip(to).for_each(|(r, to)| self.registers[copy][*r] = to);
    }
}
