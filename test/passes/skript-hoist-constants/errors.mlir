// RUN: skript-opt %s --skript-hoist-constants | FileCheck %s

// Nothing is hoisted: a scale is an input, a call updates a variable, the scalar varies along all loops, a reduction reads the weights.
#all = affine_map<(i, j) -> (i, j)>
#channel = affine_map<(i, j) -> (j)>
#row = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func.func @input
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @input(
    %x: tensor<5x7xf32> {skript.role = "input"}, %a: tensor<7xf32> {skript.role = "input"},
    %b: tensor<7xf32> {skript.role = "variable"}) -> tensor<5x7xf32> {
  %empty = tensor.empty() : tensor<5x7xf32>
  %y = linalg.generic {indexing_maps = [#all, #channel, #channel, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %a, %b : tensor<5x7xf32>, tensor<7xf32>, tensor<7xf32>) outs(%empty : tensor<5x7xf32>) {
  ^bb0(%e: f32, %s: f32, %t: f32, %o: f32):
    %scale = arith.mulf %s, %t : f32
    %scaled = arith.mulf %e, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<5x7xf32>
  return %y : tensor<5x7xf32>
}

// CHECK-LABEL: func.func @updated
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @updated(
    %x: tensor<5x7xf32> {skript.role = "input"}, %a: tensor<7xf32> {skript.role = "variable", skript.updated = 0 : i64},
    %b: tensor<7xf32> {skript.role = "variable"}) -> tensor<5x7xf32> {
  %empty = tensor.empty() : tensor<5x7xf32>
  %y = linalg.generic {indexing_maps = [#all, #channel, #channel, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %a, %b : tensor<5x7xf32>, tensor<7xf32>, tensor<7xf32>) outs(%empty : tensor<5x7xf32>) {
  ^bb0(%e: f32, %s: f32, %t: f32, %o: f32):
    %scale = arith.mulf %s, %t : f32
    %scaled = arith.mulf %e, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<5x7xf32>
  return %y : tensor<5x7xf32>
}

// CHECK-LABEL: func.func @all_loops
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @all_loops(
    %x: tensor<5x7xf32> {skript.role = "input"}, %a: tensor<5xf32> {skript.role = "variable"},
    %b: tensor<7xf32> {skript.role = "variable"}) -> tensor<5x7xf32> {
  %empty = tensor.empty() : tensor<5x7xf32>
  %y = linalg.generic {indexing_maps = [#all, #row, #channel, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %a, %b : tensor<5x7xf32>, tensor<5xf32>, tensor<7xf32>) outs(%empty : tensor<5x7xf32>) {
  ^bb0(%e: f32, %s: f32, %t: f32, %o: f32):
    %scale = arith.mulf %s, %t : f32
    %scaled = arith.mulf %e, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<5x7xf32>
  return %y : tensor<5x7xf32>
}

// CHECK-LABEL: func.func @reduction
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @reduction(
    %x: tensor<5x7xi32> {skript.role = "input"}, %w: tensor<7xi8> {skript.role = "variable"},
    %start: tensor<5xi32> {skript.role = "input"}) -> tensor<5xi32> {
  %y = linalg.generic {indexing_maps = [#all, #channel, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<5x7xi32>, tensor<7xi8>) outs(%start : tensor<5xi32>) {
  ^bb0(%e: i32, %b: i8, %s: i32):
    %wide = arith.extsi %b : i8 to i32
    %product = arith.muli %e, %wide : i32
    %next = arith.addi %s, %product : i32
    linalg.yield %next : i32
  } -> tensor<5xi32>
  return %y : tensor<5xi32>
}
