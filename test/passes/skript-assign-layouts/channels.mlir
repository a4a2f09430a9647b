// RUN: skript-opt %s --skript-assign-layouts="vector-bits=256 vector-registers=16 cache-bytes=524288" --cse --canonicalize | FileCheck %s

// The channels of what contractions write are last: of the sums of the first one, of what follows elementwise, of the padded tensor that
// a depthwise window reads, and of its sums. The window's weights are copied in this order; those of the contractions, which kernels
// pack, are not. Maps permute the input and the result of the function, which keep their order.
// CHECK-DAG:   #[[X:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d1, d2)>
// CHECK-DAG:   #[[W:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>
// CHECK-DAG:   #[[SUM:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
// CHECK-DAG:   #[[ALL:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG:   #[[WINDOW:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4, d2 + d5, d3)>
// CHECK-DAG:   #[[DEPTH:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
// CHECK-DAG:   #[[READ:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d3, d4)>
// CHECK-DAG:   #[[LAST:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d4)>
// CHECK-LABEL: func.func @chain
// CHECK-SAME:    %[[INPUT:[^ ]+]]: tensor<1x32x28x28xf32> {{.*}}, %[[FIRST:[^ ]+]]: tensor<64x32xf32> {{.*}}, %[[FILTER:[^ ]+]]: tensor<64x3x3xf32>
// CHECK:         %[[ROWS:.+]] = linalg.fill {{.*}} -> tensor<1x64x28x28xf32>
// CHECK:         %[[FILLED:.+]] = linalg.fill {{.*}} -> tensor<1x28x28x64xf32>
// CHECK:         %[[A:.+]] = linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[SUM]]], {{.*}} ins(%[[INPUT]], %[[FIRST]] : {{.*}} outs(%[[FILLED]] :
// CHECK:         %[[B:.+]] = linalg.generic {indexing_maps = [#[[ALL]], #[[ALL]]], {{.*}} ins(%[[A]] :
// CHECK:         %[[BORDER:.+]] = linalg.fill {{.*}} -> tensor<1x30x30x64xf32>
// CHECK:         %[[PADDED:.+]] = tensor.insert_slice %[[B]] into %[[BORDER]][0, 1, 1, 0] [1, 28, 28, 64] [1, 1, 1, 1]
// CHECK:         %[[COPY:.+]] = linalg.generic {{.*}} ins(%[[FILTER]] : tensor<64x3x3xf32>) outs({{.*}} : tensor<3x3x64xf32>)
// CHECK:         %[[C:.+]] = linalg.generic {indexing_maps = [#[[WINDOW]], #[[DEPTH]], {{.*}} ins(%[[PADDED]], %[[COPY]] : {{.*}} outs(%[[FILLED]] :
// CHECK:           linalg.index 3
// CHECK:         linalg.generic {indexing_maps = [#[[READ]], #[[LAST]], #[[SUM]]], {{.*}} ins(%[[C]], {{.*}} outs(%[[ROWS]] : tensor<1x64x28x28xf32>)
#x = affine_map<(n, k, i, j, c) -> (n, c, i, j)>
#w = affine_map<(n, k, i, j, c) -> (k, c)>
#sum = affine_map<(n, k, i, j, c) -> (n, k, i, j)>
#all = affine_map<(n, k, i, j) -> (n, k, i, j)>
#window = affine_map<(n, k, i, j, r, s) -> (n, k, i + r, j + s)>
#depth = affine_map<(n, k, i, j, r, s) -> (k, r, s)>
#sums = affine_map<(n, k, i, j, r, s) -> (n, k, i, j)>
func.func @chain(
    %x: tensor<1x32x28x28xf32> {skript.role = "input"}, %first: tensor<64x32xf32> {skript.role = "variable"},
    %filter: tensor<64x3x3xf32> {skript.role = "variable"}, %last: tensor<64x64xf32> {skript.role = "variable"})
    -> tensor<1x64x28x28xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x64x28x28xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32>
  %a = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %first : tensor<1x32x28x28xf32>, tensor<64x32xf32>) outs(%start : tensor<1x64x28x28xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %product = arith.mulf %p, %q : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x64x28x28xf32>
  %b = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%a : tensor<1x64x28x28xf32>) outs(%empty : tensor<1x64x28x28xf32>) {
  ^bb0(%p: f32, %o: f32):
    %relu = arith.maximumf %p, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<1x64x28x28xf32>
  %larger = tensor.empty() : tensor<1x64x30x30xf32>
  %border = linalg.fill ins(%zero : f32) outs(%larger : tensor<1x64x30x30xf32>) -> tensor<1x64x30x30xf32>
  %padded = tensor.insert_slice %b into %border[0, 0, 1, 1] [1, 64, 28, 28] [1, 1, 1, 1]
      : tensor<1x64x28x28xf32> into tensor<1x64x30x30xf32>
  %c = linalg.generic {indexing_maps = [#window, #depth, #sums],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%padded, %filter : tensor<1x64x30x30xf32>, tensor<64x3x3xf32>) outs(%start : tensor<1x64x28x28xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %channel = linalg.index 1 : index
    %seven = arith.constant 7 : index
    %is_other = arith.cmpi ne, %channel, %seven : index
    %product = arith.mulf %p, %q : f32
    %term = arith.select %is_other, %product, %zero : f32
    %next = arith.addf %s, %term : f32
    linalg.yield %next : f32
  } -> tensor<1x64x28x28xf32>
  %d = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%c, %last : tensor<1x64x28x28xf32>, tensor<64x64xf32>) outs(%start : tensor<1x64x28x28xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %product = arith.mulf %p, %q : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x64x28x28xf32>
  return %d : tensor<1x64x28x28xf32>
}
