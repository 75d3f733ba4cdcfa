//! Unroll and jam: several copies of scalar code for different arguments become one, which computes what they have in common once. A compiler
//! would find that too, but takes long to look for it.

use accel_fusion::kernel::{Code, Instr, Reg, moved};

/// The copies of a code.
pub struct Copies {
    /// All of them. Its parameters are the different arguments.
    pub code: Code,
    /// The arguments.
    pub args: Vec<String>,
    /// For each copy what has become of each register of the original.
    pub registers: Vec<Vec<Reg>>,
    /// For each register which one of the original it is a copy of.
    pub original: Vec<Reg>,
}

impl Copies {
    /// Copies of straight code, for each of the arguments.
    pub fn new(code: &Code, arguments: &[Vec<String>]) -> Copies {
        let mut all = Copies { code: Code::default(), args: vec![], registers: vec![], original: vec![] };
        for args in arguments {
            let params = args.iter().take(code.params).enumerate().map(|(r, arg)| all.param(code, r, arg)).collect();
            all.registers.push(params);
        }
        all.code.params = all.args.len();
        for copy in 0..arguments.len() {
            all.registers[copy].resize(code.types.len(), Reg::MAX);
            code.instrs.iter().for_each(|i| all.instr(code, copy, i));
        }
        all
    }

    fn register(&mut self, code: &Code, original: Reg) -> Reg {
        self.original.push(original);
        self.code.types.push(code.types[original]);
        self.original.len() - 1
    }

    fn param(&mut self, code: &Code, original: Reg, arg: &str) -> Reg {
        let same = |r: &Reg| self.args[*r] == arg && self.original[*r] == original;
        match (0..self.args.len()).find(same) {
            Some(r) => r,
            None => {
                self.args.push(arg.into());
                self.register(code, original)
            }
        }
    }

    /// The copy of an instruction, if there is none yet that does the same.
    fn instr(&mut self, code: &Code, copy: usize, i: &Instr) {
        let of = i.sets();
        let renamed = |to: &[Reg]| {
            let results = |r: &Reg| of.iter().position(|x| x == r).map(|k| to[k]);
            moved(i, &|r| results(r).unwrap_or(self.registers[copy][*r]))
        };
        let same = |j: &&Instr| {
            let to = j.sets();
            to.iter().map(|r| self.original[*r]).eq(of.iter().copied()) && renamed(&to) == **j
        };
        let to = match self.code.instrs.iter().find(same).map(|i| i.sets().to_vec()) {
            Some(to) => to,
            None => {
                let next = self.original.len();
                let to: Vec<Reg> = (next..next + of.len()).collect();
                let instr = renamed(&to);
                of.iter().for_each(|r| _ = self.register(code, *r));
                self.code.instrs.push(instr);
                to
            }
        };
        of.iter().zip(to).for_each(|(r, to)| self.registers[copy][*r] = to);
    }
}
