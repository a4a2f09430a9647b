// RUN: skript-opt %s --skript-prepare-variables | FileCheck %s

// Weights that are unpacked remain packed: each call unpacks them. The table that this reads is prepared.
// CHECK:       skript.prepared_size = 64 : i64
// CHECK-LABEL: func.func @model
// CHECK:         %[[PART:.+]] = memref.alloc() : memref<4x4xf32>
// CHECK:         call @unpack(%{{.+}}, %{{.+}}, %[[PART]])
// CHECK:         linalg.matmul ins(%{{.+}}, %[[PART]]
// CHECK:       func.func private @prepare_0
// CHECK-NOT:     @unpack
func.func @model(%x: memref<4x4xf32>, %w: memref<4x4xi8> {skript.role = "variable"}, %s: memref<4xf32> {skript.role = "variable"}, %y: memref<4x4xf32>) attributes {skript.entry} {
  %table = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%s : memref<4xf32>) outs(%table : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %root = math.sqrt %a : f32
    linalg.yield %root : f32
  }
  %part = memref.alloc() : memref<4x4xf32>
  func.call @unpack(%w, %table, %part) : (memref<4x4xi8>, memref<4xf32>, memref<4x4xf32>) -> ()
  linalg.matmul ins(%x, %part : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  return
}

func.func private @unpack(%from: memref<4x4xi8>, %table: memref<4xf32>, %to: memref<4x4xf32>) attributes {skript.unpacks} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%from, %table : memref<4x4xi8>, memref<4xf32>) outs(%to : memref<4x4xf32>) {
  ^bb0(%a: i8, %t: f32, %b: f32):
    %real = arith.sitofp %a : i8 to f32
    %scaled = arith.mulf %real, %t : f32
    linalg.yield %scaled : f32
  }
  return
}
