// RUN: skript-opt %s --skript-vectorize-reductions="vector-bits=512 byte-products=vpdpbusd" | FileCheck %s --check-prefixes=CHECK,VNNI
// RUN: skript-opt %s --skript-vectorize-reductions="vector-bits=256 vector-registers=16 byte-products=vpmaddwd" | FileCheck %s --check-prefixes=CHECK,MADD
// RUN: skript-opt %s --skript-vectorize-reductions="vector-bits=512" | FileCheck %s --check-prefix=PLAIN

// Four products of bytes at once along the reduction of 30: seven groups, and two products with zeros. The other operand is packed in
// groups of four for each lane. Without such instructions, bytes are multiplied in 32 bits.
#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (j, k)>
#y = affine_map<(i, j, k) -> (i, j)>
// CHECK-LABEL: func.func @product
// CHECK:         call @pack_0
// CHECK:         call @kernel_0
// CHECK:       func.func private @pack_0({{.*}}: memref<64x30xi8> {{.*}}: memref<2048xi8>
// CHECK:         arith.remui
// CHECK:       func.func private @kernel_0
// VNNI:          %[[BYTES:.+]] = vector.load {{.+}}, vector<4xi8>
// VNNI:          vector.bitcast %[[BYTES]] : vector<4xi8> to vector<1xi32>
// VNNI:          llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"({{.+}}) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
// MADD:          llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"({{.+}}) : (vector<16xi16>, vector<16xi16>) -> vector<8xi32>
// CHECK:         vector.insert {{.+}} [1] : i8 into vector<4xi8>
// CHECK-NOT:     vector.insert {{.+}} [2] : i8
// PLAIN-NOT:     call_intrinsic
// PLAIN:         arith.muli
func.func @product(%x: memref<64x30xi8>, %w: memref<64x30xi8>, %y: memref<64x64xi32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x30xi8>, memref<64x30xi8>) outs(%y : memref<64x64xi32>) {
  ^bb0(%a: i8, %b: i8, %c: i32):
    %p = arith.extui %a : i8 to i32
    %q = arith.extsi %b : i8 to i32
    %r = arith.muli %p, %q : i32
    %s = arith.addi %c, %r : i32
    linalg.yield %s : i32
  }
  return
}
