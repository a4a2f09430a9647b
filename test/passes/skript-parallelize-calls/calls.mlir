// RUN: skript-opt %s --skript-parallelize-calls | FileCheck %s
// RUN: skript-opt %s --skript-parallelize-calls --skript-parallelize-calls | FileCheck %s

// The call stores the arguments of the function, except its range; the task loads them.
// CHECK-LABEL: llvm.func @caller
// CHECK:         %[[STEPS:.+]] = llvm.mlir.constant(43 : i64)
// CHECK:         llvm.call @rows.shared(%{{.+}}, %{{.+}}, %[[STEPS]]) : (!llvm.ptr, f32, i64) -> ()
// CHECK-LABEL: llvm.func @rows(
// CHECK-NOT:     skript.steps
// CHECK:       llvm.func extern_weak @skript_parallel(!llvm.ptr, !llvm.ptr, i64)
// CHECK-LABEL: llvm.func internal @skript.share
// CHECK:         llvm.icmp "ne"
// CHECK:         llvm.call @skript_parallel
// CHECK:         llvm.call %{{.+}}(%{{.+}}, %{{.+}}, %{{.+}}) : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
// CHECK-LABEL: llvm.func internal @rows.task
// CHECK-SAME:    %[[CONTEXT:.+]]: !llvm.ptr {{.*}}, %[[FROM:.+]]: i64, %[[TO:.+]]: i64
// CHECK:         %[[F0:.+]] = llvm.getelementptr %[[CONTEXT]][0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, f32)>
// CHECK:         %[[V0:.+]] = llvm.load %[[F0]] : !llvm.ptr -> !llvm.ptr
// CHECK:         %[[F1:.+]] = llvm.getelementptr %[[CONTEXT]][0, 1]
// CHECK:         %[[V1:.+]] = llvm.load %[[F1]] : !llvm.ptr -> f32
// CHECK:         llvm.call @rows(%[[V0]], %[[V1]], %[[FROM]], %[[TO]])
// CHECK-LABEL: llvm.func internal @rows.shared(
// CHECK-SAME:    %[[ALL:[a-z0-9]+]]: i64)
// CHECK:         llvm.alloca
// CHECK-COUNT-2: llvm.store
// CHECK:         llvm.call @skript.share({{.+}}, {{.+}}, %[[ALL]])
// CHECK-NOT:   llvm.func
llvm.func @caller(%x: !llvm.ptr, %scale: f32) {
  %from = llvm.mlir.constant(0 : i64) : i64
  %to = llvm.mlir.constant(43 : i64) : i64
  llvm.call @rows(%x, %scale, %from, %to) : (!llvm.ptr, f32, i64, i64) -> ()
  llvm.return
}
llvm.func @rows(%x: !llvm.ptr, %scale: f32, %from: i64, %to: i64) attributes {skript.steps} {
  llvm.return
}
