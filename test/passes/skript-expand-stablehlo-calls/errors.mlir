// RUN: skript-opt %s --skript-expand-stablehlo-calls | FileCheck %s
// RUN: not skript-opt %s --stablehlo-to-linalg 2>&1 | FileCheck %s --check-prefix=LINALG

// Calls of unknown routines, and of known ones on other elements, remain; the conversion to linalg reports them.
// CHECK-LABEL: func.func @unknown
// CHECK:         stablehlo.custom_call @mine
// CHECK:         stablehlo.custom_call @lapack_spotrf_ffi
// LINALG:      [[# @LINE + 2]]:8: error: 'stablehlo.custom_call' op has no form in linalg
func.func @unknown(%x: tensor<3xf32>, %y: tensor<3x3xf16>) -> (tensor<3xf32>, tensor<3x3xf16>, tensor<i32>) {
  %0 = stablehlo.custom_call @mine(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1:2 = stablehlo.custom_call @lapack_spotrf_ffi(%y) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<3x3xf16>) -> (tensor<3x3xf16>, tensor<i32>)
  return %0, %1#0, %1#1 : tensor<3xf32>, tensor<3x3xf16>, tensor<i32>
}
