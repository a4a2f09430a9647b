// RUN: skript-opt %s --skript-linalg-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-affine-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-scf-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s

// The least of x[|i + j - 1|] and the greatest of its negation over x = 5 6 7 8, in 32 bits: what skipped points count as is the
// greatest and the least int of that width.

func.func private @printI64(i64)
func.func private @printNewline()
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %x = arith.constant dense<[5, 6, 7, 8]> : tensor<4xi32>
  %big = arith.constant 100 : i32
  %small = arith.constant -100 : i32
  %highest = tensor.splat %big : tensor<4xi32>
  %lowest = tensor.splat %small : tensor<4xi32>
  %y = skript.formula min (%i, %j) in (4, 3) outs(%acc = %highest : tensor<4xi32>) where {
    %p = skript.add %i, %j : index
    %q = skript.sub %p, %c1 : index
    %a = skript.ge %q, %c0 : index
    %b = skript.lt %q, %c4 : index
    %g = skript.and %a, %b : i1
    skript.condition %g
  } do {
    %p = skript.add %i, %j : index
    %q = skript.sub %p, %c1 : index
    %a = skript.access %x[%q] : tensor<4xi32>
    skript.yield %a at [%i] : i32
  } : tensor<4xi32>
  %z = skript.formula max (%i, %j) in (4, 3) outs(%acc = %lowest : tensor<4xi32>) where {
    %p = skript.add %i, %j : index
    %q = skript.sub %p, %c1 : index
    %a = skript.ge %q, %c0 : index
    %b = skript.lt %q, %c4 : index
    %g = skript.and %a, %b : i1
    skript.condition %g
  } do {
    %p = skript.add %i, %j : index
    %q = skript.sub %p, %c1 : index
    %a = skript.access %x[%q] : tensor<4xi32>
    %n = skript.neg %a : i32
    skript.yield %n at [%i] : i32
  } : tensor<4xi32>
  // CHECK:      5
  // CHECK-NEXT: -5
  // CHECK-NEXT: 5
  // CHECK-NEXT: -5
  // CHECK-NEXT: 6
  // CHECK-NEXT: -6
  // CHECK-NEXT: 7
  // CHECK-NEXT: -7
  scf.for %i = %c0 to %c4 step %c1 {
    %e = tensor.extract %y[%i] : tensor<4xi32>
    %u = arith.extsi %e : i32 to i64
    func.call @printI64(%u) : (i64) -> ()
    func.call @printNewline() : () -> ()
    %f = tensor.extract %z[%i] : tensor<4xi32>
    %v = arith.extsi %f : i32 to i64
    func.call @printI64(%v) : (i64) -> ()
    func.call @printNewline() : () -> ()
  }
  return
}
