// RUN: skript-opt %s --skript-compute-integers --canonicalize --cse | FileCheck %s

// Nothing becomes a byte: integers without limits, limits of nine bits, a scale that varies along the reduction, and a sum that
// exceeds 32 bits.
#x = affine_map<(i, k) -> (k)>
#w = affine_map<(i, k) -> (i, k)>
#sum = affine_map<(i, k) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#vector = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @unlimited
// CHECK-NOT:     i8
func.func @unlimited(%x: tensor<7xi64> {skript.role = "input"}) -> tensor<7xf32> {
  %scale = arith.constant 0.5 : f32
  %empty = tensor.empty() : tensor<7xf32>
  %y = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%x : tensor<7xi64>) outs(%empty : tensor<7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %real = arith.sitofp %a : i64 to f32
    %scaled = arith.mulf %real, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// CHECK-LABEL: func.func @nine_bits
// CHECK-NOT:     i8
func.func @nine_bits(%x: tensor<7xi64> {skript.role = "input"}) -> tensor<7xf32> {
  %scale = arith.constant 0.5 : f32
  %least = arith.constant -1 : i64
  %most = arith.constant 255 : i64
  %empty = tensor.empty() : tensor<7xf32>
  %y = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%x : tensor<7xi64>) outs(%empty : tensor<7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %raised = arith.maxsi %a, %least : i64
    %level = arith.minsi %raised, %most : i64
    %real = arith.sitofp %level : i64 to f32
    %scaled = arith.mulf %real, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// The sum of products stays in reals.
// CHECK-LABEL: func.func @scale_along_reduction
// CHECK-NOT:     arith.muli
// CHECK:         arith.addf {{.+}} : f32
func.func @scale_along_reduction(
    %x: tensor<7xi8> {skript.role = "input"}, %w: tensor<4x7xi8> {skript.role = "variable"},
    %s: tensor<7xf32> {skript.role = "variable"}) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %xs = tensor.empty() : tensor<7xf32>
  %xq = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%x : tensor<7xi8>) outs(%xs : tensor<7xf32>) {
  ^bb0(%a: i8, %o: f32):
    %real = arith.sitofp %a : i8 to f32
    linalg.yield %real : f32
  } -> tensor<7xf32>
  %ws = tensor.empty() : tensor<4x7xf32>
  %wq = linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%w, %s : tensor<4x7xi8>, tensor<7xf32>) outs(%ws : tensor<4x7xf32>) {
  ^bb0(%a: i8, %f: f32, %o: f32):
    %real = arith.sitofp %a : i8 to f32
    %scaled = arith.mulf %real, %f : f32
    linalg.yield %scaled : f32
  } -> tensor<4x7xf32>
  %empty = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%xq, %wq : tensor<7xf32>, tensor<4x7xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %c, %product : f32
    linalg.yield %next : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// 150 000 products of two bytes: the sum may exceed 2³¹.
// CHECK-LABEL: func.func @long_sum
// CHECK-NOT:     arith.muli
// CHECK:         arith.addf {{.+}} : f32
func.func @long_sum(
    %x: tensor<150000xi8> {skript.role = "input"}, %w: tensor<4x150000xi8> {skript.role = "variable"}) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %xs = tensor.empty() : tensor<150000xf32>
  %xq = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%x : tensor<150000xi8>) outs(%xs : tensor<150000xf32>) {
  ^bb0(%a: i8, %o: f32):
    %real = arith.sitofp %a : i8 to f32
    linalg.yield %real : f32
  } -> tensor<150000xf32>
  %ws = tensor.empty() : tensor<4x150000xf32>
  %wq = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<4x150000xi8>) outs(%ws : tensor<4x150000xf32>) {
  ^bb0(%a: i8, %o: f32):
    %real = arith.sitofp %a : i8 to f32
    linalg.yield %real : f32
  } -> tensor<4x150000xf32>
  %empty = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%xq, %wq : tensor<150000xf32>, tensor<4x150000xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %c, %product : f32
    linalg.yield %next : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
