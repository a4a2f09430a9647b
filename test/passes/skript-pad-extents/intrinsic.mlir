// RUN: skript-opt %s --skript-pad-extents --verify-roundtrip | FileCheck %s

// An intrinsic receives the filled extents of its inputs.
// CHECK-LABEL: func.func @largest(
// CHECK-SAME:    %[[X:.+]]: tensor<3x6xf32>, %[[N:.+]]: i32
// CHECK:         %[[FILLED:.+]] = tensor.from_elements %{{.+}} : tensor<i64>
// CHECK:         skript.intrinsic "mine.largest" ins(%[[X]], %[[FILLED]] : tensor<3x6xf32>, tensor<i64>) outs(%{{.+}} : tensor<3x2xf32>) {skript.filled = array<i64: 0, 1>} -> tensor<3x2xf32>
func.func @largest(%x: tensor<3x?xf32> {skript.bounds = array<i64: 3, 6>}) -> tensor<3x2xf32> attributes {skript.entry} {
  %e = tensor.empty() : tensor<3x2xf32>
  %y = skript.intrinsic "mine.largest" ins(%x : tensor<3x?xf32>) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
