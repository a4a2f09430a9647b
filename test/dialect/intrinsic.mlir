// RUN: skript-opt %s | skript-opt | FileCheck %s
// RUN: skript-opt %s --verify-roundtrip -o /dev/null
// RUN: skript-opt %s --canonicalize --cse | FileCheck %s --check-prefix=CSE
// RUN: skript-opt %s --eliminate-empty-tensors --one-shot-bufferize=bufferize-function-boundaries | FileCheck %s --check-prefix=BUFFERS

// CHECK-LABEL: func @top
// CHECK: skript.intrinsic "algo.top_k" ins(%{{.*}} : tensor<2x5xf32>) outs(%{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<2x3xi64>) {operator_attributes = {axis = 1 : i64, k = 3 : i64}} -> tensor<2x3xf32>, tensor<2x3xi64>
// BUFFERS-LABEL: func @top
// BUFFERS-SAME: %[[X:.+]]: memref<2x5xf32
// BUFFERS: %[[V:.+]] = memref.alloc() {{.*}}: memref<2x3xf32>
// BUFFERS: %[[P:.+]] = memref.alloc() {{.*}}: memref<2x3xi64>
// BUFFERS: skript.intrinsic "algo.top_k" ins(%[[X]] : {{.*}}) outs(%[[V]], %[[P]] : memref<2x3xf32>, memref<2x3xi64>) {operator_attributes = {axis = 1 : i64, k = 3 : i64}}
// BUFFERS: return %[[V]], %[[P]]
func.func @top(%x: tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>) {
  %v = tensor.empty() : tensor<2x3xf32>
  %p = tensor.empty() : tensor<2x3xi64>
  %0:2 = skript.intrinsic "algo.top_k" ins(%x : tensor<2x5xf32>) outs(%v, %p : tensor<2x3xf32>, tensor<2x3xi64>)
      {operator_attributes = {axis = 1, k = 3}} -> tensor<2x3xf32>, tensor<2x3xi64>
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi64>
}

// Unused intrinsics are removed; random ones are neither removed nor merged.
// CSE-LABEL: func @effects
// CSE-NOT: "a.pure"
// CSE-COUNT-2: skript.intrinsic "rand.uniform" outs(%{{.*}} : tensor<4xf32>) {random} -> tensor<4xf32>
// CSE-NOT: skript.intrinsic
// CSE: return
func.func @effects() {
  %e = tensor.empty() : tensor<4xf32>
  %0 = skript.intrinsic "a.pure" outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = skript.intrinsic "rand.uniform" outs(%e : tensor<4xf32>) {random} -> tensor<4xf32>
  %2 = skript.intrinsic "rand.uniform" outs(%e : tensor<4xf32>) {random} -> tensor<4xf32>
  return
}

// A destination whose contents are needed later is not overwritten.
// BUFFERS-LABEL: func @kept
// BUFFERS: memref.alloc
// BUFFERS: skript.intrinsic
func.func @kept(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = skript.intrinsic "a.twice" ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0, %x : tensor<4xf32>, tensor<4xf32>
}

// Values of attributes passed at run time.
// CHECK-LABEL: func @given
// CHECK: skript.intrinsic "a.first" ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<i64>, tensor<2xf64>) outs(%{{.*}} : tensor<4xf32>) {given = ["k", "weights"]} -> tensor<4xf32>
// BUFFERS-LABEL: func @given
// BUFFERS: skript.intrinsic "a.first" ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) outs(%{{.*}} : memref<4xf32>) {given = ["k", "weights"]}
func.func @given(%x: tensor<4xf32>, %k: tensor<i64>, %w: tensor<2xf64>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = skript.intrinsic "a.first" ins(%x, %k, %w : tensor<4xf32>, tensor<i64>, tensor<2xf64>)
      outs(%e : tensor<4xf32>) {given = ["k", "weights"]} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
