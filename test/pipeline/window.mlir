// RUN: skript-opt %s --skript-linalg-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-affine-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-scf-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s

// y[i] += x[|i + j - 1|] * w[j] over x = 1 2 3 4: each way computes the same, by hand 1·w1 + 2·w2 and so on.

func.func private @printF32(f32)
func.func private @printNewline()

func.func private @smooth(%x: tensor<4xf32>, %w: tensor<3xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<4xf32>
  %y = skript.formula sum (%i, %j) in (4, 3) outs(%acc = %init : tensor<4xf32>) where {
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
    %b = skript.access %w[%j] : tensor<3xf32>
    %v = skript.mul %a, %b : f32
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func private @print(%y: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %e = tensor.extract %y[%i] : tensor<4xf32>
    func.call @printF32(%e) : (f32) -> ()
    func.call @printNewline() : () -> ()
  }
  return
}

func.func @main() {
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  // CHECK:      21
  // CHECK-NEXT: 132
  // CHECK-NEXT: 243
  // CHECK-NEXT: 304
  %w = arith.constant dense<[100.0, 1.0, 10.0]> : tensor<3xf32>
  %y = skript.invoke @smooth(%x, %w) operator "smooth" : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  func.call @print(%y) : (tensor<4xf32>) -> ()
  // A skipped point contributes nothing, even where the other factor is infinite.
  // CHECK-NEXT: 21
  // CHECK-NEXT: inf
  %v = arith.constant dense<[0x7F800000, 1.0, 10.0]> : tensor<3xf32>
  %z = skript.invoke @smooth(%x, %v) operator "smooth" : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  func.call @print(%z) : (tensor<4xf32>) -> ()
  return
}
