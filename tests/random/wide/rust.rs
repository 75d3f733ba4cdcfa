//! Prints a random program as a Rust program in the surface language, to be pasted into an example.

use super::program::*;
use super::types::{Elem, Given, Prim, Ty};
use accel::repr::op::*;
use std::fmt::Write;

/// The largest number of arguments and of results of a program in Rust.
const MOST: usize = 8;

/// A whole Rust program that runs it on the interpreter and on the default backend; `None` if it has too many arguments
/// or results.
pub fn rust(p: &Program) -> Option<String> {
    let (definitions, arguments) = parts(p)?;
    Some(format!(
        "use accel::prelude::*;\n\nfn main() -> Result<(), Error> {{\n{definitions}    \
         println!(\"{{:?}}\", run_on(&accel::interp::Interpreter, &f, {arguments})?);\n    \
         println!(\"{{:?}}\", run(&f, {arguments})?);\n    Ok(())\n}}\n"
    ))
}

/// A Rust function that runs it on the interpreter.
pub fn function(name: &str, p: &Program) -> Option<String> {
    let (definitions, arguments) = parts(p)?;
    Some(format!(
        "fn {name}() -> Result<ArrayTuple, Error> {{\n{definitions}    \
         Ok(run_on(&accel::interp::Interpreter, &f, {arguments})?.to_tuple())\n}}\n"
    ))
}

/// A module with the programs of some seeds, and `ALL` of them.
pub fn module(seeds: &[u64]) -> String {
    let mut s = String::from(
        "//! What random programs are printed as; `printed_programs_are_right` writes this file and runs it.\nuse accel::prelude::*;\nuse accel::repr::ArrayTuple;\n\n",
    );
    for seed in seeds {
        s += &function(&format!("seed_{seed}"), &super::generate::program(*seed)).expect("a program of few arguments");
        s.push('\n');
    }
    s += "pub const ALL: &[(u64, fn() -> Result<ArrayTuple, Error>)] = &[\n";
    for seed in seeds {
        writeln!(s, "    ({seed}, seed_{seed}),").expect("a string");
    }
    s + "];\n"
}

/// The definitions of the program and its arguments, and the arguments for `run`.
fn parts(p: &Program) -> Option<(String, String)> {
    if p.inputs.len() > MOST || p.body.results.len() > MOST {
        return None;
    }
    let mut s = String::new();
    writeln!(s, "    let f = afun({});", closure(&p.body, 0, 1)).ok()?;
    for (k, given) in p.inputs.iter().enumerate() {
        writeln!(s, "    let a{k} = {}?;", array(given)).ok()?;
    }
    let args: Vec<_> = (0..p.inputs.len()).map(|k| format!("&a{k}")).collect();
    Some((s, tuple(&args)))
}

/// The parts as a tuple; a single part is itself.
fn tuple(parts: &[String]) -> String {
    if let [one] = parts { one.clone() } else { format!("({})", parts.join(", ")) }
}

fn array(given: &Given) -> String {
    let raw = given.raw();
    let elements: Vec<String> = (0..raw.size())
        .map(|i| {
            let mut leaves = raw.columns.iter().map(|c| super::types::Number(c.get(i).expect("an element")).rust());
            literal(&given.elem, &mut leaves)
        })
        .collect();
    let ty = format!("Array::<Dim{}, {}>", given.extents.len(), given.elem);
    format!("{ty}::from_extents(&{:?}, vec![{}])", given.extents, elements.join(", "))
}

fn literal(elem: &Elem, leaves: &mut dyn Iterator<Item = String>) -> String {
    match elem {
        Elem::One(_) => leaves.next().expect("a number for each scalar"),
        Elem::Tuple(parts) => tuple(&parts.iter().map(|e| literal(e, leaves)).collect::<Vec<_>>()),
    }
}

fn pad(depth: usize) -> String {
    "    ".repeat(depth)
}

fn acc(ty: &Ty) -> String {
    format!("Acc<{ty}>")
}

/// The type of an element in closures.
fn exp(elem: &Elem) -> String {
    match elem {
        Elem::One(p) => format!("Exp<{p}>"),
        Elem::Tuple(parts) => tuple(&parts.iter().map(exp).collect::<Vec<_>>()),
    }
}

/// A block as a closure.
fn closure(block: &Block, base: Arr, depth: usize) -> String {
    let params: Vec<_> = block.params.iter().enumerate().map(|(k, ty)| format!("a{}: {}", base + k, acc(ty))).collect();
    format!("|{}| {}", params.join(", "), body(block, base, &[], depth, &tuple))
}

/// The definitions and results of a block, given the types of the arrays around it.
fn body(block: &Block, base: Arr, around: &[Ty], depth: usize, results: &dyn Fn(&[String]) -> String) -> String {
    let mut types = around.to_vec();
    types.extend(block.params.iter().cloned());
    let mut s = String::from("{\n");
    for (def, level) in block.defs.iter().zip(block.levels(base)) {
        let names: Vec<_> = (level..level + def.tys.len()).map(|a| format!("a{a}")).collect();
        let value = Arrays { types: &types, depth: depth + 1 }.step(&def.step, &def.tys, level);
        writeln!(s, "{}let {} = {value};", pad(depth + 1), tuple(&names)).expect("a string");
        types.extend(def.tys.iter().cloned());
    }
    let names: Vec<_> = block.results.iter().map(|a| format!("a{a}")).collect();
    write!(s, "{}{}\n{}}}", pad(depth + 1), results(&names), pad(depth)).expect("a string");
    s
}

struct Arrays<'a> {
    types: &'a [Ty],
    depth: usize,
}

impl Arrays<'_> {
    fn step(&self, step: &Step, tys: &[Ty], level: Arr) -> String {
        let rank = |a: &Arr| self.types[*a].rank;
        // Functions without parameters but with several results, and closures.
        let of = |f: &Fun| self.fun(f, &[], &tuple);
        let on = |f: &Fun, params: &[String]| format!("|{}| {}", params.join(", "), self.fun(f, &[], &tuple));
        let named = |f: &Fun| -> Vec<String> {
            f.params.iter().enumerate().map(|(k, e)| format!("x{k}: {}", exp(e))).collect()
        };
        let index = |n: usize| tuple(&(0..n).map(|k| format!("x{k}")).collect::<Vec<_>>());
        let op = |op: &Operator, a: &Arr| {
            let elem = &self.types[*a].elem;
            format!("|p, q| {}", operator(op, elem))
        };
        let dims = |which: &[bool], f: &Fun| {
            let names: Vec<_> = (0..f.results.len()).map(|k| format!("n{k}")).collect();
            let mut next = names.iter();
            let parts: Vec<_> =
                which.iter().map(|b| if *b { next.next().expect("a number").clone() } else { "All".into() }).collect();
            (format!("let {} = {};", tuple(&names), of(f)), tuple(&parts))
        };
        match step {
            Step::Use(given) => format!("use_(&{}.unwrap())", array(given)),
            Step::Generate { shape, f } => format!("generate({}, {})", of(shape), on(f, &[index(f.params.len())])),
            Step::Fill { shape, x } => format!("fill({}, {})", of(shape), of(x)),
            Step::EnumFromN { shape, start } => {
                format!("enum_from_n::<_, {}>({}, {})", tys[0].elem, of(shape), of(start))
            }
            Step::Map { f, x } => format!("map({}, a{x})", on(f, &named(f))),
            Step::Imap { f, x } => {
                let n = rank(x);
                format!("imap({}, a{x})", on(f, &[index(n), format!("x{n}: {}", exp(&f.params[n]))]))
            }
            Step::ZipWith { strict, f, x, y } => {
                format!("zip_with{}({}, a{x}, a{y})", least(*strict), on(f, &named(f)))
            }
            Step::ZipWith3 { strict, f, x, y, z } => {
                format!("zip_with3{}({}, a{x}, a{y}, a{z})", least(*strict), on(f, &named(f)))
            }
            Step::Zip { strict, x, y } => format!("zip{}(a{x}, a{y})", least(*strict)),
            Step::Zip3 { strict, x, y, z } => format!("zip3{}(a{x}, a{y}, a{z})", least(*strict)),
            Step::Unzip { x } => format!("unzip(a{x})"),
            Step::Unzip3 { x } => format!("unzip3(a{x})"),
            Step::Fold { op: f, z, all, x } => {
                let all = if *all { "_all" } else { "" };
                match z {
                    Some(z) => format!("fold{all}({}, {}, a{x})", op(f, x), of(z)),
                    None => format!("fold1{all}({}, a{x})", op(f, x)),
                }
            }
            Step::Reduce { what, all, x } => {
                let name = format!("{what:?}").to_lowercase();
                format!("{name}{}(a{x})", if *all { "_all" } else { "" })
            }
            Step::Scan { op: f, z, right, x } => {
                let way = if *right { 'r' } else { 'l' };
                match z {
                    Some(z) => format!("scan{way}({}, {}, a{x})", op(f, x), of(z)),
                    None => format!("scan{way}1({}, a{x})", op(f, x)),
                }
            }
            Step::ScanEx { op: f, z, right, x } => {
                format!("scan{}_ex({}, {}, a{x})", if *right { 'r' } else { 'l' }, op(f, x), of(z))
            }
            Step::Permute { op: f, defaults, outside, target, x } => {
                let place = |r: &[String]| {
                    let (allowed, place) = checked(*outside, &r[1..], &self.extents(*defaults));
                    let keep = allowed.map_or(r[0].clone(), |c| format!("{} & {c}", r[0]));
                    format!("({keep}, {})", tuple(&place))
                };
                let target = format!("|{}| {}", index(rank(x)), self.fun(target, &[], &place));
                format!("permute({}, a{defaults}, {target}, a{x})", op(f, x))
            }
            Step::Scatter { to, defaults, x } => format!("scatter(a{to}, a{defaults}, a{x})"),
            Step::Backpermute { shape, outside, source, x } => {
                let extents = self.extents(*x);
                let some = (*outside == Outside::Wraps).then(|| not_empty(&extents)).flatten();
                let shape = self.fun(shape, &[], &|r| match &some {
                    Some(c) => tuple(&r.iter().map(|n| format!("cond({c}, {n}, 0)")).collect::<Vec<_>>()),
                    None => tuple(r),
                });
                let from = self.fun(source, &[], &|r| tuple(&checked(*outside, r, &extents).1));
                format!("backpermute({shape}, |{}| {from}, a{x})", index(tys[0].rank))
            }
            Step::Gather { from, x } => format!("gather(a{from}, a{x})"),
            Step::Reshape { shape, x } => format!("reshape({}, a{x})", of(shape)),
            Step::Flatten { x } => format!("flatten(a{x})"),
            Step::Replicate { new, extents, x } => {
                let (numbers, dims) = dims(new, extents);
                format!(
                    "{{\n{}{numbers}\n{}replicate({dims}, a{x})\n{}}}",
                    pad(self.depth + 1),
                    pad(self.depth + 1),
                    pad(self.depth)
                )
            }
            Step::Slice { gone, indices, x } => {
                let (numbers, dims) = dims(gone, indices);
                format!(
                    "{{\n{}{numbers}\n{}slice({dims}, a{x})\n{}}}",
                    pad(self.depth + 1),
                    pad(self.depth + 1),
                    pad(self.depth)
                )
            }
            Step::Rearrange { what: Rearrange::Turned, x } => format!("super::surface::turned(a{x})"),
            Step::Rearrange { what, x } => format!("{}(a{x})", format!("{what:?}").to_lowercase()),
            Step::Sort { what, x } => {
                let function = match what {
                    Sort::Positions => "argsort",
                    Sort::PositionsDescending => "argsort_descending",
                    Sort::Elements => "sort",
                    Sort::ElementsDescending => "sort_descending",
                };
                format!("{function}(a{x})")
            }
            Step::SortByKey { descending, x, y } => {
                format!("sort_by_key{}(a{x}, a{y})", if *descending { "_descending" } else { "" })
            }
            Step::Take { n, x } => format!("take({}, a{x})", of(n)),
            Step::Skip { n, x } => format!("skip({}, a{x})", of(n)),
            Step::Concat { x, y } => format!("concat(a{x}, a{y})"),
            Step::Product { what, x, y } => format!("{}(a{x}, a{y})", format!("{what:?}").to_lowercase()),
            Step::Acond { c, then, otherwise } => {
                let all = |of: &[Arr]| tuple(&of.iter().map(|a| format!("a{a}")).collect::<Vec<_>>());
                format!("acond({}, {}, {})", of(c), all(then), all(otherwise))
            }
            Step::Awhile { times, continues, init, body: block } => self.awhile(times, continues, init, block, level),
            Step::Call { program, args } => {
                let args = tuple(&args.iter().map(|a| format!("a{a}")).collect::<Vec<_>>());
                format!("call(&afun({}), {args})", closure(program, 0, self.depth))
            }
        }
    }

    fn awhile(&self, times: &Fun, continues: &Fun, init: &[Arr], block: &Block, level: Arr) -> String {
        let (d, inner) = (pad(self.depth), pad(self.depth + 1));
        let names: Vec<_> = (0..block.params.len()).map(|k| format!("a{}", level + k)).collect();
        let types: Vec<_> = block.params.iter().map(acc).collect();
        let open = format!("|({}): ({})|", names.join(", "), types.join(", "));
        let mut around = self.types.to_vec();
        around.extend(block.params.iter().cloned());
        let within = Arrays { types: &around, depth: self.depth + 1 };
        let continues = within.fun(continues, &[], &tuple);
        let k = &names[0];
        let next = |r: &[String]| {
            let all: Vec<_> =
                std::iter::once(format!("map(|k: Exp<i64>| k + 1, {k})")).chain(r.iter().cloned()).collect();
            tuple(&all)
        };
        let steps = body(block, level, self.types, self.depth + 1, &next);
        let first: Vec<_> = std::iter::once("unit(0i64)".into()).chain(init.iter().map(|a| format!("a{a}"))).collect();
        let out: Vec<_> = (1..names.len()).map(|k| format!("r{k}")).collect();
        format!(
            "{{\n{inner}let times = {}.min({MOST_STEPS});\n{inner}let (_, {}) = awhile(\n{inner}{open} the({k}).lt(times) & {continues},\n{inner}{open} {steps},\n{inner}({}),\n{inner});\n{inner}{}\n{d}}}",
            self.fun(times, &[], &tuple),
            out.join(", "),
            first.join(", "),
            tuple(&out),
        )
    }

    fn extents(&self, a: Arr) -> Vec<String> {
        match self.types[a].rank {
            1 => vec![format!("a{a}.shape()")],
            n => (0..n).map(|k| format!("a{a}.shape().{k}")).collect(),
        }
    }

    /// A function as a block, given the types of the values around it.
    fn fun(&self, f: &Fun, outer: &[Elem], results: &dyn Fn(&[String]) -> String) -> String {
        let mut elems = outer.to_vec();
        elems.extend(f.params.iter().cloned());
        let inner = pad(self.depth + 1);
        let mut s = String::from("{\n");
        for (elem, node) in &f.nodes {
            let value = self.node(elem, node, &elems);
            writeln!(s, "{inner}let x{} = {value};", elems.len()).expect("a string");
            elems.push(elem.clone());
        }
        let names: Vec<_> = f.results.iter().map(|v| format!("x{v}")).collect();
        let result = results(&names);
        if f.nodes.is_empty() {
            return if result.starts_with('(') || f.results.len() == 1 { result } else { format!("({result})") };
        }
        write!(s, "{inner}{result}\n{}}}", pad(self.depth)).expect("a string");
        s
    }

    fn node(&self, elem: &Elem, node: &Node, elems: &[Elem]) -> String {
        let unlift = if matches!(elem, Elem::Tuple(_)) { ".unlift()" } else { "" };
        let deeper = Arrays { types: self.types, depth: self.depth + 1 };
        match node {
            Node::Const(leaves) => literal(elem, &mut leaves.iter().map(|x| format!("constant({})", x.rust()))),
            Node::Op1(op, a) => op1(*op, *a),
            Node::Op2(op, a, b) => op2(*op, &format!("x{a}"), &format!("x{b}")),
            Node::Clamp(x, low, high) => format!("x{x}.clamp(x{low}, x{high})"),
            Node::Powi(x, n) => format!("x{x}.powi({n})"),
            Node::Cond(c, a, b) => format!("cond::<{elem}>(x{c}, x{a}, x{b}){unlift}"),
            Node::Tuple(parts) => tuple(&parts.iter().map(|v| format!("x{v}")).collect::<Vec<_>>()),
            Node::Part(x, i) => format!("x{x}.{i}"),
            Node::Read { array, index, outside } => {
                let index: Vec<_> = index.iter().map(|v| format!("x{v}")).collect();
                let (allowed, index) = checked(*outside, &index, &self.extents(*array));
                let read = format!("a{array}.at({})", tuple(&index));
                match allowed {
                    None => read,
                    Some(c) => {
                        let zero = literal(elem, &mut elem.zero().iter().map(|x| format!("constant({})", x.rust())));
                        format!("cond::<{elem}>({c}, {read}, {zero}){unlift}")
                    }
                }
            }
            Node::Extent { array, dim } => self.extents(*array)[*dim].clone(),
            Node::Size(array) => format!("a{array}.len()"),
            Node::While { times, init, continues, body } => {
                let (k, x) = (elems.len(), elems.len() + 1);
                let continues = deeper.fun(continues, elems, &tuple);
                let body = deeper.fun(body, elems, &tuple);
                format!(
                    "while_::<(i64, {elem}), _, _, _>(|(x{k}, x{x})| x{k}.lt(x{times}.min({MOST_STEPS})) & {continues}, |(x{k}, x{x})| (x{k} + 1, {body}), (0i64, x{init})).1"
                )
            }
            Node::Gradient { f, at, with_value } => {
                let name = if *with_value { "value_and_gradient" } else { "gradient" };
                let k = elems.len();
                format!("{name}(|x{k}: {}| {}, x{at})", exp(&f.params[0]), deeper.fun(f, elems, &tuple))
            }
        }
    }
}

fn op1(op: Op1, a: Val) -> String {
    match op {
        Op1::Num(Num1::Neg) => format!("-x{a}"),
        Op1::Not | Op1::Int(Int1::BitNot) => format!("!x{a}"),
        Op1::Cast(t) => format!("x{a}.cast::<{t}>()"),
        Op1::Float(Float1::Log) => format!("x{a}.ln()"),
        Op1::Float(Float1::Log1p) => format!("x{a}.ln_1p()"),
        Op1::Float(Float1::ExpM1) => format!("x{a}.exp_m1()"),
        Op1::Float(Float1::Family(Family::Polygamma, n)) if n > 0 => format!("x{a}.polygamma({n})"),
        op => format!("x{a}.{}()", op.name()),
    }
}

fn op2(op: Op2, a: &str, b: &str) -> String {
    let method = |name: &str| format!("{a}.{name}({b})");
    match op {
        Op2::Cmp(op) => method(match op {
            Cmp::Lt => "lt",
            Cmp::Le => "le",
            Cmp::Gt => "gt",
            Cmp::Ge => "ge",
            Cmp::Eq => "eq",
            Cmp::Ne => "ne",
        }),
        Op2::Logic(Logic::And) => format!("{a} & {b}"),
        Op2::Logic(Logic::Or) => format!("{a} | {b}"),
        Op2::Float(_) | Op2::Num(Num2::Min | Num2::Max) | Op2::Int(Int2::DivEuclid | Int2::RemEuclid) => {
            method(op.name())
        }
        op => format!("{a} {} {b}", op.name()),
    }
}

/// The suffix of the functions that take the smaller extents.
fn least(strict: bool) -> &'static str {
    if strict { "" } else { "_min" }
}

fn not_empty(extents: &[String]) -> Option<String> {
    let all: Vec<_> = extents.iter().map(|n| format!("{n}.ne(0)")).collect();
    (!all.is_empty()).then(|| all.join(" & "))
}

fn checked(outside: Outside, index: &[String], extents: &[String]) -> (Option<String>, Vec<String>) {
    match outside {
        Outside::Fails => (None, index.to_vec()),
        Outside::Wraps => {
            let wrapped = index.iter().zip(extents).map(|(i, n)| format!("{i}.rem_euclid({n}.max(1))")).collect();
            (not_empty(extents), wrapped)
        }
        Outside::Skips => {
            let inside: Vec<_> = index.iter().zip(extents).map(|(i, n)| format!("({i}.ge(0) & {i}.lt({n}))")).collect();
            ((!inside.is_empty()).then(|| inside.join(" & ")), index.to_vec())
        }
    }
}

/// The operator of `p` and `q`.
fn operator(op: &Operator, elem: &Elem) -> String {
    match op {
        // The other one is mentioned for its type.
        Operator::First => format!("{{\n        let _: {} = q;\n        p\n    }}", exp(elem)),
        Operator::Second => format!("{{\n        let _: {} = p;\n        q\n    }}", exp(elem)),
        Operator::Each(ops) => each(elem, &mut ops.iter(), "p", "q"),
        Operator::ArgMax => {
            let mut path = String::new();
            let mut first = elem;
            while let Elem::Tuple(parts) = first {
                path += ".0";
                first = &parts[0];
            }
            let nan = if elem.leaves()[0].is_float() { format!(".or(q{path}.ne(q{path}))") } else { String::new() };
            format!("cond::<{elem}>(p{path}.lt(q{path}){nan}, q, p)")
        }
        Operator::Affine => "(p.0 * q.0, q.0 * p.1 + q.1)".into(),
    }
}

fn each(elem: &Elem, ops: &mut dyn Iterator<Item = &Basic>, a: &str, b: &str) -> String {
    match elem {
        Elem::Tuple(parts) => {
            let parts: Vec<_> =
                parts.iter().enumerate().map(|(k, e)| each(e, ops, &format!("{a}.{k}"), &format!("{b}.{k}"))).collect();
            tuple(&parts)
        }
        Elem::One(p) => match ops.next().expect("an operator for each scalar") {
            Basic::Add => format!("{a} + {b}"),
            Basic::Mul => format!("{a} * {b}"),
            Basic::Min => format!("{a}.min({b})"),
            Basic::Max => format!("{a}.max({b})"),
            Basic::And => format!("{a} & {b}"),
            Basic::Or => format!("{a} | {b}"),
            Basic::Xor if *p == Prim::Bool => format!("{a}.ne({b})"),
            Basic::Xor => format!("{a} ^ {b}"),
            Basic::General => format!("{a} + {b} + {a} * {b}"),
        },
    }
}
