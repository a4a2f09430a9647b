// RUN: skript-opt %s --split-input-file --skript-fuse-rows=cache-bytes=1000 | FileCheck %s

#in = affine_map<(d0, d1, d2, d3, d4) -> (d3, d1 + d4, d2)>
#weight = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d4)>
#of = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#bias = affine_map<(d0, d1, d2) -> (d0)>
#window = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d3, d2 * 2 + d4)>
#shape = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>

// The result of the contraction is larger than four caches. Windows do not overlap: for one row of them, two rows of what they read are
// computed into an array on the stack, which is all of it that there is. The index of a row counts from the first block.
// CHECK-LABEL: func.func @apart
// CHECK-SAME:    %[[X:[^ ]+]]: memref<2x34x8xf32>, %[[W:[^ ]+]]: memref<4x2x3xf32>, %[[B:[^ ]+]]: memref<4xf32>, %[[Y:[^ ]+]]: memref<4x16x4xf32>
// CHECK-NOT:     memref.alloc(
// CHECK:         scf.parallel (%[[I:.+]]) = (%{{.+}}) to (%c16{{.*}}) step
// CHECK-NOT:       linalg.
// CHECK:           %[[STRIP:.+]] = memref.alloca() {{.*}} : memref<4x2x8xf32>
// CHECK:           %[[FIRST:.+]] = arith.muli %[[I]], %c2
// CHECK:           linalg.generic {{.*}} ins(%[[B]] : memref<4xf32>) outs(%[[STRIP]] :
// CHECK:           %[[ROWS:.+]] = memref.subview %[[X]][0, %[[FIRST]], 0] [2, 4, 8] [1, 1, 1]
// CHECK:           linalg.generic {{.*}} ins(%[[ROWS]], %[[W]] : {{.*}}) outs(%[[STRIP]] :
// CHECK:             %[[INDEX:.+]] = linalg.index 1
// CHECK:             arith.addi %[[INDEX]], %[[FIRST]]
// CHECK:           linalg.generic {{.*}} ins(%[[STRIP]] : {{.*}}) outs(%[[STRIP]] :
// CHECK:             arith.maximumf
// CHECK:           %[[OUT:.+]] = memref.subview %[[Y]][0, %[[I]], 0] [4, 1, 4] [1, 1, 1]
// CHECK:           linalg.fill {{.*}} outs(%[[OUT]] :
// CHECK:           linalg.generic {{.*}} ins(%[[STRIP]], %{{.+}}) outs(%[[OUT]] :
// CHECK:         return
func.func @apart(%x: memref<2x34x8xf32>, %w: memref<4x2x3xf32>, %b: memref<4xf32>, %y: memref<4x16x4xf32>, %shape: memref<2x2xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %c40 = arith.constant 40 : index
  %r = memref.alloc() : memref<4x32x8xf32>
  linalg.generic {indexing_maps = [#bias, #map], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b : memref<4xf32>) outs(%r : memref<4x32x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#in, #weight, #of], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<2x34x8xf32>, memref<4x2x3xf32>) outs(%r : memref<4x32x8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %i = linalg.index 1 : index
    %is = arith.cmpi slt, %i, %c40 : index
    %p = arith.mulf %a, %c : f32
    %q = arith.select %is, %p, %zero : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%r : memref<4x32x8xf32>) outs(%r : memref<4x32x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  }
  linalg.fill ins(%least : f32) outs(%y : memref<4x16x4xf32>)
  linalg.generic {indexing_maps = [#window, #shape, #of], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%r, %shape : memref<4x32x8xf32>, memref<2x2xf32>) outs(%y : memref<4x16x4xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %v = arith.maximumf %o, %a : f32
    linalg.yield %v : f32
  }
  return
}

// -----

#in = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d2 + d5, d3)>
#weight = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d4, d5)>
#of = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#window = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2 * 2 + d4, d3)>
#shape = affine_map<(d0, d1, d2, d3, d4) -> (d4)>
#out = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>

// Windows of three rows in steps of two: the row that the windows of two blocks read is computed once in each of three sequences, and kept.
// The first row of the array of the windows is the border, in the first sequence alone. Images are apart.
// CHECK-LABEL: func.func @shared
// CHECK:         scf.parallel (%[[IMAGE:.+]], %[[S:.+]]) = (%{{.+}}) to (%c3{{.*}}, %c3{{.*}}) step
// CHECK-NOT:       linalg.
// CHECK:           %[[STRIP:.+]] = memref.alloca() {{.*}} : memref<1x4x9x2xf32>
// CHECK:           %[[FROM:.+]] = arith.divui
// CHECK:           %[[TO:.+]] = arith.divui
// CHECK:           scf.if
// CHECK:             linalg.fill
// CHECK-NOT:         linalg.
// CHECK:           } else {
// CHECK:             linalg.fill
// CHECK:             memref.subview %{{.+}}[%[[IMAGE]], 0, %{{.+}}, 0] [1, 2, 3, 2] [1, 1, 1, 1]
// CHECK:             linalg.generic
// CHECK:           scf.for %{{.+}} = %[[FROM]] to %[[TO]]
// CHECK:             linalg.fill
// CHECK:             memref.subview %{{.+}}[%[[IMAGE]], 0, %{{.+}}, 0] [1, 2, 10, 2] [1, 1, 1, 1]
// CHECK:             linalg.generic
// CHECK:             linalg.fill
// CHECK:             linalg.generic {{.*}} ins(%[[STRIP]],
// CHECK:             %[[LAST:.+]] = memref.subview %[[STRIP]][0, 0, 8, 0] [1, 4, 1, 2]
// CHECK:             %[[FIRST:.+]] = memref.subview %[[STRIP]][0, 0, 0, 0] [1, 4, 1, 2]
// CHECK:             memref.copy %[[LAST]], %[[FIRST]]
// CHECK:         return
func.func @shared(%x: memref<3x2x66x2xf32>, %w: memref<4x2x3xf32>, %y: memref<3x4x32x2xf32>, %shape: memref<3xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %r = memref.alloc() : memref<3x4x65x2xf32>
  %border = memref.subview %r[0, 0, 0, 0] [3, 4, 1, 2] [1, 1, 1, 1] : memref<3x4x65x2xf32> to memref<3x4x1x2xf32, strided<[520, 130, 2, 1]>>
  linalg.fill ins(%least : f32) outs(%border : memref<3x4x1x2xf32, strided<[520, 130, 2, 1]>>)
  %inside = memref.subview %r[0, 0, 1, 0] [3, 4, 64, 2] [1, 1, 1, 1] : memref<3x4x65x2xf32> to memref<3x4x64x2xf32, strided<[520, 130, 2, 1], offset: 2>>
  linalg.fill ins(%zero : f32) outs(%inside : memref<3x4x64x2xf32, strided<[520, 130, 2, 1], offset: 2>>)
  linalg.generic {indexing_maps = [#in, #weight, #of], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<3x2x66x2xf32>, memref<4x2x3xf32>) outs(%inside : memref<3x4x64x2xf32, strided<[520, 130, 2, 1], offset: 2>>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.fill ins(%least : f32) outs(%y : memref<3x4x32x2xf32>)
  linalg.generic {indexing_maps = [#window, #shape, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%r, %shape : memref<3x4x65x2xf32>, memref<3xf32>) outs(%y : memref<3x4x32x2xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %v = arith.maximumf %o, %a : f32
    linalg.yield %v : f32
  }
  return
}

// -----

#in = affine_map<(d0, d1, d2, d3, d4) -> (d3, d1 + d4, d2)>
#weight = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d4)>
#of = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
#window = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 2 + d3, d2)>
#shape = affine_map<(d0, d1, d2, d3) -> (d3)>
#out = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

// Something else reads the result of the contraction: it is in memory anyway.
// CHECK-LABEL: func.func @read
// CHECK-NOT:     scf.parallel
// CHECK:         return
func.func @read(%x: memref<2x34x8xf32>, %w: memref<4x2x3xf32>, %y: memref<4x16x8xf32>, %z: memref<4x32x8xf32>, %shape: memref<2xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %r = memref.alloc() : memref<4x32x8xf32>
  linalg.fill ins(%zero : f32) outs(%r : memref<4x32x8xf32>)
  linalg.generic {indexing_maps = [#in, #weight, #of], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<2x34x8xf32>, memref<4x2x3xf32>) outs(%r : memref<4x32x8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.fill ins(%least : f32) outs(%y : memref<4x16x8xf32>)
  linalg.generic {indexing_maps = [#window, #shape, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%r, %shape : memref<4x32x8xf32>, memref<2xf32>) outs(%y : memref<4x16x8xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %v = arith.maximumf %o, %a : f32
    linalg.yield %v : f32
  }
  memref.copy %r, %z : memref<4x32x8xf32> to memref<4x32x8xf32>
  return
}
