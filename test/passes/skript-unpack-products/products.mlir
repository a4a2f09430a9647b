// RUN: skript-opt %s --split-input-file --skript-unpack-products=vector-bits=256 --canonicalize --cse | FileCheck %s

// Rows of two blocks: 16 bytes with two 4-bit levels each, the lower one of element i and the upper one of element 16 + i, and a scale
// for each block. The kernel loads 8 bytes at once and computes in 32 bits.
#bytes = affine_map<(n, b, half, i) -> (n, b, i)>
#scale = affine_map<(n, b, half, i) -> (n, b)>
#all = affine_map<(n, b, half, i) -> (n, b, half, i)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @main
// CHECK-NOT: memref.alloc
// CHECK-NOT: linalg.generic
// CHECK: call @product_0(%arg2, %arg1
// CHECK: func.func private @product_0(%arg0: memref<4x2xf32> {llvm.noalias}, %arg1: memref<4x2x16xi8>
// CHECK: %[[BYTES:.*]] = vector.load %{{.*}} : memref<128xi8, strided<[1]>>, vector<8xi8>
// CHECK: %[[WORDS:.*]] = arith.extsi %[[BYTES]] : vector<8xi8> to vector<8xi32>
// CHECK: arith.andi %[[WORDS]], %{{.*}} : vector<8xi32>
// CHECK: arith.shrsi %[[WORDS]], %{{.*}} : vector<8xi32>
func.func @main(%x: memref<1x64xf32>, %bytes: memref<4x2x16xi8>, %scales: memref<4x2xf32>, %y: memref<1x4xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %w = memref.alloc() : memref<4x2x2x16xf32>
  linalg.generic {indexing_maps = [#bytes, #scale, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%bytes, %scales : memref<4x2x16xi8>, memref<4x2xf32>) outs(%w : memref<4x2x2x16xf32>) {
  ^bb0(%byte: i8, %scale: f32, %o: f32):
    %half = linalg.index 2 : index
    %first = arith.cmpi eq, %half, %c0 : index
    %wide = arith.index_cast %byte : i8 to index
    %high = arith.floordivsi %wide, %c16 : index
    %q = arith.select %first, %wide, %high : index
    %r = arith.remsi %q, %c16 : index
    %some = arith.cmpi ne, %r, %c0 : index
    %negative = arith.cmpi slt, %r, %c0 : index
    %wraps = arith.andi %some, %negative : i1
    %next = arith.addi %r, %c16 : index
    %level = arith.select %wraps, %next, %r : index
    %int = arith.index_cast %level : index to i64
    %real = arith.sitofp %int : i64 to f32
    %value = arith.mulf %scale, %real : f32
    linalg.yield %value : f32
  }
  %matrix = memref.collapse_shape %w [[0], [1, 2, 3]] : memref<4x2x2x16xf32> into memref<4x64xf32>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %matrix : memref<1x64xf32>, memref<4x64xf32>) outs(%y : memref<1x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %pq = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %o, %pq fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A dynamic number of rows: few rows are multiplied at once; for more rows, parts of the matrix are written first.
#bytes = affine_map<(n, k) -> (n, k)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @main
// CHECK: %[[PART:.*]] = memref.alloc() {{.*}} : memref<4x64xf32>
// CHECK: arith.cmpi sle, %{{.*}}, %c8
// CHECK: scf.if
// CHECK: call @product_0
// CHECK: } else {
// CHECK: call @unpack_0(%arg1, %[[PART]]
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[PART]] :
func.func @main(%x: memref<?x64xf32>, %bytes: memref<4x64xi8>, %y: memref<?x4xf32>) attributes {skript.entry} {
  %w = memref.alloc() : memref<4x64xf32>
  linalg.generic {indexing_maps = [#bytes, #bytes], iterator_types = ["parallel", "parallel"]} ins(%bytes : memref<4x64xi8>) outs(%w : memref<4x64xf32>) {
  ^bb0(%byte: i8, %o: f32):
    %wide = arith.extsi %byte : i8 to i64
    %real = arith.sitofp %wide : i64 to f32
    linalg.yield %real : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<?x64xf32>, memref<4x64xf32>) outs(%y : memref<?x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %pq = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %o, %pq fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}
