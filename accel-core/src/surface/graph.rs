//! The graph of a program that is being staged: an arena of untyped nodes, one for each operation (see the glossary of
//! the book: staging).
//!
//! Each thread has a stack of staging sessions. A handle records the session to which its node belongs, so every use in
//! another session is detected. The session stores the first mistake, and [`super::stage`] reports it.
//!
//! NOTE [Captured arrays]: a program may use arrays and numbers of the programs around it, whose sessions are below on the
//! stack. Such a program is lifted, as lambda lifting does it: its argument is the pair of its own argument and the
//! tuple of what it captures. So programs stay closed, and no pass knows of captures. The lifted program remembers the
//! handles. `call` passes them on in the session in which it is used, where they may be captured again; all mistakes with
//! them are found there. Derivatives are those of the lifted program by parts of its own argument. A number is captured
//! as an array without dimensions. The types of the components are known only at the end, so the tuple nests to
//! the right, and grows there.

use super::extents::{Extents, Nodes};
use crate::error::{Error, Result};
use crate::repr::{Agreement, RawTy};
use std::cell::RefCell;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

pub use super::node::{ArrayOp, Dir, Lam, Node, NodeId, Op, Part, ScalarOp};

/// A recorded program.
#[derive(Debug)]
pub struct Staged {
    /// All nodes. Some of them may not be reachable from the root.
    pub nodes: Vec<Node>,
    /// The program's argument; if there are captured values, the pair of it and their tuple.
    pub param: NodeId,
    /// The program's result.
    pub root: NodeId,
    /// The values of programs around this one that it uses.
    pub captured: Vec<Captured>,
}

/// A value of a program around this one that this one uses: see NOTE [Captured arrays].
#[derive(Clone, Debug)]
pub struct Captured {
    value: Handle,
    /// Whether scalar code computes it.
    is_number: bool,
    /// The first use.
    site: Site,
    /// In this program: the tuple of this and all later captured values, the value's array, and the value.
    nodes: [NodeId; 3],
}

impl Captured {
    /// The error of a program with this captured value that is used by itself.
    pub(crate) fn error(&self) -> Error {
        let detail = "it belongs to the program around this one, so that only `call` in that program can use this one";
        Error::Scope { op: self.site.name, at: self.site.at, detail: detail.into() }
    }
}

/// The content of [`Exp`](super::Exp) and [`Acc`](super::Acc): a session and one of its nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handle {
    session: u64,
    node: NodeId,
}

impl Handle {
    /// A handle without a session, for operations outside of any program.
    pub const DEAD: Handle = Handle { session: 0, node: NodeId(0) };
}

/// The function that the user called, and its place in the user's source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub name: &'static str,
    pub at: &'static Location<'static>,
}

struct Session {
    id: u64,
    nodes: Vec<Node>,
    extents: Extents,
    captured: Vec<Captured>,
    error: Option<Error>,
    /// The site for new nodes while a derived function of the library runs.
    site: Option<Site>,
}

thread_local! {
    static SESSIONS: RefCell<Vec<Session>> = const { RefCell::new(vec![]) };
}

/// The next session number in this process; 0 is the session of [`Handle::DEAD`].
static NEXT_SESSION: AtomicU64 = AtomicU64::new(1);

/// The first node of a program: its argument together with what it captures.
const WHOLE: NodeId = NodeId(0);

/// Runs `f` on the innermost session; `None` if there is none.
fn with_session<R>(f: impl FnOnce(&mut Vec<Session>) -> R) -> Option<R> {
    SESSIONS
        .try_with(|sessions| {
            let mut sessions = sessions.borrow_mut();
            (!sessions.is_empty()).then(|| f(&mut sessions))
        })
        .ok()
        .flatten()
}

/// Whether this thread records a program.
pub(crate) fn is_recording() -> bool {
    with_session(|_| ()).is_some()
}

/// Adds nodes to the innermost session and resolves the handles to which they refer.
pub(crate) struct Builder<'a> {
    session: &'a mut Session,
    /// The surrounding sessions.
    outer: &'a [Session],
    site: Site,
}

impl Builder<'_> {
    /// The node of a handle. A handle of a surrounding session is captured. One of another session is an error of the
    /// program; a node of this session replaces it.
    pub fn id(&mut self, h: Handle) -> NodeId {
        if h.session == self.session.id {
            return h.node;
        }
        if let Some(captured) = self.captured(h) {
            return captured;
        }
        self.fail(out_of_scope(h, self.site));
        NodeId(0)
    }

    /// The node for a value of a surrounding session.
    fn captured(&mut self, h: Handle) -> Option<NodeId> {
        if let Some(c) = self.session.captured.iter().find(|c| c.value == h) {
            return Some(c.nodes[2]);
        }
        let outside = &self.outer.iter().find(|s| s.id == h.session)?.nodes[h.node.index()];
        let t = outside.ty.clone();
        let is_number = match outside.op {
            Op::Scalar(_) => true,
            Op::Array(_) => false,
            Op::Param => !t.is_array_tuple(),
        };
        let before = self.session.captured.last().map_or(WHOLE, |c| c.nodes[0]);
        let rest = self.push(ArrayOp::Snd(before), RawTy::Unit);
        let [array, value] = if is_number {
            let array = self.push(ArrayOp::Fst(rest), RawTy::array(RawTy::Unit, t.clone()));
            let index = self.push(ScalarOp::Unit, RawTy::Unit);
            [array, self.push(ScalarOp::Index(array, index), t)]
        } else {
            [self.push(ArrayOp::Fst(rest), t); 2]
        };
        let nodes = [rest, array, value];
        self.session.captured.push(Captured { value: h, is_number, site: self.site, nodes });
        Some(value)
    }

    /// A pair of arrays or tuples of them.
    pub fn array_pair(&mut self, x: NodeId, y: NodeId) -> NodeId {
        let ty = RawTy::pair(self.ty(x), self.ty(y));
        self.push(ArrayOp::Pair(x, y), ty)
    }

    /// The array without dimensions that contains a number.
    pub fn unit(&mut self, x: NodeId) -> NodeId {
        let index = self.push(Op::Param, RawTy::Unit);
        let shape = self.push(ScalarOp::Unit, RawTy::Unit);
        let ty = RawTy::array(RawTy::Unit, self.ty(x));
        self.push(ArrayOp::Generate(shape, Lam { params: vec![index], body: x }), ty)
    }

    /// The type of a node.
    pub fn ty(&self, n: NodeId) -> RawTy {
        self.session.nodes[n.index()].ty.clone()
    }

    /// The operation of a node.
    pub fn op(&self, n: NodeId) -> &Op {
        &self.session.nodes[n.index()].op
    }

    /// Records an error, unless there is one already.
    pub fn fail(&mut self, e: Error) {
        self.session.error.get_or_insert(e);
    }

    /// Records that an operand has the wrong type.
    pub fn type_error(&mut self, expected: &str, found: &RawTy) {
        let op = format!("`{}` at {}", self.site.name, self.site.at);
        self.fail(Error::Type { op, expected: expected.into(), found: found.to_string() })
    }

    /// Adds a node.
    pub fn push(&mut self, op: impl Into<Op>, ty: RawTy) -> NodeId {
        let Ok(n) = u32::try_from(self.session.nodes.len()) else {
            self.fail(Error::Internal("a program of more than 2^32 operations".into()));
            return NodeId(0);
        };
        let Session { nodes, extents, .. } = &mut *self.session;
        nodes.push(Node { op: op.into(), ty, at: self.site.at, name: self.site.name });
        extents.define(NodeId(n), nodes);
        let (name, at) = (self.site.name, self.site.at);
        if let Some(e) = extents.impossible(NodeId(n), || format!("`{name}` at {at}")) {
            self.fail(e);
        }
        NodeId(n)
    }
}

/// Lets `f` add nodes to the innermost session on behalf of the function `name`; returns a handle of the node that `f`
/// returns.
pub(crate) fn build(
    name: &'static str,
    at: &'static Location<'static>,
    f: impl FnOnce(&mut Builder) -> NodeId,
) -> Handle {
    let mut f = Some(f);
    build_dyn(name, at, &mut |b| f.take().map_or(NodeId(0), |f| f(b)))
}

/// The part of [`build`] that is compiled only once. Its callers are compiled in users' crates, which contain only the
/// small closure.
fn build_dyn(name: &'static str, at: &'static Location<'static>, f: &mut dyn FnMut(&mut Builder) -> NodeId) -> Handle {
    with_session(|sessions| {
        let outer_count = sessions.len() - 1;
        let (outer, innermost) = sessions.split_at_mut(outer_count);
        let session = &mut innermost[0];
        let site = session.site.unwrap_or(Site { name, at });
        let node = f(&mut Builder { session, outer, site });
        Handle { session: innermost[0].id, node }
    })
    .unwrap_or(Handle::DEAD)
}

/// The error of a function that uses a handle of a session that is not on the stack.
fn out_of_scope(h: Handle, Site { name, at }: Site) -> Error {
    let detail = if h.session == 0 {
        "it was made where no program was being written"
    } else {
        "the program it belongs to is finished, or is written by another thread"
    };
    Error::Scope { op: name, at, detail: detail.into() }
}

/// Checks that the captured values of a program belong to programs that are being written.
pub(crate) fn check_scope(captured: &[Captured], name: &'static str, at: &'static Location<'static>) -> Result<()> {
    let is_open = |c: &&Captured| with_session(|all| all.iter().any(|s| s.id == c.value.session)).unwrap_or(false);
    match captured.iter().find(|c| !is_open(c)) {
        Some(c) => Err(out_of_scope(c.value, Site { name, at })),
        None => Ok(()),
    }
}

/// The argument of a program that captures values: the pair of its own argument and the tuple of these. Without any, its
/// own argument.
pub(crate) fn lifted(args: Handle, captured: &[Captured], at: &'static Location<'static>) -> Handle {
    if captured.is_empty() {
        return args;
    }
    let all = tuple_of(captured, at);
    build("call", at, |b| {
        let (args, all) = (b.id(args), b.id(all));
        b.array_pair(args, all)
    })
}

/// The tuple of captured values.
pub(crate) fn tuple_of(captured: &[Captured], at: &'static Location<'static>) -> Handle {
    build("call", at, |b| {
        let none = b.push(ArrayOp::Unit, RawTy::Unit);
        captured.iter().rev().fold(none, |rest, c| {
            let value = b.id(c.value);
            let array = if c.is_number { b.unit(value) } else { value };
            b.array_pair(array, rest)
        })
    })
}

impl Nodes for Vec<Node> {
    fn op(&self, n: NodeId) -> &Op {
        &self[n.index()].op
    }
    fn ty(&self, n: NodeId) -> &RawTy {
        &self[n.index()].ty
    }
}

/// Whether the shapes of two arrays agree, as far as the innermost session can see.
pub(crate) fn visibly_agree(agreement: Agreement, left: Handle, right: Handle) -> bool {
    let agree = |s: &Session| {
        [left, right].iter().all(|h| h.session == s.id) && s.extents.agree(agreement, left.node, right.node)
    };
    with_session(|sessions| sessions.last().is_some_and(agree)).unwrap_or(false)
}

/// Restores the previous site for new nodes when dropped.
pub(crate) struct SiteGuard {
    session: u64,
    before: Option<Site>,
}

impl Drop for SiteGuard {
    fn drop(&mut self) {
        with_session(|sessions| {
            if let Some(s) = sessions.iter_mut().rev().find(|s| s.id == self.session) {
                s.site = self.before;
            }
        });
    }
}

fn set_site(change: impl FnOnce(Option<Site>) -> Option<Site>) -> SiteGuard {
    with_session(|sessions| {
        let innermost = sessions.len() - 1;
        let s = &mut sessions[innermost];
        let before = s.site;
        s.site = change(before);
        SiteGuard { session: s.id, before }
    })
    .unwrap_or(SiteGuard { session: 0, before: None })
}

/// Until the guard is dropped, new nodes have as their site the call of the function `name` at `at`, unless there is
/// already the site of a caller. Library functions that are defined in terms of others use this.
pub(crate) fn attribute_to(name: &'static str, at: &'static Location<'static>) -> SiteGuard {
    set_site(|before| before.or(Some(Site { name, at })))
}

/// Runs `f`, in which new nodes have as their site the call of the function `name` at `at`: for programs that other crates record on
/// behalf of a user.
pub fn attributed<R>((name, at): (&'static str, &'static Location<'static>), f: impl FnOnce() -> R) -> R {
    let _site = attribute_to(name, at);
    f()
}

/// Runs a closure of the user inside such a function: its nodes get the sites of the calls in the closure.
pub(crate) fn users<R>(f: impl FnOnce() -> R) -> R {
    let _guard = set_site(|_| None);
    f()
}

/// Ends its session when dropped, also during unwinding.
struct OpenSession(u64);

impl OpenSession {
    fn new() -> Self {
        let id = NEXT_SESSION.fetch_add(1, Ordering::Relaxed);
        // If the thread is already being destroyed, there is no session, and all handles are dead.
        let _ = SESSIONS.try_with(|s| {
            s.borrow_mut().push(Session {
                id,
                nodes: vec![],
                extents: Extents::default(),
                captured: vec![],
                error: None,
                site: None,
            })
        });
        OpenSession(id)
    }

    fn close(&self) -> Option<Session> {
        SESSIONS
            .try_with(|s| {
                let mut sessions = s.borrow_mut();
                let place = sessions.iter().rposition(|s| s.id == self.0)?;
                sessions.split_off(place).into_iter().next()
            })
            .ok()
            .flatten()
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        self.close();
    }
}

/// Calls `f` once with a handle of the program's argument, and returns the recorded program: see [`super::stage`].
pub(crate) fn record(arg: RawTy, at: &'static Location<'static>, f: impl FnOnce(Handle) -> Handle) -> Result<Staged> {
    let open = OpenSession::new();
    let [_whole, param] = [RawTy::Unit, arg.clone()].map(|t| build("program", at, |b| b.push(Op::Param, t)));
    let result = f(param);
    let root = build("program", at, |b| b.id(result));
    let session = open.close().ok_or_else(|| Error::Internal("the staging session was lost".into()))?;
    if let Some(e) = session.error {
        return Err(e);
    }
    let Session { mut nodes, captured, .. } = session;
    let mut param = param.node;
    if !captured.is_empty() {
        let mut all = RawTy::Unit;
        for Captured { nodes: [rest, array, _], .. } in captured.iter().rev() {
            all = RawTy::pair(nodes[array.index()].ty.clone(), all);
            nodes[rest.index()].ty = all.clone();
        }
        nodes[WHOLE.index()].ty = RawTy::pair(arg, all);
        nodes[param.index()].op = ArrayOp::Fst(WHOLE).into();
        param = WHOLE;
    }
    Ok(Staged { nodes, param, root: root.node, captured })
}
