// RUN: skript-opt %s --convert-skript-formula-to-linalg --canonicalize --cse | FileCheck %s

// Where a check says that the loops end with what they go through, tensors are operands as they are.
// CHECK-LABEL: func.func @product
// CHECK-SAME:    (%[[X:.+]]: tensor<?x?xf32>, %[[W:.+]]: tensor<?x5xf32>)
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME:      ins(%[[X]], %[[W]] : tensor<?x?xf32>, tensor<?x5xf32>)
// CHECK-SAME:      outs(%{{.+}} : tensor<?x5xf32>)
// CHECK-NOT:     tensor.{{extract|insert}}_slice
// CHECK:         return
func.func @product(%x: tensor<?x?xf32>, %w: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %k = tensor.dim %x, %c1 : tensor<?x?xf32>
  %l = tensor.dim %w, %c0 : tensor<?x5xf32>
  %same = skript.eq %k, %l : index
  func.call @skript.check.0(%same) : (i1) -> ()
  %init = tensor.splat %zero[%n] : tensor<?x5xf32>
  %y = skript.formula sum (%i, %j, %r) in (%n, 5, %k) outs(%acc = %init : tensor<?x5xf32>) do {
    %a = skript.access %x[%i, %r] : tensor<?x?xf32>
    %b = skript.access %w[%r, %j] : tensor<?x5xf32>
    %p = skript.mul %a, %b : f32
    skript.yield %p at [%i, %j] : f32
  } : tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}
func.func private @skript.check.0(i1)

// What nobody knows to end there is cut off.
// CHECK-LABEL: func.func @part
// CHECK-SAME:    (%[[X:.+]]: tensor<?xf32>, %[[N:.+]]: index, %[[INIT:.+]]: tensor<?xf32>)
// CHECK:         %[[PART:.+]] = tensor.extract_slice %[[X]][0] [%[[N]]] [1]
// CHECK:         %[[MADE:.+]] = linalg.generic {{.*}} ins(%[[PART]] : tensor<?xf32>)
// CHECK:         tensor.insert_slice %[[MADE]] into %[[INIT]][0] [%[[N]]] [1]
func.func @part(%x: tensor<?xf32>, %n: index, %init: tensor<?xf32>) -> tensor<?xf32> {
  %y = skript.formula assign (%i) in (%n) outs(%acc = %init : tensor<?xf32>) do {
    %v = skript.access %x[%i] : tensor<?xf32>
    %e = skript.exp %v : f32
    skript.yield %e at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// A border along what is known, of as many as a run has.
// CHECK-LABEL: func.func @border
// CHECK-SAME:    (%[[X:.+]]: tensor<?x8xf32>)
// CHECK:         %[[N:.+]] = tensor.dim %[[X]]
// CHECK:         %[[ROOM:.+]] = tensor.empty(%[[N]]) : tensor<?x10xf32>
// CHECK:         %[[FULL:.+]] = linalg.fill {{.*}} outs(%[[ROOM]] : tensor<?x10xf32>)
// CHECK:         %[[WIDE:.+]] = tensor.insert_slice %[[X]] into %[[FULL]][0, 1] [%[[N]], 8] [1, 1]
// CHECK:         linalg.generic {{.*}} ins(%[[WIDE]], %{{.+}} : tensor<?x10xf32>, tensor<3xf32>)
// CHECK-NOT:       skript.select
// CHECK:         return
func.func @border(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %least = arith.constant 0xFF800000 : f32
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %init = tensor.splat %least[%n] : tensor<?x8xf32>
  %y = skript.formula max (%b, %i, %j) in (%n, 8, 3) outs(%acc = %init : tensor<?x8xf32>) where {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %eight = arith.constant 8 : index
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %one : index
    %lo = skript.ge %r, %zero : index
    %hi = skript.lt %r, %eight : index
    %ok = skript.and %lo, %hi : i1
    skript.condition %ok
  } do {
    %one = arith.constant 1 : index
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %one : index
    %a = skript.access %x[%b, %r] : tensor<?x8xf32>
    skript.yield %a at [%b, %i] : f32
  } : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// Loops that no tensor tells are told by one that is never read.
// CHECK-LABEL: func.func @copies
// CHECK:         %[[SHAPE:.+]] = tensor.empty(%{{.+}}) : tensor<?xf32>
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]{{.*}} ins(%{{.+}}, %[[SHAPE]] :
func.func @copies(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<4xf32>
  %y = skript.formula sum (%i, %k) in (4, %n) outs(%acc = %init : tensor<4xf32>) do {
    %a = skript.access %x[%i] : tensor<4xf32>
    skript.yield %a at [%i] : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// A window along an extent that only the run knows: with its border the tensor is as long as the loops reach.
// CHECK-LABEL: func.func @window
// CHECK-SAME:    (%[[X:.+]]: tensor<?xf32>)
// CHECK:         %[[N:.+]] = tensor.dim %[[X]]
// CHECK:         %[[LONG:.+]] = skript.add %[[N]], %c2
// CHECK:         %[[ROOM:.+]] = tensor.empty(%[[LONG]])
// CHECK:         %[[FULL:.+]] = linalg.fill {{.*}} outs(%[[ROOM]] : tensor<?xf32>)
// CHECK:         %[[PART:.+]] = tensor.extract_slice %[[X]][0]
// CHECK:         %[[WIDE:.+]] = tensor.insert_slice %[[PART]] into %[[FULL]][1]
// CHECK:         linalg.generic {{.*}} ins(%[[WIDE]], %{{.+}} : tensor<?xf32>, tensor<3xf32>)
// CHECK-NOT:       select
// CHECK:         return
func.func @window(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %least = arith.constant 0xFF800000 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %init = tensor.splat %least[%n] : tensor<?xf32>
  %y = skript.formula max (%i, %j) in (%n, 3) outs(%acc = %init : tensor<?xf32>) where {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %one : index
    %lo = skript.ge %r, %zero : index
    %hi = skript.lt %r, %n : index
    %ok = skript.and %lo, %hi : i1
    skript.condition %ok
  } do {
    %one = arith.constant 1 : index
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %one : index
    %a = skript.access %x[%r] : tensor<?xf32>
    skript.yield %a at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// Without a guard every place is there, and no border is needed.
// CHECK-LABEL: func.func @inside
// CHECK-SAME:    (%[[X:.+]]: tensor<?xf32>
// CHECK-NOT:     tensor.insert_slice
// CHECK:         linalg.generic {indexing_maps = [#[[SUM:.+]], #{{.+}}, #{{.+}}]{{.*}} ins(%[[X]], %{{.+}} : tensor<?xf32>, tensor<3xf32>)
// CHECK:         return
func.func @inside(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero[%n] : tensor<?xf32>
  %y = skript.formula sum (%i, %j) in (%n, 3) outs(%acc = %init : tensor<?xf32>) do {
    %q = skript.add %i, %j : index
    %a = skript.access %x[%q] : tensor<?xf32>
    skript.yield %a at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// A guard of other things stays, as a choice; what it skips may lie behind the end, in the border.
// CHECK-LABEL: func.func @chosen
// CHECK:         %[[WIDE:.+]] = tensor.insert_slice
// CHECK:         linalg.generic {{.*}} ins(%[[WIDE]] : tensor<?xf32>)
// CHECK:           skript.lt %{{.+}}, %[[M:.+]] : index
// CHECK:           skript.select
// CHECK:         return
func.func @chosen(%x: tensor<?xf32>, %n: index, %m: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero[%n] : tensor<?xf32>
  %y = skript.formula assign (%i) in (%n) outs(%acc = %init : tensor<?xf32>) where {
    %ok = skript.lt %i, %m : index
    skript.condition %ok
  } do {
    %v = skript.access %x[%i] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// Behind a check that an extent keeps its bound, its clamp to the bound is the extent.
// CHECK-LABEL: func.func @clamped
// CHECK-SAME:    (%[[X:.+]]: tensor<?xf32>)
// CHECK-NOT:     tensor.{{extract|insert}}_slice
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : tensor<?xf32>)
// CHECK:         return
func.func @clamped(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %keeps = skript.le %n, %c8 : index
  %clamped = arith.minsi %n, %c8 : index
  func.call @skript.check.0(%keeps) : (i1) -> ()
  %init = tensor.splat %zero[%clamped] : tensor<?xf32>
  %y = skript.formula assign (%i) in (%clamped) outs(%acc = %init : tensor<?xf32>) do {
    %v = skript.access %x[%i] : tensor<?xf32>
    %e = skript.exp %v : f32
    skript.yield %e at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}
