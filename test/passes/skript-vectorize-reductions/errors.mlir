// Operations without a suitable register tile are not changed; an invalid option is refused.
// RUN: skript-opt %s --split-input-file --pass-pipeline='builtin.module(skript-vectorize-reductions)' | FileCheck %s
// RUN: not skript-opt %s --split-input-file --pass-pipeline='builtin.module(skript-vectorize-reductions{vector-bits=100})' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: option vector-bits is 100, which is not a power of two from 64 to 4096
// RUN: not skript-opt %s --split-input-file --pass-pipeline='builtin.module(skript-vectorize-reductions{vector-registers=4})' 2>&1 | FileCheck %s --check-prefix=REGISTERS
// REGISTERS: option vector-registers is 4, which is not between 8 and 256
// RUN: not skript-opt %s --split-input-file --pass-pipeline='builtin.module(skript-vectorize-reductions{byte-products=vnni})' 2>&1 | FileCheck %s --check-prefix=PRODUCTS
// PRODUCTS: option byte-products: `vnni` is not one of none, vpdpbusd, vpmaddwd, usdot

// Strides that are not multiples of extents.
// CHECK-LABEL: func.func @dynamic
// CHECK:         linalg.generic
func.func @dynamic(%a: memref<?x?xf32, strided<[?, 1]>>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, l) -> (i, l)>, affine_map<(i, l) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<?x?xf32, strided<[?, 1]>>) outs(%y : memref<?xf32>) {
  ^bb0(%p: f32, %acc: f32):
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// The output shares memory with an input.
// CHECK-LABEL: func.func @overlap
// CHECK:         linalg.generic
func.func @overlap(%a: memref<64x256xf32>) {
  %y = memref.subview %a[0, 0] [64, 1] [1, 1] : memref<64x256xf32> to memref<64xf32, strided<[256]>>
  linalg.generic {indexing_maps = [affine_map<(i, l) -> (i, l)>, affine_map<(i, l) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<64x256xf32>) outs(%y : memref<64xf32, strided<[256]>>) {
  ^bb0(%p: f32, %acc: f32):
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Nothing is reduced.
// CHECK-LABEL: func.func @map
// CHECK:         linalg.generic
func.func @map(%a: memref<64x256xf32>, %y: memref<64x256xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<64x256xf32>) outs(%y : memref<64x256xf32>) {
  ^bb0(%p: f32, %acc: f32):
    %s = arith.negf %p : f32
    linalg.yield %s : f32
  }
  return
}
