// The positions of 256 elements are computed before the elements change.
// RUN: skript-opt %s --skript-block-scatters | FileCheck %s

// CHECK-LABEL: func.func @histogram
// CHECK-SAME:    %[[X:[^:]+]]: memref<4x1000xf32>, %[[COUNTS:[^:]+]]: memref<16x16xi64>
// CHECK-DAG:     %[[A:.+]] = memref.alloca() {{.*}}: memref<256xindex>
// CHECK-DAG:     %[[B:.+]] = memref.alloca() {{.*}}: memref<256xindex>
// CHECK:         scf.for %[[R:.+]] = %{{.+}} to
// CHECK-NEXT:      %[[SIZE:.+]] = arith.constant 256
// CHECK:           scf.for %[[FIRST:.+]] = %c0 to %c1000 step %[[SIZE]]
// CHECK:             %[[COUNT:.+]] = arith.minsi
// CHECK:             scf.for %[[N:.+]] = %{{.+}} to %[[COUNT]]
// CHECK:               arith.fptosi
// CHECK-NOT:           memref.load %[[COUNTS]]
// CHECK:               memref.store %{{.+}}, %[[A]][%[[N]]]
// CHECK:               memref.store %{{.+}}, %[[B]][%[[N]]]
// CHECK:             scf.for %[[M:.+]] = %{{.+}} to %[[COUNT]]
// CHECK-DAG:           %[[ROW:.+]] = memref.load %[[A]][%[[M]]]
// CHECK-DAG:           %[[COLUMN:.+]] = memref.load %[[B]][%[[M]]]
// CHECK-NOT:           arith.fptosi
// CHECK:               memref.load %[[COUNTS]][%[[ROW]], %[[COLUMN]]]
// CHECK:               memref.store %{{.+}}, %[[COUNTS]][%[[ROW]], %[[COLUMN]]]
func.func @histogram(%x: memref<4x1000xf32>, %counts: memref<16x16xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c15 = arith.constant 15 : index
  %c1000 = arith.constant 1000 : index
  %one = arith.constant 1 : i64
  %bins = arith.constant 16.0 : f32
  scf.for %r = %c0 to %c4 step %c1 {
    scf.for %i = %c0 to %c1000 step %c1 {
      %v = memref.load %x[%r, %i] : memref<4x1000xf32>
      %scaled = arith.mulf %v, %bins : f32
      %n = arith.fptosi %scaled : f32 to i64
      %at = arith.index_cast %n : i64 to index
      %low = arith.maxsi %at, %c0 : index
      %bin = arith.minsi %low, %c15 : index
      %other = arith.subi %c15, %bin : index
      %old = memref.load %counts[%bin, %other] : memref<16x16xi64>
      %new = arith.addi %old, %one : i64
      memref.store %new, %counts[%bin, %other] : memref<16x16xi64>
    }
  }
  return
}
