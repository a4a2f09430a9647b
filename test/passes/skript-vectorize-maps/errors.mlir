// Operations that stay: outside of parallel loops, of other element types, of short rows, with other divisors, along other dimensions.
// RUN: skript-opt %s --skript-vectorize-maps | FileCheck %s
// RUN: not skript-opt %s --pass-pipeline='builtin.module(skript-vectorize-maps{vector-bits=wide})' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not skript-opt %s --pass-pipeline='builtin.module(skript-vectorize-maps{all=1})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// OPTION: vector-bits
// UNKNOWN: no such option all

// CHECK-NOT: vector<

// CHECK-LABEL: func.func @outside
// CHECK:         linalg.generic
func.func @outside(%x: memref<128xf32>, %s: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(j) -> ()>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]} ins(%s : memref<f32>) outs(%x : memref<128xf32>) {
  ^bb0(%b: f32, %a: f32):
    %q = arith.divf %a, %b : f32
    linalg.yield %q : f32
  }
  return
}

// CHECK-LABEL: func.func @inside
// CHECK-COUNT-6: linalg.generic
func.func @inside(%wide: memref<128xf64>, %short: memref<24xf32>, %x: memref<128xf32>, %across: memref<128x128xf32>, %d: memref<f64>, %s: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%c1) step (%c1) {
    linalg.generic {indexing_maps = [affine_map<(j) -> ()>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]} ins(%d : memref<f64>) outs(%wide : memref<128xf64>) {
    ^bb0(%b: f64, %a: f64):
      %q = arith.divf %a, %b : f64
      linalg.yield %q : f64
    }
    linalg.generic {indexing_maps = [affine_map<(j) -> ()>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]} ins(%s : memref<f32>) outs(%short : memref<24xf32>) {
    ^bb0(%b: f32, %a: f32):
      %q = arith.divf %a, %b : f32
      linalg.yield %q : f32
    }
    // The numerator is invariant, not the divisor.
    linalg.generic {indexing_maps = [affine_map<(j) -> ()>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]} ins(%s : memref<f32>) outs(%x : memref<128xf32>) {
    ^bb0(%b: f32, %a: f32):
      %q = arith.divf %b, %a : f32
      linalg.yield %q : f32
    }
    linalg.generic {indexing_maps = [affine_map<(j, k) -> ()>, affine_map<(j, k) -> (k, j)>], iterator_types = ["parallel", "parallel"]} ins(%s : memref<f32>) outs(%across : memref<128x128xf32>) {
    ^bb0(%b: f32, %a: f32):
      %q = arith.divf %a, %b : f32
      linalg.yield %q : f32
    }
    // A result that is the same along the loop.
    linalg.generic {indexing_maps = [affine_map<(j) -> ()>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]} ins(%s : memref<f32>) outs(%x : memref<128xf32>) {
    ^bb0(%b: f32, %a: f32):
      %q = arith.divf %a, %b : f32
      linalg.yield %b : f32
    }
    // A sum.
    linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> ()>], iterator_types = ["reduction"]} ins(%x : memref<128xf32>) outs(%s : memref<f32>) {
    ^bb0(%a: f32, %b: f32):
      %q = arith.addf %a, %b : f32
      linalg.yield %q : f32
    }
    scf.reduce
  }
  return
}
