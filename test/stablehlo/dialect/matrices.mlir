// RUN: skript-opt %s --verify-roundtrip | FileCheck %s
// RUN: skript-opt %s --mlir-print-op-generic | skript-opt | FileCheck %s
// RUN: skript-opt %s --convert-stablehlo-to-linalg | FileCheck %s --check-prefix=LINALG

// CHECK-LABEL: func.func @cholesky
// LINALG-LABEL: func.func @cholesky
func.func @cholesky(%a: tensor<2x3x3xf32>) -> tensor<2x3x3xf32> {
  // CHECK: stablehlo.cholesky %{{.+}}, lower = true : tensor<2x3x3xf32>
  // LINALG: math.sqrt
  // LINALG-NOT: stablehlo.cholesky
  %0 = stablehlo.cholesky %a, lower = true : tensor<2x3x3xf32>
  // CHECK: stablehlo.cholesky %{{.+}} {a.b = 1 : i32} : tensor<2x3x3xf32>
  %1 = "stablehlo.cholesky"(%0) <{lower = false}> {a.b = 1 : i32} : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  return %1 : tensor<2x3x3xf32>
}

// CHECK-LABEL: func.func @triangular_solve
// LINALG-LABEL: func.func @triangular_solve
func.func @triangular_solve(%a: tensor<3x3xf64>, %b: tensor<3x2xf64>) -> tensor<3x2xf64> {
  // CHECK: "stablehlo.triangular_solve"(%{{.+}}, %{{.+}}) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  // LINALG: arith.divf
  // LINALG-NOT: stablehlo.triangular_solve
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true,
      transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}>
      : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}

// Matrices without elements have none to compute.
// LINALG-LABEL: func.func @empty
// LINALG-NOT: scf.while
func.func @empty(%a: tensor<0x0xf16>, %b: tensor<0x2xf16>) -> (tensor<0x0xf16>, tensor<0x2xf16>) {
  %0 = stablehlo.cholesky %a : tensor<0x0xf16>
  %1 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true,
      transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}>
      : (tensor<0x0xf16>, tensor<0x2xf16>) -> tensor<0x2xf16>
  return %0, %1 : tensor<0x0xf16>, tensor<0x2xf16>
}
