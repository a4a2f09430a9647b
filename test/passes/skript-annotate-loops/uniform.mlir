// RUN: skript-opt %s --skript-annotate-loops | FileCheck %s

// A loop that calls a long function with an element at a loop-invariant position is not vectorized: LLVM's vectorizer takes
// exponential time for it.
// CHECK: #loop_vectorize = #llvm.loop_vectorize<disable = true>
// CHECK: #[[SCALAR:.*]] = #llvm.loop_annotation<vectorize = #loop_vectorize>
// CHECK-LABEL: llvm.func @uniform
// CHECK:         llvm.br {{.*}} {loop_annotation = #[[SCALAR]]}
llvm.func @uniform(%x: !llvm.ptr, %n: i64, %k: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^step, ^end
^step:
  %from = llvm.getelementptr %x[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f64
  %v = llvm.load %from : !llvm.ptr -> f64
  %w = llvm.call @long(%v) : (f64) -> f64
  %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f64
  llvm.store %w, %at : f64, !llvm.ptr
  %j = llvm.add %i, %one : i64
  llvm.br ^head(%j : i64)
^end:
  llvm.return
}

// Near miss: the position changes.
// CHECK-LABEL: llvm.func @varying
// CHECK-NOT:     loop_annotation
llvm.func @varying(%x: !llvm.ptr, %n: i64, %k: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^step, ^end
^step:
  %from = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f64
  %v = llvm.load %from : !llvm.ptr -> f64
  %w = llvm.call @long(%v) : (f64) -> f64
  %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f64
  llvm.store %w, %at : f64, !llvm.ptr
  %j = llvm.add %i, %one : i64
  llvm.br ^head(%j : i64)
^end:
  llvm.return
}

llvm.func @long(%v: f64) -> f64 {
  %v1 = llvm.fadd %v, %v : f64
  %v2 = llvm.fadd %v1, %v : f64
  %v3 = llvm.fadd %v2, %v : f64
  %v4 = llvm.fadd %v3, %v : f64
  %v5 = llvm.fadd %v4, %v : f64
  %v6 = llvm.fadd %v5, %v : f64
  %v7 = llvm.fadd %v6, %v : f64
  %v8 = llvm.fadd %v7, %v : f64
  %v9 = llvm.fadd %v8, %v : f64
  %v10 = llvm.fadd %v9, %v : f64
  %v11 = llvm.fadd %v10, %v : f64
  %v12 = llvm.fadd %v11, %v : f64
  %v13 = llvm.fadd %v12, %v : f64
  %v14 = llvm.fadd %v13, %v : f64
  %v15 = llvm.fadd %v14, %v : f64
  %v16 = llvm.fadd %v15, %v : f64
  %v17 = llvm.fadd %v16, %v : f64
  %v18 = llvm.fadd %v17, %v : f64
  %v19 = llvm.fadd %v18, %v : f64
  %v20 = llvm.fadd %v19, %v : f64
  %v21 = llvm.fadd %v20, %v : f64
  %v22 = llvm.fadd %v21, %v : f64
  %v23 = llvm.fadd %v22, %v : f64
  %v24 = llvm.fadd %v23, %v : f64
  %v25 = llvm.fadd %v24, %v : f64
  %v26 = llvm.fadd %v25, %v : f64
  %v27 = llvm.fadd %v26, %v : f64
  %v28 = llvm.fadd %v27, %v : f64
  %v29 = llvm.fadd %v28, %v : f64
  %v30 = llvm.fadd %v29, %v : f64
  %v31 = llvm.fadd %v30, %v : f64
  %v32 = llvm.fadd %v31, %v : f64
  llvm.return %v32 : f64
}
