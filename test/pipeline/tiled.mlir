// RUN: skript-opt %s --skript-scf-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --transform-preload-library=transform-library-paths=%S/Inputs/tiles.mlir --transform-interpreter --skript-scf-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --transform-preload-library=transform-library-paths=%S/Inputs/tiles.mlir --transform-interpreter --skript-linalg-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --transform-preload-library=transform-library-paths=%S/Inputs/fused.mlir --transform-interpreter --skript-scf-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --transform-preload-library=transform-library-paths=%S/Inputs/fused.mlir --transform-interpreter --skript-linalg-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s

// Formulas compute the same in tiles, and in tiles of what reads them: y[i] += x[|i + j - 1|], z[i,j] += y[i] * w[l,j] and v[j,i] = 2 z[i,j].

func.func private @printF32(f32)
func.func private @printNewline()

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %w = arith.constant dense<[[1.0, -1.0], [0.5, 0.25], [2.0, 0.0]]> : tensor<3x2xf32>
  %y0 = tensor.splat %zero : tensor<4xf32>
  %y = skript.formula sum (%i, %j) in (4, 3) outs(%acc = %y0 : tensor<4xf32>) where {
    %p = skript.add %i, %j : index
    %q = skript.sub %p, %c1 : index
    %lo = skript.ge %q, %c0 : index
    %hi = skript.lt %q, %c4 : index
    %ok = skript.and %lo, %hi : i1
    skript.condition %ok
  } do {
    %p = skript.add %i, %j : index
    %q = skript.sub %p, %c1 : index
    %a = skript.access %x[%q] : tensor<4xf32>
    skript.yield %a at [%i] : f32
  } : tensor<4xf32>
  %z0 = tensor.splat %zero : tensor<4x2xf32>
  %z = skript.formula sum (%i, %l, %j) in (4, 3, 2) outs(%acc = %z0 : tensor<4x2xf32>) do {
    %a = skript.access %y[%i] : tensor<4xf32>
    %b = skript.access %w[%l, %j] : tensor<3x2xf32>
    %v = skript.mul %a, %b : f32
    skript.yield %v at [%i, %j] : f32
  } : tensor<4x2xf32>
  %v0 = tensor.splat %zero : tensor<2x4xf32>
  %v = skript.formula assign (%j, %i) in (2, 4) outs(%acc = %v0 : tensor<2x4xf32>) do {
    %a = skript.access %z[%i, %j] : tensor<4x2xf32>
    %b = skript.mul %a, %two : f32
    skript.yield %b at [%j, %i] : f32
  } : tensor<2x4xf32>
  // y = 3 6 9 7; the columns of w sum to 3.5 and -0.75.
  // CHECK:      21
  // CHECK-NEXT: 42
  // CHECK-NEXT: 63
  // CHECK-NEXT: 49
  // CHECK-NEXT: -4.5
  // CHECK-NEXT: -9
  // CHECK-NEXT: -13.5
  // CHECK-NEXT: -10.5
  scf.for %j = %c0 to %c2 step %c1 {
    scf.for %i = %c0 to %c4 step %c1 {
      %e = tensor.extract %v[%j, %i] : tensor<2x4xf32>
      func.call @printF32(%e) : (f32) -> ()
      func.call @printNewline() : () -> ()
    }
  }
  return
}
