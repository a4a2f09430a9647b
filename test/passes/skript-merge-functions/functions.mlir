// RUN: skript-opt %s --skript-merge-functions | FileCheck %s
// RUN: skript-opt %s --skript-merge-functions=least=2 | FileCheck %s --check-prefix=TWO
// RUN: skript-opt %s --skript-merge-functions=most=1 | FileCheck %s --check-prefix=ONE

// The offset is an argument, and the sizes, which are multiples of one number, are computed from another one.
// CHECK:       llvm.func internal @a(%[[N:.+]]: i64, %[[O:.+]]: i64, %[[P:.+]]: !llvm.ptr {llvm.noalias})
// CHECK-SAME:    passthrough = ["noinline"]
// CHECK-DAG:     %[[F:.+]] = llvm.mlir.constant(4 : i64) : i64
// CHECK-DAG:     %[[M:.+]] = llvm.mul %[[N]], %[[F]]
// CHECK:         llvm.getelementptr %[[P]][%[[O]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK:         llvm.call @use(%{{.+}}, %[[N]], %[[M]])
// CHECK-NOT:   @b(
// CHECK-NOT:   @c(
// ONE:         @b(
// ONE:         @c(
llvm.func @use(!llvm.ptr, i64, i64)
llvm.func internal @a(%p: !llvm.ptr {llvm.noalias}) {
  %n = llvm.mlir.constant(3 : i64) : i64
  %m = llvm.mlir.constant(12 : i64) : i64
  %q = llvm.getelementptr %p[100] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.call @use(%q, %n, %m) : (!llvm.ptr, i64, i64) -> ()
  llvm.return
}
llvm.func internal @b(%p: !llvm.ptr {llvm.noalias}) {
  %n = llvm.mlir.constant(5 : i64) : i64
  %m = llvm.mlir.constant(20 : i64) : i64
  %q = llvm.getelementptr %p[7] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.call @use(%q, %n, %m) : (!llvm.ptr, i64, i64) -> ()
  llvm.return
}
llvm.func internal @c(%p: !llvm.ptr {llvm.noalias}) {
  %m = llvm.mlir.constant(16 : i64) : i64
  %n = llvm.mlir.constant(4 : i64) : i64
  %q = llvm.getelementptr %p[2000] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.call @use(%q, %n, %m) : (!llvm.ptr, i64, i64) -> ()
  llvm.return
}

// Equal functions need no argument, however few they are.
// CHECK:       llvm.func internal @same(%{{.+}}: f32) -> f32
// CHECK-NOT:   @equal
llvm.func internal @same(%x: f32) -> f32 {
  %0 = llvm.fadd %x, %x : f32
  llvm.return %0 : f32
}
llvm.func internal @equal(%x: f32) -> f32 {
  %0 = llvm.fadd %x, %x : f32
  llvm.return %0 : f32
}

// Two different functions are kept, unless an option requests merging. Divisors in a loop and sizes of stack memory never become arguments.
// CHECK:       llvm.func internal @two_a(
// CHECK:       llvm.func internal @two_b(
// TWO:         llvm.func internal @two_a(%{{.+}}: i64, %{{.+}}: i32) -> i32
// TWO:           llvm.trunc %{{.+}} : i64 to i32
// TWO-NOT:     @two_b
llvm.func internal @two_a(%x: i32) -> i32 {
  %c = llvm.mlir.constant(3 : i32) : i32
  %0 = llvm.mul %x, %c : i32
  llvm.return %0 : i32
}
llvm.func internal @two_b(%x: i32) -> i32 {
  %c = llvm.mlir.constant(9 : i32) : i32
  %0 = llvm.mul %x, %c : i32
  llvm.return %0 : i32
}

// TWO:         llvm.func internal @divides_a
// TWO:         llvm.func internal @divides_b
llvm.func internal @divides_a(%x: i64) -> i64 {
  llvm.br ^next
^next:
  %c = llvm.mlir.constant(3 : i64) : i64
  %0 = llvm.udiv %x, %c : i64
  llvm.return %0 : i64
}
llvm.func internal @divides_b(%x: i64) -> i64 {
  llvm.br ^next
^next:
  %c = llvm.mlir.constant(5 : i64) : i64
  %0 = llvm.udiv %x, %c : i64
  llvm.return %0 : i64
}

// TWO:         llvm.func internal @stack_a
// TWO:         llvm.func internal @stack_b
llvm.func internal @stack_a() {
  %c = llvm.mlir.constant(3 : i64) : i64
  %0 = llvm.alloca %c x f32 : (i64) -> !llvm.ptr
  llvm.call @use(%0, %c, %c) : (!llvm.ptr, i64, i64) -> ()
  llvm.return
}
llvm.func internal @stack_b() {
  %c = llvm.mlir.constant(5 : i64) : i64
  %0 = llvm.alloca %c x f32 : (i64) -> !llvm.ptr
  llvm.call @use(%0, %c, %c) : (!llvm.ptr, i64, i64) -> ()
  llvm.return
}

// A function with steps keeps its range at the end; callers of merged functions are equal then.
// CHECK:       llvm.func internal @caller_a(%[[D:.+]]: i64, %[[X:.+]]: !llvm.ptr)
// CHECK:         llvm.call @steps_a(%[[D]], %[[X]], %{{.+}}, %{{.+}}) : (i64, !llvm.ptr, i64, i64)
// CHECK-NOT:   @caller_b
// CHECK:       llvm.func internal @steps_a(%{{.+}}: i64, %{{.+}}: !llvm.ptr, %{{.+}}: i64, %{{.+}}: i64) attributes {skript.steps}
// CHECK-NOT:   @steps_b
llvm.func internal @caller_a(%p: !llvm.ptr) {
  %f = llvm.mlir.constant(0 : i64) : i64
  %t = llvm.mlir.constant(10 : i64) : i64
  llvm.call @steps_a(%p, %f, %t) : (!llvm.ptr, i64, i64) -> ()
  llvm.return
}
llvm.func internal @caller_b(%p: !llvm.ptr) {
  %f = llvm.mlir.constant(0 : i64) : i64
  %t = llvm.mlir.constant(10 : i64) : i64
  llvm.call @steps_b(%p, %f, %t) : (!llvm.ptr, i64, i64) -> ()
  llvm.return
}
llvm.func internal @caller_c(%p: !llvm.ptr) {
  %f = llvm.mlir.constant(0 : i64) : i64
  %t = llvm.mlir.constant(10 : i64) : i64
  llvm.call @steps_c(%p, %f, %t) : (!llvm.ptr, i64, i64) -> ()
  llvm.return
}
llvm.func internal @steps_a(%p: !llvm.ptr, %f: i64, %t: i64) attributes {skript.steps} {
  %c = llvm.mlir.constant(3 : i64) : i64
  llvm.call @use(%p, %f, %c) : (!llvm.ptr, i64, i64) -> ()
  llvm.return
}
llvm.func internal @steps_b(%p: !llvm.ptr, %f: i64, %t: i64) attributes {skript.steps} {
  %c = llvm.mlir.constant(5 : i64) : i64
  llvm.call @use(%p, %f, %c) : (!llvm.ptr, i64, i64) -> ()
  llvm.return
}
llvm.func internal @steps_c(%p: !llvm.ptr, %f: i64, %t: i64) attributes {skript.steps} {
  %c = llvm.mlir.constant(6 : i64) : i64
  llvm.call @use(%p, %f, %c) : (!llvm.ptr, i64, i64) -> ()
  llvm.return
}

// A function whose address is taken, and one that other modules see, stay.
// CHECK:       llvm.func internal @addressed_a
// CHECK:       llvm.func internal @addressed_b
// CHECK:       llvm.func @public_a
// CHECK:       llvm.func @public_b
llvm.func internal @addressed_a(%x: f32) -> f32 {
  %0 = llvm.fmul %x, %x : f32
  llvm.return %0 : f32
}
llvm.func internal @addressed_b(%x: f32) -> f32 {
  %0 = llvm.fmul %x, %x : f32
  llvm.return %0 : f32
}
llvm.func @public_a(%x: f32) -> f32 {
  %0 = llvm.fmul %x, %x : f32
  llvm.return %0 : f32
}
llvm.func @public_b(%x: f32) -> f32 {
  %0 = llvm.fmul %x, %x : f32
  llvm.return %0 : f32
}

// CHECK:       llvm.func @main(%[[A:.+]]: !llvm.ptr, %[[X:.+]]: f32
// CHECK:         llvm.call @a(%{{.+}}, %{{.+}}, %[[A]]) : (i64, i64, !llvm.ptr) -> ()
// CHECK:         llvm.call @a(
// CHECK:         llvm.call @a(
// CHECK:         llvm.call @same(%[[X]])
// CHECK-NEXT:    llvm.call @same(%[[X]])
llvm.func @main(%p: !llvm.ptr, %x: f32, %i: i32, %l: i64) {
  llvm.call @a(%p) : (!llvm.ptr) -> ()
  llvm.call @b(%p) : (!llvm.ptr) -> ()
  llvm.call @c(%p) : (!llvm.ptr) -> ()
  %0 = llvm.call @same(%x) : (f32) -> f32
  %1 = llvm.call @equal(%x) : (f32) -> f32
  %2 = llvm.call @two_a(%i) : (i32) -> i32
  %3 = llvm.call @two_b(%i) : (i32) -> i32
  %4 = llvm.call @divides_a(%l) : (i64) -> i64
  %5 = llvm.call @divides_b(%l) : (i64) -> i64
  llvm.call @stack_a() : () -> ()
  llvm.call @stack_b() : () -> ()
  llvm.call @caller_a(%p) : (!llvm.ptr) -> ()
  llvm.call @caller_b(%p) : (!llvm.ptr) -> ()
  llvm.call @caller_c(%p) : (!llvm.ptr) -> ()
  %6 = llvm.call @addressed_a(%x) : (f32) -> f32
  %7 = llvm.call @addressed_b(%x) : (f32) -> f32
  %8 = llvm.mlir.addressof @addressed_a : !llvm.ptr
  %9 = llvm.mlir.addressof @addressed_b : !llvm.ptr
  llvm.return
}
