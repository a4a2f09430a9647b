// SPDX-License-Identifier: Apache-2.0
//! Replaces operations whose shape is an operand by operations whose shape is an attribute.

use super::integers::{Integers, Known};
use crate::import::to_linalg::SourceOp;
use crate::typed::CustomCall;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, OperationRef, Type, Value, ValueLike};
use skript_dialect::{PassError, melior, op};
use skript_passes::ir::builder::Builder;
use skript_passes::ir::{attributes, context, dense, ops, types};

/// The target of the custom call that represents a `reduce_window` with dynamic windows.
pub(crate) const WINDOW: &str = "stablehlo.dynamic_reduce_window";

/// Whether [`form`] replaces operations of this name.
pub(crate) fn is_replaced(name: &str) -> bool {
    static_name(name).is_some()
}

/// Whether an operation is a call of [`WINDOW`].
pub(super) fn is_window(operation: OperationRef) -> bool {
    CustomCall::cast(operation).is_some_and(|call| call.target() == WINDOW)
}

/// The name of the corresponding operation whose shape is an attribute.
fn static_name(name: &str) -> Option<&'static str> {
    Some(match name {
        ops::stablehlo::DYNAMIC_BROADCAST_IN_DIM => ops::stablehlo::BROADCAST_IN_DIM,
        ops::stablehlo::DYNAMIC_CONV => ops::stablehlo::CONVOLUTION,
        ops::stablehlo::DYNAMIC_GATHER => ops::stablehlo::GATHER,
        ops::stablehlo::DYNAMIC_IOTA => ops::stablehlo::IOTA,
        ops::stablehlo::DYNAMIC_PAD => ops::stablehlo::PAD,
        ops::stablehlo::DYNAMIC_RESHAPE => ops::stablehlo::RESHAPE,
        ops::stablehlo::GET_DIMENSION_SIZE => ops::stablehlo::CONSTANT,
        ops::stablehlo::REAL_DYNAMIC_SLICE => ops::stablehlo::SLICE,
        _ => return None,
    })
}

/// Inserts the operation whose shape is an attribute before the operation whose shape is an operand. The result types
/// are equal, unless an operand is the shape of the result.
///
/// # Errors
/// Fails if an operand depends on data.
pub(super) fn form<'c: 'a, 'a>(
    source: &SourceOp<'c, 'a>,
    known: &Known,
) -> Result<OperationRef<'c, 'a>, PassError> {
    let form = Form { source, known };
    let name = op::name(&source.op);
    match name.as_str() {
        ops::stablehlo::DYNAMIC_BROADCAST_IN_DIM => form.built(1, &["broadcast_dimensions"], &[], Some(1)),
        ops::stablehlo::DYNAMIC_CONV => {
            let padding = form.padding(2)?;
            form.built(2, &CONVOLUTION, &[("padding", padding)], None)
        }
        ops::stablehlo::DYNAMIC_GATHER => {
            let sizes = form.list(2)?;
            let kept = ["dimension_numbers", "indices_are_sorted"];
            form.built(2, &kept, &[("slice_sizes", sizes)], None)
        }
        ops::stablehlo::DYNAMIC_IOTA => form.built(0, &["iota_dimension"], &[], Some(0)),
        ops::stablehlo::DYNAMIC_PAD => {
            let [low, high, interior] = [form.list(2)?, form.list(3)?, form.list(4)?];
            let lists =
                [("edge_padding_low", low), ("edge_padding_high", high), ("interior_padding", interior)];
            form.built(2, &[], &lists, None)
        }
        ops::stablehlo::DYNAMIC_RESHAPE => form.built(1, &[], &[], Some(1)),
        ops::stablehlo::REAL_DYNAMIC_SLICE => {
            let [start, limit, stride] = [form.list(1)?, form.list(2)?, form.list(3)?];
            let lists = [("start_indices", start), ("limit_indices", limit), ("strides", stride)];
            form.built(1, &[], &lists, None)
        }
        ops::stablehlo::GET_DIMENSION_SIZE => {
            let dimension = source.i64("dimension").and_then(|d| usize::try_from(d).ok());
            let extent = dimension.and_then(|d| source.operands.first()?.extents.get(d));
            let extent = *extent.ok_or("has no such dimension")?;
            let extent = i32::try_from(extent).map_err(|_| "returns an extent that exceeds 32 bits")?;
            let scalar = types::tensor(&[], types::int(context::of(source.op), 32));
            let value = dense::of_bytes(scalar, &extent.to_ne_bytes());
            form.built(0, &[], &[("value", value)], None)
        }
        _ => form.window(),
    }
}

/// The attributes of a convolution, except for the padding.
const CONVOLUTION: [&str; 8] = [
    "batch_group_count",
    "dimension_numbers",
    "feature_group_count",
    "lhs_dilation",
    "precision_config",
    "rhs_dilation",
    "window_reversal",
    "window_strides",
];

struct Form<'f, 'c, 'a> {
    source: &'f SourceOp<'c, 'a>,
    known: &'f Known,
}

impl<'c: 'a, 'a> Form<'_, 'c, 'a> {
    /// Inserts the operation, with the first `count` operands, the `kept` attributes, and the attributes `lists`. The
    /// operand `shape`, if any, is the shape of the result.
    fn built(
        &self,
        count: usize,
        kept: &[&'static str],
        lists: &[(&'static str, Attribute<'c>)],
        shape: Option<usize>,
    ) -> Result<OperationRef<'c, 'a>, PassError> {
        let operation = self.source.op;
        let attributes: Vec<_> = kept
            .iter()
            .filter_map(|name| Some((*name, operation.attribute(name).ok()?)))
            .chain(lists.iter().copied())
            .collect();
        let operands: Vec<Value> = self.source.values.iter().take(count).copied().collect();
        let mut results: Vec<Type> = operation.results().map(|r| r.r#type()).collect();
        if let Some(shape) = shape {
            let extents = &self.integers(shape)?.values;
            let result = results.first_mut().ok_or("has no result")?;
            let declared = types::extents(*result).ok_or("has no tensor as its result")?;
            if declared.len() != extents.len() || extents.iter().any(|e| *e < 0) {
                return Err(PassError::from(format!(
                    "gives {result}, but its shape is {extents:?} in this call"
                )));
            }
            let element = types::element_of(*result).ok_or("has no tensor as its result")?;
            *result = types::tensor(extents, element);
        }
        let name = static_name(&op::name(&operation)).unwrap_or(ops::stablehlo::REDUCE_WINDOW);
        let at = Builder::before(context::of(operation), operation)?;
        Ok(at.create(name, &operands, &attributes, &results, Vec::new())?)
    }

    /// The values of an operand.
    fn integers(&self, operand: usize) -> Result<&Integers, PassError> {
        let value = self.source.values.get(operand).ok_or("lacks an operand")?;
        self.known.get(*value).ok_or_else(|| {
            PassError::from(format!(
                "has a shape that depends on data, by its operand {operand}: only shapes that follow from those of \
                 the arguments are supported"
            ))
        })
    }

    fn list(&self, operand: usize) -> Result<Attribute<'c>, PassError> {
        let context = context::of(self.source.op);
        Ok(attributes::i64s(context, &self.integers(operand)?.values))
    }

    /// The pairs of an operand as `dense<[[0, 1]]> : tensor<1x2xi64>`.
    fn padding(&self, operand: usize) -> Result<Attribute<'c>, PassError> {
        let (pairs, _) = self.integers(operand)?.values.as_chunks::<2>();
        let bytes: Vec<u8> = pairs.as_flattened().iter().flat_map(|n| n.to_ne_bytes()).collect();
        let r#type = types::tensor(&[pairs.len() as i64, 2], types::word(context::of(self.source.op)));
        Ok(dense::of_bytes(r#type, &bytes))
    }

    /// Inserts a `reduce_window` whose body calls the reducer. The operands are inputs, initial values, window,
    /// strides, both dilations and padding.
    fn window(&self) -> Result<OperationRef<'c, 'a>, PassError> {
        let (operation, values) = (self.source.op, &self.source.values);
        let count = values.len().checked_sub(5).ok_or("lacks an operand")?;
        let lists = [
            ("window_dimensions", self.list(count)?),
            ("window_strides", self.list(count + 1)?),
            ("base_dilations", self.list(count + 2)?),
            ("window_dilations", self.list(count + 3)?),
            ("padding", self.padding(count + 4)?),
        ];
        let reducer = ArrayAttribute::try_from(operation.attribute("called_computations")?)?.element(0)?;
        let callee = [("callee", reducer)];
        let results: Vec<Type> = operation.results().map(|r| r.r#type()).collect();
        let elements = results.iter().map(|t| types::element_of(*t));
        let elements: Vec<Type> =
            elements.map(|t| Some(types::tensor(&[], t?))).collect::<Option<_>>().ok_or("has no tensor")?;
        let at = Builder::before(context::of(operation), operation)?;
        let both = [&elements[..], &elements[..]].concat();
        let (body, inside, arguments) = at.region(&both);
        let call = inside.create(ops::func::CALL, &arguments, &callee, &elements, Vec::new())?;
        let reduced: Vec<Value> = call.results().map(Into::into).collect();
        inside.create(ops::stablehlo::RETURN, &reduced, &[], &[], Vec::new())?;
        let operands: Vec<Value> = values.iter().take(count).copied().collect();
        let name = ops::stablehlo::REDUCE_WINDOW;
        Ok(at.create(name, &operands, &lists, &results, vec![body])?)
    }
}
