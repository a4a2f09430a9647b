// RUN: skript-opt %s --skript-prepare-variables | FileCheck %s

// Two buffers; a call writes what its function writes. One is written in two steps, which stay in order.
// CHECK:       skript.prepared_size = 192 : i64
// CHECK-LABEL: func.func @model
// CHECK-NOT:     @copy
// CHECK-NOT:     linalg.fill
// CHECK:         linalg.matmul
// CHECK:         linalg.matmul
// CHECK-LABEL: func.func private @prepare_0
// CHECK-SAME:    skript.prepares = array<i64: 1, 3>
// CHECK:         call @copy
// CHECK-LABEL: func.func private @prepare_1
// CHECK-SAME:    skript.prepares = array<i64: 3, 1>
// CHECK:         linalg.fill
// CHECK:         memref.copy
func.func @model(%x: memref<4x4xf32>, %w: memref<4x4xf32> {skript.role = "variable"}, %y: memref<4x4xf32>) attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4x4xf32>
  func.call @copy(%w, %a) : (memref<4x4xf32>, memref<4x4xf32>) -> ()
  %b = memref.alloc() : memref<4x8xf32>
  linalg.fill ins(%zero : f32) outs(%b : memref<4x8xf32>)
  %part = memref.subview %b[0, 2] [4, 4] [1, 1] : memref<4x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 2>>
  memref.copy %w, %part : memref<4x4xf32> to memref<4x4xf32, strided<[8, 1], offset: 2>>
  linalg.matmul ins(%x, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  linalg.matmul ins(%x, %part : memref<4x4xf32>, memref<4x4xf32, strided<[8, 1], offset: 2>>) outs(%y : memref<4x4xf32>)
  return
}

func.func private @copy(%from: memref<4x4xf32>, %to: memref<4x4xf32>) {
  linalg.transpose ins(%from : memref<4x4xf32>) outs(%to : memref<4x4xf32>) permutation = [1, 0]
  return
}
