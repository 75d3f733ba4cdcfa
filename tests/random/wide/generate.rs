//! Makes random programs. Each operation is tried on the interpreter as soon as it is made. So later choices can use
//! the known arrays, and most programs neither fail nor take long.

use super::build::build;
use super::data::{Random, number};
use super::program::*;
use super::small::{self, Features, PRIMS};
use super::types::{Data, Elem, Given, Kind, Number, Prim, Ty};
use accel::backend::Backend;
use accel::interp::Interpreter;
use accel::prelude::Error;
use accel::repr::op::{Int2, Num2, Op2};
use accel::repr::{ArrayTuple, RawArray, Scalar};

/// The limits of one program.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The approximate limit of extents, of inputs and of constants.
    pub extent: usize,
    /// The limit for the number of elements of an array.
    pub elements: usize,
    pub steps: usize,
}

/// The program of a seed.
pub fn program(seed: u64) -> Program {
    let mut r = Random::new(seed);
    let limits = match r.below(200) {
        0 => Limits { extent: 4, elements: 60, steps: 200 },
        1..=8 => Limits { extent: 7, elements: 200, steps: 40 },
        9..=14 => Limits { extent: 100_003, elements: 110_000, steps: 5 },
        15..=40 => Limits { extent: 140, elements: 4_000, steps: 6 },
        _ => Limits { extent: 6, elements: 300, steps: 10 },
    };
    let palette = palette(&mut r);
    let inputs = inputs(&mut r, limits, &palette);
    let mut m = Maker::new(r, &inputs, palette, limits, None);
    let params = m.types.clone();
    let wanted = 1 + m.r.below(limits.steps);
    let mut defs = m.defs(wanted);
    // A program that fails tests little of its other operations.
    if m.r.chance(4)
        && let Some(def) = m.failing()
    {
        defs.push(def);
    }
    let results = m.results(params.len(), &defs);
    let p = Program { inputs, body: Block { params, defs, results } };
    // Unused operations are part of the test, but not always.
    if m.r.chance(80) { super::shrink::swept(&p) } else { p }
}

/// The element types that occur most often in a program.
fn palette(r: &mut Random) -> Vec<Elem> {
    let mut all = vec![Elem::I64, Elem::One(r.pick(&[Prim::F64, Prim::F64, Prim::F32]))];
    for _ in 0..r.below(3) {
        all.push(Elem::One(r.pick(&Prim::ALL)));
    }
    for _ in 0..r.below(3) {
        let part = |r: &mut Random| {
            let one = |r: &mut Random| {
                Elem::One(if r.chance(50) { r.pick(&[Prim::F64, Prim::I64]) } else { r.pick(&Prim::ALL) })
            };
            if r.chance(12) { Elem::Tuple(vec![one(r), one(r)]) } else { one(r) }
        };
        let n = r.pick(&[2, 2, 2, 3, 4]);
        let first = part(r);
        let same = r.chance(30);
        all.push(Elem::Tuple((0..n).map(|_| if same { first.clone() } else { part(r) }).collect()));
    }
    all
}

fn inputs(r: &mut Random, limits: Limits, palette: &[Elem]) -> Vec<Given> {
    // Equal extents should be common, because programs behave differently with them.
    let pool: Vec<usize> = (0..3).map(|_| extent(r, limits)).collect();
    (0..1 + r.below(4))
        .map(|_| {
            let elem = r.pick(palette);
            let rank = r.pick(&[0, 1, 1, 1, 1, 2, 2, 2, 3, 4]);
            let mut extents: Vec<usize> =
                (0..rank).map(|_| if r.chance(80) { r.pick(&pool) } else { extent(r, limits) }).collect();
            while extents.iter().fold(1usize, |n, e| n.saturating_mul(*e)) > limits.elements {
                let dim = r.below(rank);
                extents[dim] = if r.chance(50) { 3 } else { extents[dim] / 2 };
            }
            if rank > 1 && extents.contains(&0) && r.chance(10) {
                // An array without elements can have any extents.
                let dim = r.below(rank);
                if extents[dim] != 0 {
                    extents[dim] = r.pick(&[1 << 20, 1 << 31, (1 << 32) + 1, 1 << 40]);
                }
            }
            let kind = r.pick(&[Kind::Small, Kind::Small, Kind::Spread, Kind::Spread, Kind::Special]);
            Given { elem, extents, data: Data::Made { seed: r.next() >> 32, kind } }
        })
        .collect()
}

fn extent(r: &mut Random, limits: Limits) -> usize {
    let most = limits.extent;
    if most > 1000 && r.chance(60) {
        return r.pick(&[100_003, 65_536, 50_000, 8_191, 4_096, 1_000]);
    }
    if most > 100 && r.chance(60) {
        return r.pick(&[16, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129]);
    }
    r.pick(&[0, 1, 1, 2, 2, 3, 3, 4, 5, most.min(9)])
}

/// A block with the definition only, and the arrays around it, which become its arguments.
pub fn alone(def: &Def, level: Arr, types: &[Ty]) -> (Block, Vec<Arr>) {
    let used = def.step.arrays(level);
    let mut def = def.clone();
    def.step.arrays_mut(&mut |a| {
        *a = match used.binary_search(a) {
            Ok(place) => place,
            Err(_) => *a - level + used.len(),
        }
    });
    let results = (used.len()..used.len() + def.tys.len()).collect();
    (Block { params: used.iter().map(|a| types[*a].clone()).collect(), defs: vec![def], results }, used)
}

/// The extents of an operation's result, if the operation contains them.
fn shape(step: &Step) -> Option<&Fun> {
    match step {
        Step::Generate { shape, .. }
        | Step::Fill { shape, .. }
        | Step::EnumFromN { shape, .. }
        | Step::Backpermute { shape, .. }
        | Step::Reshape { shape, .. }
        | Step::Replicate { extents: shape, .. } => Some(shape),
        _ => None,
    }
}

/// The outcome of a definition on the interpreter.
pub enum Tried {
    Done(Vec<RawArray>),
    Failed,
    /// It would need too much memory.
    TooLarge,
}

/// Runs one definition on the values of the arrays around it.
pub fn attempt(def: &Def, types: &[Ty], values: &[RawArray], most: usize) -> Tried {
    let level = types.len();
    let run = |def: &Def| -> Result<Vec<RawArray>, Error> {
        let (block, used) = alone(def, level, types);
        let argument = used.iter().map(|a| values[*a].clone()).collect();
        let result = Interpreter.compile(&build(&block, None)?)?.run(&argument)?;
        Ok(result.leaves().into_iter().cloned().collect())
    };
    if let Some(shape) = shape(&def.step) {
        let rank = shape.results.len();
        if rank > 0 {
            // The extents as numbers.
            let mut f = shape.clone();
            let parts = f.results.clone();
            let elem = if rank == 1 { Elem::I64 } else { Elem::Tuple(vec![Elem::I64; rank]) };
            if rank > 1 {
                f.nodes.push((elem.clone(), Node::Tuple(parts)));
                f.results = vec![f.nodes.len() - 1];
            }
            let nothing = Fun { params: vec![], nodes: vec![], results: vec![] };
            let extents = Def { tys: vec![Ty::new(0, elem)], step: Step::Generate { shape: nothing, f } };
            let found = match run(&extents) {
                Ok(found) => found,
                Err(_) => return Tried::Failed,
            };
            let one = |c: &accel::repr::Column| match c.get(0) {
                Some(Scalar::I64(n)) => n.max(0),
                other => panic!("an extent of {other:?}"),
            };
            let size = found[0].columns.iter().map(one).fold(1i64, i64::saturating_mul);
            let by = match &def.step {
                Step::Replicate { x, .. } => values[*x].size(),
                _ => 1,
            };
            if usize::try_from(size).unwrap_or(usize::MAX).saturating_mul(by) > most {
                return Tried::TooLarge;
            }
        }
    }
    // An array without elements can have very many rows.
    if let Step::Fold { x, all: false, .. }
    | Step::Reduce { x, all: false, .. }
    | Step::Scan { x, .. }
    | Step::ScanEx { x, .. }
    | Step::Product { x, .. } = &def.step
        && values[*x].extents.iter().any(|n| *n > most)
    {
        return Tried::TooLarge;
    }
    if let Step::Product { what: Product::Matmul, x, y } = &def.step {
        let (n, p) = (values[*x].extents[0], values[*y].extents[1]);
        if n.saturating_mul(p).saturating_mul(values[*x].extents[1]) > most.clamp(20_000, 100_000) {
            return Tried::TooLarge;
        }
    }
    match run(def) {
        Ok(arrays) if arrays.iter().all(|a| a.size() <= most) => Tried::Done(arrays),
        Ok(_) => Tried::TooLarge,
        Err(_) => Tried::Failed,
    }
}

/// The values of all arrays of a program, until one of them fails; `None` if they would need too much memory.
pub fn values(p: &Program) -> Option<Vec<RawArray>> {
    let mut values: Vec<RawArray> = p.inputs.iter().map(Given::raw).collect();
    let mut types = p.body.params.clone();
    for def in &p.body.defs {
        match attempt(def, &types, &values, 1 << 18) {
            Tried::Done(arrays) => values.extend(arrays),
            Tried::Failed => break,
            Tried::TooLarge => return None,
        }
        types.extend(def.tys.iter().cloned());
    }
    Some(values)
}

/// Makes a definition after others.
pub struct Maker {
    pub r: Random,
    pub types: Vec<Ty>,
    pub values: Vec<RawArray>,
    pub palette: Vec<Elem>,
    limits: Limits,
    /// Of a small program.
    features: Option<Features>,
    /// The number of loops around the current place.
    depth: usize,
}

impl Maker {
    pub fn new(r: Random, inputs: &[Given], palette: Vec<Elem>, limits: Limits, features: Option<Features>) -> Maker {
        let (types, values) = inputs.iter().map(|given| (given.ty(), given.raw())).unzip();
        Maker { r, types, values, palette, limits, features, depth: 0 }
    }

    /// What the generator chooses from: `all`, or in small programs what their features have.
    pub fn of<T: ?Sized>(&self, all: &'static T, of_small: impl FnOnce(Features) -> &'static T) -> &'static T {
        self.features.map_or(all, of_small)
    }

    pub fn is_small(&self) -> bool {
        self.features.is_some()
    }

    /// How indices out of bounds are handled: one of these ways that the program may contain.
    pub fn outside(&mut self, from: &[Outside]) -> Outside {
        let checked = self.features.is_some_and(|f| !f.unchecked);
        let allowed: Vec<_> = from.iter().copied().filter(|way| !checked || *way != Outside::Fails).collect();
        self.r.pick(&allowed)
    }

    pub fn attempt(&mut self, def: &Def) -> Tried {
        match self.features {
            None => attempt(def, &self.types, &self.values, self.limits.elements),
            Some(features) => self.attempt_plainly(def, features),
        }
    }

    /// Adds the arrays of a definition.
    pub fn define(&mut self, def: &Def, arrays: Vec<RawArray>) {
        self.values.extend(arrays);
        self.types.extend(def.tys.iter().cloned());
    }

    pub fn defs(&mut self, wanted: usize) -> Vec<Def> {
        let mut defs = vec![];
        for _ in 0..6 * wanted {
            if defs.len() >= wanted {
                break;
            }
            let Some(def) = self.def() else { continue };
            if let Tried::Done(arrays) = self.attempt(&def) {
                self.define(&def, arrays);
                defs.push(def);
            }
        }
        defs
    }

    /// A definition that fails: often one that combines arrays of different extents.
    fn failing(&mut self) -> Option<Def> {
        let apart = self.r.chance(40);
        (0..if apart { 400 } else { 60 }).find_map(|_| {
            let def = self.def()?;
            let combines = matches!(
                def.step,
                Step::ZipWith { .. }
                    | Step::ZipWith3 { .. }
                    | Step::Zip { .. }
                    | Step::Zip3 { .. }
                    | Step::SortByKey { .. }
                    | Step::Product { .. }
                    | Step::Concat { .. }
            );
            if apart && !combines {
                return None;
            }
            matches!(self.attempt(&def), Tried::Failed).then_some(def)
        })
    }

    /// Some of the arrays, mostly those that nothing else uses.
    pub fn results(&mut self, params: usize, defs: &[Def]) -> Vec<Arr> {
        let all = params + defs.iter().map(|d| d.tys.len()).sum::<usize>();
        let mut used = vec![false; all];
        let mut level = params;
        for def in defs {
            def.step.arrays(level).into_iter().for_each(|a| used[a] = true);
            level += def.tys.len();
        }
        let mut free: Vec<Arr> = (params.min(all.saturating_sub(1))..all).filter(|a| !used[*a]).collect();
        while free.len() > 6 {
            let k = self.r.below(free.len());
            free.remove(k);
        }
        let extra = if self.r.chance(30) { 1 + self.r.below(2) } else { 0 };
        for _ in 0..extra {
            free.push(self.r.below(all));
        }
        if free.is_empty() {
            free.push(all - 1);
        }
        free
    }

    /// An array with a type that fits. Later ones are more likely.
    pub fn array(&mut self, fits: impl Fn(&Ty) -> bool) -> Option<(Arr, Ty)> {
        let all: Vec<Arr> = (0..self.types.len()).filter(|k| fits(&self.types[*k])).collect();
        self.one_of(&all)
    }

    fn one_of(&mut self, all: &[Arr]) -> Option<(Arr, Ty)> {
        if all.is_empty() {
            return None;
        }
        let from = if self.r.chance(50) { all.len().saturating_sub(3) } else { 0 };
        let a = self.r.pick(&all[from..]);
        Some((a, self.types[a].clone()))
    }

    /// An array to combine with `x`: mostly with the same extents, if there is one.
    fn partner(&mut self, x: Arr, fits: impl Fn(&Ty) -> bool) -> Option<(Arr, Ty)> {
        let all: Vec<Arr> = (0..self.types.len()).filter(|k| fits(&self.types[*k])).collect();
        let same: Vec<Arr> =
            all.iter().copied().filter(|k| self.values[*k].extents == self.values[x].extents).collect();
        if self.r.chance(85) && !same.is_empty() { self.one_of(&same) } else { self.one_of(&all) }
    }

    pub fn elem(&mut self) -> Elem {
        self.r.pick(&self.palette.clone())
    }

    fn operator(&mut self, elem: &Elem, commutes: bool) -> Operator {
        let leaves = elem.leaves();
        // A permutation may also replace elements.
        if commutes && self.is_small() && self.r.chance(15) {
            return Operator::First;
        }
        if !commutes && self.r.chance(25) {
            match self.r.below(4) {
                0 => return Operator::First,
                1 => return Operator::Second,
                2 => return Operator::ArgMax,
                _ => {
                    if let Elem::Tuple(parts) = elem
                        && let [Elem::One(p), Elem::One(q)] = parts[..]
                        && p == q
                        && p.is_num()
                    {
                        return Operator::Affine;
                    }
                }
            }
        }
        use Basic::*;
        let one = |r: &mut Random, p: &Prim| match p {
            Prim::Bool => r.pick(&[And, Or, Xor]),
            p if p.is_float() => r.pick(&[Add, Add, Add, Mul, Min, Max, General]),
            _ => r.pick(&[Add, Add, Mul, Min, Max, And, Or, Xor, General]),
        };
        Operator::Each(leaves.iter().map(|p| one(&mut self.r, p)).collect())
    }

    fn def(&mut self) -> Option<Def> {
        let step = self.step()?;
        let tys = self.result_types(&step)?;
        // Tuples side by side need no more components than there are functions for.
        let fits = |e: &Elem| e.leaves().len() <= 8;
        let rank = if self.is_small() { 2 } else { 4 };
        tys.iter().all(|t| t.rank <= rank && fits(&t.elem)).then_some(Def { tys, step })
    }

    /// The types of the arrays that an operation defines.
    fn result_types(&self, step: &Step) -> Option<Vec<Ty>> {
        let ty = |a: &Arr| self.types[*a].clone();
        let elem = |f: &Fun| f.elem(&[], f.results[0]);
        let tuple = |parts: &[&Arr]| Elem::Tuple(parts.iter().map(|a| self.types[**a].elem.clone()).collect());
        Some(match step {
            Step::Use(given) => vec![given.ty()],
            Step::Generate { shape, f } => vec![Ty::new(shape.results.len(), elem(f))],
            Step::Fill { shape, x } => vec![Ty::new(shape.results.len(), elem(x))],
            Step::EnumFromN { shape, start } => vec![Ty::new(shape.results.len(), elem(start))],
            Step::Map { f, x } | Step::Imap { f, x } | Step::ZipWith { f, x, .. } | Step::ZipWith3 { f, x, .. } => {
                vec![Ty::new(ty(x).rank, elem(f))]
            }
            Step::Zip { x, y, .. } => vec![Ty::new(ty(x).rank, tuple(&[x, y]))],
            Step::Zip3 { x, y, z, .. } => vec![Ty::new(ty(x).rank, tuple(&[x, y, z]))],
            Step::Unzip { x } | Step::Unzip3 { x } => match ty(x).elem {
                Elem::Tuple(parts) => parts.into_iter().map(|e| Ty::new(ty(x).rank, e)).collect(),
                Elem::One(_) => return None,
            },
            Step::Fold { all, x, .. } | Step::Reduce { all, x, .. } => {
                vec![Ty::new(if *all { 0 } else { ty(x).rank - 1 }, ty(x).elem)]
            }
            Step::Sort { what: Sort::Positions | Sort::PositionsDescending, x } => vec![Ty::new(ty(x).rank, Elem::I64)],
            Step::SortByKey { x, y, .. } => vec![ty(x), ty(y)],
            Step::ScanEx { x, .. } => vec![ty(x), Ty::new(ty(x).rank - 1, ty(x).elem)],
            Step::Scan { x, .. }
            | Step::Rearrange { x, .. }
            | Step::Sort { x, .. }
            | Step::Take { x, .. }
            | Step::Skip { x, .. }
            | Step::Concat { x, .. }
            | Step::Scatter { defaults: x, .. }
            | Step::Permute { defaults: x, .. } => vec![ty(x)],
            Step::Backpermute { shape, x, .. } | Step::Reshape { shape, x } => {
                vec![Ty::new(shape.results.len(), ty(x).elem)]
            }
            Step::Gather { from, x } => vec![Ty::new(ty(from).rank, ty(x).elem)],
            Step::Flatten { x } => vec![Ty::new(1, ty(x).elem)],
            Step::Replicate { new, x, .. } => vec![Ty::new(new.len(), ty(x).elem)],
            Step::Slice { gone, x, .. } => vec![Ty::new(gone.iter().filter(|g| !**g).count(), ty(x).elem)],
            Step::Product { what, x, .. } => {
                let rank = match what {
                    Product::Dot => 0,
                    Product::Matvec => 1,
                    Product::Matmul => 2,
                };
                vec![Ty::new(rank, ty(x).elem)]
            }
            Step::Acond { then, .. } => then.iter().map(ty).collect(),
            Step::Awhile { init, .. } => init.iter().map(ty).collect(),
            Step::Call { program, .. } => {
                let types = program.types();
                program.results.iter().map(|a| types[*a].clone()).collect()
            }
        })
    }

    /// Whether different extents are an error.
    fn strict(&mut self) -> bool {
        !self.is_small() && self.r.chance(50)
    }
    fn start(&mut self, elem: &Elem) -> Option<Fun> {
        self.r.chance(65).then(|| self.small_fun(elem))
    }
    /// A function of few operations, without parameters.
    fn small_fun(&mut self, elem: &Elem) -> Fun {
        let n = self.r.below(3);
        self.fun(&[], std::slice::from_ref(elem), n)
    }
    pub fn sized_fun(&mut self, params: &[Elem], results: &[Elem]) -> Fun {
        let all = &[0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 12];
        let n = self.r.pick(self.of(&all[..], |_| &[1, 2, 3, 4, 5, 6, 8, 12]));
        self.fun(params, results, n)
    }

    fn step(&mut self) -> Option<Step> {
        let any = |_: &Ty| true;
        let rows = |t: &Ty| t.rank > 0;
        let number = |t: &Ty| t.elem.prim().is_some_and(Prim::is_num);
        let kind = self.r.below(if self.depth < 2 { 100 } else { 88 });
        Some(match kind {
            0..=8 => {
                let rank = self.r.pick(&[0, 1, 1, 1, 2, 2, 2, 3, 4]);
                let (shape, elem) = (self.shape(rank), self.elem());
                let params = vec![Elem::I64; rank];
                let f = if self.r.chance(40) { self.reads(rank, &elem) } else { None };
                Step::Generate { shape, f: f.unwrap_or_else(|| self.sized_fun(&params, &[elem])) }
            }
            9 => {
                let rank = self.r.below(4);
                let elem = self.elem();
                Step::Fill { shape: self.shape(rank), x: self.small_fun(&elem) }
            }
            10 => {
                let rank = self.r.below(4);
                let all = &[Prim::I64, Prim::F64, Prim::F32, Prim::U8, Prim::I32, Prim::U64];
                let p = self.r.pick(self.of(&all[..], |_| &all[..2]));
                Step::EnumFromN { shape: self.shape(rank), start: self.small_fun(&Elem::One(p)) }
            }
            11..=20 => {
                let (x, ty) = self.array(any)?;
                let elem = if self.r.chance(40) { ty.elem.clone() } else { self.elem() };
                Step::Map { f: self.sized_fun(&[ty.elem], &[elem]), x }
            }
            21..=23 => {
                let (x, ty) = self.array(any)?;
                let params = [vec![Elem::I64; ty.rank], vec![ty.elem.clone()]].concat();
                let elem = self.elem();
                Step::Imap { f: self.sized_fun(&params, &[elem]), x }
            }
            24..=31 => {
                let (x, a) = self.array(any)?;
                let (y, b) = self.partner(x, |b| b.rank == a.rank)?;
                let elem = self.elem();
                Step::ZipWith { strict: self.strict(), f: self.sized_fun(&[a.elem, b.elem], &[elem]), x, y }
            }
            32 => {
                let (x, a) = self.array(any)?;
                let (y, b) = self.partner(x, |b| b.rank == a.rank)?;
                let (z, c) = self.partner(x, |b| b.rank == a.rank)?;
                let f = self.sized_fun(&[a.elem.clone(), b.elem, c.elem], &[a.elem]);
                Step::ZipWith3 { strict: self.strict(), f, x, y, z }
            }
            33 | 34 => {
                let (x, a) = self.array(any)?;
                let (y, _) = self.partner(x, |b| b.rank == a.rank)?;
                Step::Zip { strict: self.strict(), x, y }
            }
            35 => {
                let (x, a) = self.array(any)?;
                let (y, _) = self.partner(x, |b| b.rank == a.rank)?;
                let (z, _) = self.partner(x, |b| b.rank == a.rank)?;
                Step::Zip3 { strict: self.strict(), x, y, z }
            }
            36 => {
                let (x, ty) = self.array(|t| matches!(&t.elem, Elem::Tuple(p) if p.len() < 4))?;
                let Elem::Tuple(parts) = ty.elem else { return None };
                if parts.len() == 2 { Step::Unzip { x } } else { Step::Unzip3 { x } }
            }
            37..=43 => {
                let all = self.r.chance(20);
                let (x, ty) = self.array(|t| all || t.rank > 0)?;
                let (op, z) = (self.operator(&ty.elem, false), self.start(&ty.elem));
                Step::Fold { op, z, all, x }
            }
            44..=47 => {
                if self.r.chance(15) {
                    let (x, _) = self.array(|t| t.rank > 0 && t.elem == Elem::BOOL)?;
                    return Some(Step::Reduce { what: self.r.pick(&[Reduce::All, Reduce::Any]), all: false, x });
                }
                let all = self.r.chance(30);
                let (x, _) = self.array(|t| number(t) && (all || t.rank > 0))?;
                let what = self.r.pick(&[Reduce::Sum, Reduce::Sum, Reduce::Product, Reduce::Maximum, Reduce::Minimum]);
                Step::Reduce { what, all, x }
            }
            48..=52 => {
                let (x, ty) = self.array(rows)?;
                let (op, z) = (self.operator(&ty.elem, false), self.start(&ty.elem));
                Step::Scan { op, z, right: self.r.chance(40), x }
            }
            53 | 54 => {
                let (x, ty) = self.array(rows)?;
                let (op, z) = (self.operator(&ty.elem, false), self.small_fun(&ty.elem));
                Step::ScanEx { op, z, right: self.r.chance(40), x }
            }
            55..=59 => {
                let (defaults, ty) = self.array(rows)?;
                let (x, a) = self.array(|a| a.rank > 0 && a.elem == ty.elem)?;
                let (outside, target) = self.index(a.rank, defaults, ty.rank, true);
                Step::Permute { op: self.operator(&ty.elem, true), defaults, outside, target, x }
            }
            60 => {
                let (to, _) = self.array(|t| *t == Ty::new(1, Elem::I64))?;
                let (defaults, ty) = self.array(|t| t.rank == 1)?;
                let (x, _) = self.array(|t| *t == ty)?;
                Step::Scatter { to, defaults, x }
            }
            61..=65 => {
                let (x, ty) = self.array(rows)?;
                let rank = self.r.pick(&[1, 1, 2, 2, 3]);
                let (outside, source) = self.index(rank, x, ty.rank, false);
                let shape = if self.r.chance(50) { self.shape_like(x, rank) } else { self.shape(rank) };
                Step::Backpermute { shape, outside, source, x }
            }
            66 => {
                let (from, _) = self.array(|t| t.elem == Elem::I64)?;
                let (x, _) = self.array(|t| t.rank == 1)?;
                Step::Gather { from, x }
            }
            67..=69 => {
                let (x, ty) = self.array(any)?;
                Step::Reshape { shape: self.regrouped(x, ty.rank), x }
            }
            70 => Step::Flatten { x: self.array(any)?.0 },
            71..=73 => {
                let (x, ty) = self.array(|t| t.rank < 4)?;
                let ways: Vec<&[bool]> = super::surface::DIMENSIONS
                    .iter()
                    .copied()
                    .filter(|w| w.iter().filter(|b| !**b).count() == ty.rank)
                    .collect();
                let new = self.r.pick(&ways).to_vec();
                let extents = self.shape(new.iter().filter(|b| **b).count());
                Step::Replicate { new, extents, x }
            }
            74..=76 => {
                let (x, ty) = self.array(rows)?;
                let ways: Vec<&[bool]> =
                    super::surface::DIMENSIONS.iter().copied().filter(|w| w.len() == ty.rank).collect();
                let gone = self.r.pick(&ways).to_vec();
                let indices = self.inside(x, &gone);
                Step::Slice { gone, indices, x }
            }
            77..=79 => {
                let (x, ty) = self.array(rows)?;
                use Rearrange::*;
                let what = if ty.rank == 2 {
                    self.r.pick(&[Transpose, Transpose, Reverse, Init, Tail, Turned])
                } else {
                    self.r.pick(&[Reverse, Init, Tail, Turned])
                };
                Step::Rearrange { what, x }
            }
            80..=82 => {
                let (x, _) = self.array(rows)?;
                let n = self.count();
                if self.r.chance(50) { Step::Take { n, x } } else { Step::Skip { n, x } }
            }
            83 => {
                let (x, ty) = self.array(rows)?;
                let (y, _) = self.array(|t| *t == ty)?;
                Step::Concat { x, y }
            }
            84..=86 => {
                let (x, ty) = self.array(|t| number(t) && (t.rank == 1 || t.rank == 2))?;
                let (what, (y, _)) = if ty.rank == 1 {
                    (Product::Dot, self.partner(x, |t| *t == ty)?)
                } else if self.features.is_some_and(|f| !f.matrices) {
                    return None;
                } else if self.r.chance(50) {
                    (Product::Matvec, self.array(|t| *t == Ty::new(1, ty.elem.clone()))?)
                } else {
                    (Product::Matmul, self.array(|t| *t == ty)?)
                };
                Step::Product { what, x, y }
            }
            87 => {
                let elem = self.elem();
                let rank = self.r.below(3);
                let extents: Vec<usize> = (0..rank).map(|_| self.r.below(4)).collect();
                if self.is_small() {
                    return Some(Step::Use(small::given(&mut self.r, elem, extents)));
                }
                let data = Data::Made {
                    seed: self.r.next() >> 32,
                    kind: self.r.pick(&[Kind::Small, Kind::Spread, Kind::Special]),
                };
                Step::Use(Given { elem, extents, data })
            }
            88 | 89 => {
                let (x, _) = self.array(|t| t.rank > 0 && matches!(t.elem, Elem::One(_)))?;
                use Sort::*;
                let what = self.r.pick(&[Positions, PositionsDescending, Elements, ElementsDescending]);
                Step::Sort { what, x }
            }
            90 => {
                let (x, ty) = self.array(|t| t.rank > 0 && matches!(t.elem, Elem::One(_)))?;
                let (y, _) = self.partner(x, |t| t.rank == ty.rank)?;
                Step::SortByKey { descending: self.r.chance(40), x, y }
            }
            91..=93 => {
                let n = self.r.pick(&[1, 1, 2, 3]);
                let (mut then, mut otherwise) = (vec![], vec![]);
                for _ in 0..n {
                    let (x, ty) = self.array(any)?;
                    then.push(x);
                    otherwise.push(self.array(|t| *t == ty)?.0);
                }
                Step::Acond { c: self.small_fun(&Elem::BOOL), then, otherwise }
            }
            94..=97 => self.awhile()?,
            _ => self.call()?,
        })
    }

    /// What `make` makes in the body of a loop with this initial state. It gets the level of the body: there is the number of the step, and
    /// the state behind it. The first step tries the body.
    pub fn in_body<T>(&mut self, init: &[Arr], make: impl FnOnce(&mut Maker, Arr) -> T) -> T {
        let level = self.types.len();
        let state: Vec<Ty> = init.iter().map(|a| self.types[*a].clone()).collect();
        self.types.push(Ty::new(0, Elem::I64));
        self.types.extend(state);
        self.values.push(RawArray {
            extents: [].into_iter().collect(),
            columns: [accel::repr::Column::from(vec![0i64])].into_iter().collect(),
        });
        let first: Vec<RawArray> = init.iter().map(|a| self.values[*a].clone()).collect();
        self.values.extend(first);
        self.depth += 1;
        let made = make(self, level);
        self.depth -= 1;
        self.types.truncate(level);
        self.values.truncate(level);
        made
    }

    fn awhile(&mut self) -> Option<Step> {
        let n = self.r.pick(&[1, 1, 1, 2, 2, 3]);
        let init: Vec<Arr> = (0..n).map(|_| self.array(|_| true).map(|x| x.0)).collect::<Option<_>>()?;
        let (continues, body, grows, changes) = self.in_body(&init, |m, level| {
            let params: Vec<Ty> = m.types[level..].to_vec();
            let first = m.values[level + 1..].to_vec();
            let continues = m.continues();
            let steps = 1 + m.r.below(if m.limits.elements > 10_000 { 2 } else { 5 });
            let defs = m.defs(steps);
            let results: Option<Vec<Arr>> = params[1..]
                .iter()
                .map(|ty| {
                    let all: Vec<Arr> = (level..m.types.len()).filter(|a| m.types[*a] == *ty).collect();
                    m.one_of(&all).map(|x| x.0)
                })
                .collect();
            let both = || results.iter().flatten().zip(&first).map(|(a, first)| (&m.values[*a], first));
            let grows = both().any(|(a, first)| a.size() > first.size());
            let changes = both().any(|(a, first)| a.extents != first.extents);
            results.map(|results| (continues, Block { params, defs, results }, grows, changes))
        })?;
        // Reverse mode fails where extents change.
        if changes && self.features.is_some_and(|f| f.smooth) && self.r.chance(80) {
            return None;
        }
        // A step that takes long must not be executed often.
        let slow = self.limits.elements > 1000;
        let times = if grows || slow || self.r.chance(60) {
            let n = self.r.below(if grows || slow { 3 } else { 5 }) as i64;
            constant(Number(Scalar::I64(n)))
        } else {
            self.count()
        };
        Some(Step::Awhile { times, continues, init, body })
    }

    /// The condition of a loop: mostly none.
    pub fn continues(&mut self) -> Fun {
        if self.r.chance(60) { truth() } else { self.small_fun(&Elem::BOOL) }
    }

    /// A call of another random program.
    fn call(&mut self) -> Option<Step> {
        let n = 1 + self.r.below(2);
        let args: Vec<Arr> = (0..n).map(|_| self.array(|_| true).map(|x| x.0)).collect::<Option<_>>()?;
        let params: Vec<Ty> = args.iter().map(|a| self.types[*a].clone()).collect();
        let values = args.iter().map(|a| self.values[*a].clone()).collect();
        let seed = self.r.next();
        let mut inner = Maker {
            r: Random::new(seed),
            types: params.clone(),
            values,
            palette: self.palette.clone(),
            limits: self.limits,
            features: self.features,
            depth: self.depth + 1,
        };
        let steps = 1 + self.r.below(3);
        let defs = inner.defs(steps);
        let all = inner.types.len();
        let results = (0..1 + self.r.below(2)).map(|_| all - 1 - self.r.below(2).min(all - 1)).collect();
        Some(Step::Call { program: Block { params, defs, results }, args })
    }

    /// A constant, or a small number of the program.
    pub fn count(&mut self) -> Fun {
        if self.r.chance(40) {
            return constant(Number(Scalar::I64(self.r.below(9) as i64 - 2)));
        }
        let mut f = self.fun(&[], &[Elem::I64], 1);
        if self.r.chance(60) {
            let k = self.r.pick(&[2, 3, 5, 7, 20]);
            let most = f.nodes.len();
            f.nodes.push((Elem::I64, Node::Const(vec![Number(Scalar::I64(k))])));
            f.nodes.push((Elem::I64, Node::Op2(Op2::Int(Int2::RemEuclid), f.results[0], most)));
            f.results = vec![f.nodes.len() - 1];
        }
        f
    }

    /// Extents.
    pub fn shape(&mut self, rank: usize) -> Fun {
        let mut f = Fun { params: vec![], nodes: vec![], results: vec![] };
        let dims: Vec<Val> = (0..rank).map(|_| self.extent(&mut f, rank)).collect();
        f.results = dims;
        f
    }

    fn extent(&mut self, f: &mut Fun, rank: usize) -> Val {
        fn add(f: &mut Fun, node: Node) -> Val {
            f.nodes.push((Elem::I64, node));
            f.nodes.len() - 1
        }
        fn int(f: &mut Fun, x: i64) -> Val {
            add(f, Node::Const(vec![Number(Scalar::I64(x))]))
        }
        let small = if rank > 2 { 3 } else { 5 };
        let dimension = |m: &mut Maker, f: &mut Fun| match m.array(|t| t.rank > 0) {
            Some((array, ty)) => {
                let dim = m.r.below(ty.rank);
                add(f, Node::Extent { array, dim })
            }
            None => int(f, 2),
        };
        let two = |op, a, b| Node::Op2(op, a, b);
        match self.r.below(20) {
            0..=5 => {
                let n = self.r.below(small) + usize::from(self.r.chance(60));
                int(f, n as i64)
            }
            6 => {
                let large = extent(&mut self.r, self.limits) as i64;
                int(f, large)
            }
            7..=12 => dimension(self, f),
            13 | 14 => {
                let (n, k) = (dimension(self, f), self.r.pick(&[-2, -1, 1, 2, 7]));
                let k = int(f, k);
                add(f, two(Op2::Num(Num2::Add), n, k))
            }
            15 => {
                let (n, m) = (dimension(self, f), dimension(self, f));
                add(f, two(Op2::Num(Num2::Mul), n, m))
            }
            16 => {
                let (n, k) = (dimension(self, f), self.r.pick(&[2, 3, 4]));
                let k = int(f, k);
                let op = self.r.pick(&[
                    Op2::Num(Num2::Div),
                    Op2::Int(Int2::DivEuclid),
                    Op2::Num(Num2::Mul),
                    Op2::Num(Num2::Rem),
                ]);
                add(f, two(op, n, k))
            }
            17 => {
                let (n, m) = (dimension(self, f), dimension(self, f));
                let op = self.r.pick(&[Num2::Min, Num2::Max, Num2::Sub, Num2::Add]);
                add(f, two(Op2::Num(op), n, m))
            }
            18 => match self.array(|_| true) {
                Some((array, _)) => add(f, Node::Size(array)),
                None => int(f, 1),
            },
            // Extents read from an array.
            _ => match self.array(|t| t.elem == Elem::I64) {
                Some((array, ty)) => {
                    let zero = int(f, 0);
                    let read = add(f, Node::Read { array, index: vec![zero; ty.rank], outside: Outside::Wraps });
                    let k = int(f, self.r.pick(&[2, 4, 7]));
                    add(f, two(Op2::Int(Int2::RemEuclid), read, k))
                }
                None => int(f, 3),
            },
        }
    }

    /// Extents as those of an array, as far as it has them.
    fn shape_like(&mut self, array: Arr, rank: usize) -> Fun {
        let mut f = self.shape(rank);
        let dims = self.types[array].rank;
        for k in 0..rank {
            if dims > 0 {
                f.nodes.push((Elem::I64, Node::Extent { array, dim: k.min(dims - 1) }));
                f.results[k] = f.nodes.len() - 1;
            }
        }
        f
    }

    /// A shape with as many elements as an array has.
    fn regrouped(&mut self, array: Arr, rank: usize) -> Fun {
        let mut f = Fun { params: vec![], nodes: vec![], results: vec![] };
        let mut dims: Vec<Val> = (0..rank).collect();
        f.nodes.extend(dims.iter().map(|dim| (Elem::I64, Node::Extent { array, dim: *dim })));
        for _ in 0..self.r.below(3) {
            match self.r.below(3) {
                0 if dims.len() > 1 => {
                    let k = self.r.below(dims.len() - 1);
                    let b = dims.remove(k + 1);
                    f.nodes.push((Elem::I64, Node::Op2(Op2::Num(Num2::Mul), dims[k], b)));
                    dims[k] = f.nodes.len() - 1;
                }
                1 if dims.len() < 4 => {
                    f.nodes.push((Elem::I64, Node::Const(vec![Number(Scalar::I64(1))])));
                    let k = self.r.below(dims.len() + 1);
                    dims.insert(k, f.nodes.len() - 1);
                }
                _ if dims.len() > 1 => {
                    let (j, k) = (self.r.below(dims.len()), self.r.below(dims.len()));
                    dims.swap(j, k);
                }
                _ => {}
            }
        }
        f.results = dims;
        f
    }

    /// Indices within some dimensions of an array; it mostly has elements.
    fn inside(&mut self, array: Arr, which: &[bool]) -> Fun {
        let mut f = Fun { params: vec![], nodes: vec![], results: vec![] };
        for dim in (0..which.len()).filter(|k| which[*k]) {
            let i = match self.r.below(4) {
                0 => {
                    let g = self.fun(&[], &[Elem::I64], 1);
                    // The only function here that has its own definitions comes first.
                    if f.nodes.is_empty() {
                        f = g;
                        f.results.pop().expect("a result")
                    } else {
                        0
                    }
                }
                _ => {
                    let i = self.r.below(4) as i64 - 1;
                    f.nodes.push((Elem::I64, Node::Const(vec![Number(Scalar::I64(i))])));
                    f.nodes.len() - 1
                }
            };
            if self.r.chance(85) && f.nodes.get(i).is_some_and(|n| n.0 == Elem::I64) {
                let n = f.nodes.len();
                f.nodes.push((Elem::I64, Node::Extent { array, dim }));
                f.nodes.push((Elem::I64, Node::Const(vec![Number(Scalar::I64(1))])));
                f.nodes.push((Elem::I64, Node::Op2(Op2::Num(Num2::Max), n, n + 1)));
                f.nodes.push((Elem::I64, Node::Op2(Op2::Int(Int2::RemEuclid), i, n + 2)));
                f.results.push(n + 3);
            } else {
                f.nodes.push((Elem::I64, Node::Const(vec![Number(Scalar::I64(0))])));
                f.results.push(f.nodes.len() - 1);
            }
        }
        f
    }

    /// The types of scalars.
    pub fn prims(&self) -> &'static [Prim] {
        self.of(&Prim::ALL, |_| PRIMS)
    }

    /// A number for scalar code.
    pub fn number(&mut self, p: Prim) -> Number {
        if self.is_small() {
            return small::number(&mut self.r, p);
        }
        let kind = self.r.pick(&[Kind::Small, Kind::Small, Kind::Small, Kind::Spread, Kind::Special]);
        number(&mut self.r, p, kind)
    }

    pub fn tuples(&self) -> Vec<Elem> {
        self.palette.iter().filter(|e| matches!(e, Elem::Tuple(_))).cloned().collect()
    }
}

/// A constant function.
pub fn constant(x: Number) -> Fun {
    Fun { params: vec![], nodes: vec![(Elem::One(x.prim()), Node::Const(vec![x]))], results: vec![0] }
}

fn truth() -> Fun {
    constant(Number(Scalar::Bool(true)))
}

/// An argument from the values of a program's inputs.
pub fn inputs_of(p: &Program) -> ArrayTuple {
    p.inputs.iter().map(Given::raw).collect()
}
