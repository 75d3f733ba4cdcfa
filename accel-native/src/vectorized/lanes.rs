//! Lanes: the values of a register for a batch of elements.

use super::memory;
use accel_core::repr::scalar::ScalarElt;
use accel_core::repr::{Column, ColumnElt, ColumnPart, Scalar, ScalarType};

/// The expression, where `$T` is the Rust type of a scalar type.
macro_rules! for_type {
    ($t:expr, $T:ident => $body:expr) => {
        match $t {
            ScalarType::Bool => {
                type $T = bool;
                $body
            }
            ScalarType::I8 => {
                type $T = i8;
                $body
            }
            ScalarType::I16 => {
                type $T = i16;
                $body
            }
            ScalarType::I32 => {
                type $T = i32;
                $body
            }
            ScalarType::I64 => {
                type $T = i64;
                $body
            }
            ScalarType::U8 => {
                type $T = u8;
                $body
            }
            ScalarType::U16 => {
                type $T = u16;
                $body
            }
            ScalarType::U32 => {
                type $T = u32;
                $body
            }
            ScalarType::U64 => {
                type $T = u64;
                $body
            }
            ScalarType::F32 => {
                type $T = f32;
                $body
            }
            ScalarType::F64 => {
                type $T = f64;
                $body
            }
        }
    };
}

/// How the values of a register depend on the lane.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// All lanes have this value.
    Uniform(Scalar),
    /// Lane `l` has the value `first + l * step`, which wraps.
    Ramp { first: i64, step: i64 },
    /// Each lane has its own value.
    Varying,
}

/// The values of a register.
#[derive(Debug)]
pub struct Value {
    ty: ScalarType,
    form: Form,
    /// The values, at least those of the first `filled` lanes.
    lanes: Option<Column>,
    filled: usize,
    /// Memory that [`replace`](Value::replace) has freed.
    spare: Option<Column>,
}

impl Value {
    pub fn new(ty: ScalarType) -> Value {
        Value { ty, form: Form::Uniform(ty.zero()), lanes: None, filled: 0, spare: None }
    }

    pub fn ty(&self) -> ScalarType {
        self.ty
    }

    pub fn form(&self) -> Form {
        self.form
    }

    pub fn set_uniform(&mut self, x: Scalar) {
        self.set_form(Form::Uniform(x));
    }

    pub fn set_ramp(&mut self, first: i64, step: i64) {
        self.set_form(Form::Ramp { first, step });
    }

    /// The values have this form, which is not varying.
    pub fn set_form(&mut self, form: Form) {
        let is_same = matches!((self.form, form), (Form::Uniform(x), Form::Uniform(y)) if x == y);
        if !is_same {
            (self.form, self.filled) = (form, 0);
        }
    }

    /// The memory for new values of `n` lanes. [`set`](Self::set) gives it back.
    pub fn take(&mut self, n: usize) -> Option<Column> {
        self.filled = 0;
        self.lanes.take().filter(|lanes| lanes.len() >= n).or_else(|| memory::take(self.ty, n))
    }

    /// Each lane has its own value.
    pub fn set(&mut self, lanes: Column) {
        (self.form, self.filled) = (Form::Varying, lanes.len());
        self.lanes = Some(lanes);
    }

    /// Memory for new values of `n` lanes beside the present ones. [`replace`](Self::replace) gives it back.
    pub fn spare(&mut self, n: usize) -> Option<Column> {
        self.spare.take().filter(|lanes| lanes.len() >= n).or_else(|| memory::take(self.ty, n))
    }

    /// Each lane has its own value. The memory of the present ones becomes the spare one.
    pub fn replace(&mut self, lanes: Column) {
        self.spare = self.lanes.take();
        self.set(lanes);
    }

    /// Writes the values of the first `n` lanes to memory, if they are not there.
    pub fn fill(&mut self, n: usize) -> Option<()> {
        if self.filled >= n {
            return Some(());
        }
        let mut lanes = self.take(n)?;
        match self.form {
            Form::Uniform(x) => fill(&mut lanes, n, x)?,
            Form::Ramp { first, step } => {
                let out = i64::elements_mut(&mut lanes)?.get_mut(..n)?;
                out.iter_mut().zip(0i64..).for_each(|(x, l)| *x = first.wrapping_add(step.wrapping_mul(l)));
            }
            Form::Varying => return None,
        }
        (self.lanes, self.filled) = (Some(lanes), n);
        Some(())
    }

    /// The values in memory: those of the lanes for which [`fill`](Self::fill) was called, and perhaps more.
    pub fn lanes(&self) -> Option<&Column> {
        self.lanes.as_ref()
    }

    /// Takes over the values of another register in the first `n` lanes.
    pub fn copy_from(&mut self, other: &Value, n: usize) -> Option<()> {
        match other.form {
            Form::Varying => {
                let mut lanes = self.take(n)?;
                copy(other.lanes()?, &mut lanes, n)?;
                self.set(lanes);
            }
            form => self.set_form(form),
        }
        Some(())
    }

    /// Writes the values of the first `n` lanes to a part of a column, from position `at` on.
    pub fn store(&mut self, n: usize, part: &mut ColumnPart, at: usize) -> Option<()> {
        let (form, end) = (self.form, at.checked_add(n)?);
        if let Form::Ramp { .. } = form {
            self.fill(n)?;
        }
        for_type!(self.ty, T => {
            let out = T::part_mut(part)?.get_mut(at..end)?;
            match form {
                Form::Uniform(x) => out.fill(T::from_scalar(x)?),
                _ => out.copy_from_slice(T::elements(self.lanes()?)?.get(..n)?),
            }
        });
        Some(())
    }

    /// The value of one lane.
    pub fn get(&self, lane: usize) -> Option<Scalar> {
        match self.form {
            Form::Uniform(x) => Some(x),
            Form::Ramp { first, step } => Some(Scalar::I64(first.wrapping_add(step.wrapping_mul(lane as i64)))),
            Form::Varying => self.lanes()?.get(lane),
        }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        [self.lanes.take(), self.spare.take()].into_iter().flatten().for_each(memory::give);
    }
}

fn fill(to: &mut Column, n: usize, x: Scalar) -> Option<()> {
    for_type!(x.ty(), T => T::elements_mut(to)?.get_mut(..n)?.fill(T::from_scalar(x)?));
    Some(())
}

/// The first `n` values.
pub fn copy(from: &Column, to: &mut Column, n: usize) -> Option<()> {
    for_type!(from.ty(), T => T::elements_mut(to)?.get_mut(..n)?.copy_from_slice(T::elements(from)?.get(..n)?));
    Some(())
}

/// The elements of a column from position `first` on, at a distance of `step`.
pub fn strided(from: &Column, first: usize, step: isize, to: &mut Column, n: usize) -> Option<()> {
    for_type!(from.ty(), T => {
        let (from, to) = (T::elements(from)?, T::elements_mut(to)?.get_mut(..n)?);
        if step == 1 {
            to.copy_from_slice(from.get(first..first.checked_add(n)?)?);
        } else {
            let mut at = first;
            for x in to {
                *x = *from.get(at)?;
                at = at.wrapping_add_signed(step);
            }
        }
    });
    Some(())
}

/// The elements of a column at some positions.
pub fn gather(from: &Column, positions: &[usize], to: &mut Column) -> Option<()> {
    for_type!(from.ty(), T => {
        let from = T::elements(from)?;
        for (x, at) in T::elements_mut(to)?.iter_mut().zip(positions) {
            *x = *from.get(*at)?;
        }
    });
    Some(())
}

/// Writes the values of lanes to positions of a column: in the order of the lanes, those where `mask` is true.
pub fn scatter(from: &Column, positions: &[usize], mask: Option<&[bool]>, to: &mut Column) -> Option<()> {
    for_type!(from.ty(), T => {
        let to = T::elements_mut(to)?;
        for (l, (x, at)) in T::elements(from)?.iter().zip(positions).enumerate() {
            if mask.is_none_or(|mask| mask[l]) {
                *to.get_mut(*at)? = *x;
            }
        }
    });
    Some(())
}

/// The values of `a` in the lanes where `mask` is true, and those of `b` in the others.
pub fn select(mask: &[bool], a: &Column, b: &Column, to: &mut Column) -> Option<()> {
    let n = mask.len();
    for_type!(a.ty(), T => {
        let (a, b) = (T::elements(a)?.get(..n)?, T::elements(b)?.get(..n)?);
        for ((x, is_a), (a, b)) in T::elements_mut(to)?.iter_mut().zip(mask).zip(a.iter().zip(b)) {
            *x = if *is_a { *a } else { *b };
        }
    });
    Some(())
}
