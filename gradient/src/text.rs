// SPDX-License-Identifier: Apache-2.0
//! Writes expressions of formulas in the language.

use crate::extents::computed;
use crate::refusal::Refusal;
use skript_frontend::model::{Expr, Extent, Node, ShapeExpr, ValueId};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};

/// The names of the parts of a formula.
pub trait Vocabulary {
    /// The name of a tensor.
    fn tensor(&self, tensor: ValueId) -> Result<String, Refusal>;
    /// The name of an index.
    fn index(&self, at: usize) -> Result<String, Refusal>;
    /// The name of a local.
    fn local(&self, at: usize) -> Result<String, Refusal>;
    /// The name of a table of constants.
    fn table(&mut self, items: &[Scalar]) -> String;
    /// The name of a dynamic extent.
    fn extent(&self, symbol: &str) -> Result<String, Refusal>;
    /// The refusal of an expression that the language cannot write.
    fn unwritable(&self, reason: &str) -> Refusal;
}

/// The precedence of an expression, and its text. A larger number binds more tightly.
type Written = (u8, String);

const CONDITIONAL: u8 = 0;
const LOGIC: u8 = 2;
const COMPARISON: u8 = 3;
const UNARY: u8 = 7;
const ATOM: u8 = 9;

/// The text of an expression.
///
/// # Errors
/// The language has no form for a part of it.
pub fn text(expr: &Expr, names: &mut dyn Vocabulary) -> Result<String, Refusal> {
    Ok(written(expr, names)?.1)
}

/// The subscripts in brackets; a single one is followed by a comma.
///
/// # Errors
/// The errors of [`text`].
pub fn brackets(subscripts: &[Expr], names: &mut dyn Vocabulary) -> Result<String, Refusal> {
    let texts: Result<Vec<String>, Refusal> = subscripts.iter().map(|s| text(s, names)).collect();
    let texts = texts?;
    let comma = if texts.len() == 1 { "," } else { "" };
    Ok(format!("[{}{comma}]", texts.join(", ")))
}

/// A literal of the language.
pub fn literal(value: Scalar) -> String {
    match value {
        Scalar::Real(r) if r.is_nan() => "(inf - inf)".to_owned(),
        Scalar::Real(r) if r == f64::NEG_INFINITY => "-inf".to_owned(),
        Scalar::Int(i64::MIN) => "(-9223372036854775807 - 1)".to_owned(),
        other => other.to_string(),
    }
}

fn written(expr: &Expr, names: &mut dyn Vocabulary) -> Result<Written, Refusal> {
    Ok(match &expr.node {
        Node::Literal(value) => {
            let text = literal(*value);
            (if text.starts_with('-') { UNARY } else { ATOM }, text)
        }
        Node::Index(at) => (ATOM, names.index(*at)?),
        Node::Local(at) => (ATOM, names.local(*at)?),
        Node::Extent(Extent::Fixed(size)) => (ATOM, size.to_string()),
        Node::Extent(Extent::Dynamic { expr, .. }) => match &**expr {
            ShapeExpr::Symbol(symbol) => (ATOM, names.extent(symbol)?),
            expr => {
                let expr =
                    computed(expr).ok_or_else(|| names.unwritable("formulas cannot compute an extent"))?;
                written(&expr, names)?
            }
        },
        Node::Access { tensor, subscripts } => {
            (ATOM, format!("{}{}", names.tensor(*tensor)?, brackets(subscripts, names)?))
        }
        Node::Table { items, index } => {
            let table = names.table(items);
            (ATOM, format!("{table}[{}]", text(index, names)?))
        }
        Node::Select { condition, then, otherwise } => selection(condition, then, otherwise, names)?,
        Node::Apply { op: ScalarOp::Select, operands } => match operands.as_slice() {
            [condition, then, otherwise] => selection(condition, then, otherwise, names)?,
            _ => return Err(names.unwritable("a selection has three operands")),
        },
        Node::Apply { op, operands } => operation(*op, operands, names)?,
    })
}

fn selection(
    condition: &Expr,
    then: &Expr,
    otherwise: &Expr,
    names: &mut dyn Vocabulary,
) -> Result<Written, Refusal> {
    let is = |expr: &Expr, value: bool| expr.node == Node::Literal(Scalar::Bool(value));
    if is(otherwise, false) {
        return Ok((LOGIC, infix(LOGIC, "&&", condition, then, names)?));
    }
    if is(then, true) {
        return Ok((LOGIC, infix(LOGIC, "||", condition, otherwise, names)?));
    }
    let condition = within(CONDITIONAL + 1, condition, names)?;
    let (then, otherwise) =
        (within(CONDITIONAL + 1, then, names)?, within(CONDITIONAL + 1, otherwise, names)?);
    Ok((CONDITIONAL, format!("{condition} ? {then} : {otherwise}")))
}

/// The text, in parentheses if it binds less tightly than `level`.
fn within(level: u8, expr: &Expr, names: &mut dyn Vocabulary) -> Result<String, Refusal> {
    let (precedence, text) = written(expr, names)?;
    Ok(if precedence < level { format!("({text})") } else { text })
}

fn infix(level: u8, sign: &str, a: &Expr, b: &Expr, names: &mut dyn Vocabulary) -> Result<String, Refusal> {
    // Operands of one logical operation need no parentheses on the left; other operators of that level do.
    let is_same =
        level == LOGIC && matches!(&a.node, Node::Apply { op, .. } if sign_of(*op) == Some((LOGIC, sign)));
    let is_chain = level > COMPARISON && level < UNARY;
    let left = if is_same || is_chain { level } else { level + 1 };
    Ok(format!("{} {sign} {}", within(left, a, names)?, within(level + 1, b, names)?))
}

fn sign_of(op: ScalarOp) -> Option<(u8, &'static str)> {
    Some(match op {
        ScalarOp::Implies => (1, "=>"),
        ScalarOp::And => (LOGIC, "&&"),
        ScalarOp::Or => (LOGIC, "||"),
        ScalarOp::Xor => (LOGIC, "^"),
        ScalarOp::Lt => (COMPARISON, "<"),
        ScalarOp::Le => (COMPARISON, "<="),
        ScalarOp::Gt => (COMPARISON, ">"),
        ScalarOp::Ge => (COMPARISON, ">="),
        ScalarOp::Eq => (COMPARISON, "=="),
        ScalarOp::Ne => (COMPARISON, "!="),
        ScalarOp::Min => (4, "<<"),
        ScalarOp::Max => (4, ">>"),
        ScalarOp::Add => (5, "+"),
        ScalarOp::Sub => (5, "-"),
        ScalarOp::Mul => (6, "*"),
        ScalarOp::Div => (6, "/"),
        ScalarOp::Mod => (6, "%"),
        ScalarOp::CeilDiv => (6, "\\"),
        ScalarOp::Pow => (8, "**"),
        _ => return None,
    })
}

fn operation(op: ScalarOp, operands: &[Expr], names: &mut dyn Vocabulary) -> Result<Written, Refusal> {
    if let (Some((level, sign)), [a, b]) = (sign_of(op), operands) {
        return Ok((level, infix(level, sign, a, b, names)?));
    }
    let [a] = operands else { return Err(names.unwritable("an operation has no form in the language")) };
    let call = |function: &str, argument: String| (ATOM, format!("{function}({argument})"));
    Ok(match op {
        ScalarOp::Neg => (UNARY, format!("-{}", within(UNARY + 1, a, names)?)),
        ScalarOp::Not => (UNARY, format!("!{}", within(UNARY + 1, a, names)?)),
        ScalarOp::ToBool => call(ScalarKind::Bool.name(), text(a, names)?),
        ScalarOp::ToInt => call(ScalarKind::Int.name(), text(a, names)?),
        ScalarOp::ToReal => call(ScalarKind::Real.name(), text(a, names)?),
        function => call(&format!("`{}`", function.mnemonic()), text(a, names)?),
    })
}
