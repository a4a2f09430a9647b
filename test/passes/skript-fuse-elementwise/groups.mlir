// RUN: skript-opt %s --skript-fuse-elementwise | FileCheck %s
// RUN: skript-opt %s --skript-fuse-elementwise=operations=2 | FileCheck %s --check-prefix=OPERATIONS
// RUN: skript-opt %s --skript-fuse-elementwise=inputs=1 | FileCheck %s --check-prefix=INPUTS

#id = affine_map<(d0) -> (d0)>

// Three steps and two tensors that only the last reads: one op, unless a bound says otherwise.
// CHECK-LABEL: func.func @chain
// CHECK:         linalg.generic
// CHECK:           skript.neg
// CHECK-NEXT:      skript.abs
// CHECK-NEXT:      skript.add
// CHECK-NEXT:      skript.mul
// CHECK-NEXT:      linalg.yield
// CHECK-NOT:     linalg.generic

// OPERATIONS-LABEL: func.func @chain
// OPERATIONS:         skript.neg
// OPERATIONS-NEXT:    skript.abs
// OPERATIONS-NEXT:    linalg.yield
// OPERATIONS:         skript.add
// OPERATIONS-NEXT:    skript.mul
// OPERATIONS-NEXT:    linalg.yield

// INPUTS-LABEL: func.func @chain
// INPUTS:         skript.neg
// INPUTS-NEXT:    skript.abs
// INPUTS-NEXT:    linalg.yield
// INPUTS:         skript.add
// INPUTS-NEXT:    skript.mul
// INPUTS-NEXT:    linalg.yield
func.func @chain(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = skript.neg %a : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = skript.abs %a : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%1, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = skript.add %a, %b : f32
    %v = skript.mul %s, %a : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// Operands of two operations are computed once.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-3: linalg.generic
func.func @shared(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = skript.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = skript.abs %a : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = skript.neg %a : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}
