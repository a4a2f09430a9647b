// SPDX-License-Identifier: Apache-2.0
//! Expressions (2.4).

use super::Ident;
use crate::source::Span;
use serde::{Serialize, Serializer};

/// An expression (2.4), at compile time or in a formula.
#[derive(Clone, Debug, Serialize)]
pub struct Expr {
    /// The operation and its operands.
    pub kind: ExprKind,
    /// The span includes parentheses around the expression.
    pub span: Span,
}

/// The kinds of expressions, documented by their spelling.
#[derive(Clone, Debug, Serialize)]
pub enum ExprKind {
    /// Digits that do not fit are reported by the parser.
    Int(i64),
    /// Also `inf` and `pi`.
    Real(#[serde(serialize_with = "finite_or_inf")] f64),
    /// `true` or `false`.
    Bool(bool),
    /// `'text'`, with values in `{ }`.
    Str(StringLiteral),
    /// The use of a name.
    Name(Ident),
    /// `x.shape`, `x.rank`, `x.size`.
    Property {
        /// The tensor or pack.
        base: Ident,
        /// The property.
        property: Property,
    },
    /// `T()`.
    Default(Ident),
    /// `[a, b.., i:j]`.
    List(Vec<Item>),
    /// `a[…]`: pack indexing or tensor access; the checker and the composer decide which.
    Index {
        /// The pack or tensor.
        base: Box<Expr>,
        /// The contents of the brackets.
        subscripts: Vec<Subscript>,
        /// `a[i,]`.
        trailing_comma: bool,
    },
    /// `a[i] <- b`.
    Substitute {
        /// The pack.
        base: Box<Expr>,
        /// The item or the range that is replaced.
        subscript: Box<Subscript>,
        /// The new value.
        value: Box<Expr>,
    },
    /// `-a`, `!a`.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        operand: Box<Expr>,
    },
    /// `a + b`.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `c ? a : b`, `c ? a`.
    Select {
        /// The bool `c`.
        condition: Box<Expr>,
        /// The value if the condition holds.
        then: Box<Expr>,
        /// The value if the condition does not hold; null if omitted.
        otherwise: Option<Box<Expr>>,
    },
    /// `a ?? b`.
    Coalesce {
        /// The optional value `a`.
        value: Box<Expr>,
        /// The value `b` where `a` is null.
        fallback: Box<Expr>,
    },
    /// `?a`.
    NullTest(Box<Expr>),
    /// `a is b`.
    Is {
        /// The left operand.
        left: Box<Expr>,
        /// The right operand, or a type.
        right: Box<Expr>,
    },
    /// `x in a`.
    In {
        /// The value `x` that is sought.
        item: Box<Expr>,
        /// The pack `a`.
        pack: Box<Expr>,
    },
    /// `x + ..`, `x + ...`.
    Fold {
        /// The pack `x`.
        pack: Box<Expr>,
        /// The operator between the items.
        op: FoldOp,
        /// `...`: all intermediate results.
        cumulative: bool,
    },
    /// `int(x)`, `T(x)`; `int(inf)` too.
    Cast {
        /// The type `int` or a generic.
        target: Ident,
        /// The operand.
        value: Box<Expr>,
    },
    /// `` `sqrt`(x) ``; edition khronos without back-ticks.
    Builtin {
        /// The function.
        name: Ident,
        /// Its only argument.
        argument: Box<Expr>,
    },
    /// `|i|`, `|i <> low : high|` where an expression may stand: items of list-valued locals (errata 17) and branches of
    /// a select inside a subscript. `|i|..` in a list is an [`Item::Expand`] of it.
    Guard {
        /// The index that is limited to the extent.
        index: Box<Expr>,
        /// `low` and `high` after `<>`: the values of indices below zero and past the end.
        remap: Option<Box<(Expr, Expr)>>,
    },
    /// An expression with a syntax error, which has been reported.
    Error,
}

/// JSON has no infinity: writes `inf`, as in the language.
fn finite_or_inf<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.serialize_str("inf") }
}

/// A property of a tensor or pack, as in `x.shape`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Property {
    /// `.shape`: the extents, a pack of ints.
    Shape,
    /// `.rank`: the number of dimensions.
    Rank,
    /// `.size`: the number of items of a pack.
    Size,
}

/// An item of a list expression; also an argument of an invocation.
#[derive(Clone, Debug, Serialize)]
pub enum Item {
    /// A single value.
    Expr(Expr),
    /// `b:e:s`.
    Range {
        /// The first value `b`.
        begin: Expr,
        /// The end `e`, exclusive.
        end: Expr,
        /// The step `s`; 1 if omitted.
        stride: Option<Expr>,
        /// The source text.
        span: Span,
    },
    /// `a..`, `a..(n)`.
    Expand {
        /// The pack `a`, or a value to repeat.
        value: Expr,
        /// The number of items `n`.
        count: Option<Expr>,
        /// The source text.
        span: Span,
    },
    /// `(a, b)..`.
    Zip {
        /// The packs, whose items alternate.
        packs: Vec<Expr>,
        /// The number of items of each pack.
        count: Option<Expr>,
        /// The source text.
        span: Span,
    },
}

/// The contents of `[` and `]` after a name.
#[derive(Clone, Debug, Serialize)]
pub enum Subscript {
    /// A single index.
    Expr(Expr),
    /// `i:j:s`, each part may be missing; `:` alone is a full slice (edition khronos in tensor accesses).
    Range {
        /// The first index `i`; 0 if omitted.
        begin: Option<Expr>,
        /// The end `j`, exclusive; the length if omitted.
        end: Option<Expr>,
        /// The step `s`; 1 if omitted.
        stride: Option<Expr>,
        /// The source text.
        span: Span,
    },
    /// `i..`, `i..(n)`.
    Expand {
        /// The pack of indices.
        value: Expr,
        /// The number of indices `n`.
        count: Option<Expr>,
        /// The source text.
        span: Span,
    },
    /// `|i|`, `|i <> low : high|`, followed by `..` if `expand` is set.
    Guard {
        /// The index that is limited to the extent.
        index: Expr,
        /// `low` and `high` after `<>`: the values of indices below zero and past the end.
        remap: Option<(Expr, Expr)>,
        /// Whether the index is a pack, `|i|..`.
        expand: bool,
        /// The source text.
        span: Span,
    },
}

/// The unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum UnaryOp {
    /// `+a`.
    Plus,
    /// `-a`.
    Minus,
    /// `!a`.
    Not,
}

/// The binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `\`
    CeilDiv,
    /// `%`
    Mod,
    /// `**`
    Pow,
    /// `<<`, `<?`
    Min,
    /// `>>`, `>?`
    Max,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `^`
    Xor,
    /// `=>`
    Implies,
}

/// The operators that fold a pack, `x + ..`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum FoldOp {
    /// `+`: the sum.
    Add,
    /// `*`: the product.
    Mul,
    /// `&&`: whether all items hold.
    And,
    /// `||`: whether any item holds.
    Or,
    /// `<<`: the minimum.
    Min,
    /// `>>`: the maximum.
    Max,
    /// `<`: whether the items ascend strictly.
    Lt,
    /// `<=`: whether the items ascend.
    Le,
    /// `>`: whether the items descend strictly.
    Gt,
    /// `>=`: whether the items descend.
    Ge,
    /// `==`: whether all items are equal.
    Eq,
    /// `!=`: whether neighbours differ.
    Ne,
    /// `:=`: the uniform value or null.
    Uniform,
}

/// Adjacent literals joined, escapes resolved, `{expr}` parsed.
#[derive(Clone, Debug, Serialize)]
pub struct StringLiteral {
    /// Text and values, in order.
    pub pieces: Vec<StringPiece>,
    /// The source text.
    pub span: Span,
}

/// A piece of a string literal.
#[derive(Clone, Debug, Serialize)]
pub enum StringPiece {
    /// Text, with escapes resolved.
    Text(String),
    /// `{expr}`: the value, printed.
    Format(Expr),
}

/// The body of two functions that return the direct subexpressions, as shared and as mutable references.
macro_rules! parts {
    ($($mut:tt)?) => {
        |expr| {
            let mut children = Vec::new();
            match & $($mut)? expr.kind {
                ExprKind::Str(literal) => {
                    for piece in & $($mut)? literal.pieces {
                        if let StringPiece::Format(value) = piece {
                            children.push(value);
                        }
                    }
                }
                ExprKind::List(items) => {
                    for item in items {
                        match item {
                            Item::Expr(value) => children.push(value),
                            Item::Range { begin, end, stride, .. } => {
                                children.extend([begin, end]);
                                children.extend(stride);
                            }
                            Item::Expand { value, count, .. } => {
                                children.push(value);
                                children.extend(count);
                            }
                            Item::Zip { packs, count, .. } => {
                                children.extend(packs);
                                children.extend(count);
                            }
                        }
                    }
                }
                ExprKind::Index { base, subscripts, .. } => {
                    children.push(base);
                    subscripts.into_iter().for_each(|s| parts!(@subscript children s));
                }
                ExprKind::Substitute { base, subscript, value } => {
                    children.push(base);
                    parts!(@subscript children & $($mut)? **subscript);
                    children.push(value);
                }
                ExprKind::Unary { operand: only, .. }
                | ExprKind::NullTest(only)
                | ExprKind::Fold { pack: only, .. }
                | ExprKind::Cast { value: only, .. }
                | ExprKind::Builtin { argument: only, .. } => children.push(only),
                ExprKind::Binary { left: a, right: b, .. }
                | ExprKind::Is { left: a, right: b }
                | ExprKind::Coalesce { value: a, fallback: b }
                | ExprKind::In { item: a, pack: b } => {
                    children.push(a);
                    children.push(b);
                }
                ExprKind::Select { condition, then, otherwise } => {
                    children.push(condition);
                    children.push(then);
                    otherwise.into_iter().for_each(|e| children.push(e));
                }
                ExprKind::Guard { index, remap } => {
                    children.push(index);
                    if let Some(ends) = remap {
                        children.extend([& $($mut)? ends.0, & $($mut)? ends.1]);
                    }
                }
                ExprKind::Int(_)
                | ExprKind::Real(_)
                | ExprKind::Bool(_)
                | ExprKind::Name(_)
                | ExprKind::Property { .. }
                | ExprKind::Default(_)
                | ExprKind::Error => {}
            }
            children
        }
    };
    (@subscript $children:ident $subscript:expr) => {
        match $subscript {
            Subscript::Expr(index) => $children.push(index),
            Subscript::Range { begin, end, stride, .. } => {
                $children.extend([begin, end, stride].into_iter().flatten());
            }
            Subscript::Expand { value, count, .. } => {
                $children.push(value);
                $children.extend(count);
            }
            Subscript::Guard { index, remap, .. } => {
                $children.push(index);
                remap.into_iter().for_each(|(low, high)| $children.extend([low, high]));
            }
        }
    };
}

impl Expr {
    /// The direct subexpressions, in textual order.
    pub fn children(&self) -> Vec<&Expr> {
        let parts: fn(&Expr) -> Vec<&Expr> = parts!();
        parts(self)
    }

    /// The mutable [`Expr::children`].
    pub(crate) fn children_mut(&mut self) -> Vec<&mut Expr> {
        let parts: fn(&mut Expr) -> Vec<&mut Expr> = parts!(mut);
        parts(self)
    }

    /// All names in textual order, with repetitions, without types and functions.
    pub fn names(&self) -> Vec<&Ident> {
        let mut names = Vec::new();
        let mut open = vec![self];
        while let Some(expr) = open.pop() {
            match &expr.kind {
                ExprKind::Name(name) | ExprKind::Property { base: name, .. } => names.push(name),
                _ => open.extend(expr.children().into_iter().rev()),
            }
        }
        names
    }
}

impl Subscript {
    /// The expressions of the subscript.
    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        let mut exprs: Vec<&Expr> = Vec::new();
        parts!(@subscript exprs self);
        exprs
    }
}

impl StringLiteral {
    /// The text if nothing is formatted in it.
    pub fn plain(&self) -> Option<String> {
        self.pieces
            .iter()
            .map(|p| match p {
                StringPiece::Text(t) => Some(t.as_str()),
                StringPiece::Format(_) => None,
            })
            .collect()
    }
}
