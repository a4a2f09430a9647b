// SPDX-License-Identifier: Apache-2.0
//! `skript-map-reductions`: maps reductions to GPU kernels with shared memory.
//!
//! A reduction is analyzed as for CPU kernels ([`crate::schedule::reading`]). A contraction is computed in tiles ([`super::tiles`]). In
//! other reductions with long rows, several threads compute each row ([`super::row`]). The elementwise operations that compute the
//! initial and final values of the results become part of the kernel. Loops that select a position, such as an argmax, are also
//! distributed over several threads ([`super::selections`]). The result is a `gpu.launch`. Other operations are not changed.
//!
//! Requires: buffers before memory is planned. Guarantees: results do not depend on the number of concurrent blocks.

use super::alignment::{is_aligned, offset_factor};
use super::code::{Caller, Code, Dynamic, Extents, Shared, expected, vectors};
use super::matrix_unit::{Format, Unit};
use super::row::Rows;
use super::selections;
use super::tiles::{self, Plan};
use crate::extents::size::{element_bytes, extent};
use crate::ir::effects::Effects;
use crate::ir::func;
use crate::ir::{self, Builder, attribute_names, attributes, linalg, ops};
use crate::schedule::body::Body;
use crate::schedule::buffer_uses::sort_in_block;
use crate::schedule::caller::branch_before;
use crate::schedule::contraction::{Contraction, Share};
use crate::schedule::elementwise::Merged;
use crate::schedule::nest::Nest;
use crate::schedule::reading::{Reduction, read_apart};
use crate::schedule::signature::Signature;
use crate::schedule::targets::gpus::{Gpu, MatrixTile, Precision};
use melior::ir::Value;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use skript_dialect::{Pass, PassError};
use std::collections::HashSet;

/// The pass `skript-map-reductions`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-map-reductions",
    summary: "map reductions to GPU kernels with shared memory",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: super::DIALECTS,
    options: &[super::GPU, super::PRECISION],
    run: |root, options, _| {
        let gpu = super::named_gpu(options)?;
        let precision = super::named_precision(options)?;
        let entry = ir::entry(root)?;
        let reduces = |op: &OperationRef| {
            let generic = linalg::Generic::cast(*op);
            let reduces = generic.is_some_and(|generic| generic.reduces());
            reduces && runs_on_host(*op, entry)
        };
        // The list contains only reductions, because elementwise operations may be erased when they become part of a kernel.
        let mut reductions = ir::walk::named(entry, ops::linalg::GENERIC);
        reductions.retain(reduces);
        let mut effects = Effects::new(func::functions(root));
        for op in reductions {
            map(op, (gpu, precision), &mut effects)?;
        }
        map_selections(entry, gpu)
    },
};

/// Replaces loops of the host that select positions.
fn map_selections<'c: 'a, 'a>(entry: OperationRef<'c, 'a>, gpu: &Gpu) -> Result<(), PassError> {
    let is_loop = |op: &OperationRef| {
        let name = ir::name(*op);
        [ops::scf::PARALLEL, ops::scf::FOR].contains(&name.as_str()) && runs_on_host(*op, entry)
    };
    let loops: Vec<OperationRef> = ir::nested(entry).into_iter().filter(is_loop).collect();
    // Outer loops come first in the list; replacing an outer loop also erases its inner loops.
    let mut erased = HashSet::new();
    for op in loops {
        if !erased.contains(&ir::key(op)) {
            let inner: Vec<usize> = ir::nested(op).into_iter().map(ir::key).collect();
            if selections::map(op, gpu)? {
                erased.extend(inner);
            }
        }
    }
    Ok(())
}

/// Minimum number of points of a reduction inside a loop that becomes a separate kernel.
const MIN_POINTS: i64 = 1 << 12;

/// Whether the control flow around an operation is on the host: only sequential loops and branches enclose it.
pub(super) fn runs_on_host(op: OperationRef, entry: OperationRef) -> bool {
    let mut parent = op.parent_operation();
    while let Some(enclosing) = parent.filter(|parent| *parent != entry) {
        if !matches!(ir::name(enclosing).as_str(), ops::scf::FOR | ops::scf::IF | ops::scf::WHILE) {
            return false;
        }
        parent = enclosing.parent_operation();
    }
    true
}

/// Replaces a reduction, if a mapping fits.
fn map<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    target: (&Gpu, Precision),
    effects: &mut Effects<'c, 'a>,
) -> Result<(), PassError> {
    let Some(reduction) = read_apart(op) else {
        return Ok(());
    };
    let parent = op.parent_operation();
    let is_nested = parent.is_some_and(|parent| ir::name(parent) != ops::func::FUNC);
    if is_nested && reduction.nest.volume() < MIN_POINTS {
        return Ok(());
    }
    let bare = Merged { reduction: reduction.clone(), last: op, others: Vec::new() };
    let merged = Merged::around(op, reduction, effects);
    if replace(op, merged, target)? { Ok(()) } else { replace(op, bare, target).map(|_| ()) }
}

/// Replaces the reduction `op` and the elementwise operations around it. Returns false if no mapping fits.
fn replace<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    merged: Merged<'c, 'a>,
    (gpu, precision): (&Gpu, Precision),
) -> Result<bool, PassError> {
    let Merged { mut reduction, last, mut others } = merged;
    if !reduction.sizes.is_empty() || reduction.fix_offsets().is_none() {
        return Ok(false);
    }
    let context = ir::context::of(op);
    if op != last {
        let location = ir::location::fused(context, &[op.location(), last.location()], None);
        ir::mutation::set_location(last, location);
    }
    let kernels = Kernels { reduction: &reduction, operands: op.operands().collect(), gpu, precision };
    let body = &reduction.body;
    if let Some((open, _, condition)) = body.cases()
        && let Some(tiled) = kernels.tiled(&open, Share::whole(gpu))
    {
        let condition = reduction.captured.get(condition).copied();
        let condition = condition.ok_or("a condition without a value")?;
        let [then, otherwise] = branch_before(last, condition, last.location());
        tiled.launch(Builder::before(context, then)?);
        others.push(last);
        sort_in_block(&mut others);
        for op in others {
            ir::move_before(op, otherwise);
        }
        return Ok(true);
    }
    let host = Builder::before(context, last)?;
    if let Some(tiled) = kernels.tiled(body, Share::whole(gpu)) {
        tiled.launch(host);
    } else if !kernels.launch_shared(host) {
        return Ok(false);
    }
    others.into_iter().for_each(ir::erase);
    ir::erase(last);
    Ok(true)
}

/// The kernels of a reduction.
pub(super) struct Kernels<'r, 'c, 'a> {
    pub(super) reduction: &'r Reduction<'c, 'a>,
    /// The operands of the operation, which define the dynamic extents.
    pub(super) operands: Vec<Value<'c, 'a>>,
    pub(super) gpu: &'r Gpu,
    pub(super) precision: Precision,
}

/// A contraction in tiles.
pub(super) struct Tiled<'r, 'c, 'a> {
    nest: Nest,
    caller: Caller<'c, 'a>,
    body: &'r Body<'c>,
    signature: &'r Signature<'c>,
    contraction: Contraction,
    plan: Plan<'c, 'a>,
}

impl<'c: 'a, 'a> Tiled<'_, 'c, 'a> {
    /// The number of threads of a block.
    pub(super) fn threads(&self) -> i64 {
        self.plan.threads()
    }

    /// Launches blocks that compute the tiles.
    fn launch(self, host: Builder<'c, 'a>) {
        let code = Code::new(host, &self.nest, self.body, self.signature, &self.caller);
        let (code, tiles, threads) = tiles::write(&self.contraction, code, self.plan);
        code.end(tiles, threads);
    }

    /// Writes the code of the contraction as a part of a larger kernel, at the end of a block whose argument is the thread. Returns the
    /// shared arrays, which are additional arguments of the block.
    pub(super) fn inside(self, at: Builder<'c, 'a>) -> Vec<Shared<'c, 'a>> {
        let mut code = Code::new(at, &self.nest, self.body, self.signature, &self.caller);
        code.share_inside();
        let (code, tiles, threads) = tiles::write(&self.contraction, code, self.plan);
        code.end(tiles, threads)
    }
}

impl<'r, 'c: 'a, 'a> Kernels<'r, 'c, 'a> {
    /// Plans the contraction in tiles; `None` if no tile fits.
    pub(super) fn tiled<'b>(&self, body: &'b Body<'c>, share: Share) -> Option<Tiled<'b, 'c, 'a>>
    where
        'r: 'b,
    {
        if body.predicate.is_some() || !body.used_dimensions().is_empty() {
            return None;
        }
        let nest = self.nest(&[]);
        let caller = self.caller(&nest)?;
        let expected = expected(&nest, &caller.extents);
        let contraction = Contraction::from_nest(&nest)?;
        let signature = &self.reduction.signature;
        let elements = &signature.elements;
        let format = Format::for_contraction(&contraction, body, elements, self.precision);
        let matrices = || {
            let (format, unit) = format.zip(self.gpu.matrices)?;
            let bytes = element_bytes(*elements.first()?)?;
            let unit_for = |tile: &MatrixTile| Unit::new(unit.kind, format, tile, bytes);
            let tiles = unit.tiles.iter().copied().filter(|tile| unit_for(tile).bytes(tile) <= share.memory);
            let tile = contraction.matrix_tile(&expected, tiles, share)?;
            Some(Plan::Warps(tile, Box::new(unit_for(&tile))))
        };
        let threads = || {
            let tile = contraction.tile(&expected, elements, self.gpu, share)?;
            Some(Plan::Threads(tile))
        };
        let plan = matrices().or_else(threads)?;
        Some(Tiled { nest, caller, body, signature, contraction, plan })
    }

    /// Launches a reduction whose rows are computed by several threads each. Returns false if this is not possible or not faster.
    fn launch_shared(&self, host: Builder<'c, 'a>) -> bool {
        let body = &self.reduction.body;
        let nest = self.nest(&body.used_dimensions());
        let Some(caller) = self.caller(&nest) else {
            return false;
        };
        let Some(rows) = Rows::new(&nest, &expected(&nest, &caller.extents), body, self.gpu) else {
            return false;
        };
        rows.write(Code::new(host, &nest, body, &self.reduction.signature, &caller));
        true
    }

    fn nest(&self, used_dimensions: &[usize]) -> Nest {
        let mut nest = self.reduction.nest.clone();
        nest.keeps_order = true;
        nest.simplify(used_dimensions);
        nest
    }

    /// Returns the properties of arrays and extents that are known in host code.
    fn caller(&self, nest: &Nest) -> Option<Caller<'c, 'a>> {
        let mut extents = Extents::new();
        for (l, r#loop) in nest.loops.iter().enumerate() {
            let Some((operand, dimension)) = r#loop.source else {
                continue;
            };
            let array = *self.operands.get(operand)?;
            let most = bound(array, dimension);
            extents.insert(l, Dynamic { array, dimension, most });
        }
        let arrays = self.reduction.arrays.iter();
        let (lanes, vectors) = vectors(self.gpu.language);
        Some(Caller {
            arguments: self.reduction.arguments(),
            extents,
            aligned: arrays.clone().map(|array| is_aligned(*array)).collect(),
            lanes,
            vectors,
            copies: self.gpu.copies,
            unrolled: self.gpu.unrolled,
            placed: arrays.map(|array| offset_factor(*array)).collect(),
        })
    }
}

/// Returns the upper bound of an extent, which function arguments declare.
fn bound(array: Value, dimension: usize) -> Option<i64> {
    let declared = ir::argument(array).and_then(|argument| {
        let function = argument.owner().parent_operation()?;
        let attributes = *ir::argument_attributes(function).get(argument.argument_number())?;
        let bounds = attributes::entry(attributes, attribute_names::BOUNDS)?;
        attributes::integers(bounds)?.get(dimension).copied()
    });
    declared.or_else(|| i64::try_from(extent(array, dimension)?).ok())
}
