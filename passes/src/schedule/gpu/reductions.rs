// SPDX-License-Identifier: Apache-2.0
//! `skript-map-reductions`: maps reductions to blocks of threads of a GPU that share memory.
//!
//! A reduction is read as for kernels of processors ([`crate::schedule::reading`]). One whose inputs are shared by many elements of the
//! result is computed in tiles ([`super::contraction`]), another one with long rows by several threads for each row ([`super::row`]).
//! The elementwise operations that start and finish its results become part of the code.
//! The result is a `gpu.launch`. Others stay.
//!
//! Requires: buffers before memory is planned. Guarantees: results are the same for every number of blocks that run at the same time.

use super::code::Code;
use super::contraction::Contraction;
use super::row::Rows;
use crate::ir::effects::Effects;
use crate::ir::func;
use crate::ir::memref::may_overlap;
use crate::ir::splice::splice;
use crate::ir::{self, linalg, ops};
use crate::schedule::body::Body;
use crate::schedule::caller::branch_before;
use crate::schedule::elementwise::Merged;
use crate::schedule::reading::{Reduction, read};
use crate::schedule::targets::gpus::Gpu;
use melior::ir::operation::{OperationLike, OperationRef};
use skript_dialect::{Dialect, Pass, PassError, PassOption};

/// The pass `skript-map-reductions`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-map-reductions",
    summary: "map reductions to blocks of threads that share memory",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Gpu, Dialect::MemRef, Dialect::Scf],
    options: &[PassOption {
        name: "gpu",
        summary: "the GPU",
        default: "sm_80",
    }],
    run: |root, options, _| {
        let name = options.text("gpu");
        let gpu = Gpu::named(name);
        let gpu = gpu.ok_or_else(|| PassError::from(format!("option gpu: {name} is no GPU")))?;
        let entry = ir::entry(root)?;
        let reduces = |op: &OperationRef| {
            let generic = linalg::Generic::cast(*op);
            let reduces = generic.is_some_and(|generic| generic.reductions().contains(&true));
            reduces && runs_on_host(*op, entry)
        };
        // Elementwise operations may become part of a kernel.
        let found = ir::walk::named(entry, ops::linalg::GENERIC).into_iter();
        let found: Vec<OperationRef> = found.filter(reduces).collect();
        let mut effects = Effects::new(func::functions(root));
        for op in found {
            map(op, gpu, &mut effects)?;
        }
        Ok(())
    },
};

/// Points of the smallest reduction inside of a loop that gets a kernel of its own.
const ENOUGH: i64 = 1 << 12;

/// Whether the host decides when the operation runs.
fn runs_on_host(op: OperationRef, entry: OperationRef) -> bool {
    let mut parent = op.parent_operation();
    while let Some(own) = parent.filter(|own| *own != entry) {
        if !matches!(
            ir::name(own).as_str(),
            ops::scf::FOR | ops::scf::IF | ops::scf::WHILE
        ) {
            return false;
        }
        parent = own.parent_operation();
    }
    true
}

/// Replaces a reduction, if a mapping fits.
fn map<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    gpu: &Gpu,
    effects: &mut Effects<'c, 'a>,
) -> Result<(), PassError> {
    let Some(reduction) = read(op) else {
        return Ok(());
    };
    let inputs = reduction.arrays.get(..reduction.nest.output);
    let mut inputs = inputs.unwrap_or_default().iter();
    let output = reduction.output();
    let overlaps = output.is_none_or(|output| inputs.any(|input| may_overlap(*input, output)));
    let parent = op.parent_operation();
    let is_nested = parent.is_some_and(|own| ir::name(own) != ops::func::FUNC);
    if overlaps || is_nested && reduction.nest.volume() < ENOUGH {
        return Ok(());
    }
    let bare = Merged {
        reduction: reduction.clone(),
        last: op,
        others: Vec::new(),
    };
    let merged = Merged::of(op, reduction, effects);
    match replace(merged, gpu)? {
        true => Ok(()),
        false => replace(bare, gpu).map(|_| ()),
    }
}

/// Replaces a reduction and the elementwise operations around it. False if no mapping fits.
fn replace<'c: 'a, 'a>(merged: Merged<'c, 'a>, gpu: &Gpu) -> Result<bool, PassError> {
    let Merged {
        mut reduction,
        last,
        mut others,
    } = merged;
    let nest = &reduction.nest;
    let is_dynamic = nest.loops.iter().any(|own| own.source.is_some())
        || nest.operands.iter().any(|own| !own.is_static());
    if is_dynamic || reduction.fix_offsets().is_none() {
        return Ok(false);
    }
    let body = &reduction.body;
    if let Some((open, _, condition)) = body.cases()
        && let Some(blocks) = tiled(&reduction, &open, gpu)
    {
        let condition = reduction.captured.get(condition).copied();
        let condition = condition.ok_or("a condition without a value")?;
        let [then, otherwise] = branch_before(last, condition, last.location())?;
        splice(then, &reduction.arguments(), &blocks, &[])?;
        others.push(last);
        others.sort_by(|a, b| match ir::is_before(*a, *b) {
            true => std::cmp::Ordering::Less,
            false => std::cmp::Ordering::Greater,
        });
        for op in others {
            ir::move_before(op, otherwise);
        }
        return Ok(true);
    }
    let blocks = tiled(&reduction, body, gpu).or_else(|| shared(&reduction, gpu));
    let Some(blocks) = blocks else {
        return Ok(false);
    };
    splice(last, &reduction.arguments(), &blocks, &[])?;
    others.into_iter().for_each(ir::erase);
    ir::erase(last);
    Ok(true)
}

/// The code of a contraction in tiles.
fn tiled(reduction: &Reduction, body: &Body, gpu: &Gpu) -> Option<String> {
    if body.predicate.is_some() || !body.used_dimensions().is_empty() {
        return None;
    }
    let mut nest = reduction.nest.clone();
    nest.keeps_order = true;
    nest.simplify(&[]);
    let contraction = Contraction::of(&nest)?;
    let tile = contraction.tile(&nest, &reduction.signature.elements, gpu)?;
    let code = Code::new(&nest, body, &reduction.signature);
    Some(contraction.write(code, &tile))
}

/// The code of a reduction whose rows several threads share.
fn shared(reduction: &Reduction, gpu: &Gpu) -> Option<String> {
    let body = &reduction.body;
    let mut nest = reduction.nest.clone();
    nest.keeps_order = true;
    nest.simplify(&body.used_dimensions());
    let rows = Rows::of(&nest, body, gpu)?;
    let code = Code::new(&nest, body, &reduction.signature);
    Some(rows.write(code))
}
