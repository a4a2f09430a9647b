// RUN: skript-opt %s --split-input-file --skript-open-arguments | FileCheck %s

// Every shape has a pointer: arrays are bytes, their shapes views of them, made where they are first needed.
// CHECK-LABEL: func.func @fixed
// CHECK-SAME:    %[[X:[^:]+]]: memref<96xi8> {llvm.noalias}
// CHECK-SAME:    %[[E:[^:]+]]: memref<1xi8>
// CHECK-SAME:    %[[N:[^:]+]]: index
// CHECK:         %[[VX:.+]] = memref.view %[[X]][%{{.+}}][] : memref<96xi8> to memref<2x3x4xf32>
// CHECK-NEXT:    memref.load %[[VX]]
// CHECK:         %[[VE:.+]] = memref.view %[[E]][%{{.+}}][] : memref<1xi8> to memref<3x0xi64>
// CHECK-NEXT:    memref.dim %[[VE]]
func.func @fixed(%x: memref<2x3x4xf32> {llvm.noalias}, %e: memref<3x0xi64>, %n: index) attributes {skript.entry} {
  %v = memref.load %x[%n, %n, %n] : memref<2x3x4xf32>
  %d = memref.dim %e, %n : memref<3x0xi64>
  return
}

// -----

// Dynamic extents are passed in a separate array, and limited by their bounds.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME:    %[[X:[^:]+]]: memref<96xi8>
// CHECK-SAME:    %[[EXTENTS:[^:]+]]: memref<2xi64>
// CHECK:         %[[LOADED:.+]] = memref.load %[[EXTENTS]][%{{.+}}] : memref<2xi64>
// CHECK:         %[[EXTENT:.+]] = arith.index_cast %[[LOADED]]
// CHECK:         %[[BOUND:.+]] = arith.constant 8 : index
// CHECK:         %[[ROWS:.+]] = arith.minui %[[EXTENT]], %[[BOUND]]
// CHECK:         memref.view %[[X]][%{{.+}}][%[[ROWS]]] : memref<96xi8> to memref<?x3xf32>
func.func @dynamic(%x: memref<?x3xf32> {skript.bounds = array<i64: 8, 3>}, %extents: memref<2xi64> {skript.extents = 0 : i64})
    attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %d = memref.dim %x, %c0 : memref<?x3xf32>
  return
}
