// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-vectorize-reductions{vector-bits=512})' | FileCheck %s
// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-vectorize-reductions{vector-bits=256 vector-registers=16})' | FileCheck %s --check-prefix=NARROW

// Enough work for several threads: the tiles of the rows are steps, the last one with the rows that remain.
// CHECK-LABEL: func.func @product
// CHECK:         call @kernel_0(%{{.+}}, %{{.+}}, %{{.+}}, %[[FROM:.+]], %[[TO:.+]])
// CHECK-LABEL: func.func private @kernel_0
// CHECK-SAME:    %[[FROM:[^:]+]]: index, %[[TO:[^:]+]]: index) attributes {{.*}}skript.steps
// CHECK:         %[[FULL:.+]] = arith.minsi %[[TO]], %{{.+}}
// CHECK:         scf.for %{{.+}} = %[[FROM]] to %[[FULL]]
// CHECK:         arith.cmpi sgt, %[[TO]]
// CHECK:         scf.if

// Sixteen registers hold twelve accumulators and the operands of a step.
// NARROW-LABEL: func.func private @kernel_0
// NARROW:         scf.for {{.*}} iter_args
// NARROW-COUNT-12: arith.addf {{.*}} : vector<8xf32>
// NARROW-NOT:     arith.addf {{.*}} : vector<8xf32>
// NARROW:         scf.yield
func.func @product(%a: memref<97x64xf32>, %b: memref<64x64xf32>, %c: memref<97x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, l) -> (i, l)>, affine_map<(i, j, l) -> (l, j)>, affine_map<(i, j, l) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<97x64xf32>, memref<64x64xf32>) outs(%c : memref<97x64xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}
