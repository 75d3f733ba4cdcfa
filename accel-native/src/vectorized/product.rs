//! Contractions by the library for matrix products.

use super::rows::Rows;
use crate::product::{product_f32, product_f64};
use accel_core::repr::{Column, ColumnElt, Scalar, ScalarType};
use accel_fusion::kernel::Operand;
use accel_fusion::kernel::scalar_evaluation::values;

/// The column of the reduced rows, if they are a contraction and the library is faster than a loop. No extent is 0.
pub fn product(rows: &Rows) -> Option<Column> {
    let contraction = rows.code.contraction()?;
    let context = rows.context;
    let number = |xs: &[Scalar]| xs.first().copied();
    let factor = number(&values(context.program, context.arrays, &contraction.factor, context.site).ok()?)?;
    let init = rows.init.as_ref().map_or(Some(contraction.ty.zero()), |init| number(init))?;
    let space: Vec<usize> = rows.outer.iter().copied().chain([rows.len]).collect();
    let mut dims = vec![];
    let mut inner = rows.count();
    for (p, role) in contraction.roles.iter().enumerate() {
        let role = role.number();
        // The outer dimensions are those of the result.
        let in_result = match rows.outer.get(p) {
            Some(extent) => {
                inner /= extent;
                inner
            }
            None => 0,
        };
        let strides = [in_result, stride(rows, &contraction.left, p)?, stride(rows, &contraction.right, p)?];
        let [to, left, right] = strides.map(|s| s as i64);
        dims.push([role as i64, 0, space[p] as i64, to, left, right]);
    }
    let [left, right] = [&contraction.left, &contraction.right].map(|o| operand(rows, o, &space));
    let (left, right) = (left?, right?);
    let mut column = Column::zeros(contraction.ty, rows.count())?;
    macro_rules! multiply {
        ($t:ident, $product:ident, $variant:ident) => {{
            let (Scalar::$variant(factor), Scalar::$variant(init)) = (factor, init) else { return None };
            let (left, right, to) = ($t::elements(left)?, $t::elements(right)?, $t::elements_mut(&mut column)?);
            let (dims, count) = (dims.as_ptr(), dims.len() as i64);
            // SAFETY: `operand` has checked that all indices are within the operands. The strides of the result are those
            // of its extents, and nobody else uses it.
            unsafe { $product(dims, count, to.as_mut_ptr(), left.as_ptr(), right.as_ptr(), factor, &init, false) }
        }};
    }
    let done = match contraction.ty {
        ScalarType::F32 => multiply!(f32, product_f32, F32),
        ScalarType::F64 => multiply!(f64, product_f64, F64),
        _ => return None,
    };
    (done == 0).then_some(column)
}

/// The distance in memory between elements of an operand at consecutive values of parameter `p`.
fn stride(rows: &Rows, o: &Operand, p: usize) -> Option<usize> {
    let extents = &rows.context.array(o.array)?.extents;
    let (mut inner, mut stride) = (1, 0);
    for (extent, r) in extents.iter().zip(&o.index).rev() {
        if *r == p {
            stride += inner;
        }
        inner *= extent;
    }
    Some(stride)
}

/// The column of an operand. `None` if an index can be out of bounds.
fn operand<'e>(rows: &Rows<'e>, o: &Operand, space: &[usize]) -> Option<&'e Column> {
    let array = rows.context.array(o.array)?;
    let is_inside = |(extent, r): (&usize, &accel_fusion::kernel::Reg)| space[r.index()] <= *extent;
    (array.extents.len() == o.index.len() && array.extents.iter().zip(&o.index).all(is_inside)).then_some(())?;
    array.columns.get(o.column)
}
