// RUN: skript-opt %s --skript-fuse-rows=cache-bytes=1048576 | FileCheck %s

#all = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>

// The elements of a row are as far from each other as the array has columns: one row alone would be read element by element, so that
// blocks have several rows, although a row is long.
// CHECK-LABEL: func.func @columns
// CHECK-SAME:    %[[X:[^ ]+]]: memref<512x256xf32>
// CHECK:         scf.parallel
// CHECK:           memref.subview %[[X]][0, %{{.+}}] [512, 64] [1, 1]
// CHECK:         } {skript.work
func.func @columns(%x: memref<512x256xf32>, %y: memref<256xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %max = memref.alloc() : memref<256xf32>
  linalg.fill ins(%least : f32) outs(%max : memref<256xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x256xf32>) outs(%max : memref<256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.maximumf %o, %a : f32
    linalg.yield %v : f32
  }
  linalg.fill ins(%zero : f32) outs(%y : memref<256xf32>)
  linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %max : memref<512x256xf32>, memref<256xf32>) outs(%y : memref<256xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    %v = arith.addf %o, %e : f32
    linalg.yield %v : f32
  }
  return
}
