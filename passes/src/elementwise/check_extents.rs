//! `skript-check-extents`: extents of elementwise operands that only a run knows are asserted to agree.
//!
//! A mismatch is undefined behaviour, so nothing checks it unless it is asked for, by this pass. It takes every op with the
//! elementwise trait, whatever its dialect, and runs before the lowerings: in front of an op whose tensors may differ in a
//! dimension stands a `cf.assert` for it. What types say, and what is one value, is not asked.

use crate::mlir::{Builder, ValueKey, attributes, types};
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::melior::ir::r#type::IntegerType;
use skript_dialect::melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::{Dialect, Options, Pass, PassError, Rewriter, op};

#[derive(Default)]
pub struct CheckExtents;

impl Pass for CheckExtents {
    const FLAG: &'static str = "skript-check-extents";
    const SUMMARY: &'static str = "run-time extents of elementwise operands are asserted to agree";
    const DEPENDENT_DIALECTS: &'static [Dialect] =
        &[Dialect::Arith, Dialect::ControlFlow, Dialect::Tensor];

    fn run<'c>(
        &self,
        root: OperationRef<'c, '_>,
        _options: &Options,
        rewriter: &Rewriter<'c>,
    ) -> Result<(), PassError> {
        let context = rewriter.context();
        let elementwise =
            |op: OperationRef| op::has_elementwise_trait(&op) && !super::chooses_a_whole(&op);
        for found in op::collect(&root, elementwise) {
            check(found, &Builder::before(context, found)?)?;
        }
        Ok(())
    }
}

/// Asserts in front of an op what its tensors' types leave open.
fn check<'c: 'a, 'a>(found: OperationRef<'c, 'a>, at: &Builder<'c, 'a>) -> Result<(), PassError> {
    let mut tensors: Vec<(Value, Vec<i64>)> = Vec::new();
    for operand in found.operands() {
        let is_new = |(known, _): &(Value, Vec<i64>)| ValueKey::of(*known) != ValueKey::of(operand);
        if let Some(extents) = types::extents(operand.r#type())
            && tensors.iter().all(is_new)
        {
            tensors.push((operand, extents));
        }
    }
    let rank = tensors.first().map_or(0, |(_, extents)| extents.len());
    for dimension in 0..rank {
        let of = |extents: &[i64]| extents.get(dimension).copied();
        let fixed = found
            .results()
            .filter_map(|r| of(&types::extents(r.r#type())?));
        let mut fixed = fixed.chain(tensors.iter().filter_map(|(_, extents)| of(extents)));
        let fixed = fixed.find(|extent| *extent != types::DYNAMIC);
        let mut open = tensors
            .iter()
            .filter(|(_, extents)| of(extents) == Some(types::DYNAMIC));
        let number = i64::try_from(dimension).map_err(|_| "too many dimensions")?;
        let known = match (fixed, open.clone().count()) {
            (Some(extent), 1..) => at.index(extent)?,
            (None, 2..) => match open.next() {
                Some((first, _)) => at.extent(*first, number)?,
                None => continue,
            },
            _ => continue,
        };
        for (tensor, _) in open {
            let own = at.extent(*tensor, number)?;
            let equal = [("predicate", attributes::i64(at.context, 0))];
            let flag = IntegerType::new(at.context, 1).into();
            let agrees = at.value("arith.cmpi", &[known, own], &equal, flag)?;
            let message = format!(
                "{}: operands of '{}' differ in dimension {dimension}",
                found.location(),
                crate::mlir::copy::operation_name(found),
            );
            let message = [("msg", attributes::string(at.context, &message))];
            at.create("cf.assert", &[agrees], &message, &[], Vec::new())?;
        }
    }
    Ok(())
}
