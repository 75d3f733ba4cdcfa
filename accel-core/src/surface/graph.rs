//! The graph that a program writes down while it is staged: an arena of untyped nodes, one per operation.
//!
//! Each thread has a stack of staging sessions. A handle says which session its node belongs to, so using it anywhere else
//! is detected: the session remembers the first mistake and [`stage`] reports it.

use super::Acc;
use crate::ast::ty::Repr;
use crate::ast::{ExpTransform, Program};
use crate::error::{Error, Result};
use crate::repr::op::{Op1, Op2};
use crate::repr::{Agreement, ArrayTuple, RawTy, Scalar};
use crate::types::Arrays;
use std::cell::RefCell;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The place of a node in its graph. What a node refers to has smaller numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// As an index into [`Staged::nodes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// The type of its result.
    pub ty: RawTy,
    /// Where the user called for it.
    pub at: &'static Location<'static>,
    /// The function, method or operator that the user called.
    pub name: &'static str,
}

/// A closure: it has been called once, with parameter nodes.
#[derive(Clone, Debug)]
pub struct Lam {
    /// Nodes with [`Op::Param`].
    pub params: Vec<NodeId>,
    /// The result in terms of them.
    pub body: NodeId,
}

/// Which end a scan starts from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dir {
    /// From the first element.
    Left,
    /// From the last element.
    Right,
}

/// The operations of the scalar layer, then those of the array layer; [`Op::Param`] is in both.
#[derive(Clone, Debug)]
pub enum Op {
    /// A constant by its scalar leaves.
    Const(Arc<[Scalar]>),
    /// A parameter of a closure or of the program.
    Param,
    /// The empty tuple.
    Unit,
    /// A pair of scalar values.
    Pair(NodeId, NodeId),
    /// The first component.
    Fst(NodeId),
    /// The second component.
    Snd(NodeId),
    /// A primitive function of one argument.
    Prim1(Op1, NodeId),
    /// A primitive function of two arguments.
    Prim2(Op2, NodeId, NodeId),
    /// Condition and branches.
    Cond(NodeId, NodeId, NodeId),
    /// A loop: `body` applied to `init` as long as `cond` holds.
    While {
        /// Whether to go on.
        cond: Lam,
        /// One step.
        body: Lam,
        /// The first state.
        init: NodeId,
    },
    /// The element of an array at an index.
    Index(NodeId, NodeId),
    /// The shape of an array.
    Shape(NodeId),
    /// A transformed scalar function applied to an argument, for example its gradient.
    Transform {
        /// What makes another function of `fun`.
        transform: Arc<dyn ExpTransform>,
        /// The function.
        fun: Lam,
        /// What the transformed function is applied to.
        arg: NodeId,
    },

    /// A constant array or tuple of arrays.
    Use(ArrayTuple),
    /// The empty tuple of arrays.
    AUnit,
    /// A pair of arrays or array tuples.
    APair(NodeId, NodeId),
    /// The first component of an array tuple.
    AFst(NodeId),
    /// The second component of an array tuple.
    ASnd(NodeId),
    /// The array of a shape with each element computed from its index.
    Generate(NodeId, Lam),
    /// A function of every element.
    Map(Lam, NodeId),
    /// An array, and an error where two shapes do not agree.
    Agree {
        /// What is demanded.
        agreement: Agreement,
        /// The first shape.
        left: NodeId,
        /// The second one.
        right: NodeId,
        /// The array.
        a: NodeId,
    },
    /// A function of the elements of two arrays at the same index; the shape is the intersection.
    ZipWith(Lam, NodeId, NodeId),
    /// Combines each innermost row, starting with a value: function, value, array.
    Fold(Lam, NodeId, NodeId),
    /// Combines each innermost row, which must not be empty.
    Fold1(Lam, NodeId),
    /// All partial results of a fold, the initial value included: n + 1 elements for n.
    Scan {
        /// Where to start.
        dir: Dir,
        /// The operator.
        f: Lam,
        /// The initial value.
        z: NodeId,
        /// The array.
        a: NodeId,
    },
    /// All partial results of a fold without initial value: n elements for n.
    Scan1 {
        /// Where to start.
        dir: Dir,
        /// The operator.
        f: Lam,
        /// The array.
        a: NodeId,
    },
    /// Sends elements to places of an array of defaults, combining what meets.
    Permute {
        /// New and old element to the combined one.
        comb: Lam,
        /// The defaults; the result has their shape.
        def: NodeId,
        /// The source index to `(bool, target index)`: whether to send the element at all, and where to.
        index: Lam,
        /// The elements.
        src: NodeId,
    },
    /// The array of a shape with each element fetched from the index that a function gives.
    Backpermute(NodeId, Lam, NodeId),
    /// The same elements in row-major order in another shape of the same size.
    Reshape(NodeId, NodeId),
    /// Adds dimensions by repetition.
    Replicate {
        /// Per dimension of the result, outermost first: whether it is one of the argument's.
        spec: Arc<[bool]>,
        /// The new extents: a value of the shape type of as many dimensions as are new.
        slx: NodeId,
        /// The array.
        a: NodeId,
    },
    /// Removes dimensions by choosing an index.
    Slice {
        /// Per dimension of the argument, outermost first: whether it is kept.
        spec: Arc<[bool]>,
        /// The indices chosen: a value of the shape type of as many dimensions as are removed.
        slx: NodeId,
        /// The array.
        a: NodeId,
    },
    /// Condition (a scalar) and two arrays or array tuples.
    Acond(NodeId, NodeId, NodeId),
    /// A finished program applied to its argument.
    Call(Program, NodeId),
    /// A loop over arrays. The condition's result is a scalar array of `bool`.
    Awhile {
        /// Whether to go on.
        cond: Lam,
        /// One step.
        body: Lam,
        /// The first state.
        init: NodeId,
    },
}

/// A program as it was written down.
#[derive(Debug)]
pub struct Staged {
    /// All nodes; some may not be reachable from the root.
    pub nodes: Vec<Node>,
    /// The program's argument.
    pub param: NodeId,
    /// The program's result.
    pub root: NodeId,
}

/// What [`Exp`](super::Exp) and [`Acc`] are: a session and a node of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handle {
    session: u64,
    node: NodeId,
}

impl Handle {
    /// A handle that belongs to no session, for what is written outside of any program.
    pub const DEAD: Handle = Handle { session: 0, node: NodeId(0) };
}

/// Function called and source line of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub name: &'static str,
    pub at: &'static Location<'static>,
}

struct Session {
    id: u64,
    nodes: Vec<Node>,
    error: Option<Error>,
    /// What new nodes are attributed to while a derived function of the library runs.
    site: Option<Site>,
}

thread_local! {
    static SESSIONS: RefCell<Vec<Session>> = const { RefCell::new(vec![]) };
}

/// Numbers sessions in the whole process; 0 is [`Handle::DEAD`]'s.
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

/// Adds nodes to the innermost session, resolving the handles they refer to.
pub(crate) struct Builder<'a> {
    session: &'a mut Session,
    /// The sessions around it.
    outer: Vec<u64>,
    site: Site,
}

impl Builder<'_> {
    /// The node of a handle. A handle of another session is an error of the program; some node of this one stands in.
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

    /// Remembers an error, if it is the first one.
    pub fn fail(&mut self, e: Error) {
        self.session.error.get_or_insert(e);
    }

    /// Remembers that an operand has the wrong type.
    pub fn type_error(&mut self, expected: &str, found: &RawTy) {
        let op = format!("`{}` at {}", self.site.name, self.site.at);
        self.fail(Error::Type { op, expected: expected.into(), found: found.to_string() })
    }

    /// Adds a node.
    pub fn push(&mut self, op: Op, ty: RawTy) -> NodeId {
        let Ok(n) = u32::try_from(self.session.nodes.len()) else {
            self.fail(Error::Internal("a program of more than 2^32 operations".into()));
            return NodeId(0);
        };
        self.session.nodes.push(Node { op, ty, at: self.site.at, name: self.site.name });
        NodeId(n)
    }
}

/// Lets `f` add to the innermost session on behalf of function `name`, and makes a handle of the node it returns.
pub(crate) fn build(
    name: &'static str,
    at: &'static Location<'static>,
    f: impl FnOnce(&mut Builder) -> NodeId,
) -> Handle {
    let mut f = Some(f);
    build_dyn(name, at, &mut |b| f.take().map_or(NodeId(0), |f| f(b)))
}

/// [`build`], compiled once: users' crates, where its callers are compiled, hold only the little closure.
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

/// Undoes a change of the attribution of nodes when dropped.
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

/// Until the guard is dropped, new nodes are attributed to the function `name` called at `at`, unless they already are to
/// one that called it. For functions of the library that are written in terms of others.
pub(crate) fn attribute_to(name: &'static str, at: &'static Location<'static>) -> SiteGuard {
    set_site(|before| before.or(Some(Site { name, at })))
}

/// Runs a closure of the user within such a function: its nodes are attributed to what the user calls in it.
pub(crate) fn users<R>(f: impl FnOnce() -> R) -> R {
    let _guard = set_site(|_| None);
    f()
}

/// Ends its session when dropped, on unwinding too.
struct OpenSession(u64);

impl OpenSession {
    fn new() -> Self {
        let id = NEXT_SESSION.fetch_add(1, Ordering::Relaxed);
        // Where the thread is already going down there is no session, and everything written gets dead handles.
        let _ = SESSIONS.try_with(|s| s.borrow_mut().push(Session { id, nodes: vec![], error: None, site: None }));
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

/// Calls `f` once with a handle of the program's argument and keeps what it writes down.
///
/// # Errors
/// The first misuse of a handle, such as one of another program.
#[track_caller]
pub fn stage<A: Arrays, R: Arrays>(f: impl FnOnce(Acc<A>) -> Acc<R>) -> Result<Staged> {
    let at = Location::caller();
    stage_untyped(A::Repr::raw(), at, |h| f(Acc::new(h)).handle())
}

fn stage_untyped(arg: RawTy, at: &'static Location<'static>, f: impl FnOnce(Handle) -> Handle) -> Result<Staged> {
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
