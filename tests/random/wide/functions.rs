//! Makes random scalar functions, including those of the forms that the index-function analysis recognises.

use super::generate::Maker;
use super::program::*;
use super::types::{Elem, Number, Prim};
use accel::repr::Scalar;
use accel::repr::op::*;

/// A function under construction.
pub struct Making<'a> {
    m: &'a mut Maker,
    /// The types of the values around it, and of its own values.
    elems: Vec<Elem>,
    nodes: Vec<(Elem, Node)>,
    /// Only operations with a gradient.
    smooth: bool,
    /// The number of loops and functions around the current place.
    depth: usize,
}

impl Maker {
    /// A function of about `n` operations.
    pub fn fun(&mut self, params: &[Elem], results: &[Elem], n: usize) -> Fun {
        make(self, &[], params, results, n, false, 0)
    }

    /// An index for each dimension of an array, from an index of another array. With `keep`, also a condition.
    pub fn index(&mut self, from: usize, of: Arr, to: usize, keep: bool) -> (Outside, Fun) {
        let ways = [Outside::Wraps, Outside::Wraps, Outside::Skips, Outside::Fails, Outside::Fails];
        let outside = self.outside(&ways);
        let outside = if outside == Outside::Skips && !keep { Outside::Wraps } else { outside };
        let params = vec![Elem::I64; from];
        let first = if keep { vec![Elem::BOOL] } else { vec![] };
        if self.r.chance(20) {
            let f = self.sized_fun(&params, &[first, vec![Elem::I64; to]].concat());
            return (outside, f);
        }
        let mut f = Making { m: self, elems: params.clone(), nodes: vec![], smooth: false, depth: 0 };
        let mut results = vec![];
        if keep {
            results.push(f.mostly_true(from));
        }
        let shift = f.m.r.below(2);
        for dim in 0..to {
            // Most often, each parameter occurs once.
            let param = if f.m.r.chance(80) { (dim + shift) % from } else { f.m.r.below(from) };
            results.push(f.place(param, of, dim));
        }
        (outside, Fun { params, nodes: f.nodes, results })
    }

    /// A function of an index: some reads at indices of a simple form, combined.
    pub fn reads(&mut self, rank: usize, elem: &Elem) -> Option<Fun> {
        let p = elem.prim()?;
        let params = vec![Elem::I64; rank];
        let mut f = Making { m: self, elems: params.clone(), nodes: vec![], smooth: false, depth: 0 };
        let mut total: Option<Val> = None;
        for _ in 0..1 + f.m.r.below(3) {
            let (array, ty) = f.m.array(|t| t.elem.leaves().contains(&p))?;
            let read = f.near(array, ty.rank, rank);
            let x = f.leaf(read, p).expect("a scalar of the type");
            total = Some(match total {
                None => x,
                Some(t) if p == Prim::Bool => f.add(Elem::One(p), Node::Op2(Op2::Logic(Logic::Or), t, x)),
                Some(t) => {
                    let op = f.m.r.pick(&[Num2::Add, Num2::Mul, Num2::Sub]);
                    f.add(Elem::One(p), Node::Op2(Op2::Num(op), t, x))
                }
            });
        }
        let results = vec![total?];
        Some(Fun { params, nodes: f.nodes, results })
    }
}

/// The functions of two floats that are methods.
const FLOAT2: &[Float2] = &[Float2::Pow, Float2::Atan2, Float2::Hypot];
const FLOATS: &[Prim] = &[Prim::F64, Prim::F32];

fn make(m: &mut Maker, outer: &[Elem], params: &[Elem], results: &[Elem], n: usize, smooth: bool, depth: usize) -> Fun {
    let elems = [outer, params].concat();
    let mut f = Making { m, elems, nodes: vec![], smooth, depth };
    for _ in 0..n {
        let elem = f.wanted(results);
        f.node(&elem);
    }
    let results = results.iter().map(|elem| f.val(elem)).collect();
    Fun { params: params.to_vec(), nodes: f.nodes, results }
}

impl<'a> Making<'a> {
    /// A function of these parameters with one result.
    pub fn fun(m: &'a mut Maker, params: &[Elem], result: impl FnOnce(&mut Making) -> Val) -> Fun {
        Making::functions(m, params, |f| vec![result(f)])
    }

    /// A function of these parameters with several results.
    pub fn functions(m: &'a mut Maker, params: &[Elem], results: impl FnOnce(&mut Making) -> Vec<Val>) -> Fun {
        let mut f = Making { m, elems: params.to_vec(), nodes: vec![], smooth: false, depth: 0 };
        let results = results(&mut f);
        Fun { params: params.to_vec(), nodes: f.nodes, results }
    }

    pub fn add(&mut self, elem: Elem, node: Node) -> Val {
        self.elems.push(elem.clone());
        self.nodes.push((elem, node));
        self.elems.len() - 1
    }
    pub fn number(&mut self, x: Number) -> Val {
        self.add(Elem::One(x.prim()), Node::Const(vec![x]))
    }
    pub fn int(&mut self, x: i64) -> Val {
        self.number(Number(Scalar::I64(x)))
    }
    pub fn op2(&mut self, op: Op2, a: Val, b: Val) -> Val {
        let Elem::One(p) = self.elems[a] else { panic!("an operation on tuples") };
        let ty = op.result(p.ty()).expect("an operation of the type");
        self.add(Elem::One(Prim::of(ty)), Node::Op2(op, a, b))
    }
    pub fn op1(&mut self, op: Op1, a: Val) -> Val {
        let Elem::One(p) = self.elems[a] else { panic!("an operation on tuples") };
        let ty = op.result(p.ty()).expect("an operation of the type");
        self.add(Elem::One(Prim::of(ty)), Node::Op1(op, a))
    }
    pub fn chance(&mut self, percent: usize) -> bool {
        self.m.r.chance(percent)
    }
    pub fn below(&mut self, n: usize) -> usize {
        self.m.r.below(n)
    }
    /// The rank of an array.
    pub fn rank(&self, a: Arr) -> usize {
        self.m.types[a].rank
    }
    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        self.m.r.pick(from)
    }

    /// A type for a new value.
    fn wanted(&mut self, results: &[Elem]) -> Elem {
        let leaves: Vec<Prim> = results.iter().chain(&self.elems).flat_map(Elem::leaves).collect();
        match self.m.r.below(20) {
            0..=8 if !results.is_empty() => {
                Elem::One(self.pick(&results.iter().flat_map(Elem::leaves).collect::<Vec<_>>()))
            }
            9..=12 if !leaves.is_empty() => Elem::One(self.pick(&leaves)),
            13 => Elem::One(self.pick(self.m.prims())),
            14 => Elem::BOOL,
            15 => Elem::I64,
            16 => {
                let all = self.m.tuples();
                if all.is_empty() { Elem::I64 } else { self.pick(&all) }
            }
            _ => self.m.elem(),
        }
    }

    /// A scalar of a type inside a value.
    fn leaf(&mut self, v: Val, p: Prim) -> Option<Val> {
        match self.elems[v].clone() {
            Elem::One(q) => (q == p).then_some(v),
            Elem::Tuple(parts) => {
                let all: Vec<usize> = (0..parts.len()).filter(|i| parts[*i].leaves().contains(&p)).collect();
                if all.is_empty() {
                    return None;
                }
                let i = self.pick(&all);
                let part = self.add(parts[i].clone(), Node::Part(v, i));
                self.leaf(part, p)
            }
        }
    }

    /// A value of a type, likely one of the last values, or a new one if there is none.
    fn val(&mut self, elem: &Elem) -> Val {
        let whole: Vec<Val> = (0..self.elems.len()).filter(|v| self.elems[*v] == *elem).collect();
        if !whole.is_empty() && self.chance(88) {
            let from = if self.chance(65) { whole.len().saturating_sub(2) } else { 0 };
            return self.pick(&whole[from..]);
        }
        if let Elem::One(p) = elem {
            let inside: Vec<Val> = (0..self.elems.len())
                .filter(|v| matches!(&self.elems[*v], Elem::Tuple(_)) && self.elems[*v].leaves().contains(p))
                .collect();
            if !inside.is_empty() && self.chance(85) {
                let v = self.pick(&inside);
                return self.leaf(v, *p).expect("a scalar of the type");
            }
            if self.chance(45) {
                let others: Vec<Prim> = self.elems.iter().filter_map(Elem::prim).filter(|q| q != p).collect();
                if !others.is_empty() {
                    let q = self.pick(&others);
                    let x = self.val(&Elem::One(q));
                    return self.op1(Op1::Cast(p.ty()), x);
                }
            }
            let x = self.m.number(*p);
            return self.number(x);
        }
        let Elem::Tuple(parts) = elem else { unreachable!("a scalar or a tuple") };
        let parts = parts.iter().map(|e| self.val(e)).collect();
        self.add(elem.clone(), Node::Tuple(parts))
    }

    /// Adds a value of a type, and the values that it needs.
    fn node(&mut self, elem: &Elem) -> Val {
        let free = !self.smooth && self.depth < 2;
        let kind = self.m.r.below(100);
        match kind {
            0..=9 => {
                let (c, a, b) = (self.val(&Elem::BOOL), self.val(elem), self.val(elem));
                return self.add(elem.clone(), Node::Cond(c, a, b));
            }
            10..=21 => {
                if let Some((array, ty)) = self.m.array(|t| t.elem == *elem) {
                    return if self.chance(30) {
                        self.guarded(array, ty.rank, elem)
                    } else {
                        self.read(array, ty.rank, elem)
                    };
                }
            }
            22..=25 if free => return self.repeated(elem),
            26..=28 if free && !self.m.is_small() => {
                if let Some(v) = self.gradient(elem) {
                    return v;
                }
            }
            _ => {}
        }
        match elem {
            Elem::Tuple(parts) => {
                let parts = parts.iter().map(|e| if self.chance(60) { self.val(e) } else { self.node(e) }).collect();
                self.add(elem.clone(), Node::Tuple(parts))
            }
            Elem::One(Prim::Bool) => self.boolean(),
            Elem::One(p) if p.is_float() => self.float(*p),
            Elem::One(p) => self.integer(*p),
        }
    }

    fn boolean(&mut self) -> Val {
        match self.m.r.below(12) {
            0..=6 => {
                let p = match self.elems.iter().filter_map(Elem::prim).collect::<Vec<_>>() {
                    all if all.is_empty() => Prim::I64,
                    all => self.pick(&all),
                };
                let (a, b) = (self.val(&Elem::One(p)), self.val(&Elem::One(p)));
                let op = self.pick(Cmp::ALL);
                self.op2(Op2::Cmp(op), a, b)
            }
            7 => {
                let a = self.val(&Elem::BOOL);
                self.op1(Op1::Not, a)
            }
            8 => {
                let p = self.pick(self.m.of(FLOATS, |_| &[Prim::F64]));
                let (a, op) = (self.val(&Elem::One(p)), self.pick(FloatTest::ALL));
                self.op1(Op1::Test(op), a)
            }
            _ => {
                let (a, b) = (self.val(&Elem::BOOL), self.val(&Elem::BOOL));
                let op = self.pick(Logic::ALL);
                self.op2(Op2::Logic(op), a, b)
            }
        }
    }

    fn float(&mut self, p: Prim) -> Val {
        let e = Elem::One(p);
        match self.m.r.below(if self.m.is_small() { 26 } else { 20 }) {
            0..=4 | 20.. => {
                let op = self.pick(self.m.of(Float1::ALL, |f| f.functions()));
                let a = self.val(&e);
                self.op1(Op1::Float(op), a)
            }
            5 => {
                let (op, a) = (self.pick(Num1::ALL), self.val(&e));
                self.op1(Op1::Num(op), a)
            }
            6 if !self.m.of(FLOAT2, |f| f.functions_of_two()).is_empty() => {
                let op = self.pick(self.m.of(FLOAT2, |f| f.functions_of_two()));
                let (a, b) = (self.val(&e), self.val(&e));
                self.op2(Op2::Float(op), a, b)
            }
            7 => {
                let all = &[-3, -1, 0, 1, 2, 2, 3, 5, 8];
                let (a, n) = (self.val(&e), self.pick(self.m.of(&all[..], |f| f.powers())));
                self.add(e, Node::Powi(a, n))
            }
            8 => {
                let (a, b, c) = (self.val(&e), self.val(&e), self.val(&e));
                self.add(e, Node::Clamp(a, b, c))
            }
            9 | 10 => {
                let q = self.pick(self.m.prims());
                let a = self.val(&Elem::One(q));
                self.op1(Op1::Cast(p.ty()), a)
            }
            _ => {
                use Num2::*;
                let all = &[Add, Add, Sub, Mul, Mul, Div, Rem, Min, Max];
                let op = self.pick(self.m.of(&all[..], |f| f.arithmetic()));
                let (a, b) = (self.val(&e), self.val(&e));
                self.op2(Op2::Num(op), a, b)
            }
        }
    }

    fn integer(&mut self, p: Prim) -> Val {
        let e = Elem::One(p);
        match self.m.r.below(24) {
            0 => {
                let (op, a) = (self.pick(Num1::ALL), self.val(&e));
                self.op1(Op1::Num(op), a)
            }
            1 | 2 => {
                let (op, a) = (self.pick(Int1::ALL), self.val(&e));
                self.op1(Op1::Int(op), a)
            }
            3 | 4 => {
                let q = self.pick(self.m.prims());
                let a = self.val(&Elem::One(q));
                self.op1(Op1::Cast(p.ty()), a)
            }
            5 => {
                let (a, b, c) = (self.val(&e), self.val(&e), self.val(&e));
                self.add(e, Node::Clamp(a, b, c))
            }
            6..=8 => {
                let op = self.pick(&[Int2::And, Int2::Or, Int2::Xor, Int2::Shl, Int2::Shr]);
                let (a, b) = (self.val(&e), self.val(&e));
                self.op2(Op2::Int(op), a, b)
            }
            9..=12 => self.quotient(p),
            13..=15 if p == Prim::I64 => match self.m.array(|t| t.rank > 0) {
                Some((array, _)) if self.chance(20) => self.add(e, Node::Size(array)),
                Some((array, ty)) => {
                    let dim = self.m.r.below(ty.rank);
                    self.add(e, Node::Extent { array, dim })
                }
                None => self.int(3),
            },
            _ => {
                use Num2::*;
                let (op, a, b) = (self.pick(&[Add, Add, Sub, Sub, Mul, Mul, Min, Max]), self.val(&e), self.val(&e));
                self.op2(Op2::Num(op), a, b)
            }
        }
    }

    /// A division. Its divisor is mostly not zero, or it is executed only if the divisor is not zero.
    fn quotient(&mut self, p: Prim) -> Val {
        let e = Elem::One(p);
        let op = self.pick(&[
            Op2::Num(Num2::Div),
            Op2::Num(Num2::Rem),
            Op2::Int(Int2::DivEuclid),
            Op2::Int(Int2::RemEuclid),
        ]);
        let (a, b) = (self.val(&e), self.val(&e));
        match self.m.r.below(10) {
            0..=3 => {
                let k = self.pick(&[1.0, 2.0, 3.0, 5.0, 7.0, 8.0, 10.0, 100.0]);
                let k = self.number(Number(p.ty().from_f64(k)));
                self.op2(op, a, k)
            }
            4..=6 => {
                let one = self.number(Number(p.ty().one()));
                let b = self.op2(Op2::Int(Int2::Or), b, one);
                self.op2(op, a, b)
            }
            7 | 8 => {
                let zero = self.number(Number(p.ty().zero()));
                let c = self.op2(Op2::Cmp(Cmp::Ne), b, zero);
                let q = self.op2(op, a, b);
                self.add(e, Node::Cond(c, q, a))
            }
            _ => self.op2(op, a, b),
        }
    }

    fn read(&mut self, array: Arr, rank: usize, elem: &Elem) -> Val {
        let index = (0..rank).map(|_| self.val(&Elem::I64)).collect();
        let ways = [Outside::Wraps, Outside::Wraps, Outside::Skips, Outside::Skips, Outside::Fails];
        let outside = self.m.outside(&ways);
        self.add(elem.clone(), Node::Read { array, index, outside })
    }

    /// A read that is executed only if a comparison of index and extent holds; most often it is the right comparison.
    fn guarded(&mut self, array: Arr, rank: usize, elem: &Elem) -> Val {
        let mut index = vec![];
        let mut condition: Option<Val> = None;
        for dim in 0..rank {
            let i = self.val(&Elem::I64);
            let (k, n) = (self.pick(&[-1, 0, 0, 1, 2]), self.add(Elem::I64, Node::Extent { array, dim }));
            let k = self.int(k);
            let j = self.op2(Op2::Num(Num2::Add), i, k);
            let zero = self.int(0);
            let low = self.op2(Op2::Cmp(Cmp::Ge), j, zero);
            let high = if self.chance(70) {
                self.op2(Op2::Cmp(Cmp::Lt), j, n)
            } else {
                let m = self.op2(Op2::Num(Num2::Sub), n, k);
                self.op2(Op2::Cmp(Cmp::Lt), i, m)
            };
            let both = if self.chance(85) { self.op2(Op2::Logic(Logic::And), low, high) } else { high };
            condition = Some(match condition {
                None => both,
                Some(c) => self.op2(Op2::Logic(Logic::And), c, both),
            });
            index.push(j);
        }
        let x = self.add(elem.clone(), Node::Read { array, index, outside: Outside::Fails });
        match condition {
            None => x,
            Some(c) => {
                let y = self.val(elem);
                self.add(elem.clone(), Node::Cond(c, x, y))
            }
        }
    }

    fn repeated(&mut self, elem: &Elem) -> Val {
        let times = if self.chance(60) {
            let n = self.m.r.below(5) as i64;
            self.int(n)
        } else {
            let x = self.val(&Elem::I64);
            let k = self.pick(&[3, 5, 9]);
            let k = self.int(k);
            self.op2(Op2::Int(Int2::RemEuclid), x, k)
        };
        let init = self.val(elem);
        let params = [Elem::I64, elem.clone()];
        let (n, k) = (self.m.r.below(4), self.m.r.below(2));
        let outer = self.elems.clone();
        let continues = if self.chance(60) {
            let yes = Node::Const(vec![Number(Scalar::Bool(true))]);
            Fun { params: params.to_vec(), nodes: vec![(Elem::BOOL, yes)], results: vec![outer.len() + 2] }
        } else {
            make(self.m, &outer, &params, &[Elem::BOOL], k, false, self.depth + 1)
        };
        let body = make(self.m, &outer, &params, std::slice::from_ref(elem), n, false, self.depth + 1);
        self.add(elem.clone(), Node::While { times, init, continues, body })
    }

    fn gradient(&mut self, elem: &Elem) -> Option<Val> {
        let floats: Vec<Prim> = elem.leaves().into_iter().filter(|p| p.is_float()).collect();
        if floats.is_empty() {
            return None;
        }
        let p = self.pick(&floats);
        let at = self.val(elem);
        let outer = self.elems.clone();
        let n = self.m.r.below(4);
        let f = make(self.m, &outer, std::slice::from_ref(elem), &[Elem::One(p)], n, true, self.depth + 1);
        if self.chance(30) {
            let both = Elem::Tuple(vec![Elem::One(p), elem.clone()]);
            let v = self.add(both, Node::Gradient { f, at, with_value: true });
            return Some(self.add(elem.clone(), Node::Part(v, 1)));
        }
        Some(self.add(elem.clone(), Node::Gradient { f, at, with_value: false }))
    }

    /// A read of an array at an index of a simple form, computed from parameters.
    fn near(&mut self, array: Arr, rank: usize, params: usize) -> Val {
        let index = (0..rank)
            .map(|dim| match params {
                0 => {
                    let i = self.m.r.below(2) as i64;
                    self.int(i)
                }
                n => {
                    let param = if self.chance(70) { dim % n } else { self.m.r.below(n) };
                    self.place(param, array, dim)
                }
            })
            .collect();
        let ways = [Outside::Wraps, Outside::Skips, Outside::Skips, Outside::Fails, Outside::Fails];
        let outside = self.m.outside(&ways);
        let elem = self.m.types[array].elem.clone();
        self.add(elem, Node::Read { array, index, outside })
    }

    /// A condition that is mostly true.
    fn mostly_true(&mut self, params: usize) -> Val {
        if self.chance(50) {
            return self.number(Number(Scalar::Bool(true)));
        }
        let p = self.m.r.below(params);
        let c = self.pick(&[0, 1, 2]);
        let c = self.int(c);
        let op = self.pick(Cmp::ALL);
        self.op2(Op2::Cmp(op), p, c)
    }

    /// An index of a dimension of an array, from a parameter or from none.
    fn place(&mut self, param: Val, array: Arr, dim: usize) -> Val {
        let kind = self.m.r.below(13);
        if kind < 5 {
            return param;
        }
        let c = self.pick(&[-2, -1, 0, 1, 1, 2]);
        let c = self.int(c);
        match kind {
            5..=7 => self.op2(Op2::Num(Num2::Add), param, c),
            8 => c,
            9 | 10 => {
                let n = self.add(Elem::I64, Node::Extent { array, dim });
                let one = self.int(1);
                let last = self.op2(Op2::Num(Num2::Sub), n, one);
                match self.m.r.below(3) {
                    0 => last,
                    1 => self.op2(Op2::Num(Num2::Min), param, last),
                    _ => self.op2(Op2::Num(Num2::Sub), last, param),
                }
            }
            11 => {
                // An index read from an array.
                let of = self.m.array(|t| t.elem == Elem::I64 && t.rank == 1);
                match of {
                    Some((array, _)) => {
                        self.add(Elem::I64, Node::Read { array, index: vec![param], outside: Outside::Wraps })
                    }
                    None => param,
                }
            }
            _ => {
                let k = 1 + self.m.r.below(3) as i64;
                let k = self.int(k);
                match self.m.r.below(4) {
                    0 => self.op2(Op2::Int(Int2::RemEuclid), param, k),
                    1 => self.op2(Op2::Int(Int2::DivEuclid), param, k),
                    2 => self.op2(Op2::Num(Num2::Mul), param, k),
                    _ => self.op2(Op2::Num(Num2::Add), param, param),
                }
            }
        }
    }
}
