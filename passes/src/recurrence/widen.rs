// SPDX-License-Identifier: Apache-2.0
//! Operations of a loop's body for all steps at once: tensors get a first dimension for the steps.

use super::classes::{Class, Classes, Slice};
use super::counted::{Counted, Steps};
use crate::ir::copy::with_attributes;
use crate::ir::linalg::{Fill, Generic, generic_attributes, index_of};
use crate::ir::{self, Builder, Copier, ValueKey, attributes, maps, ops, shape, typed, types};
use crate::structure::Affine;
use melior::Error;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, OperationRef, Type, Value, ValueLike};
use skript_dialect::{PassError, melior, op};
use std::collections::{HashMap, HashSet};

/// What leaves a loop.
pub(super) struct Widening<'w, 'c, 'a> {
    counted: &'w Counted<'c, 'a>,
    classes: &'w Classes<'c, 'a>,
    at: &'w Builder<'c, 'a>,
    steps: Steps<'c, 'a>,
    selected: HashSet<ValueKey>,
    wanted: HashSet<ValueKey>,
    /// The operations to build before the loop, in order.
    needed: Vec<OperationRef<'c, 'a>>,
    /// Operations without stepwise operands that get a dimension for the steps nevertheless: the products begin with them.
    starts: HashSet<ValueKey>,
    /// What is built before the loop.
    built: Copier<'c, 'a>,
    /// Tensors of all steps.
    wide: HashMap<ValueKey, Value<'c, 'a>>,
}

/// A map or a list of iterators that MLIR does not parse: a defect of this pass.
const UNPARSABLE: &str = "an attribute of linalg.generic that MLIR does not parse";

impl<'w, 'c: 'a, 'a> Widening<'w, 'c, 'a> {
    pub(super) fn new(
        counted: &'w Counted<'c, 'a>,
        classes: &'w Classes<'c, 'a>,
        selected: HashSet<ValueKey>,
        at: &'w Builder<'c, 'a>,
    ) -> Result<Self, PassError> {
        let mut widening = Widening {
            counted,
            classes,
            at,
            steps: counted.steps(at)?,
            wanted: selected.clone(),
            selected,
            needed: Vec::new(),
            starts: HashSet::new(),
            built: Copier::new(),
            wide: HashMap::new(),
        };
        widening.find_needed();
        Ok(widening)
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

    /// What an init without a dimension for the steps needs to get one.
    fn want_init(&mut self, init: Value<'c, 'a>) {
        let extents = types::extents(init.r#type()).unwrap_or_default();
        let is_dynamic = extents.contains(&types::DYNAMIC);
        let made = ir::definition(init).map(|(op, _)| op);
        let is_begun = made.is_some_and(|op| {
            let is_map = Generic::cast(op).is_some_and(|own| !own.reductions().contains(&true));
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

    /// Whether an operation is built with a dimension for the steps.
    fn is_wide(&self, op: OperationRef<'c, 'a>) -> bool {
        op.result(0).is_ok_and(|result| {
            let key = ValueKey::of(result);
            let is_stepwise = self.classes.class(result.into()) == Some(Class::Stepwise);
            is_stepwise && self.wanted.contains(&key) || self.starts.contains(&key)
        })
    }

    /// Whether an operation is built as it is.
    fn is_narrow(&self, op: OperationRef<'c, 'a>) -> bool {
        op.results().any(|result| {
            let is_invariant = self.classes.class(result.into()) == Some(Class::Invariant);
            is_invariant && self.wanted.contains(&ValueKey::of(result))
        })
    }

    /// Builds everything before the loop; the loop reads slices of it.
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

    /// Replaces what the rest of the loop reads of an operation, and removes it if nothing reads it.
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
        let extents = types::extents(r#type).ok_or("a step that is no tensor")?;
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
        let extents = types::extents(r#type).ok_or("a step that is no tensor")?;
        let element = types::element_of(r#type).ok_or("a step that is no tensor")?;
        Ok(types::tensor(&[&[self.steps.extent()], extents.as_slice()].concat(), element))
    }

    /// A value of the loop, before the loop.
    fn outside(&self, value: Value<'c, 'a>) -> Value<'c, 'a> {
        self.built.get(value)
    }

    fn generic(&self, op: OperationRef<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let generic = Generic::cast(op).ok_or("no linalg.generic")?;
        let reductions = generic.reductions();
        let loops = reductions.len() + 1;
        let inputs = op.operand_count() - op.result_count();
        let mut operands = Vec::new();
        let mut indexing = Vec::new();
        for (number, (operand, map)) in op.operands().zip(generic.indexing_maps()).enumerate() {
            let mut forms = shifted(&maps::forms(map).ok_or(UNPARSABLE)?).ok_or(UNPARSABLE)?;
            let wide = self.wide.get(&ValueKey::of(operand)).copied();
            let (operand, is_wide) = match wide {
                Some(wide) if number >= inputs || !self.starts.contains(&ValueKey::of(operand)) => {
                    (wide, true)
                }
                _ if number >= inputs => (self.init(operand, at)?, true),
                _ => (self.outside(operand), false),
            };
            if is_wide {
                forms.insert(0, Affine::index(0));
            }
            operands.push(operand);
            indexing.push(maps::map(at.context, loops, &forms).ok_or(UNPARSABLE)?);
        }
        let block = generic.body().ok_or("a linalg.generic without a payload")?;
        let elements = ir::arguments(block);
        let element_types: Vec<Type> = elements.iter().map(|e| e.r#type()).collect();
        let (region, body, new) = at.region(&element_types);
        let mut copier = self.built.clone();
        for (old, new) in elements.into_iter().zip(new) {
            copier.set(old, new);
        }
        for inner in ir::operations(block) {
            let to = body.with_location(inner.location());
            copier.copy(inner, &to, &mut |copier, inner, to| {
                let Some(l) = index_of(inner).and_then(|l| i64::try_from(l + 1).ok()) else {
                    return Ok(false);
                };
                copier.set(inner.result(0)?, index(l, to)?);
                Ok(true)
            })?;
        }
        let iterators = [&[false], reductions.as_slice()].concat();
        let others = generic_attributes(at.context, &indexing, iterators, [inputs, op.result_count()]);
        let others = others.ok_or(UNPARSABLE)?;
        let r#type = self.wide_type(op.result(0)?.r#type())?;
        let wide = with_attributes(op, &operands, &[r#type], vec![region], &others, at)?;
        Ok(wide.result(0)?.into())
    }

    /// An init for all steps from one without a dimension for them.
    fn init(&self, init: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let r#type = self.wide_type(init.r#type())?;
        let own = self.outside(init);
        let extents: Vec<Value> = self.steps.operand().into_iter().chain(at.dynamic_extents(own)?).collect();
        if let Some(fill) = Fill::of(init) {
            return Ok(at.fill_sized(self.outside(fill.value()?), r#type, &extents)?);
        }
        let empty = at.value(ops::tensor::EMPTY, &extents, &[], r#type)?;
        let made = ir::definition(init);
        if made.is_some_and(|(op, _)| op::is(&op, ops::tensor::EMPTY)) {
            return Ok(empty);
        }
        let rank = types::extents(init.r#type()).map_or(0, |extents| extents.len());
        let all: Vec<Affine> = (0..=rank).map(Affine::index).collect();
        let own_forms = all.get(1..).unwrap_or_default();
        self.map_of(&[(own, own_forms)], empty, at, |_, arguments| {
            arguments.first().copied().ok_or(Error::OperationBuild)
        })
    }

    /// A parallel `linalg.generic` over all dimensions of the output.
    fn map_of(
        &self,
        inputs: &[(Value<'c, 'a>, &[Affine])],
        output: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
        payload: impl Fn(&Builder<'c, 'a>, &[Value<'c, 'a>]) -> Result<Value<'c, 'a>, Error>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let rank = types::extents(output.r#type()).map_or(0, |extents| extents.len());
        let all: Vec<Affine> = (0..rank).map(Affine::index).collect();
        let forms = inputs.iter().map(|(_, forms)| *forms).chain([all.as_slice()]);
        let indexing = forms.map(|forms| maps::map(at.context, rank, forms));
        let indexing: Vec<Attribute> = indexing.collect::<Option<_>>().ok_or(UNPARSABLE)?;
        let counts = [inputs.len(), 1];
        let others = generic_attributes(at.context, &indexing, vec![false; rank], counts);
        let others = others.ok_or(UNPARSABLE)?;
        let operands = inputs.iter().map(|(input, _)| *input).chain([output]);
        let operands: Vec<Value> = operands.collect();
        let elements = operands.iter().map(|value| types::element_of(value.r#type()));
        let elements: Vec<Type> = elements.collect::<Option<_>>().ok_or("an operand that is no tensor")?;
        let (region, body, arguments) = at.region(&elements);
        let value = payload(&body, &arguments)?;
        body.create(ops::linalg::YIELD, &[value], &[], &[], Vec::new())?;
        let results = [output.r#type()];
        let op = at.create(ops::linalg::GENERIC, &operands, &others, &results, vec![region])?;
        Ok(op.result(0)?.into())
    }

    /// The numbers of all steps, in the type of the elements.
    fn numbers(&self, op: OperationRef<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let Some(Class::Index { factor, offset }) = self.classes.class(op.operand(0)?) else {
            return Err("an element that is not the number of the step".into());
        };
        let r#type = self.wide_type(op.result(0)?.r#type())?;
        let extents: Vec<Value> = self.steps.operand().into_iter().collect();
        let empty = at.value(ops::tensor::EMPTY, &extents, &[], r#type)?;
        let element = types::element_of(r#type).ok_or("a step that is no tensor")?;
        self.map_of(&[], empty, at, |body, _| {
            let index_type = Type::index(body.context);
            let step = index(0, body)?;
            let factor = body.index(factor)?;
            let product = body.value(ops::arith::MULI, &[step, factor], &[], index_type)?;
            let offset = body.index(offset)?;
            let number = body.value(ops::arith::ADDI, &[product, offset], &[], index_type)?;
            match IntegerType::try_from(element) {
                Ok(_) => body.value(ops::arith::INDEX_CAST, &[number], &[], element),
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
            // Offsets come before sizes.
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
        let slice = Slice::of(op, self.classes).ok_or("a slice that is none of the step")?;
        let source = self.outside(source);
        let source_extents = types::extents(source.r#type()).unwrap_or_default();
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
            let kept = slice.kept.iter().position(|own| *own == dimension);
            let own = kept.map_or(Affine::constant(0), |own| Affine::index(own + 1));
            forms.push(if dimension == slice.dimension {
                step.clone()
            } else {
                own.add(&Affine::constant(*offset)).ok_or(UNPARSABLE)?
            });
        }
        let mut extents: Vec<Value> = self.steps.operand().into_iter().collect();
        extents.extend(op.operands().skip(2));
        let empty = at.value(ops::tensor::EMPTY, &extents, &[], r#type)?;
        self.map_of(&[(source, &forms)], empty, at, |_, arguments| {
            arguments.first().copied().ok_or(Error::OperationBuild)
        })
    }

    fn reshape(&self, op: OperationRef<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let source = self.wide.get(&ValueKey::of(op.operand(0)?));
        let source = *source.ok_or("a reshape of no stepwise tensor")?;
        let r#type = self.wide_type(op.result(0)?.r#type())?;
        let groups = shape::reassociation(op).ok_or("a reshape without a reassociation")?;
        let groups = groups.into_iter().map(|group| group.into_iter().map(|d| d + 1).collect());
        let groups: Vec<Vec<usize>> = std::iter::once(vec![0]).chain(groups).collect();
        let groups = groups.iter().map(|group| {
            let dimensions =
                group.iter().map(|d| attributes::i64(at.context, i64::try_from(*d).unwrap_or(0)));
            ArrayAttribute::new(at.context, &dimensions.collect::<Vec<_>>()).into()
        });
        let groups = ArrayAttribute::new(at.context, &groups.collect::<Vec<Attribute>>());
        let mut operands = vec![source];
        let mut others = vec![("reassociation", groups.into())];
        if op::is(&op, ops::tensor::EXPAND_SHAPE) {
            let shape = types::extents(r#type).unwrap_or_default();
            operands.extend(self.steps.operand());
            others.push(("static_output_shape", attributes::i64s(at.context, &shape)));
        }
        Ok(at.value(&ir::name(op), &operands, &others, r#type)?)
    }
}

/// The forms with each index one higher.
fn shifted(forms: &[Affine]) -> Option<Vec<Affine>> {
    let count = forms.iter().flat_map(|form| form.indices()).max().map_or(0, |most| most + 1);
    let higher: Vec<Affine> = (0..count).map(|l| Affine::index(l + 1)).collect();
    // The extents have no effect on linear forms.
    let extents = vec![1; count + 1];
    forms.iter().map(|form| form.substitute(&higher, &extents)).collect()
}

/// `linalg.index` of a loop.
fn index<'c: 'a, 'a>(l: i64, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
    let dimension = attributes::i64(at.context, l);
    at.value(ops::linalg::INDEX, &[], &[("dim", dimension)], Type::index(at.context))
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
