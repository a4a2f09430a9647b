// SPDX-License-Identifier: Apache-2.0
//! Compositions (2.10), control flow (2.10.1) and formulas (2.12).

use super::{AttributeAssignment, Expr, Ident, LoopBound, PackSpec, Path, Subscript, TypeSpec};
use crate::source::Span;
use serde::Serialize;

/// `targets = value;` of `@compose`, `@update` or a block.
#[derive(Clone, Debug, Serialize)]
pub struct Component {
    pub targets: Vec<Target>,
    pub value: ComponentValue,
    pub span: Span,
}

/// One left-hand side.
#[allow(
    clippy::large_enum_variant,
    reason = "few per file; boxes would only be in the way"
)]
#[derive(Clone, Debug, Serialize)]
pub enum Target {
    Item(TargetItem),
    /// `[b, c..(k)]`.
    List {
        items: Vec<TargetItem>,
        span: Span,
    },
}

#[allow(
    clippy::large_enum_variant,
    reason = "few per file; boxes would only be in the way"
)]
#[derive(Clone, Debug, Serialize)]
pub enum TargetItem {
    /// `a`, `a..(n)`, `a: real[n]`.
    Name {
        name: Ident,
        type_spec: Option<TypeSpec>,
        pack: Option<PackSpec>,
        span: Span,
    },
    /// `(e, f)..`.
    Zip {
        names: Vec<Ident>,
        pack: Option<PackSpec>,
        span: Span,
    },
    /// `~`.
    Omitted(Span),
}

/// A right-hand side, a branch, a loop body or a condition.
#[derive(Clone, Debug, Serialize)]
pub enum ComponentValue {
    Invocation(Invocation),
    /// A compile-time expression that gives tensors: `x`, `c ? x : y`, `[x, y..]`.
    Expr(Expr),
    Block(Block),
    If(Branching),
    Loop(Box<Loop>),
    /// Already reported.
    Error(Span),
}

/// `label: module.op<T>{a=1}(x, ~, [y, z])`.
#[derive(Clone, Debug, Serialize)]
pub struct Invocation {
    pub label: Option<Ident>,
    pub operator: Path,
    pub types: Vec<Ident>,
    pub attributes: Vec<AttributeAssignment>,
    pub arguments: Vec<Argument>,
    pub span: Span,
}

#[derive(Clone, Debug, Serialize)]
pub enum Argument {
    Expr(Expr),
    /// `~`.
    Omitted(Span),
}

/// `label: { components… yield a, b; }`.
#[derive(Clone, Debug, Serialize)]
pub struct Block {
    pub label: Option<Ident>,
    pub components: Vec<Component>,
    /// Empty when `yield` is missing (reported by the parser).
    pub yields: Vec<Expr>,
    pub(crate) yield_span: Option<Span>,
    pub span: Span,
}

/// `if C then A elif C2 then B else D`.
#[derive(Clone, Debug, Serialize)]
pub struct Branching {
    /// Condition and consequent, at least one.
    pub arms: Vec<(ComponentValue, ComponentValue)>,
    pub otherwise: Box<ComponentValue>,
    pub span: Span,
}

/// `with … for … while … do..(i -> n) body while …`.
#[derive(Clone, Debug, Serialize)]
pub struct Loop {
    pub carried: Vec<Carried>,
    pub scans: Vec<Scan>,
    /// Tested before the body.
    pub before: Option<ComponentValue>,
    pub unroll: bool,
    pub count: Option<IterationCount>,
    pub body: ComponentValue,
    /// Tested after the body.
    pub after: Option<ComponentValue>,
    pub span: Span,
}

/// `v: real[n] = init`.
#[derive(Clone, Debug, Serialize)]
pub struct Carried {
    pub name: Ident,
    pub type_spec: Option<TypeSpec>,
    pub init: Expr,
    pub span: Span,
}

/// `x : xs`.
#[derive(Clone, Debug, Serialize)]
pub struct Scan {
    pub item: Ident,
    pub pack: Expr,
    pub span: Span,
}

/// `..(n)`, `..(i -> n)`, `..(i ->)`.
#[derive(Clone, Debug, Serialize)]
pub struct IterationCount {
    pub index: Option<Ident>,
    pub count: Option<Expr>,
    pub span: Span,
}

/// One formula with its locals (2.12).
#[derive(Clone, Debug, Serialize)]
pub struct Lowering {
    /// `unroll..(k -> n)`.
    pub unroll: Option<IterationCount>,
    /// `z = e,` or edition khronos' `with z = e:`.
    pub locals: Vec<(Ident, Expr)>,
    /// The written left-hand side: `y`, `y[k][i,j..]`.
    pub target: AccessTarget,
    pub op: LoweringOp,
    pub(crate) op_span: Span,
    pub value: Expr,
    pub bounds: Vec<LoopBound>,
    pub condition: Option<Expr>,
    pub span: Span,
}

/// `y[i,]`, `ys[k][i,j]`, `idx[]`.
#[derive(Clone, Debug, Serialize)]
pub struct AccessTarget {
    pub name: Ident,
    /// `[k]` of a pack.
    pub item: Option<Expr>,
    pub subscripts: Vec<Subscript>,
    pub(crate) trailing_comma: bool,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum LoweringOp {
    /// `=`
    Assign,
    /// `:=`
    Replace,
    /// `+=`
    Sum,
    /// `*=`
    Product,
    /// `&=`
    All,
    /// `|=`
    Any,
    /// `<=`, `<?=`
    Min,
    /// `>=`, `>?=`
    Max,
}
