// RUN: skript-opt %s --skript-check-extents --skript-linalg-to-llvm -o %t
// RUN: mlir-runner %t -e agree --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: not --crash stdbuf -o0 mlir-runner %t -e differ --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so 2>&1 | FileCheck %s --check-prefix=DIFFER
// RUN: skript-opt %s --skript-check-extents --skript-scf-to-llvm -o %t
// RUN: mlir-runner %t -e agree --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: not --crash stdbuf -o0 mlir-runner %t -e differ --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so 2>&1 | FileCheck %s --check-prefix=DIFFER

// Extents of tensors that are added are undefined behaviour where they differ; a check that is asked for stops the program.

func.func private @printF32(f32)
func.func private @printNewline()

func.func private @sum(%n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %x = tensor.splat %one[%n] : tensor<?xf32>
  %y = tensor.splat %one[%m] : tensor<?xf32>
  %z = skript.add %x, %y : tensor<?xf32>
  %e = tensor.extract %z[%c0] : tensor<?xf32>
  func.call @printF32(%e) : (f32) -> ()
  func.call @printNewline() : () -> ()
  return
}

// CHECK: 2
func.func @agree() {
  %n = arith.constant 3 : index
  func.call @sum(%n, %n) : (index, index) -> ()
  return
}

// DIFFER-NOT: 2
// DIFFER:     operands of 'skript.add' differ in dimension 0
func.func @differ() {
  %n = arith.constant 3 : index
  %m = arith.constant 2 : index
  func.call @sum(%n, %m) : (index, index) -> ()
  return
}
