// SPDX-License-Identifier: Apache-2.0
//! `skript-map-reductions`: maps reductions to blocks of threads of a GPU that share memory.
//!
//! A reduction is read as for kernels of processors ([`crate::schedule::reading`]). One whose inputs are shared by many elements of the
//! result is computed in tiles ([`super::contraction`]), another one with long rows by several threads for each row ([`super::row`]).
//! The elementwise operations that start and finish its results become part of the code.
//! Loops that select a position are computed by several threads as well ([`super::selections`]).
//! The result is a `gpu.launch`. Others stay.
//!
//! Requires: buffers before memory is planned. Guarantees: results are the same for every number of blocks that run at the same time.

use super::alignment::{is_aligned, offset_factor};
use super::code::{Caller, Code, Dynamic, Extents, Number, expected, vectors};
use super::contraction::{Contraction, Share};
use super::matrix_unit::{Format, Unit};
use super::row::Rows;
use super::selections;
use super::tiles::{self, Plan};
use crate::extents::size::{element_bytes, extent};
use crate::ir::effects::Effects;
use crate::ir::func;
use crate::ir::memref::may_overlap;
use crate::ir::splice::splice;
use crate::ir::{self, attribute_names, attributes, linalg, ops, uses};
use crate::schedule::body::Body;
use crate::schedule::caller::branch_before;
use crate::schedule::elementwise::Merged;
use crate::schedule::nest::Nest;
use crate::schedule::reading::{Reduction, read};
use crate::schedule::targets::gpus::{Gpu, MatrixTile, Precision};
use melior::ir::attribute::DenseI64ArrayAttribute;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::{Pass, PassError};
use std::collections::HashSet;

/// The pass `skript-map-reductions`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-map-reductions",
    summary: "map reductions to blocks of threads that share memory",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: super::DIALECTS,
    options: &[super::GPU, super::PRECISION],
    run: |root, options, _| {
        let gpu = super::named_gpu(options)?;
        let precision = super::named_precision(options)?;
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
            map(op, (gpu, precision), &mut effects)?;
        }
        map_selections(entry, gpu)
    },
};

/// Replaces loops of the host that select positions.
fn map_selections<'c: 'a, 'a>(entry: OperationRef<'c, 'a>, gpu: &Gpu) -> Result<(), PassError> {
    let loops = ir::nested(entry).into_iter().filter(|op| {
        let name = ir::name(*op);
        [ops::scf::PARALLEL, ops::scf::FOR].contains(&name.as_str()) && runs_on_host(*op, entry)
    });
    // With the loops around each, as inner ones are erased together with outer ones.
    let with_parents = loops.map(|op| {
        let mut parents = Vec::new();
        let mut parent = op.parent_operation();
        while let Some(own) = parent.filter(|own| *own != entry) {
            parents.push(uses::key(own));
            parent = own.parent_operation();
        }
        (op, parents)
    });
    let mut loops: Vec<_> = with_parents.collect();
    loops.sort_by_key(|(_, parents)| parents.len());
    let mut erased = HashSet::new();
    for (op, parents) in loops {
        let key = uses::key(op);
        if !parents.iter().any(|own| erased.contains(own)) && selections::map(op, gpu)? {
            erased.insert(key);
        }
    }
    Ok(())
}

/// Points of the smallest reduction inside of a loop that gets a kernel of its own.
const ENOUGH: i64 = 1 << 12;

/// Whether the host decides when the operation runs.
pub(super) fn runs_on_host(op: OperationRef, entry: OperationRef) -> bool {
    let mut parent = op.parent_operation();
    while let Some(own) = parent.filter(|own| *own != entry) {
        if !matches!(ir::name(own).as_str(), ops::scf::FOR | ops::scf::IF | ops::scf::WHILE) {
            return false;
        }
        parent = own.parent_operation();
    }
    true
}

/// Replaces a reduction, if a mapping fits.
fn map<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    target: (&Gpu, Precision),
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
    let bare = Merged { reduction: reduction.clone(), last: op, others: Vec::new() };
    let merged = Merged::of(op, reduction, effects);
    if replace(op, merged, target)? { Ok(()) } else { replace(op, bare, target).map(|_| ()) }
}

/// Replaces the reduction `op` and the elementwise operations around it. False if no mapping fits.
fn replace<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    merged: Merged<'c, 'a>,
    (gpu, precision): (&Gpu, Precision),
) -> Result<bool, PassError> {
    let Merged { mut reduction, last, mut others } = merged;
    if reduction.fix_offsets().is_none() {
        return Ok(false);
    }
    for (kind, array) in reduction.signature.arrays.iter_mut().zip(&reduction.arrays) {
        *kind = array.r#type().to_string();
    }
    if op != last {
        let parts = [op.location(), last.location()];
        let location = ir::location::fused(ir::context::of(op), &parts, None);
        ir::mutation::set_location(last, location);
    }
    let kernels = Kernels { reduction: &reduction, operands: op.operands().collect(), gpu, precision };
    let body = &reduction.body;
    if let Some((open, _, condition)) = body.cases()
        && let Some((blocks, arguments)) = kernels.tiled(&open)
    {
        let condition = reduction.captured.get(condition).copied();
        let condition = condition.ok_or("a condition without a value")?;
        let [then, otherwise] = branch_before(last, condition, last.location())?;
        splice(then, &arguments, &blocks, &[])?;
        others.push(last);
        others.sort_by(|a, b| {
            if ir::is_before(*a, *b) { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater }
        });
        for op in others {
            ir::move_before(op, otherwise);
        }
        return Ok(true);
    }
    let Some((blocks, arguments)) = kernels.tiled(body).or_else(|| kernels.shared()) else {
        return Ok(false);
    };
    splice(last, &arguments, &blocks, &[])?;
    others.into_iter().for_each(ir::erase);
    ir::erase(last);
    Ok(true)
}

/// A kernel as text, and the values that it refers to.
type Kernel<'c, 'a> = (String, Vec<Value<'c, 'a>>);

/// The kernels of a reduction.
pub(super) struct Kernels<'r, 'c, 'a> {
    pub(super) reduction: &'r Reduction<'c, 'a>,
    /// Those of the operation, which have the dynamic extents.
    pub(super) operands: Vec<Value<'c, 'a>>,
    pub(super) gpu: &'r Gpu,
    pub(super) precision: Precision,
}

impl<'c: 'a, 'a> Kernels<'_, 'c, 'a> {
    /// The kernel of a contraction in tiles.
    fn tiled(&self, body: &Body) -> Option<Kernel<'c, 'a>> {
        self.tiles(body, Share::whole(self.gpu), false, |code, tiles, threads| code.launch(&tiles, threads))
    }

    /// The code of a contraction in tiles, which `end` completes with the number of tiles and that of threads.
    pub(super) fn tiles<T>(
        &self,
        body: &Body,
        share: Share,
        is_inside: bool,
        end: impl FnOnce(Code, Number, i64) -> T,
    ) -> Option<(T, Vec<Value<'c, 'a>>)> {
        if body.predicate.is_some() || !body.used_dimensions().is_empty() {
            return None;
        }
        let nest = self.nest(&[]);
        let (caller, arguments) = self.caller(&nest)?;
        let expected = expected(&nest, &caller.extents);
        let contraction = Contraction::of(&nest)?;
        let signature = &self.reduction.signature;
        let elements = &signature.elements;
        let format = Format::of(&contraction, body, elements, self.precision);
        let matrices = || {
            let (format, unit) = format.zip(self.gpu.matrices)?;
            let bytes = element_bytes(elements.first()?)?;
            let own = |tile: &MatrixTile| Unit::new(unit.kind, format, tile, bytes);
            let tiles = unit.tiles.iter().copied().filter(|tile| own(tile).bytes(tile) <= share.memory);
            let tile = contraction.matrix_tile(&expected, tiles, share)?;
            Some(Plan::Warps(tile, Box::new(own(&tile))))
        };
        let threads = || {
            let tile = contraction.tile(&expected, elements, self.gpu, share)?;
            Some(Plan::Threads(tile))
        };
        let plan = matrices().or_else(threads)?;
        let mut code = Code::new(&nest, body, signature, &caller);
        if is_inside {
            code.share_inside();
        }
        let (code, tiles, threads) = tiles::write(&contraction, code, plan);
        Some((end(code, tiles, threads), arguments))
    }

    /// The kernel of a reduction whose rows several threads share.
    fn shared(&self) -> Option<Kernel<'c, 'a>> {
        let body = &self.reduction.body;
        let nest = self.nest(&body.used_dimensions());
        let (caller, arguments) = self.caller(&nest)?;
        let rows = Rows::of(&nest, &expected(&nest, &caller.extents), body, self.gpu)?;
        let code = Code::new(&nest, body, &self.reduction.signature, &caller);
        Some((rows.write(code), arguments))
    }

    fn nest(&self, used_dimensions: &[usize]) -> Nest {
        let mut nest = self.reduction.nest.clone();
        nest.keeps_order = true;
        nest.simplify(used_dimensions);
        nest
    }

    /// What the host knows, and all arguments: those of the reduction, and the arrays with the dynamic extents of a nest.
    fn caller(&self, nest: &Nest) -> Option<(Caller, Vec<Value<'c, 'a>>)> {
        let mut arguments = self.reduction.arguments();
        let mut extents = Extents::new();
        for (l, own) in nest.loops.iter().enumerate() {
            let Some((operand, dimension)) = own.source else {
                continue;
            };
            let array = *self.operands.get(operand)?;
            let most = bound(array, dimension);
            let dynamic = Dynamic {
                array: format!("%{}", arguments.len()),
                kind: array.r#type().to_string(),
                dimension,
                most,
            };
            extents.insert(l, dynamic);
            arguments.push(array);
        }
        let arrays = self.reduction.arrays.iter();
        let aligned = arrays.clone().map(|array| is_aligned(*array)).collect();
        let placed = arrays.map(|array| {
            let rank = ir::memref::extents(array.r#type()).len();
            (rank, offset_factor(*array))
        });
        let (lanes, vectors) = vectors(self.gpu.language);
        let caller = Caller {
            extents,
            aligned,
            lanes,
            vectors,
            copies: self.gpu.copies,
            unrolled: self.gpu.unrolled,
            placed: placed.collect(),
        };
        Some((caller, arguments))
    }
}

/// The upper bound of an extent; an argument of a function declares it.
fn bound(array: Value, dimension: usize) -> Option<i64> {
    let declared = ir::argument(array).and_then(|own| {
        let function = own.owner().parent_operation()?;
        let own = *ir::argument_attributes(function).get(own.argument_number())?;
        let bounds = attributes::entry(own, attribute_names::BOUNDS)?;
        let bounds = DenseI64ArrayAttribute::try_from(bounds).ok()?;
        bounds.element(dimension).ok()
    });
    declared.or_else(|| i64::try_from(extent(array, dimension)?).ok())
}
