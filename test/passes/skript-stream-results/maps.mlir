// RUN: skript-opt %s --skript-stream-results=cache-bytes=65536 | FileCheck %s
// RUN: skript-opt %s --skript-stream-results=cache-bytes=65536 --skript-stream-results=cache-bytes=65536 | FileCheck %s

#all = affine_map<(d0) -> (d0)>
#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The result of 128 KiB is computed in 128 blocks of 1 KiB.
// CHECK-LABEL: func.func @sum
// CHECK-SAME:    %[[X:[^ ]+]]: memref<32768xf32>, %[[Y:[^ ]+]]: memref<32768xf32>, %[[Z:[^ ]+]]: memref<32768xf32>
// CHECK:         %[[N:.+]] = arith.constant 128 : index
// CHECK:         scf.parallel (%[[I:.+]]) = (%{{.+}}) to (%[[N]]) step
// CHECK:           %[[FIRST:.+]] = arith.muli %[[I]]
// CHECK:           %[[XS:.+]] = memref.subview %[[X]][%[[FIRST]]] [256] [1]
// CHECK:           %[[YS:.+]] = memref.subview %[[Y]][%[[FIRST]]] [256] [1]
// CHECK:           %[[BLOCK:.+]] = memref.alloca() {alignment = 64 : i64{{.*}}} : memref<256xf32>
// CHECK:           %[[ZS:.+]] = memref.subview %[[Z]][%[[FIRST]]] [256] [1]
// CHECK:           linalg.generic {{.*}} ins(%[[XS]], %[[YS]] : {{.*}} outs(%[[BLOCK]] :
// CHECK:           memref.copy %[[BLOCK]], %[[ZS]] {skript.stream}
// CHECK-NEXT:      scf.reduce
func.func @sum(%x: memref<32768xf32>, %y: memref<32768xf32>, %z: memref<32768xf32>) {
  linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel"]}
      ins(%x, %y : memref<32768xf32>, memref<32768xf32>) outs(%z : memref<32768xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// 301 rows of 452 bytes: blocks of two rows, and one row more. What is equal for a row is read as it is.
// CHECK-LABEL: func.func @broadcast
// CHECK:         %[[N:.+]] = arith.constant 150 : index
// CHECK:         scf.parallel (%{{.+}}) = (%{{.+}}) to (%[[N]]) step
// CHECK:           memref.alloca() {{.*}} : memref<2x113xf32>
// CHECK:           memref.copy {{.*}} {skript.stream} : memref<2x113xf32>
// CHECK:         memref.subview {{.*}} [1, 113] [1, 1]
// CHECK-NOT:     skript.stream
func.func @broadcast(%x: memref<301x113xf32>, %y: memref<301xf32>, %z: memref<301x113xf32>) {
  linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<301x113xf32>, memref<301xf32>) outs(%z : memref<301x113xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// A loop over rows reads and writes its row of the result in place: that is on the stack.
// CHECK-LABEL: func.func @row
// CHECK:         scf.parallel
// CHECK:           %[[BLOCK:.+]] = memref.alloca() {{.*}} : memref<1x512xf32>
// CHECK:           linalg.generic {{.*}} outs(%[[BLOCK]] :
// CHECK:           linalg.generic {{.*}} ins(%[[BLOCK]] : {{.*}} outs(%[[BLOCK]] :
// CHECK:           memref.copy %[[BLOCK]], %{{.+}} {skript.stream}
func.func @row(%x: memref<64x512xf32>, %z: memref<64x512xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.parallel (%i) = (%zero) to (%n) step (%one) {
    %a = memref.subview %x[%i, 0] [1, 512] [1, 1] : memref<64x512xf32> to memref<1x512xf32, strided<[512, 1], offset: ?>>
    %b = memref.subview %z[%i, 0] [1, 512] [1, 1] : memref<64x512xf32> to memref<1x512xf32, strided<[512, 1], offset: ?>>
    linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%a : memref<1x512xf32, strided<[512, 1], offset: ?>>) outs(%b : memref<1x512xf32, strided<[512, 1], offset: ?>>) {
    ^bb0(%v: f32, %o: f32):
      %s = math.exp %v : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%b : memref<1x512xf32, strided<[512, 1], offset: ?>>) outs(%b : memref<1x512xf32, strided<[512, 1], offset: ?>>) {
    ^bb0(%v: f32, %o: f32):
      %s = arith.mulf %v, %v : f32
      linalg.yield %s : f32
    }
    scf.reduce
  } {skript.work = 1536 : i64}
  return
}
