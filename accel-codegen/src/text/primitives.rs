//! Literals and primitive functions in both dialects.

use super::declarations::Declarations;
use super::types::{is_signed, unsigned, width, wrapping};
use accel_core::repr::op::{
    Cmp, Family, Float1, Float1Class, Float2, FloatTest, Int1, Int2, Logic, Num1, Num2, Op1, Op2, OwnFloat1,
};
use accel_core::repr::{Scalar, ScalarType};

/// A literal.
pub fn constant(d: &Declarations, x: Scalar) -> String {
    match x {
        Scalar::Bool(x) => (x as u8).to_string(),
        Scalar::I8(x) => x.to_string(),
        Scalar::I16(x) => x.to_string(),
        Scalar::I32(i32::MIN) => "(-2147483647 - 1)".into(),
        Scalar::I32(x) => x.to_string(),
        // The smallest integer is no literal: its digits alone do not fit.
        Scalar::I64(i64::MIN) => format!("({} - 1)", d.dialect.long(-i64::MAX, false)),
        Scalar::I64(x) => d.dialect.long(x, false),
        Scalar::U8(x) => x.to_string(),
        Scalar::U16(x) => x.to_string(),
        Scalar::U32(x) => format!("{x}u"),
        Scalar::U64(x) => d.dialect.long(x, true),
        Scalar::F32(x) => float(d, x as f64, &format!("{x:?}f"), ScalarType::F32),
        Scalar::F64(x) => float(d, x, &format!("{x:?}"), ScalarType::F64),
    }
}

/// A literal, with these digits if it is finite.
fn float(d: &Declarations, x: f64, digits: &str, t: ScalarType) -> String {
    if x.is_finite() { digits.into() } else { d.dialect.non_finite(x, t) }
}

/// A call of a mathematical function, with arguments and a result of type `t`. With `vector`, it is no instruction, and has versions
/// for vectors.
fn library(d: &mut Declarations, t: ScalarType, name: &str, args: &[&str], vector: bool) -> String {
    if d.dialect.has_builtin_maths() {
        return format!("{name}({})", args.join(", "));
    }
    let symbol = if t == ScalarType::F32 { format!("{name}f") } else { name.to_string() };
    d.calls_library |= vector;
    let is_vector = vector && d.vector_math;
    let simd = match is_vector {
        true if d.one_by_one => "__attribute__((const)) ",
        true => "__attribute__((__simd__(\"notinbranch\"), const)) ",
        false => "",
    };
    // GCC turns a sine and a cosine of the same number into one function, of which there is no version for vectors. So
    // the cosine has a name that GCC does not know.
    let label = format!(" __asm__(\"{symbol}\")");
    let (name, label) = match is_vector {
        true if d.one_by_one => (format!("one_{symbol}"), label),
        true if name == "cos" => (format!("accel_{symbol}"), label),
        _ => (symbol, String::new()),
    };
    d.declare_once(&name, || {
        format!("{simd}extern {t} {name}({}){label};", vec![t.to_string(); args.len()].join(", "))
    });
    format!("{name}({})", args.join(", "))
}

/// The value of a function of one argument.
pub fn op1(d: &mut Declarations, op: Op1, t: ScalarType, a: &str) -> String {
    match op {
        Op1::Num(op) => num1(d, op, t, a),
        Op1::Float(op) => float1(d, op, t, a),
        Op1::Test(FloatTest::IsNan) => format!("{a} != {a}"),
        Op1::Test(FloatTest::IsInfinite) => format!("{}({a}) != 0", d.dialect.builtin("isinf")),
        Op1::Test(FloatTest::IsFinite) => format!("{}({a}) != 0", d.dialect.builtin("isfinite")),
        Op1::Int(op) => int1(d, op, t, a),
        Op1::Not => format!("!{a}"),
        Op1::Cast(to) => cast(d, t, to, a),
        Op1::Bits => {
            // A union is the one way that C and OpenCL C share.
            let (to, name) = (op.result(t).unwrap_or(t), format!("bits_of_{t}"));
            d.declare_once(&name, || {
                format!(
                    "static inline {to} {name}({t} x) {{ union {{ {t} from; {to} to; }} u; u.from = x; return u.to; }}"
                )
            });
            format!("{name}({a})")
        }
    }
}

fn num1(d: &mut Declarations, op: Num1, t: ScalarType, a: &str) -> String {
    match op {
        Num1::Neg if !d.dialect.wraps() && !t.is_float() => format!("-({}){a}", wrapping(t)),
        Num1::Neg => format!("-{a}"),
        Num1::Abs if t.is_float() => library(d, t, "fabs", &[a], false),
        Num1::Abs if is_signed(t) && !d.dialect.wraps() => format!("{a} < 0 ? -({0}){a} : ({0}){a}", wrapping(t)),
        Num1::Abs if is_signed(t) => format!("{a} < 0 ? -{a} : {a}"),
        Num1::Abs => a.into(),
        Num1::Signum if t.is_float() => {
            let one = if d.dialect.has_builtin_maths() { format!("({t})1") } else { "1".into() };
            let one = library(d, t, "copysign", &[&one, a], false);
            format!("{a} == 0 || {a} != {a} ? {a} : {one}")
        }
        Num1::Signum => format!("({a} > 0) - ({a} < 0)"),
    }
}

fn float1(d: &mut Declarations, op: Float1, t: ScalarType, a: &str) -> String {
    match op.class() {
        Float1Class::Library => library(d, t, op.name(), &[a], true),
        Float1Class::Instruction => library(d, t, op.name(), &[a], false),
        Float1Class::Own(op) => own(d, op, t, a),
    }
}

fn own(d: &mut Declarations, op: OwnFloat1, t: ScalarType, a: &str) -> String {
    match op {
        OwnFloat1::Recip => format!("1 / {a}"),
        OwnFloat1::Sech => {
            let magnitude = library(d, t, "fabs", &["x"], false);
            let e = library(d, t, "exp", &[&format!("-{magnitude}")], true);
            function(d, "sech", t, &format!("const {t} e = {e}; return 2 * e / (1 + e * e);"));
            format!("sech_{t}({a})")
        }
        OwnFloat1::Detach => a.into(),
        OwnFloat1::NormalCdf => {
            normal_cdf(d, t);
            format!("normal_cdf_{t}({a})")
        }
        OwnFloat1::ErfInv => {
            erfinv(d, t);
            format!("erfinv_{t}({a})")
        }
        OwnFloat1::LogGamma if d.dialect.has_builtin_maths() => library(d, t, "lgamma", &[a], false),
        // C's `lgamma` sets a global variable.
        OwnFloat1::LogGamma => {
            let name = if t == ScalarType::F32 { "lgammaf_r" } else { "lgamma_r" };
            d.declare_once(name, || format!("extern {t} {name}({t}, int *);"));
            format!("{name}({a}, &(int){{0}})")
        }
        OwnFloat1::Family(family, n) if d.dialect.calls_runtime() => {
            let name = format!("accel_{}", family.name());
            d.declare_once(&name, || format!("f64 (*{name})(int, f64);"));
            format!("({t}){name}({n}, {a})")
        }
        OwnFloat1::Family(family, n) => {
            let text = match family {
                Family::Polygamma => include_str!("polygamma.cl"),
                Family::BesselJ => include_str!("bessel_j.cl"),
                Family::BesselI => include_str!("bessel_i.cl"),
            };
            d.declare_once(family.name(), || text.into());
            format!("({t}){}({n}, {a})", family.name())
        }
    }
}

/// A constant of type `t`.
fn number(d: &Declarations, t: ScalarType, x: f64) -> String {
    constant(d, t.from_f64(x))
}

/// Defines the distribution function of the standard normal distribution, by the same method as accel-core's.
fn normal_cdf(d: &mut Declarations, t: ScalarType) {
    let root = std::f64::consts::FRAC_1_SQRT_2;
    let rest = match t {
        ScalarType::F32 => root - f64::from(root as f32),
        _ => -4.833_646_656_726_457e-17,
    };
    let [half, root, rest] = [0.5, root, rest].map(|x| number(d, t, x));
    let scale = number(d, t, std::f64::consts::FRAC_2_SQRT_PI);
    let error = library(d, t, "fma", &["-x", &root, "-z"], false);
    let (tail, density) = (library(d, t, "erfc", &["z"], true), library(d, t, "exp", &["-z * z"], true));
    // For an infinite z, the difference is NaN.
    let body = format!(
        "const {t} z = -x * {root}, e = z - z == 0 ? {error} - x * {rest} : 0; return {half} * ({tail} - {scale} * {density} * e);"
    );
    function(d, "normal_cdf", t, &body);
}

/// Defines the inverse of the error function, by the same method as accel-core's.
fn erfinv(d: &mut Declarations, t: ScalarType) {
    let mut call = |name: &str, x: &str| library(d, t, name, &[x], name != "sqrt" && name != "fabs");
    let (magnitude, log) = (call("fabs", "x"), call("log", "(1 - a) * (1 + a)"));
    let root = call("sqrt", "h * h - l / c");
    let start = call("sqrt", &format!("{root} - h"));
    let (erf, erfc, exp) = (call("erf", "y"), call("erfc", "y"), call("exp", "-y * y"));
    let signed = library(d, t, "copysign", &["y", "x"], false);
    let pole = library(d, t, "copysign", &["1 / (1 - a)", "x"], false);
    let [slope, c, quarter, half] = [std::f64::consts::FRAC_2_SQRT_PI, 0.147, 0.25, 0.5].map(|x| number(d, t, x));
    let two_over_pi = number(d, t, std::f64::consts::FRAC_2_PI);
    let body = format!(
        "const {t} a = {magnitude}, c = {c}, l = {log}, h = {two_over_pi} / c + {half} * l; \
         if (a >= 1) return a == 1 ? {pole} : (x - x) / (x - x); \
         {t} y = a < {quarter} ? a / {slope} : {start}; \
         for (int i = 0; i < 3; i++) {{ \
         const {t} r = a < {half} ? {erf} - a : (1 - a) - {erfc}, u = r / ({slope} * {exp}); y -= u / (1 + y * u); }} \
         return {signed};"
    );
    function(d, "erfinv", t, &body);
}

fn int1(d: &Declarations, op: Int1, t: ScalarType, a: &str) -> String {
    let (w, bits) = (width(t), format!("(u64)({}){a}", unsigned(t)));
    match op {
        Int1::BitNot => format!("~{a}"),
        Int1::CountOnes => d.dialect.count_ones(&bits),
        Int1::LeadingZeros => format!("{a} == 0 ? {w} : {} - {}", d.dialect.leading_zeros(&bits), 64 - w),
        Int1::TrailingZeros => format!("{a} == 0 ? {w} : {}", d.dialect.trailing_zeros(&bits)),
    }
}

/// As Rust's `as`: floats saturate, NaN is 0.
fn cast(d: &mut Declarations, from: ScalarType, to: ScalarType, a: &str) -> String {
    if to == ScalarType::Bool {
        return format!("{a} != 0");
    }
    if !from.is_float() || to.is_float() {
        return format!("({to}){a}");
    }
    let name = format!("{from}_to_{to}");
    let (least, greatest) = (constant(d, to.least()), constant(d, to.greatest()));
    let suffix = d.dialect.suffix(from);
    d.declare_once(&name, || {
        // The powers of two are exact in both types.
        let w = width(to);
        let (low, high) = if is_signed(to) {
            (format!("-0x1p{}{suffix}", w - 1), format!("0x1p{}{suffix}", w - 1))
        } else {
            (format!("0x0p0{suffix}"), format!("0x1p{w}{suffix}"))
        };
        format!(
            "static inline {to} {name}({from} x) {{ return x != x ? 0 : x <= {low} ? {least} : x >= {high} ? {greatest} : ({to})x; }}"
        )
    });
    format!("{name}({a})")
}

/// A product with strong zeros, where compilers do not vectorise anyway. Only a product that is zero or NaN can differ from the ordinary
/// one, and one comparison that is mostly predicted right finds both. Measured: half the time of two comparisons and two jumps.
pub fn strong_product(d: &mut Declarations, t: ScalarType, a: &str, b: &str) -> String {
    let name = format!("{t}_strong_mul");
    d.declare_once(&name, || {
        format!(
            "static inline {t} {name}({t} a, {t} b) {{ const {t} x = a * b; return __builtin_expect(__builtin_islessgreater(x, 0), 1) ? x : a == 0 | b == 0 ? 0 : x; }}"
        )
    });
    format!("{name}({a}, {b})")
}

/// The value of a function of two arguments of type `t`. A divisor is not zero.
pub fn op2(d: &mut Declarations, op: Op2, t: ScalarType, a: &str, b: &str) -> String {
    match op {
        Op2::Num(op) => num2(d, op, t, a, b),
        Op2::Float(op) => match op {
            Float2::Pow | Float2::Atan2 | Float2::Hypot => library(d, t, op.name(), &[a, b], true),
            // Vector code needs a choice without branches.
            Float2::StrongMul => format!("{a} == 0 | {b} == 0 ? 0 : {a} * {b}"),
            Float2::StrongDiv => format!("{a} == 0 ? 0 : {a} / {b}"),
            Float2::Along => number(d, t, -0.0),
        },
        Op2::Int(op) => int2(d, op, t, a, b),
        Op2::Cmp(op) => {
            let op = match op {
                Cmp::Lt => "<",
                Cmp::Le => "<=",
                Cmp::Gt => ">",
                Cmp::Ge => ">=",
                Cmp::Eq => "==",
                Cmp::Ne => "!=",
            };
            format!("{a} {op} {b}")
        }
        Op2::Logic(Logic::And) => format!("{a} & {b}"),
        Op2::Logic(Logic::Or) => format!("{a} | {b}"),
    }
}

fn num2(d: &mut Declarations, op: Num2, t: ScalarType, a: &str, b: &str) -> String {
    let u = wrapping(t);
    match op {
        Num2::Add if !d.dialect.wraps() && !t.is_float() => format!("({u}){a} + ({u}){b}"),
        Num2::Sub if !d.dialect.wraps() && !t.is_float() => format!("({u}){a} - ({u}){b}"),
        Num2::Mul if !d.dialect.wraps() && !t.is_float() => format!("({u}){a} * ({u}){b}"),
        Num2::Add => format!("{a} + {b}"),
        Num2::Sub => format!("{a} - {b}"),
        Num2::Mul => format!("{a} * {b}"),
        Num2::Div if !is_signed(t) => format!("{a} / {b}"),
        Num2::Rem if t.is_float() => {
            d.calls_library = true;
            library(d, t, "fmod", &[a, b], false)
        }
        Num2::Rem if !is_signed(t) => format!("{a} % {b}"),
        // The quotient of the smallest integer and -1 does not fit.
        Num2::Div => helper(d, t, "div", "b == -1 ? NEG : a / b", a, b),
        Num2::Rem => helper(d, t, "rem", "b == -1 ? 0 : a % b", a, b),
        Num2::Min if t.is_float() => format!("{b} < {a} || {a} != {a} ? {b} : {a}"),
        Num2::Max if t.is_float() => format!("{b} > {a} || {a} != {a} ? {b} : {a}"),
        Num2::Min => format!("{b} < {a} ? {b} : {a}"),
        Num2::Max => format!("{b} > {a} ? {b} : {a}"),
    }
}

fn int2(d: &mut Declarations, op: Int2, t: ScalarType, a: &str, b: &str) -> String {
    let amount = format!("({b} & {})", width(t) - 1);
    match op {
        Int2::And => format!("{a} & {b}"),
        Int2::Or => format!("{a} | {b}"),
        Int2::Xor => format!("{a} ^ {b}"),
        Int2::Shl => format!("({}){a} << {amount}", unsigned(t)),
        Int2::Shr => format!("{a} >> {amount}"),
        Int2::DivEuclid if !is_signed(t) => format!("{a} / {b}"),
        Int2::RemEuclid if !is_signed(t) => format!("{a} % {b}"),
        Int2::DivEuclid => {
            helper(d, t, "div_euclid", "b == -1 ? NEG : a % b >= 0 ? a / b : b > 0 ? a / b - 1 : a / b + 1", a, b)
        }
        Int2::RemEuclid => {
            helper(d, t, "rem_euclid", "b == -1 ? 0 : a % b >= 0 ? a % b : b > 0 ? a % b + b : a % b - b", a, b)
        }
    }
}

/// Defines the function `name_t` of a number `x`.
fn function(d: &mut Declarations, name: &str, t: ScalarType, body: &str) {
    let name = format!("{name}_{t}");
    d.declare_once(&name, || format!("static inline {t} {name}({t} x) {{ {body} }}"));
}

/// A call of a small function that is defined in the program. `NEG` in its body stands for `-a`.
fn helper(d: &mut Declarations, t: ScalarType, name: &str, body: &str, a: &str, b: &str) -> String {
    let name = format!("{name}_{t}");
    let negative = if d.dialect.wraps() { "-a".into() } else { format!("({t})-({})a", wrapping(t)) };
    let body = body.replace("NEG", &negative);
    d.declare_once(&name, || format!("static inline {t} {name}({t} a, {t} b) {{ return {body}; }}"));
    format!("{name}({a}, {b})")
}
