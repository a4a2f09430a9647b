// RUN: not skript-opt %s --split-input-file --skript-lower-intrinsics 2>&1 | FileCheck %s

// CHECK: has operands that are not memrefs: bufferize first
func.func @tensors(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {skript.entry} {
  %0 = skript.intrinsic "m.f" ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK: is outside of the entry
func.func @main() attributes {skript.entry} {
  return
}
func.func private @other(%x: memref<4xf32>, %o: memref<4xf32>) {
  skript.intrinsic "m.f" ins(%x : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}

// -----

// CHECK: has attributes of no kind
func.func @attributes(%o: memref<4xf32>) attributes {skript.entry} {
  skript.intrinsic "m.f" outs(%o : memref<4xf32>) {operator_attributes = {a = affine_map<() -> ()>}}
  return
}

// -----

// CHECK: has padded tensors, which kernels do not support
func.func @padded(%x: memref<4xf32>, %n: memref<i64>, %o: memref<4xf32>) attributes {skript.entry} {
  skript.intrinsic "m.f" ins(%x, %n : memref<4xf32>, memref<i64>) outs(%o : memref<4xf32>) {skript.filled = array<i64: 0, 0>}
  return
}
