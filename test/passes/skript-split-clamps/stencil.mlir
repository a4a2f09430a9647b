// RUN: skript-opt %s --skript-split-clamps | FileCheck %s
// RUN: skript-opt %s --skript-split-clamps --skript-split-clamps | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>

// The last element is repeated at the end of rows: 15 vectors of columns read the neighbour, and the last 16 columns have the clamp.
// CHECK-LABEL: func.func @right
// CHECK:         %[[IN:.+]] = memref.subview %arg0[0, 0] [8, 240] [1, 1]
// CHECK:         %[[OUT:.+]] = memref.subview %arg1[0, 0] [8, 240] [1, 1]
// CHECK:         linalg.generic {{.*}} ins(%[[IN]] : {{.*}}) outs(%[[OUT]] :
// CHECK:           %[[I:.+]] = linalg.index 0
// CHECK:           %[[J:.+]] = linalg.index 1
// CHECK-NEXT:      %[[NEXT:.+]] = arith.addi %[[J]], %c1
// CHECK-NEXT:      memref.load %arg0[%[[I]], %[[NEXT]]]
// CHECK:         memref.subview %arg0[0, 240] [8, 16] [1, 1]
// CHECK:         linalg.generic
// CHECK:           %[[J:.+]] = linalg.index 1
// CHECK:           %[[COLUMN:.+]] = arith.addi %[[J]], %c240
// CHECK:           %[[NEXT:.+]] = arith.addi %[[COLUMN]], %c1
// CHECK:           arith.minsi %[[NEXT]], %c255
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @right(%x: memref<8x256xf32>, %y: memref<8x256xf32>) {
  %c1 = arith.constant 1 : index
  %c255 = arith.constant 255 : index
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x256xf32>) outs(%y : memref<8x256xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %next = arith.addi %j, %c1 : index
    %last = arith.minsi %next, %c255 : index
    %v = memref.load %x[%i, %last] : memref<8x256xf32>
    %d = arith.subf %v, %in : f32
    linalg.yield %d : f32
  }
  return
}

// Both neighbours of a periodic row, and a selection by a comparison of columns.
// CHECK-LABEL: func.func @periodic
// CHECK:         linalg.generic
// CHECK:           arith.remsi
// CHECK:         memref.subview %arg1[0, 16] [8, 68] [1, 1]
// CHECK:         linalg.generic
// CHECK:           %[[J:.+]] = linalg.index 1
// CHECK:           %[[COLUMN:.+]] = arith.addi %[[J]], %c16
// CHECK:           %[[RIGHT:.+]] = arith.addi %[[COLUMN]], %c1
// CHECK:           %[[SUM:.+]] = arith.addi %[[COLUMN]], %c99
// CHECK:           %[[LEFT:.+]] = arith.subi %[[SUM]], %c100
// CHECK:           %[[V:.+]] = memref.load %arg0[%{{.+}}, %[[RIGHT]]]
// CHECK:           %[[U:.+]] = memref.load %arg0[%{{.+}}, %[[LEFT]]]
// CHECK-NEXT:      arith.subf %[[V]], %[[U]]
// CHECK-NEXT:      linalg.yield
// CHECK:         memref.subview %arg1[0, 84] [8, 16] [1, 1]
// CHECK:         linalg.generic
// CHECK:           arith.remsi
func.func @periodic(%x: memref<8x100xf32>, %y: memref<8x100xf32>) {
  %c1 = arith.constant 1 : index
  %c99 = arith.constant 99 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%y : memref<8x100xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %next = arith.addi %j, %c1 : index
    %right = arith.remsi %next, %c100 : index
    %before = arith.addi %j, %c99 : index
    %left = arith.remsi %before, %c100 : index
    %v = memref.load %x[%i, %right] : memref<8x100xf32>
    %is_first = arith.cmpi sgt, %j, %c1 : index
    %w = arith.select %is_first, %v, %zero : f32
    %u = memref.load %x[%i, %left] : memref<8x100xf32>
    %d = arith.subf %w, %u : f32
    linalg.yield %d : f32
  }
  return
}
