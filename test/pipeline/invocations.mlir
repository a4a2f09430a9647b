// RUN: skript-opt %s --skript-linalg-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-affine-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-scf-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s

// What the inliner leaves is called: an operator that is kept, and one that invokes itself.

func.func private @printF32(f32)
func.func private @printNewline()

func.func private @double_0(%x: tensor<3xf32> {bufferization.writable = false}) -> tensor<3xf32> {
  %0 = skript.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// x · 2^n
func.func private @power_0(%x: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %done = skript.eq %n, %c0 : index
  %r = scf.if %done -> f32 {
    scf.yield %x : f32
  } else {
    %less = skript.sub %n, %c1 : index
    %half = skript.invoke @power_0(%x, %less) operator "mine.power" : (f32, index) -> f32
    %twice = skript.add %half, %half : f32
    scf.yield %twice : f32
  }
  return %r : f32
}

func.func @main() {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %x = arith.constant dense<[1.0, 2.5, 3.0]> : tensor<3xf32>
  %y = skript.invoke @double_0(%x) operator "mine.double" attributes {skript.keep} : (tensor<3xf32>) -> tensor<3xf32>
  %e = skript.access %y[%c1] : tensor<3xf32>
  // CHECK: 5
  func.call @printF32(%e) : (f32) -> ()
  func.call @printNewline() : () -> ()
  %z = skript.invoke @power_0(%e, %c5) operator "mine.power" : (f32, index) -> f32
  // CHECK: 160
  func.call @printF32(%z) : (f32) -> ()
  func.call @printNewline() : () -> ()
  return
}
