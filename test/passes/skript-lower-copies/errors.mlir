// RUN: not skript-opt %s --skript-lower-copies 2>&1 | FileCheck %s

// CHECK: error: {{.*}}memref<*xf32>
func.func @unranked(%x: memref<*xf32>, %y: memref<*xf32>) {
  memref.copy %x, %y : memref<*xf32> to memref<*xf32>
  return
}
