// SPDX-License-Identifier: Apache-2.0
//! Names for long expressions over dynamic extents (3.1).
//!
//! Expressed in terms of the inputs, the extents of a chain of operators grow with its length, and double where an operator
//! uses an extent twice. A long extent therefore gets a name, whose value is read from the first tensor with this extent.
//! Equal expressions share one name, so that extents remain provably equal.

use crate::compose::calls::Composed;
use crate::compose::context::Context;
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::dynamic_extent::{translated, translated_operations};
use crate::diagnostics::codes::LIMIT_EXCEEDED;
use crate::model::{Extent, ShapeExpr, TensorType};
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The maximum number of operations of an expression without a name.
const MAX_UNNAMED_OPERATIONS: usize = 64;

/// The type of a callee's result in the caller's terms, with names for long extents.
pub(crate) fn result_type(
    context: &mut Context,
    builder: &mut Builder,
    tensor: &TensorType,
    meanings: &mut FxHashMap<String, ShapeExpr>,
    span: Span,
) -> Composed<TensorType> {
    let mut shape = Vec::with_capacity(tensor.shape.len());
    for extent in &tensor.shape {
        let extent = TensorType { kind: tensor.kind, shape: vec![extent.clone()] };
        let operations = translated_operations(&extent, meanings);
        if operations > context.limits.extent_operations {
            let message = format!(
                "an extent of this result has {operations} operations on dynamic extents; the limit `extent_operations` is {}",
                context.limits.extent_operations
            );
            return Err(context.error(&LIMIT_EXCEEDED, span, message));
        }
        let extent = translated(&extent, meanings, &mut || builder.fresh_extent());
        shape.extend(extent.shape.into_iter().map(|extent| match extent {
            Extent::Dynamic { expr, bound } if operations > MAX_UNNAMED_OPERATIONS => {
                Extent::Dynamic { expr: named(builder, expr), bound }
            }
            short => short,
        }));
    }
    Ok(TensorType { kind: tensor.kind, shape })
}

/// The name of an expression. Inside branches and loops only names from outside can be reused, because a name defined
/// inside is not visible after the branch or loop.
fn named(builder: &mut Builder, expr: Arc<ShapeExpr>) -> Arc<ShapeExpr> {
    if let Some(name) = builder.named_extents.get(&expr) {
        return Arc::clone(name);
    }
    if builder.blocks.len() > 1 {
        return expr;
    }
    let name = Arc::new(ShapeExpr::Symbol(builder.fresh_extent()));
    builder.named_extents.insert(expr, Arc::clone(&name));
    name
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::composed;

    /// A chain of operators that name the extent of their input twice.
    fn chain(length: usize, outputs: &str, rest: &str) -> String {
        let steps: String = (0..length).map(|n| format!("x{} = twice(x{n});", n + 1)).collect();
        format!(
            "operator twice {{
                @input {{ a: real[n]; }}
                @output {{ b: real[(n + n / 2) << 64]; }}
                @lower {{ b[i,] = 0.0, i < (n + n / 2) << 64; }}
            }}
            operator both {{
                @input {{ a: real[n]; b: real[n]; }}
                @output {{ c: real[n]; }}
                @lower {{ c[i,] = a[i,] + b[i,], i < n; }}
            }}
            graph G {{
                @input {{ x0: real[s|64]; c: bool[]; }}
                @output {{ {outputs} }}
                @compose {{ {steps} {rest} }}
            }}"
        )
    }

    #[test]
    fn s3_1_a_chain_whose_extents_double_stays_small() {
        let model = composed(&chain(300, "y: real[~];", "y = x300;")).unwrap();
        let values = model.functions.iter().flat_map(|f| &f.values);
        let extents = values.flat_map(|v| &v.tensor.shape);
        let longest = extents.map(|e| e.to_string().len()).max().unwrap();
        assert!(longest < 4000, "{longest}");
    }

    #[test]
    fn s3_1_equal_long_extents_are_known_to_be_equal() {
        let rest = "z = twice(x29); y = both(x30, z);";
        let model = composed(&chain(30, "y: real[~];", rest)).unwrap();
        let checks = model.functions.iter().map(|f| f.checks.len());
        assert_eq!(checks.sum::<usize>(), 0);
    }

    #[test]
    fn s3_1_names_of_long_extents_end_with_their_branch() {
        let inside = "y = if c then { u = twice(x30); v = twice(u); yield v; } else x30;";
        assert!(composed(&chain(30, "y: real[~];", inside)).is_ok());
    }
}
