//! The layout of printed programs: documents in the style of Wadler, with lines of up to 100 columns.

use crate::ast::Src;
use pretty::{Arena, DocAllocator, DocBuilder};

/// The maximal width of a line.
const WIDTH: usize = 100;
/// Nesting deeper than this is not indented further, so the length of the text of a deep tree is linear, not quadratic.
const MAX_INDENT: usize = 20;

/// A document: text with places where a line may be broken.
pub(super) type Doc<'d> = DocBuilder<'d, Arena<'d>>;

/// What to print in addition to the operations.
#[derive(Clone, Debug, Default)]
pub struct PrintOptions {
    /// The type of every variable at its binder.
    pub types: bool,
    /// The source line of every operation that has one.
    pub source_lines: bool,
    /// Print `…` for everything that is nested more deeply than this.
    pub max_depth: Option<usize>,
}

/// What all parts of one printout share.
pub(super) struct Printer<'d, 'o> {
    pub arena: &'d Arena<'d>,
    pub options: &'o PrintOptions,
}

/// The position of a term in the tree.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    /// The number of scalar variables in scope.
    pub scalars: usize,
    /// The number of array variables in scope.
    pub arrays: usize,
    depth: usize,
}

impl Scope {
    pub fn new(scalars: usize, arrays: usize) -> Self {
        Scope { scalars, arrays, depth: 0 }
    }
    /// The scope with `n` more scalar variables.
    pub fn scalars(self, n: usize) -> Self {
        Scope { scalars: self.scalars + n, ..self }
    }
    /// The scope with one more array variable.
    pub fn array(self) -> Self {
        Scope { arrays: self.arrays + 1, ..self }
    }
    /// The scope of scalar code whose only scalar variables are `n` arguments.
    pub fn closed(self, n: usize) -> Self {
        Scope { scalars: n, ..self }
    }
    /// One node further away from the root.
    pub fn deeper(self) -> Self {
        Scope { depth: self.depth + 1, ..self }
    }
}

/// The text of a document.
pub(super) fn render(doc: &Doc<'_>) -> String {
    let text = doc.pretty(WIDTH).to_string();
    // A line that is broken after its last word may end with a space.
    if text.contains(" \n") { text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") } else { text }
}

impl<'d> Printer<'d, '_> {
    pub fn text(&self, s: impl Into<std::borrow::Cow<'d, str>>) -> Doc<'d> {
        self.arena.text(s)
    }
    /// Whether a term is nested too deeply to be printed.
    pub fn elided(&self, s: Scope) -> bool {
        self.options.max_depth.is_some_and(|max| s.depth > max)
    }
    /// The next term of a chain (of definitions or operands). It counts as one level of nesting only if the depth is
    /// limited.
    pub fn along(&self, s: Scope) -> Scope {
        if self.options.max_depth.is_some() { s.deeper() } else { s }
    }
    pub fn indent(&self, doc: Doc<'d>, s: Scope) -> Doc<'d> {
        doc.nest(if s.depth < MAX_INDENT { 2 } else { 0 })
    }
    /// Adds parentheses if `doc` binds less tightly than its context requires.
    pub fn parens_if(&self, needed: bool, doc: Doc<'d>) -> Doc<'d> {
        if needed { self.text("(").append(doc).append(")") } else { doc }
    }
    /// The same for definitions; their lines stay aligned.
    pub fn parens_if_lines(&self, needed: bool, doc: Doc<'d>, s: Scope) -> Doc<'d> {
        self.parens_if(needed, doc.nest(if needed && s.depth < MAX_INDENT { 1 } else { 0 }))
    }
    /// Prints `head arg arg`, or one argument per line.
    pub fn apply(&self, head: Doc<'d>, args: Vec<Doc<'d>>, s: Scope) -> Doc<'d> {
        let mut tail = self.arena.nil();
        for arg in args {
            tail = tail.append(self.arena.line()).append(arg)
        }
        head.append(self.indent(tail, s)).group()
    }
    /// Prints `head doc`, or `doc` on separate lines.
    pub fn block(&self, head: Doc<'d>, doc: Doc<'d>, s: Scope) -> Doc<'d> {
        head.append(self.indent(self.arena.line().append(doc), s).group())
    }
    /// Prints `open a, b close`, or one item per line.
    pub fn list(&self, open: &'static str, items: Vec<Doc<'d>>, close: &'static str, s: Scope) -> Doc<'d> {
        let comma = self.text(",").append(self.arena.line());
        let inner = self.arena.line_().append(self.arena.intersperse(items, comma));
        self.text(open).append(self.indent(inner, s)).append(self.arena.line_()).append(close).group()
    }
    /// Prints a variable by the level of its binder. If there is no such binder, which happens only in a broken tree:
    /// `?` and the index.
    pub fn variable(&self, prefix: char, depth: usize, size: usize) -> Doc<'d> {
        match size.checked_sub(depth + 1) {
            Some(level) => self.text(format!("{prefix}{level}")),
            None => self.text(format!("{prefix}?{depth}")),
        }
    }
    /// Prints a variable at its binder, with its type on request.
    pub fn binder(&self, prefix: char, level: usize, ty: &dyn std::fmt::Display) -> Doc<'d> {
        let name = format!("{prefix}{level}");
        self.text(if self.options.types { format!("{name}: {ty}") } else { name })
    }
    /// Prints the name of an operation, with its source line on request.
    pub fn operation(&self, name: &'static str, at: Src) -> Doc<'d> {
        match at {
            Some(at) if self.options.source_lines => self.text(format!("{name}@{}:{}", at.at.file(), at.at.line())),
            _ => self.text(name),
        }
    }
    /// Prints `\\x0 -> ..`; `binder` prints the arguments.
    pub fn lambda(&self, args: Vec<Doc<'d>>, body: Doc<'d>, s: Scope) -> Doc<'d> {
        let args = args.into_iter().map(|a| self.parens_if(self.options.types, a));
        let head = self.text("\\").append(self.arena.intersperse(args, " ")).append(" ->");
        self.parens_if(true, self.block(head, body, s))
    }
}
