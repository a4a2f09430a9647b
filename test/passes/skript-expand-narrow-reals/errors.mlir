// RUN: not skript-opt %s --split-input-file --skript-expand-narrow-reals 2>&1 | FileCheck %s
// RUN: not skript-opt %s --split-input-file --skript-expand-narrow-reals=conversions=f16-f8 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: {{.*}}option conversions: `f16-f8` is unknown; it must be f16-f32 or f16-f64

// CHECK: :[[@LINE+1]]:1: error: {{.*}}the elements of a constant of tensor<4xf16> are not available: write them as dense<…>
llvm.mlir.global internal constant @weights(dense_resource<w> : tensor<4xf16>) : !llvm.array<4 x f16>

{-#
  dialect_resources: { builtin: { w: "0x040000000000000000000000" } }
#-}

// -----

// CHECK: error: {{.*}}!llvm.func<void (struct<"pair", (f16, f16)>)> contains a named struct with 16-bit floats: use a literal struct
llvm.func @named(%x: !llvm.struct<"pair", (f16, f16)>) {
  llvm.return
}

// -----

// CHECK: error: {{.*}}conversions between f16 and f80 are not supported: convert to f64 first
llvm.func @long(%x: f16) -> f80 {
  %y = llvm.fpext %x : f16 to f80
  llvm.return %y : f80
}
