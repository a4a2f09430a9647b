// RUN: skript-opt %s --skript-pad-extents --verify-roundtrip | FileCheck %s

// An intrinsic receives the filled extents of its results, too, numbered after the inputs: random numbers are counted over
// the filled elements.
// CHECK-LABEL: func.func @drawn(
// CHECK-SAME:    %{{.+}}: tensor<4x2xf32>, %[[N:.+]]: i32
// CHECK:         %[[FILLED:.+]] = tensor.from_elements %{{.+}} : tensor<i64>
// CHECK:         skript.intrinsic "mine.random" ins(%[[FILLED]] : tensor<i64>) outs(%{{.+}} : tensor<4x2xf32>) {random, skript.filled = array<i64: 0, 0>} -> tensor<4x2xf32>
func.func @drawn(%x: tensor<?x2xf32> {skript.bounds = array<i64: 4, 2>}) -> tensor<?x2xf32> attributes {skript.entry} {
  %y = skript.intrinsic "mine.random" outs(%x : tensor<?x2xf32>) {random} -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
