// RUN: skript-opt %s "--skript-annotate-loops=interleave=4" | FileCheck %s
// RUN: skript-opt %s --skript-annotate-loops | FileCheck %s --check-prefix=ONE

// A loop whose steps have many operations, those of called functions among them, is interleaved. Not one with short steps, which LLVM
// interleaves itself, with few iterations, with a sum from step to step, with vectors, or with calls of functions elsewhere.
// ONE-NOT: interleave
// CHECK: #[[COUNT:.*]] = #llvm.loop_interleave<count = 4 : i32>
// CHECK: #[[LONG:.*]] = #llvm.loop_annotation<interleave = #[[COUNT]]>
// CHECK-LABEL: llvm.func @long
// CHECK:         llvm.br {{.*}} {loop_annotation = #[[LONG]]}
llvm.func @long(%x: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^step, ^end
^step:
  %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %v = llvm.load %at : !llvm.ptr -> f32
  %w = llvm.call @function(%v) : (f32) -> f32
  llvm.store %w, %at : f32, !llvm.ptr
  %j = llvm.add %i, %one : i64
  llvm.br ^head(%j : i64)
^end:
  llvm.return
}

// CHECK-LABEL: llvm.func @function
llvm.func @function(%v: f32) -> f32 {
  %1 = llvm.fmul %v, %v : f32
  %2 = llvm.fadd %1, %v : f32
  %3 = llvm.fmul %2, %v : f32
  %4 = llvm.fadd %3, %v : f32
  %5 = llvm.fmul %4, %v : f32
  %6 = llvm.fadd %5, %v : f32
  %7 = llvm.fmul %6, %v : f32
  %8 = llvm.fadd %7, %v : f32
  %9 = llvm.fmul %8, %v : f32
  llvm.return %9 : f32
}

// CHECK-LABEL: llvm.func @short
// CHECK-NOT:     loop_annotation
llvm.func @short(%x: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^step, ^end
^step:
  %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %v = llvm.load %at : !llvm.ptr -> f32
  %w = llvm.fmul %v, %v : f32
  llvm.store %w, %at : f32, !llvm.ptr
  %j = llvm.add %i, %one : i64
  llvm.br ^head(%j : i64)
^end:
  llvm.return
}

// CHECK-LABEL: llvm.func @few
// CHECK-NOT:     loop_annotation
llvm.func @few(%x: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %n = llvm.mlir.constant(63 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^step, ^end
^step:
  %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %v = llvm.load %at : !llvm.ptr -> f32
  %w = llvm.call @function(%v) : (f32) -> f32
  llvm.store %w, %at : f32, !llvm.ptr
  %j = llvm.add %i, %one : i64
  llvm.br ^head(%j : i64)
^end:
  llvm.return
}

// CHECK-LABEL: llvm.func @sum
// CHECK-NOT:     loop_annotation
llvm.func @sum(%x: !llvm.ptr, %n: i64) -> f32 {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %none = llvm.mlir.constant(0.0 : f32) : f32
  llvm.br ^head(%zero, %none : i64, f32)
^head(%i: i64, %sum: f32):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^step, ^end
^step:
  %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %v = llvm.load %at : !llvm.ptr -> f32
  %w = llvm.call @function(%v) : (f32) -> f32
  %next = llvm.fadd %sum, %w : f32
  %j = llvm.add %i, %one : i64
  llvm.br ^head(%j, %next : i64, f32)
^end:
  llvm.return %sum : f32
}

// CHECK-LABEL: llvm.func @vectors
// CHECK-NOT:     loop_annotation
llvm.func @vectors(%x: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^step, ^end
^step:
  %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %v = llvm.load %at : !llvm.ptr -> vector<8xf32>
  %first = llvm.extractelement %v[%zero : i64] : vector<8xf32>
  %w = llvm.call @function(%first) : (f32) -> f32
  llvm.store %w, %at : f32, !llvm.ptr
  %j = llvm.add %i, %one : i64
  llvm.br ^head(%j : i64)
^end:
  llvm.return
}

// CHECK-LABEL: llvm.func @elsewhere
// CHECK-NOT:     loop_annotation
llvm.func @elsewhere(%x: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^step, ^end
^step:
  %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %v = llvm.load %at : !llvm.ptr -> f32
  %w = llvm.call @function(%v) : (f32) -> f32
  %z = llvm.call @declared(%w) : (f32) -> f32
  llvm.store %z, %at : f32, !llvm.ptr
  %j = llvm.add %i, %one : i64
  llvm.br ^head(%j : i64)
^end:
  llvm.return
}

llvm.func @declared(f32) -> f32
