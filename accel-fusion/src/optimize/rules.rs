//! The driver of rules, which rewrite statements. It visits all blocks, so that a rule sees one statement or one block at a time.

use crate::kernel::{ArrayId, ArrayInfo, Block, IndexVec, Op, Program, ScalarFn, SiteId, Stmt};
use accel_core::ast::deep;

/// A rule, with what it has learned about the statements so far.
pub(crate) trait Rule {
    /// Rewrites a statement whose blocks are rewritten: adds what takes its place to the statements before it.
    fn stmt(&mut self, _: &mut Place, s: Stmt, before: &mut Vec<Stmt>) {
        before.push(s);
    }

    /// Rewrites a block, with its results, whose statements are rewritten.
    fn block(&mut self, _: &mut Place, _: &mut Block, _results: &mut [ArrayId]) {}
}

/// Where a rule is applied.
pub(crate) struct Place<'p> {
    /// The arrays of the program, to which a rule adds its own.
    pub arrays: &'p mut IndexVec<ArrayId, ArrayInfo>,
    /// Whether a loop is around the block.
    pub in_loop: bool,
}

impl Place<'_> {
    /// Adds a loop before a statement that stores the results of `body` as one array.
    pub fn store(&mut self, body: ScalarFn, extents: ScalarFn, site: SiteId, before: &mut Vec<Stmt>) -> ArrayId {
        let columns = body.results.iter().map(|r| body.types[*r]).collect();
        let array = self.arrays.push(ArrayInfo { rank: body.params, columns });
        before.push(Stmt { op: Op::Loop { to: vec![array], extents, body }, site });
        array
    }
}

/// Applies a rule to all blocks, in the order of execution. To a rule, a strip is a statement
/// without blocks: it keeps its form until it is replaced.
pub(crate) fn rewrite(program: &Program, rule: &mut impl Rule) -> Program {
    let mut program = program.clone();
    let mut place = Place { arrays: &mut program.arrays, in_loop: false };
    block(rule, &mut place, &mut program.body, &mut program.results);
    program
}

fn block(rule: &mut impl Rule, place: &mut Place, b: &mut Block, results: &mut [ArrayId]) {
    for mut s in std::mem::take(&mut b.stmts) {
        if !matches!(s.op, Op::Strip { .. }) {
            let in_loop = place.in_loop;
            place.in_loop |= matches!(s.op, Op::While { .. });
            for (inner, results) in s.op.blocks_with_results_mut() {
                deep(|| block(rule, place, inner, results));
            }
            place.in_loop = in_loop;
        }
        rule.stmt(place, s, &mut b.stmts);
    }
    rule.block(place, b, results);
}
