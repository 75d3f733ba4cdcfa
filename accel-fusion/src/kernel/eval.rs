//! A sequential evaluator of kernel programs: a second oracle beside the interpreter of the typed tree.
//!
//! It goes through everything one element after the other, in row-major order, and each row from its first element (for reverse
//! scans from its last). What the interpreter checks is checked here, with the same errors; and an index that was said to
//! be inside and is not is an internal error.

use super::ir::*;
use super::verify::verify;
use crate::lower;
use accel_core::ast::{conforms, deep};
use accel_core::backend::{Backend, Executable};
use accel_core::error::{Error, Result};
use accel_core::repr::{ArrayTuple, Column, RawArray, RawTy, Scalar, ScalarType};
use std::sync::Arc;

/// The arrays that a program computes from an argument, from left to right.
///
/// # Errors
/// `Error::Type` if the argument does not fit the program; everything that is checked at run time: indices, extents, division by
/// zero; `Error::Internal` if the program is not well formed.
pub fn evaluate(p: &Program, argument: &ArrayTuple) -> Result<Vec<RawArray>> {
    verify(p)?;
    run(p, argument)
}

/// The backend that lowers programs, verifies the result and evaluates it.
#[derive(Clone, Copy, Default, Debug)]
pub struct KernelEvaluator;

struct Evaluated {
    arg: RawTy,
    result: RawTy,
    program: Program,
}

impl Backend for KernelEvaluator {
    fn name(&self) -> &'static str {
        "kernel"
    }
    fn compile(&self, program: &accel_core::ast::Program) -> Result<Box<dyn Executable>> {
        let lowered = lower(program);
        verify(&lowered)?;
        Ok(Box::new(Evaluated { arg: program.arg().clone(), result: program.result().clone(), program: lowered }))
    }
}

impl Executable for Evaluated {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple> {
        if !conforms(argument, &self.arg) {
            return Err(wrong_argument(self.arg.to_string(), argument));
        }
        let mut arrays = run(&self.program, argument)?.into_iter();
        ArrayTuple::of(&self.result, &mut arrays).ok_or_else(|| Error::Internal("too few results".into()))
    }
}

fn wrong_argument(expected: String, argument: &ArrayTuple) -> Error {
    let arrays = argument.leaves();
    let describe = |a: &RawArray| {
        let columns: Vec<_> = a.columns.iter().map(|c| format!("{} {}", c.len(), c.ty())).collect();
        format!("array of shape {:?} with columns of ({})", a.extents, columns.join(", "))
    };
    let found = super::print::list(&arrays, describe);
    Error::Type { op: "argument of the program".into(), expected, found: format!("({found})") }
}

/// Runs a verified program; see NOTE [Verified programs] for why numbers need no check.
fn run(p: &Program, argument: &ArrayTuple) -> Result<Vec<RawArray>> {
    let inputs = argument.leaves();
    let fits = |a: &RawArray, info: &ArrayInfo| {
        a.extents.len() == info.rank
            && a.columns.iter().map(Column::ty).eq(info.columns.iter().copied())
            && a.columns.iter().all(|c| c.len() == a.size())
    };
    if inputs.len() != p.inputs.len() || !inputs.iter().zip(&p.inputs).all(|(a, id)| fits(a, &p.arrays[*id])) {
        let expected = super::print::list(&p.inputs, |id| p.arrays[*id].to_string());
        return Err(wrong_argument(format!("({expected})"), argument));
    }
    let mut e = Evaluator { p, arrays: vec![None; p.arrays.len()] };
    for (a, id) in inputs.into_iter().zip(&p.inputs) {
        check_size("argument", &a.extents)?;
        e.arrays[*id] = Some(a);
    }
    e.block(&p.body)?;
    e.get_all(&p.results)
}

struct Evaluator<'a> {
    p: &'a Program,
    arrays: Vec<Option<RawArray>>,
}

impl<'a> Evaluator<'a> {
    fn get(&self, a: ArrayId) -> Result<&RawArray> {
        self.arrays[a].as_ref().ok_or_else(|| Error::Internal(format!("a{a} is not computed yet")))
    }

    fn get_all(&self, ids: &[ArrayId]) -> Result<Vec<RawArray>> {
        ids.iter().map(|a| self.get(*a).cloned()).collect()
    }

    fn put(&mut self, to: &[ArrayId], arrays: Vec<RawArray>) {
        to.iter().zip(arrays).for_each(|(to, a)| self.arrays[*to] = Some(a));
    }

    fn block(&mut self, b: &Block) -> Result<()> {
        deep(|| b.stmts.iter().try_for_each(|s| self.stmt(s)))
    }

    /// The results of an inner block.
    fn results(&mut self, b: &Block, results: &[ArrayId]) -> Result<Vec<RawArray>> {
        self.block(b)?;
        self.get_all(results)
    }

    fn machine<'e>(&'e self, c: &'e Code, site: SiteId) -> Machine<'e> {
        Machine { e: self, c, registers: c.types.iter().map(|t| t.zero()).collect(), site }
    }

    /// The results of a code without parameters.
    fn value(&self, c: &Code, site: SiteId) -> Result<Vec<Scalar>> {
        self.machine(c, site).call(&[])
    }

    /// The results of a code for extents: none is negative, and there can be an array of their size.
    fn extents(&self, c: &Code, site: SiteId) -> Result<Vec<usize>> {
        let place = self.p.sites[site].to_string();
        let found = self.value(c, site)?.into_iter().map(int).collect::<Result<Vec<_>>>()?;
        let extents = found.iter().map(|e| usize::try_from(*e).ok()).collect::<Option<Vec<_>>>();
        let extents = extents.ok_or_else(|| Error::Shape {
            op: place.clone(),
            expected: "extents that are not negative".into(),
            found: format!("{found:?}"),
        })?;
        check_size(&place, &extents)?;
        Ok(extents)
    }

    fn output(&self, extents: &[usize], columns: &[ScalarType], site: SiteId) -> Result<RawArray> {
        let place = self.p.sites[site].to_string();
        let n = check_size(&place, extents)?;
        let columns = columns.iter().map(|t| Column::zeros(*t, n)).collect::<Option<Vec<_>>>();
        let columns = columns.ok_or(Error::Memory { op: place, shape: extents.to_vec() })?;
        Ok(RawArray { extents: extents.into(), columns })
    }

    fn stmt(&mut self, s: &Stmt) -> Result<()> {
        let site = s.site;
        let arrays = match &s.op {
            Op::Literal { literal, .. } => vec![self.p.literals[*literal].clone()],
            Op::Loop { to, extents, body } => self.loop_(to, extents, body, site)?,
            Op::Reduce { to, extents, rows } => vec![self.reduce(*to, extents, rows, site)?],
            Op::Scan { to, extents, reverse, rows } => vec![self.scan(*to, extents, *reverse, rows, site)?],
            Op::Permute { defaults, extents, target, element, comb, .. } => {
                vec![self.permute(*defaults, extents, [target, element, comb], site)?]
            }
            Op::Reshape { from, extents, .. } => vec![self.reshape(*from, extents, site)?],
            Op::If { cond, then, otherwise, .. } => {
                let chosen = if truth(self.value(cond, site)?[0])? { then } else { otherwise };
                self.results(&chosen.0, &chosen.1)?
            }
            Op::Strip { to, body, .. } => self.results(body, to)?,
            Op::While { to, init, cond, body } => {
                let mut state = self.get_all(init)?;
                loop {
                    self.put(to, state);
                    let go_on = self.results(&cond.0, &[cond.1])?;
                    if !truth(element(&go_on[0], 0)?[0])? {
                        break self.get_all(to)?;
                    }
                    state = self.results(&body.0, &body.1)?;
                }
            }
        };
        self.put(s.op.defines(), arrays);
        Ok(())
    }

    fn loop_(&self, to: &[ArrayId], extents: &Code, body: &Code, site: SiteId) -> Result<Vec<RawArray>> {
        let extents = self.extents(extents, site)?;
        let infos = to.iter().map(|a| &self.p.arrays[*a]);
        let mut out = infos.map(|a| self.output(&extents, &a.columns, site)).collect::<Result<Vec<_>>>()?;
        let mut body = self.machine(body, site);
        for_each_index(&extents, |i, index| {
            let mut results = body.call(index)?.into_iter();
            out.iter_mut().flat_map(|a| &mut a.columns).zip(&mut results).try_for_each(|(c, x)| set(c, i, x))
        })?;
        Ok(out)
    }

    /// The length of rows below these outer extents.
    fn row_length(&self, rows: &Rows, outer: &[usize], site: SiteId) -> Result<usize> {
        let len = self.extents(&rows.len, site)?[0];
        check_size(&self.p.sites[site].to_string(), &[outer, &[len]].concat())?;
        Ok(len)
    }

    fn reduce(&self, to: ArrayId, extents: &Code, rows: &Rows, site: SiteId) -> Result<RawArray> {
        let outer = self.extents(extents, site)?;
        let len = self.row_length(rows, &outer, site)?;
        let init = rows.init.as_ref().map(|init| self.value(init, site)).transpose()?;
        let mut out = self.output(&outer, &self.p.arrays[to].columns, site)?;
        let (mut get, mut op) = (self.machine(&rows.element, site), self.machine(&rows.op, site));
        for_each_index(&outer, |i, index| {
            let mut x = init.clone();
            for k in 0..len {
                let element = get.call(&[index, &[position(k)]].concat())?;
                x = Some(match x {
                    Some(x) => op.call(&[x, element].concat())?,
                    None => element,
                });
            }
            let x = x.ok_or_else(|| Error::Shape {
                op: self.p.sites[site].to_string(),
                expected: "a non-empty innermost dimension".into(),
                found: format!("shape {:?}", [&outer[..], &[0]].concat()),
            })?;
            set_all(&mut out, i, x)
        })?;
        Ok(out)
    }

    fn scan(&self, to: ArrayId, extents: &Code, reverse: bool, rows: &Rows, site: SiteId) -> Result<RawArray> {
        let outer = self.extents(extents, site)?;
        let len = self.row_length(rows, &outer, site)?;
        let init = rows.init.as_ref().map(|init| self.value(init, site)).transpose()?;
        let length = len + usize::from(init.is_some());
        let mut out = self.output(&[&outer[..], &[length]].concat(), &self.p.arrays[to].columns, site)?;
        let (mut get, mut op) = (self.machine(&rows.element, site), self.machine(&rows.op, site));
        for_each_index(&outer, |i, index| {
            let mut x = init.clone();
            // How many results of the row are there.
            let mut done = 0;
            let mut put = |x: &[Scalar]| {
                let at = if reverse { length - 1 - done } else { done };
                done += 1;
                set_all(&mut out, i * length + at, x.to_vec())
            };
            x.iter().try_for_each(|x| put(x))?;
            for k in 0..len {
                let k = if reverse { len - 1 - k } else { k };
                let element = get.call(&[index, &[position(k)]].concat())?;
                let next = match x {
                    None => element,
                    Some(x) if reverse => op.call(&[element, x].concat())?,
                    Some(x) => op.call(&[x, element].concat())?,
                };
                put(&next)?;
                x = Some(next);
            }
            Ok(())
        })?;
        Ok(out)
    }

    fn permute(&self, defaults: ArrayId, extents: &Code, codes: [&Code; 3], site: SiteId) -> Result<RawArray> {
        let extents = self.extents(extents, site)?;
        let mut out = self.get(defaults)?.clone();
        let [mut target, mut get, mut comb] = codes.map(|c| self.machine(c, site));
        for_each_index(&extents, |_, index| {
            let found = target.call(index)?;
            if !truth(found[0])? {
                return Ok(());
            }
            let Some(at) = offset(&out.extents, found[1..].iter().copied())? else {
                return Err(out_of_bounds(self.p.sites[site].to_string(), &found[1..], &out.extents));
            };
            let combined = comb.call(&[get.call(index)?, element(&out, at)?].concat())?;
            set_all(&mut out, at, combined)
        })?;
        Ok(out)
    }

    fn reshape(&self, from: ArrayId, extents: &Code, site: SiteId) -> Result<RawArray> {
        let extents = self.extents(extents, site)?;
        let place = self.p.sites[site].to_string();
        let from = self.get(from)?;
        let n = check_size(&place, &extents)?;
        if n != from.size() {
            return Err(Error::Shape {
                op: place,
                expected: format!("a shape of {} elements, as {:?} has", from.size(), from.extents),
                found: format!("{extents:?}, which has {n}"),
            });
        }
        Ok(RawArray { extents: extents.into(), columns: from.columns.clone() })
    }
}

/// A scalar code that can be called many times.
struct Machine<'e> {
    e: &'e Evaluator<'e>,
    c: &'e Code,
    registers: Vec<Scalar>,
    site: SiteId,
}

impl Machine<'_> {
    fn call(&mut self, params: &[Scalar]) -> Result<Vec<Scalar>> {
        self.registers[..params.len()].copy_from_slice(params);
        let c = self.c;
        self.instrs(&c.instrs)?;
        Ok(self.get(&c.results))
    }

    fn get(&self, registers: &[Reg]) -> Vec<Scalar> {
        registers.iter().map(|r| self.registers[*r]).collect()
    }

    fn instrs(&mut self, instrs: &[Instr]) -> Result<()> {
        instrs.iter().try_for_each(|i| self.instr(i))
    }

    fn instr(&mut self, i: &Instr) -> Result<()> {
        let place = self.site;
        let blame = |e| match e {
            Error::DivisionByZero { op, .. } => {
                Error::DivisionByZero { op, within: format!(" in {}", self.e.p.sites[place]) }
            }
            e => e,
        };
        let r = &mut self.registers;
        match i {
            Instr::Const(to, x) => r[*to] = *x,
            Instr::Op1(to, op, a) => r[*to] = op.eval(r[*a]).map_err(blame)?,
            Instr::Op2(to, op, a, b) => r[*to] = op.eval(r[*a], r[*b]).map_err(blame)?,
            Instr::Extent(to, a, dim) => r[*to] = position(self.e.get(*a)?.extents[*dim]),
            Instr::Read { to, array, index, site, inside } => {
                let a = self.e.get(*array)?;
                let Some(i) = offset(&a.extents, index.iter().map(|i| r[*i]))? else {
                    return Err(self.outside(a, index, *site, *inside));
                };
                for (to, c) in to.iter().zip(&a.columns) {
                    r[*to] = c.get(i).ok_or_else(no_element)?;
                }
            }
            Instr::If { cond, then, otherwise, merge } => {
                let chosen = truth(r[*cond])?;
                deep(|| self.instrs(if chosen { then } else { otherwise }))?;
                for (to, a, b) in merge {
                    self.registers[*to] = self.registers[if chosen { *a } else { *b }];
                }
            }
            Instr::While { state, cond, go_on, body, next } => {
                let mut values: Vec<_> = state.iter().map(|(_, init)| r[*init]).collect();
                loop {
                    state.iter().zip(values).for_each(|((to, _), x)| self.registers[*to] = x);
                    deep(|| self.instrs(cond))?;
                    if !truth(self.registers[*go_on])? {
                        break;
                    }
                    deep(|| self.instrs(body))?;
                    values = self.get(next);
                }
            }
        }
        Ok(())
    }

    /// The error of a read outside of an array.
    #[cold]
    fn outside(&self, a: &RawArray, index: &[Reg], site: SiteId, inside: bool) -> Error {
        let (read, stmt) = (self.e.p.sites[site], self.e.p.sites[self.site]);
        let op = match read.at {
            None if site != self.site => format!("`{}` in {stmt}", read.name),
            _ => read.to_string(),
        };
        let error = out_of_bounds(op, &self.get(index), &a.extents);
        if inside { Error::Internal(format!("an index said to be inside: {error}")) } else { error }
    }
}

fn position(i: usize) -> Scalar {
    // Sizes were checked to be below 2^63.
    Scalar::I64(i as i64)
}

fn int(x: Scalar) -> Result<i64> {
    match x {
        Scalar::I64(i) => Ok(i),
        _ => Err(Error::Internal(format!("index of type {}", x.ty()))),
    }
}

fn truth(x: Scalar) -> Result<bool> {
    match x {
        Scalar::Bool(b) => Ok(b),
        _ => Err(Error::Internal(format!("condition of type {}", x.ty()))),
    }
}

/// The row-major position of an index; `None` if it is outside.
fn offset(extents: &[usize], index: impl IntoIterator<Item = Scalar>) -> Result<Option<usize>> {
    let mut at = 0;
    for (extent, i) in extents.iter().zip(index) {
        match usize::try_from(int(i)?) {
            Ok(i) if i < *extent => at = at * extent + i,
            _ => return Ok(None),
        }
    }
    Ok(Some(at))
}

fn out_of_bounds(op: String, index: &[Scalar], shape: &Arc<[usize]>) -> Error {
    match index.iter().map(|i| int(*i)).collect() {
        Ok(index) => Error::OutOfBounds { op, index, shape: shape.to_vec() },
        Err(e) => e,
    }
}

/// The number of elements. As in the interpreter, extents of 0 do not excuse others whose product is too large.
fn check_size(place: &str, extents: &[usize]) -> Result<usize> {
    let product = extents.iter().filter(|e| **e != 0).try_fold(1usize, |n, e| n.checked_mul(*e));
    match product.filter(|n| isize::try_from(*n).is_ok()) {
        Some(_) if extents.contains(&0) => Ok(0),
        Some(n) => Ok(n),
        None => Err(Error::Memory { op: place.into(), shape: extents.to_vec() }),
    }
}

/// Calls `f` with every position and index inside of the extents, in row-major order.
fn for_each_index(extents: &[usize], mut f: impl FnMut(usize, &[Scalar]) -> Result<()>) -> Result<()> {
    let size = extents.iter().product();
    let mut index = vec![0; extents.len()];
    for i in 0..size {
        let scalars: Vec<Scalar> = index.iter().map(|i| position(*i)).collect();
        f(i, &scalars)?;
        for (k, extent) in index.iter_mut().zip(extents).rev() {
            *k += 1;
            if *k < *extent {
                break;
            }
            *k = 0;
        }
    }
    Ok(())
}

/// Element `i` of an array.
fn element(a: &RawArray, i: usize) -> Result<Vec<Scalar>> {
    let x = a.columns.iter().map(|c| c.get(i)).collect::<Option<_>>();
    x.ok_or_else(no_element)
}

fn no_element() -> Error {
    Error::Internal("a column is shorter than its array".into())
}

fn set(c: &mut Column, i: usize, x: Scalar) -> Result<()> {
    if c.set(i, x) {
        return Ok(());
    }
    Err(Error::Internal(format!("a {} for element {i} of a column of {} {}", x.ty(), c.len(), c.ty())))
}

fn set_all(a: &mut RawArray, i: usize, element: Vec<Scalar>) -> Result<()> {
    a.columns.iter_mut().zip(element).try_for_each(|(c, x)| set(c, i, x))
}
