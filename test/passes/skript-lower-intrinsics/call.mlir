// RUN: skript-opt %s --skript-lower-intrinsics | FileCheck %s

// Address, extents and strides of each array are on the stack; the kernel's status is a check.
// CHECK-LABEL: func.func @strided
// CHECK-SAME:    %[[X:[^:]+]]: memref<3x2xf32, strided<[1, 3], offset: 4>>, %[[OUT:[^:]+]]: memref<2x6xi64>, %[[EXTENTS:[^:]+]]: memref<2xi64>
// CHECK-SAME:    %[[CONTEXT:[^:]+]]: memref<64xi64> {skript.context}
// CHECK:         %[[WORDS:.+]] = memref.alloca() : memref<13xi64>
// CHECK:         %[[CALL:.+]] = memref.get_global @skript.call.0 : memref<[[LENGTH:[0-9]+]]xi8>
// CHECK:         %[[BYTES:.+]] = memref.extract_aligned_pointer_as_index %[[CALL]]
// CHECK:         memref.extract_strided_metadata %[[X]]
// CHECK:         memref.store %{{.*}}, %[[WORDS]]
// CHECK:         memref.extract_strided_metadata %[[EXTENTS]]
// CHECK:         %[[STATUS:.+]] = call @skript_intrinsic(%[[BYTES]], %{{.*}}) : (index, index, index, index) -> i32
// CHECK:         %[[ZERO:.+]] = arith.constant 0 : i32
// CHECK:         %[[FINE:.+]] = arith.cmpi eq, %[[STATUS]], %[[ZERO]]
// CHECK:         skript.check %[[FINE]], "SK9201", "operator layout.nonzero: {text}"
// Equal calls share their description.
// CHECK:         memref.get_global @skript.call.0
// CHECK-NOT:     skript.intrinsic
func.func @strided(%x: memref<3x2xf32, strided<[1, 3], offset: 4>>, %out: memref<2x6xi64>, %extents: memref<2xi64>)
    attributes {skript.entry} {
  skript.intrinsic "layout.nonzero" ins(%x : memref<3x2xf32, strided<[1, 3], offset: 4>>)
      outs(%out, %extents : memref<2x6xi64>, memref<2xi64>) {dynamic_outputs = array<i64: 0>}
  skript.intrinsic "layout.nonzero" ins(%x : memref<3x2xf32, strided<[1, 3], offset: 4>>)
      outs(%out, %extents : memref<2x6xi64>, memref<2xi64>) {dynamic_outputs = array<i64: 0>}
  return
}
// CHECK: memref.global "private" constant @skript.call.0 : memref<[[LENGTH]]xi8>
// CHECK: func.func private @skript_intrinsic(index, index, index, index) -> i32
