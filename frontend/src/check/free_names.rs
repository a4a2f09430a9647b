// SPDX-License-Identifier: Apache-2.0
//! The names in an expression.

use crate::ast::{Expr, ExprKind, Ident, Item, StringPiece, Subscript};

/// All names in textual order, with repetitions, without types and functions.
pub(super) fn free_names(expr: &Expr) -> Vec<&Ident> {
    let mut names = Vec::new();
    let mut rest = vec![expr];
    while let Some(e) = rest.pop() {
        match &e.kind {
            ExprKind::Name(name) => names.push(name),
            ExprKind::Property { base, .. } => names.push(base),
            ExprKind::Str(literal) => {
                for piece in literal.pieces.iter().rev() {
                    if let StringPiece::Format(e) = piece {
                        rest.push(e);
                    }
                }
            }
            ExprKind::List(items) => {
                for item in items.iter().rev() {
                    match item {
                        Item::Expr(e) => rest.push(e),
                        Item::Range { begin, end, stride, .. } => {
                            rest.extend([stride.as_ref(), Some(end), Some(begin)].into_iter().flatten())
                        }
                        Item::Expand { value, count, .. } => {
                            rest.extend([count.as_ref(), Some(value)].into_iter().flatten());
                        }
                        Item::Zip { packs, count, .. } => {
                            rest.extend(count);
                            rest.extend(packs.iter().rev());
                        }
                    }
                }
            }
            ExprKind::Index { base, subscripts, .. } => {
                for s in subscripts.iter().rev() {
                    push_subscript(s, &mut rest);
                }
                rest.push(base);
            }
            ExprKind::Substitute { base, subscript, value } => {
                rest.push(value);
                push_subscript(subscript, &mut rest);
                rest.push(base);
            }
            ExprKind::Unary { operand, .. } => rest.push(operand),
            ExprKind::NullTest(operand) => rest.push(operand),
            ExprKind::Binary { left, right, .. } | ExprKind::Is { left, right } => {
                rest.extend([&**right, &**left]);
            }
            ExprKind::Select { condition, then, otherwise } => {
                rest.extend(otherwise.as_deref());
                rest.extend([&**then, &**condition]);
            }
            ExprKind::Coalesce { value, fallback } => rest.extend([&**fallback, &**value]),
            ExprKind::In { item, pack } => rest.extend([&**pack, &**item]),
            ExprKind::Fold { pack, .. } => rest.push(pack),
            ExprKind::Cast { value, .. } => rest.push(value),
            ExprKind::Builtin { argument, .. } => rest.push(argument),
            ExprKind::Guard { index, remap } => {
                if let Some(pair) = remap {
                    rest.extend([&pair.1, &pair.0]);
                }
                rest.push(index);
            }
            ExprKind::Int(_)
            | ExprKind::Real(_)
            | ExprKind::Bool(_)
            | ExprKind::Default(_)
            | ExprKind::Error => {}
        }
    }
    names
}

fn push_subscript<'a>(subscript: &'a Subscript, rest: &mut Vec<&'a Expr>) {
    match subscript {
        Subscript::Expr(e) => rest.push(e),
        Subscript::Range { begin, end, stride, .. } => {
            rest.extend([stride, end, begin].into_iter().flatten())
        }
        Subscript::Expand { value, count, .. } => {
            rest.extend([count.as_ref(), Some(value)].into_iter().flatten());
        }
        Subscript::Guard { index, remap, .. } => {
            if let Some((low, high)) = remap {
                rest.extend([high, low]);
            }
            rest.push(index);
        }
    }
}
