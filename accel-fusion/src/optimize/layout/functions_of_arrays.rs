//! Computes mathematical functions for all elements of a small array at once.
//!
//! NOTE [Functions of arrays]: the C library has versions of its functions that compute a vector of numbers in the time of one. A C compiler
//! uses them for a loop that does nothing else, but rarely in the middle of a fold of 16 numbers. Whether it does would also depend on the
//! code around the loop, and so would the last bits of the results. So where the extents are small constants, the arguments of a function
//! are computed first, then the function for all of them, by the same code wherever it happens, then what is left of the statement:
//! `y[i] = exp(a[i]) + 1` is `x[i] = a[i]; e[i] = exp(x[i]); y[i] = e[i] + 1`. The arrays are in the frame of a C function. Backends find
//! statements that only apply a function by [`function_of_arrays`].

use crate::kernel::builder::{Builder, index_types, renamed};
use crate::kernel::dead_code::{defined, parameters, restricted_to};
use crate::kernel::{ArrayId, ArrayInfo, Instr, Op, Program, Reg, ScalarFn, SiteId, Stmt, walk};
use crate::optimize::facts::known_extents::{KnownExtents, constants, known_extents};
use crate::optimize::facts::shape_analysis::InputExtents;
use crate::optimize::fuse::fused_program::moved_array;
use crate::optimize::{Place, Rule, rewrite};
use accel_core::repr::Scalar;
use accel_core::repr::op::{Float2, Op2};
use std::collections::{BTreeMap, BTreeSet};

/// The least number of elements: those of a vector of four 64-bit numbers.
const FEWEST: i64 = 4;
/// The largest number of elements. Chosen: larger arrays would not stay in the frame of a function.
const MOST: i64 = 512;

/// Gives functions of all elements of small arrays statements of their own.
pub(crate) fn functions_of_arrays(program: &Program, given: &InputExtents) -> Program {
    rewrite(program, &mut Apart { known: known_extents(program, given) })
}

/// A statement that only applies a function to the elements of arrays and to constants.
pub struct FunctionOfArrays<'a> {
    /// The arrays with the arguments, one column each, and with the extents of the result.
    pub arguments: Vec<ArrayId>,
    /// The function: its registers are those of the instructions that read the arguments, and of constants.
    pub call: &'a Instr,
}

/// The function that the body of a loop applies, if it does nothing else.
pub fn function_of_arrays(body: &ScalarFn) -> Option<FunctionOfArrays<'_>> {
    let (call, others) = body.instrs.split_last()?;
    let (to, _) = function(call)?;
    let mut arguments = vec![];
    for i in others {
        match i {
            Instr::Const(..) => {}
            Instr::Read { to, array, index, inside: true, .. }
                if to.len() == 1 && index.iter().copied().eq(body.param_regs()) =>
            {
                arguments.push(*array);
            }
            _ => return None,
        }
    }
    (body.params > 0 && !arguments.is_empty() && body.results == [to]).then_some(FunctionOfArrays { arguments, call })
}

/// The result and the arguments of a call of a function of the C library.
pub(super) fn function(i: &Instr) -> Option<(Reg, Vec<Reg>)> {
    match i {
        Instr::Op2(to, Op2::Float(Float2::Pow | Float2::Atan2 | Float2::Hypot), a, b) => Some((*to, vec![*a, *b])),
        _ => i.library_call().map(|(to, a)| (to, vec![a])),
    }
}

/// `y[i] = f(x(i)) + 1` is `a[i] = x(i); b[i] = f(a[i]); y[i] = b[i] + 1`.
struct Apart {
    known: KnownExtents,
}

impl Rule for Apart {
    fn stmt(&mut self, place: &mut Place, mut s: Stmt, before: &mut Vec<Stmt>) {
        if let Op::Strip { body, .. } = &mut s.op {
            // In a frame, its statements are executed one after the other.
            if body
                .stmts
                .iter()
                .any(|s| self.space(&s.op).is_some_and(|(code, extents)| !calls(code, &extents).is_empty()))
            {
                return std::mem::take(&mut body.stmts).into_iter().for_each(|s| self.stmt(place, s, before));
            }
        } else if let Some((_, extents)) = self.space(&s.op) {
            let site = s.site;
            match &mut s.op {
                Op::Loop { body, .. } => {
                    let own = before.len();
                    apart(place, body, &extents, false, site, before);
                    if before.len() > own
                        && let Some(Op::Loop { to, body: value, .. }) = before.last().map(|s| &s.op)
                        && copies(body, to)
                    {
                        *body = value.clone();
                        before.pop();
                    }
                }
                Op::Reduce { rows, .. } => {
                    let columns = extents.len() > 1 && !reads_rows(&rows.element);
                    apart(place, &mut rows.element, &extents, columns, site, before);
                }
                _ => {}
            }
        }
        before.push(s);
    }
}

impl Apart {
    /// The scalar function of a statement's elements, and the extents of its space, if they are small constants.
    fn space<'o>(&self, op: &'o Op) -> Option<(&'o ScalarFn, Vec<i64>)> {
        let (code, extents) = match op {
            Op::Loop { extents, body, .. } => (body, constants(extents, &self.known)?),
            Op::Reduce { extents, rows, .. } => {
                let len = constants(&rows.len, &self.known)?;
                (&rows.element, [constants(extents, &self.known)?, len].concat())
            }
            _ => return None,
        };
        let size = extents.iter().try_fold(1i64, |n, e| n.checked_mul(*e))?;
        (FEWEST..=MOST).contains(&size).then_some((code, extents))
    }
}

/// Whether a loop only copies an array, to which another loop applies a function.
fn copies(body: &ScalarFn, array: &[ArrayId]) -> bool {
    moved_array(body).is_some_and(|(from, index, plus_zero)| {
        array == [from] && !plus_zero && index.iter().copied().eq(body.param_regs())
    })
}

/// Whether an array is read along rows.
fn reads_rows(element: &ScalarFn) -> bool {
    let along = Reg::new(element.params - 1);
    walk(&element.instrs)
        .any(|i| matches!(i, Instr::Read { index, .. } if index.len() > 1 && index.last() == Some(&along)))
}

/// A call of a function that is computed for all elements at once.
struct Call {
    /// Its position in the code.
    at: usize,
    /// The registers of its arguments that depend on the index.
    arguments: Vec<Reg>,
    /// The parameters that they depend on.
    params: Vec<Reg>,
}

/// The calls whose arguments need no other call.
fn calls(code: &ScalarFn, extents: &[i64]) -> Vec<Call> {
    if function_of_arrays(code).is_some() {
        return vec![];
    }
    let call = |(at, i): (usize, &Instr)| {
        let (_, arguments) = function(i)?;
        let constant = |r: &Reg| matches!(defined(code, *r), Some(Instr::Const(..)));
        let mut arguments: Vec<Reg> = arguments.into_iter().filter(|r| !constant(r)).collect();
        arguments.dedup();
        let computed = restricted_to(code, arguments.clone());
        if walk(&computed.instrs).any(|i| function(i).is_some() || matches!(i, Instr::While { .. })) {
            return None;
        }
        let params: BTreeSet<Reg> = arguments.iter().flat_map(|a| parameters(code, *a)).collect();
        let size: i64 = params.iter().map(|p| extents[p.index()]).product();
        (!params.is_empty() && size >= FEWEST).then_some(Call { at, arguments, params: params.into_iter().collect() })
    };
    code.instrs.iter().enumerate().filter_map(call).collect()
}

/// Computes the calls of some code before it. With `columns`, the last index of the space is the first one of the new arrays, so that
/// neighbouring rows are adjacent.
fn apart(place: &mut Place, code: &mut ScalarFn, extents: &[i64], columns: bool, site: SiteId, before: &mut Vec<Stmt>) {
    loop {
        let found = calls(code, extents);
        if found.is_empty() {
            return;
        }
        for call in found {
            let mut index = call.params.clone();
            if columns && index.last().is_some_and(|r| r.index() + 1 == code.params) {
                index.rotate_right(1);
            }
            let (result, array, statements) = statements(place, code, &call, &index, extents, site);
            before.extend(statements);
            code.instrs[call.at] = Instr::Read { to: vec![result], array, index, site, inside: true };
        }
        *code = restricted_to(code, code.results.clone());
    }
}

/// The result of a call, the array of its values for these indices of the space, and the loops that compute the arguments and the values.
fn statements(
    place: &mut Place,
    code: &ScalarFn,
    call: &Call,
    index: &[Reg],
    extents: &[i64],
    site: SiteId,
) -> (Reg, ArrayId, [Stmt; 2]) {
    let mut array = |r: Reg| place.arrays.push(ArrayInfo { rank: index.len(), columns: vec![code.types[r]] });
    let mut b = Builder::new(&[]);
    let constants = index.iter().map(|r| b.constant(Scalar::I64(extents[r.index()]))).collect();
    let extents = b.finish(constants);
    let arguments: Vec<ArrayId> = call.arguments.iter().map(|r| array(*r)).collect();
    let mut b = Builder::new(&index_types(index.len()));
    let mut params = vec![Reg::NONE; code.params];
    index.iter().zip(b.params()).for_each(|(r, own)| params[r.index()] = own);
    if params.contains(&Reg::NONE) {
        let zero = b.constant(Scalar::I64(0));
        params.iter_mut().filter(|r| **r == Reg::NONE).for_each(|r| *r = zero);
    }
    let results = b.inline(&restricted_to(code, call.arguments.clone()), &params);
    let body = b.finish(results);
    let first = Stmt { op: Op::Loop { to: arguments.clone(), extents: extents.clone(), body }, site };
    // The call itself, of what is read and of constants.
    let (result, used) = function(&code.instrs[call.at]).expect("a call");
    let mut b = Builder::new(&index_types(index.len()));
    let mut own = BTreeMap::new();
    for r in used {
        if own.contains_key(&r) {
            continue;
        }
        let to = b.reg(code.types[r]);
        own.insert(r, to);
        match call.arguments.iter().position(|a| *a == r) {
            Some(k) => {
                let index = b.params();
                b.emit(Instr::Read { to: vec![to], array: arguments[k], index, site, inside: true });
            }
            None => b.emit(renamed(defined(code, r).expect("a constant"), &|_| to)),
        }
    }
    let to = b.reg(code.types[result]);
    own.insert(result, to);
    b.emit(renamed(&code.instrs[call.at], &|r| own[r]));
    let values = array(result);
    let second = Stmt { op: Op::Loop { to: vec![values], extents, body: b.finish(vec![to]) }, site };
    (result, values, [first, second])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{evaluate, parse, verify};
    use accel_core::array::Array;
    use accel_core::repr::ArrayTuple;

    /// The keywords of the statements after the pass, and how many of them only apply a function. The program has to compute the same.
    fn apart(statements: &str, result: &str) -> (Vec<&'static str>, usize) {
        let text = format!(
            "program (a0: Array2<f64>) site 0 = \"test\" {{
               a1: Array2<f64> = loop @0
                 extents () {{ x0: i64 = 3 x1: i64 = 4 -> x0, x1 }}
                 body (x0: i64, x1: i64) {{ x2: f64 = a0[x0, x1] @0 -> x2 }}
               {statements}
               -> {result}
             }}"
        );
        let before = parse(&text).unwrap();
        let after = functions_of_arrays(&before, &InputExtents::default());
        verify(&after).unwrap_or_else(|e| panic!("{e}\n{after}"));
        let elements = (0..12).map(|k| f64::from(k) * 0.25 - 1.0).collect();
        let argument = ArrayTuple::Array(Array::matrix(3, 4, elements).unwrap().raw().clone());
        let [before, own] = [&before, &after].map(|p| format!("{:?}", evaluate(p, &argument).unwrap()));
        assert_eq!(before, own, "{after}");
        let functions = |s: &&Stmt| matches!(&s.op, Op::Loop { body, .. } if function_of_arrays(body).is_some());
        let applied = after.body.stmts.iter().filter(functions).count();
        (after.body.stmts.iter().skip(1).map(|s| s.op.keyword()).collect(), applied)
    }

    #[test]
    fn arguments_are_computed_first() {
        let found = apart(
            "a2: Array2<f64> = loop @0
               extents () { x0: i64 = 3 x1: i64 = 4 -> x0, x1 }
               body (x0: i64, x1: i64) {
                 x2: f64 = a1[x0, x1] @0
                 x3: f64 = exp x2
                 x4: f64 = x3 + x2
                 x5: f64 = log x4
                 -> x5
               }",
            "a2",
        );
        // Its result is the second function's.
        assert_eq!(found, (vec!["loop", "loop", "loop", "loop"], 2));
    }

    #[test]
    fn elements_of_rows_and_columns_are_computed_first() {
        for index in ["x0, x1", "x1, x0"] {
            let [rows, len] = if index == "x0, x1" { [3, 4] } else { [4, 3] };
            let found = apart(
                &format!(
                    "a2: Array1<f64> = reduce @0 sum
                       extents () {{ x0: i64 = {rows} -> x0 }}
                       len () {{ x0: i64 = {len} -> x0 }}
                       element (x0: i64, x1: i64) {{ x2: f64 = a1[{index}] @0 x3: f64 = -0.5 x4: f64 = hypot x2 x3 x5: f64 = x4 + x3 -> x5 }}
                       op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}"
                ),
                "a2",
            );
            assert_eq!(found, (vec!["loop", "loop", "reduce"], 1), "{index}");
        }
    }

    #[test]
    fn what_depends_on_fewer_indices_is_computed_as_often() {
        // Four numbers of the exponential function, not twelve; the sine of what is not small stays.
        let found = apart(
            "a2: Array2<f64> = loop @0
               extents () { x0: i64 = 3 x1: i64 = 4 -> x0, x1 }
               body (x0: i64, x1: i64) { x2: i64 = 0 x3: f64 = a1[x2, x1] @0 x4: f64 = exp x3 x5: f64 = a1[x0, x1] @0 x6: f64 = x4 * x5 -> x6 }
             a3: Array2<f64> = loop @0
               extents () { x0: i64 = 600 x1: i64 = 1 -> x0, x1 }
               body (x0: i64, x1: i64) { x2: f64 = as f64 x0 x3: f64 = sin x2 -> x3 }",
            "a2, a3",
        );
        assert_eq!(found, (vec!["loop", "loop", "loop", "loop"], 1));
    }
}
