// RUN: bash -c 'for p in linalg affine scf; do skript-opt %s --skript-scalarize-elementwise --skript-$p-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so || exit 1; done' | FileCheck %s
// RUN: bash -c 'for p in linalg affine scf; do skript-opt %s --skript-unroll-elementwise=shape=4 --skript-$p-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so || exit 1; done' | FileCheck %s

// What was cut into scalars or short vectors before any pipeline becomes code by each: maps of linalg, slices of vectors.

func.func private @printF32(f32)
func.func private @printNewline()

func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> attributes {no_inline} {
  %y = skript.mul %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @vectors(%x: vector<6xf32>) -> vector<6xf32> attributes {no_inline} {
  %c = arith.constant 3.0 : f32
  %y = skript.add %x, %c : vector<6xf32>, f32
  return %y : vector<6xf32>
}

// CHECK: 14916
// CHECK-NEXT: 456789
// CHECK-NEXT: 14916
// CHECK-NEXT: 456789
// CHECK-NEXT: 14916
// CHECK-NEXT: 456789
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = func.call @tensors(%x) : (tensor<4xf32>) -> tensor<4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %e = tensor.extract %y[%i] : tensor<4xf32>
    func.call @printF32(%e) : (f32) -> ()
  }
  func.call @printNewline() : () -> ()
  %v = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : vector<6xf32>
  %w = func.call @vectors(%v) : (vector<6xf32>) -> vector<6xf32>
  scf.for %i = %c0 to %c6 step %c1 {
    %e = vector.extract %w[%i] : f32 from vector<6xf32>
    func.call @printF32(%e) : (f32) -> ()
  }
  func.call @printNewline() : () -> ()
  return
}
