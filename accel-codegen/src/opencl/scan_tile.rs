//! A tile of a scan in local memory.

use super::group_reduce::TURNS;
use super::loads::is_cheap;
use crate::shared::scan::Scan;
use crate::text::names::{in_order, names, names_at, row_index};
use crate::text::parameters::{Arg, Parameter};
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;

/// The places of a scan's elements in local memory: spread so that items with several adjacent elements each do not
/// wait for the same bank.
const PLACE: &str = "#define PLACE(n) ((n) + (n) / 32)";

/// The number of places for this many elements.
pub fn places(elements: usize) -> usize {
    elements + elements / 32 + 1
}

/// A scan by tiles.
pub struct TiledScan<'a> {
    pub scan: Scan<'a>,
    /// The types of the accumulated values.
    pub types: &'a [ScalarType],
    /// The number of elements of an item in a tile.
    pub each: usize,
}

impl Writer<'_> {
    /// Processes a part of a row, tile by tile.
    pub fn scan_part(&mut self, scan: &TiledScan) {
        let TiledScan { scan: Scan { rows, reverse, .. }, types, .. } = *scan;
        self.state(types);
        self.begin_scan(scan);
        self.braces("if (slot > 0)", |w| {
            w.line("const P from = 0, to = slot;");
            let part = |k: &str| names_at("s", types, &format!("row * arg2 + {k}"));
            w.reduce_items(types, rows, reverse, TURNS, |w, k, x| w.assign(x, &part(k)));
            let (before, total) = (names("b", types), names_at("l", types, "0"));
            match rows.init.is_some() {
                true => w.code(&rows.op, &in_order(reverse, &names("z", types), &total), &before),
                false => w.assign(&before, &total),
            }
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
        });
        self.braces(&format!("for (P tile = from; tile < to; tile += size * {})", scan.each), |w| {
            w.scan_tile(scan);
            w.combine_tile(scan);
            // Adds the tile to the total of everything so far.
            let (before, all) = (names("b", types), names_at("l", types, "count - 1"));
            w.braces("if (started)", |w| w.code(&rows.op, &in_order(reverse, &before, &all), &before));
            w.braces("else", |w| w.assign(&before, &all));
            w.line("started = 1;");
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
            w.store_tile(scan);
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
        });
    }

    /// Declares `b0`, .., the total of everything before the tile, which starts with the initial value `z0`, .. if
    /// there is one, and whether there is anything before the tile. Writes the result before the first part.
    pub fn begin_scan(&mut self, scan: &TiledScan) {
        let TiledScan { scan: Scan { to, rows, reverse, .. }, types, .. } = *scan;
        let (before, some) = (names("b", types), rows.init.is_some());
        self.hoist(&[&rows.element, &rows.op]);
        self.hoist_output(to, false);
        self.locals(types);
        for (c, t) in types.iter().enumerate() {
            let buffer = Parameter::buffer(&format!("local {t}"), format!("m{c}"));
            self.params.add(Arg::Local(types.len() + c), buffer);
        }
        self.declarations.declare_once("PLACE", || PLACE.into());
        self.declare(&before, types);
        self.line(format!("const P base = row * ((P)arg1 + {});", some as u8));
        // Without an initial value, there is nothing before the first part.
        self.line(format!("bool started = {};", if some { "1" } else { "slot > 0" }));
        let z = names("z", types);
        self.initial(&z, types, rows, &[]);
        if some {
            self.assign(&before, &z);
            let place = if reverse { "base + arg1" } else { "base" };
            self.braces("if (slot == 0 && item == 0)", |w| scan.scan.store(w, place, &z));
        }
    }

    /// Scans the elements from `tile` on. Each item scans its own elements, and their totals are scanned in `l0`, ...
    /// Declares `filled`, the number of elements, `count`, the number of items with elements, `mine`, the number of
    /// elements of the item, and `own`, the place of its first one. Elements are moved through local memory, so that
    /// neighbouring items read and write neighbouring elements.
    pub fn scan_tile(&mut self, scan: &TiledScan) {
        let TiledScan { scan: Scan { outer, rows, reverse, .. }, types, each } = *scan;
        let here = names_at("l", types, "item");
        self.line(format!("const uint filled = min(to - tile, (P)(size * {each}));"));
        self.line(format!(
            "const uint count = (filled + {each} - 1) / {each}, own = PLACE(item * {each}), \
             mine = item < count ? min(filled - item * {each}, {each}u) : 0;"
        ));
        let source = |n: &str| if reverse { format!("arg1 - 1 - (tile + {n})") } else { format!("tile + {n}") };
        let element = |w: &mut Self, n: &str, x: &[String]| w.code(&rows.element, &row_index(outer, &source(n)), x);
        let cheap = is_cheap(&rows.element);
        if cheap {
            self.braces(&format!("if (filled == size * {each})"), |w| {
                let place = scan.tile("item + u * size");
                w.several(each, types, |w, v| element(w, "(item + u * size)", v), |w, v| w.assign(&place, v));
            });
        }
        let rest = format!("{}{BY_TURNS}", if cheap { "else " } else { "" });
        self.braces(&rest, |w| element(w, "n", &scan.tile("n")));
        self.line("barrier(CLK_LOCAL_MEM_FENCE);");
        let y = names("y", types);
        self.braces("if (item < count)", |w| {
            w.declare(&y, types);
            w.assign(&y, &scan.own("0"));
            w.own_elements(each, "1", |w| {
                w.code(&rows.op, &in_order(reverse, &y, &scan.own("u")), &y);
                w.assign(&scan.own("u"), &y);
            });
            w.assign(&here, &y);
        });
        self.line("barrier(CLK_LOCAL_MEM_FENCE);");
        let total = names("t", types);
        self.declare(&total, types);
        self.braces("for (uint apart = 1; apart < count; apart *= 2)", |w| {
            w.line("const bool more = item >= apart && item < count;");
            w.braces("if (more)", |w| {
                let left = names_at("l", types, "item - apart");
                w.code(&rows.op, &in_order(reverse, &left, &here), &total);
            });
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
            w.braces("if (more)", |w| w.assign(&here, &total));
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
        });
    }

    /// Combines the elements of the item with the total of everything before them.
    pub fn combine_tile(&mut self, scan: &TiledScan) {
        let TiledScan { scan: Scan { rows, reverse, .. }, types, each } = *scan;
        let (before, prefix, left) = (names("b", types), names("p", types), names_at("l", types, "item - 1"));
        self.declare(&prefix, types);
        self.line("const bool any = started || item > 0;");
        self.braces("if (item > 0 && item < count && started)", |w| {
            w.code(&rows.op, &in_order(reverse, &before, &left), &prefix);
        });
        self.braces("else if (item > 0 && item < count)", |w| w.assign(&prefix, &left));
        self.braces("else if (started)", |w| w.assign(&prefix, &before));
        self.braces("if (any)", |w| {
            w.own_elements(each, "0", |w| {
                w.code(&rows.op, &in_order(reverse, &prefix, &scan.own("u")), &scan.own("u"));
            });
        });
    }

    /// Writes the tile, when all items have finished it.
    pub fn store_tile(&mut self, scan: &TiledScan) {
        let target = match (scan.scan.reverse, scan.scan.rows.init.is_some()) {
            (true, _) => "base + (P)arg1 - 1 - (tile + n)",
            (false, true) => "base + (tile + n) + 1",
            (false, false) => "base + tile + n",
        };
        let each = scan.each;
        let store = |w: &mut Self| scan.scan.store(w, target, &scan.tile("n"));
        self.braces(&format!("if (filled == size * {each})"), |w| {
            w.unrolled(each, |w| {
                w.line("const uint n = item + u * size;");
                store(w);
            });
        });
        self.braces(&format!("else {BY_TURNS}"), store);
    }

    /// Executes `body` for the item's elements `u` from `first` on: without a test for each if there are as many as usual.
    fn own_elements(&mut self, each: usize, first: &str, body: impl Fn(&mut Self)) {
        self.braces(&format!("if (mine == {each})"), |w| {
            w.line("#pragma unroll");
            w.braces(&format!("for (uint u = {first}; u < {each}; u++)"), &body);
        });
        self.braces(&format!("else for (uint u = {first}; u < mine; u++)"), &body);
    }
}

/// Loops over the elements of a tile, neighbouring ones in neighbouring items.
const BY_TURNS: &str = "for (uint n = item; n < filled; n += size)";

impl TiledScan<'_> {
    /// An element of the tile.
    fn tile(&self, n: &str) -> Vec<String> {
        names_at("m", self.types, &format!("PLACE({n})"))
    }

    /// An element of the item. They have adjacent places, because their number divides 32.
    fn own(&self, u: &str) -> Vec<String> {
        names_at("m", self.types, &format!("own + {u}"))
    }
}
