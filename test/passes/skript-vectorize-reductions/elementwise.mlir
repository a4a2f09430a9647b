// RUN: skript-opt %s --skript-vectorize-reductions --split-input-file | FileCheck %s

// The fill before and the bias, residual and clamp after a product are part of its kernel, which is called where its result was
// read. The product's own array is not touched.
// CHECK-LABEL: func.func @layer
// CHECK-NOT:     linalg
// CHECK:         call @kernel_0(%arg0, %arg1, %arg4, %arg2, %arg3, %{{.+}}, %{{.+}})
// CHECK-NOT:     linalg
// CHECK:         return
// CHECK-LABEL: func.func private @kernel_0
// CHECK:         arith.maximumf
func.func @layer(%x: memref<64x128xf32>, %w: memref<128x96xf32>, %bias: memref<96xf32>, %residual: memref<64x96xf32>,
                 %y: memref<64x96xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<64x96xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<64x96xf32>)
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<64x128xf32>, memref<128x96xf32>) outs(%sum : memref<64x96xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b fastmath<contract> : f32
    %1 = arith.addf %c, %0 fastmath<reassoc, contract> : f32
    linalg.yield %1 : f32
  }
  linalg.generic {
    indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%sum, %bias, %residual : memref<64x96xf32>, memref<96xf32>, memref<64x96xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%s: f32, %b: f32, %r: f32, %o: f32):
    %0 = arith.addf %s, %b : f32
    %1 = arith.addf %0, %r : f32
    %2 = arith.maximumf %1, %zero : f32
    linalg.yield %2 : f32
  }
  return
}

// -----

// The bare result is read again, the residual is overwritten in between, the result is read at another element: nothing is merged
// but the fill.
// CHECK-LABEL: func.func @read_again
// CHECK-NOT:     linalg.fill
// CHECK:         call @kernel_0
// CHECK:         linalg.generic
// CHECK:         memref.copy
func.func @read_again(%x: memref<64x128xf32>, %w: memref<128x96xf32>, %y: memref<64x96xf32>, %z: memref<64x96xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<64x96xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<64x96xf32>)
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<64x128xf32>, memref<128x96xf32>) outs(%sum : memref<64x96xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b fastmath<contract> : f32
    %1 = arith.addf %c, %0 fastmath<reassoc, contract> : f32
    linalg.yield %1 : f32
  }
  linalg.generic {
    indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%sum : memref<64x96xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%s: f32, %o: f32):
    %0 = arith.maximumf %s, %zero : f32
    linalg.yield %0 : f32
  }
  memref.copy %sum, %z : memref<64x96xf32> to memref<64x96xf32>
  return
}

// -----

// CHECK-LABEL: func.func @overwritten
// CHECK:         call @kernel_0
// CHECK:         memref.copy
// CHECK:         linalg.generic
func.func @overwritten(%x: memref<64x128xf32>, %w: memref<128x96xf32>, %y: memref<64x96xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<64x96xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<64x96xf32>)
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<64x128xf32>, memref<128x96xf32>) outs(%sum : memref<64x96xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b fastmath<contract> : f32
    %1 = arith.addf %c, %0 fastmath<reassoc, contract> : f32
    linalg.yield %1 : f32
  }
  // The product must read its operand before this.
  %other = memref.alloc() : memref<64x128xf32>
  memref.copy %other, %x : memref<64x128xf32> to memref<64x128xf32>
  linalg.generic {
    indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%sum : memref<64x96xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%s: f32, %o: f32):
    %0 = arith.maximumf %s, %zero : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @reversed
// CHECK:         call @kernel_0
// CHECK:         linalg.generic
func.func @reversed(%x: memref<64x128xf32>, %w: memref<128x64xf32>, %y: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32>)
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<64x128xf32>, memref<128x64xf32>) outs(%sum : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b fastmath<contract> : f32
    %1 = arith.addf %c, %0 fastmath<reassoc, contract> : f32
    linalg.yield %1 : f32
  }
  linalg.generic {
    indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n, m)>, affine_map<(m, n) -> (m, n)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%sum, %sum : memref<64x64xf32>, memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%s: f32, %t: f32, %o: f32):
    %0 = arith.addf %s, %t : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// The caller also reads the result before the elementwise operations.
// CHECK-LABEL: func.func @output
// CHECK-NOT:     linalg.fill
// CHECK:         call @kernel_0
// CHECK:         linalg.generic
func.func @output(%x: memref<64x128xf32>, %w: memref<128x96xf32>, %sum: memref<64x96xf32>, %y: memref<64x96xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} outs(%sum : memref<64x96xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<64x128xf32>, memref<128x96xf32>) outs(%sum : memref<64x96xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b fastmath<contract> : f32
    %1 = arith.addf %c, %0 fastmath<reassoc, contract> : f32
    linalg.yield %1 : f32
  }
  linalg.generic {
    indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%sum : memref<64x96xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%s: f32, %o: f32):
    %0 = arith.maximumf %s, %zero : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// An operation that reads one of several rows remains after the product: the kernel would store all rows there.
// CHECK-LABEL: func.func @first_row
// CHECK:         call @kernel_0
// CHECK:         linalg.generic
func.func @first_row(%x: memref<16x32xf32>, %w: memref<32x24xf32>, %y: memref<24xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<16x24xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<16x24xf32>)
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<16x32xf32>, memref<32x24xf32>) outs(%sum : memref<16x24xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b fastmath<contract> : f32
    %1 = arith.addf %c, %0 fastmath<reassoc, contract> : f32
    linalg.yield %1 : f32
  }
  linalg.generic {
    indexing_maps = [affine_map<(n) -> (0, n)>, affine_map<(n) -> (n)>],
    iterator_types = ["parallel"]
  } ins(%sum : memref<16x24xf32>) outs(%y : memref<24xf32>) {
  ^bb0(%s: f32, %o: f32):
    linalg.yield %s : f32
  }
  return
}
