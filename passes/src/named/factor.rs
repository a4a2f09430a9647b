// SPDX-License-Identifier: Apache-2.0
//! Splits products into factors, each of which is computed from the elements of one input.
//!
//! Signs can be moved between factors, and integers can be multiplied in any order, because overflow wraps around. Reals are rounded:
//! `(2 * a) * b` has the factors `2 * a` and `b`, but `2 * (a * b)` is not split. An `index` is a 64-bit integer.

use crate::formula::scalar_to_arith;
use crate::ir;
use crate::ir::arith::without_index_casts;
use crate::ir::generic::{Access, all_loops, map, needed};
use crate::ir::ops;
use crate::ir::{Builder, Copier, arguments, builder, types};
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, OperationRef, Type, Value, ValueLike};
use skript_dialect::{PassError, melior, op};
use skript_semantics::Scalar;

#[derive(Clone)]
pub(crate) struct Factor<'c, 'a> {
    /// The position of the input.
    pub input: usize,
    /// The block of the region, and the element of the input in it.
    block: BlockRef<'c, 'a>,
    element: Value<'c, 'a>,
    /// The values that are multiplied. Each is the element, or is computed from it in the region.
    values: Vec<Value<'c, 'a>>,
    negated: bool,
    /// The type of the product. Integers that are computed as `index` are cast to it.
    r#type: Type<'c>,
}

/// The two factors of a product of elements. `None` if it is not a product, or if a factor depends on several inputs or
/// on an index.
pub(crate) fn product<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    mut negated: bool,
    block: BlockRef<'c, 'a>,
    elements: &[Value<'c, 'a>],
) -> Option<[Factor<'c, 'a>; 2]> {
    let r#type = value.r#type();
    let value = unsigned(without_index_casts(value), &mut negated);
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

/// The operand of a widening, or of a cast between types of the same width.
pub(crate) fn widened<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let (op, _) = ir::definition(value)?;
    // An index has 64 bits.
    let bits = |value: Value| types::bits(value.r#type()).unwrap_or(64);
    match op::name(&op).as_str() {
        ops::arith::EXTF | ops::arith::EXTSI => ir::operand(op).ok(),
        ops::arith::INDEX_CAST => ir::operand(op).ok().filter(|x| bits(*x) <= bits(value)),
        _ => scalar_to_arith::widened_from(value),
    }
}

fn negation<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let (op, _) = ir::definition(value)?;
    match op::name(&op).as_str() {
        ops::arith::NEGF => ir::operand(op).ok(),
        ops::arith::SUBI => {
            let [zero, value] = ir::both_operands(op).ok()?;
            (ir::integer(zero) == Some(0)).then_some(value)
        }
        _ => None,
    }
}

/// The values that a product multiplies: two reals, or any number of integers. `None` if it is not a product.
fn leaves<'c: 'a, 'a>(value: Value<'c, 'a>, negated: &mut bool) -> Option<Vec<Value<'c, 'a>>> {
    let (op, _) = ir::definition(value)?;
    let whole = match op::name(&op).as_str() {
        ops::arith::MULF => false,
        ops::arith::MULI => true,
        _ => return None,
    };
    let mut factors = Vec::new();
    for operand in op.operands() {
        let operand = unsigned(without_index_casts(operand), negated);
        // A product with other users would be computed again for each user.
        let splits = whole && ir::users(operand).len() == 1;
        match splits.then(|| leaves(operand, negated)).flatten() {
            Some(inner) => factors.extend(inner),
            None => factors.push(operand),
        }
    }
    Some(factors)
}

/// The inputs that a value is computed from. `None` if this requires operations that cannot be speculated.
fn inputs<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    block: BlockRef<'c, 'a>,
    elements: &[Value<'c, 'a>],
) -> Option<Vec<usize>> {
    let steps = steps(&[value], block);
    let is_speculatable = |op: &OperationRef<'c, 'a>| {
        op.region_count() == 0 && op::name(op) != ops::linalg::INDEX && op::is_speculatable(op)
    };
    if !steps.iter().all(is_speculatable) {
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
    needed(&builder::operations(block), values.iter().copied(), &[])
}

impl<'c: 'a, 'a> Factor<'c, 'a> {
    /// Whether the factor is the element, or the element in a wider type, because named operations extend their inputs.
    pub(crate) fn is_element(&self) -> bool {
        let [value] = self.values.as_slice() else {
            return false;
        };
        !self.negated && (*value == self.element || widened(*value) == Some(self.element))
    }

    pub(crate) fn element_type(&self) -> Type<'c> {
        self.r#type
    }

    /// Exchanges the signs of two factors.
    pub(crate) fn swap_signs(left: &mut Self, right: &mut Self) {
        std::mem::swap(&mut left.negated, &mut right.negated);
    }

    pub(crate) fn compute(
        &self,
        tensor: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let element = self.r#type;
        let kind = types::of_element(tensor.r#type(), element);
        let input = Access(tensor, all_loops(types::shape(kind).len()));
        map(at, &[input], kind, &at.dynamic_extents(tensor)?, |body, elements| {
            let mut copier = Copier::from_pairs(&[self.element], elements);
            copier.copy_all(&steps(&self.values, self.block), body)?;
            self.product(&copier, body)
        })
    }

    /// The product of the copied values.
    fn product(&self, copier: &Copier<'c, 'a>, body: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let element = self.r#type;
        let mut values = Vec::new();
        for value in &self.values {
            let value = copier.get(*value);
            values.push(if value.r#type() == element { value } else { body.index_cast(value, element) });
        }
        let mut values = values.into_iter();
        let mut product = values.next().ok_or("a factor without a value")?;
        for value in values {
            product = body.muli(product, value);
        }
        if self.negated {
            product = match types::reals(element) {
                Some(_) => body.value(ops::arith::NEGF, &[product], &[], element)?,
                None => {
                    let zero = body.constant(Scalar::Int(0), element)?;
                    body.subi(zero, product)
                }
            };
        }
        Ok(product)
    }
}
