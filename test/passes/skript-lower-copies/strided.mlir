// RUN: skript-opt %s --skript-lower-copies | FileCheck %s

// CHECK-LABEL: func.func @copies
// CHECK-SAME:    %[[X:[^:]+]]: memref<2x4xf32>, %[[Y:[^:]+]]: memref<2x4xf32>, %[[Z:[^:]+]]: memref<4x8xf32>
// A contiguous copy stays.
// CHECK:         memref.copy %[[X]], %[[Y]]
// CHECK:         %[[V:.+]] = memref.subview %[[Z]]
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : memref<2x4xf32>) outs(%[[V]] :
// CHECK-NOT:     memref.copy
func.func @copies(%x: memref<2x4xf32>, %y: memref<2x4xf32>, %z: memref<4x8xf32>) {
  memref.copy %x, %y : memref<2x4xf32> to memref<2x4xf32>
  %v = memref.subview %z[1, 1] [2, 4] [1, 1] : memref<4x8xf32> to memref<2x4xf32, strided<[8, 1], offset: 9>>
  memref.copy %x, %v : memref<2x4xf32> to memref<2x4xf32, strided<[8, 1], offset: 9>>
  return
}
