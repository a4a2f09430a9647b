// RUN: skript-opt %s --skript-lower-checks | FileCheck %s

// A check that polls also fails if another thread has set the last word of the context.
// CHECK-LABEL: func.func @polls
// CHECK:         %[[WORD:.+]] = llvm.load volatile %{{.+}} : !llvm.ptr -> i64
// CHECK:         %[[PROCEEDS:.+]] = arith.cmpi eq, %[[WORD]], %{{.+}} : i64
// CHECK:         %[[BOTH:.+]] = arith.andi %{{.+}}, %[[PROCEEDS]] : i1
// CHECK:         cf.cond_br %[[BOTH]]
func.func @polls(%ok: i1) attributes {skript.entry} {
  skript.check %ok, "SK9201", "never" status 1 {skript.polls}
  return
}
