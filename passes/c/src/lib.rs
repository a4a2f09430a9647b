// SPDX-License-Identifier: Apache-2.0
//! `libSkriptPasses`: the passes for programs in C and C++.
//!
//! A static library, so that a program that also links `MLIRSkript` has only one copy of the dialect and of its type
//! identifiers. `include/skript-c/Passes.h` declares its functions.

// Names of a C library, as MLIR's C API spells them.
#![allow(non_snake_case)]

mod plugin;

use mlir_sys::MlirPass;

/// Registers all passes and named pipelines with MLIR: for pass managers and command lines. Further calls have no
/// effect.
#[unsafe(no_mangle)]
pub extern "C" fn skriptRegisterPasses() {
    skript_stablehlo::register();
}

/// The pass of a flag, with the defaults of its options.
fn create(flag: &'static str) -> MlirPass {
    skript_stablehlo::register();
    skript_dialect::pass::create(flag)
}

macro_rules! create_functions {
    ($($name:ident => $flag:literal,)*) => {
        $(
            #[doc = concat!("Creates the pass `", $flag, "`; the caller owns it until a pass manager takes it over.")]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> MlirPass {
                create($flag)
            }
        )*

        #[cfg(test)]
        const FUNCTIONS: &[(&str, &str, extern "C" fn() -> MlirPass)] =
            &[$((stringify!($name), $flag, $name)),*];
    };
}

create_functions! {
    skriptCreateConvertSkriptCheckToCfPass => "convert-skript-check-to-cf",
    skriptCreateConvertSkriptElementwiseToFormulaPass => "convert-skript-elementwise-to-formula",
    skriptCreateConvertSkriptElementwiseToLinalgPass => "convert-skript-elementwise-to-linalg",
    skriptCreateConvertSkriptFormulaToAffinePass => "convert-skript-formula-to-affine",
    skriptCreateConvertSkriptFormulaToLinalgPass => "convert-skript-formula-to-linalg",
    skriptCreateConvertSkriptFormulaToScfPass => "convert-skript-formula-to-scf",
    skriptCreateConvertSkriptScalarToArithPass => "convert-skript-scalar-to-arith",
    skriptCreateConvertStablehloScalarToArithPass => "convert-stablehlo-scalar-to-arith",
    skriptCreateConvertStablehloToLinalgPass => "convert-stablehlo-to-linalg",
    skriptCreateConvertStablehloToSkriptPass => "convert-stablehlo-to-skript",
    skriptCreateAccessBoolBytesPass => "skript-access-bool-bytes",
    skriptCreateAddEntryPass => "skript-add-entry",
    skriptCreateAddLineTablesPass => "skript-add-line-tables",
    skriptCreateAddressKernelMemoryPass => "skript-address-kernel-memory",
    skriptCreateAnnotateLoopsPass => "skript-annotate-loops",
    skriptCreateAnnotateStructurePass => "skript-annotate-structure",
    skriptCreateApproximateMathPass => "skript-approximate-math",
    skriptCreateAssignLayoutsPass => "skript-assign-layouts",
    skriptCreateBlockScattersPass => "skript-block-scatters",
    skriptCreateBlockTranspositionsPass => "skript-block-transpositions",
    skriptCreateCallMathIntrinsicsPass => "skript-call-math-intrinsics",
    skriptCreateCarryElementsPass => "skript-carry-elements",
    skriptCreateCheckExtentsPass => "skript-check-extents",
    skriptCreateCheckIterationsPass => "skript-check-iterations",
    skriptCreateComputeInUsersPass => "skript-compute-in-users",
    skriptCreateComputeIntegersPass => "skript-compute-integers",
    skriptCreateDivideByInvariantsPass => "skript-divide-by-invariants",
    skriptCreateDropClampsPass => "skript-drop-clamps",
    skriptCreateDropCoveredFillsPass => "skript-drop-covered-fills",
    skriptCreateDropFastMathPass => "skript-drop-fast-math",
    skriptCreateDropSignsPass => "skript-drop-signs",
    skriptCreateExpandKernelMathPass => "skript-expand-kernel-math",
    skriptCreateExpandLibraryMathPass => "skript-expand-library-math",
    skriptCreateExpandMathPass => "skript-expand-math",
    skriptCreateExpandNarrowRealsPass => "skript-expand-narrow-reals",
    skriptCreateExpandStablehloCallsPass => "skript-expand-stablehlo-calls",
    skriptCreateFactorSumsPass => "skript-factor-sums",
    skriptCreateFenceStreamsPass => "skript-fence-streams",
    skriptCreateFillBordersPass => "skript-fill-borders",
    skriptCreateFoldExtentsPass => "skript-fold-extents",
    skriptCreateFoldIntegersPass => "skript-fold-integers",
    skriptCreateFoldScalesPass => "skript-fold-scales",
    skriptCreateForwardCopiesPass => "skript-forward-copies",
    skriptCreateFuseElementwisePass => "skript-fuse-elementwise",
    skriptCreateFuseRowsPass => "skript-fuse-rows",
    skriptCreateGuardAnglesPass => "skript-guard-angles",
    skriptCreateHoistConstantsPass => "skript-hoist-constants",
    skriptCreateHoistInvariantsPass => "skript-hoist-invariants",
    skriptCreateHoistProjectionsPass => "skript-hoist-projections",
    skriptCreateInterchangeReductionsPass => "skript-interchange-reductions",
    skriptCreateKeepOperatorsPass => "skript-keep-operators",
    skriptCreateLowerChecksPass => "skript-lower-checks",
    skriptCreateLowerCopiesPass => "skript-lower-copies",
    skriptCreateLowerIntrinsicsPass => "skript-lower-intrinsics",
    skriptCreateLowerInvocationsPass => "skript-lower-invocations",
    skriptCreateLowerLaunchesPass => "skript-lower-launches",
    skriptCreateMapReductionsPass => "skript-map-reductions",
    skriptCreateMapRowsPass => "skript-map-rows",
    skriptCreateMarkStepsPass => "skript-mark-steps",
    skriptCreateMergeDuplicatesPass => "skript-merge-duplicates",
    skriptCreateMergeFunctionsPass => "skript-merge-functions",
    skriptCreateMergeReductionsPass => "skript-merge-reductions",
    skriptCreateMergeSlicesPass => "skript-merge-slices",
    skriptCreateMoveFactorsPass => "skript-move-factors",
    skriptCreateNameEntryPass => "skript-name-entry",
    skriptCreateNumberChecksPass => "skript-number-checks",
    skriptCreateNumberKernelsPass => "skript-number-kernels",
    skriptCreateNumberStepsPass => "skript-number-steps",
    skriptCreateOpenArgumentsPass => "skript-open-arguments",
    skriptCreateOutlineKernelsPass => "skript-outline-kernels",
    skriptCreateOutlinePartsPass => "skript-outline-parts",
    skriptCreatePadExtentsPass => "skript-pad-extents",
    skriptCreateParallelizeCallsPass => "skript-parallelize-calls",
    skriptCreatePlanMemoryPass => "skript-plan-memory",
    skriptCreatePointArgumentsPass => "skript-point-arguments",
    skriptCreatePrepareVariablesPass => "skript-prepare-variables",
    skriptCreateRaiseAccumulationsPass => "skript-raise-accumulations",
    skriptCreateRaiseToNamedLinalgPass => "skript-raise-to-named-linalg",
    skriptCreateScalarizeElementwisePass => "skript-scalarize-elementwise",
    skriptCreateScanPrefixesPass => "skript-scan-prefixes",
    skriptCreateSeparateInitsPass => "skript-separate-inits",
    skriptCreateSetTargetPass => "skript-set-target",
    skriptCreateShareLoopsPass => "skript-share-loops",
    skriptCreateShuffleReadsPass => "skript-shuffle-reads",
    skriptCreateSkewLoopsPass => "skript-skew-loops",
    skriptCreateSliceGathersPass => "skript-slice-gathers",
    skriptCreateSortComparisonsPass => "skript-sort-comparisons",
    skriptCreateSplitChoicesPass => "skript-split-choices",
    skriptCreateSplitClampsPass => "skript-split-clamps",
    skriptCreateSplitDependencesPass => "skript-split-dependences",
    skriptCreateSplitGuardsPass => "skript-split-guards",
    skriptCreateSplitLoopsPass => "skript-split-loops",
    skriptCreateSplitPhasesPass => "skript-split-phases",
    skriptCreateSplitScattersPass => "skript-split-scatters",
    skriptCreateSplitSumsPass => "skript-split-sums",
    skriptCreateStreamResultsPass => "skript-stream-results",
    skriptCreateSumBitsPass => "skript-sum-bits",
    skriptCreateTestExponentsPass => "skript-test-exponents",
    skriptCreateUnpackProductsPass => "skript-unpack-products",
    skriptCreateUnrollElementwisePass => "skript-unroll-elementwise",
    skriptCreateUnswitchLoopsPass => "skript-unswitch-loops",
    skriptCreateVectorizeMapsPass => "skript-vectorize-maps",
    skriptCreateVectorizeReductionsPass => "skript-vectorize-reductions",
    skriptCreateVerifyAccessesPass => "skript-verify-accesses",
    skriptCreateWidenAccumulatorsPass => "skript-widen-accumulators",
    skriptCreateWidenIterationsPass => "skript-widen-iterations",
    skriptCreateWidenOperandsPass => "skript-widen-operands",
    skriptCreateWinogradPass => "skript-winograd",
    skriptCreateWriteCarriedPass => "skript-write-carried",
    skriptCreateWriteOutputsPass => "skript-write-outputs",
    skriptCreateWritePartsPass => "skript-write-parts",
    skriptCreateYieldOffsetsPass => "skript-yield-offsets",
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_pass_has_a_function_and_a_declaration() {
        let flags: BTreeSet<&str> = FUNCTIONS.iter().map(|(_, flag, _)| *flag).collect();
        let known: BTreeSet<&str> = skript_stablehlo::all_passes().map(|pass| pass.flag).collect();
        assert_eq!(flags, known);
        let header = include_str!("../include/skript-c/Passes.h");
        for (name, flag, create) in FUNCTIONS {
            let declared = format!("MlirPass {name}(void);");
            assert!(header.contains(&declared), "{declared}");
            assert!(!create().ptr.is_null(), "{flag}");
        }
    }
}
