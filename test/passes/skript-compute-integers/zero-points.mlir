// RUN: skript-opt %s --skript-compute-integers --canonicalize --cse | FileCheck %s

// The zero point is known only at run time: integers of 0 to 255 less one of 0 to 255. The bytes are stored without it; borders are bytes
// of the zero point, and the sums of weights are multiplied by it.
#all = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>
#x = affine_map<(c, p, q) -> (p + q)>
#w = affine_map<(c, p, q) -> (c, q)>
#sum = affine_map<(c, p, q) -> (c, p)>
#line = affine_map<(i) -> (i)>
#zero = affine_map<(i) -> ()>
// CHECK-LABEL: func.func @window
// CHECK-SAME:    %[[X:.+]]: tensor<9xi64> {{.*}}, %[[Z:.+]]: tensor<i64> {{.*}}, %[[W:.+]]: tensor<4x3xi64>
// CHECK:         %[[ZERO:.+]] = linalg.generic {{.*}} ins({{.+}} : tensor<i64>) outs({{.+}} : tensor<i32>)
// CHECK:         %[[BYTES:.+]] = linalg.generic {{.*}} outs({{.+}} : tensor<9xi8>)
// CHECK:         %[[OUTSIDE:.+]] = tensor.extract %[[ZERO]][] : tensor<i32>
// CHECK:         %[[BYTE:.+]] = arith.trunci %[[OUTSIDE]] : i32 to i8
// CHECK:         %[[BORDER:.+]] = linalg.fill ins(%[[BYTE]] : i8) outs({{.+}} : tensor<11xi8>)
// CHECK:         %[[PADDED:.+]] = tensor.insert_slice %[[BYTES]] into %[[BORDER]][1] [9] [1]
// CHECK:         %[[ROWS:.+]] = linalg.generic {{.*}}"reduction"]} ins({{.+}} : tensor<4x3xi8>) outs({{.+}} : tensor<4xi32>)
// CHECK:         %[[SUMS:.+]] = linalg.generic {{.*}} ins(%[[PADDED]], {{.+}} : tensor<11xi8>, tensor<4x3xi8>) outs({{.+}} : tensor<4x9xi32>)
// CHECK:         linalg.generic {{.*}} ins(%[[SUMS]], %[[ROWS]], %[[ZERO]] : tensor<4x9xi32>, tensor<4xi32>, tensor<i32>)
// CHECK:           %[[LESS:.+]] = arith.subi %{{.+}}, %{{.+}} : i32
// CHECK:           arith.muli %{{.+}}, %[[LESS]] : i32
func.func @window(
    %x: tensor<9xi64> {skript.role = "input"}, %z: tensor<i64> {skript.role = "input"},
    %w: tensor<4x3xi64> {skript.role = "variable"}) -> tensor<4x9xi64> {
  %none = arith.constant 0 : i64
  %most = arith.constant 255 : i64
  %least = arith.constant -128 : i64
  %largest = arith.constant 127 : i64
  %own = tensor.empty() : tensor<9xi64>
  %xq = linalg.generic {indexing_maps = [#line, #zero, #line], iterator_types = ["parallel"]}
      ins(%x, %z : tensor<9xi64>, tensor<i64>) outs(%own : tensor<9xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %raised = arith.maxsi %a, %none : i64
    %limited = arith.minsi %raised, %most : i64
    %z0 = arith.maxsi %b, %none : i64
    %z1 = arith.minsi %z0, %most : i64
    %difference = arith.subi %limited, %z1 : i64
    linalg.yield %difference : i64
  } -> tensor<9xi64>
  %wide = tensor.empty() : tensor<11xi64>
  %outside = linalg.fill ins(%none : i64) outs(%wide : tensor<11xi64>) -> tensor<11xi64>
  %padded = tensor.insert_slice %xq into %outside[1] [9] [1] : tensor<9xi64> into tensor<11xi64>
  %weights = tensor.empty() : tensor<4x3xi64>
  %wq = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<4x3xi64>) outs(%weights : tensor<4x3xi64>) {
  ^bb0(%a: i64, %o: i64):
    %raised = arith.maxsi %a, %least : i64
    %limited = arith.minsi %raised, %largest : i64
    linalg.yield %limited : i64
  } -> tensor<4x3xi64>
  %empty = tensor.empty() : tensor<4x9xi64>
  %start = linalg.fill ins(%none : i64) outs(%empty : tensor<4x9xi64>) -> tensor<4x9xi64>
  %y = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %wq : tensor<11xi64>, tensor<4x3xi64>) outs(%start : tensor<4x9xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %product = arith.muli %a, %b : i64
    %sum = arith.addi %o, %product : i64
    linalg.yield %sum : i64
  } -> tensor<4x9xi64>
  return %y : tensor<4x9xi64>
}

// A zero point for each element stays: sums of its products with weights are none of weights.
// CHECK-LABEL: func.func @by_element
// CHECK-NOT:     i8
// CHECK:         return
func.func @by_element(
    %x: tensor<9xi64> {skript.role = "input"}, %z: tensor<9xi64> {skript.role = "input"}) -> tensor<9xi64> {
  %none = arith.constant 0 : i64
  %most = arith.constant 255 : i64
  %own = tensor.empty() : tensor<9xi64>
  %xq = linalg.generic {indexing_maps = [#line, #line, #line], iterator_types = ["parallel"]}
      ins(%x, %z : tensor<9xi64>, tensor<9xi64>) outs(%own : tensor<9xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %raised = arith.maxsi %a, %none : i64
    %limited = arith.minsi %raised, %most : i64
    %z0 = arith.maxsi %b, %none : i64
    %z1 = arith.minsi %z0, %most : i64
    %difference = arith.subi %limited, %z1 : i64
    linalg.yield %difference : i64
  } -> tensor<9xi64>
  return %xq : tensor<9xi64>
}

// Weights without a sign and with a zero point need the sums of the input as well: first along its channels, then of each window. What
// both zero points contribute is one product: bytes of weights are seven more than weights, of which each sum has six.
#image = affine_map<(c, p, k, q) -> (k, p + q)>
#filter = affine_map<(c, p, k, q) -> (c, k, q)>
#out = affine_map<(c, p, k, q) -> (c, p)>
#cube = affine_map<(i, j, k) -> (i, j, k)>
// CHECK-LABEL: func.func @unsigned
// CHECK-SAME:    %[[X:.+]]: tensor<2x11xi64> {{.*}}, %[[Z:.+]]: tensor<i64> {{.*}}, %[[W:.+]]: tensor<4x2x3xi64>
// CHECK:         %[[BYTES:.+]] = linalg.generic {{.*}} outs({{.+}} : tensor<2x11xi8>)
// CHECK:         %[[WEIGHTS:.+]] = linalg.generic {{.*}} ins(%[[W]] : tensor<4x2x3xi64>) outs({{.+}} : tensor<4x2x3xi8>)
// CHECK:         %[[ROWS:.+]] = linalg.generic {{.*}} ins(%[[WEIGHTS]] : tensor<4x2x3xi8>) outs({{.+}} : tensor<4xi32>)
// CHECK:         %[[CHANNELS:.+]] = linalg.generic {{.*}} ins(%[[BYTES]] : tensor<2x11xi8>) outs({{.+}} : tensor<11xi32>)
// CHECK:         %[[SIZE:.+]] = tensor.empty() : tensor<3xi32>
// CHECK:         %[[WINDOWS:.+]] = linalg.generic {{.*}} ins(%[[CHANNELS]], %[[SIZE]] : tensor<11xi32>, tensor<3xi32>) outs({{.+}} : tensor<9xi32>)
// CHECK:         %[[SUMS:.+]] = linalg.generic {{.*}} ins(%[[BYTES]], %[[WEIGHTS]] : tensor<2x11xi8>, tensor<4x2x3xi8>) outs({{.+}} : tensor<4x9xi32>)
// CHECK:         linalg.generic {{.*}} ins(%[[SUMS]], %[[ROWS]], {{.+}}, %[[WINDOWS]] : tensor<4x9xi32>, tensor<4xi32>, tensor<i32>, tensor<9xi32>)
// CHECK:           arith.muli %{{.+}}, %c42_i32 : i32
func.func @unsigned(
    %x: tensor<2x11xi64> {skript.role = "input"}, %z: tensor<i64> {skript.role = "input"},
    %w: tensor<4x2x3xi64> {skript.role = "variable"}) -> tensor<4x9xi64> {
  %none = arith.constant 0 : i64
  %most = arith.constant 255 : i64
  %own = arith.constant 121 : i64
  %inputs = tensor.empty() : tensor<2x11xi64>
  %xq = linalg.generic {indexing_maps = [#all, #none, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %z : tensor<2x11xi64>, tensor<i64>) outs(%inputs : tensor<2x11xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %raised = arith.maxsi %a, %none : i64
    %limited = arith.minsi %raised, %most : i64
    %z0 = arith.maxsi %b, %none : i64
    %z1 = arith.minsi %z0, %most : i64
    %difference = arith.subi %limited, %z1 : i64
    linalg.yield %difference : i64
  } -> tensor<2x11xi64>
  %weights = tensor.empty() : tensor<4x2x3xi64>
  %wq = linalg.generic {indexing_maps = [#cube, #cube], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w : tensor<4x2x3xi64>) outs(%weights : tensor<4x2x3xi64>) {
  ^bb0(%a: i64, %o: i64):
    %raised = arith.maxsi %a, %none : i64
    %limited = arith.minsi %raised, %most : i64
    %difference = arith.subi %limited, %own : i64
    linalg.yield %difference : i64
  } -> tensor<4x2x3xi64>
  %empty = tensor.empty() : tensor<4x9xi64>
  %start = linalg.fill ins(%none : i64) outs(%empty : tensor<4x9xi64>) -> tensor<4x9xi64>
  %y = linalg.generic {indexing_maps = [#image, #filter, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%xq, %wq : tensor<2x11xi64>, tensor<4x2x3xi64>) outs(%start : tensor<4x9xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %product = arith.muli %a, %b : i64
    %sum = arith.addi %o, %product : i64
    linalg.yield %sum : i64
  } -> tensor<4x9xi64>
  return %y : tensor<4x9xi64>
}
