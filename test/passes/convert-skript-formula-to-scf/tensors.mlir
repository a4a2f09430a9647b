// RUN: skript-opt %s --split-input-file --convert-skript-formula-to-scf=tensors=true | FileCheck %s --implicit-check-not=memref --implicit-check-not=bufferization
// RUN: not skript-opt %s --split-input-file --convert-skript-formula-to-scf="tensors=true lanes=true" 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: the option `tensors` excludes `parallel`, `lanes`, `threads` and `iterations`, which require buffers

// A recurrence: each loop carries the output; the step is a linalg.generic without loops.
// CHECK-LABEL: func.func @recurrence(
// CHECK-SAME:    %[[X:.+]]: tensor<2x8xf32>
// CHECK:         %[[Y:.+]] = scf.for %[[I:.+]] = {{.*}} iter_args(%[[A:.+]] = %[[X]]) -> (tensor<2x8xf32>) {
// CHECK:           %[[B:.+]] = scf.for %[[J:.+]] = {{.*}} iter_args(%[[C:.+]] = %[[A]]) -> (tensor<2x8xf32>) {
// CHECK:             %[[E:.+]] = tensor.empty() : tensor<f32>
// CHECK:             %[[R:.+]] = linalg.generic {{.*}}iterator_types = []} outs(%[[E]] : tensor<f32>) {
// CHECK-DAG:           %[[V:.+]] = tensor.extract %[[C]][%[[I]], %[[J]]]
// CHECK-DAG:           %[[W:.+]] = tensor.extract %[[X]][%[[I]], %{{.+}}]
// CHECK:               %[[S:.+]] = skript.add %[[V]], %[[W]]
// CHECK:               linalg.yield %[[S]]
// CHECK:             %[[N:.+]] = skript.add %[[J]]
// CHECK:             %[[D:.+]] = tensor.insert_slice %[[R]] into %[[C]][%[[I]], %[[N]]] [1, 1] [1, 1] : tensor<f32> into tensor<2x8xf32>
// CHECK:             scf.yield %[[D]]
// CHECK:           scf.yield %[[B]]
// CHECK:         return %[[Y]]
func.func @recurrence(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %one = arith.constant 1 : index
  %y = skript.formula replace (%i, %j) in (2, 7) outs(%acc = %x : tensor<2x8xf32>) do {
    %n = skript.add %j, %one : index
    %v = skript.access %acc[%i, %j] : tensor<2x8xf32>
    %w = skript.access %x[%i, %n] : tensor<2x8xf32>
    %s = skript.add %v, %w : f32
    skript.yield %s at [%i, %n] : f32
  } : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

// The predicate and the subscript depend on data: they are results of the step. Without a write, the output is that before the step.
// CHECK-LABEL: func.func @selected(
// CHECK:         scf.for {{.*}} iter_args(%[[A:.+]] = {{.*}}) -> (tensor<8xi64>) {
// CHECK:           %[[R:.+]]:3 = linalg.generic {{.*}} outs({{.*}} : tensor<i1>, tensor<i64>, tensor<i64>) {
// CHECK:             %[[LESS:.+]] = skript.lt
// CHECK:             scf.if %[[LESS]] -> (i1, i64, i64) {
// CHECK:           %[[OK:.+]] = tensor.extract %[[R]]#0[] : tensor<i1>
// CHECK:           %[[Y:.+]] = scf.if %[[OK]] -> (tensor<8xi64>) {
// CHECK:             %[[AT:.+]] = tensor.extract %[[R]]#1[] : tensor<i64>
// CHECK:             %[[INDEX:.+]] = arith.index_cast %[[AT]]
// CHECK:             %[[W:.+]] = tensor.insert_slice %[[R]]#2 into %[[A]][%[[INDEX]]]
// CHECK:             scf.yield %[[W]]
// CHECK:           } else {
// CHECK:             scf.yield %[[A]]
// CHECK:           scf.yield %[[Y]]
func.func @selected(%x: tensor<8xi64>, %p: tensor<8xi64>) -> tensor<8xi64> {
  %y = skript.formula replace (%i) in (8) outs(%acc = %x : tensor<8xi64>) where {
    %v = skript.access %acc[%i] : tensor<8xi64>
    %w = skript.access %p[%i] : tensor<8xi64>
    %ok = skript.lt %v, %w : i64
    skript.condition %ok
  } do {
    %w = skript.access %p[%i] : tensor<8xi64>
    %k = skript.cast %w : i64 to index
    skript.yield %w at [%k] : i64
  } : tensor<8xi64>
  return %y : tensor<8xi64>
}

// -----

// A predicate on indices remains outside of the step.
// CHECK-LABEL: func.func @guarded(
// CHECK:           %[[LESS:.+]] = skript.lt
// CHECK:           scf.if %[[LESS]] -> (tensor<8xi64>) {
// CHECK:             linalg.generic {{.*}} outs({{.*}} : tensor<i64>) {
func.func @guarded(%x: tensor<8xi64>, %n: index) -> tensor<8xi64> {
  %one = arith.constant 1 : index
  %y = skript.formula replace (%i, %j) in (8, 7) outs(%acc = %x : tensor<8xi64>) where {
    %k = skript.mul %i, %j : index
    %ok = skript.lt %k, %n : index
    skript.condition %ok
  } do {
    %k = skript.add %j, %one : index
    %v = skript.access %acc[%j] : tensor<8xi64>
    skript.yield %v at [%k] : i64
  } : tensor<8xi64>
  return %y : tensor<8xi64>
}

// -----

// A sum at an index that may be out of bounds: one linalg.generic has the loop over %j, which carries the element.
// CHECK-LABEL: func.func @sum(
// CHECK:         %[[Y:.+]] = scf.for %{{.*}} iter_args(%[[A:.+]] = {{.*}}) -> (tensor<?xf32>) {
// CHECK:           tensor.dim %[[A]]
// CHECK:           %[[R:.+]] = scf.if {{.*}} -> (tensor<?xf32>) {
// CHECK:             %[[G:.+]] = linalg.generic {{.*}}iterator_types = []}
// CHECK:               %[[F:.+]] = tensor.extract %[[A]]
// CHECK:               scf.for {{.*}} iter_args({{.*}} = %[[F]]) -> (f32) {
// CHECK:             %[[W:.+]] = tensor.insert_slice %[[G]] into %[[A]]
// CHECK:             scf.yield %[[W]]
// CHECK:           } else {
// CHECK:             scf.yield %[[A]]
// CHECK:           scf.yield %[[R]]
func.func @sum(%x: tensor<4x8xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %two = arith.constant 2 : index
  %y = skript.formula sum (%i, %j) in (4, 8) outs(%acc = %o : tensor<?xf32>) do {
    %v = skript.access %x[%i, %j] : tensor<4x8xf32>
    %k = skript.mul %i, %two : index
    skript.yield %v at [%k] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// Two elements of one tensor in a step: the second write is into the result of the first one, and the loop carries one tensor.
// CHECK-LABEL: func.func @same(
// CHECK:         %[[Y:.+]] = scf.for %{{.*}} iter_args(%[[A:.+]] = %{{[^,]*}}) -> (tensor<8xf32>) {
// CHECK:           %[[R:.+]]:2 = linalg.generic
// CHECK:           %[[B:.+]] = tensor.insert_slice %[[R]]#0 into %[[A]]
// CHECK:           %[[C:.+]] = tensor.insert_slice %[[R]]#1 into %[[B]]
// CHECK:           scf.yield %[[C]]
// CHECK:         return %[[Y]], %[[Y]]
func.func @same(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %four = arith.constant 4 : index
  %y:2 = skript.formula replace (%i) in (4) outs(%a = %x : tensor<8xf32>, %b = %x : tensor<8xf32>)
      attributes {skript.same_tensor = array<i32: 0, 0>} do {
    %j = skript.add %i, %four : index
    %v = skript.access %a[%i] : tensor<8xf32>
    %w = skript.access %a[%j] : tensor<8xf32>
    skript.yield %w at [%i], %v at [%j] : f32, f32
  } : tensor<8xf32>, tensor<8xf32>
  return %y#0, %y#1 : tensor<8xf32>, tensor<8xf32>
}
