// RUN: not skript-opt %s --split-input-file --skript-expand-narrow-reals 2>&1 | FileCheck %s
// RUN: not skript-opt %s --split-input-file --skript-expand-narrow-reals=conversions=f16-f8 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: {{.*}}option conversions: `f16-f8` is no conversion; there are f16-f32, f16-f64

// CHECK: :[[@LINE+1]]:1: error: {{.*}}a constant of tensor<4xf16> has no elements here: write them as dense<…>
llvm.mlir.global internal constant @weights(dense_resource<w> : tensor<4xf16>) : !llvm.array<4 x f16>

{-#
  dialect_resources: { builtin: { w: "0x040000000000000000000000" } }
#-}

// -----

// CHECK: error: {{.*}}there is no type of integers for !llvm.func<void (struct<"pair", (f16, f16)>)>: write a structure without a name
llvm.func @named(%x: !llvm.struct<"pair", (f16, f16)>) {
  llvm.return
}

// -----

// CHECK: error: {{.*}}no conversion between f16 and f80 is known: convert by way of f64
llvm.func @long(%x: f16) -> f80 {
  %y = llvm.fpext %x : f16 to f80
  llvm.return %y : f80
}
