// RUN: skript-opt %s --skript-fill-borders | FileCheck %s

// The interior is copied next: the fill is for a row above, one below, and a column on each side.
// CHECK-LABEL: func.func @pad
// CHECK:         memref.subview %{{.+}}[0, 0, 0] [8, 1, 34] [1, 1, 1]
// CHECK-NEXT:    linalg.fill
// CHECK-NEXT:    memref.subview %{{.+}}[0, 33, 0] [8, 1, 34] [1, 1, 1]
// CHECK-NEXT:    linalg.fill
// CHECK-NEXT:    memref.subview %{{.+}}[0, 1, 0] [8, 32, 1] [1, 1, 1]
// CHECK-NEXT:    linalg.fill
// CHECK-NEXT:    memref.subview %{{.+}}[0, 1, 33] [8, 32, 1] [1, 1, 1]
// CHECK-NEXT:    linalg.fill
// CHECK-NOT:     linalg.fill
// CHECK:         memref.copy
func.func @pad(%x: memref<8x32x32xf32>, %y: memref<8x34x34xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<8x34x34xf32>)
  %interior = memref.subview %y[0, 1, 1] [8, 32, 32] [1, 1, 1] : memref<8x34x34xf32> to memref<8x32x32xf32, strided<[1156, 34, 1], offset: 35>>
  memref.copy %x, %interior : memref<8x32x32xf32> to memref<8x32x32xf32, strided<[1156, 34, 1], offset: 35>>
  return
}
