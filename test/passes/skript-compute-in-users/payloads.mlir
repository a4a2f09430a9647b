// RUN: skript-opt %s --skript-compute-in-users | FileCheck %s
// RUN: skript-opt %s --skript-compute-in-users=operations=2 | FileCheck %s --check-prefix=BOUNDED

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The difference to a mean is one operation: both users compute it. The sum of its squares reads no tensor of squares, which would
// take a loop of the same reduction.
// CHECK-LABEL: func.func @normalized
// CHECK-SAME:    %[[X:[^ ]+]]: tensor<8x16xf32>, %[[MEAN:[^ ]+]]: tensor<8xf32>
// CHECK:         %[[SUM:.+]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[MEAN]] :
// CHECK:           arith.subf
// CHECK:           arith.mulf
// CHECK:           arith.addf
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[MEAN]], %[[SUM]] :
// CHECK:           arith.subf
// CHECK:           arith.divf
// CHECK-NOT:     linalg.generic

// A payload of at most two operations.
// BOUNDED-LABEL: func.func @normalized
// BOUNDED:         linalg.generic
// BOUNDED-NEXT:    ^bb0
// BOUNDED-NEXT:      arith.subf
// BOUNDED-NEXT:      arith.mulf
// BOUNDED-NEXT:      linalg.yield
// BOUNDED:         linalg.generic
// BOUNDED-NEXT:    ^bb0
// BOUNDED-NEXT:      arith.addf
func.func @normalized(%x: tensor<8x16xf32>, %mean: tensor<8xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %d = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %v = arith.subf %a, %m : f32
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  %q = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.mulf %a, %a : f32
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  %s = tensor.empty() : tensor<8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%s : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%q : tensor<8x16xf32>) outs(%start : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%d, %sum : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %v = arith.divf %a, %m : f32
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// An exponential takes longer than reading its result: with two users, it is not moved.
// CHECK-LABEL: func.func @costly
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.exp
// CHECK-NEXT:      linalg.yield
// CHECK:         linalg.generic
// CHECK-NOT:       math.exp
func.func @costly(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %p = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  %s = tensor.empty() : tensor<8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%s : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<8x16xf32>) outs(%start : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %p, %sum : tensor<8x16xf32>, tensor<8xf32>
}

// A product reads each element again and again: it would compute it each time.
// CHECK-LABEL: func.func @product
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.negf
// CHECK-NEXT:      linalg.yield
// CHECK:         linalg.generic
// CHECK:           arith.mulf
func.func @product(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %n = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%n, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%out : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %v = arith.addf %o, %p : f32
    linalg.yield %v : f32
  } -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
