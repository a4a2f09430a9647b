// RUN: skript-opt %s --skript-write-carried | FileCheck %s
// RUN: skript-opt %s --skript-bufferize -o /dev/null

// A function of this module does not write its results into its arguments: their attributes state that to bufferization.
// CHECK:         func.func private @own(%{{.*}}: tensor<4xf32> {bufferization.writable = false}, %{{.*}}: index)
func.func private @own(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// One that is defined elsewhere may write its arguments: it gets copies of what is read behind it.
func.func private @elsewhere(tensor<4xf32>, index) -> tensor<4xf32>

// CHECK-LABEL: func.func @loop
// CHECK:         scf.for {{.*}} iter_args(%[[S:.+]] = %{{.+}})
// CHECK:           %[[T:.+]] = skript.invoke @own(%[[S]], %{{.+}})
// CHECK:           %[[COPY:.+]] = bufferization.alloc_tensor() copy(%[[S]])
// CHECK:           %[[U:.+]] = skript.invoke @elsewhere(%[[COPY]], %{{.+}})
// CHECK:           bufferization.materialize_in_destination %[[U]] in %[[S]]
func.func @loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4xf32> {
    %t = skript.invoke @own(%s, %i) operator "mine.own" attributes {skript.keep} : (tensor<4xf32>, index) -> tensor<4xf32>
    %u = skript.invoke @elsewhere(%s, %i) operator "mine.else" attributes {skript.keep} : (tensor<4xf32>, index) -> tensor<4xf32>
    scf.yield %u : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
