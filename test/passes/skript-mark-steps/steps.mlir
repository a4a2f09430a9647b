// RUN: skript-opt %s --skript-mark-steps | FileCheck %s

// Four products and sums for each of 2 × 3 points: 2 · 2 · 4 · 3 operations. The copy has none. The last call ends it.
// CHECK-LABEL: func.func @static
// CHECK:         %[[FLOPS:.+]] = arith.constant 48 : index
// CHECK:         call @skript_profile(%{{.+}}, %[[FLOPS]], %{{.+}}) {skript.operators = {{\[\[}}"m.sknd:5:3: dense"{{\]\]}}, skript.weight = 48 : i64}
// CHECK:         linalg.generic
// CHECK:         call @skript_profile({{.*}}) {skript.operators = [], skript.weight = 0 : i64}
// CHECK-NEXT:    memref.copy
// CHECK:         call @skript_profile(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) : (index, index, index) -> ()
// CHECK-NEXT:    return
// CHECK:       func.func private @skript_profile(index, index, index)
func.func @static(%x: memref<2x4xf32>, %w: memref<3x4xf32>, %y: memref<2x3xf32>, %z: memref<2x3xf32>) attributes {skript.entry} {
  linalg.generic {
    indexing_maps = [affine_map<(r, u, f) -> (r, f)>, affine_map<(r, u, f) -> (u, f)>, affine_map<(r, u, f) -> (r, u)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<2x4xf32>, memref<3x4xf32>) outs(%y : memref<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32 loc(callsite("dense"("m.sknd":1:1) at "dense"("m.sknd":5:3)))
    %next = arith.addf %sum, %product : f32 loc(callsite("dense"("m.sknd":1:1) at "dense"("m.sknd":5:3)))
    linalg.yield %next : f32
  } loc(callsite("dense"("m.sknd":2:1) at "dense"("m.sknd":5:3)))
  memref.copy %y, %z : memref<2x3xf32> to memref<2x3xf32> loc(unknown)
  return
}
