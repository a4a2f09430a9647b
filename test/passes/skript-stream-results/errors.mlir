// RUN: skript-opt %s --skript-stream-results=cache-bytes=65536 | FileCheck %s
// RUN: skript-opt %s --skript-stream-results=cache-bytes=0 | FileCheck %s

#all = affine_map<(d0) -> (d0)>
#rows = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-NOT: scf.parallel
// CHECK-NOT: skript.stream

// All arrays fit three quarters of the cache.
func.func @small(%x: memref<4096xf32>, %z: memref<4096xf32>) {
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
      ins(%x : memref<4096xf32>) outs(%z : memref<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  }
  return
}

// The elements that are read again fit in the cache.
func.func @again(%x: memref<12288xf32>, %z: memref<12288xf32>) {
  %y = memref.alloc() : memref<12288xf32>
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
      ins(%x : memref<12288xf32>) outs(%y : memref<12288xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  }
  memref.copy %y, %z : memref<12288xf32> to memref<12288xf32>
  return
}

// The operation reads its output.
func.func @update(%z: memref<32768xf32>) {
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel"]} outs(%z : memref<32768xf32>) {
  ^bb0(%o: f32):
    %s = math.exp %o : f32
    linalg.yield %s : f32
  }
  return
}

// It reads columns, so a block of rows would read a part of each cache line.
func.func @columns(%x: memref<256x256xf32>, %z: memref<256x256xf32>) {
  linalg.generic {indexing_maps = [#columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<256x256xf32>) outs(%z : memref<256x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// The position of a block is not that of the loop.
func.func @positions(%z: memref<32768xi64>) {
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel"]} outs(%z : memref<32768xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %s = arith.index_cast %i : index to i64
    linalg.yield %s : i64
  }
  return
}
