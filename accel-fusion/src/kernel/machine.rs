//! Scalar codes, evaluated one instruction after the other, and what follows from the values of codes for extents. Backends evaluate extents
//! and conditions with it, too.

use super::ir::*;
use accel_core::ast::deep;
use accel_core::error::{Error, Result};
use accel_core::repr::{Agreement, Scalar, checked_size};

/// Where codes find arrays.
pub trait Store {
    /// An extent.
    ///
    /// # Errors
    /// The array is not there.
    fn extent(&self, a: ArrayId, dim: usize) -> Result<usize>;

    /// A column of the element at a row-major position, which is inside.
    ///
    /// # Errors
    /// The element cannot be had.
    fn scalar(&self, a: ArrayId, column: usize, at: usize) -> Result<Scalar>;

    /// Called before each call of a code and before each instruction.
    ///
    /// # Errors
    /// It is to end here.
    fn step(&self) -> Result<()> {
        Ok(())
    }
}

/// The results of a code without parameters.
///
/// # Errors
/// As [`Machine::call`].
pub fn values<S: Store>(p: &Program, store: &S, c: &Code, site: SiteId) -> Result<Vec<Scalar>> {
    Machine::new(p, store, c, site).call(&[])
}

/// The results of a code for extents: none is negative, and there can be an array of their size.
///
/// # Errors
/// They are not such, and as [`Machine::call`].
pub fn extents<S: Store>(p: &Program, store: &S, c: &Code, site: SiteId) -> Result<Vec<usize>> {
    let found = values(p, store, c, site)?.into_iter().map(int).collect::<Result<Vec<_>>>()?;
    let extents = found.iter().map(|e| usize::try_from(*e).ok()).collect::<Option<Vec<_>>>();
    let extents = extents.ok_or_else(|| Error::Shape {
        op: p.sites[site].to_string(),
        expected: "extents that are not negative".into(),
        found: format!("{found:?}"),
    })?;
    check_size(|| p.sites[site].to_string(), &extents)?;
    Ok(extents)
}

/// The length of rows below these outer extents.
///
/// # Errors
/// As [`extents`].
pub fn row_length<S: Store>(p: &Program, store: &S, rows: &Rows, outer: &[usize], site: SiteId) -> Result<usize> {
    let len = extents(p, store, &rows.len, site)?[0];
    check_size(|| p.sites[site].to_string(), &[outer, &[len]].concat())?;
    Ok(len)
}

/// The error of a read that fails although it was proved to be inside.
pub fn wrong_proof(error: &Error) -> Error {
    Error::Internal(format!("the compiler took an index for inside that is not, please report it: {error}"))
}

/// The error of a reduction of empty rows that has no initial value.
pub fn empty_rows(p: &Program, site: SiteId, outer: &[usize]) -> Error {
    Error::Shape {
        op: p.sites[site].to_string(),
        expected: "a non-empty innermost dimension".into(),
        found: format!("shape {:?}", [outer, &[0]].concat()),
    }
}

/// Checks that an array can get new extents.
///
/// # Errors
/// The sizes differ.
pub fn check_reshape(p: &Program, site: SiteId, old: &[usize], new: &[usize]) -> Result<()> {
    if size(old) == size(new) { Ok(()) } else { Err(other_size(p, site, old, new)) }
}

/// Checks that two shapes agree.
///
/// # Errors
/// They do not, and as [`Machine::call`].
pub fn check_agreement<S: Store>(
    p: &Program,
    store: &S,
    agreement: Agreement,
    shapes: [&Code; 2],
    site: SiteId,
) -> Result<()> {
    let shape = |c| values(p, store, c, site)?.into_iter().map(int).collect::<Result<Vec<_>>>();
    let [left, right] = shapes.map(shape);
    agreement.check(|| p.sites[site].to_string(), &left?, &right?)
}

/// The error of extents of another size than the old ones.
pub fn other_size(p: &Program, site: SiteId, old: &[usize], new: &[usize]) -> Error {
    Error::Shape {
        op: p.sites[site].to_string(),
        expected: format!("a shape of {} elements, as {old:?} has", size(old)),
        found: format!("{new:?}, which has {}", size(new)),
    }
}

fn size(extents: &[usize]) -> usize {
    extents.iter().product()
}

/// A scalar code that can be called many times.
pub struct Machine<'e, S> {
    program: &'e Program,
    store: &'e S,
    code: &'e Code,
    registers: Vec<Scalar>,
    site: SiteId,
}

impl<'e, S: Store> Machine<'e, S> {
    /// For a code of the statement at `site`.
    pub fn new(program: &'e Program, store: &'e S, code: &'e Code, site: SiteId) -> Self {
        Machine { program, store, code, registers: code.types.iter().map(|t| t.zero()).collect(), site }
    }

    /// The results for these parameters.
    ///
    /// # Errors
    /// Indices outside of arrays, division by zero, and what the store says.
    pub fn call(&mut self, params: &[Scalar]) -> Result<Vec<Scalar>> {
        self.store.step()?;
        self.registers[..params.len()].copy_from_slice(params);
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
    fn outside(&self, extents: Vec<usize>, index: &[Reg], site: SiteId, inside: bool) -> Error {
        let (read, stmt) = (self.program.sites[site], self.program.sites[self.site]);
        let op = match read.at {
            None if site != self.site => format!("`{}` in {stmt}", read.name),
            _ => read.to_string(),
        };
        let error = out_of_bounds(op, &self.get(index), extents);
        if inside || read.proved { wrong_proof(&error) } else { error }
    }
}

pub(super) fn position(i: usize) -> Scalar {
    // Sizes were checked to be below 2^63.
    Scalar::I64(i as i64)
}

fn int(x: Scalar) -> Result<i64> {
    match x {
        Scalar::I64(i) => Ok(i),
        _ => Err(Error::Internal(format!("index of type {}", x.ty()))),
    }
}

/// A condition.
///
/// # Errors
/// `Error::Internal` for a value of another type.
pub fn truth(x: Scalar) -> Result<bool> {
    match x {
        Scalar::Bool(b) => Ok(b),
        _ => Err(Error::Internal(format!("condition of type {}", x.ty()))),
    }
}

/// The row-major position of an index; `None` if it is outside.
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

pub(super) fn out_of_bounds(op: String, index: &[Scalar], shape: Vec<usize>) -> Error {
    match index.iter().map(|i| int(*i)).collect() {
        Ok(index) => Error::OutOfBounds { op, index, shape },
        Err(e) => e,
    }
}

/// The number of elements of an array of the operation `place`. As in the interpreter, extents of 0 do not excuse others that are too large.
///
/// # Errors
/// `Error::Memory`.
pub fn check_size(place: impl FnOnce() -> String, extents: &[usize]) -> Result<usize> {
    checked_size(extents).ok_or_else(|| Error::Memory { op: place(), shape: extents.to_vec() })
}

pub(super) fn no_element() -> Error {
    Error::Internal("a column is shorter than its array".into())
}
