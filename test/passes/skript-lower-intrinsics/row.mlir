// RUN: skript-opt %s --skript-lower-intrinsics | FileCheck %s

// Address, extent and stride of each array, in order.
// CHECK-LABEL: func.func @row
// CHECK-SAME:    %[[CONTEXT:.+]]: memref<64xi64> {skript.context}
// CHECK:         %[[WORDS:.+]] = memref.alloca() : memref<6xi64>
// CHECK-COUNT-6: memref.store %{{.+}}, %[[WORDS]]
// CHECK:         %[[STATUS:.+]] = call @skript_intrinsic
// CHECK:         %[[OK:.+]] = arith.cmpi eq, %[[STATUS]]
// CHECK:         skript.check %[[OK]], "SK9201"
func.func @row(%x: memref<3xf32>, %y: memref<3xf32>) attributes {skript.entry} {
  skript.intrinsic "mine.sorted" ins(%x : memref<3xf32>) outs(%y : memref<3xf32>)
  return
}
