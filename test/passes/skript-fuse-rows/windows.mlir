// RUN: skript-opt %s --skript-fuse-rows=cache-bytes=1048576 | FileCheck %s

#window = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d3, d2 * 2 + d4)>
#shape = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>
#out = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>

// Windows of a padded array: its border, its interior and the maxima are computed for one channel after the other, and the padded map of
// a channel is on the stack.
// CHECK-LABEL: func.func @pool
// CHECK-SAME:    %[[X:[^ ]+]]: memref<16x32x32xf32>, %[[Y:[^ ]+]]: memref<16x16x16xf32>
// CHECK-NOT:     memref.alloc(
// CHECK:         scf.parallel (%[[I:.+]]) = (%{{.+}}) to (%{{.+}}) step
// CHECK:           %[[MAP:.+]] = memref.alloca() {{.*}} : memref<1x33x33xf32>
// CHECK:           %[[ROW:.+]] = memref.subview %[[MAP]][0, 0, 0] [1, 1, 33] [1, 1, 1]
// CHECK:           linalg.fill {{.*}} outs(%[[ROW]] :
// CHECK:           %[[COLUMN:.+]] = memref.subview %[[MAP]][0, 1, 0] [1, 32, 1] [1, 1, 1]
// CHECK:           linalg.fill {{.*}} outs(%[[COLUMN]] :
// CHECK:           %[[FROM:.+]] = memref.subview %[[X]][%[[I]], 0, 0] [1, 32, 32] [1, 1, 1]
// CHECK:           %[[TO:.+]] = memref.subview %[[MAP]][0, 1, 1] [1, 32, 32] [1, 1, 1]
// CHECK:           memref.copy %[[FROM]], %[[TO]]
// CHECK:           linalg.generic {{.*}} ins(%[[MAP]], %{{.+}}
// CHECK-NOT:     scf.parallel
// CHECK:         return
func.func @pool(%x: memref<16x32x32xf32>, %y: memref<16x16x16xf32>, %shape: memref<3x3xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %map = memref.alloc() : memref<16x33x33xf32>
  %row = memref.subview %map[0, 0, 0] [16, 1, 33] [1, 1, 1] : memref<16x33x33xf32> to memref<16x1x33xf32, strided<[1089, 33, 1]>>
  linalg.fill ins(%least : f32) outs(%row : memref<16x1x33xf32, strided<[1089, 33, 1]>>)
  %column = memref.subview %map[0, 1, 0] [16, 32, 1] [1, 1, 1] : memref<16x33x33xf32> to memref<16x32x1xf32, strided<[1089, 33, 1], offset: 33>>
  linalg.fill ins(%least : f32) outs(%column : memref<16x32x1xf32, strided<[1089, 33, 1], offset: 33>>)
  %interior = memref.subview %map[0, 1, 1] [16, 32, 32] [1, 1, 1] : memref<16x33x33xf32> to memref<16x32x32xf32, strided<[1089, 33, 1], offset: 34>>
  memref.copy %x, %interior : memref<16x32x32xf32> to memref<16x32x32xf32, strided<[1089, 33, 1], offset: 34>>
  linalg.fill ins(%least : f32) outs(%y : memref<16x16x16xf32>)
  linalg.generic {indexing_maps = [#window, #shape, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%map, %shape : memref<16x33x33xf32>, memref<3x3xf32>) outs(%y : memref<16x16x16xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %v = arith.maximumf %o, %a : f32
    linalg.yield %v : f32
  }
  return
}

// The padded array is read again: it must be in memory.
// CHECK-LABEL: func.func @again
// CHECK:         memref.alloc() : memref<16x33x33xf32>
// CHECK-NOT:     scf.parallel
func.func @again(%x: memref<16x32x32xf32>, %y: memref<16x16x16xf32>, %shape: memref<3x3xf32>, %z: memref<16x33x33xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %map = memref.alloc() : memref<16x33x33xf32>
  %row = memref.subview %map[0, 0, 0] [16, 1, 33] [1, 1, 1] : memref<16x33x33xf32> to memref<16x1x33xf32, strided<[1089, 33, 1]>>
  linalg.fill ins(%least : f32) outs(%row : memref<16x1x33xf32, strided<[1089, 33, 1]>>)
  %column = memref.subview %map[0, 1, 0] [16, 32, 1] [1, 1, 1] : memref<16x33x33xf32> to memref<16x32x1xf32, strided<[1089, 33, 1], offset: 33>>
  linalg.fill ins(%least : f32) outs(%column : memref<16x32x1xf32, strided<[1089, 33, 1], offset: 33>>)
  %interior = memref.subview %map[0, 1, 1] [16, 32, 32] [1, 1, 1] : memref<16x33x33xf32> to memref<16x32x32xf32, strided<[1089, 33, 1], offset: 34>>
  memref.copy %x, %interior : memref<16x32x32xf32> to memref<16x32x32xf32, strided<[1089, 33, 1], offset: 34>>
  linalg.fill ins(%least : f32) outs(%y : memref<16x16x16xf32>)
  linalg.generic {indexing_maps = [#window, #shape, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%map, %shape : memref<16x33x33xf32>, memref<3x3xf32>) outs(%y : memref<16x16x16xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %v = arith.maximumf %o, %a : f32
    linalg.yield %v : f32
  }
  call @other(%map) : (memref<16x33x33xf32>) -> ()
  return
}
func.func private @other(memref<16x33x33xf32>)
