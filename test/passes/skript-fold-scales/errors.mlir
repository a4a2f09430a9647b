// RUN: skript-opt %s --skript-fold-scales | FileCheck %s

// Nothing is folded: the scale is an input, a call updates the weights, the scale varies along the rows, which the weights do not, the
// sum has another user, the numbers are neither f32 nor f64, and an addition alone has no scale.
#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (k, j)>
#sum = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#channel = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @input_scale
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @input_scale(
    %x: tensor<5x7xf32> {skript.role = "input"}, %w: tensor<7x4xf32> {skript.role = "variable"},
    %mean: tensor<4xf32> {skript.role = "variable"}, %scale: tensor<4xf32> {skript.role = "input"}) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x4xf32>) -> tensor<5x4xf32>
  %sums = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<5x7xf32>, tensor<7x4xf32>) outs(%start : tensor<5x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [#all, #channel, #channel, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %mean, %scale : tensor<5x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<5x4xf32>) {
  ^bb0(%s: f32, %m: f32, %f: f32, %o: f32):
    %centered = arith.subf %s, %m : f32
    %scaled = arith.mulf %centered, %f : f32
    %relu = arith.maximumf %scaled, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// CHECK-LABEL: func.func @updated_weights
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @updated_weights(
    %x: tensor<5x7xf32> {skript.role = "input"}, %w: tensor<7x4xf32> {skript.role = "variable", skript.updated = 0 : i64},
    %mean: tensor<4xf32> {skript.role = "variable"}, %scale: tensor<4xf32> {skript.role = "variable"}) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x4xf32>) -> tensor<5x4xf32>
  %sums = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<5x7xf32>, tensor<7x4xf32>) outs(%start : tensor<5x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [#all, #channel, #channel, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %mean, %scale : tensor<5x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<5x4xf32>) {
  ^bb0(%s: f32, %m: f32, %f: f32, %o: f32):
    %centered = arith.subf %s, %m : f32
    %scaled = arith.mulf %centered, %f : f32
    %relu = arith.maximumf %scaled, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @rows(
    %x: tensor<5x7xf32> {skript.role = "input"}, %w: tensor<7x4xf32> {skript.role = "variable"},
    %mean: tensor<5xf32> {skript.role = "variable"}, %scale: tensor<5xf32> {skript.role = "variable"}) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x4xf32>) -> tensor<5x4xf32>
  %sums = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<5x7xf32>, tensor<7x4xf32>) outs(%start : tensor<5x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [#all, #row, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %mean, %scale : tensor<5x4xf32>, tensor<5xf32>, tensor<5xf32>) outs(%empty : tensor<5x4xf32>) {
  ^bb0(%s: f32, %m: f32, %f: f32, %o: f32):
    %centered = arith.subf %s, %m : f32
    %scaled = arith.mulf %centered, %f : f32
    %relu = arith.maximumf %scaled, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// CHECK-LABEL: func.func @two_users
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @two_users(
    %x: tensor<5x7xf32> {skript.role = "input"}, %w: tensor<7x4xf32> {skript.role = "variable"},
    %mean: tensor<4xf32> {skript.role = "variable"}, %scale: tensor<4xf32> {skript.role = "variable"}) -> (tensor<5x4xf32>, tensor<5x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x4xf32>) -> tensor<5x4xf32>
  %sums = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<5x7xf32>, tensor<7x4xf32>) outs(%start : tensor<5x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [#all, #channel, #channel, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %mean, %scale : tensor<5x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<5x4xf32>) {
  ^bb0(%s: f32, %m: f32, %f: f32, %o: f32):
    %centered = arith.subf %s, %m : f32
    %scaled = arith.mulf %centered, %f : f32
    %relu = arith.maximumf %scaled, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<5x4xf32>
  return %y, %sums : tensor<5x4xf32>, tensor<5x4xf32>
}

// CHECK-LABEL: func.func @half
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @half(
    %x: tensor<5x7xf16> {skript.role = "input"}, %w: tensor<7x4xf16> {skript.role = "variable"},
    %mean: tensor<4xf16> {skript.role = "variable"}, %scale: tensor<4xf16> {skript.role = "variable"}) -> tensor<5x4xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<5x4xf16>
  %start = linalg.fill ins(%zero : f16) outs(%empty : tensor<5x4xf16>) -> tensor<5x4xf16>
  %sums = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<5x7xf16>, tensor<7x4xf16>) outs(%start : tensor<5x4xf16>) {
  ^bb0(%a: f16, %b: f16, %s: f16):
    %product = arith.mulf %a, %b : f16
    %next = arith.addf %s, %product : f16
    linalg.yield %next : f16
  } -> tensor<5x4xf16>
  %y = linalg.generic {indexing_maps = [#all, #channel, #channel, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %mean, %scale : tensor<5x4xf16>, tensor<4xf16>, tensor<4xf16>) outs(%empty : tensor<5x4xf16>) {
  ^bb0(%s: f16, %m: f16, %f: f16, %o: f16):
    %centered = arith.subf %s, %m : f16
    %scaled = arith.mulf %centered, %f : f16
    %relu = arith.maximumf %scaled, %zero : f16
    linalg.yield %relu : f16
  } -> tensor<5x4xf16>
  return %y : tensor<5x4xf16>
}

// CHECK-LABEL: func.func @offset
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @offset(
    %x: tensor<5x7xf32> {skript.role = "input"}, %w: tensor<7x4xf32> {skript.role = "variable"},
    %mean: tensor<4xf32> {skript.role = "variable"}, %scale: tensor<4xf32> {skript.role = "variable"}) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x4xf32>) -> tensor<5x4xf32>
  %sums = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<5x7xf32>, tensor<7x4xf32>) outs(%start : tensor<5x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [#all, #channel, #channel, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %mean, %scale : tensor<5x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<5x4xf32>) {
  ^bb0(%s: f32, %m: f32, %f: f32, %o: f32):
    %centered = arith.subf %s, %m : f32
    %scaled = arith.addf %centered, %f : f32
    %relu = arith.maximumf %scaled, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}
