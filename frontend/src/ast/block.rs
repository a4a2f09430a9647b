// SPDX-License-Identifier: Apache-2.0
//! Blocks other than compositions and formulas: declarations, helpers, assertions, quantization.

use super::{Expr, Ident, Path, StringLiteral, Target};
use crate::source::Span;
use serde::Serialize;

/// The kinds of blocks of an operator or a graph (2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum BlockKind {
    /// `@dtype`: generic types.
    Dtype,
    /// `@attrib`: attributes.
    Attrib,
    /// `@input`: input tensors.
    Input,
    /// `@using`: compile-time names.
    Using,
    /// `@constant`: constant tensors.
    Constant,
    /// `@variable`: variable tensors.
    Variable,
    /// `@output`: output tensors.
    Output,
    /// `@assert`: conditions on attributes and shapes.
    Assert,
    /// `@lower`: formulas.
    Lower,
    /// `@compose`: invocations of other operators.
    Compose,
    /// `@update`: new values of variables.
    Update,
    /// `@quantize`: quantization of tensors.
    Quantize,
}

impl BlockKind {
    /// The contents of a block of this kind, in one sentence.
    pub fn description(self) -> &'static str {
        match self {
            BlockKind::Dtype => "Type parameters, with their bounds and defaults: `T: num = real;`.",
            BlockKind::Attrib => "Attributes: values that an invocation sets in braces, `stride: int = 1;`.",
            BlockKind::Input => "Input tensors with their shapes: `x: real[batch, channels];`.",
            BlockKind::Using => "Names for values that are computed at compile time: `half = n / 2;`.",
            BlockKind::Constant => {
                "Tensors whose values the document states: `w: real[3] = [1.0, 2.0, 1.0];`."
            }
            BlockKind::Variable => {
                "Tensors whose values come with the model, such as weights: `w: real[8, 3];`."
            }
            BlockKind::Output => "Output tensors with their shapes: `y: real[batch, channels];`.",
            BlockKind::Assert => "Conditions on attributes and shapes, with a message: `n > 0: 'n is {n}';`.",
            BlockKind::Lower => {
                "Formulas of the elements of outputs: `y[i,] += x[i,j] * w[j,], i < n, j < k;`."
            }
            BlockKind::Compose => "Invocations of other operators: `y = nn.relu(x);`.",
            BlockKind::Update => "New values of variables after each call: `state = next;`.",
            BlockKind::Quantize => "Quantizations of tensors: `x: quant.linear{scale=0.1};`.",
        }
    }
}

/// The beginning of a block, with the span of `@name`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BlockHead {
    /// The keyword.
    pub kind: BlockKind,
    /// The source text of `@name`.
    pub span: Span,
}

/// `T: num = real;`
#[derive(Clone, Debug, Serialize)]
pub struct TypeParameter {
    /// The generic's name, `T`.
    pub name: Ident,
    /// `type`, `arith`, `num` (or, wrongly, anything else).
    pub bound: Ident,
    /// The type after `=`.
    pub default: Option<Ident>,
    /// The source text.
    pub span: Span,
}

/// `name: optional T^(r)[s..(d), ..t | bound]..(k) = value, i < n;`
#[derive(Clone, Debug, Serialize)]
pub struct Declaration {
    /// The declared name.
    pub name: Ident,
    /// The type in front of modifiers and shape, with them.
    pub type_spec: TypeSpec,
    /// The expression after `=`: a default, or the value of a constant.
    pub default: Option<Expr>,
    /// Index symbols of a constant's value (2.7).
    pub bounds: Vec<LoopBound>,
    /// The source text.
    pub span: Span,
}

/// A type with its modifiers (2.3).
#[derive(Clone, Debug, Serialize)]
pub struct TypeSpec {
    /// Written with `optional` in front.
    pub optional: bool,
    /// `int`, `real`, `bool`, `str`, `type`, `arith`, `num` or a generic's name.
    pub base: Ident,
    /// `^(r)`.
    pub rank: Option<Expr>,
    /// `None` when no shape was written; `Some([])` for `[]`.
    pub shape: Option<Vec<ExtentSpec>>,
    /// `..` after the shape: a pack of tensors or values.
    pub pack: Option<PackSpec>,
    /// Edition khronos: `dynamic` before the type.
    pub dynamic: bool,
    /// The source text.
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
    /// `..` after the extent: a pack of extents.
    pub pack: Option<PackSpec>,
    /// Edition khronos: `static` in front.
    pub is_static: bool,
    /// The source text.
    pub span: Span,
}

/// `..` or `..(n)`.
#[derive(Clone, Debug, Serialize)]
pub struct PackSpec {
    /// The expression in parentheses; `None` where the length follows from the arguments.
    pub length: Option<Expr>,
    /// Edition khronos: `..(s|5)`.
    pub bound: Option<Expr>,
    /// Edition khronos: `..(static n)`.
    pub is_static: bool,
    /// The source text.
    pub span: Span,
}

/// `id < bound`.
#[derive(Clone, Debug, Serialize)]
pub struct LoopBound {
    /// The index symbol.
    pub name: Ident,
    /// The expression after `<`, exclusive.
    pub bound: Expr,
    /// The source text.
    pub span: Span,
}

/// `lvalue = expr;` of `@using` (2.9).
#[derive(Clone, Debug, Serialize)]
pub struct Using {
    /// The names on the left, without types.
    pub target: Target,
    /// The expression on the right.
    pub value: Expr,
    /// The source text.
    pub span: Span,
}

/// `condition: "message", expr, 'label': expr;` (2.8).
#[derive(Clone, Debug, Serialize)]
pub struct Assertion {
    /// A bool, over attributes and shapes.
    pub condition: Expr,
    /// The text before the values.
    pub message: Option<StringLiteral>,
    /// Values that the message prints.
    pub values: Vec<AssertedValue>,
    /// The source text.
    pub span: Span,
}

/// A value that the message of a failed assertion prints.
#[derive(Clone, Debug, Serialize)]
pub struct AssertedValue {
    /// The text before `:`; `None` prints the expression.
    pub label: Option<StringLiteral>,
    /// The value.
    pub value: Expr,
}

/// `tensor: module.op<T>{a=1};` (2.14).
#[derive(Clone, Debug, Serialize)]
pub struct Quantization {
    /// The tensor of the graph, with its scope.
    pub tensor: Path,
    /// The quantization operator.
    pub operator: Path,
    /// Generic types in `< >`.
    pub types: Vec<Ident>,
    /// Attributes in `{ }`.
    pub attributes: Vec<AttributeAssignment>,
    /// The source text.
    pub span: Span,
}

/// `name = expr` in `{ }`.
#[derive(Clone, Debug, Serialize)]
pub struct AttributeAssignment {
    /// The attribute.
    pub name: Ident,
    /// Its value.
    pub value: Expr,
    /// The source text.
    pub span: Span,
}
