// RUN: skript-translate %s --split-input-file --to-stablehlo | skript-opt --split-input-file | FileCheck %s
// Results whose extent the data decide: as large as their bounds, with the extents beside them.

// CHECK-LABEL: func.func public @main(
// CHECK-SAME:    %[[X:.+]]: tensor<2x3xf32>) -> (tensor<2x6xi64>, tensor<2xi64>)
// CHECK:         %[[MARKS:.+]] = stablehlo.compare NE, %[[X]], %{{.+}}, FLOAT
// CHECK:         %[[FLAT:.+]] = stablehlo.reshape %[[MARKS]]
// CHECK:         %[[PLACES:.+]] = stablehlo.select %[[FLAT]]
// CHECK:         "stablehlo.sort"(%[[PLACES]])
// CHECK:         %[[ONES:.+]] = stablehlo.convert %[[FLAT]]
// CHECK:         %[[COUNT:.+]] = stablehlo.reduce(%[[ONES]] init: %{{.+}}) applies stablehlo.add
// CHECK:         %[[TABLE:.+]] = stablehlo.concatenate %{{.+}}, %{{.+}}, dim = 0 : (tensor<1x6xi64>, tensor<1x6xi64>)
// CHECK:         %[[LAST:.+]] = stablehlo.reshape %[[COUNT]]
// CHECK:         %[[EXTENTS:.+]] = stablehlo.concatenate %{{.+}}, %[[LAST]], dim = 0
// CHECK:         return %[[TABLE]], %[[EXTENTS]]
func.func @places(%x: tensor<2x3xf32>) -> (tensor<2x6xi64>, tensor<2xi64>) attributes {skript.entry} {
  %o = tensor.empty() : tensor<2x6xi64>
  %e = tensor.empty() : tensor<2xi64>
  %r:2 = skript.intrinsic "layout.nonzero" ins(%x : tensor<2x3xf32>) outs(%o, %e : tensor<2x6xi64>, tensor<2xi64>) {dynamic_outputs = array<i64: 0>} -> tensor<2x6xi64>, tensor<2xi64>
  return %r#0, %r#1 : tensor<2x6xi64>, tensor<2xi64>
}

// -----

// The best scores first, one step for each box; more rows than boxes are zeros.
// CHECK-LABEL: func.func public @main(
// CHECK:         %[[ORDER:.+]]:2 = "stablehlo.sort"(%{{.+}}, %{{.+}})
// CHECK:         %[[LOOP:.+]]:3 = stablehlo.while({{.+}}) : tensor<i64>, tensor<1x2x5xi1>, tensor<1x2x1xi64>
// CHECK:           applies stablehlo.or across dimensions = [2]
// CHECK:         stablehlo.reshape %[[LOOP]]#1
// CHECK:         stablehlo.pad %{{.+}} : (tensor<10x3xi64>, tensor<i64>) -> tensor<12x3xi64>
func.func @boxes(%boxes: tensor<1x5x4xf32>, %scores: tensor<1x2x5xf32>) -> (tensor<12x3xi64>, tensor<2xi64>) attributes {skript.entry} {
  %o = tensor.empty() : tensor<12x3xi64>
  %e = tensor.empty() : tensor<2xi64>
  %r:2 = skript.intrinsic "algo.nonmax_suppress" ins(%boxes, %scores : tensor<1x5x4xf32>, tensor<1x2x5xf32>) outs(%o, %e : tensor<12x3xi64>, tensor<2xi64>) {
    operator_attributes = {box_format = "CORNERS", iou_threshold = 0.5 : f64, max_outputs_per_class = 6 : i64, score_threshold = unit}, dynamic_outputs = array<i64: 0>
  } -> tensor<12x3xi64>, tensor<2xi64>
  return %r#0, %r#1 : tensor<12x3xi64>, tensor<2xi64>
}
