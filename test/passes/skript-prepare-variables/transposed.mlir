// RUN: skript-opt %s --skript-prepare-variables | FileCheck %s

// The transposed weights depend on a variable alone: the entry reads them from an array that `prepare_0` fills.
// CHECK:       module attributes {skript.prepared_arguments = array<i64: 1>, skript.prepared_size = 64 : i64}
// CHECK-LABEL: func.func @model
// CHECK-SAME:    %[[W:arg1]]: memref<4x4xf32> {{{.*}}}, %[[Y:arg2]]: memref<4xf32>, %[[ARRAY:arg3]]: memref<64xi8>
// CHECK:         %[[VIEW:.+]] = memref.view %[[ARRAY]][%{{.+}}][] : memref<64xi8> to memref<4x4xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.vecmat ins(%arg0, %[[VIEW]]
// CHECK:       func.func private @prepare_0(%[[W:.+]]: memref<4x4xf32>, %[[ARRAY:.+]]: memref<64xi8>
// CHECK-SAME:    skript.prepares = array<i64: 1, 3>
// CHECK:         %[[VIEW:.+]] = memref.view %[[ARRAY]]
// CHECK:         linalg.transpose ins(%[[W]] : memref<4x4xf32>) outs(%[[VIEW]]
func.func @model(%x: memref<4xf32> {skript.role = "input"}, %w: memref<4x4xf32> {skript.role = "variable"}, %y: memref<4xf32>) attributes {skript.entry} {
  %t = memref.alloc() : memref<4x4xf32>
  linalg.transpose ins(%w : memref<4x4xf32>) outs(%t : memref<4x4xf32>) permutation = [1, 0]
  linalg.vecmat ins(%x, %t : memref<4xf32>, memref<4x4xf32>) outs(%y : memref<4xf32>)
  memref.dealloc %t : memref<4x4xf32>
  return
}
