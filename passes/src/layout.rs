// SPDX-License-Identifier: Apache-2.0
//! `skript-assign-layouts`: stores tensors between contractions in the order of dimensions that the contractions write fastest.
//!
//! A window or a 1×1 contraction over channels writes vectors of output channels, because its weights can be packed along them. If
//! the channels are not the last dimension, each tile is transposed in registers. This pass permutes the dimensions of such tensors so
//! that the channels are contiguous, in entire regions: elementwise operations, pooling, and insertions into padded or
//! concatenated tensors have the order of their inputs. A cost model (`cost.rs`) compares the orders. A permutation becomes part of the
//! indexing maps of operations that access a tensor. For operations without indexing maps, such as a reshape, and for results of the
//! entry, the tensor is copied to the old order.
//!
//! Weights that are read along the lanes, but cannot be packed, such as those of depthwise windows, are transposed once, with
//! the other preparations (`skript-prepare-variables`).
//!
//! Guarantees: types of arguments and results of functions do not change. Sums have the same terms in the same order.

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

pub(crate) const PASS: Pass = Pass {
    flag: "skript-assign-layouts",
    summary: "store tensors between contractions in the order of dimensions that is written fastest",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Linalg, Dialect::Tensor],
    options: &Target::OPTIONS,
    run: |root, options, rewriter| {
        let target = Target::from_options(options)?;
        for function in named(root, ops::func::FUNC) {
            let constants = ConstantTensors::new(function);
            if constants.is_empty() {
                continue;
            }
            let classes = Classes::new(function, &constants);
            let costs = Costs::new(&classes, target);
            let layouts = search::best(&classes, &costs);
            apply::apply(&classes, &layouts, rewriter.context())?;
        }
        Ok(())
    },
};

/// The layout of a tensor: row-major, with this dimension moved to the last position.
pub(crate) type LastDimension = Option<usize>;

/// The dimensions of a tensor in the order in which they are stored.
pub(crate) fn order(rank: usize, last: LastDimension) -> Vec<usize> {
    (0..rank).filter(|d| Some(*d) != last).chain(last).collect()
}
