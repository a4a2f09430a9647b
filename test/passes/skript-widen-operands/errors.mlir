// RUN: skript-opt %s --skript-widen-operands | FileCheck %s

// What stays: operands whose elements are in few products; dynamic extents; elements that are not widened alone; products for other
// instructions, of which one is marked with `afn`; maps.
// CHECK-NOT: memref.alloc
#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (k, j)>
#y = affine_map<(i, j, k) -> (i, j)>
#same = affine_map<(i, j) -> (i, j)>
func.func @few(%x: memref<64x30xf16>, %w: memref<30x8xf32>, %y: memref<64x8xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x30xf16>, memref<30x8xf32>) outs(%y : memref<64x8xf32>) {
  ^bb0(%a: f16, %b: f32, %c: f32):
    %p = arith.extf %a : f16 to f32
    %r = arith.mulf %p, %b : f32
    %s = arith.addf %c, %r : f32
    linalg.yield %s : f32
  }
  return
}

func.func @dynamic(%x: memref<?x30xf16>, %w: memref<30x64xf32>, %y: memref<?x64xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x30xf16>, memref<30x64xf32>) outs(%y : memref<?x64xf32>) {
  ^bb0(%a: f16, %b: f32, %c: f32):
    %p = arith.extf %a : f16 to f32
    %r = arith.mulf %p, %b : f32
    %s = arith.addf %c, %r : f32
    linalg.yield %s : f32
  }
  return
}

func.func @also_narrow(%x: memref<64x30xf16>, %w: memref<30x64xf16>, %y: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x30xf16>, memref<30x64xf16>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %r = arith.mulf %a, %b : f16
    %p = arith.extf %r : f16 to f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

func.func @tested(%x: memref<64x30xbf16>, %w: memref<30x64xbf16>, %y: memref<64x64xf32>, %suits: i1) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x30xbf16>, memref<30x64xbf16>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %fast = arith.mulf %p, %q fastmath<contract,afn> : f32
    %exact = arith.mulf %p, %q fastmath<contract> : f32
    %r = arith.select %suits, %fast, %exact : f32
    %s = arith.addf %c, %r fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}

func.func @map(%x: memref<64x30xf16>, %y: memref<64x30xf32>) {
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x30xf16>) outs(%y : memref<64x30xf32>) {
  ^bb0(%a: f16, %c: f32):
    %p = arith.extf %a : f16 to f32
    linalg.yield %p : f32
  }
  return
}
