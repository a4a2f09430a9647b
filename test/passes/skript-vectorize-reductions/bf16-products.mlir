// RUN: skript-opt %s --split-input-file --skript-vectorize-reductions="vector-bits=512 bf16-products=vdpbf16ps" | FileCheck %s

// Two products of bf16 at once along the reduction of 31: fifteen pairs, and one product with a zero. Where the condition is false, the
// same pairs are widened to f32. The other operand is packed in pairs for each lane.
#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (j, k)>
#y = affine_map<(i, j, k) -> (i, j)>
// CHECK-LABEL: func.func @product
// CHECK-SAME:    %[[SUITS:.+]]: i1
// CHECK:         call @pack_0
// CHECK:         scf.if %[[SUITS]] {
// CHECK:           call @[[FAST:kernel_[01]]](
// CHECK:         } else {
// CHECK:           call @[[EXACT:kernel_[01]]](
// CHECK:       func.func private @pack_0({{.*}}: memref<64x31xbf16> {{.*}}: memref<2048xbf16>
// CHECK:       func.func private @kernel_0
// CHECK:         %[[PAIR:.+]] = vector.load {{.+}}, vector<2xbf16>
// CHECK:         vector.bitcast %[[PAIR]] : vector<2xbf16> to vector<2xi16>
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"({{.+}}) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
// CHECK:         vector.insert {{.+}} [0] : i16 into vector<2xi16>
// CHECK-NOT:     arith.mulf
// CHECK:       func.func private @kernel_1
// CHECK-NOT:     call_intrinsic
// CHECK:         vector.load {{.+}}, vector<32xbf16>
// CHECK:         arith.shli {{.+}} : vector<16xi32>
// CHECK:         arith.mulf
func.func @product(%suits: i1, %x: memref<64x31xbf16>, %w: memref<64x31xbf16>, %y: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x31xbf16>, memref<64x31xbf16>) outs(%y : memref<64x64xf32>) {
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

// -----

#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (j, k)>
#y = affine_map<(i, j, k) -> (i, j)>
// A sum that begins with other numbers may be subnormal.
// CHECK-LABEL: func.func @begun
// CHECK-NOT:     scf.if
// CHECK:         call @kernel
// CHECK:         return
func.func @begun(%suits: i1, %x: memref<64x31xbf16>, %w: memref<64x31xbf16>, %y: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x31xbf16>, memref<64x31xbf16>) outs(%y : memref<64x64xf32>) {
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
