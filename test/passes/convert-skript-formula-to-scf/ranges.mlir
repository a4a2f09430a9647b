// RUN: skript-opt %s --split-input-file --convert-skript-formula-to-scf --canonicalize | FileCheck %s

// Data bound the loop, which is outside of the one along which memory is contiguous; the conditions are not tested again.
// CHECK-LABEL: func.func @segments
// CHECK-SAME:    (%[[X:.+]]: tensor<10x8xf32>, %[[STARTS:.+]]: tensor<4xi64>)
// CHECK:         %[[OUT:.+]] = memref.alloc() : memref<3x8xf32>
// CHECK:         %[[START:.+]] = tensor.extract %[[STARTS]][%[[S:.+]]] : tensor<4xi64>
// CHECK:         %[[FIRST:.+]] = skript.cast %[[START]] : i64 to index
// CHECK:         %[[LOW:.+]] = skript.max %[[FIRST]], %c0 : index
// CHECK:         %[[STOP:.+]] = tensor.extract %[[STARTS]]
// CHECK:         %[[END:.+]] = skript.cast %[[STOP]] : i64 to index
// CHECK:         %[[HIGH:.+]] = skript.min %[[END]], %c10 : index
// CHECK:         scf.for %[[K:.+]] = %[[LOW]] to %[[HIGH]]
// CHECK-NEXT:      scf.for %[[C:.+]] = %c0 to %c8
// CHECK-NEXT:        tensor.extract %[[X]][%[[K]], %[[C]]]
// CHECK-NEXT:        memref.load %[[OUT]][%[[S]], %[[C]]]
func.func @segments(%x: tensor<10x8xf32>, %start: tensor<4xi64>) -> tensor<3x8xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<3x8xf32>
  %y = skript.formula sum (%s, %c, %k) in (3, 8, 10) outs(%acc = %init : tensor<3x8xf32>) where {
    %a = skript.access %start[%s] : tensor<4xi64>
    %low = skript.cast %a : i64 to index
    %above = skript.le %low, %k : index
    %both = scf.if %above -> (i1) {
      %one = arith.constant 1 : index
      %next = skript.add %s, %one : index
      %b = skript.access %start[%next] : tensor<4xi64>
      %high = skript.cast %b : i64 to index
      %below = skript.lt %k, %high : index
      scf.yield %below : i1
    } else {
      %false = arith.constant false
      scf.yield %false : i1
    }
    skript.condition %both
  } do {
    %v = skript.access %x[%k, %c] : tensor<10x8xf32>
    skript.yield %v at [%s, %c] : f32
  } : tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// -----

// The range includes the outer index; a condition on data is kept.
// CHECK-LABEL: func.func @triangle
// CHECK:         memref.store
// CHECK:         scf.for %[[I:.+]] = %c0 to %c6
// CHECK:           %[[LEAST:.+]] = skript.min {{.*}}%[[I]]
// CHECK:           %[[NEXT:.+]] = skript.add {{.*}}%[[LEAST]]
// CHECK:           %[[END:.+]] = skript.min {{.*}}%[[NEXT]]
// CHECK:           scf.for %{{.+}} = %c0 to %[[END]]
// CHECK:             skript.gt
// CHECK:             scf.if
func.func @triangle(%x: tensor<6xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<6xf32>
  %y = skript.formula sum (%i, %k) in (6, 6) outs(%acc = %init : tensor<6xf32>) where {
    %upto = skript.le %k, %i : index
    %v = skript.access %x[%k] : tensor<6xf32>
    %positive = skript.gt %v, %zero : f32
    %both = skript.and %upto, %positive : i1
    skript.condition %both
  } do {
    %v = skript.access %x[%k] : tensor<6xf32>
    skript.yield %v at [%i] : f32
  } : tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

// The bound would be read outside of its tensor in the last step, which the first condition excludes: both stay.
// CHECK-LABEL: func.func @outside
// CHECK:         scf.for
// CHECK:           scf.for %{{.+}} = %c0 to %c10
// CHECK:             scf.if
func.func @outside(%x: tensor<10xf32>, %start: tensor<3xi64>) -> tensor<3xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<3xf32>
  %y = skript.formula sum (%s, %k) in (3, 10) outs(%acc = %init : tensor<3xf32>) where {
    %two = arith.constant 2 : index
    %inside = skript.lt %s, %two : index
    %both = scf.if %inside -> (i1) {
      %one = arith.constant 1 : index
      %next = skript.add %s, %one : index
      %b = skript.access %start[%next] : tensor<3xi64>
      %high = skript.cast %b : i64 to index
      %below = skript.lt %k, %high : index
      scf.yield %below : i1
    } else {
      %false = arith.constant false
      scf.yield %false : i1
    }
    skript.condition %both
  } do {
    %v = skript.access %x[%k] : tensor<10xf32>
    skript.yield %v at [%s] : f32
  } : tensor<3xf32>
  return %y : tensor<3xf32>
}
