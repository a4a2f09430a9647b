// SPDX-License-Identifier: Apache-2.0
//! Computes operations in the body of a loop for all steps at once. Tensors get a first dimension for the steps.

use super::classes::{Class, Classes, Slice};
use super::counted::{Counted, Steps};
use crate::ir::generic::{Access, LoopNest, copy_of, map, rebuild};
use crate::ir::linalg::{Fill, Generic, index_of};
use crate::ir::{self, Builder, Copier, ValueKey, attributes, ops, shape, typed, types};
use crate::structure::Affine;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, OperationRef, Type, Value, ValueLike};
use skript_dialect::{PassError, melior, op};
use std::collections::{HashMap, HashSet};

/// The values that leave a loop.
pub(super) struct Widening<'w, 'c, 'a> {
    counted: &'w Counted<'c, 'a>,
    classes: &'w Classes<'c, 'a>,
    at: &'w Builder<'c, 'a>,
    steps: Steps<'c, 'a>,
    selected: HashSet<ValueKey>,
    wanted: HashSet<ValueKey>,
    /// The operations to emit before the loop, in order.
    needed: Vec<OperationRef<'c, 'a>>,
    /// Operations without stepwise operands that nevertheless get a dimension for the steps, because they initialize the products.
    starts: HashSet<ValueKey>,
    /// The operations that are emitted before the loop.
    built: Copier<'c, 'a>,
    /// Tensors of all steps.
    wide: HashMap<ValueKey, Value<'c, 'a>>,
}

/// An error for a map or a list of iterators that MLIR does not parse, which is a bug in this pass.
const UNPARSABLE: &str = "an attribute of linalg.generic that MLIR does not parse";

impl<'w, 'c: 'a, 'a> Widening<'w, 'c, 'a> {
    pub(super) fn new(
        counted: &'w Counted<'c, 'a>,
        classes: &'w Classes<'c, 'a>,
        selected: HashSet<ValueKey>,
        at: &'w Builder<'c, 'a>,
    ) -> Self {
        let mut widening = Widening {
            counted,
            classes,
            at,
            steps: counted.steps(at),
            wanted: selected.clone(),
            selected,
            needed: Vec::new(),
            starts: HashSet::new(),
            built: Copier::new(),
            wide: HashMap::new(),
        };
        widening.find_needed();
        widening
    }

    fn find_needed(&mut self) {
        for op in self.classes.body.iter().rev() {
            let (is_wide, is_narrow) = (self.is_wide(*op), self.is_narrow(*op));
            if !is_wide && !is_narrow {
                continue;
            }
            self.needed.push(*op);
            let inputs = op.operand_count().saturating_sub(op.result_count());
            for (number, operand) in op.operands().enumerate() {
                let class = self.classes.class(operand);
                let is_init = number >= inputs && Generic::cast(*op).is_some();
                let is_begun = is_init && class == Some(Class::Invariant);
                if is_wide && is_begun {
                    self.want_init(operand);
                }
                if is_narrow || !is_begun && !matches!(class, Some(Class::Index { .. })) {
                    self.wanted.insert(ValueKey::of(operand));
                }
            }
        }
        self.needed.reverse();
    }

    /// The parts of an init that has no dimension for the steps.
    fn want_init(&mut self, init: Value<'c, 'a>) {
        let extents = types::shape(init.r#type());
        let is_dynamic = extents.contains(&types::DYNAMIC);
        let made = ir::definition(init).map(|(op, _)| op);
        let is_begun = made.is_some_and(|op| {
            let is_map = Generic::cast(op).is_some_and(|generic| !generic.reduces());
            is_map && !self.classes.is_outside(init)
        });
        if is_begun {
            self.starts.insert(ValueKey::of(init));
        } else if let Some(value) = Fill::of(init).and_then(|fill| fill.value().ok()) {
            self.wanted.insert(ValueKey::of(value));
        }
        let is_plain = is_begun
            || made
                .is_some_and(|op| [ops::tensor::EMPTY, ops::linalg::FILL].contains(&ir::name(op).as_str()));
        if is_dynamic || !is_plain {
            self.wanted.insert(ValueKey::of(init));
        }
    }

    /// Whether an operation is emitted with a dimension for the steps.
    fn is_wide(&self, op: OperationRef<'c, 'a>) -> bool {
        ir::result_at(op, 0).is_some_and(|result| {
            let key = ValueKey::of(result);
            let is_stepwise = self.classes.class(result) == Some(Class::Stepwise);
            is_stepwise && self.wanted.contains(&key) || self.starts.contains(&key)
        })
    }

    /// Whether an operation is emitted unchanged.
    fn is_narrow(&self, op: OperationRef<'c, 'a>) -> bool {
        op.results().any(|result| {
            let is_invariant = self.classes.class(result.into()) == Some(Class::Invariant);
            is_invariant && self.wanted.contains(&ValueKey::of(result))
        })
    }

    /// Emits all operations before the loop. The loop reads slices of the results.
    pub(super) fn apply(mut self) -> Result<(), PassError> {
        for op in self.needed.clone() {
            let at = self.at.with_location(op.location());
            if self.is_narrow(op) {
                self.built.copy(op, &at, &mut |_, _, _| Ok(false))?;
            }
            if !self.is_wide(op) {
                continue;
            }
            let wide = match ir::name(op).as_str() {
                ops::linalg::GENERIC => self.generic(op, &at)?,
                ops::tensor::FROM_ELEMENTS => self.numbers(op, &at)?,
                ops::tensor::EXTRACT_SLICE => self.slice(op, &at)?,
                _ => self.reshape(op, &at)?,
            };
            self.wide.insert(ValueKey::of(op.result(0)?), wide);
        }
        for op in self.classes.body.iter().rev() {
            self.leave(*op)?;
        }
        Ok(())
    }

    /// Replaces the results of an operation that the loop reads, and removes the operation if it is unused.
    fn leave(&self, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
        for result in op.results() {
            let (key, result): (_, Value) = (ValueKey::of(result), result.into());
            if !self.selected.contains(&key) || !op::is_used(result) {
                continue;
            }
            let new = match self.wide.get(&key) {
                Some(wide) => self.step_of(*wide, result.r#type(), op)?,
                None => self.built.get(result),
            };
            ir::replace_uses(result, new);
        }
        let mut results = op.results().map(Value::from);
        let is_known = |result| self.classes.class(result).is_some() && !op::is_used(result);
        if op.result_count() > 0 && results.all(is_known) {
            ir::erase(op);
        }
        Ok(())
    }

    /// The slice of the current step, before an operation of the body.
    fn step_of(
        &self,
        wide: Value<'c, 'a>,
        r#type: Type<'c>,
        before: OperationRef<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let extents = types::extents(r#type).ok_or("a step that is not a tensor")?;
        let mut sizes = Vec::new();
        for (dimension, extent) in (1..).zip(&extents) {
            if *extent == types::DYNAMIC {
                sizes.push(self.at.extent(wide, dimension)?);
            }
        }
        let at = Builder::before(self.at.context, before)?;
        let offsets = [&[types::DYNAMIC], vec![0; extents.len()].as_slice()].concat();
        let mut operands = vec![wide, self.counted.counter];
        operands.extend(&sizes);
        let slice = slice_attributes(&at, &offsets, &[&[1], extents.as_slice()].concat(), 1, sizes.len())?;
        Ok(at.value(ops::tensor::EXTRACT_SLICE, &operands, &slice, r#type)?)
    }

    /// The tensor type with a dimension for the steps.
    fn wide_type(&self, r#type: Type<'c>) -> Result<Type<'c>, PassError> {
        let extents = types::extents(r#type).ok_or("a step that is not a tensor")?;
        let element = types::element_of(r#type).ok_or("a step that is not a tensor")?;
        Ok(types::tensor(&[&[self.steps.extent()], extents.as_slice()].concat(), element))
    }

    /// The value before the loop for a value of the loop.
    fn outside(&self, value: Value<'c, 'a>) -> Value<'c, 'a> {
        self.built.get(value)
    }

    fn generic(&self, op: OperationRef<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let nest = LoopNest::read(op).ok_or("no linalg.generic")?;
        let mut operands = Vec::new();
        for (number, own) in nest.operands.iter().enumerate() {
            let mut forms = shifted(&own.forms).ok_or(UNPARSABLE)?;
            let wide = self.wide.get(&ValueKey::of(own.value)).copied();
            let (operand, is_wide) = match wide {
                Some(wide) if number >= nest.inputs || !self.starts.contains(&ValueKey::of(own.value)) => {
                    (wide, true)
                }
                _ if number >= nest.inputs => (self.init(own.value, at)?, true),
                _ => (self.outside(own.value), false),
            };
            if is_wide {
                forms.insert(0, Affine::index(0));
            }
            operands.push(Access(operand, forms));
        }
        let reductions = [&[false], nest.reductions.as_slice()].concat();
        let wide = rebuild(at, &nest, &operands, &reductions, |body, elements| {
            nest.copy_payload(self.built.clone(), elements, body, &mut |copier, inner, to| {
                let Some(l) = index_of(inner) else {
                    return Ok(false);
                };
                copier.set(inner.result(0)?, to.loop_index(l + 1)?);
                Ok(true)
            })
        })?;
        Ok(wide.result(0)?.into())
    }

    /// The init for all steps from an init without a dimension for the steps.
    fn init(&self, init: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let r#type = self.wide_type(init.r#type())?;
        let narrow = self.outside(init);
        let extents: Vec<Value> =
            self.steps.operand().into_iter().chain(at.dynamic_extents(narrow)?).collect();
        if let Some(fill) = Fill::of(init) {
            return Ok(at.fill_sized(self.outside(fill.value()?), r#type, &extents)?);
        }
        if ir::defined_by(init, ops::tensor::EMPTY).is_some() {
            return Ok(at.value(ops::tensor::EMPTY, &extents, &[], r#type)?);
        }
        let rank = types::shape(init.r#type()).len();
        let steps = Access(narrow, (1..=rank).map(Affine::index).collect());
        Ok(copy_of(at, steps, r#type, &extents)?)
    }

    /// The numbers of all steps, in the type of the elements.
    fn numbers(&self, op: OperationRef<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let Some(Class::Index { factor, offset }) = self.classes.class(op.operand(0)?) else {
            return Err("an element that is not the number of the step".into());
        };
        let r#type = self.wide_type(op.result(0)?.r#type())?;
        let extents: Vec<Value> = self.steps.operand().into_iter().collect();
        let element = types::element_or_self(r#type);
        map(at, &[], r#type, &extents, |body, _| {
            let step = body.loop_index(0)?;
            let factor = body.idx(factor);
            let product = body.muli(step, factor);
            let offset = body.idx(offset);
            let number = body.addi(product, offset);
            match IntegerType::try_from(element) {
                Ok(_) => Ok(body.index_cast(number, element)),
                Err(_) => Ok(number),
            }
        })
    }

    fn slice(&self, op: OperationRef<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let r#type = self.wide_type(op.result(0)?.r#type())?;
        let source = op.operand(0)?;
        let dynamic_size = self.steps.operand();
        if let Some(wide) = self.wide.get(&ValueKey::of(source)) {
            let offsets = [&[0], typed::i64s(op, "static_offsets").as_slice()].concat();
            let steps = self.steps.extent();
            let sizes = [&[steps], typed::i64s(op, "static_sizes").as_slice()].concat();
            let strides = [&[1], typed::i64s(op, "static_strides").as_slice()].concat();
            let count = |values: &[i64]| values.iter().filter(|n| **n == types::DYNAMIC).count();
            // Offsets precede sizes.
            let mut operands: Vec<Value> = op.operands().collect();
            if let (Some(first), Some(steps)) = (operands.first_mut(), dynamic_size) {
                *first = *wide;
                operands.insert(1 + count(&offsets), steps);
            } else if let Some(first) = operands.first_mut() {
                *first = *wide;
            }
            let mut slice = slice_attributes(at, &offsets, &sizes, count(&offsets), count(&sizes))?;
            slice.retain(|(name, _)| *name != "static_strides");
            slice.push(("static_strides", attributes::i64s(at.context, &strides)));
            if let Some((_, segments)) = slice.iter_mut().find(|(name, _)| *name == "operandSegmentSizes") {
                *segments = segment_sizes(at, count(&offsets), count(&sizes), count(&strides))?;
            }
            return Ok(at.value(ops::tensor::EXTRACT_SLICE, &operands, &slice, r#type)?);
        }
        let slice = Slice::from_op(op, self.classes).ok_or("a slice that does not depend on the step")?;
        let source = self.outside(source);
        let source_extents = types::shape(source.r#type());
        if slice.is_one_slice() {
            let mut offsets = slice.offsets.clone();
            let mut sizes = slice.sizes.clone();
            if let (Some(offset), Some(size)) = (offsets.first_mut(), sizes.first_mut()) {
                (*offset, *size) = (0, self.steps.extent());
            }
            if slice.is_static() && offsets.iter().all(|n| *n == 0) && sizes == source_extents {
                return Ok(source);
            }
            let mut operands = vec![source];
            operands.extend(dynamic_size);
            operands.extend(op.operands().skip(2));
            let dynamic = operands.len() - 1;
            let slice = slice_attributes(at, &offsets, &sizes, 0, dynamic)?;
            return Ok(at.value(ops::tensor::EXTRACT_SLICE, &operands, &slice, r#type)?);
        }
        self.gathered(&slice, source, r#type, op, at)
    }

    /// A copy of the slices of all steps.
    fn gathered(
        &self,
        slice: &Slice,
        source: Value<'c, 'a>,
        r#type: Type<'c>,
        op: OperationRef<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let step = Affine::index(0).scale(slice.factor).ok_or(UNPARSABLE)?;
        let step = step.add(&Affine::constant(slice.offset)).ok_or(UNPARSABLE)?;
        let mut forms = Vec::new();
        for (dimension, offset) in slice.offsets.iter().enumerate() {
            let kept = slice.kept.iter().position(|kept| *kept == dimension);
            let index = kept.map_or(Affine::constant(0), |position| Affine::index(position + 1));
            forms.push(if dimension == slice.dimension {
                step.clone()
            } else {
                index.add(&Affine::constant(*offset)).ok_or(UNPARSABLE)?
            });
        }
        let mut extents: Vec<Value> = self.steps.operand().into_iter().collect();
        extents.extend(op.operands().skip(2));
        Ok(copy_of(at, Access(source, forms), r#type, &extents)?)
    }

    fn reshape(&self, op: OperationRef<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let source = self.wide.get(&ValueKey::of(op.operand(0)?));
        let source = *source.ok_or("a reshape of no stepwise tensor")?;
        let r#type = self.wide_type(op.result(0)?.r#type())?;
        let groups = shape::reassociation(op).ok_or("a reshape without a reassociation")?;
        let shifted = groups.into_iter().map(|group| group.into_iter().map(|d| d + 1).collect());
        let groups: Vec<Vec<usize>> = std::iter::once(vec![0]).chain(shifted).collect();
        let mut operands = vec![source];
        let mut others = vec![("reassociation", attributes::groups(at.context, &groups))];
        if op::is(&op, ops::tensor::EXPAND_SHAPE) {
            let shape = types::shape(r#type);
            operands.extend(self.steps.operand());
            others.push(("static_output_shape", attributes::i64s(at.context, &shape)));
        }
        Ok(at.value(&ir::name(op), &operands, &others, r#type)?)
    }
}

/// The forms with all indices incremented.
fn shifted(forms: &[Affine]) -> Option<Vec<Affine>> {
    let count = forms.iter().flat_map(|form| form.indices()).max().map_or(0, |maximum| maximum + 1);
    let higher: Vec<Affine> = (0..count).map(|l| Affine::index(l + 1)).collect();
    // The extents have no effect on linear forms.
    let extents = vec![1; count + 1];
    forms.iter().map(|form| form.substitute(&higher, &extents)).collect()
}

/// The attributes of a slice with unit strides, and numbers of operands that are offsets and sizes.
fn slice_attributes<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    offsets: &[i64],
    sizes: &[i64],
    dynamic_offsets: usize,
    dynamic_sizes: usize,
) -> Result<Vec<(&'static str, Attribute<'c>)>, PassError> {
    let strides = vec![1; offsets.len()];
    Ok(vec![
        ("static_offsets", attributes::i64s(at.context, offsets)),
        ("static_sizes", attributes::i64s(at.context, sizes)),
        ("static_strides", attributes::i64s(at.context, &strides)),
        ("operandSegmentSizes", segment_sizes(at, dynamic_offsets, dynamic_sizes, 0)?),
    ])
}

fn segment_sizes<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    offsets: usize,
    sizes: usize,
    strides: usize,
) -> Result<Attribute<'c>, PassError> {
    let count = |n: usize| i32::try_from(n).map_err(|_| "too many operands");
    let segments = [1, count(offsets)?, count(sizes)?, count(strides)?];
    Ok(attributes::i32s(at.context, &segments))
}
