// SPDX-License-Identifier: Apache-2.0
//! StableHLO operations on tensors with static extents, under short names.
use melior::ir::attribute::DenseElementsAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Region, Type, Value, ValueLike};
use skript_dialect::melior;
use skript_frontend::model::Accumulation;
use skript_passes::ir::ops;
use skript_passes::ir::vector::shaped_like;
use skript_passes::ir::{Builder, attributes, types};
use skript_semantics::Scalar;

/// The extents of indices.
pub(crate) fn shape(indices: &[usize], domain: &[i64]) -> Vec<i64> {
    indices.iter().map(|index| domain[*index]).collect()
}

/// Creates operations at one insertion point.
#[derive(Clone, Copy)]
pub(crate) struct Tensors<'c, 'a> {
    pub at: Builder<'c, 'a>,
}

impl<'c: 'a, 'a> Tensors<'c, 'a> {
    pub(crate) fn bool(&self) -> Type<'c> {
        IntegerType::new(self.at.context, 1).into()
    }

    /// The type of indices and of the language's integers.
    pub(crate) fn int(&self) -> Type<'c> {
        IntegerType::new(self.at.context, 64).into()
    }

    /// Creates an operation of `stablehlo` with one result.
    pub(crate) fn op(
        &self,
        name: &str,
        operands: &[Value<'c, 'a>],
        attributes: &[(&str, Attribute<'c>)],
        result: Type<'c>,
    ) -> Value<'c, 'a> {
        self.at.make(&format!("stablehlo.{name}"), operands, attributes, result)
    }

    /// Creates an operation whose result has the type of its last operand.
    pub(crate) fn same(&self, name: &str, operands: &[Value<'c, 'a>]) -> Value<'c, 'a> {
        self.op(name, operands, &[], operands[operands.len() - 1].r#type())
    }

    pub(crate) fn constant(&self, elements: Attribute<'c>, r#type: Type<'c>) -> Value<'c, 'a> {
        self.op("constant", &[], &[("value", elements)], r#type)
    }

    /// A constant tensor whose elements are equal.
    pub(crate) fn splat(&self, value: Scalar, extents: &[i64], element: Type<'c>) -> Value<'c, 'a> {
        let r#type = types::tensor(extents, element);
        let value = attributes::scalar(self.at.context, value, element);
        self.constant(DenseElementsAttribute::splat(r#type, value).into(), r#type)
    }

    pub(crate) fn integer(&self, value: i64) -> Value<'c, 'a> {
        self.splat(Scalar::Int(value), &[], self.int())
    }

    /// The tensor `0, 1, …` of rank 1.
    pub(crate) fn iota(&self, extent: i64) -> Value<'c, 'a> {
        let dimension = attributes::i64(self.at.context, 0);
        self.op("iota", &[], &[("iota_dimension", dimension)], types::tensor(&[extent], self.int()))
    }

    pub(crate) fn extents(&self, value: Value<'c, 'a>) -> Vec<i64> {
        types::extents(value.r#type())
            .unwrap_or_else(|| unreachable!("internal compiler error: not a tensor"))
    }

    pub(crate) fn element(&self, value: Value<'c, 'a>) -> Type<'c> {
        types::element_of(value.r#type())
            .unwrap_or_else(|| unreachable!("internal compiler error: not a tensor"))
    }

    /// Parses an attribute of StableHLO.
    pub(crate) fn attribute(&self, text: &str) -> Attribute<'c> {
        Attribute::parse(self.at.context, text)
            .unwrap_or_else(|| unreachable!("internal compiler error: no attribute: {text}"))
    }

    /// Broadcasts a tensor; `dimensions` maps each dimension of the operand to a dimension of the result.
    pub(crate) fn broadcast(
        &self,
        value: Value<'c, 'a>,
        dimensions: &[i64],
        extents: &[i64],
    ) -> Value<'c, 'a> {
        let result = types::tensor(extents, self.element(value));
        if result == value.r#type() {
            return value;
        }
        // A broadcast of one element to one element equals a reshape. It is always exported as a reshape, so that
        // importers need not distinguish two forms.
        let count: i64 = self.extents(value).iter().product();
        if count == 1 && extents.iter().all(|e| *e == 1) {
            return self.reshape(value, extents);
        }
        let dimensions = attributes::i64s(self.at.context, dimensions);
        self.op("broadcast_in_dim", &[value], &[("broadcast_dimensions", dimensions)], result)
    }

    pub(crate) fn reshape(&self, value: Value<'c, 'a>, extents: &[i64]) -> Value<'c, 'a> {
        let result = types::tensor(extents, self.element(value));
        if result == value.r#type() {
            return value;
        }
        self.op("reshape", &[value], &[], result)
    }

    pub(crate) fn transpose(&self, value: Value<'c, 'a>, order: &[usize]) -> Value<'c, 'a> {
        if order.iter().enumerate().all(|(at, from)| at == *from) {
            return value;
        }
        let from = self.extents(value);
        let extents = shape(order, &from);
        let order: Vec<i64> = order.iter().map(|d| *d as i64).collect();
        self.op(
            "transpose",
            &[value],
            &[("permutation", attributes::i64s(self.at.context, &order))],
            types::tensor(&extents, self.element(value)),
        )
    }

    pub(crate) fn reverse(&self, value: Value<'c, 'a>, dimensions: &[i64]) -> Value<'c, 'a> {
        if dimensions.is_empty() {
            return value;
        }
        let dimensions = attributes::i64s(self.at.context, dimensions);
        self.op("reverse", &[value], &[("dimensions", dimensions)], value.r#type())
    }

    /// Slices the positions `start, start + stride, …` below `limit` of each dimension.
    pub(crate) fn slice(
        &self,
        value: Value<'c, 'a>,
        starts: &[i64],
        limits: &[i64],
        strides: &[i64],
    ) -> Value<'c, 'a> {
        let extents: Vec<i64> = starts
            .iter()
            .zip(limits)
            .zip(strides)
            .map(|((start, limit), stride)| (limit - start + stride - 1) / stride)
            .collect();
        let whole = starts.iter().all(|s| *s == 0) && strides.iter().all(|s| *s == 1);
        if whole && self.extents(value) == extents {
            return value;
        }
        let context = self.at.context;
        self.op(
            "slice",
            &[value],
            &[
                ("start_indices", attributes::i64s(context, starts)),
                ("limit_indices", attributes::i64s(context, limits)),
                ("strides", attributes::i64s(context, strides)),
            ],
            types::tensor(&extents, self.element(value)),
        )
    }

    /// Adds borders filled with `with`, and `interior` such elements between neighbours; negative borders remove
    /// elements.
    pub(crate) fn pad(
        &self,
        value: Value<'c, 'a>,
        with: Scalar,
        low: &[i64],
        high: &[i64],
        interior: &[i64],
    ) -> Value<'c, 'a> {
        if low.iter().chain(high).chain(interior).all(|p| *p == 0) {
            return value;
        }
        let extents: Vec<i64> = self
            .extents(value)
            .iter()
            .zip(low.iter().zip(high).zip(interior))
            .map(|(e, ((l, h), i))| e + (e - 1).max(0) * i + l + h)
            .collect();
        let element = self.element(value);
        let with = self.splat(with, &[], element);
        let context = self.at.context;
        self.op(
            "pad",
            &[value, with],
            &[
                ("edge_padding_low", attributes::i64s(context, low)),
                ("edge_padding_high", attributes::i64s(context, high)),
                ("interior_padding", attributes::i64s(context, interior)),
            ],
            types::tensor(&extents, element),
        )
    }

    /// Concatenates tensors along `dimension`; their other extents are equal.
    pub(crate) fn concatenate(&self, values: &[Value<'c, 'a>], dimension: usize) -> Value<'c, 'a> {
        let first = values[0];
        if values.len() == 1 {
            return first;
        }
        let mut extents = self.extents(first);
        extents[dimension] = values.iter().map(|value| self.extents(*value)[dimension]).sum();
        self.op(
            "concatenate",
            values,
            &[("dimension", attributes::i64(self.at.context, dimension as i64))],
            types::tensor(&extents, self.element(first)),
        )
    }

    /// Slices a block whose start indices are scalars, which are clamped.
    pub(crate) fn dynamic_slice(
        &self,
        value: Value<'c, 'a>,
        starts: &[Value<'c, 'a>],
        sizes: &[i64],
    ) -> Value<'c, 'a> {
        let mut operands = vec![value];
        operands.extend(starts);
        self.op(
            "dynamic_slice",
            &operands,
            &[("slice_sizes", attributes::i64s(self.at.context, sizes))],
            types::tensor(sizes, self.element(value)),
        )
    }

    /// Replaces a block whose start indices are scalars, which are clamped.
    pub(crate) fn dynamic_update_slice(
        &self,
        value: Value<'c, 'a>,
        update: Value<'c, 'a>,
        starts: &[Value<'c, 'a>],
    ) -> Value<'c, 'a> {
        let mut operands = vec![value, update];
        operands.extend(starts);
        self.op("dynamic_update_slice", &operands, &[], value.r#type())
    }

    /// Compares tensors or scalars.
    pub(crate) fn compare(
        &self,
        direction: &str,
        kind: &str,
        lhs: Value<'c, 'a>,
        rhs: Value<'c, 'a>,
    ) -> Value<'c, 'a> {
        let direction = self.attribute(&format!("#stablehlo<comparison_direction {direction}>"));
        let kind = self.attribute(&format!("#stablehlo<comparison_type {kind}>"));
        self.op(
            "compare",
            &[lhs, rhs],
            &[("comparison_direction", direction), ("compare_type", kind)],
            shaped_like(lhs.r#type(), self.bool()),
        )
    }

    pub(crate) fn select(
        &self,
        condition: Value<'c, 'a>,
        then: Value<'c, 'a>,
        otherwise: Value<'c, 'a>,
    ) -> Value<'c, 'a> {
        self.op("select", &[condition, then, otherwise], &[], then.r#type())
    }

    /// The operation that combines elements for a kind of reduction.
    pub(crate) fn combiner(kind: Accumulation) -> Option<&'static str> {
        Some(match kind {
            Accumulation::Sum => "add",
            Accumulation::Product => "multiply",
            Accumulation::All => "and",
            Accumulation::Any => "or",
            Accumulation::Min => "minimum",
            Accumulation::Max => "maximum",
            Accumulation::Assign | Accumulation::Replace => return None,
        })
    }

    /// Creates the region that combines two scalars.
    pub(crate) fn combination(&self, combiner: &str, element: Type<'c>) -> Region<'c> {
        let scalar = types::tensor(&[], element);
        let (region, body, arguments) = self.at.region(&[scalar, scalar]);
        let combined = Tensors { at: body }.same(combiner, &arguments);
        body.op(ops::stablehlo::RETURN, &[combined], &[], &[], Vec::new());
        region
    }

    /// Reduces a tensor along dimensions.
    pub(crate) fn reduce(
        &self,
        value: Value<'c, 'a>,
        combiner: &str,
        identity: Scalar,
        dimensions: &[i64],
    ) -> Value<'c, 'a> {
        if dimensions.is_empty() {
            return value;
        }
        let element = self.element(value);
        let init = self.splat(identity, &[], element);
        let extents: Vec<i64> = self
            .extents(value)
            .into_iter()
            .enumerate()
            .filter(|(d, _)| !dimensions.contains(&(*d as i64)))
            .map(|(_, e)| e)
            .collect();
        let region = self.combination(combiner, element);
        let op = self.at.op(
            ops::stablehlo::REDUCE,
            &[value, init],
            &[("dimensions", attributes::i64s(self.at.context, dimensions))],
            &[types::tensor(&extents, element)],
            vec![region],
        );
        self.at.result(op, 0)
    }

    /// Sorts tensors together along a dimension, stably. `precedes` compares two rows: its arguments are two elements
    /// of the first tensor, two elements of the second tensor, and so on.
    pub(crate) fn sort(
        &self,
        values: &[Value<'c, 'a>],
        dimension: usize,
        precedes: impl FnOnce(&Self, &[Value<'c, 'a>]) -> Value<'c, 'a>,
    ) -> Vec<Value<'c, 'a>> {
        let mut scalars = Vec::new();
        for value in values {
            let scalar = types::tensor(&[], self.element(*value));
            scalars.extend([scalar, scalar]);
        }
        let (region, body, elements) = self.at.region(&scalars);
        let first = precedes(&Tensors { at: body }, &elements);
        body.op(ops::stablehlo::RETURN, &[first], &[], &[], Vec::new());
        let context = self.at.context;
        let results: Vec<_> = values.iter().map(|v| v.r#type()).collect();
        let op = self.at.op(
            ops::stablehlo::SORT,
            values,
            &[
                ("dimension", attributes::i64(context, dimension as i64)),
                ("is_stable", attributes::boolean(context, true)),
            ],
            &results,
            vec![region],
        );
        op.results().map(Into::into).collect()
    }
}
