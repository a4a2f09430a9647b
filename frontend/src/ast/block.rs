// SPDX-License-Identifier: Apache-2.0
//! Blocks other than compositions and formulas: declarations, helpers, assertions, quantization.

use super::{Expr, Ident, Path, StringLiteral};
use crate::source::Span;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum BlockKind {
    Dtype,
    Attrib,
    Input,
    Using,
    Constant,
    Variable,
    Output,
    Assert,
    Lower,
    Compose,
    Update,
    Quantize,
}

/// Where a block begins: the span of `@name`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BlockHead {
    pub kind: BlockKind,
    pub span: Span,
}

/// `T: num = real;`
#[derive(Clone, Debug, Serialize)]
pub struct TypeParameter {
    pub name: Ident,
    /// `type`, `arith`, `num` (or, wrongly, anything else).
    pub bound: Ident,
    pub default: Option<Ident>,
    pub span: Span,
}

/// `name: optional T^(r)[s..(d), ..t | bound]..(k) = value, i < n;`
#[derive(Clone, Debug, Serialize)]
pub struct Declaration {
    pub name: Ident,
    pub type_spec: TypeSpec,
    pub default: Option<Expr>,
    /// Index symbols of a constant's value (2.7).
    pub bounds: Vec<LoopBound>,
    pub span: Span,
}

/// A type with its modifiers (2.3).
#[derive(Clone, Debug, Serialize)]
pub struct TypeSpec {
    pub optional: bool,
    /// `int`, `real`, `bool`, `str`, `type`, `arith`, `num` or a generic's name.
    pub base: Ident,
    /// `^(r)`.
    pub rank: Option<Expr>,
    /// `None` when no shape was written; `Some([])` for `[]`.
    pub shape: Option<Vec<ExtentSpec>>,
    pub pack: Option<PackSpec>,
    /// Edition khronos: `dynamic` before the type.
    pub dynamic: bool,
    pub span: Span,
}

/// One extent of a shape.
#[derive(Clone, Debug, Serialize)]
pub struct ExtentSpec {
    /// Written with `..` in front: differs per item of the pack.
    pub(crate) per_item: bool,
    /// `None` is `~`.
    pub extent: Option<Expr>,
    /// After `|`.
    pub bound: Option<Expr>,
    pub pack: Option<PackSpec>,
    /// Edition khronos: `static` in front.
    pub is_static: bool,
    pub span: Span,
}

/// `..` or `..(n)`.
#[derive(Clone, Debug, Serialize)]
pub struct PackSpec {
    pub length: Option<Expr>,
    /// Edition khronos: `..(s|5)`.
    pub bound: Option<Expr>,
    /// Edition khronos: `..(static n)`.
    pub is_static: bool,
    pub span: Span,
}

/// `id < bound`.
#[derive(Clone, Debug, Serialize)]
pub struct LoopBound {
    pub name: Ident,
    pub bound: Expr,
    pub span: Span,
}

/// `lvalue = expr;` of `@using` (2.9).
#[derive(Clone, Debug, Serialize)]
pub struct Using {
    pub target: UsingTarget,
    pub value: Expr,
    pub span: Span,
}

#[derive(Clone, Debug, Serialize)]
pub enum UsingTarget {
    /// `a` or `a..(n)`.
    Name(UsingItem),
    /// `[a, b.., (e, f)..]`.
    List(Vec<UsingListItem>),
}

#[derive(Clone, Debug, Serialize)]
pub enum UsingListItem {
    Item(UsingItem),
    /// `(e, f)..(n)`.
    Zip {
        names: Vec<Ident>,
        pack: PackSpec,
        span: Span,
    },
    /// `~`: an item without a name.
    Omitted(Span),
}

#[derive(Clone, Debug, Serialize)]
pub struct UsingItem {
    pub name: Ident,
    pub pack: Option<PackSpec>,
    pub span: Span,
}

/// `condition: "message", expr, 'label': expr;` (2.8).
#[derive(Clone, Debug, Serialize)]
pub struct Assertion {
    pub condition: Expr,
    pub message: Option<StringLiteral>,
    pub values: Vec<AssertedValue>,
    pub span: Span,
}

#[derive(Clone, Debug, Serialize)]
pub struct AssertedValue {
    pub label: Option<StringLiteral>,
    pub value: Expr,
}

/// `tensor: module.op<T>{a=1};` (2.14).
#[derive(Clone, Debug, Serialize)]
pub struct Quantization {
    pub tensor: Path,
    pub operator: Path,
    pub types: Vec<Ident>,
    pub attributes: Vec<AttributeAssignment>,
    pub span: Span,
}

/// `name = expr` in `{ }`.
#[derive(Clone, Debug, Serialize)]
pub struct AttributeAssignment {
    pub name: Ident,
    pub value: Expr,
    pub span: Span,
}
