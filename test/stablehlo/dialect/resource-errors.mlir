// RUN: skript-opt %s --verify-diagnostics
// Resources that have other bytes than the constants need: one mistake each, the near misses between them.

func.func @constant_c1_too_small() -> tensor<2xf32> {
  // expected-error@+1 {{'stablehlo.constant' op constant_c1: 'tensor<2xf32>' has 2 elements, in 8 bytes, but `four` of the file's resources has 4 bytes (after the first four, which are the alignment)}}
  %0 = stablehlo.constant dense_resource<four> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

{-#
  dialect_resources: { builtin: { four: "0x040000000000803F" } }
#-}
