// RUN: skript-opt %s --skript-map-rows=gpu=sm_80 | FileCheck %s

// A loop over blocks of columns in a block of rows: all threads of the block execute each iteration together, and the array of the sums stays in
// shared memory from one to the next.
// CHECK-LABEL: func @sums
// CHECK: gpu.launch
// CHECK-SAME: workgroup(%[[SUM:.*]] : memref<1x1xf32, #gpu.address_space<workgroup>>, %{{.*}} : memref<{{.*}}xf32, #gpu.address_space<workgroup>>)
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[SUM]]
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: memref.subview %{{.*}}[%{{.*}}, %{{.*}}] [1, 64]
// CHECK: memref.load %[[SUM]]
// CHECK: memref.store %{{.*}}, %[[SUM]]
// CHECK: gpu.barrier
// CHECK: memref.store
// CHECK: gpu.terminator
// CHECK-NEXT: } {nvvm.minctasm = 2 : i32}
// CHECK-NOT: linalg
#all = affine_map<(i, j) -> (i, j)>
#of = affine_map<(i, j) -> (i, 0)>
func.func @sums(%x: memref<64x256xf32>, %y: memref<64x1xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%b) = (%c0) to (%c64) step (%c1) {
    %m = memref.alloca() {alignment = 64 : i64} : memref<1x1xf32>
    linalg.fill ins(%zero : f32) outs(%m : memref<1x1xf32>)
    scf.for %c = %c0 to %c4 step %c1 {
      %first = arith.muli %c, %c64 : index
      %own = memref.subview %x[%b, %first] [1, 64] [1, 1] : memref<64x256xf32> to memref<1x64xf32, strided<[256, 1], offset: ?>>
      linalg.generic {indexing_maps = [#all, #of], iterator_types = ["parallel", "reduction"]}
          ins(%own : memref<1x64xf32, strided<[256, 1], offset: ?>>) outs(%m : memref<1x1xf32>) {
      ^bb0(%a: f32, %o: f32):
        %n = arith.addf %o, %a fastmath<reassoc> : f32
        linalg.yield %n : f32
      }
    }
    %r = memref.subview %y[%b, 0] [1, 1] [1, 1] : memref<64x1xf32> to memref<1x1xf32, strided<[1, 1], offset: ?>>
    memref.copy %m, %r : memref<1x1xf32> to memref<1x1xf32, strided<[1, 1], offset: ?>>
    scf.reduce
  }
  return
}
