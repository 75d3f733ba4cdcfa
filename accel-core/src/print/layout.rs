//! How text is laid out: documents in the style of Wadler, broken at 100 columns.

use super::PrintOptions;
use crate::ast::Src;
use pretty::{Arena, DocAllocator, DocBuilder};

/// The width that lines are broken at.
const WIDTH: usize = 100;
/// Deeper nesting is no longer indented, so that the text of a deep tree is as long as the tree and not as its square.
const MAX_INDENT: usize = 20;

/// A piece of text with places where it may be broken.
pub(super) type Doc<'d> = DocBuilder<'d, Arena<'d>>;

/// What all parts of one printout share.
pub(super) struct Printer<'d, 'o> {
    pub arena: &'d Arena<'d>,
    pub options: &'o PrintOptions,
}

/// Where in the tree a term is.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    /// How many scalar variables there are.
    pub scalars: usize,
    /// How many array variables there are.
    pub arrays: usize,
    depth: usize,
}

impl Scope {
    pub fn new(scalars: usize, arrays: usize) -> Self {
        Scope { scalars, arrays, depth: 0 }
    }
    /// Below `n` more scalar variables.
    pub fn scalars(self, n: usize) -> Self {
        Scope { scalars: self.scalars + n, ..self }
    }
    /// Below one more array variable.
    pub fn array(self) -> Self {
        Scope { arrays: self.arrays + 1, ..self }
    }
    /// In scalar code that sees no scalar variables but `n` arguments.
    pub fn closed(self, n: usize) -> Self {
        Scope { scalars: n, ..self }
    }
    /// One node further from the root.
    pub fn deeper(self) -> Self {
        Scope { depth: self.depth + 1, ..self }
    }
}

/// The text of a document.
pub(super) fn render(doc: &Doc<'_>) -> String {
    let text = doc.pretty(WIDTH).to_string();
    // A line that is broken after its last word may keep a space.
    if text.contains(" \n") { text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") } else { text }
}

impl<'d> Printer<'d, '_> {
    pub fn text(&self, s: impl Into<std::borrow::Cow<'d, str>>) -> Doc<'d> {
        self.arena.text(s)
    }
    /// Whether a term is nested too deep to be printed.
    pub fn elided(&self, s: Scope) -> bool {
        self.options.max_depth.is_some_and(|max| s.depth > max)
    }
    /// The next term of a chain (of definitions, of operands), which counts as one level of nesting unless depth is limited.
    pub fn along(&self, s: Scope) -> Scope {
        if self.options.max_depth.is_some() { s.deeper() } else { s }
    }
    pub fn indent(&self, doc: Doc<'d>, s: Scope) -> Doc<'d> {
        doc.nest(if s.depth < MAX_INDENT { 2 } else { 0 })
    }
    /// Parentheses where `doc` binds weaker than its place asks for.
    pub fn parens_if(&self, needed: bool, doc: Doc<'d>) -> Doc<'d> {
        if needed { self.text("(").append(doc).append(")") } else { doc }
    }
    /// The same for definitions, whose lines stay aligned.
    pub fn parens_if_lines(&self, needed: bool, doc: Doc<'d>, s: Scope) -> Doc<'d> {
        self.parens_if(needed, doc.nest(if needed && s.depth < MAX_INDENT { 1 } else { 0 }))
    }
    /// `head arg arg`, or one argument per line.
    pub fn apply(&self, head: Doc<'d>, args: Vec<Doc<'d>>, s: Scope) -> Doc<'d> {
        let mut tail = self.arena.nil();
        for arg in args {
            tail = tail.append(self.arena.line()).append(arg)
        }
        head.append(self.indent(tail, s)).group()
    }
    /// `head doc`, or `doc` in lines of its own.
    pub fn block(&self, head: Doc<'d>, doc: Doc<'d>, s: Scope) -> Doc<'d> {
        head.append(self.indent(self.arena.line().append(doc), s).group())
    }
    /// `open a, b close`, or an item per line.
    pub fn list(&self, open: &'static str, items: Vec<Doc<'d>>, close: &'static str, s: Scope) -> Doc<'d> {
        let comma = self.text(",").append(self.arena.line());
        let inner = self.arena.line_().append(self.arena.intersperse(items, comma));
        self.text(open).append(self.indent(inner, s)).append(self.arena.line_()).append(close).group()
    }
    /// A variable by the level of its binder; `?` and the index if there is no such binder, which only a broken tree has.
    pub fn variable(&self, prefix: char, depth: usize, size: usize) -> Doc<'d> {
        match size.checked_sub(depth + 1) {
            Some(level) => self.text(format!("{prefix}{level}")),
            None => self.text(format!("{prefix}?{depth}")),
        }
    }
    /// A variable where it is bound, with its type on request.
    pub fn binder(&self, prefix: char, level: usize, ty: &dyn std::fmt::Display) -> Doc<'d> {
        let name = format!("{prefix}{level}");
        self.text(if self.options.types { format!("{name}: {ty}") } else { name })
    }
    /// An operation's name, with its source line on request.
    pub fn operation(&self, name: &'static str, at: Src) -> Doc<'d> {
        match at {
            Some(at) if self.options.source_lines => self.text(format!("{name}@{}:{}", at.file(), at.line())),
            _ => self.text(name),
        }
    }
    /// `\x0 -> ..`; the arguments as made by `binder`.
    pub fn lambda(&self, args: Vec<Doc<'d>>, body: Doc<'d>, s: Scope) -> Doc<'d> {
        let args = args.into_iter().map(|a| self.parens_if(self.options.types, a));
        let head = self.text("\\").append(self.arena.intersperse(args, " ")).append(" ->");
        self.parens_if(true, self.block(head, body, s))
    }
}
