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

// A block is written past the cache by whole lines. The elements before the first one and after the last one are written by masked
// stores: another block has others of their lines.
// CHECK-LABEL: func.func @stream
// CHECK-SAME:    %[[X:[^:]+]]: memref<1x250xf32>, %[[Y:[^:]+]]: memref<250xf32, strided<[1], offset: ?>>
// CHECK:         %[[FLAT:.+]] = memref.collapse_shape %[[X]]
// CHECK:         %[[Z:.+]] = memref.collapse_shape
// CHECK:         memref.extract_aligned_pointer_as_index %[[Z]]
// CHECK:         vector.maskedstore %[[Z]]
// CHECK:         scf.for
// CHECK:           %[[LINE:.+]] = vector.load %[[FLAT]]
// CHECK:           vector.store %[[LINE]], %[[Z]][%{{.+}}] {alignment = 64 : i64, nontemporal = true}
// CHECK:         vector.maskedstore %[[Z]]
// CHECK-NOT:     memref.copy
func.func @stream(%x: memref<1x250xf32>, %y: memref<250xf32, strided<[1], offset: ?>>) {
  %v = memref.expand_shape %y [[0, 1]] output_shape [1, 250] : memref<250xf32, strided<[1], offset: ?>> into memref<1x250xf32, strided<[250, 1], offset: ?>>
  memref.copy %x, %v {skript.stream} : memref<1x250xf32> to memref<1x250xf32, strided<[250, 1], offset: ?>>
  return
}

// Narrow elements have loops instead of masks; copies with gaps are ordinary ones.
// CHECK-LABEL: func.func @narrow
// CHECK-COUNT-3: scf.for
// CHECK:         linalg.generic
func.func @narrow(%x: memref<512xi8>, %y: memref<512xi8>, %a: memref<4x4xf32>, %b: memref<4x8xf32>) {
  memref.copy %x, %y {skript.stream} : memref<512xi8> to memref<512xi8>
  %v = memref.subview %b[0, 0] [4, 4] [1, 1] : memref<4x8xf32> to memref<4x4xf32, strided<[8, 1]>>
  memref.copy %a, %v {skript.stream} : memref<4x4xf32> to memref<4x4xf32, strided<[8, 1]>>
  return
}
