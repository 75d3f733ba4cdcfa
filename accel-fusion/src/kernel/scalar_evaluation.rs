//! Evaluates scalar functions, one instruction after the other, and checks extents. Backends also use it for extents
//! and conditions.

use super::ids::{ArrayId, Reg, SiteId};
use super::ir::*;
use accel_core::ast::{Role, deep};
use accel_core::error::{Error, Result};
use accel_core::repr::{Agreement, Scalar, checked_size};
use index_vec::IndexVec;
use std::collections::HashMap;

/// Where scalar functions find arrays.
pub trait Store {
    /// An extent of an array.
    ///
    /// # Errors
    /// The array does not exist.
    fn extent(&self, a: ArrayId, dim: usize) -> Result<usize>;

    /// One column of the element at a row-major position, which is within bounds.
    ///
    /// # Errors
    /// The element is not available.
    fn scalar(&self, a: ArrayId, column: usize, at: usize) -> Result<Scalar>;

    /// Adds values to the columns of an element of a sum, at a row-major position that is within bounds.
    ///
    /// # Errors
    /// The store has no sums.
    fn add(&self, sum: ArrayId, _at: usize, _values: &[Scalar]) -> Result<()> {
        Err(Error::Internal(format!("a{sum} is added to outside of its statement")))
    }

    /// Called before each call of a scalar function and before each instruction.
    ///
    /// # Errors
    /// The evaluation is to stop here.
    fn step(&self) -> Result<()> {
        Ok(())
    }
}

/// Evaluates a scalar function without parameters.
///
/// # Errors
/// As [`ScalarEvaluator::call`].
pub fn values<S: Store>(p: &Program, store: &S, c: &ScalarFn, site: SiteId) -> Result<Vec<Scalar>> {
    ScalarEvaluator::new(p, store, c, site).call(&[])
}

/// Evaluates a scalar function for extents, and checks that none is negative and that an array of this size can exist.
///
/// # Errors
/// These checks fail, or as [`ScalarEvaluator::call`].
pub fn extents<S: Store>(p: &Program, store: &S, c: &ScalarFn, site: SiteId) -> Result<Vec<usize>> {
    possible(p, values(p, store, c, site)?, site)
}

/// The extents of several arrays, which a scalar function returns one after the other.
///
/// # Errors
/// As [`extents`].
pub fn extents_of_each<S: Store>(
    p: &Program,
    store: &S,
    c: &ScalarFn,
    to: &[ArrayId],
    site: SiteId,
) -> Result<Vec<Vec<usize>>> {
    let all = values(p, store, c, site)?;
    let each = super::ir::extents_of_each(to, &all, &p.arrays);
    each.into_iter().map(|(_, own)| possible(p, own.to_vec(), site)).collect()
}

/// The extents of an array, if an array can have them.
fn possible(p: &Program, found: Vec<Scalar>, site: SiteId) -> Result<Vec<usize>> {
    let found = found.into_iter().map(int).collect::<Result<Vec<_>>>()?;
    let extents = found.iter().map(|e| usize::try_from(*e).ok()).collect::<Option<Vec<_>>>();
    let extents = extents.ok_or_else(|| Error::Shape {
        op: p.sites[site].to_string(),
        expected: "extents that are not negative".into(),
        found: format!("{found:?}"),
    })?;
    check_size(|| p.sites[site].to_string(), &extents)?;
    Ok(extents)
}

/// The length of the rows under these outer extents.
///
/// # Errors
/// As [`extents`].
pub fn row_length<S: Store>(p: &Program, store: &S, rows: &Reduction, outer: &[usize], site: SiteId) -> Result<usize> {
    let len = extents(p, store, &rows.len, site)?[0];
    check_size(|| p.sites[site].to_string(), &[outer, &[len]].concat())?;
    Ok(len)
}

/// The error of a failed read that was proved to be within bounds.
pub fn failed_proof(error: &Error) -> Error {
    Error::Internal(format!("the compiler took an index for inside that is not, please report it: {error}"))
}

/// The error of a reduction of empty rows without an initial value.
pub fn empty_rows(p: &Program, site: SiteId, outer: &[usize]) -> Error {
    Error::Shape {
        op: p.sites[site].to_string(),
        expected: "a non-empty innermost dimension".into(),
        found: format!("shape {:?}", [outer, &[0]].concat()),
    }
}

/// Checks that an array can be reshaped to new extents.
///
/// # Errors
/// The sizes differ.
pub fn check_reshape(p: &Program, site: SiteId, old: &[usize], new: &[usize]) -> Result<()> {
    if size(old) == size(new) { Ok(()) } else { Err(other_size(p, site, old, new)) }
}

/// Checks that two shapes agree.
///
/// # Errors
/// They do not agree, or as [`ScalarEvaluator::call`].
pub fn check_agreement<S: Store>(
    p: &Program,
    store: &S,
    agreement: Agreement,
    shapes: [&ScalarFn; 2],
    site: SiteId,
) -> Result<()> {
    let shape = |c| values(p, store, c, site)?.into_iter().map(int).collect::<Result<Vec<_>>>();
    let [left, right] = shapes.map(shape);
    agreement.check(|| p.sites[site].to_string(), &left?, &right?)
}

/// The error of a reshape to extents of another size.
pub fn other_size(p: &Program, site: SiteId, old: &[usize], new: &[usize]) -> Error {
    // The adjoint of a reshape goes back. If it fails, the user's reshape, which the program may have left out, was wrong.
    let is_adjoint = p.sites[site].at.is_some_and(|s| s.role == Role::Adjoint);
    let (old, new) = if is_adjoint { (new, old) } else { (old, new) };
    Error::Shape {
        op: p.sites[site].to_string(),
        expected: format!("a shape of {} elements, as {old:?} has", size(old)),
        found: format!("{new:?}, which has {}", size(new)),
    }
}

fn size(extents: &[usize]) -> usize {
    extents.iter().product()
}

/// A scalar function with its registers, so that it can be called many times.
pub struct ScalarEvaluator<'e, S> {
    program: &'e Program,
    store: &'e S,
    code: &'e ScalarFn,
    registers: IndexVec<Reg, Scalar>,
    lists: HashMap<Reg, Vec<Scalar>>,
    site: SiteId,
}

impl<'e, S: Store> ScalarEvaluator<'e, S> {
    /// Prepares a scalar function of the statement at `site`.
    pub fn new(program: &'e Program, store: &'e S, code: &'e ScalarFn, site: SiteId) -> Self {
        ScalarEvaluator {
            program,
            store,
            code,
            registers: code.types.iter().map(|t| t.zero()).collect(),
            lists: HashMap::new(),
            site,
        }
    }

    /// Calls the function with these parameters.
    ///
    /// # Errors
    /// An index out of bounds, a division by zero, or an error of the store.
    pub fn call(&mut self, params: &[Scalar]) -> Result<Vec<Scalar>> {
        self.store.step()?;
        self.registers.raw[..params.len()].copy_from_slice(params);
        let c = self.code;
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
        self.store.step()?;
        let place = self.site;
        let blame = |e| match e {
            Error::DivisionByZero { op, .. } => {
                Error::DivisionByZero { op, within: format!(" in {}", self.program.sites[place]) }
            }
            e => e,
        };
        let r = &mut self.registers;
        match i {
            Instr::Const(to, x) => r[*to] = *x,
            Instr::Op1(to, op, a) => r[*to] = op.eval(r[*a]).map_err(blame)?,
            Instr::Op2(to, op, a, b) => r[*to] = op.eval(r[*a], r[*b]).map_err(blame)?,
            Instr::Extent(to, a, dim) => r[*to] = position(self.store.extent(*a, *dim)?),
            Instr::Read { to, array, index, site, inside } => {
                let rank = self.program.arrays[*array].rank;
                let extents = (0..rank).map(|dim| self.store.extent(*array, dim)).collect::<Result<Vec<_>>>()?;
                let Some(i) = offset(extents.iter().copied(), index.iter().map(|i| r[*i]))? else {
                    return Err(self.outside(extents, index, *site, *inside));
                };
                for (column, to) in to.iter().enumerate() {
                    r[*to] = self.store.scalar(*array, column, i)?;
                }
            }
            Instr::Emit { to, index, values, site, inside } => {
                let rank = self.program.arrays[*to].rank;
                let extents = (0..rank).map(|dim| self.store.extent(*to, dim)).collect::<Result<Vec<_>>>()?;
                let Some(i) = offset(extents.iter().copied(), index.iter().map(|i| r[*i]))? else {
                    return Err(self.outside(extents, index, *site, *inside));
                };
                self.store.add(*to, i, &self.get(values))?;
            }
            Instr::If { cond, then, otherwise, merge } => {
                let chosen = truth(r[*cond])?;
                deep(|| self.instrs(if chosen { then } else { otherwise }))?;
                for (to, a, b) in merge {
                    self.registers[*to] = self.registers[if chosen { *a } else { *b }];
                }
            }
            Instr::Get { to, list, at } => {
                let row = usize::try_from(int(r[*at])?).ok().and_then(|at| self.lists.get(list)?.get(at));
                r[*to] = *row.ok_or_else(|| Error::Internal(format!("a read beyond the end of the list x{list}")))?;
            }
            Instr::While { state, cond, continues, body, next, lists } => {
                lists.iter().for_each(|(to, _)| self.lists.entry(*to).or_default().clear());
                let mut values: Vec<_> = state.iter().map(|(_, init)| r[*init]).collect();
                loop {
                    state.iter().zip(values).for_each(|((to, _), x)| self.registers[*to] = x);
                    deep(|| self.instrs(cond))?;
                    if !truth(self.registers[*continues])? {
                        break;
                    }
                    deep(|| self.instrs(body))?;
                    for (to, value) in lists {
                        self.lists.entry(*to).or_default().push(self.registers[*value]);
                    }
                    values = self.get(next);
                }
            }
        }
        Ok(())
    }

    /// The error of an index out of bounds.
    #[cold]
    fn outside(&self, extents: Vec<usize>, index: &[Reg], site: SiteId, inside: bool) -> Error {
        let (read, stmt) = (self.program.sites[site], self.program.sites[self.site]);
        let op = match read.at {
            None if site != self.site => format!("`{}` in {stmt}", read.name),
            _ => read.to_string(),
        };
        let error = out_of_bounds(&read, op, &self.get(index), &extents);
        if inside || read.proved { failed_proof(&error) } else { error }
    }
}

pub(super) fn position(i: usize) -> Scalar {
    // Sizes were checked to be below 2^63.
    Scalar::I64(i as i64)
}

/// The value of an index or a number of steps.
///
/// # Errors
/// `Error::Internal` for a value of another type.
pub fn int(x: Scalar) -> Result<i64> {
    match x {
        Scalar::I64(i) => Ok(i),
        _ => Err(Error::Internal(format!("index of type {}", x.ty()))),
    }
}

/// The value of a condition.
///
/// # Errors
/// `Error::Internal` for a value of another type.
pub fn truth(x: Scalar) -> Result<bool> {
    match x {
        Scalar::Bool(b) => Ok(b),
        _ => Err(Error::Internal(format!("condition of type {}", x.ty()))),
    }
}

/// The row-major position of an index; `None` if it is out of bounds.
pub(super) fn offset(
    extents: impl IntoIterator<Item = usize>,
    index: impl IntoIterator<Item = Scalar>,
) -> Result<Option<usize>> {
    let mut at = 0;
    for (extent, i) in extents.into_iter().zip(index) {
        match usize::try_from(int(i)?) {
            Ok(i) if i < extent => at = at * extent + i,
            _ => return Ok(None),
        }
    }
    Ok(Some(at))
}

pub(super) fn out_of_bounds(site: &Site, op: String, index: &[Scalar], shape: &[usize]) -> Error {
    let index = index.iter().map(|i| int(*i)).collect::<Result<Vec<_>>>();
    index.map_or_else(|e| e, |index| site.out_of_bounds(op, &index, shape))
}

/// The number of elements of an array that the operation `place` makes. As in the interpreter, an extent of 0 does not
/// excuse another one that is too large.
///
/// # Errors
/// `Error::Memory` if the array is too large.
pub fn check_size(place: impl FnOnce() -> String, extents: &[usize]) -> Result<usize> {
    checked_size(extents).ok_or_else(|| Error::Memory { op: place(), shape: extents.to_vec() })
}

pub(super) fn no_element() -> Error {
    Error::Internal("a column is shorter than its array".into())
}
