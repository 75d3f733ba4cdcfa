//! Scalars and arrays of which only the known values and the sets of numbers are computed.

use crate::error::Error;
use crate::interp::extents::{check_size, for_each_index, int, out_of_bounds, position};
use crate::interp::place::Place;
use crate::repr::op::{Float1, Float2, Num1, Op1, Op2};
use crate::repr::{RawArray, RawExtents, Scalar, ScalarType};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Why a run ends without a result.
#[derive(Debug)]
pub enum Stop {
    /// The program fails at all values of the chosen numbers.
    Fails(Error),
    /// The sets cannot be found.
    Unknown(Error),
}

impl Stop {
    pub fn error(self) -> Error {
        match self {
            Stop::Fails(e) | Stop::Unknown(e) => e,
        }
    }
    /// The error of something that decides about shapes and is not known.
    pub fn unknown(place: Place, what: &str) -> Stop {
        Stop::Unknown(Error::Shape {
            op: format!("pattern of a Jacobian: {place}"),
            expected: format!(
                "{what} that does not depend on the numbers by which the program is differentiated, or a pattern that is given"
            ),
            found: "one that depends on them".into(),
        })
    }
}

impl From<Error> for Stop {
    fn from(e: Error) -> Stop {
        Stop::Fails(e)
    }
}

pub type Result<T> = std::result::Result<T, Stop>;

/// A set of numbers of the argument, in ascending order. `None` is the empty set.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Set(Option<Rc<[u32]>>);

impl Set {
    pub fn of(number: u32) -> Set {
        Set(Some(Rc::new([number])))
    }

    pub fn members(&self) -> &[u32] {
        self.0.as_deref().unwrap_or_default()
    }

    pub fn union(&self, other: &Set) -> Set {
        let (Some(a), Some(b)) = (&self.0, &other.0) else {
            return if self.0.is_some() { self.clone() } else { other.clone() };
        };
        if Rc::ptr_eq(a, b) {
            return self.clone();
        }
        let mut all = Vec::with_capacity(a.len() + b.len());
        let (mut i, mut k) = (0, 0);
        while i < a.len() && k < b.len() {
            let least = a[i].min(b[k]);
            i += usize::from(a[i] == least);
            k += usize::from(b[k] == least);
            all.push(least);
        }
        all.extend_from_slice(&a[i..]);
        all.extend_from_slice(&b[k..]);
        // Sets are shared where they can be.
        match all.len() {
            n if n == a.len() => self.clone(),
            n if n == b.len() => other.clone(),
            _ => Set(Some(all.into())),
        }
    }
}

/// A scalar: its value if that does not depend on the chosen numbers, and the numbers by which it has a derivative.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    pub value: Option<Scalar>,
    pub by: Set,
}

impl Cell {
    pub fn known(x: Scalar) -> Cell {
        Cell { value: Some(x), by: Set::default() }
    }

    /// A number by which the program is differentiated.
    pub fn chosen(number: u32) -> Cell {
        Cell { value: None, by: Set::of(number) }
    }

    /// What is either of two.
    pub fn join(&self, other: &Cell) -> Cell {
        Cell { value: self.value.filter(|x| other.value == Some(*x)), by: self.by.union(&other.by) }
    }

    /// The same with an unknown value.
    pub fn unknown(&self) -> Cell {
        Cell { value: None, by: self.by.clone() }
    }

    pub fn one(op: Op1, a: &Cell) -> crate::error::Result<Cell> {
        let value = a.value.map(|x| op.eval(x)).transpose()?;
        let smooth = match op {
            Op1::Num(Num1::Neg | Num1::Abs) => true,
            Op1::Num(Num1::Signum) | Op1::Test(_) | Op1::Int(_) | Op1::Not | Op1::Bits => false,
            Op1::Float(f) => {
                !matches!(f, Float1::Detach | Float1::Floor | Float1::Ceil | Float1::Round | Float1::Trunc)
            }
            Op1::Cast(t) => t.is_float(),
        };
        Ok(Cell { value, by: if smooth { a.by.clone() } else { Set::default() } })
    }

    pub fn two(op: Op2, a: &Cell, b: &Cell) -> crate::error::Result<Cell> {
        let value = match (a.value, b.value) {
            (Some(x), Some(y)) => Some(op.eval(x, y)?),
            _ => None,
        };
        let by = match op {
            Op2::Float(Float2::Along) => a.by.clone(),
            Op2::Num(_) | Op2::Float(_) => a.by.union(&b.by),
            Op2::Int(_) | Op2::Cmp(_) | Op2::Logic(_) => Set::default(),
        };
        Ok(Cell { value, by })
    }
}

/// The components of an index, as far as they are known.
pub type Index = Vec<Option<usize>>;

/// The index with these components. A known one that is out of bounds is an error, which names `op`.
pub fn index(cells: &[Cell], extents: &[usize], op: impl FnOnce() -> String) -> Result<Index> {
    let known = |c: &Cell| c.value.map(int).transpose();
    let ix = cells.iter().map(known).collect::<crate::error::Result<Vec<_>>>()?;
    let inside = |(i, n): (&Option<i64>, &usize)| i.is_none_or(|i| usize::try_from(i).is_ok_and(|i| i < *n));
    if !ix.iter().zip(extents).all(inside) {
        // Components that are not known are within bounds in the message.
        let shown = ix.iter().map(|i| Scalar::I64(i.unwrap_or(0)));
        return Err(out_of_bounds(op(), shown, extents).into());
    }
    Ok(ix.into_iter().map(|i| i.map(|i| i as usize)).collect())
}

/// The positions that an index may be, in row-major order.
pub fn positions(index: &[Option<usize>], extents: &[usize]) -> Vec<usize> {
    let free: Vec<usize> = index.iter().zip(extents).map(|(i, n)| if i.is_some() { 1 } else { *n }).collect();
    let mut all = vec![];
    let each = for_each_index(&free, |_, at| {
        let at: Vec<usize> = index.iter().zip(at).map(|(known, i)| known.unwrap_or(*i)).collect();
        all.push(position(extents, &at));
        Ok(())
    });
    debug_assert!(each.is_ok());
    all
}

/// An array of cells.
#[derive(Debug)]
pub struct Cells {
    pub extents: RawExtents,
    pub types: Vec<ScalarType>,
    /// The components of all elements, element by element.
    pub cells: Vec<Cell>,
    /// What has been read at indices that are not known.
    joined: RefCell<HashMap<Index, Vec<Cell>>>,
}

pub type Arrays = Vec<Rc<Cells>>;

impl Cells {
    pub fn new(extents: RawExtents, types: &[ScalarType], cells: Vec<Cell>) -> Cells {
        Cells { extents, types: types.to_vec(), cells, joined: RefCell::default() }
    }

    /// Space for the cells of an array.
    pub fn space(extents: &[usize], types: &[ScalarType], place: Place) -> Result<Vec<Cell>> {
        let mut cells = vec![];
        let memory = || Error::Memory { op: place.to_string(), shape: extents.to_vec() };
        let size = check_size(place, extents)?.checked_mul(types.len()).ok_or_else(memory)?;
        cells.try_reserve_exact(size).map_err(|_| memory())?;
        Ok(cells)
    }

    pub fn known(a: &RawArray) -> Cells {
        let types: Vec<_> = a.columns.iter().map(|c| c.ty()).collect();
        let element = |i| a.columns.iter().filter_map(move |c| c.get(i)).map(Cell::known);
        Cells::new(a.extents.clone(), &types, (0..a.size()).flat_map(element).collect())
    }

    /// The array, if all of its values are known.
    pub fn values(&self) -> Option<RawArray> {
        let mut a = RawArray::zeros(self.extents.clone(), &self.types)?;
        for (i, c) in self.cells.iter().enumerate() {
            a.columns[i % self.types.len()].set(i / self.types.len(), c.value?);
        }
        Some(a)
    }

    pub fn size(&self) -> usize {
        self.extents.iter().product()
    }

    /// The components of element `i`.
    pub fn element(&self, i: usize) -> &[Cell] {
        &self.cells[i * self.types.len()..(i + 1) * self.types.len()]
    }

    /// The floating-point components of all elements.
    pub fn numbers(&self) -> impl Iterator<Item = &Cell> {
        let types = self.types.iter().cycle();
        self.cells.iter().zip(types).filter(|(_, t)| t.is_float()).map(|(c, _)| c)
    }

    pub fn map_numbers(&self, mut f: impl FnMut(&Cell) -> Cell) -> Cells {
        let types = self.types.iter().cycle();
        let cells = self.cells.iter().zip(types).map(|(c, t)| if t.is_float() { f(c) } else { c.clone() });
        Cells::new(self.extents.clone(), &self.types, cells.collect())
    }

    /// The element at an index; if that is not known, the join of all that it may be.
    pub fn read(&self, index: &Index) -> Vec<Cell> {
        if let Some(known) = index.iter().copied().collect::<Option<Vec<usize>>>() {
            return self.element(position(&self.extents, &known)).to_vec();
        }
        if let Some(cells) = self.joined.borrow().get(index) {
            return cells.clone();
        }
        let all = positions(index, &self.extents).into_iter().map(|i| self.element(i).to_vec());
        let nothing = || vec![Cell { value: None, by: Set::default() }; self.types.len()];
        let joined = all.reduce(|x, y| join(&x, &y)).unwrap_or_else(nothing);
        let joined: Vec<Cell> = joined.iter().map(Cell::unknown).collect();
        self.joined.borrow_mut().insert(index.clone(), joined.clone());
        joined
    }

    /// What is either of two arrays, if they have the same shape.
    pub fn join(self: &Rc<Self>, other: &Rc<Self>, place: Place) -> Result<Rc<Cells>> {
        if self.extents != other.extents {
            return Err(Stop::unknown(place, "a shape"));
        }
        if Rc::ptr_eq(self, other) {
            return Ok(self.clone());
        }
        Ok(Rc::new(Cells::new(self.extents.clone(), &self.types, join(&self.cells, &other.cells))))
    }
}

/// The joins of corresponding cells.
pub fn join(a: &[Cell], b: &[Cell]) -> Vec<Cell> {
    a.iter().zip(b).map(|(a, b)| a.join(b)).collect()
}
