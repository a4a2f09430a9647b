// RUN: skript-opt %s --skript-write-carried | FileCheck %s

// CHECK-LABEL: func.func @loop
// CHECK:         scf.for {{.*}} iter_args(%[[S:.+]] = %{{.+}}, %[[T:.+]] = %{{.+}})
// CHECK:           %[[N:.+]] = tensor.insert
// CHECK:           %[[R:.+]] = bufferization.materialize_in_destination %[[N]] in %[[S]]
// What is handed on unchanged is where it was.
// CHECK:           scf.yield %[[R]], %[[T]]
func.func @loop(%x: tensor<4xf32>, %c: f32, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x, %t = %x) -> (tensor<4xf32>, tensor<4xf32>) {
    %y = tensor.insert %c into %t[%c0] : tensor<4xf32>
    scf.yield %y, %t : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @while
// CHECK:         scf.while
// CHECK:           scf.condition(%{{.+}}) %[[A:.+]] : tensor<4xf32>
// CHECK:           bufferization.materialize_in_destination
// CHECK:           scf.yield
func.func @while(%x: tensor<4xf32>, %c: f32, %go: i1) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %r = scf.while (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    scf.condition(%go) %a : tensor<4xf32>
  } do {
  ^bb0(%b: tensor<4xf32>):
    %y = tensor.insert %c into %b[%c0] : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// What an inner loop makes of the argument is in place already.
// CHECK-LABEL: func.func @nest
// CHECK:         scf.for
// CHECK:           %[[R:.+]] = scf.for
// CHECK:             bufferization.materialize_in_destination
// CHECK:           }
// CHECK-NEXT:      scf.yield %[[R]]
func.func @nest(%x: tensor<4xf32>, %c: f32, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4xf32> {
    %q = scf.for %j = %c0 to %n step %c1 iter_args(%t = %s) -> tensor<4xf32> {
      %y = tensor.insert %c into %t[%j] : tensor<4xf32>
      scf.yield %y : tensor<4xf32>
    }
    scf.yield %q : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// What is handed on to another place is read before anything is written there, if it may stand in a place that is.
// CHECK-LABEL: func.func @change_places
// CHECK:         scf.for {{.*}} iter_args(%[[S:.+]] = %{{.+}}, %[[T:.+]] = %{{.+}})
// CHECK:           %[[N:.+]] = tensor.insert %{{.+}} into %[[S]]
// CHECK:           %[[OLD:.+]] = bufferization.alloc_tensor() copy(%[[T]])
// CHECK:           %[[NEW:.+]] = bufferization.alloc_tensor() copy(%[[N]])
// CHECK:           bufferization.materialize_in_destination %[[OLD]] in %[[S]]
// CHECK:           bufferization.materialize_in_destination %[[NEW]] in %[[T]]
func.func @change_places(%x: tensor<4xf32>, %y: tensor<4xf32>, %c: f32, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x, %t = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    %z = tensor.insert %c into %s[%c0] : tensor<4xf32>
    scf.yield %t, %z : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// What is read behind it is copied before a part is written; the last one writes in place.
// CHECK-LABEL: func.func @parts
// CHECK:         %[[FILLED:.+]] = linalg.fill
// CHECK:         %[[COPY:.+]] = bufferization.alloc_tensor() copy(%[[FILLED]])
// CHECK:         tensor.insert_slice %{{.+}} into %[[COPY]]
// CHECK:         tensor.insert_slice %{{.+}} into %[[FILLED]]
func.func @parts(%x: tensor<2xf32>, %c: f32) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %a = tensor.insert_slice %x into %z[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %b = tensor.insert_slice %x into %z[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

#same = affine_map<(d0) -> (d0)>

// What a branch chooses from may be written in place of the carried tensor if nothing else is among it.
// CHECK-LABEL: func.func @choose
// CHECK:         scf.if
// CHECK:           %[[E:.+]] = tensor.empty
// CHECK:           linalg.generic {{.*}} outs(%[[E]]
func.func @choose(%x: tensor<4xf32>, %c: i1, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4xf32> {
    %b = scf.if %c -> tensor<4xf32> {
      %e = tensor.empty() : tensor<4xf32>
      %m = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%s : tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %v = arith.addf %in, %in : f32
        linalg.yield %v : f32
      } -> tensor<4xf32>
      scf.yield %m : tensor<4xf32>
    } else {
      scf.yield %s : tensor<4xf32>
    }
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// A tensor from elsewhere among it would be one buffer with the carried one, and so would what is read as well.
// CHECK-LABEL: func.func @choose_from_elsewhere
// CHECK:         scf.if
// CHECK:           %[[A:.+]] = bufferization.alloc_tensor() : tensor<4xf32>
// CHECK:           linalg.generic {{.*}} outs(%[[A]]
func.func @choose_from_elsewhere(%x: tensor<4xf32>, %z: tensor<4xf32>, %c: i1, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4xf32> {
    %b = scf.if %c -> tensor<4xf32> {
      %e = tensor.empty() : tensor<4xf32>
      %m = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%s : tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %v = arith.addf %in, %in : f32
        linalg.yield %v : f32
      } -> tensor<4xf32>
      scf.yield %m : tensor<4xf32>
    } else {
      scf.yield %z : tensor<4xf32>
    }
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// A loop that starts with what a branch hands on from elsewhere starts with a copy.
// CHECK-LABEL: func.func @start_chosen
// CHECK:         %[[B:.+]] = scf.if
// CHECK:         %[[S:.+]] = bufferization.alloc_tensor() copy(%[[B]])
// CHECK:         scf.for {{.*}} iter_args(%{{.+}} = %[[S]])
func.func @start_chosen(%x: tensor<4xf32>, %z: tensor<4xf32>, %v: f32, %c: i1, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = scf.if %c -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  } else {
    scf.yield %z : tensor<4xf32>
  }
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %b) -> tensor<4xf32> {
    %m = tensor.insert %v into %s[%i] : tensor<4xf32>
    scf.yield %m : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
