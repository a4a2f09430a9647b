// RUN: skript-opt %s --skript-annotate-loops | FileCheck %s

// A loop that divides in a branch is not vectorized: LLVM's vectorizer would decide on the division by the first lane alone.
// CHECK: #loop_vectorize = #llvm.loop_vectorize<disable = true>
// CHECK: #loop_annotation = #llvm.loop_annotation<vectorize = #loop_vectorize>
// CHECK-LABEL: llvm.func @divides
// CHECK:         llvm.br {{.*}} {loop_annotation = #loop_annotation}
llvm.func @divides(%x: !llvm.ptr, %n: i64, %k: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^step, ^end
^step:
  %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %v = llvm.load %at : !llvm.ptr -> i64
  %own = llvm.icmp "sgt" %v, %zero : i64
  llvm.cond_br %own, ^then, ^next(%v : i64)
^then:
  %r = llvm.srem %n, %k : i64
  llvm.br ^next(%r : i64)
^next(%w: i64):
  llvm.store %w, %at : i64, !llvm.ptr
  %j = llvm.add %i, %one : i64
  llvm.br ^head(%j : i64)
^end:
  llvm.return
}

// CHECK-LABEL: llvm.func @adds
// CHECK-NOT:     loop_annotation
llvm.func @adds(%x: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^step, ^end
^step:
  %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %i, %at : i64, !llvm.ptr
  %j = llvm.add %i, %one : i64
  llvm.br ^head(%j : i64)
^end:
  llvm.return
}
