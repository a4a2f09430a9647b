// Short rows, and counts that depend on more than the order of two elements of one array, stay; the pass has no options.
// RUN: skript-opt %s --skript-sort-comparisons | FileCheck %s
// RUN: not skript-opt %s --pass-pipeline='builtin.module(skript-sort-comparisons{all=1})' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: no such option all

#own = affine_map<(i, k) -> (i)>
#other = affine_map<(i, k) -> (k)>

// CHECK-LABEL: func.func @short
// CHECK:         linalg.generic
func.func @short(%x: memref<1000xi64>, %y: memref<1000xi64>) {
  linalg.generic {indexing_maps = [#own, #other, #own], iterator_types = ["parallel", "reduction"]}
      ins(%x, %x : memref<1000xi64>, memref<1000xi64>) outs(%y : memref<1000xi64>) {
  ^bb0(%own: i64, %other: i64, %count: i64):
    %equal = arith.cmpi eq, %other, %own : i64
    %part = arith.extui %equal : i1 to i64
    %sum = arith.addi %part, %count : i64
    linalg.yield %sum : i64
  }
  return
}

// The sum is over the difference of the elements.
// CHECK-LABEL: func.func @near
// CHECK:         linalg.generic
func.func @near(%x: memref<2000xi64>, %y: memref<2000xi64>) {
  %ten = arith.constant 10 : i64
  linalg.generic {indexing_maps = [#own, #other, #own], iterator_types = ["parallel", "reduction"]}
      ins(%x, %x : memref<2000xi64>, memref<2000xi64>) outs(%y : memref<2000xi64>) {
  ^bb0(%own: i64, %other: i64, %count: i64):
    %far = arith.addi %own, %ten : i64
    %less = arith.cmpi slt, %other, %far : i64
    %part = arith.extui %less : i1 to i64
    %sum = arith.addi %part, %count : i64
    linalg.yield %sum : i64
  }
  return
}

// Positions determine the result for different elements.
// CHECK-LABEL: func.func @inversions
// CHECK:         linalg.generic
func.func @inversions(%x: memref<2000xi64>, %y: memref<2000xi64>) {
  linalg.generic {indexing_maps = [#own, #other, #own], iterator_types = ["parallel", "reduction"]}
      ins(%x, %x : memref<2000xi64>, memref<2000xi64>) outs(%y : memref<2000xi64>) {
  ^bb0(%own: i64, %other: i64, %count: i64):
    %less = arith.cmpi slt, %own, %other : i64
    %i = linalg.index 0 : index
    %k = linalg.index 1 : index
    %precedes = arith.cmpi slt, %k, %i : index
    %counts = arith.andi %less, %precedes : i1
    %part = arith.extui %counts : i1 to i64
    %sum = arith.addi %part, %count : i64
    linalg.yield %sum : i64
  }
  return
}

// Two arrays.
// CHECK-LABEL: func.func @others
// CHECK:         linalg.generic
func.func @others(%x: memref<2000xi64>, %z: memref<2000xi64>, %y: memref<2000xi64>) {
  linalg.generic {indexing_maps = [#own, #other, #own], iterator_types = ["parallel", "reduction"]}
      ins(%x, %z : memref<2000xi64>, memref<2000xi64>) outs(%y : memref<2000xi64>) {
  ^bb0(%own: i64, %other: i64, %count: i64):
    %equal = arith.cmpi eq, %other, %own : i64
    %part = arith.extui %equal : i1 to i64
    %sum = arith.addi %part, %count : i64
    linalg.yield %sum : i64
  }
  return
}

// Unsigned comparisons of elements.
// CHECK-LABEL: func.func @unsigned
// CHECK:         linalg.generic
func.func @unsigned(%x: memref<2000xi64>, %y: memref<2000xi64>) {
  linalg.generic {indexing_maps = [#own, #other, #own], iterator_types = ["parallel", "reduction"]}
      ins(%x, %x : memref<2000xi64>, memref<2000xi64>) outs(%y : memref<2000xi64>) {
  ^bb0(%own: i64, %other: i64, %count: i64):
    %less = arith.cmpi ult, %other, %own : i64
    %part = arith.extui %less : i1 to i64
    %sum = arith.addi %part, %count : i64
    linalg.yield %sum : i64
  }
  return
}

// Numbers of which a sum might need more than 32 bits.
// CHECK-LABEL: func.func @heavy
// CHECK:         linalg.generic
func.func @heavy(%x: memref<2000xi64>, %y: memref<2000xi64>) {
  %million = arith.constant 2000000 : i64
  %zero = arith.constant 0 : i64
  linalg.generic {indexing_maps = [#own, #other, #own], iterator_types = ["parallel", "reduction"]}
      ins(%x, %x : memref<2000xi64>, memref<2000xi64>) outs(%y : memref<2000xi64>) {
  ^bb0(%own: i64, %other: i64, %count: i64):
    %less = arith.cmpi slt, %other, %own : i64
    %part = arith.select %less, %million, %zero : i64
    %sum = arith.addi %part, %count : i64
    linalg.yield %sum : i64
  }
  return
}
