// RUN: skript-opt %s --split-input-file --skript-split-loops=iterations=100 | FileCheck %s

// A loop that one thread would execute: a kernel for each 100 iterations.
// CHECK-LABEL: func.func @sums
// CHECK:         scf.for %[[FIRST:.+]] = %c0{{.*}} to %c1000{{.*}} step %c100
// CHECK:           %[[NEXT:.+]] = arith.addi %[[FIRST]], %c100
// CHECK:           %[[END:.+]] = arith.minsi %[[NEXT]], %c1000
// CHECK:           scf.parallel (%{{.+}}) = (%c0{{.*}}) to (%c1{{.*}}) step
// CHECK:             scf.for %[[I:.+]] = %[[FIRST]] to %[[END]] step %c1
// CHECK:               memref.load %{{.+}}[%[[I]]]
// CHECK:           } {skript.split
func.func @sums(%x: memref<1000xf32>, %y: memref<1001xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  scf.for %i = %c0 to %c1000 step %c1 {
    %old = memref.load %y[%i] : memref<1001xf32>
    %own = memref.load %x[%i] : memref<1000xf32>
    %sum = arith.addf %old, %own : f32
    %next = arith.addi %i, %c1 : index
    memref.store %sum, %y[%next] : memref<1001xf32>
  }
  return
}

// -----

// Each iteration of a parallel loop is a loop over a dynamic number of pairs of steps: 33 indices have 99 iterations of both loops.
// CHECK-LABEL: func.func @rows
// CHECK-SAME:    %[[N:.+]]: index
// CHECK:         scf.for %[[FIRST:.+]] = %c0{{.*}} to %[[N]] step %c33
// CHECK:           scf.parallel
// CHECK:             scf.for %{{.+}} = %[[FIRST]] to %{{.+}} step %c1
// CHECK:               scf.for
func.func @rows(%n: index, %x: memref<?x8xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%b) = (%c0) to (%c8) step (%c1) {
    %c3 = arith.constant 3 : index
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c1 to %c3 step %c1 {
        %old = memref.load %x[%i, %b] : memref<?x8xf32>
        %twice = arith.addf %old, %old : f32
        memref.store %twice, %x[%i, %b] : memref<?x8xf32>
      }
    }
    scf.reduce
  }
  return
}

// -----

// Steps of 4: 100 iterations have 400 indices.
// CHECK-LABEL: func.func @steps
// CHECK:         scf.for %{{.+}} = %c0{{.*}} to %c1000{{.*}} step %c400
// CHECK:           scf.for %{{.+}} = %{{.+}} to %{{.+}} step %c4{{ }}
func.func @steps(%x: memref<1000xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c1000 = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c1000 step %c4 {
    memref.store %zero, %x[%i] : memref<1000xf32>
  }
  return
}

// -----

// One iteration of the outer loop has 200 of the inner one: the outer one stays on the host.
// CHECK-LABEL: func.func @table
// CHECK:         scf.for %[[I:.+]] = %c0{{.*}} to %c5{{.*}} step %c1
// CHECK:           scf.for %[[FIRST:.+]] = %c0{{.*}} to %c200{{.*}} step %c100
// CHECK:             scf.parallel
// CHECK:               scf.for %[[J:.+]] = %[[FIRST]] to
// CHECK:                 memref.store %{{.+}}, %{{.+}}[%[[I]], %[[J]]]
func.func @table(%x: memref<5x200xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c200 = arith.constant 200 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c5 step %c1 {
    scf.for %j = %c0 to %c200 step %c1 {
      memref.store %zero, %x[%i, %j] : memref<5x200xf32>
    }
  }
  return
}

// -----

// Bounds keep these loops short.
// CHECK-LABEL: func.func @short
// CHECK-NOT:     skript.split
func.func @short(%n: index, %x: memref<?xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c90 = arith.constant 90 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0.0 : f32
  %few = arith.minsi %n, %c90 : index
  scf.for %i = %c0 to %few step %c1 {
    memref.store %zero, %x[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %c100 step %c1 {
    memref.store %zero, %x[%i] : memref<?xf32>
  }
  return
}

// -----

// What a loop carries in registers would be lost between kernels, and a parallel loop that does more than its inner one would do it again.
// CHECK-LABEL: func.func @other
// CHECK-NOT:     skript.split
func.func @other(%x: memref<1000x8xf32>, %y: memref<8xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c1000 = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%b) = (%c0) to (%c8) step (%c1) {
    %sum = scf.for %i = %c0 to %c1000 step %c1 iter_args(%last = %zero) -> (f32) {
      %own = memref.load %x[%i, %b] : memref<1000x8xf32>
      %next = arith.addf %last, %own : f32
      scf.yield %next : f32
    }
    memref.store %sum, %y[%b] : memref<8xf32>
    scf.reduce
  }
  scf.parallel (%b) = (%c0) to (%c8) step (%c1) {
    %own = memref.load %y[%b] : memref<8xf32>
    scf.for %i = %c0 to %c1000 step %c1 {
      memref.store %own, %x[%i, %b] : memref<1000x8xf32>
    }
    scf.reduce
  }
  return
}
