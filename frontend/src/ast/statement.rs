// SPDX-License-Identifier: Apache-2.0
//! Compositions (2.10), control flow (2.10.1) and formulas (2.12).

use super::{AttributeAssignment, Expr, Ident, LoopBound, PackSpec, Path, Subscript, TypeSpec};
use crate::source::Span;
use serde::Serialize;

/// `targets = value;` of `@compose`, `@update` or a block.
#[derive(Clone, Debug, Serialize)]
pub struct Component {
    /// The left-hand sides: one per result.
    pub targets: Vec<Target>,
    /// The right-hand side.
    pub value: ComponentValue,
    /// The source text.
    pub span: Span,
}

/// One left-hand side.
#[allow(clippy::large_enum_variant, reason = "few per file; boxes would only be in the way")]
#[derive(Clone, Debug, Serialize)]
pub enum Target {
    /// A single name or zipped packs.
    Item(TargetItem),
    /// `[b, c..(k)]`.
    List {
        /// The items in brackets.
        items: Vec<TargetItem>,
        /// The source text.
        span: Span,
    },
}

/// One name, or one item of a list, of a left-hand side.
#[allow(clippy::large_enum_variant, reason = "few per file; boxes would only be in the way")]
#[derive(Clone, Debug, Serialize)]
pub enum TargetItem {
    /// `a`, `a..(n)`, `a: real[n]`.
    Name {
        /// The name that is defined.
        name: Ident,
        /// The declared type, after `:`.
        type_spec: Option<TypeSpec>,
        /// Written with `..`: the rest of a pack.
        pack: Option<PackSpec>,
        /// The source text.
        span: Span,
    },
    /// `(e, f)..`.
    Zip {
        /// The names in parentheses, one per pack.
        names: Vec<Ident>,
        /// The length of the packs.
        pack: Option<PackSpec>,
        /// The source text.
        span: Span,
    },
    /// `~`.
    Omitted(Span),
}

impl Target {
    /// The items of a list, or the only item.
    pub fn items(&self) -> &[TargetItem] {
        match self {
            Target::Item(item) => std::slice::from_ref(item),
            Target::List { items, .. } => items,
        }
    }

    /// All names that are defined.
    pub fn names(&self) -> impl Iterator<Item = &Ident> {
        self.items().iter().flat_map(TargetItem::names)
    }

    pub(crate) fn span(&self) -> Span {
        match self {
            Target::Item(item) => item.span(),
            Target::List { span, .. } => *span,
        }
    }
}

impl TargetItem {
    /// The names that are defined.
    pub fn names(&self) -> &[Ident] {
        match self {
            TargetItem::Name { name, .. } => std::slice::from_ref(name),
            TargetItem::Zip { names, .. } => names,
            TargetItem::Omitted(_) => &[],
        }
    }

    pub(crate) fn pack(&self) -> Option<&PackSpec> {
        match self {
            TargetItem::Name { pack, .. } | TargetItem::Zip { pack, .. } => pack.as_ref(),
            TargetItem::Omitted(_) => None,
        }
    }

    pub(crate) fn type_spec(&self) -> Option<&TypeSpec> {
        match self {
            TargetItem::Name { type_spec, .. } => type_spec.as_ref(),
            _ => None,
        }
    }

    pub(crate) fn span(&self) -> Span {
        match self {
            TargetItem::Name { span, .. } | TargetItem::Zip { span, .. } | TargetItem::Omitted(span) => *span,
        }
    }
}

impl Component {
    /// All names that are defined.
    pub fn names(&self) -> impl Iterator<Item = &Ident> {
        self.targets.iter().flat_map(Target::names)
    }
}

impl ComponentValue {
    /// The right-hand sides directly below: of a block's statements, of branches, of a loop.
    pub fn children(&self) -> Vec<&ComponentValue> {
        match self {
            ComponentValue::Block(block) => block.components.iter().map(|c| &c.value).collect(),
            ComponentValue::If(branching) => {
                let arms = branching.arms.iter().flat_map(|(condition, then)| [condition, then]);
                arms.chain([&*branching.otherwise]).collect()
            }
            ComponentValue::Loop(looping) => {
                looping.before.iter().chain(&looping.after).chain([&looping.body]).collect()
            }
            ComponentValue::Invocation(_) | ComponentValue::Expr(_) | ComponentValue::Error(_) => Vec::new(),
        }
    }

    /// All invocations, also of branches and loops.
    pub fn invocations(&self) -> impl Iterator<Item = &Invocation> {
        self.nested().into_iter().filter_map(|value| match value {
            ComponentValue::Invocation(invocation) => Some(invocation),
            _ => None,
        })
    }

    /// The value and all right-hand sides below, outer values first.
    pub fn nested(&self) -> Vec<&ComponentValue> {
        let mut values = vec![self];
        let mut at = 0;
        while let Some(value) = values.get(at).copied() {
            values.extend(value.children());
            at += 1;
        }
        values
    }

    pub(crate) fn span(&self) -> Span {
        match self {
            ComponentValue::Invocation(invocation) => invocation.span,
            ComponentValue::Expr(expr) => expr.span,
            ComponentValue::Block(block) => block.span,
            ComponentValue::If(branching) => branching.span,
            ComponentValue::Loop(looping) => looping.span,
            ComponentValue::Error(span) => *span,
        }
    }
}

/// A right-hand side, a branch, a loop body or a condition.
#[derive(Clone, Debug, Serialize)]
pub enum ComponentValue {
    /// An invocation of an operator.
    Invocation(Invocation),
    /// A compile-time expression that yields tensors: `x`, `c ? x : y`, `[x, y..]`.
    Expr(Expr),
    /// Components in braces.
    Block(Block),
    /// A branch on a condition.
    If(Branching),
    /// A loop.
    Loop(Box<Loop>),
    /// Already reported.
    Error(Span),
}

/// `label: module.op<T>{a=1}(x, ~, [y, z])`.
#[derive(Clone, Debug, Serialize)]
pub struct Invocation {
    /// The label in front of `:`.
    pub label: Option<Ident>,
    /// The operator, with its module.
    pub operator: Path,
    /// Generic types in `< >`.
    pub types: Vec<Ident>,
    /// Attributes in `{ }`.
    pub attributes: Vec<AttributeAssignment>,
    /// Inputs in `( )`.
    pub arguments: Vec<Argument>,
    /// The source text.
    pub span: Span,
}

/// An argument of an invocation.
#[derive(Clone, Debug, Serialize)]
pub enum Argument {
    /// A tensor, or a list that becomes a pack.
    Expr(Expr),
    /// `~`.
    Omitted(Span),
}

/// `label: { components… yield a, b; }`.
#[derive(Clone, Debug, Serialize)]
pub struct Block {
    /// The label in front of `:`.
    pub label: Option<Ident>,
    /// The statements before `yield`.
    pub components: Vec<Component>,
    /// Empty when `yield` is missing (reported by the parser).
    pub yields: Vec<Expr>,
    pub(crate) yield_span: Option<Span>,
    /// The source text.
    pub span: Span,
}

/// `if C then A elif C2 then B else D`.
#[derive(Clone, Debug, Serialize)]
pub struct Branching {
    /// Condition and consequent, at least one.
    pub arms: Vec<(ComponentValue, ComponentValue)>,
    /// The value after `else`.
    pub otherwise: Box<ComponentValue>,
    /// The source text.
    pub span: Span,
}

/// `with … for … while … do..(i -> n) body while …`.
#[derive(Clone, Debug, Serialize)]
pub struct Loop {
    /// `with`: loop-carried tensors.
    pub carried: Vec<Carried>,
    /// `for`: packs whose items the iterations read.
    pub scans: Vec<Scan>,
    /// Tested before the body.
    pub before: Option<ComponentValue>,
    /// Written with `unroll`.
    pub unroll: bool,
    /// `..(n)` after `do`.
    pub count: Option<IterationCount>,
    /// The component after `do`.
    pub body: ComponentValue,
    /// Tested after the body.
    pub after: Option<ComponentValue>,
    /// The source text.
    pub span: Span,
}

/// `v: real[n] = init`.
#[derive(Clone, Debug, Serialize)]
pub struct Carried {
    /// The name in the body.
    pub name: Ident,
    /// The declared type.
    pub type_spec: Option<TypeSpec>,
    /// The value before the first iteration.
    pub init: Expr,
    /// The source text.
    pub span: Span,
}

/// `x : xs`.
#[derive(Clone, Debug, Serialize)]
pub struct Scan {
    /// The name of the item in the body.
    pub item: Ident,
    /// The pack.
    pub pack: Expr,
    /// The source text.
    pub span: Span,
}

/// `..(n)`, `..(i -> n)`, `..(i ->)`.
#[derive(Clone, Debug, Serialize)]
pub struct IterationCount {
    /// The name `i` of the iteration's number.
    pub index: Option<Ident>,
    /// The number `n` of iterations.
    pub count: Option<Expr>,
    /// The source text.
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
    /// The assignment operator.
    pub op: LoweringOp,
    pub(crate) op_span: Span,
    /// The expression on the right.
    pub value: Expr,
    /// The indices and their extents.
    pub bounds: Vec<LoopBound>,
    /// The condition under which an element is written.
    pub condition: Option<Expr>,
    /// The source text.
    pub span: Span,
}

/// `y[i,]`, `ys[k][i,j]`, `idx[]`.
#[derive(Clone, Debug, Serialize)]
pub struct AccessTarget {
    /// The output or local tensor.
    pub name: Ident,
    /// `[k]` of a pack.
    pub item: Option<Expr>,
    /// The contents of the brackets.
    pub subscripts: Vec<Subscript>,
    pub(crate) trailing_comma: bool,
    /// The source text.
    pub span: Span,
}

/// The assignment operators of formulas.
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
