//! Optimised programs as bytes, in files.
//!
//! In the cache, a file is used for the program from which it was made, and this program is at hand. So the bytes do not contain what
//! they can refer to: foreign functions, which Rust cannot construct, and the arrays that are part of the program. A program for
//! other processes contains its arrays, and has no foreign functions: its key is empty.
//! The rest is words, and the kernel program in its textual form.

use crate::kernel::{Op, Origin, Program, Verified, lookup, parse};
use crate::optimize::Assumptions;
use crate::pipeline::{Conditions, Given, Optimized};
use crate::words::{Reader, list, text};
use accel_core::ast::Role;
use accel_core::pass::canonical_key::ProgramKey;
use accel_core::repr::{Column, RawArray, Scalar, ScalarType};
use std::collections::HashMap;

impl Optimized {
    /// The program and its conditions as bytes. `key` is the key of the typed program. `None` if the bytes would have to
    /// contain a foreign function, or a column of more than `largest` bytes, that is not one of the typed program.
    pub fn to_bytes(&self, key: &ProgramKey, largest: usize) -> Option<Vec<u8>> {
        let program = &*self.program;
        let mut out = vec![];
        self.conditions.write(&mut out);
        let mut numbers: HashMap<Origin, u64> = HashMap::new();
        let mut origins = vec![];
        let mut number = |at: Origin| {
            let next = numbers.len() as u64;
            *numbers.entry(at).or_insert_with(|| {
                origins.push(at);
                next
            })
        };
        let of_sites: Vec<_> = program.sites.iter().map(|site| site.at.map_or(0, |at| 1 + number(at))).collect();
        list(&mut out, origins.into_iter(), |out, at| at.write(out));
        list(&mut out, of_sites.into_iter(), |out, number| out.push(number));
        let mut small = true;
        let own: HashMap<_, _> = key.columns.iter().enumerate().map(|(k, c)| (c.identity(), k as u64)).collect();
        list(&mut out, program.literals.iter(), |out, a| {
            list(out, a.extents.iter(), |out, e| out.push(*e as u64));
            list(out, a.columns.iter(), |out, column| match own.get(&column.identity()) {
                Some(k) => out.extend([0, *k]),
                None => {
                    small &= column.bytes() <= largest;
                    out.extend([1, column.ty() as u64]);
                    let elements: Vec<_> = (0..column.len()).filter_map(|i| column.get(i)).collect();
                    list(out, elements.into_iter(), |out, x| out.push(x.bits()))
                }
            })
        });
        let mut functions = vec![];
        for s in program.body.walk() {
            if let Op::Foreign { to, call, .. } = &s.op {
                functions.push((to.first()?.index(), key.functions.iter().position(|f| *f == call.function)?));
            }
        }
        list(&mut out, functions.into_iter(), |out, (to, k)| out.extend([to as u64, k as u64]));
        let without_literals = Program { literals: vec![], ..program.clone() };
        let mut bytes: Vec<u8> = [&[out.len() as u64], &*out].concat().iter().flat_map(|w| w.to_le_bytes()).collect();
        bytes.extend(without_literals.to_string().into_bytes());
        small.then_some(bytes)
    }

    /// The program that [`to_bytes`](Self::to_bytes) has written, for a typed program with this key; `None` if the bytes
    /// are not those of such a program.
    pub fn from_bytes(bytes: &[u8], key: &ProgramKey) -> Option<Optimized> {
        let (words, _) = bytes.as_chunks::<8>();
        let words: Vec<u64> = words.iter().map(|w| u64::from_le_bytes(*w)).collect();
        let (n, after) = words.split_first()?;
        let n = usize::try_from(*n).ok()?;
        let mut words = Reader(after.get(..n)?);
        let text = std::str::from_utf8(&bytes[8 + 8 * n..]).ok()?;
        let conditions = Conditions::read(&mut words)?;
        let origins = words.list(Origin::read)?;
        let of_sites = words.list(|words| match words.number()? {
            0 => Some(None),
            k => Some(Some(*origins.get(k - 1)?)),
        })?;
        let literals = words.list(|words| {
            let extents = words.list(Reader::number)?.into();
            let columns = words.list(|words| match words.word()? {
                0 => key.columns.get(words.number()?).cloned(),
                1 => {
                    let t = *ScalarType::ALL.get(words.number()?)?;
                    let mut column = Column::with_capacity(t, 0);
                    let elements = words.list(|words| Scalar::from_bits(t, words.word()?))?;
                    elements.into_iter().all(|x| column.push(x)).then_some(column)
                }
                _ => None,
            })?;
            Some(RawArray { extents, columns: columns.into() })
        })?;
        let functions = words.list(|words| Some((words.array()?, key.functions.get(words.number()?)?)))?;
        let functions: HashMap<_, _> = functions.into_iter().collect();
        let mut program = parse(text).ok()?;
        if !words.0.is_empty() || of_sites.len() != program.sites.len() {
            return None;
        }
        program.sites.iter_mut().zip(of_sites).for_each(|(site, at)| site.at = at);
        program.literals = literals;
        let mut all_are_known = true;
        program.body.walk_mut(|s| {
            if let Op::Foreign { to, call, .. } = &mut s.op {
                match to.first().and_then(|a| functions.get(a)) {
                    Some(function) => call.function = (*function).clone(),
                    None => all_are_known = false,
                }
            }
        });
        if !all_are_known {
            return None;
        }
        Some(Optimized { program: Verified::new(program).ok()?, conditions, complete: true })
    }
}

impl Origin {
    fn write(&self, out: &mut Vec<u64>) {
        text(out, self.name);
        text(out, self.file);
        out.extend([u64::from(self.line), u64::from(self.column), self.role as u64]);
    }

    fn read(words: &mut Reader) -> Option<Origin> {
        let [name, file] = [words.text()?, words.text()?].map(|text| lookup::intern(&text));
        let [line, column] = [words.word()?, words.word()?];
        let role = *[Role::Primal, Role::Adjoint, Role::Tangent].get(words.number()?)?;
        Some(Origin { name, file, line: line.try_into().ok()?, column: column.try_into().ok()?, role })
    }
}

impl Conditions {
    fn write(&self, out: &mut Vec<u64>) {
        list(out, self.extents.iter(), |out, e| {
            list(out, e.iter(), |out, n| out.push(n.map_or(0, |n| 1 + n as u64)));
        });
        self.assumptions.write(out);
        list(out, self.given.iter(), |out, (a, given)| {
            out.push(a.index() as u64);
            match given {
                Given::Input(k) => out.extend([0, *k as u64]),
                Given::Literal(extents) => {
                    out.push(1);
                    list(out, extents.iter(), |out, e| out.push(*e as u64))
                }
            }
        });
    }

    fn read(words: &mut Reader) -> Option<Conditions> {
        let extent = |words: &mut Reader| Some(words.number()?.checked_sub(1));
        let extents = words.list(|words| Some(words.list(extent)?.into()))?;
        let assumptions = Assumptions::read(words)?;
        let given = words.list(|words| {
            let a = words.array()?;
            let given = match words.word()? {
                0 => Given::Input(words.number()?),
                1 => Given::Literal(words.list(Reader::number)?.into()),
                _ => return None,
            };
            Some((a, given))
        })?;
        Some(Conditions { extents, assumptions, given: given.into_iter().collect() })
    }
}
