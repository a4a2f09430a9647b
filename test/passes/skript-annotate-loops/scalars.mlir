// RUN: skript-opt %s "--skript-annotate-loops=scalar-types=f16,bf16" | FileCheck %s
// RUN: skript-opt %s --skript-annotate-loops | FileCheck %s --check-prefix=ANY

// A loop over elements that the target has no vectors of is not vectorized: LLVM's selection of instructions for comparisons of such vectors does not end.
// CHECK: #loop_annotation = #llvm.loop_annotation<vectorize = #loop_vectorize>
// CHECK-LABEL: llvm.func @halves
// CHECK:         llvm.br {{.*}} {loop_annotation = #loop_annotation}
// CHECK-LABEL: llvm.func @floats
// CHECK-NOT:     loop_annotation
// ANY-NOT: loop_annotation
llvm.func @halves(%x: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^step, ^end
^step:
  %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f16
  %v = llvm.load %at : !llvm.ptr -> f16
  llvm.store %v, %at : f16, !llvm.ptr
  %j = llvm.add %i, %one : i64
  llvm.br ^head(%j : i64)
^end:
  llvm.return
}

llvm.func @floats(%x: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^step, ^end
^step:
  %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %v = llvm.load %at : !llvm.ptr -> f32
  llvm.store %v, %at : f32, !llvm.ptr
  %j = llvm.add %i, %one : i64
  llvm.br ^head(%j : i64)
^end:
  llvm.return
}
