//! Matrix products: calls of a library for sums of products, where this pays. NOTE [Strided products] in `accel_fusion`.

use crate::analysis::fault;
use crate::shared::permute::Permute;
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Reduction, ScalarFn};
use accel_fusion::optimize::{Digit, Factor, StridedProduct, Sum};

/// Declares the variable with the address of the library's function for matrix products. Its parameters are, for each
/// digit, the number of its role, a number that it has in common with the digits with which it collides (or 0), its
/// extent, and its strides in the result, the left and the right operand; the arrays; the factor of all products; and the
/// initial value of the sums, or 0 if they are added to the result; and whether the loops that it replaces are slow. The function
/// returns 0, or -1 if it did nothing because it would be slower, or 1 if it panicked.
fn declaration(t: ScalarType) -> String {
    format!(
        "int (*accel_product_{t})(const i64 (*dims)[6], i64 count, {t} *to, const {t} *left, const {t} *right, {t} factor, const {t} *init, bool slow);"
    )
}

impl Writer<'_> {
    /// Writes calls that compute all rows of a reduction, whose elements are sums of these products, and then returns 0. If the
    /// library does not take the products, execution continues after them. `slow` says whether this is slow.
    pub fn products(&mut self, to: ArrayId, outer: usize, rows: &Reduction, terms: &[StridedProduct], slow: &str) {
        self.braces("do", |w| {
            for (k, p) in terms.iter().enumerate() {
                w.product(to, outer, rows, p, k > 0, slow);
            }
            w.line("return 0;");
        });
        self.line("while (0);");
    }

    fn product(&mut self, to: ArrayId, outer: usize, rows: &Reduction, p: &StridedProduct, adds: bool, slow: &str) {
        // The outer dimensions are those of the result.
        let extent = |k: usize| if k == outer { "task->len".into() } else { format!("task->extents[{k}]") };
        let own: Vec<String> = (0..outer).map(extent).collect();
        let codes: Vec<&ScalarFn> = rows.init.iter().chain([&rows.element]).collect();
        self.strided_product(to, &own, p, &extent, &codes, slow, |w| {
            if adds {
                return "0";
            }
            w.line(format!("{} init = 0;", p.ty));
            if let Some(init) = &rows.init {
                w.code(init, &[], &["init".into()]);
            }
            "&init"
        });
    }

    /// Writes a call that adds all elements of a permute to the result and then returns 0. If the library does not take the
    /// product, execution continues after it.
    pub fn added_product(&mut self, permute: &Permute, p: &StridedProduct) {
        let to = permute.to;
        let own: Vec<String> = (0..self.program.arrays[to].rank).map(|k| format!("a{to}_n{k}")).collect();
        self.braces("do", |w| {
            let codes = [permute.target, permute.element];
            let init = |w: &mut Writer| {
                w.hoist_extents(to);
                "0"
            };
            w.strided_product(to, &own, p, &|k| format!("task->extents[{k}]"), &codes, "1", init);
            w.line("return 0;");
        });
        self.line("while (0);");
    }

    /// Writes a call in a `do` block, which it leaves if the library does not take the product. `own` are the extents of the
    /// result, and `extent` are those of the loop. `init` declares what the call needs, and says where the initial value is.
    #[expect(clippy::too_many_arguments, reason = "the parts of one call")]
    fn strided_product(
        &mut self,
        to: ArrayId,
        own: &[String],
        p: &StridedProduct,
        extent: &dyn Fn(usize) -> String,
        codes: &[&ScalarFn],
        slow: &str,
        init: impl FnOnce(&mut Self) -> &'static str,
    ) {
        let t = p.ty;
        self.declarations.declare_once(&format!("accel_product_{t}"), || declaration(t));
        // In a block, because the following code uses the same names.
        self.braces("", |w| {
            w.hoist(&[codes, &[&p.factor, &p.numbers]].concat());
            w.hoist_output(to, false);
            w.line(format!("{t} factor;"));
            w.code(&p.factor, &[], &["factor".into()]);
            let init = init(w);
            let numbers: Vec<String> = (0..p.numbers.results.len()).map(|k| format!("m{k}")).collect();
            numbers.iter().for_each(|m| w.line(format!("i64 {m};")));
            w.code(&p.numbers, &[], &numbers);
            // A divisor of 0 is a mistake, and nothing is multiplied if a digit has no values.
            let positive = p.divisors.iter().map(|m| format!("m{m} > 0"));
            let mut needed: Vec<String> = positive.chain((0..p.digits.len()).map(|k| format!("e{k} > 0"))).collect();
            for (k, d) in p.digits.iter().enumerate().rev() {
                let is_lower = |j: &usize| p.digits[*j].param == d.param;
                let lower: Vec<usize> = (k + 1..p.digits.len()).rev().filter(is_lower).collect();
                w.line(format!("const i64 e{k} = {};", digit(d, &extent(d.param), &lower, &mut needed)));
            }
            let of = |f: &Factor| (0..f.index.len()).map(|k| format!("a{}_n{k}", f.array)).collect::<Vec<_>>();
            let arrays = [(&p.result, own.to_vec()), (&p.left.index, of(&p.left)), (&p.right.index, of(&p.right))];
            let is_proved = [p.result_inside, p.left.inside, p.right.inside];
            for ((index, extents), _) in arrays.iter().zip(is_proved).filter(|(_, proved)| !proved) {
                needed.extend(index.iter().zip(extents).map(|(sum, n)| is_inside(sum, n)));
            }
            if !p.result_inside {
                // Different values of a digit have different results.
                let steps = p.result.iter().flat_map(|sum| &sum.terms).map(|(_, m)| format!("m{m} != 0"));
                needed.extend(steps);
            }
            w.line(format!("if (!({})) break;", needed.join(" && ")));
            let count = p.digits.len();
            w.line(format!("const i64 dims[{count}][6] = {{"));
            for (k, d) in p.digits.iter().enumerate() {
                let role = d.role.number();
                let group = d.collides.map_or(0, |g| g + 1);
                let strides = arrays.iter().map(|(index, extents)| stride(index, extents, k));
                let strides = strides.collect::<Vec<_>>().join(", ");
                w.line(format!("    {{ {role}, {group}, e{k}, {strides} }},"));
            }
            w.line("};");
            let column = |f: &Factor| format!("a{}_{}", f.array, f.column);
            let names = [format!("a{to}_0"), column(&p.left), column(&p.right)];
            let first = names.iter().zip(&arrays).map(|(name, (index, extents))| match offset(index, extents) {
                None => name.clone(),
                Some(at) => format!("{name} + ({at})"),
            });
            let first = first.collect::<Vec<_>>().join(", ");
            let slow = if p.divides() { "1" } else { slow };
            w.line(format!("const int done = accel_product_{t}(dims, {count}, {first}, factor, {init}, {slow});"));
            w.fault("done > 0", fault::PANIC, w.site, 0, &[]);
            w.line("if (done) break;");
        });
    }
}

/// The number of values of a digit above others, from the lowest one on. If it is the highest one, each of these must divide what
/// the lower ones leave of the loop's extent: then no product of them exceeds it.
fn digit(d: &Digit, extent: &str, lower: &[usize], needed: &mut Vec<String>) -> String {
    if let Some(n) = d.extent {
        return format!("m{n}");
    }
    let mut rest = extent.to_string();
    for e in lower {
        needed.push(format!("{rest} % e{e} == 0"));
        rest += &format!(" / e{e}");
    }
    let exist: Vec<String> = lower.iter().map(|e| format!("e{e} > 0")).collect();
    if exist.is_empty() { rest } else { format!("{} ? {rest} : 0", exist.join(" && ")) }
}

/// Whether a sum is at least 0 and below `n` for all values of its digits.
fn is_inside(sum: &Sum, n: &str) -> String {
    let part = |sign: char| -> String {
        sum.terms.iter().map(|(d, m)| format!(" + (m{m} {sign} 0 ? m{m} * (e{d} - 1) : 0)")).collect()
    };
    let m = sum.offset;
    format!("m{m}{} >= 0 && m{m}{} < {n}", part('<'), part('>'))
}

/// The distance in memory between elements whose index differs by 1 in dimension `k`.
fn inner(extents: &[String], k: usize) -> String {
    extents[k + 1..].iter().map(|n| format!(" * {n}")).collect()
}

/// The distance in memory between elements at consecutive values of digit `d`.
fn stride(index: &[Sum], extents: &[String], d: usize) -> String {
    let of = |(k, sum): (usize, &Sum)| {
        let (_, m) = sum.terms.iter().find(|t| t.0 == d)?;
        Some(format!("m{m}{}", inner(extents, k)))
    };
    let all: Vec<String> = index.iter().enumerate().filter_map(of).collect();
    if all.is_empty() { "0".into() } else { all.join(" + ") }
}

/// The position of the element where all digits are 0.
fn offset(index: &[Sum], extents: &[String]) -> Option<String> {
    let of = |(k, sum): (usize, &Sum)| format!("m{}{}", sum.offset, inner(extents, k));
    let all: Vec<String> = index.iter().enumerate().map(of).collect();
    (!all.is_empty()).then(|| all.join(" + "))
}
