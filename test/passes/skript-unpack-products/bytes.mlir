// RUN: skript-opt %s --split-input-file --skript-unpack-products="vector-bits=256 byte-products=vpmaddwd" --canonicalize --cse | FileCheck %s
// RUN: skript-opt %s --split-input-file --skript-unpack-products="vector-bits=512 byte-products=vpdpbusd" | FileCheck %s --check-prefix=VNNI
// RUN: skript-opt %s --split-input-file --skript-unpack-products="vector-bits=128 byte-products=usdot" | FileCheck %s --check-prefix=ARM
// RUN: skript-opt %s --split-input-file --skript-unpack-products="vector-bits=256" | FileCheck %s --check-prefix=NONE

// A map rounds x to bytes with a scale for each block of 32. The levels of w are signed bytes, so the kernel multiplies their magnitudes
// by bytes with their signs.
#block = affine_map<(n, b, k) -> (n, b)>
#all = affine_map<(n, b, k) -> (n, b, k)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @main
// CHECK: %[[BYTES:.*]] = memref.alloc() {{.*}} : memref<1x2x32xi8>
// CHECK: %[[SCALES:.*]] = memref.alloc() {{.*}} : memref<1x2x8xf32>
// CHECK: %[[SUMS:.*]] = memref.alloc() {{.*}} : memref<1x2x8xf32>
// CHECK: linalg.generic {{.*}} outs(%[[BYTES]]
// CHECK-NOT: arith.sitofp
// CHECK: arith.trunci
// CHECK: linalg.generic {{.*}} outs(%[[SCALES]]
// CHECK: linalg.generic {{.*}} ins(%[[BYTES]], %[[BYTES]], %[[BYTES]], %[[BYTES]], %[[SCALES]] {{.*}} outs(%[[SUMS]]
// CHECK: call @product_0(%{{.*}}, %[[BYTES]], %[[SCALES]], %[[SUMS]], %
// CHECK: func.func private @product_0
// CHECK: %[[LEVELS:.*]] = vector.load %{{.*}} : memref<256xi8, strided<[1]>>, vector<32xi8>
// CHECK: %[[UNSIGNED:.*]] = llvm.call_intrinsic "llvm.x86.avx2.psign.b"(%[[LEVELS]], %[[LEVELS]])
// CHECK: %[[SIGNED:.*]] = llvm.call_intrinsic "llvm.x86.avx2.psign.b"(%{{.*}}, %[[LEVELS]])
// CHECK: %[[PAIRS:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"(%[[UNSIGNED]], %[[SIGNED]])
// CHECK: %[[SUM:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[PAIRS]], %
// CHECK: arith.sitofp %[[SUM]] : vector<8xi32> to vector<8xf32>

// The least level becomes 0, and the product with it is an offset.
// VNNI-LABEL: func.func @main
// VNNI: func.func private @product_0
// VNNI-DAG: %[[HALF:.*]] = arith.constant dense<-128> : vector<32xi8>
// VNNI-DAG: %[[LOW:.*]] = arith.constant -1.280000e+02 : f32
// VNNI: %[[LOWS:.*]] = vector.broadcast %[[LOW]] : f32 to vector<8xf32>
// VNNI: %[[OFFSET:.*]] = arith.mulf %{{.*}}, %[[LOWS]] : vector<8xf32>
// VNNI: %[[SUM:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
// VNNI: arith.sitofp %[[SUM]]
// VNNI: arith.mulf %[[OFFSET]], %{{.*}} fastmath<contract> : vector<8xf32>

// ARM-LABEL: func.func @main
// ARM: llvm.call_intrinsic "llvm.aarch64.neon.usdot.v4i32.v16i8"

// NONE-LABEL: func.func @main
// NONE-NOT: llvm.call_intrinsic
// NONE: arith.sitofp %{{.*}} : vector<8xi32> to vector<8xf32>
func.func @main(%level: memref<1x2x32xi64>, %scale: memref<1x2xf32>, %bytes: memref<4x2x32xi8>, %unit: memref<4x2xf32>, %y: memref<1x4xf32>) attributes {skript.entry} {
  %low = arith.constant -127 : i64
  %high = arith.constant 127 : i64
  %r = memref.alloc() : memref<1x2x32xf32>
  linalg.generic {indexing_maps = [#all, #block, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%level, %scale : memref<1x2x32xi64>, memref<1x2xf32>) outs(%r : memref<1x2x32xf32>) {
  ^bb0(%l: i64, %s: f32, %o: f32):
    %more = arith.maxsi %l, %low : i64
    %byte = arith.minsi %more, %high : i64
    %real = arith.sitofp %byte : i64 to f32
    %scaled = arith.mulf %s, %real : f32
    linalg.yield %scaled : f32
  }
  %v = memref.alloc() : memref<4x2x32xf32>
  linalg.generic {indexing_maps = [#all, #block, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%bytes, %unit : memref<4x2x32xi8>, memref<4x2xf32>) outs(%v : memref<4x2x32xf32>) {
  ^bb0(%b: i8, %u: f32, %o: f32):
    %wide = arith.extsi %b : i8 to i64
    %real = arith.sitofp %wide : i64 to f32
    %scaled = arith.mulf %u, %real : f32
    linalg.yield %scaled : f32
  }
  %p = memref.collapse_shape %r [[0], [1, 2]] : memref<1x2x32xf32> into memref<1x64xf32>
  %q = memref.collapse_shape %v [[0], [1, 2]] : memref<4x2x32xf32> into memref<4x64xf32>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : memref<1x64xf32>, memref<4x64xf32>) outs(%y : memref<1x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %ab = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.addf %o, %ab fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Integers up to 128 stay reals: a sum of two products of bytes would saturate.
#block = affine_map<(n, b, k) -> (n, b)>
#all = affine_map<(n, b, k) -> (n, b, k)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @main
// CHECK-NOT: llvm.call_intrinsic
// VNNI-LABEL: func.func @main
// VNNI-NOT: llvm.call_intrinsic
func.func @main(%level: memref<1x2x32xi64>, %scale: memref<1x2xf32>, %bytes: memref<4x2x32xi8>, %unit: memref<4x2xf32>, %y: memref<1x4xf32>) attributes {skript.entry} {
  %low = arith.constant -128 : i64
  %high = arith.constant 127 : i64
  %r = memref.alloc() : memref<1x2x32xf32>
  linalg.generic {indexing_maps = [#all, #block, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%level, %scale : memref<1x2x32xi64>, memref<1x2xf32>) outs(%r : memref<1x2x32xf32>) {
  ^bb0(%l: i64, %s: f32, %o: f32):
    %more = arith.maxsi %l, %low : i64
    %byte = arith.minsi %more, %high : i64
    %real = arith.sitofp %byte : i64 to f32
    %scaled = arith.mulf %s, %real : f32
    linalg.yield %scaled : f32
  }
  %v = memref.alloc() : memref<4x2x32xf32>
  linalg.generic {indexing_maps = [#all, #block, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%bytes, %unit : memref<4x2x32xi8>, memref<4x2xf32>) outs(%v : memref<4x2x32xf32>) {
  ^bb0(%b: i8, %u: f32, %o: f32):
    %wide = arith.extsi %b : i8 to i64
    %real = arith.sitofp %wide : i64 to f32
    %scaled = arith.mulf %u, %real : f32
    linalg.yield %scaled : f32
  }
  %p = memref.collapse_shape %r [[0], [1, 2]] : memref<1x2x32xf32> into memref<1x64xf32>
  %q = memref.collapse_shape %v [[0], [1, 2]] : memref<4x2x32xf32> into memref<4x64xf32>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : memref<1x64xf32>, memref<4x64xf32>) outs(%y : memref<1x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %ab = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.addf %o, %ab fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}
