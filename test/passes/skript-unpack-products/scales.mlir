// RUN: skript-opt %s --skript-unpack-products="vector-bits=512 permutes=true" --canonicalize --cse | FileCheck %s

// Blocks of four groups: a scale, then 16 levels of two bits each. The scales of all blocks of four rows are computed at once, the
// groups in the lanes of a vector. The product with a scale is that of the four levels in a table, which a permutation reads.
#group = affine_map<(n, b, g, i) -> (n, b, g)>
#all = affine_map<(n, b, g, i) -> (n, b, g, i)>
#unit = affine_map<(n, b, g, i) -> (n, b)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @main
// CHECK-NOT: memref.alloc
// CHECK-NOT: linalg.generic
// CHECK: func.func private @product_0
// CHECK: %[[SCALES:.*]] = memref.alloca() {{.*}} : memref<128xf32>
// CHECK: scf.for
// CHECK: vector.load %{{.*}} : memref<128xi8, strided<[1]>>, vector<4xi8>
// CHECK: arith.sitofp %{{.*}} : vector<4xi32> to vector<4xf32>
// CHECK: vector.store %{{.*}}, %[[SCALES]][%{{.*}}] : memref<128xf32>, vector<4xf32>
// CHECK: scf.for
// CHECK: %[[SCALE:.*]] = memref.load %[[SCALES]][%{{.*}}] : memref<128xf32>
// CHECK: %[[LEVELS:.*]] = arith.extsi %{{.*}} : vector<16xi8> to vector<16xi32>
// CHECK-NOT: arith.sitofp
// CHECK: %[[ALL:.*]] = vector.broadcast %[[SCALE]] : f32 to vector<16xf32>
// CHECK: %[[TABLE:.*]] = arith.mulf %[[ALL]], %{{.*}} : vector<16xf32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%[[TABLE]], %[[LEVELS]])
func.func @main(%x: memref<1x512xf32>, %units: memref<4x8xf32>, %bytes: memref<4x8x4xi8>, %levels: memref<4x8x4x16xi8>, %y: memref<1x4xf32>) attributes {skript.entry} {
  %c3 = arith.constant 3 : index
  %w = memref.alloc() : memref<4x8x4x16xf32>
  linalg.generic {indexing_maps = [#unit, #group, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%units, %bytes, %levels : memref<4x8xf32>, memref<4x8x4xi8>, memref<4x8x4x16xi8>) outs(%w : memref<4x8x4x16xf32>) {
  ^bb0(%unit: f32, %byte: i8, %level: i8, %o: f32):
    %wide = arith.extsi %byte : i8 to i64
    %factor = arith.sitofp %wide : i64 to f32
    %scale = arith.mulf %unit, %factor : f32
    %all = arith.index_cast %level : i8 to index
    %low = arith.andi %all, %c3 : index
    %int = arith.index_cast %low : index to i64
    %real = arith.sitofp %int : i64 to f32
    %value = arith.mulf %scale, %real : f32
    linalg.yield %value : f32
  }
  %matrix = memref.collapse_shape %w [[0], [1, 2, 3]] : memref<4x8x4x16xf32> into memref<4x512xf32>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %matrix : memref<1x512xf32>, memref<4x512xf32>) outs(%y : memref<1x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %pq = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %o, %pq fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}
