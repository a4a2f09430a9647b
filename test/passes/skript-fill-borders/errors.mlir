// RUN: skript-opt %s --skript-fill-borders | FileCheck %s

// The interior is read before it is written: the whole array is filled.
// CHECK-LABEL: func.func @read
// CHECK:         linalg.fill ins(%{{.+}} : f32) outs(%arg1 : memref<8x34x34xf32>)
// CHECK-NOT:     linalg.fill
// CHECK:         return
func.func @read(%x: memref<8x32x32xf32>, %y: memref<8x34x34xf32>, %z: memref<8x34x34xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<8x34x34xf32>)
  memref.copy %y, %z : memref<8x34x34xf32> to memref<8x34x34xf32>
  %interior = memref.subview %y[0, 1, 1] [8, 32, 32] [1, 1, 1] : memref<8x34x34xf32> to memref<8x32x32xf32, strided<[1156, 34, 1], offset: 35>>
  memref.copy %x, %interior : memref<8x32x32xf32> to memref<8x32x32xf32, strided<[1156, 34, 1], offset: 35>>
  return
}

// Each second element of the interior is written.
// CHECK-LABEL: func.func @strided
// CHECK:         linalg.fill ins(%{{.+}} : f32) outs(%arg1 : memref<8x34x34xf32>)
// CHECK-NOT:     linalg.fill
// CHECK:         return
func.func @strided(%x: memref<8x16x16xf32>, %y: memref<8x34x34xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<8x34x34xf32>)
  %interior = memref.subview %y[0, 1, 1] [8, 16, 16] [1, 2, 2] : memref<8x34x34xf32> to memref<8x16x16xf32, strided<[1156, 68, 2], offset: 35>>
  memref.copy %x, %interior : memref<8x16x16xf32> to memref<8x16x16xf32, strided<[1156, 68, 2], offset: 35>>
  return
}
