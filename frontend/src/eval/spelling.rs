// SPDX-License-Identifier: Apache-2.0
//! Maps operators and built-in functions to scalar operations.

use crate::ast::BinaryOp;
use skript_semantics::ScalarOp;

/// The scalar operation of a binary operator.
pub(crate) fn scalar_op(op: BinaryOp) -> ScalarOp {
    match op {
        BinaryOp::Add => ScalarOp::Add,
        BinaryOp::Sub => ScalarOp::Sub,
        BinaryOp::Mul => ScalarOp::Mul,
        BinaryOp::Div => ScalarOp::Div,
        BinaryOp::CeilDiv => ScalarOp::CeilDiv,
        BinaryOp::Mod => ScalarOp::Mod,
        BinaryOp::Pow => ScalarOp::Pow,
        BinaryOp::Min => ScalarOp::Min,
        BinaryOp::Max => ScalarOp::Max,
        BinaryOp::Lt => ScalarOp::Lt,
        BinaryOp::Le => ScalarOp::Le,
        BinaryOp::Gt => ScalarOp::Gt,
        BinaryOp::Ge => ScalarOp::Ge,
        BinaryOp::Eq => ScalarOp::Eq,
        BinaryOp::Ne => ScalarOp::Ne,
        BinaryOp::And => ScalarOp::And,
        BinaryOp::Or => ScalarOp::Or,
        BinaryOp::Xor => ScalarOp::Xor,
        BinaryOp::Implies => ScalarOp::Implies,
    }
}

/// The scalar operation of a built-in function.
pub fn builtin(name: &str) -> Option<ScalarOp> {
    Some(match name {
        "abs" => ScalarOp::Abs,
        "sign" => ScalarOp::Sign,
        "sqrt" => ScalarOp::Sqrt,
        "exp" => ScalarOp::Exp,
        "log" => ScalarOp::Log,
        "sin" => ScalarOp::Sin,
        "cos" => ScalarOp::Cos,
        "tan" => ScalarOp::Tan,
        "asin" => ScalarOp::Asin,
        "acos" => ScalarOp::Acos,
        "atan" => ScalarOp::Atan,
        "sinh" => ScalarOp::Sinh,
        "cosh" => ScalarOp::Cosh,
        "tanh" => ScalarOp::Tanh,
        "asinh" => ScalarOp::Asinh,
        "acosh" => ScalarOp::Acosh,
        "atanh" => ScalarOp::Atanh,
        "erf" => ScalarOp::Erf,
        "round" => ScalarOp::Round,
        "floor" => ScalarOp::Floor,
        "ceil" => ScalarOp::Ceil,
        "frac" => ScalarOp::Frac,
        _ => return None,
    })
}
