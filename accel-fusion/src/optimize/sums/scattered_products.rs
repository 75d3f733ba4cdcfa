//! Scattered products: permutes by addition that add up the products of a sum, instead of the sum.
//!
//! NOTE [Scattered products]: `permute (+)` of an array of sums of products reads each sum once. If all of it is a strided
//! product (NOTE [Strided products]), the products are added where they belong, and the sums are not stored. Such permutes are
//! the adjoint of a matrix of patches of an image: the sums are the adjoint of the matrix, and each patch overlaps others.

use crate::kernel::builder::{Builder, index_types};
use crate::kernel::dead_code::{defined, restricted_to};
use crate::kernel::{Instr, Monoid, Op, Reg, SiteId};
use crate::optimize::facts::poly::Poly;
use crate::optimize::facts::strided_product::StridedProduct;
use crate::optimize::fuse::fused_program::{Pass, Permute};
use crate::optimize::scalar::scalar_cleanup::{Cleaned, code_of};

/// Emits the permute of the products, if the elements are sums of products and all is a strided product. Returns whether it
/// did.
pub fn scattered_products(pass: &mut Pass, p: &Permute, site: SiteId) -> bool {
    let Some((source, all)) = products(pass, p) else { return false };
    let comb = pass.clean(p.comb, &[]).code;
    let extents = code_of(&mut pass.facts, &source);
    let [target, element] = all.each_ref().map(|cleaned| cleaned.code.clone());
    let (to, defaults, monoid) = (p.to, p.defaults, p.monoid);
    let op = Op::Permute { to, defaults, extents, target, inside: false, element, comb, monoid };
    if StridedProduct::of_permute(&pass.program, &op).is_none() {
        return false;
    }
    all.iter().for_each(|cleaned| pass.keep(cleaned));
    pass.emit(op, site);
    true
}

/// The extents, and the cleaned targets and elements, of the permute of products. The last component of its index is that of the sums.
fn products(pass: &mut Pass, p: &Permute) -> Option<(Vec<Poly>, [Cleaned; 2])> {
    let [_] = p.element.results[..] else { return None };
    (p.monoid == Some(Monoid::Sum)).then_some(())?;
    let read = pass.preview(p.element, &p.source).code;
    let Some(Instr::Read { array, index, inside: true, .. }) = defined(&read, read.results[0]) else { return None };
    let rows = pass.reduction(*array, 1)?.0.clone();
    rows.float_sum()?;
    let len = pass.preview(&rows.len, &[]).values.pop().flatten()?;
    let source = [&p.source[..], &[len]].concat();
    (rows.initial_zero().is_some() && pass.facts.are_known_without(*array, &source)).then_some(())?;
    let rank = p.source.len();
    let (mut target, mut element) = (Builder::new(&index_types(rank + 1)), Builder::new(&index_types(rank + 1)));
    let own: Vec<Reg> = (0..rank).map(Reg::new).collect();
    let targets = target.inline(p.target, &own);
    let place = element.inline(&restricted_to(&read, index.clone()), &own);
    let x = element.inline(&rows.element, &[&place[..], &[Reg::new(rank)]].concat());
    let cleaned = [target.finish(targets), element.finish(x)].map(|code| pass.preview(&code, &source));
    Some((source, cleaned))
}
