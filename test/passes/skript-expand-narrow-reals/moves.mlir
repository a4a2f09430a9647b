// RUN: skript-opt %s --skript-expand-narrow-reals --split-input-file | FileCheck %s

// What moves elements is the same on integers: memory, constants, signatures, blocks, vectors, masks. The numbers of constants are the
// bits by IEEE 754: 1, -0, the largest number; infinity; the NaN that LLVM's text has.
// CHECK-LABEL: llvm.mlir.global internal constant @some
// CHECK-SAME:    dense<[15360, -32768, 31743]> : tensor<3xi16>
// CHECK-SAME:    !llvm.array<3 x i16>
llvm.mlir.global internal constant @some(dense<[1.0, -0.0, 65504.0]> : tensor<3xf16>) : !llvm.array<3 x f16>
// CHECK:       llvm.mlir.global internal constant @same
// CHECK-SAME:    dense<16256> : vector<4xi16>
llvm.mlir.global internal constant @same(dense<1.0> : vector<4xbf16>) : vector<4xbf16>

// CHECK-LABEL: llvm.func @moves(
// CHECK-SAME:    i16, %{{.*}}: !llvm.ptr, %[[FLAG:.*]]: i1, %{{.*}}: vector<4xi1>) -> i16
// CHECK-NOT:     f16
// CHECK:         llvm.mlir.constant(31744 : i16) : i16
// CHECK:         llvm.mlir.constant(dense<[16256, -16384]> : vector<2xi16>) : vector<2xi16>
// CHECK:         llvm.alloca {{.*}} x i16
// CHECK:         llvm.getelementptr {{.*}} -> !llvm.ptr, i16
// CHECK:         llvm.load {{.*}} -> i16
// CHECK:         llvm.intr.masked.load {{.*}} -> vector<4xi16>
// CHECK:         llvm.shufflevector {{.*}} : vector<4xi16>
// CHECK:         llvm.store {{.*}} : vector<8xi16>, !llvm.ptr
// CHECK:         llvm.call @moves({{.*}}) : (i16, !llvm.ptr, i1, vector<4xi1>) -> i16
// CHECK:         llvm.insertvalue {{.*}} : !llvm.struct<(i16, i32)>
// CHECK:         llvm.cond_br %[[FLAG]], ^bb1({{.*}} : i16), ^bb1({{.*}} : i16)
// CHECK:       ^bb1(%[[X:.*]]: i16):
// CHECK:         llvm.return %[[X]] : i16
llvm.func @moves(%x: f16, %p: !llvm.ptr, %flag: i1, %mask: vector<4xi1>) -> f16 {
  %infinity = llvm.mlir.constant(0x7C00 : f16) : f16
  %two = llvm.mlir.constant(dense<[1.0, -2.0]> : vector<2xbf16>) : vector<2xbf16>
  %count = llvm.mlir.constant(4 : i64) : i64
  %own = llvm.alloca %count x f16 : (i64) -> !llvm.ptr
  %at = llvm.getelementptr %p[%count] : (!llvm.ptr, i64) -> !llvm.ptr, f16
  %a = llvm.load %at : !llvm.ptr -> f16
  %none = llvm.mlir.poison : vector<4xf16>
  %v = llvm.intr.masked.load %own, %mask, %none {alignment = 2 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xf16>) -> vector<4xf16>
  %w = llvm.shufflevector %v, %v [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf16>
  llvm.store %w, %p : vector<8xf16>, !llvm.ptr
  llvm.store %two, %p : vector<2xbf16>, !llvm.ptr
  %c = llvm.call @moves(%a, %p, %flag, %mask) : (f16, !llvm.ptr, i1, vector<4xi1>) -> f16
  %pair = llvm.mlir.undef : !llvm.struct<(f16, i32)>
  %filled = llvm.insertvalue %c, %pair[0] : !llvm.struct<(f16, i32)>
  %d = llvm.extractvalue %filled[0] : !llvm.struct<(f16, i32)>
  llvm.cond_br %flag, ^end(%d : f16), ^end(%infinity : f16)
^end(%r: f16):
  llvm.return %r : f16
}

// Casts between bits and numbers are removed.
// CHECK-LABEL: llvm.func @casts(
// CHECK-SAME:    %[[P:.*]]: !llvm.ptr)
// CHECK-NEXT:    %[[X:.*]] = llvm.load %[[P]] : !llvm.ptr -> vector<4xi16>
// CHECK-NEXT:    llvm.return %[[X]] : vector<4xi16>
llvm.func @casts(%p: !llvm.ptr) -> vector<4xi16> {
  %x = llvm.load %p : !llvm.ptr -> vector<4xbf16>
  %bits = llvm.bitcast %x : vector<4xbf16> to vector<4xi16>
  llvm.return %bits : vector<4xi16>
}

// -----

// Intrinsics of processors, and functions that are defined elsewhere, have their types.
// CHECK-LABEL: llvm.func @outside(f16) -> bf16
llvm.func @outside(f16) -> bf16

// CHECK-LABEL: llvm.func @kept(
// CHECK-SAME:    %[[P:.*]]: !llvm.ptr, %[[SUM:.*]]: vector<16xf32>) -> i16
// CHECK:         %[[X:.*]] = llvm.load %[[P]] : !llvm.ptr -> vector<32xi16>
// CHECK:         %[[LEFT:.*]] = llvm.bitcast %[[X]] : vector<32xi16> to vector<32xbf16>
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%[[SUM]], %[[LEFT]], %{{.*}}) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
// CHECK:         %[[A:.*]] = llvm.load %[[P]] : !llvm.ptr -> i16
// CHECK:         %[[NUMBER:.*]] = llvm.bitcast %[[A]] : i16 to f16
// CHECK:         %[[CALLED:.*]] = llvm.call @outside(%[[NUMBER]]) : (f16) -> bf16
// CHECK:         %[[BITS:.*]] = llvm.bitcast %[[CALLED]] : bf16 to i16
// CHECK:         llvm.return %[[BITS]] : i16
llvm.func @kept(%p: !llvm.ptr, %sum: vector<16xf32>) -> bf16 {
  %x = llvm.load %p : !llvm.ptr -> vector<32xbf16>
  %y = llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%sum, %x, %x) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
  llvm.store %y, %p : vector<16xf32>, !llvm.ptr
  %a = llvm.load %p : !llvm.ptr -> f16
  %c = llvm.call @outside(%a) : (f16) -> bf16
  llvm.return %c : bf16
}
