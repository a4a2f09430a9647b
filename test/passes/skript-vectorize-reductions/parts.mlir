// RUN: skript-opt %s --skript-vectorize-reductions="vector-bits=256 vector-registers=16 cache-bytes=262144" | FileCheck %s

// What the sums of one tile read does not stay in the cache, so that each is computed in parts: the first part starts from the start
// of the sums, the others from the sums in the output. The end of the elements follows the last part.
// CHECK-LABEL: func.func private @kernel_0
// CHECK:         scf.for %[[PART:.+]] = %c0 to %c5000 step %c1250
// CHECK:           %[[FIRST:.+]] = arith.cmpi eq, %[[PART]], %c0
// CHECK:           %[[LAST:.+]] = arith.cmpi eq, %[[PART]], %c3750
// CHECK:           scf.for
// CHECK:             scf.if %[[FIRST]] -> (vector<8xf32>
// CHECK:             } else {
// CHECK:               vector.load
// CHECK:             scf.for %{{.+}} = %[[PART]] to
// CHECK:             scf.if %[[LAST]]
// CHECK:               arith.maximumf
func.func @product(%x: memref<960x5000xf32>, %w: memref<5000x96xf32>, %y: memref<960x96xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<960x96xf32>)
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<960x5000xf32>, memref<5000x96xf32>) outs(%y : memref<960x96xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b fastmath<contract> : f32
    %1 = arith.addf %c, %0 fastmath<reassoc, contract> : f32
    linalg.yield %1 : f32
  }
  linalg.generic {
    indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%y : memref<960x96xf32>) outs(%y : memref<960x96xf32>) {
  ^bb0(%s: f32, %o: f32):
    %2 = arith.maximumf %s, %zero : f32
    linalg.yield %2 : f32
  }
  return
}
