// RUN: skript-opt %s --skript-sort-comparisons | FileCheck %s

#other = affine_map<(b, i, k) -> (b, k)>
#own = affine_map<(b, i, k) -> (b, i)>

// The place of each element in a stable order: of those that are less or equal and precede, one each.
// CHECK-LABEL: func.func @ranks
// CHECK:         %[[ORDER:.+]] = memref.alloc() : memref<3x2x2000xi32>
// CHECK:         scf.parallel (%[[ROW:.+]]) =
// CHECK:           scf.for
// CHECK:             memref.store {{.*}}, %[[ORDER]][%[[ROW]],
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:               scf.for {{.*}} iter_args
// CHECK:                 arith.cmpf olt
// CHECK:           scf.for {{.*}} iter_args
// CHECK:             memref.load %arg1[%[[ROW]],
// CHECK:             memref.store {{.*}}, %arg1[%[[ROW]],
// CHECK-NOT:     linalg.generic
func.func @ranks(%x: memref<3x2000xf32>, %y: memref<3x2000xi64>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %true = arith.constant true
  linalg.generic {indexing_maps = [#other, #own, #own], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %x : memref<3x2000xf32>, memref<3x2000xf32>) outs(%y : memref<3x2000xi64>) {
  ^bb0(%other: f32, %own: f32, %count: i64):
    %less = arith.cmpf olt, %other, %own : f32
    %equal = arith.cmpf oeq, %other, %own : f32
    %k = linalg.index 2 : index
    %i = linalg.index 1 : index
    %precedes = arith.cmpi slt, %k, %i : index
    %before = arith.andi %equal, %precedes : i1
    %counts = arith.select %less, %true, %before : i1
    %part = arith.select %counts, %one, %zero : i64
    %sum = arith.addi %count, %part : i64
    linalg.yield %sum : i64
  }
  return
}

// Ints have no NaN, and a result without rows needs no parallel loop.
// CHECK-LABEL: func.func @equals
// CHECK:         memref.alloc() : memref<2x1024xi32>
// CHECK-NOT:     scf.parallel
// CHECK-NOT:     arith.cmpf
// CHECK:         arith.cmpi slt, {{.*}} : i64
// CHECK-NOT:     linalg.generic
func.func @equals(%x: memref<1024xi64>, %y: memref<1024xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %x : memref<1024xi64>, memref<1024xi64>) outs(%y : memref<1024xi32>) {
  ^bb0(%own: i64, %other: i64, %count: i32):
    %equal = arith.cmpi eq, %other, %own : i64
    %part = arith.extui %equal : i1 to i32
    %sum = arith.addi %part, %count : i32
    linalg.yield %sum : i32
  }
  return
}
