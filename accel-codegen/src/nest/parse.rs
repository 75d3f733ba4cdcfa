//! Reads the text form of nests, which [`super::print`] describes. The nest need not be well formed: [`super::verify`]
//! checks that.

use super::ir::*;
use accel_core::error::{Error, Result};
use accel_core::repr::ScalarType;
use accel_fusion::kernel::Parser;
use std::str::FromStr;

impl FromStr for Nest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Nest> {
        let mut p = Parser::new(text)?;
        p.expect("nest")?;
        let mut nest = Nest::default();
        while p.accept("param") {
            let register = p.register_decl()?;
            p.expect("=")?;
            let name = p.word("a name", |w| Some(w.to_string()))?;
            let multiple = if p.accept("multiple") { number(&mut p)? } else { 1 };
            let least = if p.accept("least") { Some(number(&mut p)?) } else { None };
            let most = if p.accept("most") { Some(number(&mut p)?) } else { None };
            nest.params.push(Param { register, name, multiple, least, most });
        }
        while !p.accept("{") {
            let id = buffer_id(&mut p)?;
            if id != nest.buffers.next_idx() {
                return p.expected(format!("buffer b{} before b{id}", nest.buffers.next_idx()));
            }
            p.expect(":")?;
            let ty = p.scalar_type()?;
            p.expect("=")?;
            let space = space(&mut p)?;
            nest.buffers.push(Buffer { ty, space, extents: index(&mut p)? });
        }
        nest.body = nodes(&mut p)?;
        nest.types = p.take_types()?;
        Ok(nest)
    }
}

fn space(p: &mut Parser) -> Result<Space> {
    let of_array: fn(_, _) -> Space = match () {
        () if p.accept("local") => return Ok(Space::Local),
        () if p.accept("group") => return Ok(Space::Group),
        () if p.accept("array") => Space::Array,
        () if p.accept("strip") => Space::Strip,
        () if p.accept("total") => Space::Total,
        () => return p.expected("`array`, `strip`, `total`, `local` or `group`"),
    };
    Ok(of_array(p.array()?, p.number("a column")?))
}

fn bind(p: &mut Parser) -> Result<Bind> {
    let in_dimension: fn(u8) -> Bind = match () {
        () if p.accept("parallel") => return Ok(Bind::Parallel),
        () if p.accept("vector") => return Ok(Bind::Vector),
        () if p.accept("unroll") => return Ok(Bind::Unroll),
        () if p.accept("group") => Bind::Group,
        () if p.accept("item") => Bind::Item,
        () => return Ok(Bind::Seq),
    };
    p.word("a dimension", |w| w.parse().ok()).map(in_dimension)
}

fn buffer_id(p: &mut Parser) -> Result<BufferId> {
    let number = |w: &str| w.strip_prefix('b')?.parse::<u32>().ok().filter(|n| *n < 1 << 24);
    p.word("a buffer such as `b0`", number).map(BufferId::from_raw)
}

fn number(p: &mut Parser) -> Result<i64> {
    p.word("a number", |w| w.parse().ok())
}

fn index(p: &mut Parser) -> Result<Vec<Affine>> {
    p.expect("[")?;
    p.list("]", affine)
}

fn place(p: &mut Parser) -> Result<Place> {
    let (buffer, index) = (buffer_id(p)?, index(p)?);
    let bounds = match () {
        () if p.accept("checked") => Bounds::Checked(p.site()?),
        () if p.accept("masked") => Bounds::Masked(p.constant()?),
        () => Bounds::Proved,
    };
    Ok(Place { buffer, index, bounds })
}

fn affine(p: &mut Parser) -> Result<Affine> {
    let mut sum = Affine::default();
    let mut sign = if p.accept("-") { -1 } else { 1 };
    loop {
        let term = if p.next_is_register() {
            Affine::from(p.register()?)
        } else {
            let k = number(p)?;
            match p.accept("*") {
                true => Affine { terms: vec![(p.register()?, k)], constant: 0 },
                false => Affine::constant(k),
            }
        };
        match sum.plus(&term, sign) {
            Some(next) => sum = next,
            None => return p.expected("smaller numbers"),
        }
        sign = match () {
            () if p.accept("+") => 1,
            () if p.accept("-") => -1,
            () => return Ok(sum),
        };
    }
}

fn guards(p: &mut Parser) -> Result<Vec<Guard>> {
    let mut all = vec![];
    loop {
        let smaller = affine(p)?;
        p.expect("<")?;
        all.push(Guard { smaller, larger: affine(p)? });
        if !p.accept(",") {
            return Ok(all);
        }
    }
}

/// Nodes up to the closing bracket.
fn nodes(p: &mut Parser) -> Result<Vec<Node>> {
    let mut all = vec![];
    while !p.accept("}") {
        all.push(node(p)?);
    }
    Ok(all)
}

fn node(p: &mut Parser) -> Result<Node> {
    if p.accept("for") {
        let var = p.register_as(ScalarType::I64)?;
        p.expect("=")?;
        let from = affine(p)?;
        p.expect("to")?;
        let to = affine(p)?;
        let step = if p.accept("step") { number(p)? } else { 1 };
        let whole = p.accept("whole");
        let bind = bind(p)?;
        p.expect("{")?;
        return Ok(Node::For(For { var, from, to, step, whole, bind, body: nodes(p)? }));
    }
    if p.accept("if") {
        let guards = guards(p)?;
        p.expect("{")?;
        return Ok(Node::If { guards, body: nodes(p)? });
    }
    if p.accept("alloc") {
        return Ok(Node::Alloc(buffer_id(p)?));
    }
    if p.accept("fail") {
        let (kind, site) = (number(p)?, p.site()?);
        return Ok(Node::Fail(Failure { kind, site, what: p.number("a number")?, numbers: index(p)? }));
    }
    if p.accept("barrier") {
        return Ok(Node::Barrier);
    }
    if p.accept("store") {
        let to = place(p)?;
        p.expect("=")?;
        let value = p.register()?;
        return Ok(Node::Store { to, value, around: p.accept("nontemporal") });
    }
    if p.accept("prefetch") {
        return Ok(Node::Prefetch(place(p)?));
    }
    if p.accept("acc") {
        let Some(monoid) = p.monoid() else { return p.expected("a monoid") };
        let (to, value) = (place(p)?, p.register()?);
        let times = if p.accept("*") { Some(p.register()?) } else { None };
        return Ok(Node::Acc { to, monoid, value, times });
    }
    if p.accept("lanes") {
        let Some(monoid) = p.monoid() else { return p.expected("a monoid") };
        let mut all = vec![];
        loop {
            let to = place(p)?;
            p.expect("from")?;
            let from = buffer_id(p)?;
            let guards = if p.accept("if") { guards(p)? } else { vec![] };
            all.push((guards, to, from));
            if !p.accept(";") {
                return Ok(Node::AccLanes { monoid, all });
            }
        }
    }
    if p.accept("transpose") {
        let to = place(p)?;
        p.expect("=")?;
        return Ok(Node::Transpose { to, from: place(p)?, dim: p.number("a dimension")?, n: number(p)? });
    }
    let to = p.register_decl()?;
    if p.accept(",") {
        let mut all = vec![to, p.register_decl()?];
        while p.accept(",") {
            all.push(p.register_decl()?);
        }
        p.expect("=")?;
        return Ok(Node::Let(p.instr_of(all)?));
    }
    p.expect("=")?;
    if p.accept("load") {
        return Ok(Node::Load { to, from: place(p)? });
    }
    if p.accept("index") {
        let value = affine(p)?;
        let limit = if p.accept("below") { Some(affine(p)?) } else { None };
        return Ok(Node::Index { to, value, limit });
    }
    Ok(Node::Let(p.instr_of(vec![to])?))
}
