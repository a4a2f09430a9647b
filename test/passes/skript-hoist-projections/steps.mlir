// RUN: skript-opt %s --split-input-file --skript-hoist-projections | FileCheck %s

// The number of steps is the least of the limits. What makes the operands comes first, and elementwise operations on the products follow.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x16xf32>, %[[W:[a-z0-9]+]]: tensor<32x16xf32>, %[[N:[a-z0-9]+]]: index
// CHECK:         arith.minsi
// CHECK:         %[[STEPS:.*]] = arith.maxsi
// CHECK:         %[[OWN:.*]] = tensor.extract_slice %[[X]][0, 0] [%[[STEPS]], 16] [1, 1] : tensor<8x16xf32> to tensor<?x16xf32>
// CHECK:         %[[ROOTS:.*]] = linalg.generic {{.*}} ["parallel", "parallel"]} ins(%[[OWN]] :
// CHECK:         tensor.empty(%[[STEPS]]) : tensor<?x32xf32>
// CHECK:         linalg.fill
// CHECK:         %[[SUMS:.*]] = linalg.generic {{.*}} ["parallel", "parallel", "reduction"]} ins(%[[ROOTS]], %[[W]]
// CHECK:         %[[DOUBLED:.*]] = linalg.generic {{.*}} ["parallel", "parallel"]} ins(%[[SUMS]]
// CHECK:         scf.while
// CHECK:         ^bb0(%[[T:[a-z0-9]+]]: index
// CHECK-NEXT:      %[[STEP:.*]] = tensor.extract_slice %[[DOUBLED]][%[[T]], 0] [1, 32] [1, 1]
// CHECK-NEXT:      linalg.generic {{.*}} ins(%[[STEP]], %
#rows = affine_map<(n, c) -> (c)>
#columns = affine_map<(n, c) -> (n, c)>
#sums = affine_map<(n, c) -> (n)>
#own = affine_map<(n) -> (n)>
#product = {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "reduction"]}
#map = {indexing_maps = [#own, #own], iterator_types = ["parallel"]}
#both = {indexing_maps = [#own, #own, #own], iterator_types = ["parallel"]}
func.func @dynamic(%x: tensor<8x16xf32>, %w: tensor<32x16xf32>, %n: index, %start: tensor<32xf32>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %inputs = tensor.empty() : tensor<16xf32>
  %empty = tensor.empty() : tensor<32xf32>
  %last, %end = scf.while (%t = %c0, %h = %start) : (index, tensor<32xf32>) -> (index, tensor<32xf32>) {
    %some = arith.cmpi slt, %t, %c8 : index
    %more = arith.cmpi slt, %t, %n : index
    %both = arith.andi %some, %more : i1
    scf.condition(%both) %t, %h : index, tensor<32xf32>
  } do {
  ^bb0(%t: index, %h: tensor<32xf32>):
    %slice = tensor.extract_slice %x[%t, 0] [1, 16] [1, 1] : tensor<8x16xf32> to tensor<16xf32>
    %roots = linalg.generic #map ins(%slice : tensor<16xf32>) outs(%inputs : tensor<16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %root = math.sqrt %a : f32
      linalg.yield %root : f32
    } -> tensor<16xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<32xf32>) -> tensor<32xf32>
    %sums = linalg.generic #product ins(%roots, %w : tensor<16xf32>, tensor<32x16xf32>) outs(%zeros : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %o, %product : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    %doubled = linalg.generic #map ins(%sums : tensor<32xf32>) outs(%empty : tensor<32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %sum = arith.addf %a, %a : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    %next = linalg.generic #both ins(%doubled, %h : tensor<32xf32>, tensor<32xf32>) outs(%empty : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %sum = arith.addf %a, %b : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    %following = arith.addi %t, %c1 : index
    scf.yield %following, %next : index, tensor<32xf32>
  }
  return %end : tensor<32xf32>
}

// -----

// The slices of steps in reverse, and along the second dimension, are copied; the steps of the product are in order.
// CHECK-LABEL: func.func @reverse(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<16x8xf32>
// CHECK:         %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<16x8xf32>) outs(%{{.*}} : tensor<8x16xf32>)
// CHECK:         linalg.generic {{.*}} ["parallel", "parallel", "reduction"]} ins(%[[COPY]],
// CHECK:         scf.for
// A product of what is the same in each step is computed once.
// CHECK-LABEL: func.func @invariant(
// CHECK:         %[[SUMS:.*]] = linalg.generic {{.*}} ["parallel", "reduction"]
// CHECK:         scf.for
// CHECK-NEXT:      linalg.generic {{.*}} ins(%[[SUMS]], %
// The step itself is an operand.
// CHECK-LABEL: func.func @gather(
// CHECK:         %[[NUMBERS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8xi64>)
// CHECK:           linalg.index 0
// CHECK:         %[[ROWS:.*]] = linalg.generic {{.*}} ins(%[[NUMBERS]] : tensor<8xi64>) outs(%{{.*}} : tensor<8x16xf32>)
// CHECK:           linalg.index 1
// CHECK:           tensor.extract
// CHECK:         linalg.generic {{.*}} ["parallel", "parallel", "reduction"]} ins(%[[ROWS]],
// CHECK:         scf.for
// A loop in a loop: the product of the inner one does not depend on the outer one.
// CHECK-LABEL: func.func @nested(
// CHECK:         linalg.generic {{.*}} ["parallel", "parallel", "reduction"]
// CHECK:         scf.for
// CHECK-NEXT:      scf.for
// CHECK-NEXT:        tensor.extract_slice
#rows = affine_map<(n, c) -> (c)>
#columns = affine_map<(n, c) -> (n, c)>
#sums = affine_map<(n, c) -> (n)>
#own = affine_map<(n) -> (n)>
#product = {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "reduction"]}
#map = {indexing_maps = [affine_map<(n) -> ()>, #own], iterator_types = ["parallel"]}
#both = {indexing_maps = [#own, #own, #own], iterator_types = ["parallel"]}
func.func @reverse(%x: tensor<16x8xf32>, %w: tensor<32x16xf32>, %start: tensor<32xf32>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %zeros = arith.constant dense<0.0> : tensor<32xf32>
  %empty = tensor.empty() : tensor<32xf32>
  %end = scf.for %t = %c0 to %c8 step %c1 iter_args(%h = %start) -> tensor<32xf32> {
    %back = arith.subi %c7, %t : index
    %slice = tensor.extract_slice %x[0, %back] [16, 1] [1, 1] : tensor<16x8xf32> to tensor<16xf32>
    %sums = linalg.generic #product ins(%slice, %w : tensor<16xf32>, tensor<32x16xf32>) outs(%zeros : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %o, %product : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    %next = linalg.generic #both ins(%sums, %h : tensor<32xf32>, tensor<32xf32>) outs(%empty : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %sum = arith.addf %a, %b : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  return %end : tensor<32xf32>
}

func.func @invariant(%x: tensor<16xf32>, %w: tensor<32x16xf32>, %start: tensor<32xf32>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zeros = arith.constant dense<0.0> : tensor<32xf32>
  %empty = tensor.empty() : tensor<32xf32>
  %end = scf.for %t = %c0 to %c8 step %c1 iter_args(%h = %start) -> tensor<32xf32> {
    %sums = linalg.generic #product ins(%x, %w : tensor<16xf32>, tensor<32x16xf32>) outs(%zeros : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %o, %product : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    %next = linalg.generic #both ins(%sums, %h : tensor<32xf32>, tensor<32xf32>) outs(%empty : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %sum = arith.addf %a, %b : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  return %end : tensor<32xf32>
}

func.func @gather(%x: tensor<8x16xf32>, %w: tensor<32x16xf32>, %start: tensor<32xf32>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zeros = arith.constant dense<0.0> : tensor<32xf32>
  %inputs = tensor.empty() : tensor<16xf32>
  %empty = tensor.empty() : tensor<32xf32>
  %end = scf.for %t = %c0 to %c8 step %c1 iter_args(%h = %start) -> tensor<32xf32> {
    %number = arith.index_cast %t : index to i64
    %step = tensor.from_elements %number : tensor<i64>
    %row = linalg.generic #map ins(%step : tensor<i64>) outs(%inputs : tensor<16xf32>) {
    ^bb0(%a: i64, %o: f32):
      %i = arith.index_cast %a : i64 to index
      %c = linalg.index 0 : index
      %element = tensor.extract %x[%i, %c] : tensor<8x16xf32>
      linalg.yield %element : f32
    } -> tensor<16xf32>
    %sums = linalg.generic #product ins(%row, %w : tensor<16xf32>, tensor<32x16xf32>) outs(%zeros : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %o, %product : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    %next = linalg.generic #both ins(%sums, %h : tensor<32xf32>, tensor<32xf32>) outs(%empty : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %sum = arith.addf %a, %b : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  return %end : tensor<32xf32>
}

func.func @nested(%x: tensor<8x16xf32>, %w: tensor<32x16xf32>, %start: tensor<32xf32>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zeros = arith.constant dense<0.0> : tensor<32xf32>
  %empty = tensor.empty() : tensor<32xf32>
  %end = scf.for %k = %c0 to %c8 step %c1 iter_args(%g = %start) -> tensor<32xf32> {
    %inner = scf.for %t = %c0 to %c8 step %c1 iter_args(%h = %g) -> tensor<32xf32> {
      %slice = tensor.extract_slice %x[%t, 0] [1, 16] [1, 1] : tensor<8x16xf32> to tensor<16xf32>
      %sums = linalg.generic #product ins(%slice, %w : tensor<16xf32>, tensor<32x16xf32>) outs(%zeros : tensor<32xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %product = arith.mulf %a, %b : f32
        %sum = arith.addf %o, %product : f32
        linalg.yield %sum : f32
      } -> tensor<32xf32>
      %next = linalg.generic #both ins(%sums, %h : tensor<32xf32>, tensor<32xf32>) outs(%empty : tensor<32xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %sum = arith.addf %a, %b : f32
        linalg.yield %sum : f32
      } -> tensor<32xf32>
      scf.yield %next : tensor<32xf32>
    }
    scf.yield %inner : tensor<32xf32>
  }
  return %end : tensor<32xf32>
}
