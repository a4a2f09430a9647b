// RUN: skript-opt %s --skript-divide-by-invariants --canonicalize --cse | FileCheck %s

#line = affine_map<(i) -> (i)>
#one = affine_map<(i) -> ()>

// The divisor is an input, and not 0 where it is used. Its reciprocal is computed before the elements; the second quotient is that of
// what the first one leaves, and the sign of the rest corrects it.
// CHECK-LABEL: func.func @input
// CHECK-SAME:    %[[X:[^ ]+]]: memref<300xi64>, %[[D:[^ ]+]]: memref<i64>
// CHECK:         %[[LOADED:.+]] = memref.load %[[D]][]
// CHECK:         %[[DIVISOR:.+]] = arith.maxsi %[[LOADED]], %c1_i64
// CHECK-DAG:     %[[LEAST:.+]] = arith.cmpi sge, %[[DIVISOR]], %c2_i64
// CHECK-DAG:     %[[MOST:.+]] = arith.cmpi sle, %[[DIVISOR]], %c2147483648_i64
// CHECK-DAG:     %[[SUIT:.+]] = arith.andi %[[LEAST]], %[[MOST]]
// CHECK-DAG:     %[[REAL:.+]] = arith.sitofp %[[DIVISOR]]
// CHECK-DAG:     %[[RECIPROCAL:.+]] = arith.divf %{{.*}}, %[[REAL]] : f64
// CHECK:         scf.if %[[SUIT]]
// CHECK:           linalg.generic
// CHECK-NOT:         floordivsi
// CHECK:             arith.mulf %{{.*}}, %[[RECIPROCAL]]
// CHECK:             arith.mulf %{{.*}}, %[[RECIPROCAL]]
// CHECK:             arith.select
// CHECK:             linalg.yield
// CHECK:         } else {
// CHECK:           linalg.generic {{.*}}attrs = {skript.general}
// CHECK:             arith.floordivsi
func.func @input(%x: memref<300xi64>, %d: memref<i64>, %y: memref<300xi64>) {
  %c1 = arith.constant 1 : i64
  linalg.generic {indexing_maps = [#line, #one, #line], iterator_types = ["parallel"]}
      ins(%x, %d : memref<300xi64>, memref<i64>) outs(%y : memref<300xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %divisor = arith.maxsi %b, %c1 : i64
    %quotient = arith.floordivsi %a, %divisor : i64
    linalg.yield %quotient : i64
  }
  return
}

// An index divided by an extent, and the rest of both: one reciprocal.
// CHECK-LABEL: func.func @extent
// CHECK:         %[[INDEX:.+]] = arith.index_cast %{{.*}} : index to i64
// CHECK:         arith.divf
// CHECK-NOT:     arith.divf
// CHECK:         scf.if
// CHECK-NOT:       divsi
// CHECK-NOT:       remsi
// CHECK:         } else {
// CHECK:           arith.divsi
// CHECK:           arith.remsi
func.func @extent(%n: index, %y: memref<?xindex>) {
  linalg.generic {indexing_maps = [#line], iterator_types = ["parallel"]} outs(%y : memref<?xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %quotient = arith.divsi %i, %n : index
    %rest = arith.remsi %i, %n : index
    %sum = arith.addi %quotient, %rest : index
    linalg.yield %sum : index
  }
  return
}
