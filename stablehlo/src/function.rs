// SPDX-License-Identifier: Apache-2.0
//! Exports functions, and the operations between formulas: invocations, control flow, scalars, elementwise operations.

use super::captures::Outside;
use super::draws::Drawing;
use super::error::ExportError;
use super::evaluate::{constant, element, elementwise};
use super::finite::Finite;
use super::formula;
use super::intrinsic;
use super::report::{Form, Report};
use super::rules::RULES;
use super::tensors::Tensors;
use super::weights;
use melior::Context;
use melior::ir::attribute::TypeAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::FunctionType;
use melior::ir::{BlockRef, OperationRef, Region, RegionLike, Type, Value, ValueLike};
use skript_dialect::melior;
use skript_passes::extents::bounds::Slice;
use skript_passes::ir;
use skript_passes::ir::attribute_names;
use skript_passes::ir::builder::{only_block, operations};
use skript_passes::ir::copy::{arguments, operation_name};
use skript_passes::ir::func::callee_attribute;
use skript_passes::ir::func::{function_type, symbol};
use skript_passes::ir::ops;
use skript_passes::ir::{Builder, ValueKey, attributes, types};
use skript_tensor::Tensor;
use std::collections::{HashMap, HashSet};

/// The name of the entry, which runtimes look for.
const ENTRY: &str = "main";

/// State that all functions of a program share.
pub(crate) struct Program<'p, 'c, 'a> {
    pub context: &'c Context,
    pub module: BlockRef<'c, 'a>,
    pub(crate) drawing: &'p Drawing,
    pub finite: &'p Finite,
}

/// Appends the StableHLO form of a function. A function that draws random numbers has an additional last argument and
/// result: the number of random operators executed so far, which is zero at the entry. `held` has the value of each
/// argument that is a constant, and `None` for other arguments.
pub(crate) fn export<'c: 'a, 'a>(
    source: OperationRef<'c, 'a>,
    program: &Program<'_, 'c, 'a>,
    held: &[Option<&Tensor>],
    report: &mut Report,
) -> Result<(), ExportError> {
    let Program { context, module, drawing, finite } = *program;
    let is_entry = source.has_attribute(attribute_names::ENTRY);
    let symbol = symbol(source).ok_or(melior::Error::OperationBuild)?;
    let body = only_block(source.region(0)?)?;
    let outer = Builder::at_end(context, module, source.location());
    let address = Tensors { at: outer };
    let function = function_type(source)?;
    let mut arguments = Vec::new();
    for position in 0..function.input_count() {
        let value = held.get(position).copied().flatten();
        arguments.push((converted(function.input(position)?, &address), value));
    }
    let passed = arguments.iter().filter(|(_, value)| value.is_none());
    let mut inputs: Vec<_> = passed.map(|(r#type, _)| *r#type).collect();
    let mut results = Vec::new();
    for position in 0..function.result_count() {
        results.push(converted(function.result(position)?, &address));
    }
    let draws = drawing.holds(&symbol);
    if draws && !is_entry {
        inputs.push(types::tensor(&[], address.int()));
        results.push(types::tensor(&[], address.int()));
    }
    let (region, inner, values) = outer.region(&inputs);
    let counted = match (draws, is_entry) {
        (false, _) => None,
        (true, true) => Some(Tensors { at: inner }.integer(0)),
        (true, false) => values.last().copied(),
    };
    let mut passed = values.iter().copied();
    let mut given = Vec::new();
    for (r#type, value) in arguments {
        given.push(match value {
            Some(tensor) => weights::constant(tensor, r#type, &Tensors { at: inner })?,
            None => passed.next().ok_or(melior::Error::OperationBuild)?,
        });
    }
    let finite = given
        .iter()
        .enumerate()
        .filter(|(position, _)| finite.holds(&symbol, *position))
        .map(|(_, value)| ValueKey::of(*value))
        .collect();
    let mut walk = Walk {
        symbol: &symbol,
        drawing,
        draws: counted,
        values: HashMap::new(),
        finite,
        formed: false,
        elementwise: false,
        report,
    };
    walk.block(body, &given, &inner, ops::func::RETURN, draws && !is_entry)?;
    if !walk.formed {
        let form = if walk.elementwise { Form::Map } else { Form::Calls };
        walk.report.add(&symbol, form);
    }
    let r#type = FunctionType::new(context, &inputs, &results);
    let visibility = if is_entry { "public" } else { "private" };
    outer.create(
        ops::func::FUNC,
        &[],
        &[
            ("sym_name", attributes::string(context, if is_entry { ENTRY } else { &symbol })),
            ("function_type", TypeAttribute::new(r#type.into()).into()),
            ("sym_visibility", attributes::string(context, visibility)),
        ],
        &[],
        vec![region],
    )?;
    Ok(())
}

/// The type in StableHLO: scalars become tensors of rank 0, and `index` becomes i64.
fn converted<'c: 'a, 'a>(r#type: Type<'c>, at: &Tensors<'c, 'a>) -> Type<'c> {
    // A scalar has no extents.
    types::tensor(&types::extents(r#type).unwrap_or_default(), element(r#type, at))
}

struct Walk<'w, 'c, 'a> {
    symbol: &'w str,
    drawing: &'w Drawing,
    /// The number of random operators executed so far; `None` in functions that do not draw random numbers.
    draws: Option<Value<'c, 'a>>,
    values: HashMap<ValueKey, Value<'c, 'a>>,
    /// Arguments whose elements are always finite.
    finite: HashSet<ValueKey>,
    /// Whether the report already has a form for the function.
    formed: bool,
    /// Whether there is an elementwise operation.
    elementwise: bool,
    report: &'w mut Report,
}

impl<'c: 'a, 'a> Walk<'_, 'c, 'a> {
    fn get(&self, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, ExportError> {
        self.values
            .get(&ValueKey::of(value))
            .copied()
            .ok_or(ExportError::Build(melior::Error::OperationBuild))
    }

    fn all(&self, op: OperationRef<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, ExportError> {
        op.operands().map(|o| self.get(o)).collect()
    }

    /// Exports the operations of a block with `values` as arguments. The terminator becomes `end`, with the number of
    /// random operators after its operands if `counts` is set.
    fn block(
        &mut self,
        block: BlockRef<'c, 'a>,
        values: &[Value<'c, 'a>],
        at: &Builder<'c, 'a>,
        end: &str,
        counts: bool,
    ) -> Result<(), ExportError> {
        for (argument, value) in arguments(block).into_iter().zip(values) {
            self.values.insert(ValueKey::of(argument), *value);
        }
        let mut body = operations(block);
        let last = body.pop();
        for op in body {
            self.operation(op, Tensors { at: at.with_location(op.location()) })?;
        }
        if let Some(last) = last {
            let mut returned = self.all(last)?;
            if operation_name(last) == ops::scf::CONDITION {
                // The state is passed on unchanged; see `repeat`.
                returned.truncate(1);
            } else if counts {
                returned.extend(self.draws);
            }
            at.create(end, &returned, &[], &[], Vec::new())?;
        }
        Ok(())
    }

    fn operation(&mut self, op: OperationRef<'c, 'a>, at: Tensors<'c, 'a>) -> Result<(), ExportError> {
        let name = operation_name(op);
        let results = match name.as_str() {
            ops::skript::FORMULA => {
                let outside = Outside { op, values: &self.values, finite: &self.finite };
                let (results, form) = formula::export(RULES, op, outside, at)?;
                self.formed = true;
                self.report.add(self.symbol, form);
                results
            }
            ops::skript::INVOKE => {
                let callee = callee_attribute(op)?;
                let mut types: Vec<_> = op.results().map(|r| converted(r.r#type(), &at)).collect();
                let mut operands = self.all(op)?;
                let counts = self.drawing.calls(op);
                if counts {
                    operands.extend(self.draws);
                    types.push(types::tensor(&[], at.int()));
                }
                let callee = [("callee", callee)];
                let call = at.at.create(ops::func::CALL, &operands, &callee, &types, Vec::new())?;
                self.counted(call, counts)
            }
            // StableHLO programs cannot fail.
            ops::skript::CHECK => Vec::new(),
            ops::scf::IF => self.branch(op, &at)?,
            ops::scf::WHILE => self.repeat(op, &at)?,
            ops::arith::CONSTANT => vec![constant(op, &at)?],
            ops::tensor::DIM => {
                return Err(ExportError::new(
                    op,
                    "reads a dynamic extent; StableHLO programs have static extents",
                ));
            }
            ops::skript::INTRINSIC => {
                let results = intrinsic::export(op, &self.all(op)?, &mut self.draws, at)?;
                self.formed = true;
                self.report.add(self.symbol, Form::Intrinsic);
                results
            }
            _ if op.result_count() != 1 => {
                return Err(ExportError::new(op, "has no StableHLO form"));
            }
            _ => {
                let operands = self.all(op)?;
                let value = match self.tensor(op, &name, &operands, &at)? {
                    Some(value) => Some(value),
                    None => {
                        self.elementwise |= types::element_of(ir::result(op)?.r#type()).is_some();
                        spread(op, &name, &operands, &at)?
                    }
                };
                vec![value.ok_or_else(|| ExportError::new(op, "has no StableHLO form"))?]
            }
        };
        for (old, new) in op.results().zip(results) {
            self.values.insert(ValueKey::of(old), new);
        }
        Ok(())
    }

    /// Exports an operation of the `tensor` dialect; `None` for other operations.
    fn tensor(
        &self,
        op: OperationRef<'c, 'a>,
        name: &str,
        operands: &[Value<'c, 'a>],
        at: &Tensors<'c, 'a>,
    ) -> Result<Option<Value<'c, 'a>>, ExportError> {
        let result = ir::result(op)?.r#type();
        let extents = types::extents(result).unwrap_or_default();
        Ok(Some(match (name, operands) {
            (ops::tensor::SPLAT, [scalar]) => at.broadcast(*scalar, &[], &extents),
            (ops::tensor::EMPTY, []) => {
                let element = element(result, at);
                let zero = types::kind_of(element)
                    .ok_or_else(|| ExportError::new(op, "has no StableHLO form"))?
                    .default_value();
                at.splat(zero, &extents, element)
            }
            (ops::tensor::EXTRACT, [tensor]) => *tensor,
            (ops::tensor::EXTRACT, [tensor, indices @ ..]) => {
                let one = at.dynamic_slice(*tensor, indices, &vec![1; indices.len()]);
                at.reshape(one, &[])
            }
            (ops::tensor::FROM_ELEMENTS, elements) => {
                let columns = elements.iter().map(|e| at.reshape(*e, &[1])).collect::<Vec<_>>();
                let row = at.concatenate(&columns, 0);
                at.reshape(row, &extents)
            }
            (ops::tensor::EXTRACT_SLICE, [tensor, offsets @ ..]) => {
                let (starts, sizes) = block_of(op, offsets, at)?;
                let slice = at.dynamic_slice(*tensor, &starts, &sizes);
                at.reshape(slice, &extents)
            }
            (ops::tensor::INSERT_SLICE, [item, tensor, offsets @ ..]) => {
                let (starts, sizes) = block_of(op, offsets, at)?;
                let item = at.reshape(*item, &sizes);
                at.dynamic_update_slice(*tensor, item, &starts)
            }
            _ => return Ok(None),
        }))
    }

    /// The results of an operation. If `counts` is set, the last result is the number of random operators: it is
    /// stored, and not returned.
    fn counted(&mut self, op: OperationRef<'c, 'a>, counts: bool) -> Vec<Value<'c, 'a>> {
        let mut results: Vec<Value<'c, 'a>> = op.results().map(Into::into).collect();
        if counts {
            self.draws = results.pop();
        }
        results
    }

    /// Exports the regions of an operation, with `stablehlo.return` as terminators. If `counts` is set, the terminators
    /// also return the number of random operators. The number at the beginning of a region is its last argument, or
    /// else the number before the operation.
    fn regions(
        &mut self,
        op: OperationRef<'c, 'a>,
        types: &[Type<'c>],
        at: &Tensors<'c, 'a>,
        counts: bool,
    ) -> Result<Vec<Region<'c>>, ExportError> {
        let mut regions = Vec::new();
        let before = self.draws;
        for region in op.regions() {
            let (copy, inner, values) = at.at.region(types);
            let Some(block) = region.first_block() else {
                return Err(ExportError::new(op, "has a region without a block"));
            };
            if counts {
                self.draws = values.last().copied().or(before);
            }
            self.block(block, &values, &inner, ops::stablehlo::RETURN, counts)?;
            regions.push(copy);
        }
        self.draws = before;
        Ok(regions)
    }

    fn branch(
        &mut self,
        op: OperationRef<'c, 'a>,
        at: &Tensors<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, ExportError> {
        let mut types: Vec<_> = op.results().map(|r| converted(r.r#type(), at)).collect();
        let counts = self.drawing.draws(op);
        let regions = self.regions(op, &[], at, counts)?;
        if counts {
            types.push(types::tensor(&[], at.int()));
        }
        let condition = self.all(op)?;
        let branch = at.at.op(ops::stablehlo::IF, &condition, &[], &types, regions);
        Ok(self.counted(branch, counts))
    }

    fn repeat(
        &mut self,
        op: OperationRef<'c, 'a>,
        at: &Tensors<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, ExportError> {
        let before = only_block(op.region(0)?)?;
        let test = operations(before);
        let passed = test.last().into_iter().flat_map(|end| end.operands().skip(1)).map(ValueKey::of);
        let is_unchanged = passed.eq(arguments(before).into_iter().map(ValueKey::of));
        if !is_unchanged || test.iter().any(|op| self.drawing.draws(*op)) {
            return Err(ExportError::new(op, "changes its state in the condition"));
        }
        let mut state = self.all(op)?;
        let counts = self.drawing.draws(op);
        if counts {
            state.extend(self.draws);
        }
        let types: Vec<_> = state.iter().map(|v| v.r#type()).collect();
        let regions = self.regions(op, &types, at, counts)?;
        let repeated = at.at.op(ops::stablehlo::WHILE, &state, &[], &types, regions);
        Ok(self.counted(repeated, counts))
    }
}

/// Exports an elementwise operation; scalar operands are broadcast.
fn spread<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    name: &str,
    operands: &[Value<'c, 'a>],
    at: &Tensors<'c, 'a>,
) -> Result<Option<Value<'c, 'a>>, ExportError> {
    if operands.is_empty() {
        return Ok(None);
    }
    let extents = types::extents(ir::result(op)?.r#type()).unwrap_or_default();
    let operands: Vec<_> = operands
        .iter()
        .map(|o| if at.extents(*o).is_empty() { at.broadcast(*o, &[], &extents) } else { *o })
        .collect();
    elementwise(op, name, &operands, at)
}

/// Offsets and sizes of a slice with static sizes and strides of 1.
fn block_of<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    offsets: &[Value<'c, 'a>],
    at: &Tensors<'c, 'a>,
) -> Result<(Vec<Value<'c, 'a>>, Vec<i64>), ExportError> {
    let slice = Slice::from_op(op).filter(|s| !s.sizes.contains(&types::DYNAMIC));
    let slice = slice.ok_or_else(|| ExportError::new(op, "has sizes or strides without a StableHLO form"))?;
    let mut next = offsets.iter();
    let mut starts = Vec::new();
    for offset in slice.offsets {
        starts.push(match offset {
            types::DYNAMIC => *next.next().ok_or_else(|| ExportError::new(op, "has too few offsets"))?,
            fixed => at.integer(fixed),
        });
    }
    Ok((starts, slice.sizes))
}
