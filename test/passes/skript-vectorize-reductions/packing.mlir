// RUN: skript-opt %s --skript-vectorize-reductions | FileCheck %s

// A product with a transposed operand and many rows: the operand is copied into blocks of two vectors.
// CHECK-LABEL: func.func @linear
// CHECK:         %[[COPY:.+]] = memref.alloc() {alignment = 64 : i64} : memref<196608xf32>
// CHECK:         call @pack_0(%arg1, %[[COPY]], %{{.+}}, %{{.+}}) : (memref<256x768xf32>, memref<196608xf32>, index, index) -> ()
// CHECK:         call @kernel_0(%arg0, %[[COPY]], %arg2, %{{.+}}, %{{.+}})
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @linear(%x: memref<1024x768xf32>, %w: memref<256x768xf32>, %y: memref<1024x256xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<1024x768xf32>, memref<256x768xf32>) outs(%y : memref<1024x256xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b fastmath<contract> : f32
    %1 = arith.addf %c, %0 fastmath<reassoc, contract> : f32
    linalg.yield %1 : f32
  }
  return
}

// A strided window: a filter's block is contiguous along the output channels, the input is broadcast. The output is
// contiguous along the rows of the tile, so the tile is transposed in registers.
// CHECK-LABEL: func.func @window
// CHECK:         call @pack_1
// CHECK:         call @kernel_1
func.func @window(%x: memref<64x57x57xf32>, %f: memref<96x64x3x3xf32>, %y: memref<96x28x28xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(n, p, q, c, i, j) -> (c, p * 2 + i, q * 2 + j)>,
                     affine_map<(n, p, q, c, i, j) -> (n, c, i, j)>,
                     affine_map<(n, p, q, c, i, j) -> (n, p, q)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%x, %f : memref<64x57x57xf32>, memref<96x64x3x3xf32>) outs(%y : memref<96x28x28xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b fastmath<contract> : f32
    %1 = arith.addf %c, %0 fastmath<reassoc, contract> : f32
    linalg.yield %1 : f32
  }
  return
}

// A depthwise window of stride 2: nothing to pack; contiguous vectors and a shuffle replace gathers.
// CHECK-LABEL: func.func @depthwise
// CHECK-NOT:     call @pack
// CHECK:         call @kernel_2
func.func @depthwise(%x: memref<32x33x65xf32>, %f: memref<32x3x3xf32>, %y: memref<32x16x32xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(c, p, q, i, j) -> (c, p * 2 + i, q * 2 + j)>,
                     affine_map<(c, p, q, i, j) -> (c, i, j)>,
                     affine_map<(c, p, q, i, j) -> (c, p, q)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%x, %f : memref<32x33x65xf32>, memref<32x3x3xf32>) outs(%y : memref<32x16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b fastmath<contract> : f32
    %1 = arith.addf %c, %0 fastmath<reassoc, contract> : f32
    linalg.yield %1 : f32
  }
  return
}

// CHECK-LABEL: func.func private @pack_0
// CHECK-SAME:    skript.steps

// CHECK-LABEL: func.func private @kernel_1
// CHECK:         memref.alloca() {alignment = 64 : i64}
// CHECK:         vector.broadcast
// CHECK-NOT:     vector.maskedload
// CHECK-NOT:     vector.gather
// CHECK:         vector.shuffle
// CHECK:         vector.store

// CHECK-LABEL: func.func private @kernel_2
// CHECK-NOT:     vector.gather
// CHECK:         vector.shuffle
