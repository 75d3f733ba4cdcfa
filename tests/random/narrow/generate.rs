//! Makes well-typed random programs whose values stay small.

use super::plain::Evaluator;
use super::program::*;
use quickcheck::{Arbitrary, Gen};

/// The operations that a program may contain.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// Only operations that are differentiable almost everywhere, with values for which differences are meaningful.
    pub smooth: bool,
    /// Also reads and writes at indices that are not checked, and extents that may be negative: some programs fail.
    pub unchecked: bool,
    /// How many of a hundred programs begin with a chain of small vectors, see `chains.rs`.
    pub chains: usize,
}

/// All operations, without failures.
pub const EVERYTHING: Features = Features { smooth: false, unchecked: false, chains: 10 };
/// What has derivatives.
pub const SMOOTH: Features = Features { smooth: true, unchecked: false, chains: 20 };

/// The largest number of elements of an array.
const MOST_ELEMENTS: usize = 40;

impl Features {
    /// Whether the arrays, and all numbers in the last scalar code, are small enough.
    pub fn allow(self, e: &Evaluator) -> bool {
        let small = e.arrays.iter().all(|a| a.data.len() <= MOST_ELEMENTS);
        // A program that is not differentiated may have infinite values or NaN.
        small && (!self.smooth || e.largest.get() <= 30.0)
    }
}

/// A random program with these features. Its size grows with the size of the generator.
pub fn program(g: &mut Gen, features: Features) -> Program {
    let inputs = inputs(g);
    let mut steps = prelude();
    let mut e = Evaluator::new(&inputs);
    steps.iter().for_each(|(ty, s)| e.step(*ty, s));
    let wanted = PRELUDE + 1 + below(g, g.size().max(1));
    if chance(g, features.chains) {
        let types: Vec<Ty> = steps.iter().map(|(ty, _)| *ty).collect();
        for (ty, step) in (Maker { g, types: &types, features }).chain(types.len()) {
            e.largest.set(0.0);
            e.step(ty, &step);
            if !features.allow(&e) {
                e.arrays.pop();
                break;
            }
            steps.push((ty, step));
        }
    }
    for _ in 0..4 * wanted {
        if steps.len() >= wanted {
            break;
        }
        let types: Vec<Ty> = steps.iter().map(|(ty, _)| *ty).collect();
        let Some((ty, step)) = Maker { g, types: &types, features }.step() else { continue };
        e.largest.set(0.0);
        let failed = e.failed.replace(false);
        e.step(ty, &step);
        let fails = e.failed.replace(failed);
        // A program that fails tests little of its other steps.
        if features.allow(&e) && (!fails || chance(g, 3)) {
            steps.push((ty, step));
            e.failed.set(failed || fails);
        } else {
            e.arrays.pop();
        }
    }
    if chance(g, 80) {
        let step = collected(g, &steps);
        e.largest.set(0.0);
        e.step(F0, &step);
        steps.push((F0, step));
    }
    let results = RESULTS.map(|ty| {
        let all: Vec<usize> = (0..steps.len()).filter(|k| steps[*k].0 == ty).collect();
        // Later steps use more of the program.
        all[all.len() - 1 - below(g, 2).min(all.len() - 1)]
    });
    let p = Program { inputs, steps, results };
    // Unused steps are part of the test, but not always.
    if chance(g, 70) { super::shrink::swept(&p) } else { p }
}

/// A number that depends on every array that is not used otherwise.
fn collected(g: &mut Gen, steps: &[(Ty, Step)]) -> Step {
    let used: Vec<usize> = steps.iter().flat_map(|(_, s)| s.arrays()).collect();
    let mut nodes = vec![(Scalar::F, Node::F(0.25))];
    let mut total = 0;
    for (array, (ty, _)) in steps.iter().enumerate().skip(PRELUDE).filter(|(k, _)| !used.contains(k)) {
        nodes.push((Scalar::I, Node::I(int(g))));
        let index = vec![nodes.len() - 1; ty.rank];
        let part = below(g, ty.elem.scalars().len());
        let scalar = ty.elem.scalars()[part];
        nodes.push((scalar, Node::Read { array, index, part, outside: Outside::Wraps }));
        if scalar == Scalar::I {
            nodes.push((Scalar::I, Node::Modulo(nodes.len() - 1, 5)));
            nodes.push((Scalar::F, Node::Unary(Unary::ToFloat, nodes.len() - 1)));
        }
        nodes.push((Scalar::F, Node::Unary(Unary::Tanh, nodes.len() - 1)));
        nodes.push((Scalar::F, Node::Binary(Binary::Add, total, nodes.len() - 1)));
        total = nodes.len() - 1;
    }
    Step::Generate { extents: vec![], f: Fun { params: 0, nodes, results: vec![total] } }
}

/// The inputs, a number, and the pairs of two inputs.
fn prelude() -> Vec<(Ty, Step)> {
    let mut steps: Vec<_> = INPUTS.iter().enumerate().map(|(i, ty)| (*ty, Step::Input(i))).collect();
    let number = Fun { params: 0, nodes: vec![(Scalar::F, Node::F(0.5))], results: vec![0] };
    steps.push((F0, Step::Generate { extents: vec![], f: number }));
    let nodes = vec![(Scalar::F, Node::Param(0)), (Scalar::I, Node::Param(1))];
    steps.push((P1, Step::ZipWith { f: Fun { params: 2, nodes, results: vec![0, 1] }, x: 0, y: 3 }));
    steps
}

/// A random number below `n`.
pub fn below(g: &mut Gen, n: usize) -> usize {
    let all: Vec<usize> = (0..n).collect();
    g.choose(&all).copied().unwrap_or(0)
}

pub fn chance(g: &mut Gen, percent: usize) -> bool {
    below(g, 100) < percent
}

pub fn pick<T: Copy>(g: &mut Gen, from: &[T]) -> T {
    *g.choose(from).expect("something to choose from")
}

/// A number between -2 and 2, sometimes a special one.
pub fn float(g: &mut Gen) -> f64 {
    if chance(g, 5) {
        return pick(g, &[0.0, 1.0, -1.0, 0.5]);
    }
    f64::from(i32::arbitrary(g)) / f64::from(1 << 30)
}

fn int(g: &mut Gen) -> i64 {
    pick(g, &[-7, -3, -2, -1, 0, 0, 1, 1, 2, 3, 4, 5, 11])
}

fn inputs(g: &mut Gen) -> Inputs {
    let extent = |g: &mut Gen| pick(g, &[0, 1, 2, 2, 3, 3, 4]);
    let floats = |g: &mut Gen, n: usize| (0..n).map(|_| float(g)).collect();
    let n = extent(g);
    // Equal extents should be common, because programs behave differently with them.
    let equal = |g: &mut Gen, percent| if chance(g, percent) { n } else { extent(g) };
    let (k, rows, columns, l) = (equal(g, 50), equal(g, 20), equal(g, 30).min(3), equal(g, 30));
    Inputs {
        xs: floats(g, n),
        ys: floats(g, k),
        m: (rows, columns, floats(g, rows * columns)),
        is: (0..l).map(|_| int(g)).collect(),
    }
}

/// Makes a step after others.
pub struct Maker<'a> {
    pub g: &'a mut Gen,
    pub types: &'a [Ty],
    pub features: Features,
}

impl Maker<'_> {
    /// A step with a type that fits. Later steps are more likely.
    pub fn array(&mut self, fits: impl Fn(Ty) -> bool) -> Option<(usize, Ty)> {
        let all: Vec<usize> = (0..self.types.len()).filter(|k| fits(self.types[*k])).collect();
        let from = if chance(self.g, 50) { all.len().saturating_sub(3) } else { 0 };
        let k = *self.g.choose(&all[from..])?;
        Some((k, self.types[k]))
    }

    fn elem(&mut self) -> Elem {
        pick(self.g, &[Elem::F, Elem::F, Elem::F, Elem::I, Elem::P])
    }

    fn extent(&mut self) -> Extent {
        match self.array(|ty| ty.rank > 0) {
            Some((array, ty)) if chance(self.g, 40) => {
                let plus = if self.features.unchecked { pick(self.g, &[0, 0, 0, 0, -1, 1]) } else { 0 };
                Extent::Of { array, dim: below(self.g, ty.rank), plus }
            }
            _ => Extent::Const(pick(self.g, &[0, 1, 1, 2, 2, 3])),
        }
    }

    fn extents(&mut self, rank: usize) -> Vec<Extent> {
        (0..rank).map(|_| self.extent()).collect()
    }

    /// An operator of a fold or a scan, or of a permute, whose operator must be commutative or replace.
    fn operator(&mut self, elem: Elem, of_permute: bool) -> Operator {
        use Operator::*;
        let (permuting, all): (&[_], &[_]) = match elem {
            Elem::F => (&[Add, Add, Mul, Min, Max, General, First], &[Add, Add, Mul, Min, Max, General, Second]),
            Elem::I => (&[Add, Mul, Min, Max, General, First], &[Add, Mul, Min, Max, General, Last, Second]),
            Elem::P => (&[Add, General, First], &[Add, General, ArgMax, Second]),
        };
        pick(self.g, if of_permute { permuting } else { all })
    }

    fn start(&mut self, elem: Elem) -> Option<Fun> {
        chance(self.g, 70).then(|| self.small_fun(&[], elem.scalars()))
    }

    fn step(&mut self) -> Option<(Ty, Step)> {
        let any = |_: Ty| true;
        let rows = |ty: Ty| ty.rank > 0;
        Some(match below(self.g, 22) {
            0 => {
                let ty = Ty { elem: self.elem(), rank: below(self.g, 3) };
                let extents = self.extents(ty.rank);
                let f = self.fun(&vec![Scalar::I; ty.rank], ty.elem.scalars());
                (ty, Step::Generate { extents, f })
            }
            1 | 2 => {
                let (x, ty) = self.array(any)?;
                let elem = self.elem();
                (Ty { elem, ..ty }, Step::Map { f: self.fun(ty.elem.scalars(), elem.scalars()), x })
            }
            3 | 4 => {
                let (x, a) = self.array(any)?;
                let (y, b) = self.array(|b| b.rank == a.rank)?;
                let known = [(Elem::P, Elem::F), (Elem::P, Elem::P)];
                if (a.elem == Elem::P || b.elem == Elem::P) && !known.contains(&(a.elem, b.elem)) {
                    return None;
                }
                let elem = self.elem();
                let f = self.fun(&[a.elem.scalars(), b.elem.scalars()].concat(), elem.scalars());
                (Ty { elem, ..a }, Step::ZipWith { f, x, y })
            }
            5 | 6 => {
                let (x, ty) = self.array(rows)?;
                let (op, z) = (self.operator(ty.elem, false), self.start(ty.elem));
                (Ty { rank: ty.rank - 1, ..ty }, Step::Fold { op, z, x })
            }
            7 => {
                let (x, ty) = self.array(rows)?;
                let rank = 1 + below(self.g, 2);
                let (outside, source) = self.index(rank, x, ty.rank, false);
                let mut extents = self.extents(rank);
                if outside == Outside::Fails && chance(self.g, 60) {
                    // Most likely, there is an element for every index.
                    extents = (0..rank).map(|d| Extent::Of { array: x, dim: d.min(ty.rank - 1), plus: 0 }).collect();
                }
                (Ty { rank, ..ty }, Step::Backpermute { outside, extents, source, x })
            }
            8 => {
                let (x, ty) = self.array(|ty| ty.rank < 2)?;
                let n = Some(self.extent());
                let dims = match ty.rank {
                    0 if chance(self.g, 50) => vec![n],
                    0 => vec![n, Some(self.extent())],
                    _ => pick(self.g, &[[n, None], [None, n]]).to_vec(),
                };
                (Ty { rank: dims.len(), ..ty }, Step::Replicate { dims, x })
            }
            9 => {
                let (x, ty) = self.array(rows)?;
                let mut dims: Vec<_> = (0..ty.rank).map(|_| chance(self.g, 60).then(|| int(self.g))).collect();
                if dims.iter().all(Option::is_none) {
                    dims[0] = Some(int(self.g));
                }
                let rank = dims.iter().filter(|d| d.is_none()).count();
                (Ty { rank, ..ty }, Step::Slice { dims, x })
            }
            10 => {
                let (x, ty) = self.array(any)?;
                let (what, rank) = match ty.rank {
                    0 => (Rearrange::Flatten, 1),
                    1 => pick(
                        self.g,
                        &[
                            (Rearrange::Reverse, 1),
                            (Rearrange::Take(2), 1),
                            (Rearrange::Skip(1), 1),
                            (Rearrange::Row, 2),
                            (Rearrange::Column, 2),
                        ],
                    ),
                    _ => pick(
                        self.g,
                        &[
                            (Rearrange::Transpose, 2),
                            (Rearrange::Transpose, 2),
                            (Rearrange::Reverse, 2),
                            (Rearrange::Take(1), 2),
                            (Rearrange::Skip(1), 2),
                            (Rearrange::Flatten, 1),
                            (Rearrange::Swap, 2),
                        ],
                    ),
                };
                (Ty { rank, ..ty }, Step::Rearrange(what, x))
            }
            11 => {
                let (x, ty) = self.array(rows)?;
                let (y, _) = self.array(|other| other == ty)?;
                (ty, Step::Concat(x, y))
            }
            12 | 13 => {
                let (x, ty) = self.array(any)?;
                let (y, _) = self.array(|other| other == ty)?;
                let c = self.small_fun(&[], &[Scalar::B]);
                (ty, Step::Acond { c, x, y, tupled: chance(self.g, 30) })
            }
            14 => {
                // Reads of an array at indices of a simple form. Their adjoints are permutes that the index-function
                // analysis recognises.
                let ty = Ty { elem: self.elem(), rank: below(self.g, 3) };
                let extents = self.extents(ty.rank);
                let f = self.reads(ty)?;
                (ty, Step::Generate { extents, f })
            }
            15 => {
                let (x, a) = self.array(any)?;
                let (y, _) = self.array(|b| b == a && b.elem != Elem::P)?;
                let f = self.fun(&[a.elem.scalars(), a.elem.scalars()].concat(), a.elem.scalars());
                (a, Step::ZipWith { f, x, y })
            }
            16 => {
                let (x, ty) = self.array(rows)?;
                let (left, op, z) = (chance(self.g, 50), self.operator(ty.elem, false), self.start(ty.elem));
                (ty, Step::Scan { left, op, z, x })
            }
            17 | 18 => {
                let (x, a) = self.array(rows)?;
                let (defaults, ty) = self.array(|ty| ty.rank > 0 && ty.elem == a.elem)?;
                let (outside, target) = self.index(a.rank, defaults, ty.rank, true);
                (ty, Step::Permute { outside, op: self.operator(ty.elem, true), defaults, target, x })
            }
            19 => {
                let (x, ty) = self.array(any)?;
                let params = [ty.elem.scalars(), &[Scalar::I]].concat();
                (ty, Step::Awhile { times: below(self.g, 4) as i64, f: self.fun(&params, ty.elem.scalars()), x })
            }
            // The extents can change. Then reverse mode fails when the program runs.
            20 => {
                let (x, ty) = self.array(any)?;
                let (y, _) = self.array(|other| other == ty)?;
                let params = [ty.elem.scalars(), &[Scalar::I]].concat();
                let f = self.fun(&params, ty.elem.scalars());
                (ty, Step::Exchange { times: below(self.g, 4) as i64, f, x, y })
            }
            _ => {
                let (x, ty) = self.array(rows)?;
                use Rearrange::*;
                let what = match ty.rank {
                    1 => pick(self.g, &[Reverse, Take(2), Skip(1), Twice]),
                    _ => pick(self.g, &[Reverse, Take(1), Skip(1), Twice, Transpose, Swap]),
                };
                (ty, Step::Iterate { times: below(self.g, 4) as i64, what, x })
            }
        })
    }

    pub fn fun(&mut self, params: &[Scalar], results: &[Scalar]) -> Fun {
        let n = 1 + below(self.g, 6);
        self.fun_of_size(params, results, n, true)
    }

    fn small_fun(&mut self, params: &[Scalar], results: &[Scalar]) -> Fun {
        let n = below(self.g, 3);
        self.fun_of_size(params, results, n, false)
    }

    fn fun_of_size(&mut self, params: &[Scalar], results: &[Scalar], n: usize, loops: bool) -> Fun {
        let mut nodes: Vec<_> = params.iter().enumerate().map(|(i, ty)| (*ty, Node::Param(i))).collect();
        for _ in 0..n {
            self.node(&mut nodes, loops);
        }
        let results = results.iter().map(|ty| self.operand(&mut nodes, *ty)).collect();
        Fun { params: params.len(), nodes, results }
    }

    /// A node of a type, likely one of the last nodes, or a new one if there is none.
    pub fn operand(&mut self, nodes: &mut Vec<(Scalar, Node)>, ty: Scalar) -> usize {
        let all: Vec<usize> = (0..nodes.len()).filter(|i| nodes[*i].0 == ty).collect();
        if !all.is_empty() && chance(self.g, 90) {
            let from = if chance(self.g, 70) { all.len().saturating_sub(2) } else { 0 };
            return pick(self.g, &all[from..]);
        }
        let node = match ty {
            Scalar::F => Node::F(float(self.g)),
            Scalar::I => Node::I(int(self.g)),
            Scalar::B => {
                let of = if chance(self.g, 50) { Scalar::F } else { Scalar::I };
                let (a, b) = (self.operand(nodes, of), self.operand(nodes, of));
                Node::Compare(pick(self.g, &[Compare::Lt, Compare::Le, Compare::Eq, Compare::Ne]), a, b)
            }
        };
        nodes.push((ty, node));
        nodes.len() - 1
    }

    /// Adds a node, and the nodes that it needs.
    fn node(&mut self, nodes: &mut Vec<(Scalar, Node)>, loops: bool) {
        use Scalar::*;
        let smooth = self.features.smooth;
        let kind = below(self.g, 21);
        let (ty, node) = match kind {
            0..=3 => {
                let mut ops =
                    vec![Unary::Neg, Unary::Abs, Unary::Sin, Unary::Cos, Unary::Tanh, Unary::Atan, Unary::Exp];
                if !smooth {
                    ops.extend([Unary::Recip, Unary::Signum, Unary::Sqrt, Unary::Floor]);
                }
                (F, Node::Unary(pick(self.g, &ops), self.operand(nodes, F)))
            }
            4..=8 => {
                use Binary::*;
                let mut ops = vec![Add, Add, Sub, Mul, Mul, Mul, Min, Max];
                if !smooth {
                    ops.extend([Div, Rem, Atan2, Hypot]);
                }
                let (a, b) = (self.operand(nodes, F), self.operand(nodes, F));
                (F, Node::Binary(pick(self.g, &ops), a, b))
            }
            9 => {
                let ops = [Unary::Neg, Unary::Abs, Unary::Signum, Unary::Not, Unary::CountOnes];
                (I, Node::Unary(pick(self.g, &ops), self.operand(nodes, I)))
            }
            10 => {
                use Binary::*;
                let (a, b) = (self.operand(nodes, I), self.operand(nodes, I));
                (I, Node::Binary(pick(self.g, &[Add, Sub, Mul, Min, Max, Xor, And, Or, Shl]), a, b))
            }
            11 => {
                let (a, k) = (self.operand(nodes, I), 1 + below(self.g, 4) as i64);
                (I, if chance(self.g, 50) { Node::Modulo(a, k) } else { Node::Quotient(a, k) })
            }
            12 => {
                // Only a few bits, so that products of such numbers stay small.
                let a = self.operand(nodes, I);
                nodes.push((I, Node::Modulo(a, 5)));
                (F, Node::Unary(Unary::ToFloat, nodes.len() - 1))
            }
            13 => (I, Node::Unary(Unary::ToInt, self.operand(nodes, F))),
            14 => {
                let (a, b) = (self.operand(nodes, B), self.operand(nodes, B));
                let op = if chance(self.g, 50) { Binary::And } else { Binary::Or };
                (B, if chance(self.g, 40) { Node::Unary(Unary::Not, a) } else { Node::Binary(op, a, b) })
            }
            15 | 16 => {
                let ty = pick(self.g, &[F, F, I, B]);
                let (c, a, b) = (self.operand(nodes, B), self.operand(nodes, ty), self.operand(nodes, ty));
                (ty, Node::Cond(c, a, b))
            }
            17 | 18 => {
                let Some((array, ty)) = self.array(|_| true) else { return };
                let part = below(self.g, ty.elem.scalars().len());
                let index = (0..ty.rank).map(|_| self.operand(nodes, I)).collect();
                let outside = self.outside();
                (ty.elem.scalars()[part], Node::Read { array, index, part, outside })
            }
            19 if loops => {
                let (init, capture) = (self.operand(nodes, F), self.operand(nodes, F));
                let n = 1 + below(self.g, 3);
                let body = Box::new(self.fun_of_size(&[F, F, I], &[F], n, false));
                (F, Node::Loop { times: below(self.g, 4) as i64, init, capture, body })
            }
            _ => {
                let Some((array, ty)) = self.array(|ty| ty.rank > 0) else { return };
                (I, Node::Extent { array, dim: below(self.g, ty.rank) })
            }
        };
        nodes.push((ty, node));
    }
}
