// RUN: skript-opt %s --pass-pipeline="builtin.module(convert-skript-formula-to-scf{parallel=true},convert-skript-scalar-to-arith,canonicalize,cse,skript-bufferize,lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-to-llvm,reconcile-unrealized-casts)" | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-scf-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s

// Rows of x, from back to front, added to the rows that data choose, then windows that meet: with columns and positions of one
// offset at the same time as in order.

func.func private @printF32(f32)
func.func private @printNewline()

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %at = arith.constant dense<[1, 0, 1]> : tensor<3xi64>
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<2x2xf32>
  %z = skript.formula sum (%i, %j) in (3, 2) outs(%acc = %init : tensor<2x2xf32>) do {
    %n = skript.access %at[%i] : tensor<3xi64>
    %p = skript.cast %n : i64 to index
    %q = skript.sub %c1, %j : index
    %v = skript.access %x[%i, %j] : tensor<3x2xf32>
    skript.yield %v at [%p, %q] : f32
  } : tensor<2x2xf32>
  %long = tensor.splat %zero : tensor<7xf32>
  %w = skript.formula sum (%i, %j, %k) in (3, 2, 3) outs(%acc = %long : tensor<7xf32>) do {
    %s = skript.mul %i, %c2 : index
    %p = skript.add %s, %k : index
    %v = skript.access %x[%i, %j] : tensor<3x2xf32>
    skript.yield %v at [%p] : f32
  } : tensor<7xf32>
  // CHECK:      4
  // CHECK-NEXT: 3
  // CHECK-NEXT: 8
  // CHECK-NEXT: 6
  scf.for %i = %c0 to %c2 step %c1 {
    scf.for %j = %c0 to %c2 step %c1 {
      %e = tensor.extract %z[%i, %j] : tensor<2x2xf32>
      func.call @printF32(%e) : (f32) -> ()
      func.call @printNewline() : () -> ()
    }
  }
  // CHECK-NEXT: 3
  // CHECK-NEXT: 3
  // CHECK-NEXT: 10
  // CHECK-NEXT: 7
  // CHECK-NEXT: 18
  // CHECK-NEXT: 11
  // CHECK-NEXT: 11
  scf.for %i = %c0 to %c7 step %c1 {
    %e = tensor.extract %w[%i] : tensor<7xf32>
    func.call @printF32(%e) : (f32) -> ()
    func.call @printNewline() : () -> ()
  }
  return
}
