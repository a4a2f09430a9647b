// Other reductions stay; a senseless option is refused.
// RUN: skript-opt %s --split-input-file --skript-winograd | FileCheck %s
// RUN: not skript-opt %s --split-input-file --pass-pipeline='builtin.module(skript-winograd{tile=6})' 2>&1 | FileCheck %s --check-prefix=TILE
// TILE: option tile is 6, but must be 0, 2 or 4
// RUN: not skript-opt %s --split-input-file --pass-pipeline='builtin.module(skript-winograd{vector-bits=100})' 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: option vector-bits is 100, which is not a power of two from 64 to 4096

// The weights are an input.
#x = affine_map<(n, k, h, w, c, r, s) -> (n, c, h + r, w + s)>
#w = affine_map<(n, k, h, w, c, r, s) -> (k, c, r, s)>
#y = affine_map<(n, k, h, w, c, r, s) -> (n, k, h, w)>
// CHECK-LABEL: func.func @input_weights
// CHECK-NOT:     winograd
// CHECK:         linalg.generic
func.func @input_weights(%x: memref<1x32x30x30xf32> {skript.role = "input"}, %w: memref<32x32x3x3xf32> {skript.role = "input"}, %y: memref<1x32x28x28xf32> {skript.role = "output"}) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x32x30x30xf32>, memref<32x32x3x3xf32>) outs(%y : memref<1x32x28x28xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  }
  return
}

// -----

// The window is of 5 × 5.
#x = affine_map<(n, k, h, w, c, r, s) -> (n, c, h + r, w + s)>
#w = affine_map<(n, k, h, w, c, r, s) -> (k, c, r, s)>
#y = affine_map<(n, k, h, w, c, r, s) -> (n, k, h, w)>
// CHECK-LABEL: func.func @five
// CHECK-NOT:     winograd
// CHECK:         linalg.generic
func.func @five(%x: memref<1x32x32x32xf32> {skript.role = "input"}, %w: memref<32x32x5x5xf32> {skript.role = "variable"}, %y: memref<1x32x28x28xf32> {skript.role = "output"}) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x32x32x32xf32>, memref<32x32x5x5xf32>) outs(%y : memref<1x32x28x28xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  }
  return
}

// -----

// The window moves by two.
#x = affine_map<(n, k, h, w, c, r, s) -> (n, c, 2 * h + r, 2 * w + s)>
#w = affine_map<(n, k, h, w, c, r, s) -> (k, c, r, s)>
#y = affine_map<(n, k, h, w, c, r, s) -> (n, k, h, w)>
// CHECK-LABEL: func.func @strided
// CHECK-NOT:     winograd
// CHECK:         linalg.generic
func.func @strided(%x: memref<1x32x57x57xf32> {skript.role = "input"}, %w: memref<32x32x3x3xf32> {skript.role = "variable"}, %y: memref<1x32x28x28xf32> {skript.role = "output"}) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x32x57x57xf32>, memref<32x32x3x3xf32>) outs(%y : memref<1x32x28x28xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  }
  return
}

// -----

// The numbers are f64.
#x = affine_map<(n, k, h, w, c, r, s) -> (n, c, h + r, w + s)>
#w = affine_map<(n, k, h, w, c, r, s) -> (k, c, r, s)>
#y = affine_map<(n, k, h, w, c, r, s) -> (n, k, h, w)>
// CHECK-LABEL: func.func @double
// CHECK-NOT:     winograd
// CHECK:         linalg.generic
func.func @double(%x: memref<1x32x30x30xf64> {skript.role = "input"}, %w: memref<32x32x3x3xf64> {skript.role = "variable"}, %y: memref<1x32x28x28xf64> {skript.role = "output"}) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x32x30x30xf64>, memref<32x32x3x3xf64>) outs(%y : memref<1x32x28x28xf64>) {
  ^bb0(%a: f64, %b: f64, %s: f64):
    %product = arith.mulf %a, %b : f64
    %next = arith.addf %s, %product : f64
    linalg.yield %next : f64
  }
  return
}

// -----

// Three channels fill no vector.
#x = affine_map<(n, k, h, w, c, r, s) -> (n, c, h + r, w + s)>
#w = affine_map<(n, k, h, w, c, r, s) -> (k, c, r, s)>
#y = affine_map<(n, k, h, w, c, r, s) -> (n, k, h, w)>
// CHECK-LABEL: func.func @few
// CHECK-NOT:     winograd
// CHECK:         linalg.generic
func.func @few(%x: memref<1x3x30x30xf32> {skript.role = "input"}, %w: memref<32x3x3x3xf32> {skript.role = "variable"}, %y: memref<1x32x28x28xf32> {skript.role = "output"}) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x3x30x30xf32>, memref<32x3x3x3xf32>) outs(%y : memref<1x32x28x28xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  }
  return
}
