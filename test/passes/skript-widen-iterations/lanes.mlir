// RUN: skript-opt %s --skript-widen-iterations=least=8 --split-input-file | FileCheck %s
// RUN: skript-opt %s --skript-widen-iterations="least=8 gpu=vulkan" --split-input-file | FileCheck %s --check-prefix=VULKAN
// RUN: skript-opt %s --skript-widen-iterations --split-input-file | FileCheck %s --check-prefix=SMALL

// An iteration computes four elements: the array of the result, and one that is broadcast, are accessed by vectors; what stays the same
// is read once, what is elsewhere element by element.
// CHECK-LABEL: func @together
// CHECK: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: scf.parallel (%[[I:.*]], %[[J:.*]]) = {{.*}} step (%{{.*}}, %[[FOUR]])
// CHECK: %[[J1:.*]] = arith.addi %[[J]]
// CHECK: %[[J2:.*]] = arith.addi %[[J]]
// CHECK: %[[J3:.*]] = arith.addi %[[J]]
// CHECK: %[[X:.*]] = vector.load %{{.*}}[%[[I]], %[[J]]] {alignment = 16 : i64} : memref<8x16xf32>, vector<4xf32>
// CHECK: %[[X0:.*]] = vector.extract %[[X]][0]
// CHECK: vector.load %{{.*}}[%[[J]]] {alignment = 16 : i64} : memref<16xf32>, vector<4xf32>
// CHECK: %[[S:.*]] = memref.load %{{.*}}[%[[I]]] : memref<8xf32>
// CHECK: memref.load %{{.*}}[%[[J]], %[[I]]] : memref<16x8xf32>
// CHECK: memref.load %{{.*}}[%[[J1]], %[[I]]] : memref<16x8xf32>
// CHECK: memref.load %{{.*}}[%[[J2]], %[[I]]] : memref<16x8xf32>
// CHECK: memref.load %{{.*}}[%[[J3]], %[[I]]] : memref<16x8xf32>
// CHECK: arith.addf %[[X0]]
// CHECK: %[[ALL:.*]] = vector.from_elements %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK: vector.store %[[ALL]], %{{.*}}[%[[I]], %[[J]]] {alignment = 16 : i64}
// VULKAN-LABEL: func @together
// VULKAN: vector.store
// SMALL-LABEL: func @together
// SMALL-NOT: vector
func.func @together(%x: memref<8x16xf32>, %b: memref<16xf32>, %s: memref<8xf32>, %t: memref<16x8xf32>, %y: memref<8x16xf32>)
    attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c16) step (%c1, %c1) {
    %0 = memref.load %x[%i, %j] : memref<8x16xf32>
    %1 = memref.load %b[%j] : memref<16xf32>
    %2 = memref.load %s[%i] : memref<8xf32>
    %3 = memref.load %t[%j, %i] : memref<16x8xf32>
    %4 = arith.addf %0, %1 : f32
    %5 = arith.addf %4, %2 : f32
    %6 = arith.addf %5, %3 : f32
    memref.store %6, %y[%i, %j] : memref<8x16xf32>
    scf.reduce
  }
  return
}

// -----

// Types of different sizes: as many elements as the longest have.
// SMALL-LABEL: func @types
// CHECK-LABEL: func @types
// CHECK: vector.load {{.*}} {alignment = 4 : i64} : memref<32xf16>, vector<2xf16>
// CHECK: vector.store {{.*}} {alignment = 16 : i64} : memref<32xf64>, vector<2xf64>
func.func @types(%x: memref<32xf16>, %y: memref<32xf64>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%i) = (%c0) to (%c32) step (%c1) {
    %0 = memref.load %x[%i] : memref<32xf16>
    %1 = arith.extf %0 : f16 to f64
    memref.store %1, %y[%i] : memref<32xf64>
    scf.reduce
  }
  return
}

// -----

// Parts that begin anywhere, rows of odd length, results that are not next to each other, loops in iterations: nothing changes.
// CHECK-LABEL: func @odd
// CHECK-NOT: vector
func.func @odd(%x: memref<8x15xf32>, %y: memref<16x8xf32>, %z: memref<40xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c15) step (%c1, %c1) {
    memref.store %zero, %x[%i, %j] : memref<8x15xf32>
    scf.reduce
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c16) step (%c1, %c1) {
    memref.store %zero, %y[%j, %i] : memref<16x8xf32>
    scf.reduce
  }
  %part = memref.subview %z[3] [16] [1] : memref<40xf32> to memref<16xf32, strided<[1], offset: 3>>
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    memref.store %zero, %part[%i] : memref<16xf32, strided<[1], offset: 3>>
    scf.reduce
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c8) step (%c1, %c1) {
    scf.for %k = %c0 to %c8 step %c1 {
      memref.store %zero, %y[%i, %j] : memref<16x8xf32>
    }
    scf.reduce
  }
  return
}

// -----

// The number of rows may be dynamic.
// CHECK-LABEL: func @rows
// CHECK: vector.store {{.*}} : memref<?x8xf32>, vector<4xf32>
func.func @rows(%n: index, %bytes: memref<4096xi8>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %y = memref.view %bytes[%c0][%n] : memref<4096xi8> to memref<?x8xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c8) step (%c1, %c1) {
    memref.store %zero, %y[%i, %j] : memref<?x8xf32>
    scf.reduce
  }
  return
}
