// RUN: skript-opt %s --split-input-file --skript-hoist-projections | FileCheck %s

// Products that remain in their loops: no reduction is hoisted.

// An operand depends on the loop-carried value.
// CHECK-LABEL: func.func @carried(
// CHECK-NOT:     "reduction"
// CHECK:         scf.
// CHECK:         "reduction"
#rows = affine_map<(n, c) -> (c)>
#columns = affine_map<(n, c) -> (n, c)>
#sums = affine_map<(n, c) -> (n)>
#own = affine_map<(n) -> (n)>
#product = {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "reduction"]}
#map = {indexing_maps = [#own, #own], iterator_types = ["parallel"]}
#both = {indexing_maps = [#own, #own, #own], iterator_types = ["parallel"]}
func.func @carried(%x: tensor<8x16xf32>, %w: tensor<32x16xf32>, %start: tensor<32xf32>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zeros = arith.constant dense<0.0> : tensor<32xf32>
  %end = scf.for %t = %c0 to %c8 step %c1 iter_args(%h = %start) -> tensor<32xf32> {
    %slice = tensor.extract_slice %h[0] [16] [1] : tensor<32xf32> to tensor<16xf32>
    %sums = linalg.generic #product ins(%slice, %w : tensor<16xf32>, tensor<32x16xf32>) outs(%zeros : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %o, %product : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    %next = linalg.generic #both ins(%sums, %h : tensor<32xf32>, tensor<32xf32>) outs(%zeros : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %sum = arith.addf %a, %b : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  return %end : tensor<32xf32>
}

// -----

// The sums begin with the loop-carried value.
// CHECK-LABEL: func.func @sums(
// CHECK-NOT:     "reduction"
// CHECK:         scf.
// CHECK:         "reduction"
#rows = affine_map<(n, c) -> (c)>
#columns = affine_map<(n, c) -> (n, c)>
#sums = affine_map<(n, c) -> (n)>
#own = affine_map<(n) -> (n)>
#product = {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "reduction"]}
#map = {indexing_maps = [#own, #own], iterator_types = ["parallel"]}
#both = {indexing_maps = [#own, #own, #own], iterator_types = ["parallel"]}
func.func @sums(%x: tensor<8x16xf32>, %w: tensor<32x16xf32>, %start: tensor<32xf32>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zeros = arith.constant dense<0.0> : tensor<32xf32>
  %end = scf.for %t = %c0 to %c8 step %c1 iter_args(%h = %start) -> tensor<32xf32> {
    %slice = tensor.extract_slice %x[%t, 0] [1, 16] [1, 1] : tensor<8x16xf32> to tensor<16xf32>
    %sums = linalg.generic #product ins(%slice, %w : tensor<16xf32>, tensor<32x16xf32>) outs(%h : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %o, %product : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    scf.yield %sums : tensor<32xf32>
  }
  return %end : tensor<32xf32>
}

// -----

// The loop may end before its limit.
// CHECK-LABEL: func.func @condition(
// CHECK-NOT:     "reduction"
// CHECK:         scf.
// CHECK:         "reduction"
#rows = affine_map<(n, c) -> (c)>
#columns = affine_map<(n, c) -> (n, c)>
#sums = affine_map<(n, c) -> (n)>
#own = affine_map<(n) -> (n)>
#product = {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "reduction"]}
#map = {indexing_maps = [#own, #own], iterator_types = ["parallel"]}
#both = {indexing_maps = [#own, #own, #own], iterator_types = ["parallel"]}
func.func @condition(%x: tensor<8x16xf32>, %w: tensor<32x16xf32>, %start: tensor<32xf32>, %limit: f32) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zeros = arith.constant dense<0.0> : tensor<32xf32>
  %last, %end = scf.while (%t = %c0, %h = %start) : (index, tensor<32xf32>) -> (index, tensor<32xf32>) {
    %some = arith.cmpi slt, %t, %c8 : index
    %first = tensor.extract %h[%c0] : tensor<32xf32>
    %small = arith.cmpf olt, %first, %limit : f32
    %both = arith.andi %some, %small : i1
    scf.condition(%both) %t, %h : index, tensor<32xf32>
  } do {
  ^bb0(%t: index, %h: tensor<32xf32>):
    %slice = tensor.extract_slice %x[%t, 0] [1, 16] [1, 1] : tensor<8x16xf32> to tensor<16xf32>
    %sums = linalg.generic #product ins(%slice, %w : tensor<16xf32>, tensor<32x16xf32>) outs(%zeros : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %o, %product : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    %next = linalg.generic #both ins(%sums, %h : tensor<32xf32>, tensor<32xf32>) outs(%zeros : tensor<32xf32>) {
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

// The product is computed in a branch.
// CHECK-LABEL: func.func @branch(
// CHECK-NOT:     "reduction"
// CHECK:         scf.
// CHECK:         "reduction"
#rows = affine_map<(n, c) -> (c)>
#columns = affine_map<(n, c) -> (n, c)>
#sums = affine_map<(n, c) -> (n)>
#own = affine_map<(n) -> (n)>
#product = {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "reduction"]}
#map = {indexing_maps = [#own, #own], iterator_types = ["parallel"]}
#both = {indexing_maps = [#own, #own, #own], iterator_types = ["parallel"]}
func.func @branch(%x: tensor<8x16xf32>, %w: tensor<32x16xf32>, %start: tensor<32xf32>, %flag: i1) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zeros = arith.constant dense<0.0> : tensor<32xf32>
  %end = scf.for %t = %c0 to %c8 step %c1 iter_args(%h = %start) -> tensor<32xf32> {
    %slice = tensor.extract_slice %x[%t, 0] [1, 16] [1, 1] : tensor<8x16xf32> to tensor<16xf32>
    %sums = scf.if %flag -> tensor<32xf32> {
      %own = linalg.generic #product ins(%slice, %w : tensor<16xf32>, tensor<32x16xf32>) outs(%zeros : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %o, %product : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
      scf.yield %own : tensor<32xf32>
    } else {
      scf.yield %zeros : tensor<32xf32>
    }
    %next = linalg.generic #both ins(%sums, %h : tensor<32xf32>, tensor<32xf32>) outs(%zeros : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %sum = arith.addf %a, %b : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  return %end : tensor<32xf32>
}

// -----

// A division of ints may fail, where no step is reached.
// CHECK-LABEL: func.func @division(
// CHECK-NOT:     "reduction"
// CHECK:         scf.
// CHECK:         "reduction"
#rows = affine_map<(n, c) -> (c)>
#columns = affine_map<(n, c) -> (n, c)>
#sums = affine_map<(n, c) -> (n)>
#own = affine_map<(n) -> (n)>
#product = {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "reduction"]}
#map = {indexing_maps = [#own, #own], iterator_types = ["parallel"]}
#both = {indexing_maps = [#own, #own, #own], iterator_types = ["parallel"]}
func.func @division(%x: tensor<8x16xf32>, %w: tensor<32x16xf32>, %start: tensor<32xf32>, %d: i64) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zeros = arith.constant dense<0.0> : tensor<32xf32>
  %inputs = tensor.empty() : tensor<16xf32>
  %end = scf.for %t = %c0 to %c8 step %c1 iter_args(%h = %start) -> tensor<32xf32> {
    %number = arith.index_cast %t : index to i64
    %step = tensor.from_elements %number : tensor<1xi64>
    %row = linalg.generic {indexing_maps = [affine_map<(n) -> (0)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]}
    ins(%step : tensor<1xi64>) outs(%inputs : tensor<16xf32>) {
    ^bb0(%a: i64, %o: f32):
      %quotient = arith.divsi %d, %a : i64
      %real = arith.sitofp %quotient : i64 to f32
      linalg.yield %real : f32
    } -> tensor<16xf32>
    %sums = linalg.generic #product ins(%row, %w : tensor<16xf32>, tensor<32x16xf32>) outs(%zeros : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %o, %product : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    %next = linalg.generic #both ins(%sums, %h : tensor<32xf32>, tensor<32xf32>) outs(%zeros : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %sum = arith.addf %a, %b : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  return %end : tensor<32xf32>
}

// -----

// A test may end the run before a step reads out of bounds.
// CHECK-LABEL: func.func @test(
// CHECK-NOT:     "reduction"
// CHECK:         scf.
// CHECK:         "reduction"
#rows = affine_map<(n, c) -> (c)>
#columns = affine_map<(n, c) -> (n, c)>
#sums = affine_map<(n, c) -> (n)>
#own = affine_map<(n) -> (n)>
#product = {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "reduction"]}
#map = {indexing_maps = [#own, #own], iterator_types = ["parallel"]}
#both = {indexing_maps = [#own, #own, #own], iterator_types = ["parallel"]}
func.func @test(%x: tensor<8x16xf32>, %w: tensor<32x16xf32>, %start: tensor<32xf32>, %offset: index) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zeros = arith.constant dense<0.0> : tensor<32xf32>
  %end = scf.for %t = %c0 to %c8 step %c1 iter_args(%h = %start) -> tensor<32xf32> {
    %number = arith.addi %t, %offset : index
    %inside = arith.cmpi slt, %number, %c8 : index
    cf.assert %inside, "out of bounds"
    %later = arith.addi %t, %c1 : index
    %slice = tensor.extract_slice %x[%later, 0] [1, 16] [1, 1] : tensor<8x16xf32> to tensor<16xf32>
    %sums = linalg.generic #product ins(%slice, %w : tensor<16xf32>, tensor<32x16xf32>) outs(%zeros : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %o, %product : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    %next = linalg.generic #both ins(%sums, %h : tensor<32xf32>, tensor<32xf32>) outs(%zeros : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %sum = arith.addf %a, %b : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  return %end : tensor<32xf32>
}

// -----

// The results take more than 16 times the memory of the operands.
// CHECK-LABEL: func.func @memory(
// CHECK-NOT:     "reduction"
// CHECK:         scf.
// CHECK:         "reduction"
#rows = affine_map<(n, c) -> (c)>
#columns = affine_map<(n, c) -> (n, c)>
#sums = affine_map<(n, c) -> (n)>
#own = affine_map<(n) -> (n)>
#product = {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "reduction"]}
#map = {indexing_maps = [#own, #own], iterator_types = ["parallel"]}
#both = {indexing_maps = [#own, #own, #own], iterator_types = ["parallel"]}
func.func @memory(%x: tensor<4096x1xf32>, %w: tensor<32x1xf32>, %start: tensor<32xf32>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 4096 : index
  %zeros = arith.constant dense<0.0> : tensor<32xf32>
  %end = scf.for %t = %c0 to %c8 step %c1 iter_args(%h = %start) -> tensor<32xf32> {
    %slice = tensor.extract_slice %x[%t, 0] [1, 1] [1, 1] : tensor<4096x1xf32> to tensor<1xf32>
    %sums = linalg.generic #product ins(%slice, %w : tensor<1xf32>, tensor<32x1xf32>) outs(%zeros : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %o, %product : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    %next = linalg.generic #both ins(%sums, %h : tensor<32xf32>, tensor<32xf32>) outs(%zeros : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %sum = arith.addf %a, %b : f32
      linalg.yield %sum : f32
    } -> tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  return %end : tensor<32xf32>
}

// -----

// Each step uses its weights for many points.
// CHECK-LABEL: func.func @reuse(
// CHECK-NOT:     "reduction"
// CHECK:         scf.for
// CHECK:         "reduction"
#rows = affine_map<(b, n, c) -> (b, c)>
#columns = affine_map<(b, n, c) -> (n, c)>
#sums = affine_map<(b, n, c) -> (b, n)>
func.func @reuse(%x: tensor<8x64x16xf32>, %w: tensor<32x16xf32>, %start: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zeros = arith.constant dense<0.0> : tensor<64x32xf32>
  %end = scf.for %t = %c0 to %c8 step %c1 iter_args(%h = %start) -> tensor<64x32xf32> {
    %slice = tensor.extract_slice %x[%t, 0, 0] [1, 64, 16] [1, 1, 1] : tensor<8x64x16xf32> to tensor<64x16xf32>
    %sums = linalg.generic {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%slice, %w : tensor<64x16xf32>, tensor<32x16xf32>) outs(%zeros : tensor<64x32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %o, %product : f32
      linalg.yield %sum : f32
    } -> tensor<64x32xf32>
    %next = arith.addf %sums, %h : tensor<64x32xf32>
    scf.yield %next : tensor<64x32xf32>
  }
  return %end : tensor<64x32xf32>
}
