// RUN: skript-opt %s --skript-widen-operands | FileCheck %s

#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (k, j)>
#y = affine_map<(i, j, k) -> (i, j)>

// Each element of both operands is in many products: both are widened once. The second product reads the same copies.
// CHECK-LABEL: func.func @products
// CHECK-SAME:    %[[X:.+]]: memref<64x30xf16>, %[[W:.+]]: memref<30x48xf16>
// CHECK:         %[[A:.+]] = memref.alloc() : memref<64x30xf32>
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[X]] : memref<64x30xf16>) outs(%[[A]] : memref<64x30xf32>)
// CHECK-NEXT:    ^bb0(%[[NARROW:.+]]: f16, %{{.*}}: f32):
// CHECK-NEXT:      %[[WIDE:.+]] = arith.extf %[[NARROW]] : f16 to f32
// CHECK-NEXT:      linalg.yield %[[WIDE]] : f32
// CHECK:         %[[B:.+]] = memref.alloc() : memref<30x48xf32>
// CHECK:         linalg.generic {{.*}}ins(%[[W]] : memref<30x48xf16>) outs(%[[B]] : memref<30x48xf32>)
// CHECK:         linalg.generic {{.*}}ins(%[[A]], %[[B]] : memref<64x30xf32>, memref<30x48xf32>)
// CHECK-NEXT:    ^bb0(%[[P:.+]]: f32, %[[Q:.+]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      arith.mulf %[[P]], %[[Q]] fastmath<contract> : f32
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.generic {{.*}}ins(%[[A]], %[[B]] : memref<64x30xf32>, memref<30x48xf32>)
func.func @products(%x: memref<64x30xf16>, %w: memref<30x48xf16>, %y: memref<64x48xf32>, %z: memref<64x48xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x30xf16>, memref<30x48xf16>) outs(%y : memref<64x48xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %p = arith.extf %a : f16 to f32
    %q = arith.extf %b : f16 to f32
    %r = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %c, %r fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x30xf16>, memref<30x48xf16>) outs(%z : memref<64x48xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %p = arith.extf %a : f16 to f32
    %q = arith.extf %b : f16 to f32
    %r = arith.addf %p, %q : f32
    %s = arith.maximumf %c, %r : f32
    linalg.yield %s : f32
  }
  return
}

// A weight stays narrow: it is a variable without an update. bf16 is widened by integers.
// CHECK-LABEL: func.func @weights
// CHECK-SAME:    %[[X:.+]]: memref<64x30xbf16>, %[[W:.+]]: memref<30x48xbf16>
// CHECK:         linalg.generic {{.*}}ins(%[[X]] : memref<64x30xbf16>) outs(%[[A:.+]] : memref<64x30xf32>)
// CHECK:           arith.extf %{{.*}} : bf16 to f32
// CHECK:         linalg.generic {{.*}}ins(%[[A]], %[[W]] : memref<64x30xf32>, memref<30x48xbf16>)
// CHECK-NEXT:    ^bb0(%[[P:.+]]: f32, %[[B:.+]]: bf16, %{{.*}}: f32):
// CHECK:           %[[Q:.+]] = arith.extf %[[B]] : bf16 to f32
// CHECK-NEXT:      arith.mulf %[[P]], %[[Q]]
func.func @weights(%x: memref<64x30xbf16>, %w: memref<30x48xbf16> {skript.role = "variable"}, %y: memref<64x48xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x30xbf16>, memref<30x48xbf16>) outs(%y : memref<64x48xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %c16 = arith.constant 16 : i32
    %bits = arith.bitcast %a : bf16 to i16
    %word = arith.extui %bits : i16 to i32
    %upper = arith.shli %word, %c16 : i32
    %p = arith.bitcast %upper : i32 to f32
    %q = arith.extf %b : bf16 to f32
    %r = arith.mulf %p, %q fastmath<contract> : f32
    %s = arith.addf %c, %r fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}

// An operand that is written between two contractions is widened again.
// CHECK-LABEL: func.func @written
// CHECK:         linalg.generic {{.*}}ins(%[[X:.+]] : memref<64x30xf16>) outs(%[[FIRST:.+]] : memref<64x30xf32>)
// CHECK:         linalg.generic {{.*}}ins(%[[FIRST]]
// CHECK:         linalg.fill
// CHECK:         linalg.generic {{.*}}ins(%[[X]] : memref<64x30xf16>) outs(%[[SECOND:.+]] : memref<64x30xf32>)
// CHECK:         linalg.generic {{.*}}ins(%[[SECOND]]
func.func @written(%w: memref<30x48xf32>, %y: memref<64x48xf32>, %z: memref<64x48xf32>) {
  %zero = arith.constant 0.0 : f16
  %x = memref.alloc() : memref<64x30xf16>
  linalg.fill ins(%zero : f16) outs(%x : memref<64x30xf16>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x30xf16>, memref<30x48xf32>) outs(%y : memref<64x48xf32>) {
  ^bb0(%a: f16, %b: f32, %c: f32):
    %p = arith.extf %a : f16 to f32
    %r = arith.mulf %p, %b : f32
    %s = arith.addf %c, %r : f32
    linalg.yield %s : f32
  }
  linalg.fill ins(%zero : f16) outs(%x : memref<64x30xf16>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x30xf16>, memref<30x48xf32>) outs(%z : memref<64x48xf32>) {
  ^bb0(%a: f16, %b: f32, %c: f32):
    %p = arith.extf %a : f16 to f32
    %r = arith.mulf %p, %b : f32
    %s = arith.addf %c, %r : f32
    linalg.yield %s : f32
  }
  return
}
