// RUN: skript-opt %s --skript-map-rows=gpu=vulkan --split-input-file | FileCheck %s

// A block of 64 threads computes a row: they share the points of each operation, and wait for each other after it. Partial sums are
// combined in pairs; the array of the row is in shared memory.
// CHECK-LABEL: func @normalized
// CHECK: gpu.launch blocks({{.*}}) in ({{.*}}) threads(%[[THREAD:.*]], %{{.*}}, %{{.*}}) in
// CHECK-SAME: workgroup(%[[SUM:.*]] : memref<1x1xf32, #gpu.address_space<workgroup>>, %[[PARTS:.*]] : memref<64xf32, #gpu.address_space<workgroup>>)
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK: scf.for %{{.*}} = %[[THREAD]] to %{{.*}} step %[[WIDTH:.*]] {
// CHECK: memref.store %{{.*}}, %[[SUM]]
// CHECK: gpu.barrier
// CHECK: memref.subview %arg0[%{{.*}}, 0] [1, 200] [1, 1]
// CHECK: %[[IDENTITY:.*]] = arith.constant -0.000000e+00 : f32
// CHECK: %[[OWN:.*]] = scf.for %{{.*}} = %[[THREAD]] to %{{.*}} step %[[WIDTH]] iter_args(%[[PART:.*]] = %[[IDENTITY]]) -> (f32)
// CHECK: memref.store %[[OWN]], %[[PARTS]][%[[THREAD]]]
// CHECK-NEXT: gpu.barrier
// CHECK: scf.if
// CHECK: arith.addf {{.*}} fastmath<reassoc>
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK: scf.for %{{.*}} = %[[THREAD]] to %{{.*}} step %[[WIDTH]] {
// CHECK: memref.load %[[SUM]]
// CHECK: arith.divf
// CHECK: gpu.barrier
// CHECK-NOT: linalg
// CHECK-NOT: memref.alloca
#row = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i, j) -> (i, 0)>
#in = affine_map<(i, k, j) -> (i, j)>
#out = affine_map<(i, k, j) -> (i, k)>
func.func @normalized(%x: memref<100x200xf32>, %y: memref<100x200xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%c100) step (%c1) {
    %sum = memref.alloca() : memref<1x1xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<1x1xf32>)
    %a = memref.subview %x[%i, 0] [1, 200] [1, 1] : memref<100x200xf32> to memref<1x200xf32, strided<[200, 1], offset: ?>>
    linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a : memref<1x200xf32, strided<[200, 1], offset: ?>>) outs(%sum : memref<1x1xf32>) {
    ^bb0(%v: f32, %s: f32):
      %n = arith.addf %s, %v fastmath<reassoc> : f32
      linalg.yield %n : f32
    }
    %b = memref.subview %y[%i, 0] [1, 200] [1, 1] : memref<100x200xf32> to memref<1x200xf32, strided<[200, 1], offset: ?>>
    linalg.generic {indexing_maps = [#row, #one, #row], iterator_types = ["parallel", "parallel"]}
        ins(%a, %sum : memref<1x200xf32, strided<[200, 1], offset: ?>>, memref<1x1xf32>) outs(%b : memref<1x200xf32, strided<[200, 1], offset: ?>>) {
    ^bb0(%v: f32, %s: f32, %o: f32):
      %q = arith.divf %v, %s : f32
      linalg.yield %q : f32
    }
    scf.reduce
  }
  return
}

// -----

// Sums in the order of the formula are computed by one thread each, and loops without reductions are left to others: nothing changes.
// CHECK-LABEL: func @ordered
// CHECK-NOT: gpu.launch
#in = affine_map<(i, k) -> (i, k)>
#out = affine_map<(i, k) -> (i)>
func.func @ordered(%x: memref<100x200xf32>, %y: memref<100xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.parallel (%i) = (%c0) to (%c100) step (%c1) {
    %a = memref.subview %x[%i, 0] [1, 200] [1, 1] : memref<100x200xf32> to memref<1x200xf32, strided<[200, 1], offset: ?>>
    %b = memref.subview %y[%i] [1] [1] : memref<100xf32> to memref<1xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
        ins(%a : memref<1x200xf32, strided<[200, 1], offset: ?>>) outs(%b : memref<1xf32, strided<[1], offset: ?>>) {
    ^bb0(%v: f32, %s: f32):
      %n = arith.addf %s, %v : f32
      linalg.yield %n : f32
    }
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%c100) step (%c1) {
    %b = memref.subview %y[%i] [1] [1] : memref<100xf32> to memref<1xf32, strided<[1], offset: ?>>
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%b : memref<1xf32, strided<[1], offset: ?>>)
    scf.reduce
  }
  return
}
