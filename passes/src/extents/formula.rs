// SPDX-License-Identifier: Apache-2.0
//! Formulas over padded tensors: loops run to the upper bounds, and the predicate excludes the padding.

use super::padding::Padding;
use crate::ir;
use crate::ir::builder::operations;
use crate::ir::copy::{arguments, with_attributes, with_operands};
use crate::ir::ops;
use crate::ir::skript::Formula;
use crate::ir::{Builder, attributes, types};
use melior::Error;

use melior::ir::operation::OperationLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{OperationRef, Region, Type, Value};
use skript_dialect::melior;
use skript_semantics::ScalarOp;

impl<'c: 'a, 'a> Padding<'_, 'c, 'a> {
    pub(super) fn formula(&mut self, op: OperationRef<'c, 'a>, to: &Builder<'c, 'a>) -> Result<(), Error> {
        let formula = Formula::cast(op).ok_or(Error::OperationBuild)?;
        let mut operands = op.operands();
        let mut bounds = Vec::new();
        let mut limits = Vec::new();
        for (position, mut bound) in formula.static_bounds().into_iter().enumerate() {
            if bound == types::DYNAMIC {
                let limit = operands.next().ok_or(Error::OperationBuild)?;
                bound = self.bounds.of_extent(limit).ok_or(Error::OperationBuild)?;
                limits.push((position, self.get(limit)));
            }
            bounds.push(bound);
        }
        let outs: Vec<Value<'c, 'a>> = operands.collect();
        let results: Vec<_> = outs.iter().map(|o| self.bounds.padded(*o)).collect();
        let mut inner = vec![Type::index(to.context); bounds.len()];
        inner.extend(&results);

        let predicate = self.predicate(formula, &limits, &inner, to)?;
        let (body, at, values) = to.region(&inner);
        let block = formula.body()?;
        self.enter(block, &values);
        for op in operations(block) {
            self.operation(op, &at.with_location(op.location()))?;
        }
        let count = i32::try_from(outs.len()).map_err(|_| Error::OperationBuild)?;
        let others = [
            ("static_bounds", attributes::i64s(to.context, &bounds)),
            ("operandSegmentSizes", attributes::i32s(to.context, &[0, count])),
        ];
        let regions = vec![predicate, body];
        let made = with_attributes(op, &self.get_all(&outs), &results, regions, &others, to)?;
        for ((old, new), out) in op.results().zip(made.results()).zip(outs) {
            self.set(old.into(), new.into(), self.extents_of(out));
        }
        Ok(())
    }

    /// Builds the predicate region: the original predicate, and each index is less than its limit.
    fn predicate(
        &mut self,
        formula: Formula<'c, 'a>,
        limits: &[(usize, Value<'c, 'a>)],
        arguments: &[Type<'c>],
        to: &Builder<'c, 'a>,
    ) -> Result<Region<'c>, Error> {
        let block = formula.predicate();
        if block.is_none() && limits.is_empty() {
            return Ok(Region::new());
        }
        let flag = IntegerType::new(to.context, 1).into();
        let (region, at, values) = to.region(arguments);
        let mut holds = below(&values, limits, &at)?;
        let mut condition = None;
        if let Some(block) = block {
            self.enter(block, &values);
            self.body(block, &at)?;
            let end = *operations(block).last().ok_or(Error::OperationBuild)?;
            let condition_of_block = ir::operand(end)?;
            condition = Some(end);
            holds = Some(match holds {
                Some(others) if ir::integer(condition_of_block).is_some_and(|flag| flag != 0) => others,
                Some(others) => at.scalar(ScalarOp::And, &[others, self.get(condition_of_block)], flag)?,
                None => self.get(condition_of_block),
            });
        }
        let holds = holds.ok_or(Error::OperationBuild)?;
        match condition {
            Some(terminator) => with_operands(terminator, &[holds], &at)?,
            None => at.create(ops::skript::CONDITION, &[holds], &[], &[], Vec::new())?,
        };
        Ok(region)
    }

    /// Maps the arguments of a region. They have no dynamic extents: destinations are read element by element.
    fn enter(&mut self, block: melior::ir::BlockRef<'c, 'a>, values: &[Value<'c, 'a>]) {
        for (old, new) in arguments(block).into_iter().zip(values) {
            self.set(old, *new, Vec::new());
        }
    }
}

/// Computes whether each index with a limit is less than its limit; `None` if there are no limits.
pub(super) fn below<'c: 'a, 'a>(
    indices: &[Value<'c, 'a>],
    limits: &[(usize, Value<'c, 'a>)],
    at: &Builder<'c, 'a>,
) -> Result<Option<Value<'c, 'a>>, Error> {
    let flag = IntegerType::new(at.context, 1).into();
    let mut holds = None;
    for (position, limit) in limits {
        let index = *indices.get(*position).ok_or(Error::OperationBuild)?;
        let inside = at.scalar(ScalarOp::Lt, &[index, *limit], flag)?;
        holds = Some(match holds {
            Some(others) => at.scalar(ScalarOp::And, &[others, inside], flag)?,
            None => inside,
        });
    }
    Ok(holds)
}
