// Four rows of a recurrence are computed at once, each one element behind the row before it.
// RUN: skript-opt %s --skript-skew-loops --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @distance
// CHECK-SAME:    %[[X:[^:]+]]: memref<34x34xf32>, %[[D:[^:]+]]: memref<35x35xf32>
// CHECK:         scf.for %[[I:.+]] = %c0 to %c32 step %c4 {
//                  The first steps compute fewer rows.
// CHECK:           scf.for %[[T:.+]] = %c0 to %c3 step %c1 {
// CHECK:             scf.for
// CHECK:               memref.store %{{.+}}, %[[D]]
//                  The elements of the last two steps are carried, except the one before the last of the last row.
// CHECK:           %{{.+}}:7 = scf.for %[[T:.+]] = %c3 to %c34 step %c1 iter_args(
//                    The first row reads two elements above it, the others none.
// CHECK-COUNT-1:     memref.load %[[X]]
// CHECK-COUNT-2:     memref.load %[[D]]
// CHECK:             memref.store %[[V0:.+]], %[[D]]
// CHECK-NOT:         memref.load %[[D]]
// CHECK:             memref.store %[[V1:.+]], %[[D]]
// CHECK-NOT:         memref.load %[[D]]
// CHECK:             memref.store %[[V2:.+]], %[[D]]
// CHECK-NOT:         memref.load %[[D]]
// CHECK:             memref.store %[[V3:.+]], %[[D]]
// CHECK:             scf.yield %[[V0]], %{{.+}}, %[[V1]], %{{.+}}, %[[V2]], %{{.+}}, %[[V3]]
//                  The last steps.
// CHECK:           scf.for %[[T:.+]] = %c34 to %c37 step %c1 {
// CHECK:             scf.for
//                The last two rows.
// CHECK:         scf.for %{{.+}} = %c32 to %c34 step %c1 {
// CHECK:           scf.for %{{.+}} = %c0 to %c34 step %c1 {
func.func @distance(%x: memref<34x34xf32>, %d: memref<35x35xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 34 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %i1 = arith.addi %i, %c1 : index
      %j1 = arith.addi %j, %c1 : index
      %a = memref.load %x[%i, %j] : memref<34x34xf32>
      %corner = memref.load %d[%i, %j] : memref<35x35xf32>
      %above = memref.load %d[%i, %j1] : memref<35x35xf32>
      %left = memref.load %d[%i1, %j] : memref<35x35xf32>
      %0 = arith.minimumf %corner, %above : f32
      %1 = arith.minimumf %0, %left : f32
      %2 = arith.addf %a, %1 : f32
      memref.store %2, %d[%i1, %j1] : memref<35x35xf32>
    }
  }
  return
}
