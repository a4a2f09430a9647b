//! The table of passes: registration, documentation and tests go by it.

use crate::codegen::arguments::OpenArguments;
use crate::codegen::carried::WriteCarried;
use crate::codegen::checks::LowerChecks;
use crate::codegen::copies::LowerCopies;
use crate::codegen::inits::SeparateInits;
use crate::codegen::intrinsics::LowerIntrinsics;
use crate::codegen::memory::PlanMemory;
use crate::codegen::outputs::WriteOutputs;
use crate::codegen::parts::OutlineParts;
use crate::codegen::pointers::PointArguments;
use crate::duplicates::merge_duplicates::MergeDuplicates;
use crate::elementwise::check_extents::CheckExtents;
use crate::elementwise::elementwise_to_formula::ConvertElementwiseToFormula;
use crate::elementwise::elementwise_to_linalg::ConvertElementwiseToLinalg;
use crate::elementwise::fuse_elementwise::FuseElementwise;
use crate::elementwise::scalarize_elementwise::ScalarizeElementwise;
use crate::elementwise::unroll_elementwise::UnrollElementwise;
use crate::extents::drop_clamps::DropClamps;
use crate::extents::pad_extents::PadExtents;
use crate::formula::covered::DropCoveredFills;
use crate::formula::formula_to_linalg::ConvertFormulaToLinalg;
use crate::formula::formula_to_loops::{ConvertFormulaToAffine, ConvertFormulaToScf};
use crate::formula::scalar_to_arith::ConvertScalarToArith;
use crate::formula::split_guards::SplitGuards;
use crate::formula::widen_accumulators::WidenAccumulators;
use crate::invoke::keep_operators::KeepOperators;
use crate::invoke::lower_invocations::LowerInvocations;
use crate::named::raise_to_named_linalg::RaiseToNamedLinalg;
use crate::pipeline;
use crate::schedule::vectorize::VectorizeReductions;
use crate::stablehlo::import::drop_signs::DropSigns;
use crate::stablehlo::import::scalar_to_arith::ConvertStablehloScalarToArith;
use crate::stablehlo::import::to_linalg::ConvertStablehloToLinalg;
use crate::stablehlo::import::to_skript::ConvertStablehloToSkript;
use crate::structure::annotate_structure::AnnotateStructure;
use skript_dialect::PassEntry;

/// Every pass of the project.
pub const ALL: &[PassEntry] = &[
    PassEntry::of::<ConvertElementwiseToFormula>(),
    PassEntry::of::<ConvertElementwiseToLinalg>(),
    PassEntry::of::<ConvertFormulaToAffine>(),
    PassEntry::of::<ConvertFormulaToLinalg>(),
    PassEntry::of::<ConvertFormulaToScf>(),
    PassEntry::of::<ConvertScalarToArith>(),
    PassEntry::of::<ScalarizeElementwise>(),
    PassEntry::of::<UnrollElementwise>(),
    PassEntry::of::<FuseElementwise>(),
    PassEntry::of::<CheckExtents>(),
    PassEntry::of::<RaiseToNamedLinalg>(),
    PassEntry::of::<MergeDuplicates>(),
    PassEntry::of::<KeepOperators>(),
    PassEntry::of::<LowerInvocations>(),
    PassEntry::of::<DropClamps>(),
    PassEntry::of::<PadExtents>(),
    PassEntry::of::<AnnotateStructure>(),
    PassEntry::of::<SplitGuards>(),
    PassEntry::of::<DropCoveredFills>(),
    PassEntry::of::<WidenAccumulators>(),
    PassEntry::of::<WriteCarried>(),
    PassEntry::of::<WriteOutputs>(),
    PassEntry::of::<SeparateInits>(),
    PassEntry::of::<VectorizeReductions>(),
    PassEntry::of::<OpenArguments>(),
    PassEntry::of::<PointArguments>(),
    PassEntry::of::<PlanMemory>(),
    PassEntry::of::<LowerCopies>(),
    PassEntry::of::<OutlineParts>(),
    PassEntry::of::<LowerIntrinsics>(),
    PassEntry::of::<LowerChecks>(),
    PassEntry::of::<ConvertStablehloToLinalg>(),
    PassEntry::of::<ConvertStablehloScalarToArith>(),
    PassEntry::of::<ConvertStablehloToSkript>(),
    PassEntry::of::<DropSigns>(),
];

/// Makes all passes and named pipelines known to MLIR; once per process does, more is harmless.
pub fn register() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        skript_dialect::register_passes(ALL);
        pipeline::register();
    });
}
