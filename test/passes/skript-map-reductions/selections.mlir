// RUN: skript-opt %s --skript-map-reductions=gpu=sm_80 --split-input-file | FileCheck %s

// The position of the largest element of each row: 128 threads share a row, and combine their values and positions in pairs. -1 is the
// position that was held before.
// CHECK-LABEL: func.func @rows
// CHECK:         gpu.launch
// CHECK-SAME:      workgroup(%[[VALUES:.+]] : memref<256xf32, #gpu.address_space<workgroup>>, %[[PLACES:.+]] : memref<256xi64, #gpu.address_space<workgroup>>)
// CHECK:           %[[NONE:.+]] = arith.constant -1 : i64
// CHECK:           %[[FOUND:.+]]:2 = scf.for {{.*}} iter_args(%[[BEST:.+]] = %{{.+}}, %[[PLACE:.+]] = %[[NONE]]) -> (f32, i64)
// CHECK:             %[[VALUE:.+]] = memref.load
// CHECK:             %[[BETTER:.+]] = arith.cmpf ogt, %[[VALUE]], %[[BEST]] : f32
// CHECK:             arith.select %[[BETTER]], %[[VALUE]], %[[BEST]]
// CHECK:           memref.store %[[FOUND]]#0, %[[VALUES]]
// CHECK:           memref.store %[[FOUND]]#1, %[[PLACES]]
// CHECK-COUNT-7:   scf.if
// CHECK:           scf.if
// CHECK:             memref.store %{{.+}}, %{{.+}}[%{{.+}}] : memref<5xi64>
// CHECK-NOT:     scf.parallel
func.func @rows(%x: memref<10000xi8>, %z: memref<40xi8>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c500 = arith.constant 500 : index
  %a = memref.view %x[%c0][] : memref<10000xi8> to memref<5x500xf32>
  %p = memref.view %z[%c0][] : memref<40xi8> to memref<5xi64>
  scf.parallel (%i) = (%c0) to (%c5) step (%c1) {
    scf.for %l = %c0 to %c500 step %c1 {
      %u = memref.load %a[%i, %l] : memref<5x500xf32>
      %h = memref.load %p[%i] : memref<5xi64>
      %k = arith.index_cast %h : i64 to index
      %v = memref.load %a[%i, %k] : memref<5x500xf32>
      %is = arith.cmpf ogt, %u, %v : f32
      scf.if %is {
        %n = arith.index_cast %l : index to i64
        memref.store %n, %p[%i] : memref<5xi64>
      } {skript.selects}
    }
    scf.reduce
  }
  return
}

// -----

// The loop around the others selects, and the right value is that at its counter.
// CHECK-LABEL: func.func @columns
// CHECK:         gpu.launch
// CHECK:           arith.cmpf olt, %{{.+}}, %{{.+}} : f32
// CHECK-NOT:     scf.if {{.*}} linalg
// CHECK:         return
func.func @columns(%x: memref<10000xi8>, %z: memref<40xi8>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c500 = arith.constant 500 : index
  %a = memref.view %x[%c0][] : memref<10000xi8> to memref<500x5xf32>
  %p = memref.view %z[%c0][] : memref<40xi8> to memref<5xi64>
  scf.for %l = %c0 to %c500 step %c1 {
    scf.for %i = %c0 to %c5 step %c1 {
      %u = memref.load %a[%l, %i] : memref<500x5xf32>
      %h = memref.load %p[%i] : memref<5xi64>
      %k = arith.index_cast %h : i64 to index
      %v = memref.load %a[%k, %i] : memref<500x5xf32>
      %is = arith.cmpf olt, %v, %u : f32
      scf.if %is {
        %n = arith.index_cast %l : index to i64
        memref.store %n, %p[%i] : memref<5xi64>
      } {skript.selects}
    }
  }
  return
}

// -----

// Loops that their formula does not mark stay: those that select the last one of equal values, compare with another array's value, or share a
// position.
// CHECK-LABEL: func.func @stay
// CHECK-NOT:     gpu.launch
// CHECK:         return
func.func @stay(%x: memref<10000xi8>, %y: memref<10000xi8>, %z: memref<40xi8>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c500 = arith.constant 500 : index
  %a = memref.view %x[%c0][] : memref<10000xi8> to memref<5x500xf32>
  %b = memref.view %y[%c0][] : memref<10000xi8> to memref<5x500xf32>
  %p = memref.view %z[%c0][] : memref<40xi8> to memref<5xi64>
  scf.parallel (%i) = (%c0) to (%c5) step (%c1) {
    scf.for %l = %c0 to %c500 step %c1 {
      %u = memref.load %a[%i, %l] : memref<5x500xf32>
      %h = memref.load %p[%i] : memref<5xi64>
      %k = arith.index_cast %h : i64 to index
      %v = memref.load %a[%i, %k] : memref<5x500xf32>
      %is = arith.cmpf oge, %u, %v : f32
      scf.if %is {
        %n = arith.index_cast %l : index to i64
        memref.store %n, %p[%i] : memref<5xi64>
      }
    }
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%c5) step (%c1) {
    scf.for %l = %c0 to %c500 step %c1 {
      %u = memref.load %a[%i, %l] : memref<5x500xf32>
      %h = memref.load %p[%i] : memref<5xi64>
      %k = arith.index_cast %h : i64 to index
      %v = memref.load %b[%i, %k] : memref<5x500xf32>
      %is = arith.cmpf ogt, %u, %v : f32
      scf.if %is {
        %n = arith.index_cast %l : index to i64
        memref.store %n, %p[%i] : memref<5xi64>
      }
    }
    scf.reduce
  }
  scf.for %l = %c0 to %c500 step %c1 {
    scf.for %i = %c0 to %c5 step %c1 {
      %u = memref.load %a[%i, %l] : memref<5x500xf32>
      %h = memref.load %p[%c0] : memref<5xi64>
      %k = arith.index_cast %h : i64 to index
      %v = memref.load %a[%i, %k] : memref<5x500xf32>
      %is = arith.cmpf ogt, %u, %v : f32
      scf.if %is {
        %n = arith.index_cast %l : index to i64
        memref.store %n, %p[%c0] : memref<5xi64>
      }
    }
  }
  return
}

// -----

// A position of two counters: its number is selected, and each counter is stored.
// CHECK-LABEL: func @both
// CHECK: gpu.launch
// CHECK: scf.for %[[NUMBER:[^ ]+]] = {{.*}} iter_args
// CHECK: arith.remui %[[NUMBER]]
// CHECK: arith.divui %[[NUMBER]]
// CHECK: arith.cmpf ogt
// CHECK: memref.store %{{.*}}, %arg1[]
// CHECK: memref.store %{{.*}}, %arg2[]
// CHECK-NOT: scf.if
// CHECK: return
func.func @both(%x: memref<30x50xf32>, %a: memref<i64> {llvm.noalias}, %b: memref<i64> {llvm.noalias}) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c30 = arith.constant 30 : index
  %c50 = arith.constant 50 : index
  scf.for %i = %c0 to %c30 step %c1 {
    scf.for %j = %c0 to %c50 step %c1 {
      %v = memref.load %x[%i, %j] : memref<30x50xf32>
      %p = memref.load %a[] : memref<i64>
      %q = memref.load %b[] : memref<i64>
      %k = arith.index_cast %p : i64 to index
      %l = arith.index_cast %q : i64 to index
      %w = memref.load %x[%k, %l] : memref<30x50xf32>
      %more = arith.cmpf ogt, %v, %w : f32
      scf.if %more {
        %m = arith.index_cast %i : index to i64
        %n = arith.index_cast %j : index to i64
        memref.store %m, %a[] : memref<i64>
        memref.store %n, %b[] : memref<i64>
      } {skript.selects}
    }
  }
  return
}
