// RUN: skript-opt %s --skript-linalg-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-affine-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-scf-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s

// Loops hand their state to what is invoked: to an operator that is kept by hand, whose function says nothing of its arguments,
// and to one that invokes itself. Neither writes what it is handed.

func.func private @printF32(f32)
func.func private @printNewline()

// Twice the first element, written into the tensor that comes in.
func.func private @double_0(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %v = tensor.extract %x[%c0] : tensor<2xf32>
  %w = skript.add %v, %v : f32
  %y = tensor.insert %w into %x[%c0] : tensor<2xf32>
  return %y : tensor<2xf32>
}

// One more at each of the 2^n leaves.
func.func private @count_0(%x: tensor<2xf32>, %n: index) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f32
  %leaf = skript.eq %n, %c0 : index
  %y = scf.if %leaf -> tensor<2xf32> {
    %v = tensor.extract %x[%c0] : tensor<2xf32>
    %w = skript.add %v, %one : f32
    %r = tensor.insert %w into %x[%c0] : tensor<2xf32>
    scf.yield %r : tensor<2xf32>
  } else {
    %less = skript.sub %n, %c1 : index
    %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %x) -> tensor<2xf32> {
      %t = skript.invoke @count_0(%s, %less) operator "mine.count" : (tensor<2xf32>, index) -> tensor<2xf32>
      scf.yield %t : tensor<2xf32>
    }
    scf.yield %r : tensor<2xf32>
  }
  return %y : tensor<2xf32>
}

func.func @first(%x: tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %v = tensor.extract %x[%c0] : tensor<2xf32>
  func.call @printF32(%v) : (f32) -> ()
  func.call @printNewline() : () -> ()
  return
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %three = arith.constant 3.0 : f32
  %x = tensor.splat %three : tensor<2xf32>
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x) -> tensor<2xf32> {
    %t = skript.invoke @double_0(%s) operator "mine.double" attributes {skript.keep} : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %t : tensor<2xf32>
  }
  %z = skript.invoke @count_0(%y, %c3) operator "mine.count" : (tensor<2xf32>, index) -> tensor<2xf32>
  // CHECK: 3
  func.call @first(%x) : (tensor<2xf32>) -> ()
  // CHECK-NEXT: 24
  func.call @first(%y) : (tensor<2xf32>) -> ()
  // CHECK-NEXT: 32
  func.call @first(%z) : (tensor<2xf32>) -> ()
  return
}
