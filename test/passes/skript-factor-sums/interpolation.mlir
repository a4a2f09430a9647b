// RUN: skript-opt %s --skript-factor-sums --canonicalize --cse | FileCheck %s

// A sum of four weighted elements of an image: first the sums of two along each row, then of two rows of those.
#shape = affine_map<(c, y, x, i, j) -> (i, j)>
#image = affine_map<(c, y, x, i, j) -> (c, y, x)>
// CHECK-DAG:     #[[SHAPE:.+]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-DAG:     #[[RESULT:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL:   func.func @interpolate
// CHECK-SAME:      %[[IMAGE:.+]]: tensor<3x8x6xf32>
// CHECK:         %[[ROWS:.+]] = linalg.generic {indexing_maps = [#[[SHAPE]], #[[RESULT]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK-SAME:      ins(%{{.+}} : tensor<2xf32>) outs(%{{.+}} : tensor<3x8x12xf32>)
// CHECK-DAG:       %[[C:.+]] = linalg.index 0
// CHECK-DAG:       %[[R:.+]] = linalg.index 1
// CHECK:           tensor.extract %[[IMAGE]][%[[C]], %[[R]], %{{.+}}]
// CHECK:           arith.mulf %{{.+}}, %{{.+}} fastmath<contract>
// CHECK-NOT:       arith.mulf
// CHECK:           arith.addf %{{.+}}, %{{.+}} fastmath<reassoc,contract>
// CHECK:         linalg.generic {indexing_maps = [#[[SHAPE]], #[[RESULT]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK-SAME:      ins(%{{.+}} : tensor<2xf32>) outs(%{{.+}} : tensor<3x16x12xf32>)
// CHECK:           %[[X:.+]] = linalg.index 2
// CHECK:           tensor.extract %[[ROWS]][%{{.+}}, %{{.+}}, %[[X]]]
// CHECK:           arith.mulf
// CHECK-NOT:       arith.mulf
// CHECK:         return
func.func @interpolate(%image: tensor<3x8x6xf32>) -> tensor<3x16x12xf32> {
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %quarter = arith.constant 0.25 : f32
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x16x12xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x16x12xf32>) -> tensor<3x16x12xf32>
  %taps = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.generic {
    indexing_maps = [#shape, #image], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%taps : tensor<2x2xf32>) outs(%start : tensor<3x16x12xf32>) {
  ^bb0(%t: f32, %s: f32):
    %c = linalg.index 0 : index
    %y = linalg.index 1 : index
    %x = linalg.index 2 : index
    %i = linalg.index 3 : index
    %j = linalg.index 4 : index
    %y_half = arith.divui %y, %c2 : index
    %row = arith.addi %y_half, %i : index
    %row_inside = arith.minui %row, %c7 : index
    %x_half = arith.divui %x, %c2 : index
    %column = arith.addi %x_half, %j : index
    %column_inside = arith.minui %column, %c5 : index
    %i_integer = arith.index_cast %i : index to i64
    %i_real = arith.sitofp %i_integer : i64 to f32
    %u = arith.subf %i_real, %quarter : f32
    %j_integer = arith.index_cast %j : index to i64
    %j_real = arith.sitofp %j_integer : i64 to f32
    %v = arith.subf %j_real, %quarter : f32
    %w = arith.mulf %u, %v fastmath<contract> : f32
    %element = tensor.extract %image[%c, %row_inside, %column_inside] : tensor<3x8x6xf32>
    %p = arith.mulf %w, %element fastmath<contract> : f32
    %next = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %next : f32
  } -> tensor<3x16x12xf32>
  return %0 : tensor<3x16x12xf32>
}

// A sum without weights: the elements of a neighbourhood.
// CHECK-LABEL:   func.func @neighbours
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME:      outs(%{{.+}} : tensor<16x12xf32>)
// CHECK:           tensor.extract
// CHECK-NEXT:      arith.addf
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK:           tensor.extract
// CHECK-NEXT:      arith.addf
// CHECK:         return
func.func @neighbours(%image: tensor<16x12xf32>, %start: tensor<16x12xf32>) -> tensor<16x12xf32> {
  %c11 = arith.constant 11 : index
  %c15 = arith.constant 15 : index
  %taps = tensor.empty() : tensor<3x3xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(y, x, i, j) -> (i, j)>, affine_map<(y, x, i, j) -> (y, x)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]
  } ins(%taps : tensor<3x3xf32>) outs(%start : tensor<16x12xf32>) {
  ^bb0(%t: f32, %s: f32):
    %y = linalg.index 0 : index
    %x = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %row = arith.addi %y, %i : index
    %row_inside = arith.minui %row, %c15 : index
    %column = arith.addi %x, %j : index
    %column_inside = arith.minui %column, %c11 : index
    %element = tensor.extract %image[%row_inside, %column_inside] : tensor<16x12xf32>
    %next = arith.addf %element, %s fastmath<reassoc,contract> : f32
    linalg.yield %next : f32
  } -> tensor<16x12xf32>
  return %0 : tensor<16x12xf32>
}
