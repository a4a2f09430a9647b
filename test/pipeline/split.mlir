// RUN: skript-opt %s --skript-linalg-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-split-guards=interior=0 --skript-linalg-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-split-guards=interior=0 --skript-scf-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s

// Borders and interior together are the whole: y[i,j] += x[|i + u - 1|, |j + v - 1|] over x = 1 … 16, a box of three.

func.func private @printF32(f32)
func.func private @printNewline()

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %x = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0], [13.0, 14.0, 15.0, 16.0]]>
    : tensor<4x4xf32>
  %w = tensor.splat %one : tensor<3x3xf32>
  %init = tensor.splat %zero : tensor<4x4xf32>
  %y = skript.formula sum (%i, %j, %u, %v) in (4, 4, 3, 3) outs(%acc = %init : tensor<4x4xf32>) where {
    %p = skript.add %i, %u : index
    %q = skript.sub %p, %c1 : index
    %r = skript.add %j, %v : index
    %s = skript.sub %r, %c1 : index
    %a = skript.ge %q, %c0 : index
    %b = skript.lt %q, %c4 : index
    %c = skript.ge %s, %c0 : index
    %d = skript.lt %s, %c4 : index
    %e = skript.and %a, %b : i1
    %f = skript.and %c, %d : i1
    %g = skript.and %e, %f : i1
    skript.condition %g
  } do {
    %p = skript.add %i, %u : index
    %q = skript.sub %p, %c1 : index
    %r = skript.add %j, %v : index
    %s = skript.sub %r, %c1 : index
    %a = skript.access %x[%q, %s] : tensor<4x4xf32>
    %b = skript.access %w[%u, %v] : tensor<3x3xf32>
    %e = skript.mul %a, %b : f32
    skript.yield %e at [%i, %j] : f32
  } : tensor<4x4xf32>
  // CHECK:      14
  // CHECK-NEXT: 24
  // CHECK-NEXT: 30
  // CHECK-NEXT: 22
  // CHECK-NEXT: 33
  // CHECK-NEXT: 54
  // CHECK-NEXT: 63
  // CHECK-NEXT: 45
  // CHECK-NEXT: 57
  // CHECK-NEXT: 90
  // CHECK-NEXT: 99
  // CHECK-NEXT: 69
  // CHECK-NEXT: 46
  // CHECK-NEXT: 72
  // CHECK-NEXT: 78
  // CHECK-NEXT: 54
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %e = tensor.extract %y[%i, %j] : tensor<4x4xf32>
      func.call @printF32(%e) : (f32) -> ()
      func.call @printNewline() : () -> ()
    }
  }
  return
}
