// statements: 283
// RUN: skript-opt %s --split-input-file --pass-pipeline='builtin.module(skript-vectorize-reductions{vector-bits=512})' | FileCheck %s

// A row-major product: columns along the lanes, eight rows share each vector, the last vector masked.
// CHECK-LABEL: func.func @product
// CHECK-SAME:    %[[A:.+]]: memref<8x32xf32>, %[[B:.+]]: memref<32x29xf32>, %[[C:.+]]: memref<8x29xf32>
// CHECK:         call @kernel_0(%[[A]], %[[B]], %[[C]])
// CHECK-NOT:     linalg.generic
// CHECK-LABEL: func.func private @kernel_0
// CHECK-SAME:    llvm.noalias
// CHECK:         vector.maskedload
// CHECK:         scf.for {{.*}} iter_args
// CHECK:           memref.load
// CHECK:           vector.load
// CHECK-COUNT-16:  arith.addf {{.*}} : vector<16xf32>
// CHECK-NOT:       arith.addf
// CHECK:           scf.yield
// CHECK:         vector.maskedstore
func.func @product(%a: memref<8x32xf32>, %b: memref<32x29xf32>, %c: memref<8x29xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, l) -> (i, l)>, affine_map<(i, j, l) -> (l, j)>, affine_map<(i, j, l) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x32xf32>, memref<32x29xf32>) outs(%c : memref<8x29xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A matrix times a vector: partial sums along the lanes, eight rows at once, reduced at the end. Equal reductions share a kernel.
// CHECK-LABEL: func.func @rows
// CHECK-COUNT-2: call @kernel_0
// CHECK-LABEL: func.func private @kernel_0
// CHECK:         scf.for {{.*}} iter_args
// CHECK:         vector.reduction <add>, {{.*}} fastmath<reassoc>
// CHECK-NOT:   func.func
func.func @rows(%a: memref<64x256xf32>, %x: memref<256xf32>, %y: memref<64xf32>, %z: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, l) -> (i, l)>, affine_map<(i, l) -> (l)>, affine_map<(i, l) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : memref<64x256xf32>, memref<256xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, l) -> (i, l)>, affine_map<(i, l) -> (l)>, affine_map<(i, l) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : memref<64x256xf32>, memref<256xf32>) outs(%z : memref<64xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A guard becomes a mask: what it skips is selected away after the product, whatever it holds. The compared indices fit into 32 bits.
// CHECK-LABEL: func.func @guarded
// CHECK-LABEL: func.func private @kernel_0
// CHECK:         arith.cmpi slt, {{.*}} : vector<16xi32>
// CHECK:         arith.select {{.*}} : vector<16xi1>, vector<16xf32>
func.func @guarded(%a: memref<8x66xf32>, %w: memref<3xf32>, %y: memref<8x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, q) -> (i, j + q)>, affine_map<(i, j, q) -> (q)>, affine_map<(i, j, q) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : memref<8x66xf32>, memref<3xf32>) outs(%y : memref<8x64xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %x = arith.addi %j, %k : index
    %end = arith.constant 65 : index
    %in = arith.cmpi slt, %x, %end : index
    %m = arith.mulf %p, %q : f32
    %zero = arith.constant 0.0 : f32
    %v = arith.select %in, %m, %zero : f32
    %s = arith.addf %acc, %v : f32
    linalg.yield %s : f32
  }
  return
}
