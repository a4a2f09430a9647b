// RUN: skript-opt %s --skript-split-clamps | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>

// Nothing is refused. Operations stay whose rows are short, of dynamic extents, whose clamps are of rows, in the middle of rows, or whose
// subscripts are no neighbours anywhere, and reductions.
// CHECK-NOT: memref.subview
func.func @short(%x: memref<8x63xf32>, %y: memref<8x63xf32>) {
  %c1 = arith.constant 1 : index
  %c62 = arith.constant 62 : index
  linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%y : memref<8x63xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %next = arith.addi %j, %c1 : index
    %last = arith.minsi %next, %c62 : index
    %v = memref.load %x[%i, %last] : memref<8x63xf32>
    linalg.yield %v : f32
  }
  return
}

func.func @dynamic(%x: memref<8x?xf32>, %y: memref<8x?xf32>, %most: index) {
  %c1 = arith.constant 1 : index
  linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%y : memref<8x?xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %next = arith.addi %j, %c1 : index
    %last = arith.minsi %next, %most : index
    %v = memref.load %x[%i, %last] : memref<8x?xf32>
    linalg.yield %v : f32
  }
  return
}

func.func @of_rows(%x: memref<64x256xf32>, %y: memref<64x256xf32>) {
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%y : memref<64x256xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %next = arith.addi %i, %c1 : index
    %last = arith.minsi %next, %c63 : index
    %v = memref.load %x[%last, %j] : memref<64x256xf32>
    linalg.yield %v : f32
  }
  return
}

func.func @middle(%x: memref<8x256xf32>, %y: memref<8x256xf32>) {
  %c128 = arith.constant 128 : index
  linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%y : memref<8x256xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %last = arith.minsi %j, %c128 : index
    %v = memref.load %x[%i, %last] : memref<8x256xf32>
    linalg.yield %v : f32
  }
  return
}

func.func @steps(%x: memref<8x512xf32>, %y: memref<8x256xf32>) {
  %c2 = arith.constant 2 : index
  %c509 = arith.constant 509 : index
  linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%y : memref<8x256xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %twice = arith.muli %j, %c2 : index
    %last = arith.minsi %twice, %c509 : index
    %v = memref.load %x[%i, %last] : memref<8x512xf32>
    linalg.yield %v : f32
  }
  return
}

func.func @sums(%x: memref<8x256xf32>, %y: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  %c255 = arith.constant 255 : index
  linalg.generic {indexing_maps = [#rows, #map], iterator_types = ["parallel", "reduction"]} ins(%y : memref<8xf32>) outs(%x : memref<8x256xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %next = arith.addi %j, %c1 : index
    %last = arith.minsi %next, %c255 : index
    %v = memref.load %x[%i, %last] : memref<8x256xf32>
    linalg.yield %v : f32
  }
  return
}
