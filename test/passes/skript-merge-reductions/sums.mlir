// RUN: skript-opt %s --split-input-file --skript-merge-reductions --cse | FileCheck %s

#point = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Both sums need the same powers, which are computed once.
// CHECK-LABEL: func.func @weights
// CHECK:         linalg.fill
// CHECK:         linalg.fill
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%{{.+}} : memref<8x16xf32>) outs(%[[A:.+]], %[[B:.+]] : memref<8xf32>, memref<8xf32>)
// CHECK:           math.exp
// CHECK-NOT:       math.exp
// CHECK:           linalg.yield %{{.+}}, %{{.+}} : f32, f32
// CHECK-NOT:     linalg.generic
func.func @weights(%x: memref<8x16xf32>, %a: memref<8xf32>, %b: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%a : memref<8xf32>)
  linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x16xf32>) outs(%a : memref<8xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %p = math.exp %v : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }
  linalg.fill ins(%zero : f32) outs(%b : memref<8xf32>)
  linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x16xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %p = math.exp %v : f32
    %w = arith.mulf %p, %v : f32
    %s = arith.addf %sum, %w : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#point = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The first sum is read in between.
// CHECK-LABEL: func.func @read
// CHECK-COUNT-2: linalg.generic
func.func @read(%x: memref<8x16xf32>, %a: memref<8xf32>, %b: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%a : memref<8xf32>)
  linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x16xf32>) outs(%a : memref<8xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %s = arith.addf %sum, %v : f32
    linalg.yield %s : f32
  }
  memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x16xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %w = arith.mulf %v, %v : f32
    %s = arith.addf %sum, %w : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#point = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The operand is written in between.
// CHECK-LABEL: func.func @written
// CHECK-COUNT-2: linalg.generic
func.func @written(%x: memref<8x16xf32>, %a: memref<8xf32>, %b: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x16xf32>) outs(%a : memref<8xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %s = arith.addf %sum, %v : f32
    linalg.yield %s : f32
  }
  linalg.fill ins(%zero : f32) outs(%x : memref<8x16xf32>)
  linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x16xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %s = arith.addf %sum, %v : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#point = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The second sum loads elements of the first one.
// CHECK-LABEL: func.func @loaded
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%{{[^,]+}} : memref<8xf32>)
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%{{[^,]+}} : memref<8xf32>)
func.func @loaded(%x: memref<8x16xf32>) -> memref<8xf32> {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<8xf32>)
  linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x16xf32>) outs(%a : memref<8xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %s = arith.addf %sum, %v : f32
    linalg.yield %s : f32
  }
  linalg.fill ins(%zero : f32) outs(%b : memref<8xf32>)
  linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x16xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %seven = arith.constant 7 : index
    %i = linalg.index 0 : index
    %mirrored = arith.subi %seven, %i : index
    %p = memref.load %a[%mirrored] : memref<8xf32>
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }
  return %b : memref<8xf32>
}

// -----

#point = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The fill between the sums overwrites an array that the payload of the first one loads from.
// CHECK-LABEL: func.func @overwritten
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%{{[^,]+}} : memref<8xf32>)
// CHECK:         linalg.fill
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%{{[^,]+}} : memref<8xf32>)
func.func @overwritten(%x: memref<8x16xf32>, %c: memref<8xf32>) -> (memref<8xf32>, memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<8xf32>)
  linalg.fill ins(%zero : f32) outs(%b : memref<8xf32>)
  linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x16xf32>) outs(%a : memref<8xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %i = linalg.index 0 : index
    %p = memref.load %c[%i] : memref<8xf32>
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }
  linalg.fill ins(%zero : f32) outs(%c : memref<8xf32>)
  linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x16xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %s = arith.addf %sum, %v : f32
    linalg.yield %s : f32
  }
  return %a, %b : memref<8xf32>, memref<8xf32>
}
