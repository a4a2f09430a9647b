// RUN: skript-opt %s --skript-compute-integers --canonicalize --cse | FileCheck %s

// Limits of an activation become those of the quantization behind it: 0 to 24 steps of a quarter for 0 to 6. NaN is less than no number,
// and so becomes 0.
#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (j, k)>
#sum = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func.func @limited
// CHECK-SAME:    %[[X:.+]]: tensor<5x7xf32>
// CHECK-DAG:     %[[LEAST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG:     %[[MOST:.+]] = arith.constant 2.400000e+01 : f32
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : tensor<5x7xf32>) outs({{.+}} : tensor<5x7xi8>)
// CHECK-NOT:       imumf
// CHECK:           %[[V:.+]] = arith.mulf
// CHECK-NEXT:      %[[IS_ABOVE:.+]] = arith.cmpf ogt, %[[V]], %[[LEAST]]
// CHECK-NEXT:      %[[ABOVE:.+]] = arith.select %[[IS_ABOVE]], %[[V]], %[[LEAST]]
// CHECK-NEXT:      %[[IS_BELOW:.+]] = arith.cmpf olt, %[[ABOVE]], %[[MOST]]
// CHECK-NEXT:      %[[WITHIN:.+]] = arith.select %[[IS_BELOW]], %[[ABOVE]], %[[MOST]]
// CHECK-NEXT:      math.roundeven %[[WITHIN]]
func.func @limited(
    %x: tensor<5x7xf32> {skript.role = "input"}, %w: tensor<4x7xi64> {skript.role = "variable"},
    %s: tensor<4xf32> {skript.role = "variable"}) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %scale = arith.constant 0.25 : f32
  %lowest = arith.constant -9.22337203E+18 : f32
  %highest = arith.constant 9.22337203E+18 : f32
  %least64 = arith.constant -9223372036854775808 : i64
  %most64 = arith.constant 9223372036854775807 : i64
  %least = arith.constant -128 : index
  %most = arith.constant 127 : index
  %bytes = tensor.empty() : tensor<5x7xf32>
  %xq = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x7xf32>) outs(%bytes : tensor<5x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %least_real = arith.maximumf %a, %zero : f32
    %most_real = arith.minimumf %least_real, %six : f32
    %scaled = arith.divf %most_real, %scale : f32
    %below = math.floor %scaled : f32
    %distance = arith.subf %scaled, %below : f32
    %is_below = arith.cmpf olt, %distance, %half : f32
    %is_above = arith.cmpf ogt, %distance, %half : f32
    %above = arith.addf %below, %one : f32
    %rest = arith.remf %below, %two : f32
    %is_even = arith.cmpf oeq, %rest, %zero : f32
    %even = arith.select %is_even, %below, %above : f32
    %upper = arith.select %is_above, %above, %even : f32
    %rounded = arith.select %is_below, %below, %upper : f32
    %inside0 = arith.cmpf ogt, %rounded, %lowest : f32
    %inside1 = arith.cmpf olt, %rounded, %highest : f32
    %inside = arith.andi %inside0, %inside1 : i1
    %guarded = arith.select %inside, %rounded, %zero : f32
    %integer = arith.fptosi %guarded : f32 to i64
    %is_low = arith.cmpf ole, %rounded, %lowest : f32
    %is_high = arith.cmpf oge, %rounded, %highest : f32
    %limited0 = arith.select %is_low, %least64, %integer : i64
    %limited1 = arith.select %is_high, %most64, %limited0 : i64
    %index = arith.index_cast %limited1 : i64 to index
    %raised = arith.maxsi %index, %least : index
    %level = arith.minsi %raised, %most : index
    %word = arith.index_cast %level : index to i64
    %real = arith.sitofp %word : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<5x7xf32>
  %weights = tensor.empty() : tensor<4x7xf32>
  %wq = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%w, %s : tensor<4x7xi64>, tensor<4xf32>) outs(%weights : tensor<4x7xf32>) {
  ^bb0(%a: i64, %f: f32, %o: f32):
    %index = arith.index_cast %a : i64 to index
    %raised = arith.maxsi %index, %least : index
    %level = arith.minsi %raised, %most : index
    %word = arith.index_cast %level : index to i64
    %real = arith.sitofp %word : i64 to f32
    %y = arith.mulf %real, %f : f32
    linalg.yield %y : f32
  } -> tensor<4x7xf32>
  %empty = tensor.empty() : tensor<5x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x4xf32>) -> tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%xq, %wq : tensor<5x7xf32>, tensor<4x7xf32>) outs(%start : tensor<5x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %c, %product : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// A product of ints, as formulas compute it: in index, limited and less a zero point before. A limit of what is computed otherwise is one as well.
// CHECK-LABEL: func.func @ints
// CHECK-SAME:    %[[X:.+]]: tensor<5x7xi64> {{.*}}, %[[Z:.+]]: tensor<7xi64> {{.*}}, %[[W:.+]]: tensor<4x7xi64>
// CHECK:         %[[BYTES:.+]] = linalg.generic {{.*}} ins(%[[X]], %[[Z]] : tensor<5x7xi64>, tensor<7xi64>) outs({{.+}} : tensor<5x7xi8>)
// CHECK:         %[[WEIGHTS:.+]] = linalg.generic {{.*}} ins(%[[W]] : tensor<4x7xi64>) outs({{.+}} : tensor<4x7xi8>)
// CHECK:         %[[SUMS:.+]] = linalg.generic {{.*}} ins(%[[BYTES]], %[[WEIGHTS]] : tensor<5x7xi8>, tensor<4x7xi8>) outs({{.+}} : tensor<5x4xi32>)
// CHECK:         linalg.generic {{.*}} ins(%[[SUMS]] : tensor<5x4xi32>) outs({{.+}} : tensor<5x4xi64>)
// CHECK:           arith.extsi {{.+}} : i32 to i64
func.func @ints(
    %x: tensor<5x7xi64> {skript.role = "input"}, %z: tensor<7xi64> {skript.role = "input"},
    %w: tensor<4x7xi64> {skript.role = "variable"}) -> tensor<5x4xi64> {
  %zero = arith.constant 0 : i64
  %none = arith.constant 0 : index
  %least = arith.constant -128 : index
  %most = arith.constant 127 : index
  %all = arith.constant 255 : index
  %bytes = tensor.empty() : tensor<5x7xi64>
  %xq = linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (j)>, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %z : tensor<5x7xi64>, tensor<7xi64>) outs(%bytes : tensor<5x7xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %first = arith.index_cast %a : i64 to index
    %second = arith.index_cast %b : i64 to index
    %sum = arith.addi %first, %second : index
    %raised = arith.maxsi %sum, %none : index
    %level = arith.minsi %raised, %all : index
    %y = arith.index_cast %level : index to i64
    linalg.yield %y : i64
  } -> tensor<5x7xi64>
  %weights = tensor.empty() : tensor<4x7xi64>
  %wq = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<4x7xi64>) outs(%weights : tensor<4x7xi64>) {
  ^bb0(%a: i64, %o: i64):
    %index = arith.index_cast %a : i64 to index
    %raised = arith.maxsi %index, %least : index
    %level = arith.minsi %raised, %most : index
    %y = arith.index_cast %level : index to i64
    linalg.yield %y : i64
  } -> tensor<4x7xi64>
  %empty = tensor.empty() : tensor<5x4xi64>
  %start = linalg.fill ins(%zero : i64) outs(%empty : tensor<5x4xi64>) -> tensor<5x4xi64>
  %y = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%xq, %wq : tensor<5x7xi64>, tensor<4x7xi64>) outs(%start : tensor<5x4xi64>) {
  ^bb0(%a: i64, %b: i64, %c: i64):
    %first = arith.index_cast %a : i64 to index
    %second = arith.index_cast %b : i64 to index
    %product = arith.muli %first, %second : index
    %wide = arith.index_cast %product : index to i64
    %next = arith.addi %c, %wide : i64
    linalg.yield %next : i64
  } -> tensor<5x4xi64>
  return %y : tensor<5x4xi64>
}
