// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-winograd{vector-bits=256 vector-registers=16 tile=4})' | FileCheck %s
// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-winograd{vector-bits=256 vector-registers=16 tile=2})' | FileCheck %s --check-prefix=TWO

#x = affine_map<(n, k, h, w, c, r, s) -> (n, c, h + r, w + s)>
#w = affine_map<(n, k, h, w, c, r, s) -> (k, c, r, s)>
#y = affine_map<(n, k, h, w, c, r, s) -> (n, k, h, w)>
// The weights, 36 products for each pair of channels, are transformed before the block; its 7 × 7 tiles are one block.
// CHECK-LABEL: func.func @window
// CHECK:         %[[U:.*]] = memref.alloc() {{.*}} : memref<36864xf32>
// CHECK:         call @winograd_filter_0(%{{.*}}, %[[U]]
// CHECK:         %[[V:.*]] = memref.alloc() {{.*}} : memref<56448xf32>
// CHECK:         %[[P:.*]] = memref.alloc() {{.*}} : memref<56448xf32>
// CHECK:         call @winograd_0(%{{.*}}, %{{.*}}, %[[U]], %[[V]], %[[P]])
// CHECK-NOT:     linalg.generic
// CHECK:         return
// CHECK:       func.func private @winograd_filter_0
// CHECK:       func.func private @winograd_input_0
// CHECK:       func.func private @kernel_0
// CHECK:       func.func private @winograd_output_0
// CHECK:       func.func private @winograd_0
// CHECK:         scf.for
// CHECK:           call @winograd_input_0
// CHECK:           call @kernel_0
// CHECK:           call @winograd_output_0
// TWO-LABEL:   func.func @window
// TWO:           memref.alloc() {{.*}} : memref<16384xf32>
// TWO:           call @winograd_0
func.func @window(
    %x: memref<1x32x30x30xf32> {skript.role = "input"}, %w: memref<32x32x3x3xf32> {skript.role = "variable"},
    %y: memref<1x32x28x28xf32> {skript.role = "output"}) attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<1x32x28x28xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x32x30x30xf32>, memref<32x32x3x3xf32>) outs(%y : memref<1x32x28x28xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  }
  return
}
