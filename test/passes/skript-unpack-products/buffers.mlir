// RUN: skript-opt %s --split-input-file --skript-unpack-products=vector-bits=256 | FileCheck %s

// Two matrices in one buffer: each product reads the bytes of its own matrix, and the buffer is gone.
#same = affine_map<(n, k) -> (n, k)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %{{[^ ]+}}: memref<1x64xf32>, %[[A:[^ ]+]]: memref<4x64xi8>, %[[B:[^ ]+]]: memref<4x64xi8>
// CHECK-NOT:     memref<4x64xf32>
// CHECK:         call @product_0({{.*}}%[[A]]
// CHECK-NOT:     memref<4x64xf32>
// CHECK:         call @product_{{.*}}%[[B]]
// CHECK-NOT:     memref<4x64xf32>
// CHECK:         return
func.func @main(%x: memref<1x64xf32>, %a: memref<4x64xi8>, %b: memref<4x64xi8>, %y: memref<1x4xf32>, %z: memref<1x4xf32>) attributes {skript.entry} {
  %w = memref.alloc() : memref<4x64xf32>
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x64xi8>) outs(%w : memref<4x64xf32>) {
  ^bb0(%byte: i8, %o: f32):
    %wide = arith.extsi %byte : i8 to i64
    %real = arith.sitofp %wide : i64 to f32
    linalg.yield %real : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<1x64xf32>, memref<4x64xf32>) outs(%y : memref<1x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %pq = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %o, %pq fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%b : memref<4x64xi8>) outs(%w : memref<4x64xf32>) {
  ^bb0(%byte: i8, %o: f32):
    %wide = arith.extsi %byte : i8 to i64
    %real = arith.sitofp %wide : i64 to f32
    linalg.yield %real : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<1x64xf32>, memref<4x64xf32>) outs(%z : memref<1x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %pq = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %o, %pq fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A map that changes the elements of the buffer in place, after the map from bytes.
#same = affine_map<(n, k) -> (n, k)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @main
// CHECK-NOT:     call
func.func @main(%x: memref<1x64xf32>, %a: memref<4x64xi8>, %y: memref<1x4xf32>) attributes {skript.entry} {
  %w = memref.alloc() : memref<4x64xf32>
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x64xi8>) outs(%w : memref<4x64xf32>) {
  ^bb0(%byte: i8, %o: f32):
    %wide = arith.extsi %byte : i8 to i64
    %real = arith.sitofp %wide : i64 to f32
    linalg.yield %real : f32
  }
  linalg.generic {indexing_maps = [#same], iterator_types = ["parallel", "parallel"]} outs(%w : memref<4x64xf32>) {
  ^bb0(%o: f32):
    %twice = arith.addf %o, %o : f32
    linalg.yield %twice : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<1x64xf32>, memref<4x64xf32>) outs(%y : memref<1x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %pq = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %o, %pq fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}
