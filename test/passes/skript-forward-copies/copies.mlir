// Start values that are only copied are computed where they are copied to.
// RUN: skript-opt %s --skript-forward-copies | FileCheck %s

#map = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @result
// CHECK-SAME:    %[[X:[^:]+]]: memref<8xf32> {{.*}}, %[[Y:[^:]+]]: memref<8xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : memref<8xf32>) outs(%[[Y]] : memref<8xf32>)
// CHECK-NOT:     memref.copy
// CHECK:         memref.store %{{.*}}, %[[Y]]
func.func @result(%x: memref<8xf32> {skript.name = "x", skript.role = "input"}, %y: memref<8xf32> {llvm.noalias}) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %start = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%start : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    linalg.yield %0 : f32
  }
  memref.copy %start, %y : memref<8xf32> to memref<8xf32>
  %first = memref.load %y[%c0] : memref<8xf32>
  %sum = arith.addf %first, %first : f32
  memref.store %sum, %y[%c0] : memref<8xf32>
  return
}

// CHECK-LABEL: func.func @intermediate
// CHECK:         %[[A:.+]] = memref.alloc() {alignment = 64 : i64}
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.generic {{.*}} outs(%[[A]] : memref<8xf32>)
// CHECK-NOT:     memref.copy
// CHECK:         memref.load %[[A]]
func.func @intermediate(%y: memref<1xf32> {llvm.noalias}) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %start = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
  linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%start : memref<8xf32>) {
  ^bb0(%out: f32):
    linalg.yield %zero : f32
  }
  %work = memref.alloc() : memref<8xf32>
  memref.copy %start, %work : memref<8xf32> to memref<8xf32>
  %first = memref.load %work[%c0] : memref<8xf32>
  memref.store %first, %y[%c0] : memref<1xf32>
  return
}
