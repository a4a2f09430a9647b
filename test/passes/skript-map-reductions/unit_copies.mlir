// RUN: skript-opt %s "--skript-map-reductions=gpu=sm_80 precision=tf32" --split-input-file --canonicalize --cse | FileCheck %s
// RUN: skript-opt %s "--skript-map-reductions=gpu=vulkan-matrices precision=tf32" --split-input-file --canonicalize --cse | FileCheck %s --check-prefix=SIMULATED

// Inputs of tensor cores, whose products are next to each other in both arrays: 16 bytes are copied at once, to line · (16 + 4) + product of one of two
// copies. They are rounded when they are read.
// CHECK-LABEL: func.func @product
// CHECK:         workgroup(%[[A:.+]] : memref<2x32x20xi32, #gpu.address_space<workgroup>>, %[[B:.+]] : memref<2x64x20xi32, #gpu.address_space<workgroup>>)
// CHECK:           nvvm.cp.async.shared.global
// CHECK:           nvvm.cp.async.commit.group
// CHECK:           scf.for
// CHECK:             nvvm.cp.async.wait.group 0
// CHECK-NEXT:        gpu.barrier
// CHECK:             arith.muli %{{.+}}, %c20_i32
// CHECK:             nvvm.cp.async.shared.global %{{.+}}, %{{.+}}, 16, cache = cg
// CHECK:             nvvm.cp.async.commit.group
// CHECK-NOT:         memref.store
// CHECK:             nvvm.ldmatrix
// CHECK:             arith.bitcast %{{.+}} : i32 to f32
// CHECK:             nvvm.convert.float.to.tf32
// CHECK:             nvvm.mma.sync
// SIMULATED-LABEL: func.func @product
// SIMULATED:         vector.store %{{.+}}, %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}] {alignment = 16 : i64} : memref<2x{{32|16}}x20xi32
// SIMULATED:         scf.for
// SIMULATED:           gpu.barrier
// SIMULATED:           vector.store
// SIMULATED:           arith.cmpf uno
#a = affine_map<(i, j, l) -> (i, l)>
#b = affine_map<(i, j, l) -> (j, l)>
#c = affine_map<(i, j, l) -> (i, j)>
func.func @product(%a: memref<128x64xf32>, %b: memref<128x64xf32>, %c: memref<128x128xf32>) attributes {skript.entry} {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<128x64xf32>, memref<128x64xf32>) outs(%c : memref<128x128xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %n = arith.addf %o, %p fastmath<reassoc,contract> : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// 68 products: the last step has others after them, which are zeros, so that inputs are read into registers.
// CHECK-LABEL: func.func @rest
// CHECK-NOT:     cp.async
// SIMULATED-LABEL: func.func @rest
#a = affine_map<(i, j, l) -> (i, l)>
#b = affine_map<(i, j, l) -> (j, l)>
#c = affine_map<(i, j, l) -> (i, j)>
func.func @rest(%a: memref<128x68xf32>, %b: memref<128x68xf32>, %c: memref<128x128xf32>) attributes {skript.entry} {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<128x68xf32>, memref<128x68xf32>) outs(%c : memref<128x128xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %n = arith.addf %o, %p fastmath<reassoc,contract> : f32
    linalg.yield %n : f32
  }
  return
}
