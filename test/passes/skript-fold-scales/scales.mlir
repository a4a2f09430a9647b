// RUN: skript-opt %s --skript-fold-scales --canonicalize --cse | FileCheck %s

// The products of the weights with the scales are computed before the sums, which become larger by one addition.
// CHECK-LABEL: func.func @product
// CHECK-SAME:    %[[X:[^ ]+]]: tensor<5x7xf32> {{.*}}, %[[W:[^ ]+]]: tensor<7x4xf32> {{.*}}, %[[MEAN:[^ ]+]]: tensor<4xf32> {{.*}}, %[[SCALE:[^ ]+]]: tensor<4xf32>
// CHECK:         %[[SCALED:.+]] = linalg.generic {{.*}} ins(%[[W]], %[[SCALE]] : tensor<7x4xf32>, tensor<4xf32>)
// CHECK:           arith.mulf
// CHECK:         %[[SUM:.+]] = linalg.generic {{.*}} ins(%[[X]], %[[SCALED]] :
// CHECK:         %[[B:.+]] = linalg.generic {{.*}} ins(%[[MEAN]], %[[SCALE]] : tensor<4xf32>, tensor<4xf32>)
// CHECK:           %[[NEGATED:.+]] = arith.negf
// CHECK:           arith.mulf %[[NEGATED]]
// CHECK:         linalg.generic {{.*}} ins(%[[SUM]], %[[B]] : tensor<5x4xf32>, tensor<4xf32>)
// CHECK:           %[[Y:.+]] = arith.addf
// CHECK-NEXT:      arith.maximumf %[[Y]]
#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (k, j)>
#sum = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>
#channel = affine_map<(i, j) -> (j)>
func.func @product(
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
    %scaled = arith.mulf %centered, %f : f32
    %relu = arith.maximumf %scaled, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// A bias is scaled as well.
// CHECK-LABEL: func.func @bias
// CHECK-SAME:    %[[BIAS:[^ ]+]]: tensor<4xf32> {skript.role = "variable"}, %[[SCALE:[^ ]+]]: tensor<4xf32>
// CHECK:         %[[SCALED:.+]] = linalg.generic {{.*}} ins(%[[BIAS]], %{{.*}} : tensor<4xf32>, tensor<4xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[SCALED]] : tensor<4xf32>) outs(%{{.*}} : tensor<5x4xf32>)
func.func @bias(
    %x: tensor<5x7xf32> {skript.role = "input"}, %w: tensor<7x4xf32> {skript.role = "variable"},
    %bias: tensor<4xf32> {skript.role = "variable"}, %scale: tensor<4xf32> {skript.role = "variable"}) -> tensor<5x4xf32> {
  %empty = tensor.empty() : tensor<5x4xf32>
  %start = linalg.generic {indexing_maps = [#channel, #all], iterator_types = ["parallel", "parallel"]}
      ins(%bias : tensor<4xf32>) outs(%empty : tensor<5x4xf32>) {
  ^bb0(%b: f32, %o: f32):
    linalg.yield %b : f32
  } -> tensor<5x4xf32>
  %sums = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<5x7xf32>, tensor<7x4xf32>) outs(%start : tensor<5x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %scale : tensor<5x4xf32>, tensor<4xf32>) outs(%empty : tensor<5x4xf32>) {
  ^bb0(%s: f32, %f: f32, %o: f32):
    %scaled = arith.divf %s, %f : f32
    linalg.yield %scaled : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// Two sums that end together, as those of a residual block: each has its own weights.
// CHECK-LABEL: func.func @residual
// CHECK-NOT:     arith.divf
// CHECK-COUNT-2: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<5x7xf32>, tensor<7x4xf32>)
// CHECK:         linalg.generic {{.*}} : tensor<5x4xf32>, tensor<5x4xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK:         %[[FIRST:.+]] = arith.addf
// CHECK-NEXT:    arith.addf %[[FIRST]]
func.func @residual(
    %x: tensor<5x7xf32> {skript.role = "input"}, %w: tensor<7x4xf32> {skript.role = "variable"},
    %v: tensor<7x4xf32> {skript.role = "variable"}, %scale: tensor<4xf32> {skript.role = "variable"},
    %shift: tensor<4xf32> {skript.role = "variable"}) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x4xf32>) -> tensor<5x4xf32>
  %first = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<5x7xf32>, tensor<7x4xf32>) outs(%start : tensor<5x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  %second = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<5x7xf32>, tensor<7x4xf32>) outs(%start : tensor<5x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [#all, #all, #channel, #channel, #all], iterator_types = ["parallel", "parallel"]}
      ins(%first, %second, %scale, %shift : tensor<5x4xf32>, tensor<5x4xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%empty : tensor<5x4xf32>) {
  ^bb0(%s: f32, %t: f32, %f: f32, %d: f32, %o: f32):
    %scaled = arith.mulf %s, %f : f32
    %shifted = arith.addf %scaled, %d : f32
    %other = arith.mulf %t, %f : f32
    %sum = arith.addf %shifted, %other : f32
    linalg.yield %sum : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}
