// RUN: skript-opt %s --skript-pad-extents --verify-roundtrip | FileCheck %s

// A tensor from outside has its bound, a call hands its extent on, a formula keeps to what is filled.
// CHECK-LABEL: func.func private @total_0
// CHECK-SAME:    (%[[X:.+]]: tensor<6x2xf32>, %[[N:.+]]: index) -> tensor<2xf32>
func.func private @total_0(%x: tensor<?x2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  // CHECK-NOT:     tensor.dim
  // CHECK:         %[[LOW:.+]] = arith.maxsi %[[N]]
  // CHECK:         %[[HIGH:.+]] = arith.minsi %[[LOW]]
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %low = arith.maxsi %n, %c0 : index
  %high = arith.minsi %low, %c6 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<2xf32>
  // CHECK:         skript.formula sum (%[[I:.+]], %{{.+}}) in (6, 2)
  // CHECK:           %[[IN:.+]] = skript.lt %[[I]], %[[HIGH]]
  // CHECK:           %[[OWN:.+]] = skript.gt
  // CHECK:           %[[BOTH:.+]] = skript.and %[[IN]], %[[OWN]]
  // CHECK:           skript.condition %[[BOTH]]
  %sum = skript.formula sum (%i, %j) in (%high, 2) outs(%acc = %init : tensor<2xf32>) where {
    %v = skript.access %x[%i, %j] : tensor<?x2xf32>
    %positive = skript.gt %v, %zero : f32
    skript.condition %positive
  } do {
    %v = skript.access %x[%i, %j] : tensor<?x2xf32>
    skript.yield %v at [%j] : f32
  } : tensor<2xf32>
  return %sum : tensor<2xf32>
}

// A function without open extents stays.
// CHECK-LABEL: func.func private @same_1(%{{.+}}: tensor<4xf32>) -> tensor<4xf32>
func.func private @same_1(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @model
// CHECK-SAME:    %[[X:[^ ]+]]: tensor<6x2xf32> {skript.name = "x", skript.role = "input"}
// CHECK-SAME:    %[[E:[^ ]+]]: i32 {skript.dimension = 0 : i64, skript.extent_of = "x", skript.name = "x[0]", skript.role = "extent"}
// CHECK-SAME:    -> (tensor<2xf32> {skript.name = "s", skript.role = "output"}
// CHECK-SAME:    tensor<6x2xf32> {skript.name = "y", skript.role = "output"}
// CHECK-SAME:    i32 {skript.dimension = 0 : i64, skript.extent_of = "y", skript.name = "y[0]", skript.role = "extent"})
func.func @model(%x: tensor<?x2xf32> {skript.bounds = array<i64: 6, 2>, skript.name = "x", skript.role = "input"})
    -> (tensor<2xf32> {skript.name = "s", skript.role = "output"},
        tensor<?x2xf32> {skript.bounds = array<i64: 6, 2>, skript.name = "y", skript.role = "output"})
    attributes {skript.entry} {
  // CHECK: %[[N:.+]] = arith.index_cast %[[E]] : i32 to index
  // CHECK: %[[S:.+]] = skript.invoke @total_0(%[[X]], %[[N]])
  %s = skript.invoke @total_0(%x) operator "mine.total" : (tensor<?x2xf32>) -> tensor<2xf32>
  // CHECK: %[[Y:.+]] = skript.neg %[[X]] : tensor<6x2xf32>
  %y = skript.neg %x : tensor<?x2xf32>
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %below = arith.minsi %n, %c6 : index
  %most = arith.maxsi %below, %c0 : index
  %zero = arith.constant 0.0 : f32
  %none = tensor.splat %zero[%most] : tensor<?x2xf32>
  // CHECK: %[[LOOP:.+]]:3 = scf.while (%{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}) : (index, tensor<6x2xf32>, index)
  %r:2 = scf.while (%k = %c0, %t = %none) : (index, tensor<?x2xf32>) -> (index, tensor<?x2xf32>) {
    %more = skript.lt %k, %c6 : index
    scf.condition(%more) %k, %t : index, tensor<?x2xf32>
  } do {
  ^bb0(%k: index, %t: tensor<?x2xf32>):
    %one = arith.constant 1 : index
    %next = arith.addi %k, %one : index
    %u = skript.add %t, %y : tensor<?x2xf32>
    scf.yield %next, %u : index, tensor<?x2xf32>
  }
  %c = skript.lt %most, %c6 : index
  // CHECK: %[[IF:.+]]:2 = scf.if %{{.+}} -> (tensor<6x2xf32>, index)
  // CHECK:   scf.yield %[[LOOP]]#1, %[[LOOP]]#2
  // CHECK:   scf.yield %[[X]], %[[N]]
  %z = scf.if %c -> tensor<?x2xf32> {
    scf.yield %r#1 : tensor<?x2xf32>
  } else {
    scf.yield %x : tensor<?x2xf32>
  }
  // CHECK: %[[LENGTH:.+]] = arith.index_cast %[[IF]]#1 : index to i32
  // CHECK: return %[[S]], %[[IF]]#0, %[[LENGTH]]
  return %s, %z : tensor<2xf32>, tensor<?x2xf32>
}
