// SPDX-License-Identifier: Apache-2.0
//! The table of passes, for registration, documentation and tests.

use crate::pipeline;
use crate::structure;
use crate::{
    codegen, duplicates, elementwise, extents, formula, integers, invoke, layout, named, prepare, profile,
    recurrence, schedule,
};
use skript_dialect::Pass;

/// Every pass of the project.
pub const ALL: &[Pass] = &[
    elementwise::elementwise_to_formula::PASS,
    elementwise::elementwise_to_linalg::PASS,
    formula::formula_to_loops::AFFINE,
    formula::formula_to_linalg::PASS,
    formula::formula_to_loops::SCF,
    formula::scalar_to_arith::PASS,
    elementwise::scalarize_elementwise::PASS,
    elementwise::unroll_elementwise::PASS,
    elementwise::fold_integers::PASS,
    elementwise::sum_bits::PASS,
    elementwise::move_factors::PASS,
    elementwise::fuse_elementwise::PASS,
    elementwise::merge_slices::PASS,
    elementwise::hoist_invariants::PASS,
    elementwise::compute_in_users::PASS,
    recurrence::hoist_projections::PASS,
    elementwise::check_extents::PASS,
    named::raise_to_named_linalg::PASS,
    duplicates::merge_duplicates::PASS,
    invoke::keep_operators::PASS,
    invoke::lower_invocations::PASS,
    extents::drop_clamps::PASS,
    extents::fold_extents::PASS,
    extents::pad_extents::PASS,
    structure::annotate_structure::PASS,
    formula::raise_accumulations::PASS,
    formula::split_choices::PASS,
    formula::split_guards::PASS,
    formula::covered_fills::PASS,
    formula::widen_accumulators::PASS,
    formula::drop_fast_math::PASS,
    codegen::check_to_cf::PASS,
    codegen::loop_carried::PASS,
    codegen::outputs::PASS,
    codegen::parts::PASS,
    codegen::inits::PASS,
    profile::mark::PASS,
    profile::kernels::PASS,
    schedule::clamps::PASS,
    schedule::phases::PASS,
    schedule::prefixes::PASS,
    schedule::comparisons::PASS,
    schedule::unpack::PASS,
    schedule::forward_copies::PASS,
    schedule::scatters::PASS,
    schedule::scatter_blocks::PASS,
    schedule::skew::PASS,
    schedule::unswitch::PASS,
    schedule::dependences::PASS,
    schedule::elements::PASS,
    schedule::borders::PASS,
    schedule::rows::PASS,
    schedule::winograd::PASS,
    schedule::exponents::PASS,
    schedule::widen_operands::PASS,
    schedule::vectorize::PASS,
    schedule::merge::PASS,
    schedule::interchange::PASS,
    schedule::blocks::PASS,
    schedule::rows::streams::PASS,
    schedule::shuffles::PASS,
    schedule::divisions::PASS,
    schedule::maps::PASS,
    schedule::gpu::reductions::PASS,
    schedule::gpu::blocks::PASS,
    schedule::gpu::lanes::PASS,
    schedule::gpu::long_loops::PASS,
    schedule::gpu::outline::PASS,
    schedule::gpu::iterations::PASS,
    integers::PASS,
    prepare::fold_scales::PASS,
    elementwise::factor_sums::PASS,
    elementwise::slice_gathers::PASS,
    elementwise::split_sums::PASS,
    prepare::hoist_constants::PASS,
    layout::PASS,
    prepare::PASS,
    profile::number::PASS,
    codegen::arguments::PASS,
    codegen::pointer_table::PASS,
    codegen::memory::PASS,
    codegen::accesses::PASS,
    codegen::merged_functions::PASS,
    codegen::view_offsets::PASS,
    codegen::copies::PASS,
    codegen::gpu::launches::PASS,
    codegen::gpu::kernel_math::EXPAND,
    codegen::gpu::kernel_math::PASS,
    codegen::gpu::kernel_math::INTRINSICS,
    codegen::gpu::kernel_memory::PASS,
    codegen::outlined_functions::PASS,
    codegen::intrinsics::PASS,
    codegen::checks::NUMBER,
    codegen::checks::PASS,
    codegen::entry::NAME,
    codegen::shared_loops::PASS,
    codegen::vector_math::PASS,
    codegen::streams::PASS,
    codegen::library_math::PASS,
    codegen::narrow_reals::PASS,
    codegen::bool_bytes::PASS,
    codegen::parallel_calls::PASS,
    codegen::annotations::PASS,
    codegen::entry::ADD,
    codegen::target::PASS,
    codegen::line_tables::PASS,
];

/// Registers all passes and named pipelines with MLIR; further calls have no effect.
pub fn register() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        skript_dialect::register_passes(ALL);
        pipeline::register();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn passes_have_distinct_flags_and_summaries() {
        let flags: HashSet<_> = ALL.iter().map(|pass| pass.flag).collect();
        assert_eq!(flags.len(), ALL.len());
        assert!(ALL.iter().all(|pass| !pass.flag.is_empty() && !pass.summary.is_empty()));
    }
}
