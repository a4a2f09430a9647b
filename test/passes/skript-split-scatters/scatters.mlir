// RUN: skript-opt %s --skript-split-scatters --canonicalize | FileCheck %s

// Eight parts count into arrays of their own, which are added to the array of the loop; the last part is shorter.
// CHECK-LABEL: func.func @counts
// CHECK-SAME:    %[[X:.+]]: memref<100001xi64>, %[[Y:.+]]: memref<16xi64>
// CHECK:         %[[OWN:.+]] = memref.alloc() : memref<8x16xi64>
// CHECK:         linalg.fill ins(%c0_i64 : i64) outs(%[[OWN]] : memref<8x16xi64>)
// CHECK:         scf.parallel (%[[PART:.+]]) = (%c0) to (%c8) step (%c1) {
// CHECK:           %[[FROM:.+]] = arith.muli %[[PART]], %c12501
// CHECK:           %[[TO:.+]] = arith.addi %[[FROM]], %c12501
// CHECK:           %[[END:.+]] = arith.minsi %[[TO]], %c100001
// CHECK:           scf.for %[[I:.+]] = %{{.+}} to %[[END]] step %c1 {
// CHECK:             memref.load %[[X]][%[[I]]]
// CHECK:             scf.if
// CHECK:               %[[OLD:.+]] = memref.load %[[OWN]][%[[PART]], %[[BIN:.+]]] : memref<8x16xi64>
// CHECK:               %[[NEW:.+]] = arith.addi %[[OLD]], %c1_i64
// CHECK:               memref.store %[[NEW]], %[[OWN]][%[[PART]], %[[BIN]]] : memref<8x16xi64>
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%[[OWN]] : memref<8x16xi64>) outs(%[[Y]] : memref<16xi64>)
// CHECK:           arith.addi
func.func @counts(%x: memref<100001xi64>, %y: memref<16xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 100001 : index
  %one = arith.constant 1 : i64
  %last = arith.constant 15 : i64
  scf.for %i = %c0 to %end step %c1 {
    %v = memref.load %x[%i] : memref<100001xi64>
    %inside = arith.cmpi ule, %v, %last : i64
    scf.if %inside {
      %bin = arith.index_cast %v : i64 to index
      %old = memref.load %y[%bin] : memref<16xi64>
      %new = arith.addi %old, %one : i64
      memref.store %new, %y[%bin] : memref<16xi64>
    }
  }
  return
}

// Maxima begin with the smallest number.
// CHECK-LABEL: func.func @greatest
// CHECK:         linalg.fill ins(%c-2147483648_i32 : i32) outs(%{{.+}} : memref<8x3x5xi32>)
// CHECK:         scf.parallel
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "parallel"]}
// CHECK:           arith.maxsi
func.func @greatest(%x: memref<1000x40xi32>, %p: memref<1000xi64>, %y: memref<3x5xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 1000 : index
  %columns = arith.constant 40 : index
  %five = arith.constant 5 : index
  %three = arith.constant 3 : index
  scf.for %i = %c0 to %rows step %c1 {
    %at = memref.load %p[%i] : memref<1000xi64>
    %index = arith.index_cast %at : i64 to index
    %row = arith.remui %index, %three : index
    scf.for %j = %c0 to %columns step %c1 {
      %column = arith.remui %j, %five : index
      %v = memref.load %x[%i, %j] : memref<1000x40xi32>
      %old = memref.load %y[%row, %column] : memref<3x5xi32>
      %new = arith.maxsi %v, %old : i32
      memref.store %new, %y[%row, %column] : memref<3x5xi32>
    }
  }
  return
}
