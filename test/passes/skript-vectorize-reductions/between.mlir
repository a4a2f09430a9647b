// RUN: skript-opt %s --skript-vectorize-reductions | FileCheck %s

// The sums of columns are computed, and scaled, after the product and before what follows the product. Their kernel reads the factor of
// the product and does not write it: the product is computed with what follows it.
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#one = affine_map<(j) -> (j)>
#transposed = affine_map<(j, k) -> (k, j)>
#row = affine_map<(j, k) -> (j)>
// CHECK-LABEL: func.func @between
// CHECK-SAME:    %[[X:[^ ]+]]: memref<16x32xf32>, %[[W:[^ ]+]]: memref<32x64xf32>, %[[Y:[^ ]+]]: memref<16x64xf32>
// CHECK-NOT:     linalg
// CHECK:         call @[[SUMS:kernel_[0-9]+]](%[[W]], %[[SCALED:[^ ,]+]]
// CHECK-NOT:     linalg
// CHECK:         call @[[PRODUCT:kernel_[0-9]+]]({{.*}}%[[Y]]{{.*}}%[[SCALED]]
// CHECK-NOT:     linalg
// CHECK:         return
func.func @between(%x: memref<16x32xf32>, %w: memref<32x64xf32>, %y: memref<16x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %sums = memref.alloc() : memref<64xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<64xf32>)
  linalg.generic {indexing_maps = [#transposed, #row], iterator_types = ["parallel", "reduction"]}
      ins(%w : memref<32x64xf32>) outs(%sums : memref<64xf32>) {
  ^bb0(%b: f32, %s: f32):
    %sum = arith.addf %s, %b : f32
    linalg.yield %sum : f32
  }
  %product = memref.alloc() : memref<16x64xf32>
  linalg.fill ins(%zero : f32) outs(%product : memref<16x64xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<16x32xf32>, memref<32x64xf32>) outs(%product : memref<16x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %term = arith.mulf %a, %b : f32
    %sum = arith.addf %s, %term : f32
    linalg.yield %sum : f32
  }
  %scaled = memref.alloc() : memref<64xf32>
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%sums : memref<64xf32>) outs(%scaled : memref<64xf32>) {
  ^bb0(%s: f32, %o: f32):
    %double = arith.mulf %s, %two : f32
    linalg.yield %double : f32
  }
  linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%product, %scaled : memref<16x64xf32>, memref<64xf32>) outs(%y : memref<16x64xf32>) {
  ^bb0(%p: f32, %s: f32, %o: f32):
    %rest = arith.subf %p, %s : f32
    linalg.yield %rest : f32
  }
  return
}
