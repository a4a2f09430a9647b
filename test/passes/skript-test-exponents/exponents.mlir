// RUN: skript-opt %s --skript-test-exponents=bf16-products=vdpbf16ps | FileCheck %s
// RUN: skript-opt %s --skript-test-exponents --mlir-print-local-scope | FileCheck %s --check-prefix=NONE

// The least exponents of both arrays, in the bits of bf16: each is at least 1, and their sum 142. Then no factor and no sum is subnormal.
#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (j, k)>
#y = affine_map<(i, j, k) -> (i, j)>
// NONE-NOT: afn
// CHECK-LABEL: func.func @product
// CHECK-SAME:    %[[X:.+]]: memref<64x30xbf16>, %[[W:.+]]: memref<32x30xbf16>
// CHECK:         %[[LEAST:.+]] = memref.alloc() : memref<i32>
// CHECK:         linalg.fill ins({{.+}} : i32) outs(%[[LEAST]] : memref<i32>)
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction", "reduction"]} ins(%[[X]] : memref<64x30xbf16>) outs(%[[LEAST]] : memref<i32>)
// CHECK:           arith.minsi
// CHECK:         %[[A:.+]] = memref.load %[[LEAST]][] : memref<i32>
// CHECK:         linalg.generic {{.*}}ins(%[[W]] : memref<32x30xbf16>)
// CHECK:         %[[B:.+]] = memref.load
// CHECK:         %[[SUM:.+]] = arith.addi %[[A]], %[[B]] : i32
// CHECK:         arith.constant 128 : i32
// CHECK:         %[[FIRST:.+]] = arith.cmpi sge, %[[A]]
// CHECK:         %[[SECOND:.+]] = arith.cmpi sge, %[[B]]
// CHECK:         %[[BOTH:.+]] = arith.andi %[[FIRST]], %[[SECOND]] : i1
// CHECK:         arith.constant 18176 : i32
// CHECK:         %[[THIRD:.+]] = arith.cmpi sge, %[[SUM]]
// CHECK:         %[[SUITS:.+]] = arith.andi %[[BOTH]], %[[THIRD]] : i1
// CHECK:         linalg.generic {{.*}}ins(%[[X]], %[[W]]
// CHECK:           %[[FAST:.+]] = arith.mulf %[[P:.+]], %[[Q:.+]] fastmath<contract,afn> : f32
// CHECK:           %[[EXACT:.+]] = arith.mulf %[[P]], %[[Q]] fastmath<contract> : f32
// CHECK:           %[[R:.+]] = arith.select %[[SUITS]], %[[FAST]], %[[EXACT]] : f32
// CHECK:           arith.addf %{{.+}}, %[[R]]
func.func @product(%x: memref<64x30xbf16>, %w: memref<32x30xbf16>, %y: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x30xbf16>, memref<32x30xbf16>) outs(%y : memref<64x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %r = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %c, %r fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}
