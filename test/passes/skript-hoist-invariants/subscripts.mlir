// RUN: skript-opt %s --skript-hoist-invariants | FileCheck %s

// The subscripts and weights of a resized image: one table along each dimension, and their product in the loops. A position that becomes
// a real as it is stays.
// CHECK-LABEL: func.func @resize
// CHECK-DAG:     %[[ROWS:.+]] = tensor.empty() : tensor<64xindex>
// CHECK:         arith.floordivsi
// CHECK:         arith.divf
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK-NOT:       arith.floordivsi
// CHECK-NOT:       arith.divf
// CHECK:           arith.sitofp
// CHECK:           tensor.extract
// CHECK:         return
func.func @resize(%x: tensor<8x32x48xf32>) -> tensor<8x64x48xf32> {
  %c2 = arith.constant 2 : index
  %scale = arith.constant 3.0 : f32
  %empty = tensor.empty() : tensor<8x64x48xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(c, i, j) -> (c, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]
  } outs(%empty : tensor<8x64x48xf32>) {
  ^bb0(%o: f32):
    %c = linalg.index 0 : index
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %row = arith.floordivsi %i, %c2 : index
    %rest = arith.remsi %i, %c2 : index
    %integer = arith.index_cast %rest : index to i64
    %real = arith.sitofp %integer : i64 to f32
    %weight = arith.divf %real, %scale : f32
    %column = arith.index_cast %j : index to i64
    %position = arith.sitofp %column : i64 to f32
    %v = tensor.extract %x[%c, %row, %j] : tensor<8x32x48xf32>
    %y = arith.mulf %v, %weight : f32
    %z = arith.addf %y, %position : f32
    linalg.yield %z : f32
  } -> tensor<8x64x48xf32>
  return %0 : tensor<8x64x48xf32>
}

// Points that a remainder excludes are split from the others, and keep their subscripts.
// CHECK-LABEL: func.func @transposed
// CHECK-NOT:     xindex>
// CHECK:         return
func.func @transposed(%x: tensor<8x32xf32>) -> tensor<8x64xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x64xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(c, i) -> (c, i)>], iterator_types = ["parallel", "parallel"]
  } outs(%empty : tensor<8x64xf32>) {
  ^bb0(%o: f32):
    %c = linalg.index 0 : index
    %i = linalg.index 1 : index
    %row = arith.floordivsi %i, %c2 : index
    %rest = arith.remsi %i, %c2 : index
    %whole = arith.cmpi eq, %rest, %c0 : index
    %v = tensor.extract %x[%c, %row] : tensor<8x32xf32>
    %y = arith.select %whole, %v, %zero : f32
    linalg.yield %y : f32
  } -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
