// SPDX-License-Identifier: Apache-2.0
//! Factors of a product, each computed from the elements of one input.
//!
//! Signs move freely between factors, and integers, which wrap, multiply in any order. Reals round: `(2 * a) * b` has
//! the factors `2 * a` and `b`, but `2 * (a * b)` is not split. An `index` is a 64-bit integer.

use crate::extents::bounds;
use crate::formula::scalar_to_arith::real_width;
use crate::ir;
use crate::ir::copy::{Copier, arguments};
use crate::ir::ops;
use crate::ir::{Builder, ValueKey, attributes, builder, maps, types};
use crate::structure::Affine;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, BlockRef, OperationRef, Type, Value, ValueLike};
use skript_dialect::{PassError, melior, op};
use skript_semantics::Scalar;
use std::collections::HashSet;

/// A factor.
#[derive(Clone)]
pub(crate) struct Factor<'c, 'a> {
    /// The position of the input.
    pub input: usize,
    /// The region's block, and the input's element in it.
    block: BlockRef<'c, 'a>,
    element: Value<'c, 'a>,
    /// The values that are multiplied; each is the element or is computed from it in the region.
    values: Vec<Value<'c, 'a>>,
    negated: bool,
    /// The type of the product; integers that are computed as `index` are cast to it.
    r#type: Type<'c>,
}

/// The two factors of a product of elements; `None` if it is not a product, or if a factor depends on several inputs or
/// on an index.
pub(crate) fn product<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    mut negated: bool,
    block: BlockRef<'c, 'a>,
    elements: &[Value<'c, 'a>],
) -> Option<[Factor<'c, 'a>; 2]> {
    let r#type = value.r#type();
    let value = unsigned(uncast(value), &mut negated);
    let leaves = leaves(value, &mut negated)?;
    let mut factors: Vec<Factor<'c, 'a>> = Vec::new();
    let mut constants = Vec::new();
    for leaf in leaves {
        match inputs(leaf, block, elements)?.as_slice() {
            [] => constants.push(leaf),
            [input] => {
                let known = factors.iter_mut().find(|f| f.input == *input);
                match known {
                    Some(factor) => factor.values.push(leaf),
                    None => factors.push(Factor {
                        input: *input,
                        block,
                        element: *elements.get(*input)?,
                        values: vec![leaf],
                        negated: false,
                        r#type,
                    }),
                }
            }
            _ => return None,
        }
    }
    // A square is a product of the input with itself.
    if let [only] = factors.as_mut_slice()
        && only.values.len() > 1
    {
        let other = Factor { values: vec![only.values.remove(0)], ..only.clone() };
        factors.insert(0, other);
    }
    let [left, mut right]: [Factor<'c, 'a>; 2] = factors.try_into().ok()?;
    right.values.extend(constants);
    right.negated = negated;
    Some([left, right])
}

/// The value without a negation.
fn unsigned<'c: 'a, 'a>(mut value: Value<'c, 'a>, negated: &mut bool) -> Value<'c, 'a> {
    while let Some(inner) = negation(value) {
        *negated = !*negated;
        value = inner;
    }
    value
}

fn owner<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    Some(OperationResult::try_from(value).ok()?.owner())
}

/// The operand of a widening, or of a cast between types of the same width.
pub(crate) fn widened<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let op = owner(value)?;
    match op::name(&op).as_str() {
        ops::arith::EXTF | ops::arith::EXTSI => ir::operand(op).ok(),
        ops::arith::INDEX_CAST => ir::operand(op).ok().filter(|x| bits(x.r#type()) <= bits(value.r#type())),
        _ => real_width::widened_from(value),
    }
}

/// The width of an integer type.
fn bits(r#type: Type<'_>) -> u32 {
    IntegerType::try_from(r#type).map_or(64, |integer| integer.width())
}

/// The operand of casts between `index` and 64-bit integers.
fn uncast<'c: 'a, 'a>(mut value: Value<'c, 'a>) -> Value<'c, 'a> {
    while let Some(op) = owner(value).filter(|op| op::is(op, ops::arith::INDEX_CAST))
        && let Ok(same) = ir::operand(op)
        && bits(same.r#type()) == bits(value.r#type())
    {
        value = same;
    }
    value
}

fn negation<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let op = owner(value)?;
    match op::name(&op).as_str() {
        ops::arith::NEGF => ir::operand(op).ok(),
        ops::arith::SUBI => {
            let [zero, value] = ir::both_operands(op).ok()?;
            (bounds::constant(zero) == Some(0)).then_some(value)
        }
        _ => None,
    }
}

/// The values that a product multiplies: two reals, or any number of integers. `None` if it is not a product.
fn leaves<'c: 'a, 'a>(value: Value<'c, 'a>, negated: &mut bool) -> Option<Vec<Value<'c, 'a>>> {
    let op = owner(value)?;
    let whole = match op::name(&op).as_str() {
        ops::arith::MULF => false,
        ops::arith::MULI => true,
        _ => return None,
    };
    let mut found = Vec::new();
    for operand in op.operands() {
        let operand = unsigned(uncast(operand), negated);
        // A product with other users would be computed once for each of them.
        let splits = whole && ir::users(operand).len() == 1;
        match splits.then(|| leaves(operand, negated)).flatten() {
            Some(inner) => found.extend(inner),
            None => found.push(operand),
        }
    }
    Some(found)
}

/// The inputs that a value is computed from. `None` if that requires operations that may not be speculated.
fn inputs<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    block: BlockRef<'c, 'a>,
    elements: &[Value<'c, 'a>],
) -> Option<Vec<usize>> {
    let steps = steps(&[value], block);
    let may_run = |op: &OperationRef<'c, 'a>| {
        op.region_count() == 0 && op::name(op) != ops::linalg::INDEX && op::is_speculatable(op)
    };
    if !steps.iter().all(may_run) {
        return None;
    }
    let read: Vec<Value<'c, 'a>> = steps.iter().flat_map(|op| op.operands()).chain([value]).collect();
    let others = arguments(block).into_iter().skip(elements.len());
    if others.into_iter().any(|argument| read.contains(&argument)) {
        return None;
    }
    let used = elements.iter().enumerate().filter(|(_, e)| read.contains(e));
    Some(used.map(|(input, _)| input).collect())
}

/// The operations of a block that compute these values, in order.
fn steps<'c: 'a, 'a>(values: &[Value<'c, 'a>], block: BlockRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let key = |value: &Value<'c, 'a>| ValueKey::of(*value);
    let mut needed: HashSet<ValueKey> = values.iter().map(key).collect();
    let mut steps = Vec::new();
    for op in builder::operations(block).into_iter().rev() {
        if op.results().any(|r| needed.contains(&ValueKey::of(r))) {
            needed.extend(op.operands().map(ValueKey::of));
            steps.push(op);
        }
    }
    steps.reverse();
    steps
}

impl<'c: 'a, 'a> Factor<'c, 'a> {
    /// Whether the factor is the element, or the element in a wider type: named operations widen.
    pub(crate) fn is_element(&self) -> bool {
        let [value] = self.values.as_slice() else {
            return false;
        };
        !self.negated && (*value == self.element || widened(*value) == Some(self.element))
    }

    /// The type of the factor.
    pub(crate) fn element_type(&self) -> Type<'c> {
        self.r#type
    }

    /// Exchanges the signs of two factors.
    pub(crate) fn swap_signs(left: &mut Self, right: &mut Self) {
        std::mem::swap(&mut left.negated, &mut right.negated);
    }

    /// The factor for each element of a tensor.
    pub(crate) fn compute(
        &self,
        tensor: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let extents = types::extents(tensor.r#type()).ok_or("an operand that is not a tensor")?;
        let element = self.r#type;
        let r#type = types::tensor(&extents, element);
        let init = at.value(ops::tensor::EMPTY, &at.dynamic_extents(tensor)?, &[], r#type)?;
        let (region, body, arguments) = at.region(&[self.element.r#type(), element]);
        let mut copier = Copier::new();
        copier.set(self.element, *arguments.first().ok_or("a region without an element")?);
        for op in steps(&self.values, self.block) {
            copier.copy(op, &body, &mut |_, _, _| Ok(false))?;
        }
        let mut values = Vec::new();
        for value in &self.values {
            let value = copier.get(*value);
            values.push(if value.r#type() == element {
                value
            } else {
                body.value(ops::arith::INDEX_CAST, &[value], &[], element)?
            });
        }
        let mut values = values.into_iter();
        let mut product = values.next().ok_or("a factor without a value")?;
        for value in values {
            product = body.value(ops::arith::MULI, &[product, value], &[], element)?;
        }
        if self.negated {
            product = match types::reals(element) {
                Some(_) => body.value(ops::arith::NEGF, &[product], &[], element)?,
                None => {
                    let zero = body.constant(Scalar::Int(0), element)?;
                    body.value(ops::arith::SUBI, &[zero, product], &[], element)?
                }
            };
        }
        body.create(ops::linalg::YIELD, &[product], &[], &[], Vec::new())?;
        let plain: Vec<Affine> = (0..extents.len()).map(Affine::index).collect();
        let unparsable = "linalg is not loaded";
        let map = maps::map(at.context, extents.len(), &plain).ok_or(unparsable)?;
        let parallel = Attribute::parse(at.context, "#linalg.iterator_type<parallel>").ok_or(unparsable)?;
        let iterators = vec![parallel; extents.len()];
        let generic = at.create(
            ops::linalg::GENERIC,
            &[tensor, init],
            &[
                ("indexing_maps", ArrayAttribute::new(at.context, &[map, map]).into()),
                ("iterator_types", ArrayAttribute::new(at.context, &iterators).into()),
                ("operandSegmentSizes", attributes::i32s(at.context, &[1, 1])),
            ],
            &[r#type],
            vec![region],
        )?;
        Ok(ir::result(generic)?)
    }
}
