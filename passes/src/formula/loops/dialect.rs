// SPDX-License-Identifier: Apache-2.0
//! Creates loops of the dialects `affine` and `scf`.

use crate::formula::Refusal;
use crate::ir::ops;
use crate::ir::{Builder, attributes, maps, types};
use crate::structure::Affine;
use melior::ir::attribute::{ArrayAttribute, IntegerAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{Attribute, BlockRef, OperationRef, Region, Type, Value, ValueLike};
use skript_dialect::op;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loops {
    Affine,
    Scf,
}

/// The end of a loop.
#[derive(Clone, Copy)]
pub(crate) enum End<'c, 'a> {
    /// A static end.
    Fixed(i64),
    /// A dynamic end.
    Value(Value<'c, 'a>),
}

/// The half-open range of a loop's index.
#[derive(Clone, Copy)]
pub(crate) struct Range<'c, 'a> {
    /// The first index; `None` for 0. Loops of `affine` always begin at 0.
    pub start: Option<Value<'c, 'a>>,
    /// The end, which is not included. If it is less than the start, the range is empty.
    pub end: End<'c, 'a>,
}

impl<'c, 'a> Range<'c, 'a> {
    /// The range from 0 to `end`.
    pub(crate) fn to(end: End<'c, 'a>) -> Self {
        Range { start: None, end }
    }
}

impl Loops {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Loops::Affine => "affine",
            Loops::Scf => "scf",
        }
    }

    /// Creates a loop over a range; the arguments of its region are the index, then the loop-carried values.
    pub(crate) fn create<'c: 'a, 'a>(
        self,
        range: Range<'c, 'a>,
        carried: &[Value<'c, 'a>],
        region: Region<'c>,
        at: &Builder<'c, 'a>,
    ) -> Result<OperationRef<'c, 'a>, Refusal> {
        let results: Vec<_> = carried.iter().map(|v| v.r#type()).collect();
        match (self, range.end) {
            (Loops::Scf, end) => {
                let start = match range.start {
                    Some(start) => start,
                    None => at.idx(0),
                };
                let mut operands = vec![start, end.value(at), at.idx(1)];
                operands.extend(carried);
                Ok(at.create(ops::scf::FOR, &operands, &[], &results, vec![region])?)
            }
            (Loops::Affine, end) => {
                let (mut operands, upper) = end.affine(at)?;
                let open = i32::from(!operands.is_empty());
                operands.extend(carried);
                let step = IntegerAttribute::new(Type::index(at.context), 1);
                let count =
                    i32::try_from(carried.len()).map_err(|_| Refusal::Shape("has too many destinations"))?;
                Ok(at.create(
                    ops::affine::FOR,
                    &operands,
                    &[
                        ("lowerBoundMap", bound(0, Affine::constant(0), at)?),
                        ("upperBoundMap", upper),
                        ("step", step.into()),
                        ("operandSegmentSizes", attributes::i32s(at.context, &[0, open, count])),
                    ],
                    &results,
                    vec![region],
                )?)
            }
        }
    }

    /// Creates a parallel loop from 0 to `end`; `body` is the insertion point at the end of the region's block, whose
    /// argument is the index.
    pub(crate) fn create_parallel<'c: 'a, 'a>(
        self,
        end: End<'c, 'a>,
        region: Region<'c>,
        body: &Builder<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Refusal> {
        match self {
            Loops::Scf => {
                body.create(ops::scf::REDUCE, &[], &[], &[], Vec::new())?;
                let operands = [at.idx(0), end.value(at), at.idx(1)];
                let segments = attributes::i32s(at.context, &[1, 1, 1, 0]);
                let named = [("operandSegmentSizes", segments)];
                at.create(ops::scf::PARALLEL, &operands, &named, &[], vec![region])?;
            }
            Loops::Affine => {
                body.create(ops::affine::YIELD, &[], &[], &[], Vec::new())?;
                let (operands, upper) = end.affine(at)?;
                let word = types::int(at.context, 32);
                let one = at.i32_attribute(1);
                let one = attributes::listed(types::tensor(&[1], word), &[one]);
                let list = |items: &[Attribute<'c>]| ArrayAttribute::new(at.context, items).into();
                let named = [
                    ("reductions", list(&[])),
                    ("lowerBoundsMap", bound(0, Affine::constant(0), at)?),
                    ("lowerBoundsGroups", one),
                    ("upperBoundsMap", upper),
                    ("upperBoundsGroups", one),
                    ("steps", list(&[attributes::i64(at.context, 1)])),
                ];
                at.create(ops::affine::PARALLEL, &operands, &named, &[], vec![region])?;
            }
        }
        Ok(())
    }

    /// Ends the block of a loop.
    pub(crate) fn end<'c: 'a, 'a>(
        self,
        carried: &[Value<'c, 'a>],
        at: &Builder<'c, 'a>,
    ) -> Result<(), Refusal> {
        let name = match self {
            Loops::Affine => ops::affine::YIELD,
            Loops::Scf => ops::scf::YIELD,
        };
        at.create(name, carried, &[], &[], Vec::new())?;
        Ok(())
    }

    /// Writes `value` to every element of a buffer.
    pub(crate) fn fill<'c: 'a, 'a>(
        self,
        value: Value<'c, 'a>,
        buffer: Value<'c, 'a>,
        extents: &[End<'c, 'a>],
        at: &Builder<'c, 'a>,
    ) -> Result<(), Refusal> {
        self.fill_rest(value, buffer, extents, &mut Vec::new(), at)
    }

    /// Emits the loops over the dimensions after `indices`, and the store.
    fn fill_rest<'c: 'a, 'a>(
        self,
        value: Value<'c, 'a>,
        buffer: Value<'c, 'a>,
        extents: &[End<'c, 'a>],
        indices: &mut Vec<Value<'c, 'a>>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Refusal> {
        let Some(extent) = extents.get(indices.len()) else {
            let mut operands = vec![value, buffer];
            operands.extend(indices.iter());
            let (name, positions) = match self {
                Loops::Scf => (ops::memref::STORE, None),
                Loops::Affine => {
                    let forms: Vec<_> = (0..indices.len()).map(Affine::index).collect();
                    let map = maps::map(at.context, indices.len(), &forms)
                        .ok_or(Refusal::Shape("has too many dimensions"))?;
                    (ops::affine::STORE, Some(("map", map)))
                }
            };
            at.create(name, &operands, positions.as_slice(), &[], Vec::new())?;
            return Ok(());
        };
        let (region, inner, arguments) = at.region(&[Type::index(at.context)]);
        indices.extend(arguments);
        self.fill_rest(value, buffer, extents, indices, &inner)?;
        indices.pop();
        self.end(&[], &inner)?;
        self.create(Range::to(*extent), &[], region, at)?;
        Ok(())
    }
}

impl<'c: 'a, 'a> End<'c, 'a> {
    pub(super) fn value(self, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
        match self {
            End::Fixed(extent) => at.idx(extent),
            End::Value(value) => value,
        }
    }

    /// Returns the operands and the map of an upper bound.
    fn affine(self, at: &Builder<'c, 'a>) -> Result<(Vec<Value<'c, 'a>>, Attribute<'c>), Refusal> {
        match self {
            End::Fixed(extent) => Ok((Vec::new(), bound(0, Affine::constant(extent), at)?)),
            End::Value(value) if is_dimension(value) => Ok((vec![value], bound(1, Affine::index(0), at)?)),
            End::Value(_) => Err(Refusal::Shape(
                "runs over an extent that a branch or a loop computes; tile loops when they are affine, or lower it to scf",
            )),
        }
    }
}

/// Builds the map of a loop bound.
fn bound<'c>(dimensions: usize, form: Affine, at: &Builder<'c, '_>) -> Result<Attribute<'c>, Refusal> {
    maps::map(at.context, dimensions, &[form])
        .ok_or(Refusal::Shape("has bounds that an affine map cannot represent"))
}

/// Whether affine accepts the value as a dimension: it must be defined in the outermost block of a function.
pub(super) fn is_dimension(value: Value) -> bool {
    let is_function = |block: BlockRef| {
        let parent = block.parent_operation();
        parent.is_some_and(|op| op::is(&op, ops::func::FUNC))
    };
    match OperationResult::try_from(value) {
        Ok(result) => result.owner().block().is_some_and(is_function),
        Err(_) => crate::ir::argument(value).is_some_and(|a| is_function(a.owner())),
    }
}
