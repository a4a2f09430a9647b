// RUN: skript-opt %s --split-input-file --convert-stablehlo-to-skript | FileCheck %s
// test/stablehlo/jax_programs.py --through-skript compares results.

// The scalar table says which operation of the dialect StableHLO's is; others are those of arith and math.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.+]]: tensor<4xf32>, %[[Y:.+]]: tensor<4xf32>) -> tensor<4xi1> attributes {skript.entry}
// CHECK:         %[[SUM:.+]] = skript.add %[[X]], %[[Y]] : tensor<4xf32>
// CHECK:         %[[ANGLE:.+]] = math.atan2 %[[SUM]], %[[Y]] : tensor<4xf32>
// CHECK:         %[[ROUNDED:.+]] = math.roundeven %[[ANGLE]]
// CHECK:         %[[C:.+]] = arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]>
// CHECK:         skript.le %[[ROUNDED]], %[[C]] : tensor<4xf32>
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  %1 = stablehlo.atan2 %0, %y : tensor<4xf32>
  %2 = stablehlo.round_nearest_even %1 : tensor<4xf32>
  %3 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %4 = stablehlo.compare LE, %2, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %4 : tensor<4xi1>
}

// -----

// Scalars among tensors are spread; other broadcasts are formulas.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.+]]: tensor<4xf32>, %[[S:.+]]: tensor<f32>, %[[P:.+]]: tensor<i1>, %[[R:.+]]: tensor<1x4xf32>)
// CHECK:         %[[LOW:.+]] = tensor.extract %[[S]][] : tensor<f32>
// CHECK:         %[[LOWS:.+]] = tensor.splat %[[LOW]] : tensor<4xf32>
// CHECK:         skript.max %[[X]], %[[LOWS]]
// CHECK:         %[[CLAMPED:.+]] = skript.min
// CHECK:         %[[FLAG:.+]] = tensor.extract %[[P]][] : tensor<i1>
// CHECK:         %[[FLAGS:.+]] = tensor.splat %[[FLAG]] : tensor<4xi1>
// CHECK:         skript.select %[[FLAGS]], %[[CLAMPED]], %[[X]] : tensor<4xi1>, tensor<4xf32>
// CHECK:         skript.formula assign (%[[I:.+]], %[[J:.+]]) in (3, 4)
// CHECK:           %[[FIRST:.+]] = arith.constant 0 : index
// CHECK:           skript.access %[[R]][%[[FIRST]], %[[J]]] : tensor<1x4xf32>
// CHECK:           skript.yield %{{.+}} at [%[[I]], %[[J]]] : f32
func.func @main(%x: tensor<4xf32>, %s: tensor<f32>, %p: tensor<i1>, %r: tensor<1x4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  %0 = stablehlo.clamp %s, %x, %s : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.select %p, %0, %x : tensor<i1>, tensor<4xf32>
  %2 = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<3x4xf32>
  return %1, %2 : tensor<4xf32>, tensor<3x4xf32>
}

// -----

// Cases that are undefined in arith are guarded once.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[A:.+]]: tensor<4xi32>, %[[B:.+]]: tensor<4xi32>, %[[X:.+]]: tensor<4xf32>
// CHECK:         %[[ZERO:.+]] = skript.eq %[[B]], %{{.+}} : tensor<4xi32>
// CHECK:         %[[MINUS:.+]] = skript.eq %[[B]], %{{.+}} : tensor<4xi32>
// CHECK:         skript.or %[[ZERO]], %[[MINUS]]
// CHECK:         %[[SAFE:.+]] = skript.select %{{.+}}, %{{.+}}, %[[B]]
// CHECK:         arith.divsi %[[A]], %[[SAFE]]
// CHECK:         skript.select %[[MINUS]]
// CHECK:         skript.select %[[ZERO]]
// CHECK:         %[[C:.+]] = arith.constant dense<7>
// CHECK-NEXT:    arith.divsi %[[A]], %[[C]]
// CHECK-NEXT:    skript.cast %[[X]] : tensor<4xf32> to tensor<4xi32>
// CHECK:         skript.pow %[[A]], %[[B]]
func.func @main(%a: tensor<4xi32>, %b: tensor<4xi32>, %x: tensor<4xf32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %0 = stablehlo.divide %a, %b : tensor<4xi32>
  %c = stablehlo.constant dense<7> : tensor<4xi32>
  %1 = stablehlo.divide %a, %c : tensor<4xi32>
  %2 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi32>
  %3 = stablehlo.power %a, %b : tensor<4xi32>
  return %0, %1, %2, %3 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// -----

// A guard of the program's own is enough; one that lets -1 through is not.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[SAFE:.+]] = skript.select
// CHECK-NEXT:    arith.remsi %{{.+}}, %[[SAFE]]
// CHECK-NEXT:    %[[SHORT:.+]] = skript.select
// CHECK-NOT:     arith.remsi %{{.+}}, %[[SHORT]]
// CHECK:         return
func.func @main(%a: tensor<4xi32>, %b: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<4xi32>
  %one = stablehlo.constant dense<1> : tensor<4xi32>
  %minus = stablehlo.constant dense<-1> : tensor<4xi32>
  %p = stablehlo.compare EQ, %b, %zero, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %q = stablehlo.compare EQ, %b, %minus, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r = stablehlo.or %p, %q : tensor<4xi1>
  %safe = stablehlo.select %r, %one, %b : tensor<4xi1>, tensor<4xi32>
  %0 = stablehlo.remainder %a, %safe : tensor<4xi32>
  %short = stablehlo.select %p, %one, %b : tensor<4xi1>, tensor<4xi32>
  %1 = stablehlo.remainder %a, %short : tensor<4xi32>
  return %0, %1 : tensor<4xi32>, tensor<4xi32>
}

// -----

// Calls are invocations.
// CHECK-LABEL: func.func @main
// CHECK:         skript.invoke @twice(%{{.+}}) operator "twice" : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-LABEL: func.func private @twice
// CHECK-NOT:     skript.entry
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Bits tell the total order of floats, and round to fewer of them.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.+]]: tensor<2xf32>, %[[Y:.+]]: tensor<2xf32>
// CHECK:         %[[A:.+]] = arith.bitcast %[[X]] : tensor<2xf32> to tensor<2xi32>
// CHECK:         arith.cmpi slt, %{{.+}}, %{{.+}} : tensor<2xi32>
// CHECK:         arith.bitcast %[[X]] : tensor<2xf32> to tensor<2xi32>
// CHECK:         arith.bitcast %{{.+}} : tensor<2xi32> to tensor<2xf32>
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xi1>, tensor<2xf32>) {
  %0 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %1 = stablehlo.reduce_precision %x, format = e5m10 : tensor<2xf32>
  return %0, %1 : tensor<2xi1>, tensor<2xf32>
}
