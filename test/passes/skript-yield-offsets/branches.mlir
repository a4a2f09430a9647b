// RUN: skript-opt %s --split-input-file --skript-yield-offsets | FileCheck %s

// The offset is chosen; the extent is the same in both arms. What is no view is yielded as it is.
// CHECK-LABEL: func.func @places
// CHECK-SAME:    %[[C:[^ ]+]]: i1, %[[N:[^ ]+]]: index, %[[V:[^ ]+]]: f32, %[[ARENA:[^ ]+]]: memref<512xi8>
// CHECK:         %[[R:.+]]:2 = scf.if %[[C]] -> (index, f32) {
// CHECK:           %[[FIRST:.+]] = arith.constant 0 : index
// CHECK:           memref.store %[[V]], %{{.+}}[%[[FIRST]]]
// CHECK:           scf.yield %[[FIRST]], %{{.+}} : index, f32
// CHECK:           %[[SECOND:.+]] = arith.constant 256 : index
// CHECK:           scf.yield %[[SECOND]], %[[V]] : index, f32
// CHECK:         %[[VIEW:.+]] = memref.view %[[ARENA]][%[[R]]#0][%[[N]]] : memref<512xi8> to memref<?xf32>
// CHECK:         memref.load %[[VIEW]]
func.func @places(%c: i1, %n: index, %v: f32, %arena: memref<512xi8>) -> f32 {
  %r:2 = scf.if %c -> (memref<?xf32>, f32) {
    %c0 = arith.constant 0 : index
    %a = memref.view %arena[%c0][%n] : memref<512xi8> to memref<?xf32>
    memref.store %v, %a[%c0] : memref<?xf32>
    %w = arith.negf %v : f32
    scf.yield %a, %w : memref<?xf32>, f32
  } else {
    %c256 = arith.constant 256 : index
    %b = memref.view %arena[%c256][%n] : memref<512xi8> to memref<?xf32>
    scf.yield %b, %v : memref<?xf32>, f32
  }
  %c1 = arith.constant 1 : index
  %e = memref.load %r#0[%c1] : memref<?xf32>
  %sum = arith.addf %e, %r#1 : f32
  return %sum : f32
}

// -----

// Extents that differ are chosen, too. What a branch inside chose is chosen again, and what an earlier one chose.
// CHECK-LABEL: func.func @chains
// CHECK-SAME:    %[[C:[^ ]+]]: i1, %[[N:[^ ]+]]: index, %[[M:[^ ]+]]: index, %[[ARENA:[^ ]+]]: memref<512xi8>
// CHECK:         %[[F:.+]]:2 = scf.if %[[C]] -> (index, index) {
// CHECK:           scf.yield %[[C0:.+]], %[[N]] : index, index
// CHECK:           scf.yield %{{.+}}, %[[M]] : index, index
// CHECK:         %[[S:.+]]:2 = scf.if %[[C]] -> (index, index) {
// CHECK:           %[[I:.+]]:2 = scf.if %[[C]] -> (index, index) {
// CHECK:             scf.yield %[[F]]#0, %[[F]]#1 : index, index
// CHECK:             scf.yield %[[C0]], %[[N]] : index, index
// CHECK:           scf.yield %[[I]]#0, %[[I]]#1 : index, index
// CHECK:           scf.yield %[[F]]#0, %[[F]]#1 : index, index
// CHECK:         memref.view %[[ARENA]][%[[S]]#0][%[[S]]#1] : memref<512xi8> to memref<?xf32>
func.func @chains(%c: i1, %n: index, %m: index, %arena: memref<512xi8>) -> f32 {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %a = memref.view %arena[%c0][%n] : memref<512xi8> to memref<?xf32>
  %f = scf.if %c -> (memref<?xf32>) {
    scf.yield %a : memref<?xf32>
  } else {
    %b = memref.view %arena[%c256][%m] : memref<512xi8> to memref<?xf32>
    scf.yield %b : memref<?xf32>
  }
  %s = scf.if %c -> (memref<?xf32>) {
    %i = scf.if %c -> (memref<?xf32>) {
      scf.yield %f : memref<?xf32>
    } else {
      scf.yield %a : memref<?xf32>
    }
    scf.yield %i : memref<?xf32>
  } else {
    scf.yield %f : memref<?xf32>
  }
  %e = memref.load %s[%c0] : memref<?xf32>
  return %e : f32
}

// -----

// Views of different arrays stay.
// CHECK-LABEL: func.func @strangers
// CHECK:         scf.if %{{.+}} -> (memref<4xf32>) {
func.func @strangers(%c: i1, %x: memref<16xi8>, %arena: memref<64xi8>) -> f32 {
  %c0 = arith.constant 0 : index
  %r = scf.if %c -> (memref<4xf32>) {
    %a = memref.view %arena[%c0][] : memref<64xi8> to memref<4xf32>
    scf.yield %a : memref<4xf32>
  } else {
    %b = memref.view %x[%c0][] : memref<16xi8> to memref<4xf32>
    scf.yield %b : memref<4xf32>
  }
  %e = memref.load %r[%c0] : memref<4xf32>
  return %e : f32
}
