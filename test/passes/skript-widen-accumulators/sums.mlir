// RUN: skript-opt %s --skript-widen-accumulators --canonicalize | FileCheck %s
// RUN: skript-opt %s --skript-widen-accumulators --skript-widen-accumulators --canonicalize | FileCheck %s

// Factors of a product of matrices are multiplied in f32, which holds their product; the sum is rounded once.
// CHECK-LABEL: func.func @matmul
// CHECK-SAME:    %[[A:.+]]: tensor<4x6xbf16>, %[[B:.+]]: tensor<6x5xbf16>
// CHECK:         %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : tensor<4x5xf32>
// CHECK:         %[[SUM:.+]] = skript.formula sum (%[[I:.+]], %[[J:.+]], %[[K:.+]]) in (4, 5, 6) outs(%{{.+}} = %[[ZERO]] : tensor<4x5xf32>)
// CHECK-DAG:       %[[X:.+]] = skript.access %[[A]][%[[I]], %[[K]]]
// CHECK-DAG:       %[[Y:.+]] = skript.access %[[B]][%[[K]], %[[J]]]
// CHECK-DAG:       %[[L:.+]] = skript.cast %[[X]] : bf16 to f32
// CHECK-DAG:       %[[R:.+]] = skript.cast %[[Y]] : bf16 to f32
// CHECK:           %[[P:.+]] = skript.mul %[[L]], %[[R]] : f32
// CHECK-NEXT:      skript.yield %[[P]] at [%[[I]], %[[J]]] : f32
// CHECK:         %[[ROUNDED:.+]] = skript.cast %[[SUM]] : tensor<4x5xf32> to tensor<4x5xbf16>
// CHECK:         return %[[ROUNDED]]
func.func @matmul(%a: tensor<4x6xbf16>, %b: tensor<6x5xbf16>) -> tensor<4x5xbf16> {
  %zero = arith.constant 0.0 : bf16
  %init = tensor.splat %zero : tensor<4x5xbf16>
  %c = skript.formula sum (%i, %j, %k) in (4, 5, 6) outs(%acc = %init : tensor<4x5xbf16>) do {
    %x = skript.access %a[%i, %k] : tensor<4x6xbf16>
    %y = skript.access %b[%k, %j] : tensor<6x5xbf16>
    %p = skript.mul %x, %y : bf16
    skript.yield %p at [%i, %j] : bf16
  } : tensor<4x5xbf16>
  return %c : tensor<4x5xbf16>
}

// Only destinations that round become wide; a guard is copied, and a dynamic extent is passed on.
// CHECK-LABEL: func.func @pair
// CHECK-SAME:    %{{.+}}: tensor<?xf16>, %[[P:.+]]: tensor<?xf16>, %[[Q:.+]]: tensor<f32>
// CHECK:         %[[WIDE:.+]] = skript.cast %[[P]] : tensor<?xf16> to tensor<?xf32>
// CHECK:         %[[R:.+]]:2 = skript.formula product (%{{.+}}, %{{.+}}) in (%{{.+}}, 3)
// CHECK-SAME:      outs(%{{.+}} = %[[WIDE]] : tensor<?xf32>, %{{.+}} = %[[Q]] : tensor<f32>) where {
// CHECK:           skript.condition
// CHECK:         %[[ROUNDED:.+]] = skript.cast %[[R]]#0 : tensor<?xf32> to tensor<?xf16>
// CHECK:         return %[[ROUNDED]], %[[R]]#1
func.func @pair(%x: tensor<?xf16>, %p: tensor<?xf16>, %q: tensor<f32>) -> (tensor<?xf16>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf16>
  %r:2 = skript.formula product (%i, %j) in (%n, 3) outs(%s = %p : tensor<?xf16>, %t = %q : tensor<f32>) where {
    %ok = skript.le %j, %i : index
    skript.condition %ok
  } do {
    %e = skript.access %x[%i] : tensor<?xf16>
    %w = skript.cast %e : f16 to f32
    skript.yield %e at [%i], %w at [] : f16, f32
  } : tensor<?xf16>, tensor<f32>
  return %r#0, %r#1 : tensor<?xf16>, tensor<f32>
}

// Writes to elements of one tensor remain writes to one tensor.
// CHECK-LABEL: func.func @places
// CHECK-SAME:    %[[INIT:[a-z0-9]+]]: tensor<2xf16>
// CHECK:         %[[WIDE:.+]] = skript.cast %[[INIT]] : tensor<2xf16> to tensor<2xf32>
// CHECK:         skript.formula sum (%{{.+}}) in (4) outs(%{{.+}} = %[[WIDE]] : tensor<2xf32>, %{{.+}} = %[[WIDE]] : tensor<2xf32>)
// CHECK-SAME:      skript.same_tensor = array<i32: 0, 0>
func.func @places(%init: tensor<2xf16>, %x: tensor<4xf16>) -> tensor<2xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = skript.formula sum (%i) in (4) outs(%p = %init : tensor<2xf16>, %q = %init : tensor<2xf16>)
      attributes {skript.same_tensor = array<i32: 0, 0>} do {
    %e = skript.access %x[%i] : tensor<4xf16>
    %m = skript.neg %e : f16
    skript.yield %e at [%c0], %m at [%c1] : f16, f16
  } : tensor<2xf16>, tensor<2xf16>
  return %r#0 : tensor<2xf16>
}
