// RUN: skript-opt %s --skript-lower-checks | FileCheck %s

// A check that fails stores its values and returns its number; one that holds goes on.
// CHECK-LABEL: func.func @one
// CHECK-SAME:    %[[N:[^:]+]]: i64, %[[OK:[^:]+]]: i1, %[[VALUES:[^:]+]]: memref<64xi64>
// CHECK-SAME:    -> i32
// CHECK:         cf.cond_br %[[OK]], ^[[REST:.+]], ^[[FAIL:[^ ]+]]
// CHECK:       ^[[REST]]:
// CHECK:         %[[FINE:.+]] = arith.constant 0 : i32
// CHECK:         return %[[FINE]] : i32
// CHECK:       ^[[FAIL]]:
// CHECK:         memref.store %[[N]], %[[VALUES]]
// CHECK:         %[[STATUS:.+]] = arith.constant 3 : i32
// CHECK:         return %[[STATUS]] : i32
// CHECK-NOT:     skript.check
func.func @one(%n: i64, %ok: i1) attributes {skript.entry} {
  skript.check %ok, "SK9203", "never"(%n) status 3
  return
}
