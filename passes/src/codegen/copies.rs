// SPDX-License-Identifier: Apache-2.0
//! `skript-lower-copies`: lowers copies between strided arrays to loops.
//!
//! MLIR would lower them to calls of a library function. Copies between contiguous arrays are not changed, because they become
//! `memcpy`. Copies marked by `skript-stream-results` become non-temporal stores of full cache lines.

use super::streams;
use crate::ir::attribute_names::STREAM;
use crate::ir::memref::Copy;
use crate::ir::{self, Builder, maps, ops};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{AttributeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass};

/// The pass `skript-lower-copies`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-lower-copies",
    summary: "lower copies between strided arrays to loops",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::MemRef, Dialect::Scf, Dialect::Vector],
    run: |root, _, _| Ok(lower_copies(root)?),
    ..Pass::NONE
};

/// Lowers every strided `memref.copy` of the module.
fn lower_copies(module: OperationRef) -> Result<(), Error> {
    for copy in ir::nested(module).into_iter().filter_map(Copy::cast) {
        let (source, target) = (copy.source()?, copy.target()?);
        if source == target {
            // Bufferization leaves copies of an array to itself where it inserts in place.
            ir::erase(copy.op());
        } else if copy.op().has_attribute(STREAM) && streams::is_plain(copy) {
            streams::lower(copy)?;
        } else if !(is_contiguous(source)? && is_contiguous(target)?) {
            lower(copy)?;
        }
    }
    Ok(())
}

/// Whether the layout is row-major without gaps.
fn is_contiguous(array: Value) -> Result<bool, Error> {
    Ok(MemRefType::try_from(array.r#type())?.layout().is_affine_map())
}

/// Lowers a copy to a `linalg.generic`, which a later pass lowers to loops.
fn lower<'c: 'a, 'a>(copy: Copy<'c, 'a>) -> Result<(), Error> {
    let (from, to) = (copy.source()?, copy.target()?);
    let at = Builder::at(copy.op());
    let rank = ir::memref::extents(from.r#type()).len();
    let map = maps::identity(at.context, rank);
    ir::linalg::elementwise(&at, [&[from], &[to]], &[map, map], rank, |_, elements| elements[..1].to_vec());
    ir::erase(copy.op());
    Ok(())
}
