// RUN: skript-opt %s --skript-write-parts | FileCheck %s
// RUN: skript-opt %s --skript-write-parts --eliminate-empty-tensors --one-shot-bufferize='bufferize-function-boundaries' --canonicalize --cse | FileCheck %s --check-prefix=BUFFERS

#id = affine_map<(d0, d1) -> (d0, d1)>

// The first tensor is a part of the second one, which is a part of the third.
// CHECK-LABEL: func.func @chain
// CHECK:         %[[B:.+]] = memref.alloc() {alignment = 64 : i64} : memref<4x8xf32>
// CHECK-NEXT:    %[[M:.+]] = memref.subview %[[B]][0, 0] [4, 6] [1, 1]
// CHECK-NEXT:    %[[S:.+]] = memref.subview %[[M]][0, 2] [4, 4] [1, 1]
// CHECK-NEXT:    %[[T1:.+]] = bufferization.to_tensor %[[S]] restrict writable
// CHECK-NEXT:    %[[T2:.+]] = bufferization.to_tensor %[[M]] restrict writable
// CHECK-NEXT:    %[[T3:.+]] = bufferization.to_tensor %[[B]] restrict writable
// CHECK:         tensor.insert_slice %arg0 into %[[T1]][0, 0]
// CHECK:         tensor.insert_slice %{{.+}} into %[[T2]][0, 2]
// CHECK:         tensor.insert_slice %{{.+}} into %[[T3]][0, 0]
// Each part is copied once, and the longer tensors are not.
// BUFFERS-LABEL: func.func @chain
// BUFFERS-COUNT-4: memref.copy %arg
// BUFFERS:         return
func.func @chain(%a: tensor<4x2xf32>, %b: tensor<4x2xf32>) -> f32 {
  %i = arith.constant 0 : index
  %e1 = tensor.empty() : tensor<4x4xf32>
  %e2 = tensor.empty() : tensor<4x6xf32>
  %e3 = tensor.empty() : tensor<4x8xf32>
  %0 = tensor.insert_slice %a into %e1[0, 0] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x4xf32>
  %1 = tensor.insert_slice %b into %0[0, 2] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x4xf32>
  %2 = tensor.insert_slice %1 into %e2[0, 2] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x6xf32>
  %3 = tensor.insert_slice %a into %2[0, 0] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x6xf32>
  %4 = tensor.insert_slice %3 into %e3[0, 0] [4, 6] [1, 1] : tensor<4x6xf32> into tensor<4x8xf32>
  %5 = tensor.insert_slice %b into %4[0, 6] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x8xf32>
  %6 = tensor.extract %5[%i, %i] : tensor<4x8xf32>
  return %6 : f32
}

// The tensor is read after the insertion, so that it keeps its own memory.
// CHECK-LABEL: func.func @read_later
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func @read_later(%a: tensor<4x2xf32>, %b: tensor<4x2xf32>) -> (f32, f32) {
  %i = arith.constant 0 : index
  %e1 = tensor.empty() : tensor<4x4xf32>
  %e2 = tensor.empty() : tensor<4x6xf32>
  %0 = tensor.insert_slice %a into %e1[0, 0] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x4xf32>
  %1 = tensor.insert_slice %b into %0[0, 2] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x4xf32>
  %2 = tensor.insert_slice %1 into %e2[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x6xf32>
  %3 = tensor.insert_slice %a into %2[0, 4] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x6xf32>
  %4 = tensor.extract %3[%i, %i] : tensor<4x6xf32>
  %5 = tensor.extract %1[%i, %i] : tensor<4x4xf32>
  return %4, %5 : f32, f32
}

// A later part overwrites elements of the tensor.
// CHECK-LABEL: func.func @overlap
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func @overlap(%a: tensor<4x2xf32>, %b: tensor<4x2xf32>) -> f32 {
  %i = arith.constant 0 : index
  %e1 = tensor.empty() : tensor<4x4xf32>
  %e2 = tensor.empty() : tensor<4x6xf32>
  %0 = tensor.insert_slice %a into %e1[0, 0] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x4xf32>
  %1 = tensor.insert_slice %b into %0[0, 2] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x4xf32>
  %2 = tensor.insert_slice %1 into %e2[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x6xf32>
  %3 = tensor.insert_slice %a into %2[0, 3] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x6xf32>
  %4 = tensor.extract %3[%i, %i] : tensor<4x6xf32>
  return %4 : f32
}

// Two tensors begin with one state, as after cse: both may be in its memory.
// CHECK-LABEL: func.func @shared_state
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func @shared_state(%a: tensor<4x2xf32>, %b: tensor<4x2xf32>) -> (f32, f32) {
  %i = arith.constant 0 : index
  %e1 = tensor.empty() : tensor<4x4xf32>
  %e2 = tensor.empty() : tensor<4x6xf32>
  %0 = tensor.insert_slice %a into %e1[0, 0] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x4xf32>
  %1 = tensor.insert_slice %b into %0[0, 2] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x4xf32>
  %2 = tensor.insert_slice %1 into %e2[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x6xf32>
  %3 = tensor.insert_slice %a into %2[0, 4] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x6xf32>
  %4 = tensor.insert_slice %a into %0[0, 2] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x4xf32>
  %5 = tensor.extract %3[%i, %i] : tensor<4x6xf32>
  %6 = tensor.extract %4[%i, %i] : tensor<4x4xf32>
  return %5, %6 : f32, f32
}

// CHECK-LABEL: func.func @shared_outer_state
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func @shared_outer_state(%a: tensor<4x2xf32>, %b: tensor<4x2xf32>, %d: tensor<4x4xf32>) -> (f32, f32) {
  %i = arith.constant 0 : index
  %e1 = tensor.empty() : tensor<4x4xf32>
  %e2 = tensor.empty() : tensor<4x6xf32>
  %0 = tensor.insert_slice %a into %e1[0, 0] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x4xf32>
  %1 = tensor.insert_slice %b into %0[0, 2] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x4xf32>
  %2 = tensor.insert_slice %a into %e2[0, 0] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x6xf32>
  %3 = tensor.insert_slice %d into %2[0, 2] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x6xf32>
  %4 = tensor.insert_slice %1 into %2[0, 2] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x6xf32>
  %5 = tensor.extract %3[%i, %i] : tensor<4x6xf32>
  %6 = tensor.extract %4[%i, %i] : tensor<4x6xf32>
  return %5, %6 : f32, f32
}

// What comes from elsewhere is written already; extents at run time stay.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func @others(%x: tensor<4x4xf32>, %a: tensor<4x2xf32>, %n: index) -> (f32, f32) {
  %i = arith.constant 0 : index
  %e1 = tensor.empty(%n) : tensor<?x4xf32>
  %e2 = tensor.empty(%n) : tensor<?x6xf32>
  %0 = tensor.insert_slice %a into %x[0, 0] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x4xf32>
  %1 = tensor.insert_slice %0 into %e1[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<?x4xf32>
  %2 = tensor.insert_slice %1 into %e2[0, 0] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x6xf32>
  %3 = tensor.extract %1[%i, %i] : tensor<?x4xf32>
  %4 = tensor.extract %2[%i, %i] : tensor<?x6xf32>
  return %3, %4 : f32, f32
}
