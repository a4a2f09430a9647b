// RUN: skript-opt %s --skript-divide-by-invariants | FileCheck %s

// What stays: constant divisors, which LLVM knows; divisors that differ by element; few elements; a divisor in the array that is written;
// integers of 32 bits; quotients that are the same for all elements.
#line = affine_map<(i) -> (i)>
#one = affine_map<(i) -> ()>
// CHECK-NOT: scf.if
// CHECK-LABEL: func.func @constant
func.func @constant(%x: memref<300xi64>, %y: memref<300xi64>) {
  %c7 = arith.constant 7 : i64
  linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%x : memref<300xi64>) outs(%y : memref<300xi64>) {
  ^bb0(%a: i64, %o: i64):
    %quotient = arith.floordivsi %a, %c7 : i64
    linalg.yield %quotient : i64
  }
  return
}

// CHECK-LABEL: func.func @elements
func.func @elements(%x: memref<300xi64>, %d: memref<300xi64>, %y: memref<300xi64>) {
  linalg.generic {indexing_maps = [#line, #line, #line], iterator_types = ["parallel"]}
      ins(%x, %d : memref<300xi64>, memref<300xi64>) outs(%y : memref<300xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %quotient = arith.floordivsi %a, %b : i64
    linalg.yield %quotient : i64
  }
  return
}

// CHECK-LABEL: func.func @few
func.func @few(%x: memref<30xi64>, %d: memref<i64>, %y: memref<30xi64>) {
  linalg.generic {indexing_maps = [#line, #one, #line], iterator_types = ["parallel"]}
      ins(%x, %d : memref<30xi64>, memref<i64>) outs(%y : memref<30xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %quotient = arith.floordivsi %a, %b : i64
    linalg.yield %quotient : i64
  }
  return
}

// CHECK-LABEL: func.func @written
func.func @written(%x: memref<300xi64>, %y: memref<300xi64>) {
  %d = memref.subview %y[7] [1] [1] : memref<300xi64> to memref<i64, strided<[], offset: 7>>
  linalg.generic {indexing_maps = [#line, #one, #line], iterator_types = ["parallel"]}
      ins(%x, %d : memref<300xi64>, memref<i64, strided<[], offset: 7>>) outs(%y : memref<300xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %quotient = arith.floordivsi %a, %b : i64
    linalg.yield %quotient : i64
  }
  return
}

// CHECK-LABEL: func.func @narrow
func.func @narrow(%x: memref<300xi32>, %d: memref<i32>, %y: memref<300xi32>) {
  linalg.generic {indexing_maps = [#line, #one, #line], iterator_types = ["parallel"]}
      ins(%x, %d : memref<300xi32>, memref<i32>) outs(%y : memref<300xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %quotient = arith.floordivsi %a, %b : i32
    linalg.yield %quotient : i32
  }
  return
}

// CHECK-LABEL: func.func @same
func.func @same(%n: index, %m: index, %y: memref<300xindex>) {
  linalg.generic {indexing_maps = [#line], iterator_types = ["parallel"]} outs(%y : memref<300xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %quotient = arith.divsi %n, %m : index
    %sum = arith.addi %i, %quotient : index
    linalg.yield %sum : index
  }
  return
}
