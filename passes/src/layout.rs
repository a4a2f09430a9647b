// SPDX-License-Identifier: Apache-2.0
//! `skript-assign-layouts`: stores tensors between contractions in the order of dimensions that the contractions write fastest.
//!
//! A window or a 1×1 contraction over channels writes vectors of output channels, because its weights can be packed along them. Where
//! the channels are not the last dimension, each tile is transposed in registers. This pass permutes the dimensions of such tensors so
//! that the channels are contiguous, for whole regions: elementwise operations, pooling, insertions into padded or
//! concatenated tensors take the order of what feeds them. A model of cycles (`cost.rs`) compares the orders. A permutation is part of the
//! indexing map of whoever reads or writes a tensor; where an operation has none (a reshape, a result of the entry), a copy in the
//! old order stands at the border.
//!
//! Weights that are read along the lanes, but cannot be packed, as those of depthwise windows, are transposed; that is done once, with
//! the other preparations (`skript-prepare-variables`).
//!
//! Guarantees: types of arguments and results of functions stay. Sums have the same terms in the same order.

mod apply;
mod classes;
mod cost;
mod node;
mod search;

use crate::ir::ops;
use crate::ir::walk::named;
use crate::prepare::constant_tensors::ConstantTensors;
use crate::schedule::target::Target;
use classes::Classes;
use cost::Costs;
use skript_dialect::{Dialect, Pass};

/// The pass `skript-assign-layouts`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-assign-layouts",
    summary: "store tensors between contractions with the dimension last that they are written fastest along",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Linalg, Dialect::Tensor],
    options: &Target::OPTIONS,
    run: |root, options, rewriter| {
        let target = Target::of(options)?;
        for function in named(root, ops::func::FUNC) {
            let constants = ConstantTensors::of(function);
            if constants.is_empty() {
                continue;
            }
            let classes = Classes::of(function, &constants);
            let costs = Costs::new(&classes, target);
            let layouts = search::best(&classes, &costs);
            apply::apply(&classes, &layouts, rewriter.context())?;
        }
        Ok(())
    },
};

/// How a tensor is stored: row-major, with this dimension moved to the last position.
pub(crate) type Last = Option<usize>;

/// The dimensions of a tensor in the order in which they are stored.
pub(crate) fn order(rank: usize, last: Last) -> Vec<usize> {
    let others = (0..rank).filter(|d| Some(*d) != last);
    others.chain(last).collect()
}
