//! Loops whose steps update their state: some elements or a row, in place of what they read before, in branches, and in inner loops.

use super::functions::Making;
use super::generate::{Maker, Tried, constant};
use super::program::*;
use super::types::{Elem, Number, Ty};
use accel::repr::Scalar;
use accel::repr::op::{Cmp, Float1, Num2, Op1, Op2};

/// The places of the arrays in a body.
struct Body {
    /// The number of the step.
    k: Arr,
    /// The state before the step.
    before: Vec<Arr>,
    /// The state so far.
    now: Vec<Arr>,
}

fn op(f: &mut Making, op: Num2, a: Val, b: i64) -> Val {
    let b = f.int(b);
    f.op2(Op2::Num(op), a, b)
}

impl Maker {
    /// The definitions of one or two loops, of which the second one often goes on with the state of the first one.
    pub fn updating_loops(&mut self) -> Vec<Def> {
        let mut defs = vec![];
        for _ in 0..1 + self.r.below(2) {
            if let Some(def) = self.updating_loop(true)
                && let Tried::Done(arrays) = self.attempt(&def)
            {
                self.define(&def, arrays);
                defs.push(def);
            }
        }
        defs
    }

    fn updating_loop(&mut self, nests: bool) -> Option<Def> {
        let n = self.r.pick(&[1, 1, 2, 2, 3]);
        let is_state = |t: &Ty| t.elem == Elem::F64 && (1..3).contains(&t.rank);
        let init: Vec<Arr> = (0..n).map(|_| self.array(is_state).map(|x| x.0)).collect::<Option<_>>()?;
        let tys: Vec<Ty> = init.iter().map(|a| self.types[*a].clone()).collect();
        let (continues, body) = self.in_body(&init, |m, level| {
            let before: Vec<Arr> = (level + 1..m.types.len()).collect();
            let params = m.types[level..].to_vec();
            let continues = m.continues();
            let (mut body, mut defs) = (Body { k: level, now: before.clone(), before }, vec![]);
            for _ in 0..m.r.pick(&[1, 1, 2, 2, 3]) {
                m.change(&mut body, nests, &mut defs);
            }
            // The state before the step, beside its successor.
            let same: Vec<usize> = (0..n).filter(|c| tys[*c] == tys[0]).collect();
            if m.r.chance(25) {
                body.now[m.r.pick(&same)] = body.before[m.r.pick(&same)];
            }
            (continues, Block { params, defs, results: body.now })
        });
        let times = match self.r.below(10) {
            0..4 => constant(Number(Scalar::I64(self.r.below(6) as i64))),
            4..8 => self.steps_by_extent(init[0]),
            _ => self.count(),
        };
        Some(Def { tys, step: Step::Awhile { times, continues, init, body } })
    }

    /// A number of steps that an extent gives: nearly as many, half of them, at least or at most some. Passes simplify such numbers
    /// by what holds where they are read.
    fn steps_by_extent(&mut self, array: Arr) -> Fun {
        Making::fun(self, &[], |f| {
            let n = f.add(Elem::I64, Node::Extent { array, dim: 0 });
            let change = f.pick(&[-3, -2, -1, -1, -1, 0, 1]);
            let n = op(f, Num2::Add, n, change);
            match f.below(4) {
                0 => op(f, Num2::Max, n, 1),
                1 => op(f, Num2::Min, n, 2),
                _ => n,
            }
        })
    }

    /// Changes a component of the state.
    fn change(&mut self, body: &mut Body, nests: bool, defs: &mut Vec<Def>) {
        let c = self.r.below(body.now.len());
        // Seldom the state before the step, although it was updated since.
        let from = if self.r.chance(90) { body.now[c] } else { body.before[c] };
        let ty = self.types[from].clone();
        if nests && self.r.chance(15) {
            if let Some(def) = self.updating_loop(false)
                && def.tys[0] == ty
                && let Some(to) = self.add(def, defs)
            {
                body.now[c] = to;
            }
            return;
        }
        let row = ty.rank == 2 && self.r.chance(60);
        let part = Ty::new(usize::from(row), Elem::F64);
        let step = if row {
            let nodes = vec![(Elem::I64, Node::Extent { array: from, dim: 1 })];
            let shape = Fun { params: vec![], nodes, results: vec![0] };
            Step::Generate { shape, f: self.new_value(body, &[Elem::I64]) }
        } else {
            Step::Fill { shape: Fun { params: vec![], nodes: vec![], results: vec![] }, x: self.new_value(body, &[]) }
        };
        let Some(x) = self.add(Def { tys: vec![part], step }, defs) else { return };
        let outside = self.outside(&[Outside::Wraps, Outside::Wraps, Outside::Skips, Outside::Fails]);
        let target = self.target(body, from, row);
        let op = if self.r.chance(90) { Operator::First } else { Operator::Each(vec![Basic::Add]) };
        let step = Step::Permute { op, defaults: from, outside, target, x };
        let Some(mut to) = self.add(Def { tys: vec![ty.clone()], step }, defs) else { return };
        if self.r.chance(25) {
            let (c, mut branches) = (self.condition(body), [vec![to], vec![from]]);
            if self.r.chance(50) {
                branches.reverse();
            }
            let [then, otherwise] = branches;
            to = match self.add(Def { tys: vec![ty], step: Step::Acond { c, then, otherwise } }, defs) {
                Some(to) => to,
                None => return,
            };
        }
        body.now[c] = to;
    }

    /// Adds a definition with one result that is used, if it can be tried.
    fn add(&mut self, def: Def, defs: &mut Vec<Def>) -> Option<Arr> {
        let Tried::Done(arrays) = self.attempt(&def) else { return None };
        let to = self.types.len();
        self.define(&def, arrays);
        defs.push(def);
        Some(to)
    }

    /// Whether there is a target, and the place in an array: of an element, or from the index in a row.
    fn target(&mut self, body: &Body, of: Arr, row: bool) -> Fun {
        let rank = self.types[of].rank;
        Making::functions(self, &vec![Elem::I64; usize::from(row)], |f| {
            let mut results = vec![f.add(Elem::BOOL, Node::Const(vec![Number(Scalar::Bool(true))]))];
            for dim in 0..rank {
                results.push(if row && dim == 1 { 0 } else { f.step_place(body, of, dim) });
            }
            results
        })
    }

    /// A bounded function of some elements of the state, before and so far.
    fn new_value(&mut self, body: &Body, params: &[Elem]) -> Fun {
        Making::fun(self, params, |f| {
            let mut total = f.element(body, params.len());
            for _ in 0..f.below(3) {
                let other = f.element(body, params.len());
                let op = f.pick(&[Num2::Add, Num2::Sub, Num2::Mul]);
                total = f.op2(Op2::Num(op), total, other);
            }
            match f.below(3) {
                0 => f.op1(Op1::Float(Float1::Sin), total),
                1 => f.op1(Op1::Float(Float1::Tanh), total),
                _ => {
                    let half = f.number(Number(Scalar::F64(0.5)));
                    f.op2(Op2::Num(Num2::Mul), total, half)
                }
            }
        })
    }

    /// A condition by the number of the step, or by an element.
    fn condition(&mut self, body: &Body) -> Fun {
        Making::fun(self, &[], |f| {
            if f.chance(50) {
                let k = f.step_number(body);
                let k = op(f, Num2::Rem, k, 2);
                let zero = f.int(0);
                return f.op2(Op2::Cmp(Cmp::Eq), k, zero);
            }
            let x = f.element(body, 0);
            let half = f.number(Number(Scalar::F64(0.5)));
            f.op2(Op2::Cmp(Cmp::Lt), x, half)
        })
    }
}

impl Making<'_> {
    fn step_number(&mut self, body: &Body) -> Val {
        self.add(Elem::I64, Node::Read { array: body.k, index: vec![], outside: Outside::Wraps })
    }

    /// An index along a dimension that depends on the step or is constant.
    fn step_place(&mut self, body: &Body, of: Arr, dim: usize) -> Val {
        if self.chance(20) {
            let constant = self.pick(&[0, 0, 1, 2]);
            return self.int(constant);
        }
        let k = self.step_number(body);
        match self.below(5) {
            0 => op(self, Num2::Add, k, 1),
            1 => op(self, Num2::Sub, k, 1),
            2 => op(self, Num2::Mul, k, 2),
            3 => {
                let n = self.add(Elem::I64, Node::Extent { array: of, dim });
                let last = op(self, Num2::Sub, n, 1);
                self.op2(Op2::Num(Num2::Sub), last, k)
            }
            _ => k,
        }
    }

    /// An element of the state, before or so far, or of another array.
    fn element(&mut self, body: &Body, params: usize) -> Val {
        let array = match self.below(6) {
            0 => self.pick(&body.before),
            1 => self.below(2),
            _ => self.pick(&body.now),
        };
        let index = (0..self.rank(array))
            .map(|dim| if params > 0 && self.chance(70) { 0 } else { self.step_place(body, array, dim) });
        let index = index.collect();
        self.add(Elem::F64, Node::Read { array, index, outside: Outside::Wraps })
    }
}
