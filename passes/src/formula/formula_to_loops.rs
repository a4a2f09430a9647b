// SPDX-License-Identifier: Apache-2.0
//! `convert-skript-formula-to-affine`, `convert-skript-formula-to-scf`: convert formulas to loops over memrefs, or over
//! tensors with the option `tensors` of scf.
//!
//! Loops usually run in the order of the formula. The scf conversion reorders the loops of a formula that reads its own output,
//! and of a formula with a condition that bounds a loop from both sides by data. The loops whose iterations access disjoint
//! elements become the outer loops. Among them, a loop along which memory is contiguous becomes the innermost loop of the nest (for
//! threads without vectors, the innermost of the outer loops). The order in which each element is accumulated does not change. If a
//! condition bounds a loop index by the indices of outer loops, or by data that these indices select, the loop runs only over that
//! range. The affine conversion expresses minimum, maximum and conditions in a subscript by `affine.if`. A formula that loops cannot
//! represent is an error at its location; all such formulas are reported.
//!
//! Requires: for affine, subscripts that are piecewise affine in the indices (with floor division and remainder by
//! constants), and extents that are defined outside of loops and branches. Guarantees: no formula and no `skript.access` is
//! left, and, except with the option `tensors`, no splat of a tensor, as bufferization would fill a splat with linalg.

use super::loops::{self, Loops};
use super::{Refusal, structured};
use crate::ir;
use crate::ir::ops;
use crate::ir::{Builder, replace_each};
use crate::structure::Reading;
use skript_dialect::melior::ir::OperationRef;
use skript_dialect::{Dialect, Options, Pass, PassError, PassOption, Rewriter, op};
use std::cell::Cell;

const PARALLEL: PassOption = PassOption {
    name: "parallel",
    summary: "parallelize the loops whose iterations provably access disjoint elements of the outputs (`scf.parallel`, `affine.parallel`)",
    default: "false",
};

/// The common fields of the two passes.
const LOOPS: Pass = Pass {
    dependent_dialects: &[
        Dialect::Affine,
        Dialect::Arith,
        Dialect::Bufferization,
        Dialect::MemRef,
        Dialect::Scf,
        Dialect::Tensor,
    ],
    options: &[PARALLEL],
    ..Pass::NONE
};

pub(crate) const AFFINE: Pass = Pass {
    flag: "convert-skript-formula-to-affine",
    summary: "convert formulas to affine loops",
    run: |root, options, rewriter| convert(Loops::Affine, root, options, rewriter),
    ..LOOPS
};

pub(crate) const SCF: Pass = Pass {
    flag: "convert-skript-formula-to-scf",
    summary: "convert formulas to scf loops",
    options: &[
        PARALLEL,
        PassOption {
            name: "lanes",
            summary: "vectorize sequential formulas along an index without a loop-carried dependence, by linalg.generic on transposed copies",
            default: "false",
        },
        PassOption {
            name: "threads",
            summary: "make all loops without a loop-carried dependence the outer loops of a sequential formula: each of their iterations is computed by a thread",
            default: "false",
        },
        PassOption {
            name: "iterations",
            summary: "maximum number of iterations of a loop that carries the last written elements as loop-carried values; longer loops read them from memory. 0: no limit",
            default: "0",
        },
        PassOption {
            name: "tensors",
            summary: "make outputs tensors that the loops carry, instead of buffers; a step is a linalg.generic without loops",
            default: "false",
        },
    ],
    dependent_dialects: &[
        Dialect::Arith,
        Dialect::Bufferization,
        Dialect::Linalg,
        Dialect::MemRef,
        Dialect::Scf,
        Dialect::Tensor,
    ],
    run: |root, options, rewriter| convert(Loops::Scf, root, options, rewriter),
    ..LOOPS
};

fn convert<'c>(
    loops: Loops,
    root: OperationRef<'c, '_>,
    options: &Options,
    rewriter: &Rewriter<'c>,
) -> Result<(), PassError> {
    let loop_options = loops::Options {
        parallel: options.get("parallel")?,
        lanes: loops == Loops::Scf && options.get("lanes")?,
        threads: loops == Loops::Scf && options.get("threads")?,
        iterations: match loops {
            Loops::Scf => options.get("iterations")?,
            Loops::Affine => 0,
        },
        tensors: loops == Loops::Scf && options.get("tensors")?,
    };
    let is_bounded = loop_options.iterations != 0;
    let needs_buffers = loop_options.parallel || loop_options.lanes || loop_options.threads || is_bounded;
    if loop_options.tensors && needs_buffers {
        let others = "`parallel`, `lanes`, `threads` and `iterations`";
        return Err(format!("the option `tensors` excludes {others}, which require buffers").into());
    }
    let context = rewriter.context();
    let name = loops.name();
    let number = Cell::new(0i64);
    replace_each(structured::formulas(&root), rewriter, |formula| {
        number.set(number.get() + 1);
        let at = Builder::before(context, formula)?;
        let lowered = Reading::new(formula)
            .map_err(Refusal::from)
            .and_then(|reading| loops::lower(&reading, loops, loop_options, number.get(), &at));
        lowered.map_err(|refusal| format!("cannot become {name} loops: {refusal}").into())
    })?;
    structured::extract_elements(&root, rewriter)?;
    if loop_options.tensors {
        return Ok(());
    }
    let splats = op::collect(&root, |op| {
        // A formula that filled its own buffer leaves a splat without uses, which canonicalization removes.
        op::is(&op, ops::tensor::SPLAT) && ir::result(op).is_ok_and(op::is_used)
    });
    replace_each(splats, rewriter, |splat| {
        let at = Builder::before(context, splat)?;
        let filled = loops::splat(ir::operand(splat)?, ir::result(splat)?, loops, &at);
        let filled = filled.map_err(|refusal| format!("cannot be filled by {name} loops: {refusal}"))?;
        Ok(vec![filled])
    })
}
