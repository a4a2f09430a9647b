// RUN: skript-opt %s --skript-hoist-invariants | FileCheck %s

// Nothing is hoisted: products cost less than reading them, the root varies along all loops, two points share the last one, and the
// extent of the fourth is not known.
// CHECK-LABEL: func.func @product
// CHECK-COUNT-4: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @product(%x: tensor<8x6xf32>, %s: tensor<8xf32>) -> tensor<8x6xf32> {
  %empty = tensor.empty() : tensor<8x6xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(c, i) -> (c, i)>, affine_map<(c, i) -> (c)>, affine_map<(c, i) -> (c, i)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %s : tensor<8x6xf32>, tensor<8xf32>) outs(%empty : tensor<8x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %square = arith.mulf %b, %b : f32
    %y = arith.mulf %a, %square : f32
    linalg.yield %y : f32
  } -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

func.func @root(%x: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %empty = tensor.empty() : tensor<8x6xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(c, i) -> (c, i)>, affine_map<(c, i) -> (c, i)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x : tensor<8x6xf32>) outs(%empty : tensor<8x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.sqrt %a : f32
    linalg.yield %y : f32
  } -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

func.func @pair(%x: tensor<8x2xf32>, %s: tensor<8xf32>) -> tensor<8x2xf32> {
  %empty = tensor.empty() : tensor<8x2xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(c, i) -> (c, i)>, affine_map<(c, i) -> (c)>, affine_map<(c, i) -> (c, i)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %s : tensor<8x2xf32>, tensor<8xf32>) outs(%empty : tensor<8x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %root = math.sqrt %b : f32
    %y = arith.mulf %a, %root : f32
    linalg.yield %y : f32
  } -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

func.func @dynamic(%x: tensor<?x6xf32>, %s: tensor<?xf32>, %empty: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(c, i) -> (c, i)>, affine_map<(c, i) -> (c)>, affine_map<(c, i) -> (c, i)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %s : tensor<?x6xf32>, tensor<?xf32>) outs(%empty : tensor<?x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %root = math.sqrt %b : f32
    %y = arith.mulf %a, %root : f32
    linalg.yield %y : f32
  } -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}

// A destination's element is a sum of several points: what is added to it is hoisted, the sum is not.
// CHECK-LABEL: func.func @sum
// CHECK:         math.round
// CHECK:         linalg.yield
// CHECK:         iterator_types = ["parallel", "reduction"]
// CHECK:         arith.addf
func.func @sum(%x: tensor<8xf32>, %shape: tensor<6xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(c, k) -> (c)>, affine_map<(c, k) -> (k)>, affine_map<(c, k) -> (c)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x, %shape : tensor<8xf32>, tensor<6xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %rounded = math.round %a : f32
    %sum = arith.addf %o, %rounded : f32
    linalg.yield %sum : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// An operation with a region may use any value.
// CHECK-LABEL: func.func @region
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @region(%x: tensor<8x6xf32>, %s: tensor<8xf32>, %c: i1) -> tensor<8x6xf32> {
  %empty = tensor.empty() : tensor<8x6xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(c, i) -> (c, i)>, affine_map<(c, i) -> (c)>, affine_map<(c, i) -> (c, i)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %s : tensor<8x6xf32>, tensor<8xf32>) outs(%empty : tensor<8x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %root = math.sqrt %b : f32
    %y = scf.if %c -> f32 {
      %z = arith.mulf %a, %root : f32
      scf.yield %z : f32
    } else {
      scf.yield %root : f32
    }
    linalg.yield %y : f32
  } -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
