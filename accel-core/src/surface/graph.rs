//! The graph of a program that is being staged: an arena of untyped nodes, one for each operation (see the glossary of
//! the book: staging).
//!
//! Each thread has a stack of staging sessions. A handle records the session to which its node belongs, so every use in
//! another session is detected. The session stores the first mistake, and [`super::stage`] reports it.

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
    /// The program's argument.
    pub param: NodeId,
    /// The program's result.
    pub root: NodeId,
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
    error: Option<Error>,
    /// The site for new nodes while a derived function of the library runs.
    site: Option<Site>,
}

thread_local! {
    static SESSIONS: RefCell<Vec<Session>> = const { RefCell::new(vec![]) };
}

/// The next session number in this process; 0 is the session of [`Handle::DEAD`].
static NEXT_SESSION: AtomicU64 = AtomicU64::new(1);

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

/// Adds nodes to the innermost session and resolves the handles to which they refer.
pub(crate) struct Builder<'a> {
    session: &'a mut Session,
    /// The surrounding sessions.
    outer: Vec<u64>,
    site: Site,
}

impl Builder<'_> {
    /// The node of a handle. A handle of another session is an error of the program; a node of this session replaces
    /// it.
    pub fn id(&mut self, h: Handle) -> NodeId {
        if h.session == self.session.id {
            return h.node;
        }
        let detail = if h.session == 0 {
            "it was made where no program was being written"
        } else if self.outer.contains(&h.session) {
            "it belongs to the program around this one; pass it as an argument"
        } else {
            "the program it belongs to is finished, or is written by another thread"
        };
        self.fail(Error::Scope { op: self.site.name, at: self.site.at, detail: detail.into() });
        NodeId(0)
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
        let outer = outer.iter().map(|s| s.id).collect();
        let node = f(&mut Builder { session, outer, site });
        Handle { session: innermost[0].id, node }
    })
    .unwrap_or(Handle::DEAD)
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
            s.borrow_mut().push(Session { id, nodes: vec![], extents: Extents::default(), error: None, site: None })
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
    let param = build("program", at, |b| b.push(Op::Param, arg));
    let result = f(param);
    let root = build("program", at, |b| b.id(result));
    let session = open.close().ok_or_else(|| Error::Internal("the staging session was lost".into()))?;
    match session.error {
        Some(e) => Err(e),
        None => Ok(Staged { nodes: session.nodes, param: param.node, root: root.node }),
    }
}
