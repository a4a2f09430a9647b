// RUN: skript-opt %s --skript-unpack-products=vector-bits=256 | FileCheck %s

// Equal products share one kernel. Products that differ in a constant, in a flag, in a stride or in the order of their sources do not.
#id = affine_map<(n, k) -> (n, k)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @main
// CHECK: call @product_0(%arg1,
// CHECK: call @product_0(%arg2,
// CHECK: call @product_1(%arg1,
// CHECK: call @product_2(%arg1,
// CHECK: call @product_3(%arg1,
// CHECK: call @product_4(%arg2, %arg1,
// CHECK: call @product_5(%arg2, %arg1,
func.func @main(%x: memref<1x64xf32>, %a: memref<4x64xi8>, %b: memref<4x64xi8>, %y: memref<1x4xf32>, %z: memref<1x4xf32, strided<[8, 2]>>) attributes {skript.entry} {
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %w0 = memref.alloc() : memref<4x64xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x64xi8>) outs(%w0 : memref<4x64xf32>) {
  ^bb0(%i0: i8, %o: f32):
    %e0 = arith.extsi %i0 : i8 to i64
    %r = arith.sitofp %e0 : i64 to f32
    %v = arith.mulf %r, %two : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w0 : memref<1x64xf32>, memref<4x64xf32>) outs(%y : memref<1x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %pq = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %o, %pq fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  %w1 = memref.alloc() : memref<4x64xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%b : memref<4x64xi8>) outs(%w1 : memref<4x64xf32>) {
  ^bb0(%i0: i8, %o: f32):
    %e0 = arith.extsi %i0 : i8 to i64
    %r = arith.sitofp %e0 : i64 to f32
    %v = arith.mulf %r, %two : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w1 : memref<1x64xf32>, memref<4x64xf32>) outs(%y : memref<1x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %pq = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %o, %pq fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  %w2 = memref.alloc() : memref<4x64xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x64xi8>) outs(%w2 : memref<4x64xf32>) {
  ^bb0(%i0: i8, %o: f32):
    %e0 = arith.extsi %i0 : i8 to i64
    %r = arith.sitofp %e0 : i64 to f32
    %v = arith.mulf %r, %three : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w2 : memref<1x64xf32>, memref<4x64xf32>) outs(%y : memref<1x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %pq = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %o, %pq fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  %w3 = memref.alloc() : memref<4x64xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x64xi8>) outs(%w3 : memref<4x64xf32>) {
  ^bb0(%i0: i8, %o: f32):
    %e0 = arith.extsi %i0 : i8 to i64
    %r = arith.sitofp %e0 : i64 to f32
    %v = arith.mulf %r, %two : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w3 : memref<1x64xf32>, memref<4x64xf32>) outs(%y : memref<1x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %pq = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %o, %pq fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  %w4 = memref.alloc() : memref<4x64xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x64xi8>) outs(%w4 : memref<4x64xf32>) {
  ^bb0(%i0: i8, %o: f32):
    %e0 = arith.extsi %i0 : i8 to i64
    %r = arith.sitofp %e0 : i64 to f32
    %v = arith.mulf %r, %two : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w4 : memref<1x64xf32>, memref<4x64xf32>) outs(%z : memref<1x4xf32, strided<[8, 2]>>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %pq = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %o, %pq fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  %w5 = memref.alloc() : memref<4x64xf32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : memref<4x64xi8>, memref<4x64xi8>) outs(%w5 : memref<4x64xf32>) {
  ^bb0(%i0: i8, %i1: i8, %o: f32):
    %e0 = arith.extsi %i0 : i8 to i64
    %r = arith.sitofp %e0 : i64 to f32
    %e1 = arith.extsi %i1 : i8 to i64
    %t = arith.sitofp %e1 : i64 to f32
    %u = arith.mulf %r, %two : f32
    %v = arith.addf %u, %t : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w5 : memref<1x64xf32>, memref<4x64xf32>) outs(%y : memref<1x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %pq = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %o, %pq fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  %w6 = memref.alloc() : memref<4x64xf32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : memref<4x64xi8>, memref<4x64xi8>) outs(%w6 : memref<4x64xf32>) {
  ^bb0(%i0: i8, %i1: i8, %o: f32):
    %e1 = arith.extsi %i1 : i8 to i64
    %r = arith.sitofp %e1 : i64 to f32
    %e0 = arith.extsi %i0 : i8 to i64
    %t = arith.sitofp %e0 : i64 to f32
    %u = arith.mulf %r, %two : f32
    %v = arith.addf %u, %t : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w6 : memref<1x64xf32>, memref<4x64xf32>) outs(%y : memref<1x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %pq = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %o, %pq fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}
// CHECK-NOT: @product_6
