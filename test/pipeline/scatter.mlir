// RUN: skript-opt %s --skript-linalg-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-scf-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s

// z[at[i]] += x[i]: linalg leaves it to loops.

func.func private @printF32(f32)
func.func private @printNewline()

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %at = arith.constant dense<[2, 0, 2, 1]> : tensor<4xi64>
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<3xf32>
  %z = skript.formula sum (%i) in (4) outs(%acc = %init : tensor<3xf32>) do {
    %n = skript.access %at[%i] : tensor<4xi64>
    %p = skript.cast %n : i64 to index
    %v = skript.access %x[%i] : tensor<4xf32>
    skript.yield %v at [%p] : f32
  } : tensor<3xf32>
  // CHECK:      2
  // CHECK-NEXT: 4
  // CHECK-NEXT: 4
  scf.for %i = %c0 to %c3 step %c1 {
    %e = tensor.extract %z[%i] : tensor<3xf32>
    func.call @printF32(%e) : (f32) -> ()
    func.call @printNewline() : () -> ()
  }
  return
}
