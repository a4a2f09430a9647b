// RUN: skript-opt %s --skript-map-rows=gpu=vulkan | FileCheck %s
// RUN: skript-opt %s "--skript-map-rows=gpu=sm_80 precision=tf32" | FileCheck %s --check-prefix=CORES
// RUN: skript-opt %s --skript-map-rows=gpu=sm_80 | FileCheck %s --check-prefix=UNROLLED

// A block computes a contraction of its rows in tiles, one after the other, from copies in shared memory; what nothing else reads stays there.
// Rows share the threads of a reduction.
// Beside other operations the assembler would keep the values of all products in registers.
// UNROLLED: #llvm.loop_unroll<disable = false, count = 4 : i32>
// UNROLLED: func @products
// UNROLLED: loop_annotation
// UNROLLED: } {nvvm.minctasm = 2 : i32}

// CHECK-LABEL: func @products
// CHECK: gpu.launch
// CHECK-SAME: workgroup(%[[SCORES:.*]] : memref<16x40xf32, #gpu.address_space<workgroup>>, %[[SUMS:.*]] : memref<16xf32, #gpu.address_space<workgroup>>, %[[PARTS:.*]] : memref<64xf32, #gpu.address_space<workgroup>>, %[[COPIES:.*]] : memref<{{.*}}xf32, #gpu.address_space<workgroup>>)
// CHECK: memref.reinterpret_cast %[[COPIES]] to offset: [0]
// CHECK: memref.extract_strided_metadata
// CHECK: memref.reinterpret_cast %[[SCORES]]
// CHECK: arith.mulf
// CHECK: gpu.barrier
// CHECK: memref.store %{{.*}}, %[[PARTS]]
// CHECK: arith.divf
// CHECK: gpu.barrier
// CHECK-NOT: linalg
// CHECK-NOT: memref.alloca
// CORES-LABEL: func @products
// CORES: nvvm.ldmatrix
// CORES: nvvm.mma.sync
#q = affine_map<(i, j, k) -> (i, k)>
#k = affine_map<(i, j, k) -> (j, k)>
#s = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>
#of = affine_map<(i, j) -> (i)>
func.func @products(%q: memref<64x16xf32>, %k: memref<40x16xf32>, %y: memref<64x40xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%b) = (%c0) to (%c4) step (%c1) {
    %first = arith.muli %b, %c16 : index
    %own = memref.subview %q[%first, 0] [16, 16] [1, 1] : memref<64x16xf32> to memref<16x16xf32, strided<[16, 1], offset: ?>>
    %s = memref.alloca() {alignment = 64 : i64} : memref<16x40xf32>
    linalg.fill ins(%zero : f32) outs(%s : memref<16x40xf32>)
    linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%own, %k : memref<16x16xf32, strided<[16, 1], offset: ?>>, memref<40x16xf32>) outs(%s : memref<16x40xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %p = arith.mulf %a, %c : f32
      %n = arith.addf %o, %p fastmath<reassoc> : f32
      linalg.yield %n : f32
    }
    %m = memref.alloca() {alignment = 64 : i64} : memref<16xf32>
    linalg.fill ins(%zero : f32) outs(%m : memref<16xf32>)
    linalg.generic {indexing_maps = [#all, #of], iterator_types = ["parallel", "reduction"]}
        ins(%s : memref<16x40xf32>) outs(%m : memref<16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %n = arith.addf %o, %a fastmath<reassoc> : f32
      linalg.yield %n : f32
    }
    %r = memref.subview %y[%first, 0] [16, 40] [1, 1] : memref<64x40xf32> to memref<16x40xf32, strided<[40, 1], offset: ?>>
    linalg.generic {indexing_maps = [#all, #of, #all], iterator_types = ["parallel", "parallel"]}
        ins(%s, %m : memref<16x40xf32>, memref<16xf32>) outs(%r : memref<16x40xf32, strided<[40, 1], offset: ?>>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %n = arith.divf %a, %c : f32
      linalg.yield %n : f32
    }
    scf.reduce
  }
  return
}
