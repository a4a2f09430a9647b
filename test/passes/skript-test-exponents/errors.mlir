// RUN: skript-opt %s --skript-test-exponents=bf16-products=vdpbf16ps | FileCheck %s
// RUN: not skript-opt %s --skript-test-exponents=bf16-products=bfdot 2>&1 | FileCheck %s --check-prefix=OPTION

// What stays: sums in the order of the loops; few products of each element; f16; sums that are no products.
// OPTION: option bf16-products: `bfdot` is not one of none, vdpbf16ps
// CHECK-NOT: afn
#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (j, k)>
#y = affine_map<(i, j, k) -> (i, j)>
func.func @order(%x: memref<64x30xbf16>, %w: memref<32x30xbf16>, %y: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x30xbf16>, memref<32x30xbf16>) outs(%y : memref<64x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %r = arith.mulf %p, %q : f32
    %s = arith.addf %c, %r : f32
    linalg.yield %s : f32
  }
  return
}

func.func @few(%x: memref<8x30xbf16>, %w: memref<32x30xbf16>, %y: memref<8x32xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x30xbf16>, memref<32x30xbf16>) outs(%y : memref<8x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %r = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %c, %r fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}

func.func @f16(%x: memref<64x30xf16>, %w: memref<32x30xf16>, %y: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x30xf16>, memref<32x30xf16>) outs(%y : memref<64x32xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %p = arith.extf %a : f16 to f32
    %q = arith.extf %b : f16 to f32
    %r = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %c, %r fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}

func.func @sum(%x: memref<64x30xbf16>, %w: memref<32x30xbf16>, %y: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x30xbf16>, memref<32x30xbf16>) outs(%y : memref<64x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %r = arith.maximumf %p, %q : f32
    %s = arith.addf %c, %r fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}
