// RUN: skript-opt %s --skript-fold-integers | FileCheck %s

#x = affine_map<(i) -> (i)>

// Indices below 2^31 are converted to reals from 32 bits; products of two such indices may be larger, and elements have any value.
// CHECK-LABEL: func.func @ramp
// CHECK:         %[[I:.*]] = linalg.index 0
// CHECK-NEXT:    %[[N:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK-NEXT:    %[[SMALL:.*]] = arith.trunci %[[N]] : i64 to i32
// CHECK-NEXT:    arith.sitofp %[[SMALL]] : i32 to f32
// CHECK-NEXT:    %[[SQUARE:.*]] = arith.muli %[[N]], %[[N]] : i64
// CHECK-NEXT:    arith.sitofp %[[SQUARE]] : i64 to f32
// CHECK-NEXT:    arith.sitofp %{{.*}} : i64 to f32
func.func @ramp(%x: tensor<1000000xi64>, %y: tensor<1000000xf32>) -> tensor<1000000xf32> {
  %z = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel"]}
      ins(%x : tensor<1000000xi64>) outs(%y : tensor<1000000xf32>) {
  ^bb0(%in: i64, %out: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %a = arith.sitofp %n : i64 to f32
    %square = arith.muli %n, %n : i64
    %b = arith.sitofp %square : i64 to f32
    %c = arith.sitofp %in : i64 to f32
    %sum = arith.addf %a, %b : f32
    %all = arith.addf %sum, %c : f32
    linalg.yield %all : f32
  } -> tensor<1000000xf32>
  return %z : tensor<1000000xf32>
}

// In loops, the bounds decide.
// CHECK-LABEL: func.func @loops
// CHECK:         arith.trunci %{{.*}} : i64 to i32
// CHECK-NEXT:    arith.sitofp %{{.*}} : i32 to f64
// CHECK:         arith.sitofp %{{.*}} : i64 to f64
func.func @loops(%y: memref<8xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %beyond = arith.constant 2147483648 : i64
  scf.for %i = %c0 to %c8 step %c1 {
    %n = arith.index_cast %i : index to i64
    %a = arith.sitofp %n : i64 to f64
    %large = arith.addi %n, %beyond : i64
    %b = arith.sitofp %large : i64 to f64
    %sum = arith.addf %a, %b : f64
    memref.store %sum, %y[%i] : memref<8xf64>
  }
  return
}
