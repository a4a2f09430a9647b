// RUN: skript-opt %s --convert-stablehlo-to-linalg | FileCheck %s

// CHECK-DAG: #[[ROW:.+]] = affine_map<(d0, d1) -> (0, d1)>

// Elementwise operations are kept for the pass that converts all of them.
// CHECK-LABEL: func.func @elementwise
// CHECK: stablehlo.add
func.func @elementwise(%x: tensor<4xui8>) -> tensor<4xui8> {
  %0 = stablehlo.add %x, %x : tensor<4xui8>
  return %0 : tensor<4xui8>
}

// CHECK-LABEL: func.func @broadcast
// CHECK: linalg.generic {indexing_maps = [#[[ROW]], 
func.func @broadcast(%x: tensor<1x4xf32>) -> tensor<3x4xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// Interior padding is an insertion with strides; elements outside of a negative border are not inserted.
// CHECK-LABEL: func.func @pad
// CHECK: %[[V:.+]] = tensor.extract %arg1[] : tensor<f32>
// CHECK: linalg.fill ins(%[[V]] : f32)
// CHECK: %[[S:.+]] = tensor.extract_slice %arg0[1] [3] [1]
// CHECK: tensor.insert_slice %[[S]] into %{{.+}}[1] [3] [2]
func.func @pad(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<7xf32> {
  %0 = stablehlo.pad %x, %v, low = [-1], high = [1], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// Indices are clamped so that the block fits; unsigned ones are not compared with zero.
// CHECK-LABEL: func.func @places
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: tensor.extract_slice %arg0[%{{.+}}] [2] [1] : tensor<8xf32> to tensor<2xf32>
// CHECK: arith.minui
func.func @places(%x: tensor<8xf32>, %s: tensor<i32>, %u: tensor<ui32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.dynamic_slice %x, %s, sizes = [2] : (tensor<8xf32>, tensor<i32>) -> tensor<2xf32>
  %1 = stablehlo.dynamic_slice %x, %u, sizes = [2] : (tensor<8xf32>, tensor<ui32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @constant
// CHECK: arith.constant dense<[-1, 1]> : tensor<2xi8>
// CHECK: builtin.unrealized_conversion_cast %{{.+}} : tensor<2xi8> to tensor<2xui8>
func.func @constant() -> tensor<2xui8> {
  %0 = stablehlo.constant dense<[255, 1]> : tensor<2xui8>
  return %0 : tensor<2xui8>
}

// The lowest bits are first.
// CHECK-LABEL: func.func @narrower
// CHECK: linalg.generic {{.+}} ins(%arg0 : tensor<2xf32>)
// CHECK: %[[N:.+]] = linalg.index 1 : index
// CHECK: arith.shrui
// CHECK: arith.trunci %{{.+}} : i32 to i8
func.func @narrower(%x: tensor<2xf32>) -> tensor<2x4xui8> {
  %0 = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2x4xui8>
  return %0 : tensor<2x4xui8>
}

// CHECK-LABEL: func.func @wider
// CHECK: linalg.generic {{.+}} ins(%arg0, %arg0 : tensor<3x2xf32>, tensor<3x2xf32>)
// CHECK-COUNT-2: arith.shli %{{.+}} : i64
// CHECK: arith.bitcast %{{.+}} : i64 to f64
func.func @wider(%x: tensor<3x2xf32>) -> tensor<3xf64> {
  %0 = stablehlo.bitcast_convert %x : (tensor<3x2xf32>) -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

// CHECK-LABEL: func.func @barrier
// CHECK-NEXT: return %arg1, %arg0
func.func @barrier(%x: tensor<2xf32>, %i: tensor<i32>) -> (tensor<i32>, tensor<2xf32>) {
  %0:2 = stablehlo.optimization_barrier %i, %x : tensor<i32>, tensor<2xf32>
  return %0#0, %0#1 : tensor<i32>, tensor<2xf32>
}
