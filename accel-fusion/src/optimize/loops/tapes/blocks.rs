//! The updates of a loop, listed block by block.
//!
//! NOTE [Blocks of updates]: the lists of NOTE [Undone updates] grow with the number of steps. If the user sets a budget, the first
//! loop lists nothing. A tape keeps whole states, within the budget, before every block of steps only. When the second loop comes to
//! a block, it gets the state before it back and takes the steps of the block again, with lists:
//!
//! ```text
//! size = room / bytes of a step
//! while ..  { if k % size == 0 { keep state }; .. }
//! while ..  { want = at / size
//!             lists, have = if want == have { lists, have }
//!                           else { recall state want; lists = while k <= at { .. }; lists, want }
//!             undo with row at - want * size of lists; .. }
//! ```
//!
//! So each step is taken once more, and some again as for other tapes (NOTE [Kept states]). The lists of a block take an eighth of
//! the budget besides, or what a single step overwrites. If a step updates in an inner loop, this one is taken and undone again for its own
//! derivative, with lists of this size: they need no blocks. Components that change in other ways are listed, too, state by state: most of them are numbers.

use super::single::{Code, new_like, new_single, single};
use super::step::{self, Body, Order};
use super::undo::{Change, Undone, Update};
use crate::kernel::builder::{Builder, index_types};
use crate::kernel::{ArrayId, ArrayInfo, Block, Instr, Op, Program, Reg, ScalarFn, SiteId, Stmt, Trips, width};
use accel_core::repr::op::{Cmp, Num2};
use accel_core::repr::{Scalar, ScalarType};
use std::collections::{BTreeMap, BTreeSet};

/// The lists of a block may take this part of the budget.
const PART: usize = 8;

/// A component of the state that is listed as it is.
struct Listed {
    state: ArrayId,
    list: ArrayId,
    /// In the second loop: the row that belongs to the step.
    row: ArrayId,
}

/// A loop whose states come back block by block.
pub struct Blocks {
    undone: Vec<Undone>,
    others: Vec<Listed>,
    /// The components that are kept, what follows them, and the statements that compute this.
    kept: Vec<ArrayId>,
    next: Vec<ArrayId>,
    step: Vec<Stmt>,
    /// The array of the row of the step, and the order of the rows.
    row: ArrayId,
    order: Order,
    /// The number of steps of a block.
    size: ArrayId,
    /// The block of a step of the second loop, and the place in it.
    want: ArrayId,
    place: ArrayId,
    site: SiteId,
}

impl Blocks {
    /// The blocks of a loop with these updates of components, of which the components `changing` are wanted. `None` if the steps cannot
    /// be taken again.
    pub fn new(
        program: &mut Program,
        of_body: &Body,
        changing: &BTreeSet<usize>,
        updates: &BTreeMap<usize, Vec<Change>>,
        site: SiteId,
    ) -> Option<Blocks> {
        let wanted = changing.iter().copied().chain([of_body.state.len() - 1]).collect();
        let (kept, used) = of_body.closure(&wanted)?;
        let [size, want, place] = [(); 3].map(|()| new_single(program, ScalarType::I64));
        let mut row = Code::new(site);
        let place_in_block = row.number(place);
        let row = row.done(place_in_block);
        let undone = updates.iter().map(|(k, all)| Undone::new(program, of_body, *k, all, &row));
        let undone = undone.collect::<Option<_>>()?;
        let others = changing.iter().filter(|k| !updates.contains_key(k)).map(|k| {
            let state = of_body.state[*k];
            let ArrayInfo { rank, columns } = program.arrays[state].clone();
            let list = program.arrays.push(ArrayInfo { rank: rank + 1, columns });
            Listed { state, list, row: new_like(program, state) }
        });
        Some(Blocks {
            undone,
            others: others.collect(),
            kept: kept.iter().map(|k| of_body.state[*k]).collect(),
            next: kept.iter().map(|k| of_body.next[*k]).collect(),
            step: used.iter().map(|k| of_body.stmts[*k].clone()).collect(),
            row: of_body.row(),
            order: of_body.order,
            size,
            want,
            place,
            site,
        })
    }

    /// The components that come back, and in the second loop the states before the step that belongs to the present one.
    pub fn rows(&self) -> impl Iterator<Item = (ArrayId, ArrayId)> {
        let others = self.others.iter().map(|c| (c.state, c.row));
        self.undone.iter().map(|u| (u.state, u.before)).chain(others)
    }

    /// In the second loop, the states before the step that come back by undoing updates.
    pub fn undone(&self) -> impl Iterator<Item = ArrayId> {
        self.undone.iter().map(|u| u.before)
    }

    fn updates(&self) -> impl Iterator<Item = &Update> {
        self.undone.iter().flat_map(|u| &u.updates)
    }

    /// The lists of a block, in the order of their rows.
    fn lists(&self) -> Vec<ArrayId> {
        self.updates().map(|u| u.list).chain(self.others.iter().map(|c| c.list)).collect()
    }

    /// A loop that goes on from the kept components `init` while its counter is less than a number. With lists, it lists its steps.
    fn steps(
        &self,
        program: &mut Program,
        init: Vec<ArrayId>,
        end: impl FnOnce(&mut Code) -> Reg,
        lists: &[ArrayId],
    ) -> Option<(Stmt, Vec<ArrayId>)> {
        let mut body = Block { stmts: self.step.clone() };
        let mut rows = vec![];
        if !lists.is_empty() {
            rows = self.updates().map(|u| u.listed(program, &mut body)).collect::<Option<Vec<_>>>()?;
            rows.extend(self.others.iter().map(|c| c.state));
        }
        let state: Vec<ArrayId> = self.kept.iter().map(|a| new_like(program, *a)).collect();
        let mut names: BTreeMap<ArrayId, ArrayId> = self.kept.iter().copied().zip(state.iter().copied()).collect();
        let mut code = Code::new(self.site);
        let (k, end) = (self.order.step(&mut code, names[&self.row]), end(&mut code));
        let continues = new_single(program, ScalarType::Bool);
        let cond = single(continues, code.compared(Cmp::Lt, k, end), self.site);
        let block = step::copy(program, std::mem::take(&mut body.stmts), &mut names);
        let results = self.next.iter().chain(&rows).map(|a| names.get(a).copied().unwrap_or(*a)).collect();
        let to = [&state, lists].concat();
        let trips = Trips::While(Block { stmts: vec![cond] }, continues);
        Some((Stmt { op: Op::While { to, init, trips, row: None, body: (block, results) }, site: self.site }, state))
    }

    /// Keeps states in the loop at `first` on this tape, and gets them back in the one at `second`, whose step belongs to step `last` of
    /// the first one.
    pub fn insert(
        self,
        program: &mut Program,
        b: &mut Block,
        [first, second]: [usize; 2],
        (tape, budget): (usize, usize),
        last: &ScalarFn,
    ) -> Option<()> {
        let site = self.site;
        let lists = self.lists();
        let inner: Vec<ArrayId> = lists.iter().map(|a| new_like(program, *a)).collect();

        // The lists of the block that belongs to the step.
        let back: Vec<ArrayId> = self.kept.iter().map(|a| new_like(program, *a)).collect();
        let row = back[self.kept.iter().position(|a| *a == self.row)?];
        let (again, state) = self.steps(
            program,
            back.clone(),
            |code| {
                let (k, size) = (self.order.step(code, row), code.number(self.size));
                code.op(Num2::Add, k, size)
            },
            &[],
        )?;
        let mut number = Code::new(site);
        let block = number.number(self.want);
        let step = (Block { stmts: vec![again] }, state);
        let recall = Op::Recall { to: back.clone(), tape, at: number.done(block), step };
        let end = |code: &mut Code| {
            let (last, one) = (code.0.inline(last, &[])[0], code.constant(1));
            code.op(Num2::Add, last, one)
        };
        let (listing, _) = self.steps(program, back, end, &inner)?;

        let [had, has] = [(); 2].map(|()| new_single(program, ScalarType::I64));
        let mut code = Code::new(site);
        let (want, have) = (code.number(self.want), code.number(had));
        let old: Vec<ArrayId> = lists.iter().map(|a| new_like(program, *a)).collect();
        let then = (Block::default(), [&old[..], &[had]].concat());
        let stmts = vec![Stmt { op: recall, site }, listing];
        let otherwise = (Block { stmts }, [&inner[..], &[self.want]].concat());
        let to = [&lists[..], &[has]].concat();
        let refill = Op::If { to: to.clone(), cond: code.compared(Cmp::Eq, want, have), then, otherwise };

        let mut code = Code::new(site);
        let (last_step, size) = (code.0.inline(last, &[])[0], code.number(self.size));
        let want = code.op(Num2::Div, last_step, size);
        let want = single(self.want, code.done(want), site);
        let mut code = Code::new(site);
        let (last_step, size, block) = (code.0.inline(last, &[])[0], code.number(self.size), code.number(self.want));
        let before = code.op(Num2::Mul, block, size);
        let place = code.op(Num2::Sub, last_step, before);
        let place = single(self.place, code.done(place), site);
        let mut stmts = vec![want, place, Stmt { op: refill, site }];
        stmts.extend(self.others.iter().map(|c| c.read(program, self.place, site)));

        // At first, there is no block.
        let mut empty: Vec<Stmt> = vec![];
        let carried: Vec<ArrayId> = old.into_iter().chain([had]).collect();
        for a in &carried {
            let ArrayInfo { rank, columns } = program.arrays[*a].clone();
            let mut extents = Builder::new(&[]);
            let extents_of = (0..rank).map(|_| extents.constant(Scalar::I64(0))).collect();
            let extents = extents.finish(extents_of);
            let mut body = Builder::new(&index_types(rank));
            let elements = match rank {
                0 => vec![body.constant(Scalar::I64(-1))],
                _ => columns.iter().map(|t| body.constant(t.zero())).collect(),
            };
            let to = vec![new_like(program, *a)];
            empty.push(Stmt { op: Op::Loop { to, extents, body: body.finish(elements) }, site });
        }
        let initial: Vec<ArrayId> = empty.iter().flat_map(|s| s.op.defines().to_vec()).collect();
        let size = self.size_of_block(program, &b.stmts[first], budget);
        let mut code = Code::new(site);
        let k = self.order.step(&mut code, self.row);
        let (block, zero) = (code.number(self.size), code.constant(0));
        let k = code.op(Num2::Rem, k, block);
        let keep = Stmt { op: Op::Keep { tape, arrays: self.kept.clone() }, site };
        let then = (Block { stmts: vec![keep] }, vec![]);
        let cond = code.compared(Cmp::Eq, k, zero);
        let keep = Op::If { to: vec![], cond, then, otherwise: (Block::default(), vec![]) };
        if let Op::While { to: all, init, body, .. } = &mut b.stmts[second].op {
            let n = init.len();
            all.splice(n..n, carried);
            body.1.splice(n..n, to);
            init.extend(initial);
        }
        for u in self.undone {
            u.carry(&mut b.stmts[second].op);
        }
        if let Op::While { body, .. } = &mut b.stmts[second].op {
            body.0.stmts.splice(0..0, stmts);
        }
        if let Op::While { row, body, .. } = &mut b.stmts[first].op {
            *row = Some(self.row);
            body.0.stmts.insert(0, Stmt { op: keep, site });
        }
        b.stmts.splice(second..second, empty);
        b.stmts.insert(first, size);
        Some(())
    }

    /// Computes the number of steps of a block before the first loop.
    fn size_of_block(&self, program: &Program, first: &Stmt, budget: usize) -> Stmt {
        let mut code = Code::new(self.site);
        let width = |a: ArrayId| width(&program.arrays[a].columns) as i64;
        let mut bytes = code.constant(0);
        let mut add = |code: &mut Code, extents: Vec<Reg>, width: i64| {
            let width = code.constant(width);
            let row = extents.into_iter().fold(width, |all, n| code.op(Num2::Mul, all, n));
            bytes = code.op(Num2::Add, bytes, row);
        };
        for u in self.updates() {
            let extents = code.0.inline(&u.extents(0), &[]);
            add(&mut code, extents, width(u.list));
        }
        if let Op::While { to, init, .. } = &first.op {
            for (c, (_, initial)) in
                self.others.iter().filter_map(|c| Some((c, to.iter().zip(init).find(|(a, _)| **a == c.state)?)))
            {
                let extents = (0..program.arrays[c.state].rank).map(|d| code.0.extent(*initial, d)).collect();
                add(&mut code, extents, width(c.list));
            }
        }
        let (room, one) = (code.constant((budget / PART) as i64), code.constant(1));
        let bytes = code.op(Num2::Max, bytes, one);
        let steps = code.op(Num2::Div, room, bytes);
        let steps = code.op(Num2::Max, steps, one);
        single(self.size, code.done(steps), self.site)
    }
}

impl Listed {
    /// Reads its row at a place.
    fn read(&self, program: &Program, place: ArrayId, site: SiteId) -> Stmt {
        let ArrayInfo { rank, columns } = &program.arrays[self.row];
        let mut extents = Builder::new(&[]);
        let all = (0..*rank).map(|dim| extents.extent(self.list, dim + 1)).collect();
        let mut code = Code(Builder::new(&index_types(*rank)), site);
        let index = [code.number(place)].into_iter().chain(code.0.params()).collect();
        let elements: Vec<Reg> = columns.iter().map(|t| code.0.reg(*t)).collect();
        code.0.emit(Instr::Read { to: elements.clone(), array: self.list, index, site, inside: false });
        let body = code.0.finish(elements);
        Stmt { op: Op::Loop { to: vec![self.row], extents: extents.finish(all), body }, site }
    }
}
