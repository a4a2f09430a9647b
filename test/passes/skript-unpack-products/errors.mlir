// RUN: skript-opt %s --split-input-file --skript-unpack-products=vector-bits=256 | FileCheck %s

// What stays: a sum in the order of its formula.
#same = affine_map<(n, k) -> (n, k)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-NOT: call
func.func @main(%x: memref<1x64xf32>, %bytes: memref<4x64xi8>, %y: memref<1x4xf32>) attributes {skript.entry} {
  %w = memref.alloc() : memref<4x64xf32>
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%bytes : memref<4x64xi8>) outs(%w : memref<4x64xf32>) {
  ^bb0(%byte: i8, %o: f32):
    %wide = arith.extsi %byte : i8 to i64
    %real = arith.sitofp %wide : i64 to f32
    linalg.yield %real : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<1x64xf32>, memref<4x64xf32>) outs(%y : memref<1x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %pq = arith.mulf %p, %q : f32
    %s = arith.addf %o, %pq : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// An operand that is not smaller before the map.
#same = affine_map<(n, k) -> (n, k)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-NOT: call
func.func @main(%x: memref<1x64xf32>, %v: memref<4x64xf32>, %y: memref<1x4xf32>) attributes {skript.entry} {
  %w = memref.alloc() : memref<4x64xf32>
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%v : memref<4x64xf32>) outs(%w : memref<4x64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %real = arith.mulf %p, %p : f32
    linalg.yield %real : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<1x64xf32>, memref<4x64xf32>) outs(%y : memref<1x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %pq = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %o, %pq fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Bytes that an operation between the map and the product overwrites.
#same = affine_map<(n, k) -> (n, k)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-NOT: call
func.func @main(%x: memref<1x64xf32>, %bytes: memref<4x64xi8>, %others: memref<4x64xi8>, %y: memref<1x4xf32>) attributes {skript.entry} {
  %w = memref.alloc() : memref<4x64xf32>
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%bytes : memref<4x64xi8>) outs(%w : memref<4x64xf32>) {
  ^bb0(%byte: i8, %o: f32):
    %wide = arith.extsi %byte : i8 to i64
    %real = arith.sitofp %wide : i64 to f32
    linalg.yield %real : f32
  }
  memref.copy %others, %bytes : memref<4x64xi8> to memref<4x64xi8>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<1x64xf32>, memref<4x64xf32>) outs(%y : memref<1x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %pq = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %o, %pq fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}
