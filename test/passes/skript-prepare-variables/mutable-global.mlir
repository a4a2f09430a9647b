// RUN: skript-opt %s --skript-prepare-variables | FileCheck %s

// An array of the module that is not constant may change between two calls, so that nothing is prepared.
// CHECK:       module {
// CHECK-NOT:   @prepare_0
memref.global "private" @scales : memref<2xf32> = dense<[0.5, 3.0]>
func.func @model(%x: memref<2x4xf32> {skript.role = "input"}, %w: memref<2x4xf32> {skript.role = "variable"}, %y: memref<2x4xf32>) attributes {skript.entry} {
  %scales = memref.get_global @scales : memref<2xf32>
  %scaled = memref.alloc() : memref<2x4xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%w, %scales : memref<2x4xf32>, memref<2xf32>) outs(%scaled : memref<2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.divf %a, %b : f32
    linalg.yield %q : f32
  }
  %copy = memref.alloc() : memref<2xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%scales : memref<2xf32>) outs(%copy : memref<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %scaled, %copy : memref<2x4xf32>, memref<2x4xf32>, memref<2xf32>) outs(%y : memref<2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %c : f32
    linalg.yield %s : f32
  }
  return
}
