// SPDX-License-Identifier: Apache-2.0
//! Writes large bool constants in a form that all MLIR versions read alike.
//!
//! MLIR prints the elements of a large constant in hexadecimal, and its versions pack bools differently. Therefore such
//! a constant becomes a constant of bytes, zero or one, and a conversion to bools.

use crate::typed::Constant;
use melior::ir::r#type::IntegerType;
use melior::ir::{Module, OperationRef, ValueLike};
use melior::{Context, Error};
use skript_dialect::{melior, op};
use skript_passes::ir;
use skript_passes::ir::ops;
use skript_passes::ir::{Builder, dense, types};
use skript_passes::ir::{erase, replace_uses};

/// The number of elements up to which MLIR prints constants in decimal.
const PRINTED: usize = 100;

/// Replaces bool constants that would be printed in hexadecimal by bytes and a conversion.
pub(crate) fn widen(context: &Context, module: &Module) -> Result<(), Error> {
    let bit = IntegerType::new(context, 1).into();
    let root = module.as_operation();
    let constants = op::collect(&root, |op| {
        let r#type = ir::result(op).map(|result| result.r#type());
        op::is(&op, ops::stablehlo::CONSTANT) && r#type.is_ok_and(|t| types::element_of(t) == Some(bit))
    });
    constants.into_iter().try_for_each(|constant| widen_one(context, constant))
}

fn widen_one<'c: 'a, 'a>(context: &'c Context, constant: OperationRef<'c, 'a>) -> Result<(), Error> {
    let value = Constant::cast(constant).ok_or(Error::OperationBuild)?.value()?;
    let result = ir::result(constant)?;
    let extents = types::extents(result.r#type()).ok_or(Error::OperationBuild)?;
    let count = extents.iter().product::<i64>().unsigned_abs() as usize;
    if count <= PRINTED || dense::is_splat(value) {
        return Ok(());
    }
    let bytes = dense::bools(value, count);
    let wide = types::tensor(&extents, IntegerType::new(context, 8).into());
    let at = Builder::before(context, constant)?;
    let elements = [("value", dense::of_bytes(wide, &bytes))];
    let bytes = at.value(ops::stablehlo::CONSTANT, &[], &elements, wide)?;
    let bools = at.value(ops::stablehlo::CONVERT, &[bytes], &[], result.r#type())?;
    replace_uses(result, bools);
    erase(constant);
    Ok(())
}
