// RUN: skript-opt %s --skript-scan-prefixes | FileCheck %s

#order = affine_map<()[i, j] -> (i - j)>
#twice = affine_map<()[i, j] -> (i * 2 - j)>

// A term that varies along the prefixes.
// CHECK-LABEL: func.func @varying
// CHECK:         linalg.generic
func.func @varying(%x: tensor<100x100xf32>, %start: tensor<100xf32>) -> tensor<100xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<100x100xf32>) outs(%start : tensor<100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %distance = affine.apply #order()[%i, %j]
    %is_before = arith.cmpi sge, %distance, %c0 : index
    %selected = arith.select %is_before, %in, %zero : f32
    %sum = arith.addf %out, %selected fastmath<reassoc> : f32
    linalg.yield %sum : f32
  } -> tensor<100xf32>
  return %0 : tensor<100xf32>
}

// Prefixes that grow by two terms, terms that the sum does not ignore elsewhere, and few terms.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: linalg.generic
func.func @others(%x: tensor<100xf32>, %few: tensor<8xf32>, %start: tensor<100xf32>) -> (tensor<100xf32>, tensor<100xf32>, tensor<100xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %0 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<100xf32>) outs(%start : tensor<100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %distance = affine.apply #twice()[%i, %j]
    %is_before = arith.cmpi sge, %distance, %c0 : index
    %selected = arith.select %is_before, %in, %zero : f32
    %sum = arith.addf %out, %selected fastmath<reassoc> : f32
    linalg.yield %sum : f32
  } -> tensor<100xf32>
  %1 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<100xf32>) outs(%start : tensor<100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %distance = affine.apply #order()[%i, %j]
    %is_before = arith.cmpi sge, %distance, %c0 : index
    %selected = arith.select %is_before, %in, %one : f32
    %sum = arith.addf %out, %selected fastmath<reassoc> : f32
    linalg.yield %sum : f32
  } -> tensor<100xf32>
  %2 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]
  } ins(%few : tensor<8xf32>) outs(%start : tensor<100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %distance = affine.apply #order()[%i, %j]
    %is_before = arith.cmpi sge, %distance, %c0 : index
    %selected = arith.select %is_before, %in, %zero : f32
    %sum = arith.addf %out, %selected fastmath<reassoc> : f32
    linalg.yield %sum : f32
  } -> tensor<100xf32>
  return %0, %1, %2 : tensor<100xf32>, tensor<100xf32>, tensor<100xf32>
}
