// SPDX-License-Identifier: Apache-2.0
/* Passes.h - the passes of the skript dialect, in libSkriptPasses.
 *
 * The functions create passes with default options. To set options, parse a pipeline that contains the pass:
 * mlirParsePassPipeline(…, "skript-plan-memory"). docs/passes.md describes all passes. */

#ifndef SKRIPT_C_PASSES_H
#define SKRIPT_C_PASSES_H

#include "mlir-c/Pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Registers all passes and named pipelines by their flags. Further calls do nothing. */
MLIR_CAPI_EXPORTED void skriptRegisterPasses(void);

/* --convert-skript-check-to-cf */
MLIR_CAPI_EXPORTED MlirPass skriptCreateConvertSkriptCheckToCfPass(void);
/* --convert-skript-elementwise-to-formula */
MLIR_CAPI_EXPORTED MlirPass skriptCreateConvertSkriptElementwiseToFormulaPass(void);
/* --convert-skript-elementwise-to-linalg */
MLIR_CAPI_EXPORTED MlirPass skriptCreateConvertSkriptElementwiseToLinalgPass(void);
/* --convert-skript-formula-to-affine */
MLIR_CAPI_EXPORTED MlirPass skriptCreateConvertSkriptFormulaToAffinePass(void);
/* --convert-skript-formula-to-linalg */
MLIR_CAPI_EXPORTED MlirPass skriptCreateConvertSkriptFormulaToLinalgPass(void);
/* --convert-skript-formula-to-scf */
MLIR_CAPI_EXPORTED MlirPass skriptCreateConvertSkriptFormulaToScfPass(void);
/* --convert-skript-scalar-to-arith */
MLIR_CAPI_EXPORTED MlirPass skriptCreateConvertSkriptScalarToArithPass(void);
/* --convert-stablehlo-scalar-to-arith */
MLIR_CAPI_EXPORTED MlirPass skriptCreateConvertStablehloScalarToArithPass(void);
/* --convert-stablehlo-to-linalg */
MLIR_CAPI_EXPORTED MlirPass skriptCreateConvertStablehloToLinalgPass(void);
/* --convert-stablehlo-to-skript */
MLIR_CAPI_EXPORTED MlirPass skriptCreateConvertStablehloToSkriptPass(void);
/* --skript-access-bool-bytes */
MLIR_CAPI_EXPORTED MlirPass skriptCreateAccessBoolBytesPass(void);
/* --skript-add-entry */
MLIR_CAPI_EXPORTED MlirPass skriptCreateAddEntryPass(void);
/* --skript-address-kernel-memory */
MLIR_CAPI_EXPORTED MlirPass skriptCreateAddressKernelMemoryPass(void);
/* --skript-annotate-loops */
MLIR_CAPI_EXPORTED MlirPass skriptCreateAnnotateLoopsPass(void);
/* --skript-annotate-structure */
MLIR_CAPI_EXPORTED MlirPass skriptCreateAnnotateStructurePass(void);
/* --skript-approximate-math */
MLIR_CAPI_EXPORTED MlirPass skriptCreateApproximateMathPass(void);
/* --skript-assign-layouts */
MLIR_CAPI_EXPORTED MlirPass skriptCreateAssignLayoutsPass(void);
/* --skript-block-transpositions */
MLIR_CAPI_EXPORTED MlirPass skriptCreateBlockTranspositionsPass(void);
/* --skript-call-math-intrinsics */
MLIR_CAPI_EXPORTED MlirPass skriptCreateCallMathIntrinsicsPass(void);
/* --skript-check-extents */
MLIR_CAPI_EXPORTED MlirPass skriptCreateCheckExtentsPass(void);
/* --skript-check-iterations */
MLIR_CAPI_EXPORTED MlirPass skriptCreateCheckIterationsPass(void);
/* --skript-compute-in-users */
MLIR_CAPI_EXPORTED MlirPass skriptCreateComputeInUsersPass(void);
/* --skript-compute-integers */
MLIR_CAPI_EXPORTED MlirPass skriptCreateComputeIntegersPass(void);
/* --skript-divide-by-invariants */
MLIR_CAPI_EXPORTED MlirPass skriptCreateDivideByInvariantsPass(void);
/* --skript-drop-clamps */
MLIR_CAPI_EXPORTED MlirPass skriptCreateDropClampsPass(void);
/* --skript-drop-covered-fills */
MLIR_CAPI_EXPORTED MlirPass skriptCreateDropCoveredFillsPass(void);
/* --skript-drop-fast-math */
MLIR_CAPI_EXPORTED MlirPass skriptCreateDropFastMathPass(void);
/* --skript-drop-signs */
MLIR_CAPI_EXPORTED MlirPass skriptCreateDropSignsPass(void);
/* --skript-expand-kernel-math */
MLIR_CAPI_EXPORTED MlirPass skriptCreateExpandKernelMathPass(void);
/* --skript-expand-library-math */
MLIR_CAPI_EXPORTED MlirPass skriptCreateExpandLibraryMathPass(void);
/* --skript-expand-math */
MLIR_CAPI_EXPORTED MlirPass skriptCreateExpandMathPass(void);
/* --skript-expand-narrow-reals */
MLIR_CAPI_EXPORTED MlirPass skriptCreateExpandNarrowRealsPass(void);
/* --skript-expand-stablehlo-calls */
MLIR_CAPI_EXPORTED MlirPass skriptCreateExpandStablehloCallsPass(void);
/* --skript-factor-sums */
MLIR_CAPI_EXPORTED MlirPass skriptCreateFactorSumsPass(void);
/* --skript-fence-streams */
MLIR_CAPI_EXPORTED MlirPass skriptCreateFenceStreamsPass(void);
/* --skript-fill-borders */
MLIR_CAPI_EXPORTED MlirPass skriptCreateFillBordersPass(void);
/* --skript-fold-extents */
MLIR_CAPI_EXPORTED MlirPass skriptCreateFoldExtentsPass(void);
/* --skript-fold-integers */
MLIR_CAPI_EXPORTED MlirPass skriptCreateFoldIntegersPass(void);
/* --skript-fold-scales */
MLIR_CAPI_EXPORTED MlirPass skriptCreateFoldScalesPass(void);
/* --skript-fuse-elementwise */
MLIR_CAPI_EXPORTED MlirPass skriptCreateFuseElementwisePass(void);
/* --skript-fuse-rows */
MLIR_CAPI_EXPORTED MlirPass skriptCreateFuseRowsPass(void);
/* --skript-guard-angles */
MLIR_CAPI_EXPORTED MlirPass skriptCreateGuardAnglesPass(void);
/* --skript-hoist-constants */
MLIR_CAPI_EXPORTED MlirPass skriptCreateHoistConstantsPass(void);
/* --skript-hoist-invariants */
MLIR_CAPI_EXPORTED MlirPass skriptCreateHoistInvariantsPass(void);
/* --skript-hoist-projections */
MLIR_CAPI_EXPORTED MlirPass skriptCreateHoistProjectionsPass(void);
/* --skript-interchange-reductions */
MLIR_CAPI_EXPORTED MlirPass skriptCreateInterchangeReductionsPass(void);
/* --skript-keep-operators */
MLIR_CAPI_EXPORTED MlirPass skriptCreateKeepOperatorsPass(void);
/* --skript-lower-checks */
MLIR_CAPI_EXPORTED MlirPass skriptCreateLowerChecksPass(void);
/* --skript-lower-copies */
MLIR_CAPI_EXPORTED MlirPass skriptCreateLowerCopiesPass(void);
/* --skript-lower-intrinsics */
MLIR_CAPI_EXPORTED MlirPass skriptCreateLowerIntrinsicsPass(void);
/* --skript-lower-invocations */
MLIR_CAPI_EXPORTED MlirPass skriptCreateLowerInvocationsPass(void);
/* --skript-lower-launches */
MLIR_CAPI_EXPORTED MlirPass skriptCreateLowerLaunchesPass(void);
/* --skript-map-reductions */
MLIR_CAPI_EXPORTED MlirPass skriptCreateMapReductionsPass(void);
/* --skript-map-rows */
MLIR_CAPI_EXPORTED MlirPass skriptCreateMapRowsPass(void);
/* --skript-mark-steps */
MLIR_CAPI_EXPORTED MlirPass skriptCreateMarkStepsPass(void);
/* --skript-merge-duplicates */
MLIR_CAPI_EXPORTED MlirPass skriptCreateMergeDuplicatesPass(void);
/* --skript-merge-functions */
MLIR_CAPI_EXPORTED MlirPass skriptCreateMergeFunctionsPass(void);

/* --skript-merge-reductions */
MLIR_CAPI_EXPORTED MlirPass skriptCreateMergeReductionsPass(void);
/* --skript-merge-slices */
MLIR_CAPI_EXPORTED MlirPass skriptCreateMergeSlicesPass(void);
/* --skript-name-entry */
MLIR_CAPI_EXPORTED MlirPass skriptCreateNameEntryPass(void);
/* --skript-number-checks */
MLIR_CAPI_EXPORTED MlirPass skriptCreateNumberChecksPass(void);
/* --skript-number-kernels */
MLIR_CAPI_EXPORTED MlirPass skriptCreateNumberKernelsPass(void);
/* --skript-number-steps */
MLIR_CAPI_EXPORTED MlirPass skriptCreateNumberStepsPass(void);
/* --skript-open-arguments */
MLIR_CAPI_EXPORTED MlirPass skriptCreateOpenArgumentsPass(void);
/* --skript-outline-kernels */
MLIR_CAPI_EXPORTED MlirPass skriptCreateOutlineKernelsPass(void);
/* --skript-outline-parts */
MLIR_CAPI_EXPORTED MlirPass skriptCreateOutlinePartsPass(void);
/* --skript-pad-extents */
MLIR_CAPI_EXPORTED MlirPass skriptCreatePadExtentsPass(void);
/* --skript-parallelize-calls */
MLIR_CAPI_EXPORTED MlirPass skriptCreateParallelizeCallsPass(void);
/* --skript-plan-memory */
MLIR_CAPI_EXPORTED MlirPass skriptCreatePlanMemoryPass(void);
/* --skript-point-arguments */
MLIR_CAPI_EXPORTED MlirPass skriptCreatePointArgumentsPass(void);
/* --skript-prepare-variables */
MLIR_CAPI_EXPORTED MlirPass skriptCreatePrepareVariablesPass(void);
/* --skript-raise-accumulations */
MLIR_CAPI_EXPORTED MlirPass skriptCreateRaiseAccumulationsPass(void);
/* --skript-raise-to-named-linalg */
MLIR_CAPI_EXPORTED MlirPass skriptCreateRaiseToNamedLinalgPass(void);
/* --skript-scalarize-elementwise */
MLIR_CAPI_EXPORTED MlirPass skriptCreateScalarizeElementwisePass(void);
/* --skript-scan-prefixes */
MLIR_CAPI_EXPORTED MlirPass skriptCreateScanPrefixesPass(void);
/* --skript-separate-inits */
MLIR_CAPI_EXPORTED MlirPass skriptCreateSeparateInitsPass(void);
/* --skript-set-target */
MLIR_CAPI_EXPORTED MlirPass skriptCreateSetTargetPass(void);
/* --skript-share-loops */
MLIR_CAPI_EXPORTED MlirPass skriptCreateShareLoopsPass(void);
/* --skript-shuffle-reads */
MLIR_CAPI_EXPORTED MlirPass skriptCreateShuffleReadsPass(void);
/* --skript-slice-gathers */
MLIR_CAPI_EXPORTED MlirPass skriptCreateSliceGathersPass(void);
/* --skript-sort-comparisons */
MLIR_CAPI_EXPORTED MlirPass skriptCreateSortComparisonsPass(void);
/* --skript-split-choices */
MLIR_CAPI_EXPORTED MlirPass skriptCreateSplitChoicesPass(void);
/* --skript-split-clamps */
MLIR_CAPI_EXPORTED MlirPass skriptCreateSplitClampsPass(void);
/* --skript-split-guards */
MLIR_CAPI_EXPORTED MlirPass skriptCreateSplitGuardsPass(void);
/* --skript-split-loops */
MLIR_CAPI_EXPORTED MlirPass skriptCreateSplitLoopsPass(void);
/* --skript-split-phases */
MLIR_CAPI_EXPORTED MlirPass skriptCreateSplitPhasesPass(void);
/* --skript-split-scatters */
MLIR_CAPI_EXPORTED MlirPass skriptCreateSplitScattersPass(void);
/* --skript-stream-results */
MLIR_CAPI_EXPORTED MlirPass skriptCreateStreamResultsPass(void);
/* --skript-test-exponents */
MLIR_CAPI_EXPORTED MlirPass skriptCreateTestExponentsPass(void);
/* --skript-unroll-elementwise */
MLIR_CAPI_EXPORTED MlirPass skriptCreateUnrollElementwisePass(void);
/* --skript-vectorize-maps */
MLIR_CAPI_EXPORTED MlirPass skriptCreateVectorizeMapsPass(void);
/* --skript-vectorize-reductions */
MLIR_CAPI_EXPORTED MlirPass skriptCreateVectorizeReductionsPass(void);
/* --skript-verify-accesses */
MLIR_CAPI_EXPORTED MlirPass skriptCreateVerifyAccessesPass(void);
/* --skript-widen-accumulators */
MLIR_CAPI_EXPORTED MlirPass skriptCreateWidenAccumulatorsPass(void);
/* --skript-widen-iterations */
MLIR_CAPI_EXPORTED MlirPass skriptCreateWidenIterationsPass(void);
/* --skript-widen-operands */
MLIR_CAPI_EXPORTED MlirPass skriptCreateWidenOperandsPass(void);
/* --skript-winograd */
MLIR_CAPI_EXPORTED MlirPass skriptCreateWinogradPass(void);
/* --skript-write-carried */
MLIR_CAPI_EXPORTED MlirPass skriptCreateWriteCarriedPass(void);
/* --skript-write-outputs */
MLIR_CAPI_EXPORTED MlirPass skriptCreateWriteOutputsPass(void);
/* --skript-write-parts */
MLIR_CAPI_EXPORTED MlirPass skriptCreateWritePartsPass(void);
/* --skript-yield-offsets */
MLIR_CAPI_EXPORTED MlirPass skriptCreateYieldOffsetsPass(void);

#ifdef __cplusplus
}
#endif

#endif /* SKRIPT_C_PASSES_H */
