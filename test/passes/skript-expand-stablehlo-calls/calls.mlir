// RUN: skript-opt %s --skript-expand-stablehlo-calls | FileCheck %s --implicit-check-not=sdy. --implicit-check-not=stablehlo.custom_call
// RUN: skript-opt %s --stablehlo-to-linalg | FileCheck %s --check-prefix=LINALG --implicit-check-not=stablehlo. --implicit-check-not=skript.

sdy.mesh @mesh = <["x"=2]>

// A composite becomes a call of its decomposition; constraints become their operand.
// CHECK-LABEL: func.func @composite(
// CHECK-SAME:    %[[X:.+]]: tensor<4xf32>
// CHECK-NEXT:    %[[Y:.+]] = call @twice(%[[X]])
// CHECK-NEXT:    return %[[Y]]
// LINALG-LABEL: func.func @composite(
// LINALG:         linalg.generic
// LINALG:           arith.addf
func.func @composite(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.sharding_constraint %x <@mesh, [{"x"}]> : tensor<4xf32>
  %1 = stablehlo.composite "mine.twice" %0 {decomposition = @twice} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A factorization becomes an operator of the library.
// CHECK-LABEL: func.func @factorization(
// CHECK:         math.sqrt
// LINALG-LABEL: func.func @factorization(
// LINALG:         math.sqrt
func.func @factorization(%x: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>) {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {
    mhlo.backend_config = {uplo = 76 : ui8},
    sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], []) {i=3, j=3, k=3, l=3}, custom>
  } : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>)
  return %0#0, %0#1 : tensor<3x3xf32>, tensor<i32>
}
