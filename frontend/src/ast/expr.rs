// SPDX-License-Identifier: Apache-2.0
//! Expressions (2.4).

use super::Ident;
use crate::source::Span;
use serde::{Serialize, Serializer};

#[derive(Clone, Debug, Serialize)]
pub struct Expr {
    pub kind: ExprKind,
    /// Parentheses around an expression belong to its span.
    pub span: Span,
}

#[derive(Clone, Debug, Serialize)]
pub enum ExprKind {
    /// Digits that do not fit are reported by the parser.
    Int(i64),
    /// Also `inf` and `pi`.
    Real(#[serde(serialize_with = "finite_or_inf")] f64),
    Bool(bool),
    Str(StringLiteral),
    Name(Ident),
    /// `x.shape`, `x.rank`, `x.size`.
    Property {
        base: Ident,
        property: Property,
    },
    /// `T()`.
    Default(Ident),
    List(Vec<Item>),
    /// `a[…]`: pack indexing or tensor access; which one is the checker's and composer's to tell.
    Index {
        base: Box<Expr>,
        subscripts: Vec<Subscript>,
        /// `a[i,]`.
        trailing_comma: bool,
    },
    /// `a[i] <- b`.
    Substitute {
        base: Box<Expr>,
        subscript: Box<Subscript>,
        value: Box<Expr>,
    },
    Unary {
        op: UnaryOp,
        operand: Box<Expr>,
    },
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `c ? a : b`, `c ? a`.
    Select {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Option<Box<Expr>>,
    },
    /// `a ?? b`.
    Coalesce {
        value: Box<Expr>,
        fallback: Box<Expr>,
    },
    /// `?a`.
    NullTest(Box<Expr>),
    /// `a is b`.
    Is {
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `x in a`.
    In {
        item: Box<Expr>,
        pack: Box<Expr>,
    },
    /// `x + ..`, `x + ...`.
    Fold {
        pack: Box<Expr>,
        op: FoldOp,
        /// `...`: all intermediate results.
        cumulative: bool,
    },
    /// `int(x)`, `T(x)`; `int(inf)` too.
    Cast {
        target: Ident,
        value: Box<Expr>,
    },
    /// `` `sqrt`(x) ``; edition khronos without back-ticks.
    Builtin {
        name: Ident,
        argument: Box<Expr>,
    },
    /// `|i|`, `|i <> low : high|` where an expression may stand: items of list-valued locals (errata 17) and branches of
    /// a select inside a subscript. `|i|..` in a list is an [`Item::Expand`] of it.
    Guard {
        index: Box<Expr>,
        remap: Option<Box<(Expr, Expr)>>,
    },
    /// A place where the parser gave up; already reported, never report on it again.
    Error,
}

/// JSON has no infinity: the language's own word for it.
fn finite_or_inf<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() {
        serializer.serialize_f64(*value)
    } else {
        serializer.serialize_str("inf")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Property {
    Shape,
    Rank,
    Size,
}

/// An item of a list expression; also what may stand between the parentheses of an invocation.
#[derive(Clone, Debug, Serialize)]
pub enum Item {
    Expr(Expr),
    /// `b:e:s`.
    Range {
        begin: Expr,
        end: Expr,
        stride: Option<Expr>,
        span: Span,
    },
    /// `a..`, `a..(n)`.
    Expand {
        value: Expr,
        count: Option<Expr>,
        span: Span,
    },
    /// `(a, b)..`.
    Zip {
        packs: Vec<Expr>,
        count: Option<Expr>,
        span: Span,
    },
}

/// What stands between `[` and `]` after a name.
#[derive(Clone, Debug, Serialize)]
pub enum Subscript {
    Expr(Expr),
    /// `i:j:s`, each part may be missing; `:` alone is a full slice (edition khronos in tensor accesses).
    Range {
        begin: Option<Expr>,
        end: Option<Expr>,
        stride: Option<Expr>,
        span: Span,
    },
    /// `i..`, `i..(n)`.
    Expand {
        value: Expr,
        count: Option<Expr>,
        span: Span,
    },
    /// `|i|`, `|i <> low : high|`, with `..` behind it when `expand`.
    Guard {
        index: Expr,
        remap: Option<(Expr, Expr)>,
        expand: bool,
        span: Span,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum UnaryOp {
    Plus,
    Minus,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    /// `\`
    CeilDiv,
    Mod,
    Pow,
    /// `<<`, `<?`
    Min,
    /// `>>`, `>?`
    Max,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
    Xor,
    /// `=>`
    Implies,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum FoldOp {
    Add,
    Mul,
    And,
    Or,
    Min,
    Max,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    /// `:=`: the uniform value or null.
    Uniform,
}

/// Adjacent literals joined, escapes resolved, `{expr}` parsed.
#[derive(Clone, Debug, Serialize)]
pub struct StringLiteral {
    pub pieces: Vec<StringPiece>,
    pub span: Span,
}

#[derive(Clone, Debug, Serialize)]
pub enum StringPiece {
    Text(String),
    Format(Expr),
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
