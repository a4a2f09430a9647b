// SPDX-License-Identifier: Apache-2.0
//! Reads a bufferized `linalg.generic` as a loop nest with a payload, if a register tile can compute it.

#![allow(
    clippy::indexing_slicing,
    reason = "loops, steps and addresses of one nest have equal lengths"
)]

use super::body::{Body, Combine, Operand, Step, is_identity};
use super::nest::{Address, ESTIMATE, Loop, LoopKind, Nest, Source};
use super::signature::Signature;
use super::signature::pointer_type;
use crate::ir;
use crate::ir::linalg;
use crate::ir::ops;
use crate::ir::{ValueKey, maps};
use melior::ir::ShapedTypeLike;

use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::{DimSize, MemRefType};
use melior::ir::{RegionLike, Type, Value, ValueLike};
use std::collections::HashMap;

/// A reduction as plain data.
pub struct Reduction<'c, 'a> {
    /// The loops and addresses.
    pub nest: Nest,
    /// What one iteration computes.
    pub body: Body,
    /// The parameters of the kernel.
    pub signature: Signature,
    /// The arrays that are used, the output last, then captured scalars.
    pub arguments: Vec<Value<'c, 'a>>,
}

/// Reads the operation; `None` if its types, maps or payload are not supported.
pub fn read<'c, 'a>(op: OperationRef<'c, 'a>) -> Option<Reduction<'c, 'a>> {
    let operands: Vec<Value<'c, 'a>> = op.operands().collect();
    let generic = linalg::Generic::cast(op)?;
    let indexing = generic.indexing_maps();
    let reductions = generic.reductions();
    if indexing.len() != operands.len() || op.result_count() != 0 {
        return None;
    }
    let mut extents: Vec<Option<(i64, Source)>> = vec![None; reductions.len()];
    let mut arrays = Vec::new();
    for (position, operand) in operands.iter().enumerate() {
        let forms = maps::forms(*indexing.get(position)?)?;
        let array = Array::of(operand.r#type())?;
        let mut address = Address {
            offset: 0,
            strides: vec![0; reductions.len()],
        };
        for (dimension, form) in forms.iter().enumerate() {
            let stride = *array.strides.get(dimension)?;
            if let Some(index) = form.as_index() {
                let source = Some((position, dimension));
                extents[index] = match *array.shape.get(dimension)? {
                    Some(extent) => Some((extent, None)),
                    None => extents[index].or(Some((ESTIMATE, source))),
                };
            }
            address.offset += form.offset() * stride;
            for (index, own) in form.as_linear()? {
                *address.strides.get_mut(index)? += own * stride;
            }
        }
        arrays.push((array, address));
    }
    let (body, captured) = payload(op, operands.len())?;

    let mut loops = Vec::new();
    for (dimension, extent) in extents.iter().enumerate() {
        let (extent, source) = (*extent)?;
        let kind = match *reductions.get(dimension)? {
            true => LoopKind::Reduction,
            false => LoopKind::Parallel,
        };
        if kind == LoopKind::Reduction && source.is_some() {
            return None;
        }
        loops.push(Loop {
            extent,
            kind,
            dimension: Some(dimension),
            source,
        });
    }
    let output = operands.len() - 1;
    if !accumulates(&arrays[output].0.element) {
        return None;
    }
    // The output must not move along a reduction, and must move along each parallel loop.
    let consistent = loops.iter().enumerate().all(|(l, loop_)| {
        let stays = arrays[output].1.strides[l] == 0;
        loop_.extent == 1 || stays == (loop_.kind == LoopKind::Reduction)
    });
    if !consistent {
        return None;
    }
    // Arrays that are operands for their shape alone are left out.
    let used: Vec<usize> = (0..operands.len())
        .filter(|&p| p == output || body.uses_input(p))
        .collect();
    let position = |p: usize| used.iter().position(|&u| u == p).unwrap_or(0);
    let body = renumbered(body, &position);
    let mut signature = Signature {
        arrays: Vec::new(),
        elements: Vec::new(),
        windows: Vec::new(),
    };
    let mut nest = Nest {
        loops,
        operands: Vec::new(),
        constants: Vec::new(),
    };
    let mut arguments = Vec::new();
    for &position in &used {
        let (array, address) = arrays.get(position)?;
        signature.arrays.push(match array.is_static() {
            true => operands[position].r#type().to_string(),
            false => pointer_type(&array.element, array.offset),
        });
        signature.elements.push(array.element.clone());
        signature.windows.push((array.offset, array.span()));
        nest.operands.push(address.clone());
        arguments.push(operands[position]);
    }
    arguments.extend(captured);
    Some(Reduction {
        nest,
        body,
        signature,
        arguments,
    })
}

/// Whether elements of this type are accumulated in registers. Narrower ones are only read, and widened before.
fn accumulates(element: &str) -> bool {
    ["f32", "f64", "i32", "i64"].contains(&element)
}

/// Elements that no array has.
const LARGEST_SPAN: i64 = 1 << 40;

/// A memref with static strides.
struct Array {
    /// `None` for dynamic extents.
    shape: Vec<Option<i64>>,
    strides: Vec<i64>,
    offset: i64,
    element: String,
}

impl Array {
    fn of(kind: Type<'_>) -> Option<Array> {
        let kind = MemRefType::try_from(kind).ok()?;
        let element = kind.element().to_string();
        let (mut strides, offset) = kind.strides_and_offset();
        let known = |v: &i64| *v >= 0;
        let shape = (0..kind.rank())
            .map(|d| match kind.dim_size(d).ok()? {
                DimSize::Static(n) => Some(Some(i64::try_from(n).ok()?)),
                DimSize::Dynamic => Some(None),
            })
            .collect::<Option<Vec<_>>>()?;
        // The stride of a dimension with one element does not matter.
        for (stride, extent) in strides.iter_mut().zip(&shape) {
            if *extent == Some(1) && *stride < 0 {
                *stride = 0;
            }
        }
        let narrow = ["f16", "bf16", "i8", "i16"].contains(&element.as_str());
        if !narrow && !accumulates(&element) || !strides.iter().all(known) || !known(&offset) {
            return None;
        }
        Some(Array {
            shape,
            strides,
            offset,
            element,
        })
    }

    fn is_static(&self) -> bool {
        self.shape.iter().all(Option::is_some)
    }

    /// Elements from the first to the last, both included; 0 for an empty array, and a bound if an extent is dynamic.
    fn span(&self) -> i64 {
        if self.shape.contains(&Some(0)) {
            return 0;
        }
        if !self.is_static() {
            return LARGEST_SPAN;
        }
        let last: i64 = self
            .shape
            .iter()
            .zip(&self.strides)
            .map(|(n, s)| (n.unwrap_or(1) - 1) * s)
            .sum();
        last + 1
    }
}

/// The payload of the operation's region, and the values that it captures.
fn payload<'c, 'a>(
    op: OperationRef<'c, 'a>,
    operands: usize,
) -> Option<(Body, Vec<Value<'c, 'a>>)> {
    let block = op.region(0).ok()?.first_block()?;
    let output = Value::from(block.argument(operands - 1).ok()?);
    let mut reader = PayloadReader {
        known: HashMap::new(),
        steps: Vec::new(),
        captures: Vec::new(),
        captured: Vec::new(),
    };
    for position in 0..operands - 1 {
        let argument = Value::from(block.argument(position).ok()?);
        reader
            .known
            .insert(ValueKey::of(argument), Operand::Input(position));
    }
    let mut combining = None;
    let mut next = block.first_operation();
    while let Some(inner) = next {
        next = inner.next_in_block();
        let name = inner.name().as_string_ref().as_str().ok()?.to_string();
        if name == ops::linalg::YIELD {
            let (result, combine, value): (Value<'c, 'a>, Combine, Operand) = combining?;
            if inner.operand_count() != 1 || inner.operand(0).ok()? != result {
                return None;
            }
            let (value, predicate) = reader.unguarded(value, &combine);
            let body = Body {
                steps: reader.steps,
                value,
                predicate,
                combine,
                captures: reader.captures,
            };
            return Some((body, reader.captured));
        }
        let uses_output = inner.operands().any(|o| o == output);
        if uses_output {
            // Only the last step may use the output's element.
            if combining.is_some() || inner.operand_count() != 2 {
                return None;
            }
            let (left, right) = (inner.operand(0).ok()?, inner.operand(1).ok()?);
            let other = if left == output { right } else { left };
            if other == output {
                return None;
            }
            let element = inner.result(0).ok()?.r#type().to_string();
            let combine = Combine::of(&name, &ir::inherent(inner)?, &element)?;
            let value = reader.operand(other)?;
            combining = Some((Value::from(inner.result(0).ok()?), combine, value));
        } else if combining.is_some() {
            return None;
        } else {
            reader.step(inner, &name)?;
        }
    }
    None
}

struct PayloadReader<'c, 'a> {
    known: HashMap<ValueKey, Operand>,
    steps: Vec<Step>,
    captures: Vec<String>,
    captured: Vec<Value<'c, 'a>>,
}

impl<'c, 'a> PayloadReader<'c, 'a> {
    /// A value of the payload. One from outside becomes a capture, or a step if it is a constant.
    fn operand(&mut self, value: Value<'c, 'a>) -> Option<Operand> {
        if let Some(operand) = self.known.get(&ValueKey::of(value)) {
            return Some(operand.clone());
        }
        let constant = crate::ir::definition(value)
            .map(|(op, _)| op)
            .filter(|o| o.name().as_string_ref().as_str() == Ok(ops::arith::CONSTANT));
        let operand = match constant {
            Some(constant) => {
                self.steps.push(constant_step(constant)?);
                Operand::Step(self.steps.len() - 1)
            }
            None => {
                self.captures.push(value.r#type().to_string());
                self.captured.push(value);
                Operand::Capture(self.captures.len() - 1)
            }
        };
        self.known.insert(ValueKey::of(value), operand.clone());
        Some(operand)
    }

    fn step(&mut self, op: OperationRef<'c, 'a>, name: &str) -> Option<()> {
        if op.region_count() != 0 || op.result_count() != 1 {
            return None;
        }
        let step = if name == ops::linalg::INDEX {
            Step::Index {
                dimension: linalg::index_of(op)?,
            }
        } else if name == ops::arith::CONSTANT {
            constant_step(op)?
        } else if name.starts_with("arith.") || name.starts_with("math.") {
            let mut operands = Vec::new();
            let mut operand_elements = Vec::new();
            for value in op.operands() {
                operands.push(self.operand(value)?);
                operand_elements.push(value.r#type().to_string());
            }
            Step::Apply {
                name: name.to_string(),
                attributes: ir::inherent(op)?,
                operands,
                operand_elements,
                element: op.result(0).ok()?.r#type().to_string(),
            }
        } else {
            return None;
        };
        self.steps.push(step);
        let result = Value::from(op.result(0).ok()?);
        self.known
            .insert(ValueKey::of(result), Operand::Step(self.steps.len() - 1));
        Some(())
    }

    /// Splits `select(predicate, value, identity)`, the form of a guarded value.
    fn unguarded(&self, value: Operand, combine: &Combine) -> (Operand, Option<Operand>) {
        if let Operand::Step(number) = value
            && let Some(Step::Apply { name, operands, .. }) = self.steps.get(number)
            && name == ops::arith::SELECT
            && let [condition, then, Operand::Step(otherwise)] = operands.as_slice()
            && let Some(Step::Constant { attribute, .. }) = self.steps.get(*otherwise)
            && is_identity(attribute, combine)
        {
            return (then.clone(), Some(condition.clone()));
        }
        (value, None)
    }
}

fn constant_step(op: OperationRef<'_, '_>) -> Option<Step> {
    let element = op.result(0).ok()?.r#type().to_string();
    let scalar = [
        "index", "i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64",
    ]
    .contains(&element.as_str());
    scalar.then_some(())?;
    Some(Step::Constant {
        attribute: op.attribute("value").ok()?.to_string(),
        element,
    })
}

/// Renumbers the inputs after unused arrays were left out.
fn renumbered(mut body: Body, renumber: &impl Fn(usize) -> usize) -> Body {
    let renumber = |o: &mut Operand| {
        if let Operand::Input(position) = o {
            *position = renumber(*position);
        }
    };
    for step in &mut body.steps {
        if let Step::Apply { operands, .. } = step {
            operands.iter_mut().for_each(renumber);
        }
    }
    renumber(&mut body.value);
    if let Some(predicate) = &mut body.predicate {
        renumber(predicate);
    }
    body
}
