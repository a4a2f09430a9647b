// RUN: skript-opt %s --skript-expand-narrow-reals | FileCheck %s
// RUN: skript-opt %s --skript-expand-narrow-reals=conversions=f16-f32 | FileCheck %s --check-prefix=SINGLE
// RUN: skript-opt %s --skript-expand-narrow-reals=conversions=f16-f32,f16-f64 | FileCheck %s --check-prefix=BOTH

// CHECK-LABEL:  llvm.func @widened(
// CHECK-SAME:     %[[X:.*]]: vector<4xi16>, %[[Y:.*]]: i16)
// CHECK:          llvm.call @skript.f32_of_f16.4(%[[X]]) : (vector<4xi16>) -> vector<4xf32>
// CHECK:          %[[WIDE:.*]] = llvm.call @skript.f32_of_bf16(%[[Y]]) : (i16) -> f32
// CHECK:          llvm.fpext %[[WIDE]] : f32 to f64
// SINGLE-LABEL: llvm.func @widened(
// SINGLE:         %[[X:.*]] = llvm.bitcast %{{.*}} : vector<4xi16> to vector<4xf16>
// SINGLE:         llvm.fpext %[[X]] : vector<4xf16> to vector<4xf32>
// SINGLE:         llvm.call @skript.f32_of_bf16(
llvm.func @widened(%x: vector<4xf16>, %y: bf16) -> !llvm.struct<(vector<4xf32>, f64)> {
  %a = llvm.fpext %x : vector<4xf16> to vector<4xf32>
  %b = llvm.fpext %y : bf16 to f64
  %c = llvm.mlir.undef : !llvm.struct<(vector<4xf32>, f64)>
  %d = llvm.insertvalue %a, %c[0] : !llvm.struct<(vector<4xf32>, f64)>
  %e = llvm.insertvalue %b, %d[1] : !llvm.struct<(vector<4xf32>, f64)>
  llvm.return %e : !llvm.struct<(vector<4xf32>, f64)>
}

// From f64 by way of a number of f32 that is rounded to odd: the result is rounded as if once.
// CHECK-LABEL:  llvm.func @rounded(
// CHECK-SAME:     %[[X:.*]]: f64)
// CHECK:          %[[ODD:.*]] = llvm.call @skript.odd_f32_of_f64(%[[X]]) : (f64) -> f32
// CHECK:          %[[BITS:.*]] = llvm.call @skript.f16_of_f32(%[[ODD]]) : (f32) -> i16
// CHECK:          llvm.return %[[BITS]] : i16
// SINGLE-LABEL: llvm.func @rounded(
// SINGLE:         %[[ODD:.*]] = llvm.call @skript.odd_f32_of_f64(
// SINGLE:         %[[NARROW:.*]] = llvm.fptrunc %[[ODD]] : f32 to f16
// SINGLE:         llvm.bitcast %[[NARROW]] : f16 to i16
// BOTH-LABEL:   llvm.func @rounded(
// BOTH:           %[[NARROW:.*]] = llvm.fptrunc %{{.*}} : f64 to f16
// BOTH:           llvm.bitcast %[[NARROW]] : f16 to i16
llvm.func @rounded(%x: f64) -> f16 {
  %a = llvm.fptrunc %x : f64 to f16
  llvm.return %a : f16
}

// Arithmetic and comparisons are done in f32 and rounded, also where the processor converts; integers become bf16 by way of f64.
// CHECK-LABEL:  llvm.func @computed(
// CHECK:          %[[SUM:.*]] = llvm.fadd %{{.*}}, %{{.*}} : vector<2xf32>
// CHECK:          llvm.call @skript.f16_of_f32.2(%[[SUM]]) : (vector<2xf32>) -> vector<2xi16>
// CHECK:          llvm.fcmp "olt" %{{.*}}, %{{.*}} : vector<2xf32>
// CHECK:          llvm.select %{{.*}} : vector<2xi1>, vector<2xi16>
// CHECK:          %[[REAL:.*]] = llvm.sitofp %{{.*}} : i32 to f64
// CHECK:          %[[ODD:.*]] = llvm.call @skript.odd_f32_of_f64(%[[REAL]])
// CHECK:          llvm.call @skript.bf16_of_f32(%[[ODD]])
// CHECK:          llvm.intr.vector.reduce.fmaximum({{.*}}) : (vector<2xf32>) -> f32
// BOTH-LABEL:   llvm.func @computed(
// BOTH:           llvm.fadd %{{.*}}, %{{.*}} : vector<2xf32>
llvm.func @computed(%x: vector<2xf16>, %y: vector<2xf16>, %n: i32, %p: !llvm.ptr) -> f16 {
  %sum = llvm.fadd %x, %y : vector<2xf16>
  %less = llvm.fcmp "olt" %sum, %y : vector<2xf16>
  %least = llvm.select %less, %sum, %y : vector<2xi1>, vector<2xf16>
  %real = llvm.sitofp %n : i32 to bf16
  llvm.store %real, %p : bf16, !llvm.ptr
  %r = llvm.intr.vector.reduce.fmaximum(%least) : (vector<2xf16>) -> f16
  llvm.return %r : f16
}

// Each function is added once, and LLVM inlines it.
// CHECK:          llvm.func internal @skript.f32_of_f16.4(%{{.*}}: vector<4xi16>) -> vector<4xf32> attributes {passthrough = ["alwaysinline"]}
// CHECK-NOT:      f16{{[ )>]}}
// SINGLE-NOT:     @skript.f32_of_f16
// BOTH-NOT:       @skript.{{.*}}_f16
