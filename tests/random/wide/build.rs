//! Writes a random program as the surface language would.

use super::graph::{Graph, copied};
use super::program::*;
use super::scalar::{Perturb, Scalars, is_inexact};
use super::surface::*;
use super::types::{Elem, Ty};
use accel::ast;
use accel::prelude::Error;
use accel::repr::op::{Cmp, Logic, Num2, Op2};
use accel::repr::{ArrayTuple, RawTy};
use accel::surface::graph::{ArrayOp, Lam, NodeId, Staged};
use accel_core::elaborate::elaborate;

/// The typed program.
///
/// # Errors
/// The errors of elaboration.
pub fn build(block: &Block, perturb: Option<Perturb>) -> Result<ast::Program, Error> {
    elaborate(&staged(block, perturb))
}

/// The typed program in which each term has one use; `None` if it would have more than `most` terms.
///
/// # Errors
/// The errors of elaboration.
pub fn build_unshared(block: &Block, most: usize) -> Option<Result<ast::Program, Error>> {
    copied(&staged(block, None), most).map(|staged| elaborate(&staged))
}

fn staged(block: &Block, perturb: Option<Perturb>) -> Staged {
    let mut b = Builder { g: Graph::default(), arrays: vec![], perturb };
    let n = block.params.len();
    let param = b.g.param(block.params.iter().map(Ty::raw).reduce(RawTy::pair).unwrap_or(RawTy::Unit));
    for (i, ty) in block.params.iter().enumerate() {
        let a = b.g.part(param, i, n);
        b.arrays.push((a, ty.clone()));
    }
    let results = b.block(block);
    let root = b.g.arrays(&results);
    Staged { nodes: b.g.nodes, param, root, captured: vec![] }
}

struct Builder {
    g: Graph,
    /// The arrays defined so far: NOTE [Levels].
    arrays: Vec<(NodeId, Ty)>,
    perturb: Option<Perturb>,
}

/// Which elements are combined: those of a row, or all of them.
#[derive(Clone, Copy)]
enum Count {
    Row,
    All,
}

impl Builder {
    /// The results of a block whose parameters are defined. Its own definitions are forgotten afterwards.
    fn block(&mut self, block: &Block) -> Vec<NodeId> {
        for def in &block.defs {
            let arrays = self.step(&def.step, &def.tys);
            assert_eq!(arrays.len(), def.tys.len());
            for (a, ty) in arrays.into_iter().zip(&def.tys) {
                assert_eq!(self.g.ty(a), ty.raw(), "{:?}", def.step);
                self.arrays.push((a, ty.clone()));
            }
        }
        block.results.iter().map(|a| self.arrays[*a].0).collect()
    }

    fn array(&self, a: Arr) -> NodeId {
        self.arrays[a].0
    }

    /// An array whose elements are changed slightly, if this is demanded and combining them is not exact. `folded` says
    /// that their order does not matter otherwise.
    fn summands(&mut self, x: Arr, inexact: bool, folded: bool, count: Count) -> NodeId {
        let ((a, ty), Some(perturb)) = (self.arrays[x].clone(), self.perturb) else { return self.array(x) };
        if !inexact || !ty.elem.leaves().iter().any(|p| p.is_float()) {
            return a;
        }
        let elem = &ty.elem;
        let a = match perturb {
            Perturb::Backwards if folded && ty.rank > 0 => {
                self.g.splice(&rearrange_(ty.rank, Rearrange::Reverse), &[elem], &[a], &mut [])
            }
            _ => a,
        };
        self.g.splice(
            &imap_(ty.rank),
            &[elem, elem],
            &[a],
            &mut [&mut |g, params| {
                let [.., index, x] = params else { panic!("two parameters") };
                let index = g.components(*index, ty.rank);
                let extents = g.extents(a);
                let n = match count {
                    Count::Row => extents.last().copied(),
                    Count::All => extents.into_iter().reduce(|n, m| g.op2(Op2::Num(Num2::Mul), n, m)),
                };
                perturb.element(g, elem, *x, &index, n)
            }],
        )
    }

    fn step(&mut self, step: &Step, tys: &[Ty]) -> Vec<NodeId> {
        let arrays = self.arrays.clone();
        let s = Scalars { arrays: &arrays, perturb: self.perturb };
        let rank = |a: &Arr| arrays[*a].1.rank;
        let elem = |a: &Arr| &arrays[*a].1.elem;
        let get = |a: &Arr| arrays[*a].0;
        let (g, out) = (&mut self.g, &tys[0].elem);
        // The scalar functions in closures: of nothing, of elements, of an index.
        macro_rules! shape {
            ($f:expr) => {
                &mut |g: &mut Graph, _: &[NodeId]| {
                    let parts = s.fun(g, $f, &[], &[]);
                    g.shape(&parts)
                }
            };
        }
        macro_rules! value {
            ($f:expr) => {
                &mut |g: &mut Graph, _: &[NodeId]| s.fun(g, $f, &[], &[])[0]
            };
        }
        macro_rules! of_elements {
            ($f:expr, $n:literal) => {
                &mut |g: &mut Graph, params: &[NodeId]| s.fun(g, $f, &params[params.len() - $n..], &[])[0]
            };
        }
        macro_rules! operator {
            ($op:expr, $elem:expr) => {
                &mut |g: &mut Graph, params: &[NodeId]| {
                    let [.., a, b] = params else { panic!("two parameters") };
                    s.operator(g, $op, $elem, *a, *b)
                }
            };
        }
        let one = match step {
            Step::Use(given) => g.push("use_", ArrayOp::Use(ArrayTuple::Array(given.raw())), given.ty().raw()),
            Step::Generate { shape, f } => {
                let rank = tys[0].rank;
                g.splice(
                    &generate_(rank),
                    &[out],
                    &[],
                    &mut [shape!(shape), &mut |g, params| {
                        let index = g.components(params[params.len() - 1], rank);
                        s.fun(g, f, &index, &[])[0]
                    }],
                )
            }
            Step::Fill { shape, x } => g.splice(&fill_(tys[0].rank), &[out], &[], &mut [shape!(shape), value!(x)]),
            Step::EnumFromN { shape, start } => {
                g.splice(&enum_from_n_(tys[0].rank), &[out], &[], &mut [shape!(shape), value!(start)])
            }
            Step::Map { f, x } => g.splice(&map_(rank(x)), &[elem(x), out], &[get(x)], &mut [of_elements!(f, 1)]),
            Step::Imap { f, x } => g.splice(
                &imap_(rank(x)),
                &[elem(x), out],
                &[get(x)],
                &mut [&mut |g, params| {
                    let [.., index, e] = params else { panic!("two parameters") };
                    let index = g.components(*index, rank(x));
                    s.fun(g, f, &[&index[..], &[*e]].concat(), &[])[0]
                }],
            ),
            Step::ZipWith { strict, f, x, y } => {
                let elems = [elem(x), elem(y), out];
                g.splice(&zip_with_(rank(x), *strict), &elems, &[get(x), get(y)], &mut [of_elements!(f, 2)])
            }
            Step::ZipWith3 { strict, f, x, y, z } => {
                let elems = [elem(x), elem(y), elem(z)];
                assert_eq!(elem(x), out, "the result of zip_with3 is of the type of the first array");
                g.splice(
                    &zip_with3_(rank(x), *strict),
                    &elems,
                    &[get(x), get(y), get(z)],
                    &mut [&mut |g, params| {
                        let [.., xy, z] = params else { panic!("two parameters") };
                        let (x, y) = (g.part(*xy, 0, 2), g.part(*xy, 1, 2));
                        s.fun(g, f, &[x, y, *z], &[])[0]
                    }],
                )
            }
            Step::Zip { strict, x, y } => {
                g.splice(&zip_(rank(x), *strict), &[elem(x), elem(y)], &[get(x), get(y)], &mut [])
            }
            Step::Zip3 { strict, x, y, z } => {
                let elems = [elem(x), elem(y), elem(z)];
                g.splice(&zip3_(rank(x), *strict), &elems, &[get(x), get(y), get(z)], &mut [])
            }
            Step::Unzip { x } => g.splice(&unzip_(rank(x)), &[&tys[0].elem, &tys[1].elem], &[get(x)], &mut []),
            Step::Unzip3 { x } => {
                g.splice(&unzip3_(rank(x)), &[&tys[0].elem, &tys[1].elem, &tys[2].elem], &[get(x)], &mut [])
            }
            Step::Fold { op, z, all, x } => {
                let xs = self.summands(
                    *x,
                    is_inexact(op, elem(x)),
                    matches!(op, Operator::Each(_)),
                    if *all { Count::All } else { Count::Row },
                );
                let little = fold_(rank(x), z.is_some(), *all);
                match z {
                    Some(z) => self.g.splice(&little, &[out], &[xs], &mut [value!(z), operator!(op, out)]),
                    None => self.g.splice(&little, &[out], &[xs], &mut [operator!(op, out)]),
                }
            }
            Step::Reduce { what, all, x } => {
                let xs = self.summands(
                    *x,
                    matches!(what, Reduce::Sum | Reduce::Product),
                    true,
                    if *all { Count::All } else { Count::Row },
                );
                self.g.splice(&reduce_(rank(x), *what, *all), &[out], &[xs], &mut [])
            }
            Step::Scan { op, z, right, x } => {
                let xs = self.summands(*x, is_inexact(op, elem(x)), false, Count::Row);
                let little = scan_(rank(x), z.is_some(), *right);
                match z {
                    Some(z) => self.g.splice(&little, &[out], &[xs], &mut [value!(z), operator!(op, out)]),
                    None => self.g.splice(&little, &[out], &[xs], &mut [operator!(op, out)]),
                }
            }
            Step::ScanEx { op, z, right, x } => {
                let xs = self.summands(*x, is_inexact(op, elem(x)), false, Count::Row);
                self.g.splice(&scan_ex_(rank(x), *right), &[out], &[xs], &mut [value!(z), operator!(op, out)])
            }
            Step::Permute { op, defaults, outside, target, x } => {
                let xs = self.summands(*x, is_inexact(op, elem(x)), false, Count::All);
                let place = |g: &mut Graph, params: &[NodeId]| {
                    let index = g.components(params[params.len() - 1], rank(x));
                    let found = s.fun(g, target, &index, &[]);
                    let (allowed, index) = s.checked(g, *outside, &found[1..], get(defaults));
                    let keep = allowed.map_or(found[0], |c| g.op2(Op2::Logic(Logic::And), found[0], c));
                    (keep, index)
                };
                let holes: &mut [super::graph::Hole] =
                    &mut [operator!(op, out), &mut |g, params| place(g, params).0, &mut |g, params| {
                        let (_, index) = place(g, params);
                        g.shape(&index)
                    }];
                self.g.splice(&permute_(rank(x), tys[0].rank), &[out], &[get(defaults), xs], holes)
            }
            Step::Scatter { to, defaults, x } => {
                g.splice(&scatter_(), &[out], &[get(to), get(defaults), get(x)], &mut [])
            }
            Step::Backpermute { shape, outside, source, x } => {
                let to = tys[0].rank;
                let little = backpermute_(rank(x), to);
                let xs = get(x);
                g.splice(
                    &little,
                    &[out],
                    &[xs],
                    &mut [
                        &mut |g, _| {
                            let mut parts = s.fun(g, shape, &[], &[]);
                            // An empty array has no element to read.
                            if *outside == Outside::Wraps
                                && let Some(some) = s.not_empty(g, xs)
                            {
                                let none = g.int(0);
                                parts.iter_mut().for_each(|n| *n = g.cond(some, *n, none));
                            }
                            g.shape(&parts)
                        },
                        &mut |g, params| {
                            let index = g.components(params[params.len() - 1], to);
                            let from = s.fun(g, source, &index, &[]);
                            let (_, from) = s.checked(g, *outside, &from, xs);
                            g.shape(&from)
                        },
                    ],
                )
            }
            Step::Gather { from, x } => g.splice(&gather_(rank(from)), &[out], &[get(from), get(x)], &mut []),
            Step::Reshape { shape, x } => {
                g.splice(&reshape_(rank(x), tys[0].rank), &[out], &[get(x)], &mut [shape!(shape)])
            }
            Step::Flatten { x } => g.splice(&flatten_(rank(x)), &[out], &[get(x)], &mut []),
            Step::Replicate { new, extents: numbers, x } | Step::Slice { gone: new, indices: numbers, x } => {
                let little = match step {
                    Step::Slice { .. } => slice_(new),
                    _ => replicate_(new),
                };
                let nth = |g: &mut Graph, dim: usize| {
                    let place = new[..dim].iter().filter(|b| **b).count();
                    s.fun(g, numbers, &[], &[])[place]
                };
                g.splice(
                    &little,
                    &[out],
                    &[get(x)],
                    &mut [&mut |g, _| nth(g, 0), &mut |g, _| nth(g, 1), &mut |g, _| nth(g, 2), &mut |g, _| nth(g, 3)],
                )
            }
            Step::Rearrange { what, x } => g.splice(&rearrange_(rank(x), *what), &[out], &[get(x)], &mut []),
            Step::Sort { what, x } => g.splice(&sort_(rank(x), *what), &[elem(x)], &[get(x)], &mut []),
            Step::SortByKey { descending, x, y } => {
                let little = sort_by_key_(rank(x), *descending);
                g.splice(&little, &[elem(x), elem(y)], &[get(x), get(y)], &mut [])
            }
            Step::Take { n, x } => g.splice(&take_(rank(x)), &[out], &[get(x)], &mut [value!(n)]),
            Step::Skip { n, x } => g.splice(&skip_(rank(x)), &[out], &[get(x)], &mut [value!(n)]),
            Step::Concat { x, y } => g.splice(&concat_(rank(x)), &[out], &[get(x), get(y)], &mut []),
            Step::Product { what, x, y } => {
                let xs = self.summands(*x, true, false, Count::Row);
                let flushes = matches!(self.perturb, Some(Perturb::Flushed));
                let ys = self.summands(*y, flushes, false, Count::Row);
                self.g.splice(&product_(*what), &[out], &[xs, ys], &mut [])
            }
            Step::Acond { c, then, otherwise } => {
                let c = s.fun(g, c, &[], &[])[0];
                let tuple = |g: &mut Graph, of: &[Arr]| g.arrays(&of.iter().map(get).collect::<Vec<_>>());
                let (a, b) = (tuple(g, then), tuple(g, otherwise));
                let ty = g.ty(a);
                g.push("acond", ArrayOp::Cond(c, a, b), ty)
            }
            Step::Awhile { times, continues, init, body } => self.awhile(times, continues, init, body),
            Step::Call { program, args } => {
                let called =
                    build(program, self.perturb).expect("a program inside a program is as good as one outside");
                let result = called.result().clone();
                let g = &mut self.g;
                let args = g.arrays(&args.iter().map(|a| arrays[*a].0).collect::<Vec<_>>());
                g.push("call", ArrayOp::Call(called, args), result)
            }
        };
        match step {
            // The state of the loop contains the number of the step.
            Step::Awhile { .. } => (1..=tys.len()).map(|i| self.g.part(one, i, tys.len() + 1)).collect(),
            _ => (0..tys.len()).map(|i| self.g.part(one, i, tys.len())).collect(),
        }
    }

    fn awhile(&mut self, times: &Fun, continues: &Fun, init: &[Arr], body: &Block) -> NodeId {
        let outside = self.arrays.clone();
        let number = Ty::new(0, Elem::I64);
        let unit = |g: &mut Graph, elem: &Elem, x: NodeId| g.splice(&unit_(), &[elem], &[], &mut [&mut |_, _| x]);
        let zero = self.g.int(0);
        let zero = unit(&mut self.g, &Elem::I64, zero);
        let mut state = vec![zero];
        state.extend(init.iter().map(|a| outside[*a].0));
        let init = self.g.arrays(&state);
        let ty = self.g.ty(init);
        let n = state.len();
        // The parameters of both closures.
        let open = |b: &mut Builder| {
            let p = b.g.param(ty.clone());
            b.arrays.truncate(outside.len());
            for (i, t) in std::iter::once(&number).chain(&body.params[1..]).enumerate() {
                let part = b.g.part(p, i, n);
                b.arrays.push((part, t.clone()));
            }
            p
        };

        let p = open(self);
        let arrays = self.arrays.clone();
        let (s, g) = (Scalars { arrays: &arrays, perturb: self.perturb }, &mut self.g);
        let around = Scalars { arrays: &outside, perturb: self.perturb };
        let times = around.fun(g, times, &[], &[])[0];
        let most = g.int(MOST_STEPS);
        let times = g.op2(Op2::Num(Num2::Min), times, most);
        let k = g.read(arrays[outside.len()].0, &[]);
        let more = g.op2(Op2::Cmp(Cmp::Lt), k, times);
        let wanted = s.fun(g, continues, &[], &[])[0];
        let c = g.op2(Op2::Logic(Logic::And), more, wanted);
        let c = unit(g, &Elem::BOOL, c);
        let cond = Lam { params: vec![p], body: c };

        let p = open(self);
        let k = self.arrays[outside.len()].0;
        let results = self.block(&Block { params: vec![], ..body.clone() });
        let g = &mut self.g;
        let next = g.succ(k);
        let next = g.arrays(&[&[next][..], &results].concat());
        let body = Lam { params: vec![p], body: next };
        self.arrays = outside;
        self.g.push("awhile", ArrayOp::While { cond, body, init }, ty)
    }
}
