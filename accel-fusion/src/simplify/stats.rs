//! The rules by name, and how often each was applied.

use accel_core::ast::Exp;
use std::fmt;

macro_rules! rules {
    ($( $(#[$doc:meta])* $Rule:ident $name:literal )*) => {
        /// The rules of the simplifier, each with its equation.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Rule { $( $(#[$doc])* $Rule ),* }

        impl Rule {
            /// All rules.
            pub const ALL: &[Rule] = &[$(Rule::$Rule),*];

            /// The name that statistics show.
            pub fn name(self) -> &'static str {
                match self { $(Rule::$Rule => $name),* }
            }
        }
    };
}

rules! {
    /// `let x = e in b` = `b` if `x` does not occur in `b`
    DeadScalar "dead scalar"
    /// `let a = e in b` = `b` if `a` does not occur in `b`
    DeadArray "dead array"
    /// `let x = e in b` = `b[e/x]` for a variable or constant `e`
    ScalarLet "scalar let"
    /// `let a = e in b` = `b[e/a]` for a variable or a pair `e`
    ArrayLet "array let"
    /// `let x = e in .. e ..` = `let x = e in .. x ..`
    CommonScalar "common scalar"
    /// `let a = e in .. e ..` = `let a = e in .. a ..`
    CommonArray "common array"
    /// `f c` = the value of `f` at the constant `c`, unless that is an error
    ConstantFold "constant fold"
    /// `fst (a, b)` = `a`, `snd (a, b)` = `b`
    Projection "projection"
    /// `(fst p, snd p)` = `p`
    PairEta "pair eta"
    /// `x * 1` = `x`, `x / 1` = `x`, `x - 0.0` = `x`, `x + -0.0` = `x`; for integers also `x + 0` = `x`
    Neutral "neutral element"
    /// `x + 0.0` = `x`: only on request, since it gives `-0.0` rather than `0.0` for `x = -0.0`
    AdjointZero "adjoint zero"
    /// For integers `x * 0` = `0`, `x - x` = `0`, `x % 1` = `0`, `x & 0` = `0`, `x ^ x` = `0`
    Annihilate "annihilation"
    /// `strong_mul x c` = `x * c`, `strong_mul c x` = `c * x` for constants that make no difference
    StrongZero "strong zero"
    /// `--x` = `x`, `x - -y` = `x + y`, `x + -y` = `x - y`, `-x * -y` = `x * y`, `x * -1` = `-x`, `|-x|` = `|x|`
    Sign "sign"
    /// For integers `(x + c) + d` = `x + (c + d)`
    Reassociate "reassociation"
    /// `min x x` = `x`, `max x x` = `x`, `x & x` = `x`, `x | x` = `x`, also for booleans
    Idempotent "idempotence"
    /// A conversion to the same type is the identity
    CastSame "same cast"
    /// `true && x` = `x`, `false && x` = `false`, `true || x` = `true`, `false || x` = `x`
    LogicConstant "logic with a constant"
    /// `!!x` = `x`, `!(x < y)` = `x >= y` except for floats, `!(x == y)` = `x != y`
    Negation "negation"
    /// `x == x` = `true` and `x <= x` = `true` except for floats, `x < x` = `false`
    CompareSame "comparison of equals"
    /// `if true then a else b` = `a`, the same for arrays
    KnownCondition "known condition"
    /// `if c then x else x` = `x`, the same for arrays
    SameBranches "same branches"
    /// `if c then true else false` = `c`, `if !c then a else b` = `if c then b else a`
    BooleanCondition "boolean condition"
    /// `shape (map f a)` = `shape a`, `shape (generate sh f)` = `sh`, and so on
    Shape "shape"
    /// `map (\x -> x) a` = `a`
    MapIdentity "map of identity"
    /// `backpermute (shape a) (\i -> i) a` = `a`, `generate (shape a) (\i -> a ! i)` = `a`
    GatherIdentity "gather of identity"
    /// `reshape (shape a) a` = `a`, `reshape s (reshape t a)` = `reshape s a`
    Reshape "reshape"
    /// `replicate [:, :] a` = `a`, `slice [:, :] a` = `a`
    SliceAll "slice of all"
    /// `(generate [] (\_ -> c)) ! []` = `c` for a constant `c`
    ConstantElement "constant element"
    /// `map f a` = `map widen (map (narrow . f) a)` if only some components of the elements are used
    UnusedComponent "unused component"
    /// A loop lists only arrays that are used
    Unlisted "unused list"
    /// A loop takes only rows that are used; a loop `while` without rows and lists is one
    UnusedRows "unused rows"
    /// `agree s t a` = `a` if `s` = `t`
    Agree "agreement of equals"
    /// `zip_with (\x y -> e y) a b` = `map (\y -> e y) b` if `shape a` = `shape b`
    UnusedOperand "unused operand"
    /// `g (map w a)` = `(g . w) a` for a function `w` that only takes apart and builds tuples
    Retuple "retuple"
}

/// How often each rule was applied, and in how many rounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stats {
    counts: Vec<usize>,
    /// How many times the whole program was rewritten. The last time made no change, unless the bound was reached.
    pub rounds: usize,
}

impl Default for Stats {
    fn default() -> Self {
        Stats { counts: vec![0; Rule::ALL.len()], rounds: 0 }
    }
}

impl Stats {
    /// How often a rule was applied.
    pub fn count(&self, r: Rule) -> usize {
        self.counts[r as usize]
    }
    /// The total number of applications.
    pub fn total(&self) -> usize {
        self.counts.iter().sum()
    }
    pub(super) fn add(&mut self, r: Rule) {
        self.counts[r as usize] += 1;
    }
}

impl fmt::Display for Stats {
    /// The rules that were applied, with their counts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rewrites in {} rounds", self.total(), self.rounds)?;
        for r in Rule::ALL.iter().filter(|r| self.count(**r) > 0) {
            write!(f, ", {} {}", self.count(*r), r.name())?;
        }
        Ok(())
    }
}

/// The result of a rule for an operation; `None` if the rule does not apply.
pub type Rewritten<E, A, T> = Option<(Rule, Exp<E, A, T>)>;
