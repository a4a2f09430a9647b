// In the relaxation of shortest paths, the iterations j of a row depend on each other through `d[i, k]` only, which iteration k writes.
// RUN: skript-opt %s --split-input-file --skript-split-dependences | FileCheck %s

// CHECK-LABEL: func.func @paths
// CHECK-SAME:    %[[D:.+]]: memref<64x64xf32>
// CHECK-DAG:     %[[ZERO:.+]] = arith.constant 0 : index
// CHECK-DAG:     %[[END:.+]] = arith.constant 64 : index
// CHECK:         scf.for %[[K:.+]] = %[[ZERO]] to %[[END]]
// CHECK:           scf.for %[[I:.+]] = %[[ZERO]] to %[[END]]
// CHECK:             %[[LOW:.+]] = arith.maxsi %[[K]], %[[ZERO]]
// CHECK:             %[[CUT:.+]] = arith.minsi %[[LOW]], %[[END]]
// CHECK:             %[[DISTANCE:.+]] = arith.subi %[[CUT]], %[[ZERO]]
// CHECK:             %[[REST:.+]] = arith.remui %[[DISTANCE]], %{{.+}}
// CHECK:             %[[FROM:.+]] = arith.subi %[[CUT]], %[[REST]]
// CHECK:             %[[FIXED:.+]] = memref.load %[[D]][%[[I]], %[[K]]]
// CHECK:             scf.for %[[J:.+]] = %[[ZERO]] to %[[FROM]] step %c16
// CHECK-DAG:           %[[OLD:.+]] = vector.load %[[D]][%[[I]], %[[J]]] : {{.*}}, vector<16xf32>
// CHECK-DAG:           %[[ROW:.+]] = vector.load %[[D]][%[[K]], %[[J]]] : {{.*}}, vector<16xf32>
// CHECK-DAG:           %[[LANES:.+]] = vector.broadcast %[[FIXED]]
// CHECK:               %[[SUM:.+]] = arith.addf %[[LANES]], %[[ROW]] fastmath<contract> : vector<16xf32>
// CHECK:               %[[NEW:.+]] = arith.minimumf %[[OLD]], %[[SUM]]
// CHECK:               vector.store %[[NEW]], %[[D]][%[[I]], %[[J]]]
// CHECK:             %[[NEXT:.+]] = arith.addi %[[FROM]], %{{.+}}
// CHECK:             %[[TO:.+]] = arith.minsi %[[NEXT]], %[[END]]
// CHECK:             scf.for %{{.+}} = %[[FROM]] to %[[TO]] step %c1
// CHECK:               memref.load %[[D]][%[[I]], %[[K]]]
// CHECK:               memref.store
// CHECK:             memref.load %[[D]][%[[I]], %[[K]]]
// CHECK:             scf.for %{{.+}} = %[[TO]] to %[[LAST:.+]] step %c16
// CHECK:               vector.store
// CHECK:             scf.for %{{.+}} = %[[LAST]] to %[[END]] step %c1
func.func @paths(%d: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %k = %c0 to %c64 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      scf.for %j = %c0 to %c64 step %c1 {
        %0 = memref.load %d[%i, %j] : memref<64x64xf32>
        %1 = memref.load %d[%i, %k] : memref<64x64xf32>
        %2 = memref.load %d[%k, %j] : memref<64x64xf32>
        %3 = arith.addf %1, %2 fastmath<contract> : f32
        %4 = arith.minimumf %0, %3 : f32
        memref.store %4, %d[%i, %j] : memref<64x64xf32>
      }
    }
  }
  return
}

// -----

// Rows i and j of one array: iterations are independent, whether the rows are the same or not.
// CHECK-LABEL: func.func @rows
// CHECK-NOT:     memref.load
// CHECK:         scf.for %{{.+}} = %c0 to %[[LAST:.+]] step %c16
// CHECK-COUNT-2:   vector.load
// CHECK:           vector.store
// CHECK:         scf.for %{{.+}} = %[[LAST]] to %c100 step %c1
// CHECK:           memref.store
// CHECK-NOT:     scf.for
func.func @rows(%x: memref<8x100xf32>, %i: index, %j: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.for %r = %c0 to %c100 step %c1 {
    %0 = memref.load %x[%i, %r] : memref<8x100xf32>
    %1 = memref.load %x[%j, %r] : memref<8x100xf32>
    %2 = arith.subf %0, %1 : f32
    memref.store %2, %x[%i, %r] : memref<8x100xf32>
  }
  return
}

// -----

// A shifted subscript: iteration k - 1 writes element k. Elements of an empty loop are not loaded.
// CHECK-LABEL: func.func @shifted
// CHECK-SAME:    %[[X:.+]]: memref<?xf64>, %[[N:.+]]: index, %[[K:.+]]: index
// CHECK:         %[[RUNS:.+]] = arith.cmpi slt, %{{.+}}, %[[N]]
// CHECK:         scf.if %[[RUNS]] {
// CHECK:           arith.subi %[[K]], %{{.+}}
// CHECK:           memref.load %[[X]][%[[K]]]
// CHECK:           scf.for %[[I:.+]] = %{{.+}} to %{{.+}} step %c8
// CHECK:             %[[NEXT:.+]] = arith.addi %[[I]], %c1
// CHECK:             vector.load %[[X]][%[[NEXT]]] : memref<?xf64>, vector<8xf64>
// CHECK-COUNT-3:   scf.for
// CHECK-NOT:       scf.for
func.func @shifted(%x: memref<?xf64>, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %0 = memref.load %x[%k] : memref<?xf64>
    %1 = memref.load %x[%next] : memref<?xf64>
    %2 = arith.addf %0, %1 : f64
    memref.store %2, %x[%next] : memref<?xf64>
  }
  return
}
