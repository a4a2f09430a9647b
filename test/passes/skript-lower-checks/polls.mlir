// RUN: skript-opt %s --skript-lower-checks | FileCheck %s

// A check that polls also fails if another thread has set the last word of the context. The status is then negative.
// CHECK-LABEL: func.func @polls
// CHECK:         %[[WORD:.+]] = llvm.load volatile %{{.+}} atomic monotonic {alignment = 8 : i64} : !llvm.ptr -> i64
// CHECK:         %[[PROCEEDS:.+]] = arith.cmpi eq, %[[WORD]], %{{.+}} : i64
// CHECK:         %[[BOTH:.+]] = arith.andi %{{.+}}, %[[PROCEEDS]] : i1
// CHECK:         cf.cond_br %[[BOTH]]
// CHECK-DAG:     %[[FAILED:.+]] = arith.constant 1 : i32
// CHECK-DAG:     %[[STOPPED:.+]] = arith.constant -1 : i32
// CHECK:         %[[STATUS:.+]] = arith.select %[[PROCEEDS]], %[[FAILED]], %[[STOPPED]] : i32
// CHECK:         return %[[STATUS]]
func.func @polls(%ok: i1) attributes {skript.entry} {
  skript.check %ok, "SK9201", "never" status 1 {skript.polls}
  return
}
