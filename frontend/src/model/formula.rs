// SPDX-License-Identifier: Apache-2.0
//! The normal form of `@lower` formulas (2.12).
//!
//! Guards, remaps, packs and `??` are gone: a formula is a loop nest over its indices, in order, outermost
//! first; where the predicate holds, each target element is combined with its value. **Invariant:** every evaluated access
//! is in bounds; unproven reads are clamped, unproven writes have a condition in the predicate. If an unproven index depends
//! only on extents and indices, a check of the function, or a formula before it ([`Finding`]), reports an out-of-bounds access
//! at run time.

use super::{Extent, MessagePart, ValueId};
use crate::source::Span;
use skript_semantics::{Scalar, ScalarKind, ScalarOp};

/// One assignment statement.
#[derive(Clone, Debug)]
pub struct Formula {
    /// Bounds are 0 ≤ index < extent.
    pub indices: Vec<FormulaIndex>,
    /// Let-bound scalars; each may use earlier locals. Pure, so evaluated where used ([`Node::Local`]).
    pub locals: Vec<FormulaLocal>,
    /// A bool; `None`: always true. May read the outputs' current elements if `kind` is not `Assign`.
    pub predicate: Option<Expr>,
    /// How values are combined with the outputs.
    pub kind: Accumulation,
    /// One target, or several targets that are written as one step (a packed assignment). All values are computed before
    /// any target is written.
    pub targets: Vec<Target>,
    /// The descriptions of the out-of-bounds accesses that the formula searches for.
    pub findings: Vec<Finding>,
    /// The span of the formula.
    pub span: Span,
}

/// An out-of-bounds access that a formula searches for. A target of the formula, an int of rank 0, receives the number
/// of the first step with such an access, or [`Finding::NONE`]. Steps are numbered row-major over the indices. If a step
/// is found, the run stops.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The position among the targets.
    pub target: usize,
    /// The message. Values are ints over dynamic extents and the indices of the step.
    pub message: Vec<MessagePart>,
    /// The span of the access.
    pub span: Span,
}

impl Finding {
    /// The number that means no step.
    pub const NONE: i64 = i64::MAX;
}

impl Formula {
    /// The assignment of a tensor's elements, without locals and conditions.
    pub(crate) fn assignment(indices: Vec<FormulaIndex>, target: Target, span: Span) -> Self {
        Formula {
            indices,
            locals: Vec::new(),
            predicate: None,
            kind: Accumulation::Assign,
            targets: vec![target],
            findings: Vec::new(),
            span,
        }
    }

    /// Whether the formula computes no output, but searches for out-of-bounds accesses.
    pub fn is_search(&self) -> bool {
        self.findings.len() == self.targets.len() && !self.findings.is_empty()
    }

    /// All accesses by which the formula reads elements.
    pub(crate) fn accesses(&self) -> Vec<(ValueId, &[Expr])> {
        let mut open: Vec<&Expr> = self.locals.iter().map(|local| &local.value).collect();
        open.extend(&self.predicate);
        for target in &self.targets {
            open.extend(target.subscripts.iter().chain([&target.value]));
        }
        let mut reads = Vec::new();
        while let Some(expr) = open.pop() {
            if let Node::Access { tensor, subscripts } = &expr.node {
                reads.push((*tensor, subscripts.as_slice()));
            }
            open.extend(expr.children());
        }
        reads
    }

    /// All expressions of the formula.
    pub(crate) fn exprs_mut(&mut self) -> Vec<&mut Expr> {
        let mut exprs: Vec<&mut Expr> = self.locals.iter_mut().map(|local| &mut local.value).collect();
        exprs.extend(&mut self.predicate);
        for target in &mut self.targets {
            exprs.push(&mut target.value);
            exprs.extend(&mut target.subscripts);
        }
        let messages = self.findings.iter_mut().flat_map(|finding| &mut finding.message);
        exprs.extend(messages.filter_map(|part| match part {
            MessagePart::Value(value) => Some(value),
            _ => None,
        }));
        exprs
    }

    /// The value of an expression for these indices; `None` if it depends on tensors or dynamic extents.
    pub(crate) fn value_at(&self, expr: &Expr, at: &dyn Fn(usize) -> Option<i64>) -> Option<Scalar> {
        let of = |expr: &Expr| self.value_at(expr, at);
        match &expr.node {
            Node::Literal(value) => Some(*value),
            Node::Index(index) => at(*index).map(Scalar::Int),
            Node::Local(position) => of(&self.locals.get(*position)?.value),
            Node::Table { items, index } => match of(index)? {
                Scalar::Int(location) => items.get(usize::try_from(location).ok()?).copied(),
                _ => None,
            },
            Node::Apply { op, operands } => {
                let operands: Option<Vec<Scalar>> = operands.iter().map(of).collect();
                Some(op.eval(&operands?))
            }
            Node::Select { condition, then, otherwise } => match of(condition)? {
                Scalar::Bool(true) => of(then),
                _ => of(otherwise),
            },
            Node::Access { .. } | Node::Extent(_) => None,
        }
    }
}

/// An index of a formula, `0 ≤ i < extent`.
#[derive(Clone, Debug)]
pub struct FormulaIndex {
    /// The name as written, `i`; expanded packs are `i.0`, `i.1`, …
    pub name: String,
    /// The number of values.
    pub extent: Extent,
}

impl FormulaIndex {
    /// Indices `i.0`, `i.1`, … that run over all elements of a tensor.
    pub fn over(shape: &[Extent]) -> Vec<Self> {
        let index = |(dimension, extent): (usize, &Extent)| FormulaIndex {
            name: format!("i.{dimension}"),
            extent: extent.clone(),
        };
        shape.iter().enumerate().map(index).collect()
    }
}

/// A local `z = e,` before an assignment; items of list-valued locals are separate locals.
#[derive(Clone, Debug)]
pub struct FormulaLocal {
    /// The name as written.
    pub name: String,
    /// The expression, over indices and earlier locals.
    pub value: Expr,
}

/// `output[subscripts] kind= value`.
#[derive(Clone, Debug)]
pub struct Target {
    /// The output tensor.
    pub output: ValueId,
    /// Int expressions, one per dimension.
    pub subscripts: Vec<Expr>,
    /// The value that is combined with the element.
    pub value: Expr,
    /// The previous contents of the output.
    pub init: Init,
}

/// The value of the output before the formula runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// This value everywhere: the first formula of its output.
    Fill(Scalar),
    /// The result of earlier formulas.
    Continue,
}

/// How a formula combines values with the elements of its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accumulation {
    /// `=`
    Assign,
    /// `+=`
    Sum,
    /// `*=`
    Product,
    /// `&=`
    All,
    /// `|=`
    Any,
    /// `<=`
    Min,
    /// `>=`
    Max,
    /// `:=`, in the order of the loops.
    Replace,
}

impl Accumulation {
    /// The operation that combines the current element with the value; `None` if the value replaces it.
    pub fn op(self) -> Option<ScalarOp> {
        match self {
            Accumulation::Assign | Accumulation::Replace => None,
            Accumulation::Sum => Some(ScalarOp::Add),
            Accumulation::Product => Some(ScalarOp::Mul),
            Accumulation::All => Some(ScalarOp::And),
            Accumulation::Any => Some(ScalarOp::Or),
            Accumulation::Min => Some(ScalarOp::Min),
            Accumulation::Max => Some(ScalarOp::Max),
        }
    }

    /// The identity that an output without initializer starts from (errata 3): ±∞ for min/max over real, the extreme
    /// integers over int. For `Assign` and `Replace`, the default value of the kind.
    pub fn identity(self, kind: ScalarKind) -> Scalar {
        match (self, kind) {
            (Accumulation::Sum, ScalarKind::Int) => Scalar::Int(0),
            (Accumulation::Sum, ScalarKind::Real) => Scalar::Real(0.0),
            (Accumulation::Product, ScalarKind::Int) => Scalar::Int(1),
            (Accumulation::Product, ScalarKind::Real) => Scalar::Real(1.0),
            (Accumulation::All, _) => Scalar::Bool(true),
            (Accumulation::Any, _) => Scalar::Bool(false),
            (Accumulation::Min, ScalarKind::Int) => Scalar::Int(i64::MAX),
            (Accumulation::Min, ScalarKind::Real) => Scalar::Real(f64::INFINITY),
            (Accumulation::Max, ScalarKind::Int) => Scalar::Int(i64::MIN),
            (Accumulation::Max, ScalarKind::Real) => Scalar::Real(f64::NEG_INFINITY),
            (_, kind) => kind.default_value(),
        }
    }
}

/// A typed scalar expression at one point of the domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The kind of the result.
    pub kind: ScalarKind,
    /// The operation.
    pub node: Node,
}

/// The computation of an expression of a formula.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A constant.
    Literal(Scalar),
    /// Position in [`Formula::indices`]; int.
    Index(usize),
    /// Position in [`Formula::locals`].
    Local(usize),
    /// An element of a tensor of the function: an input, a constant, or an output. An output's element has its value at
    /// this step.
    Access {
        /// The tensor that is read.
        tensor: ValueId,
        /// Int expressions, one per dimension.
        subscripts: Vec<Expr>,
    },
    /// An item of a compile-time pack, selected at run time; `index` is in range.
    Table {
        /// The constants.
        items: Vec<Scalar>,
        /// The position; within the table by construction or by a check.
        index: Box<Expr>,
    },
    /// A dynamic extent of the function as an int (never [`Extent::Fixed`]).
    Extent(Extent),
    /// Strict: all operands are evaluated. Casts are operations too.
    Apply {
        /// The operation.
        op: ScalarOp,
        /// The operands, in order.
        operands: Vec<Expr>,
    },
    /// Lazy: only the selected branch is evaluated. Also for `&&`, `||`, `=>` with accesses on their right.
    Select {
        /// A bool.
        condition: Box<Expr>,
        /// The value if the condition holds; evaluated only then.
        then: Box<Expr>,
        /// The value if the condition does not hold; evaluated only then.
        otherwise: Box<Expr>,
    },
}

impl Expr {
    /// A constant.
    pub fn literal(value: Scalar) -> Self {
        Expr { kind: value.kind(), node: Node::Literal(value) }
    }

    /// An int constant.
    pub fn int(value: i64) -> Self {
        Expr::literal(Scalar::Int(value))
    }

    /// The value of an index, by its position in [`Formula::indices`].
    pub fn index(position: usize) -> Self {
        Expr { kind: ScalarKind::Int, node: Node::Index(position) }
    }

    /// A scalar operation with a result of this kind.
    pub fn apply(kind: ScalarKind, op: ScalarOp, operands: Vec<Expr>) -> Self {
        Expr { kind, node: Node::Apply { op, operands } }
    }

    /// The direct subexpressions.
    pub fn children(&self) -> Vec<&Expr> {
        match &self.node {
            Node::Literal(_) | Node::Index(_) | Node::Local(_) | Node::Extent(_) => Vec::new(),
            Node::Access { subscripts, .. } => subscripts.iter().collect(),
            Node::Table { index, .. } => vec![index],
            Node::Apply { operands, .. } => operands.iter().collect(),
            Node::Select { condition, then, otherwise } => vec![condition, then, otherwise],
        }
    }

    fn children_mut(&mut self) -> Vec<&mut Expr> {
        match &mut self.node {
            Node::Literal(_) | Node::Index(_) | Node::Local(_) | Node::Extent(_) => Vec::new(),
            Node::Access { subscripts, .. } => subscripts.iter_mut().collect(),
            Node::Table { index, .. } => vec![index],
            Node::Apply { operands, .. } => operands.iter_mut().collect(),
            Node::Select { condition, then, otherwise } => vec![condition, then, otherwise],
        }
    }

    /// The same operation on other children; `None` if a child has no replacement.
    pub(crate) fn with_children(&self, mut child: impl FnMut(&Expr) -> Option<Expr>) -> Option<Expr> {
        let mut all = |exprs: &[Expr]| exprs.iter().map(&mut child).collect::<Option<Vec<Expr>>>();
        let node = match &self.node {
            Node::Access { tensor, subscripts } => {
                Node::Access { tensor: *tensor, subscripts: all(subscripts)? }
            }
            Node::Table { items, index } => {
                Node::Table { items: items.clone(), index: Box::new(child(index)?) }
            }
            Node::Apply { op, operands } => Node::Apply { op: *op, operands: all(operands)? },
            Node::Select { condition, then, otherwise } => Node::Select {
                condition: Box::new(child(condition)?),
                then: Box::new(child(then)?),
                otherwise: Box::new(child(otherwise)?),
            },
            leaf => leaf.clone(),
        };
        Some(Expr { kind: self.kind, node })
    }

    /// Changes each of its subexpressions, including itself.
    pub(crate) fn for_each_mut(&mut self, change: &mut impl FnMut(&mut Node)) {
        change(&mut self.node);
        for child in self.children_mut() {
            child.for_each_mut(change);
        }
    }

    /// Its subexpressions, including itself, without the values of locals.
    pub(crate) fn nested(&self) -> Vec<&Expr> {
        let mut exprs = vec![self];
        let mut at = 0;
        while let Some(expr) = exprs.get(at).copied() {
            exprs.extend(expr.children());
            at += 1;
        }
        exprs
    }

    /// The number of its subexpressions, including itself, without the values of locals.
    pub fn size(&self) -> usize {
        self.nested().len()
    }
}
