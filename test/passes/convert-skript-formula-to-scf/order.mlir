// RUN: skript-opt %s --split-input-file --convert-skript-formula-to-scf=parallel=true | FileCheck %s
// RUN: skript-opt %s --split-input-file --convert-skript-formula-to-scf="parallel=true lanes=true" | FileCheck %s --check-prefix=LANES
// RUN: skript-opt %s --split-input-file --convert-skript-formula-to-scf="parallel=true threads=true" | FileCheck %s --check-prefix=THREADS
// RUN: skript-opt %s --split-input-file --convert-skript-formula-to-scf="parallel=true threads=true iterations=100" | FileCheck %s --check-prefix=MEMORY

// Channels and batches carry nothing: channels are contiguous and become the innermost loop, batches run in parallel.
// CHECK-LABEL: func.func @average
// CHECK:         scf.parallel (%[[B:.+]]) = (%{{.+}}) to (%c4{{.*}})
// CHECK:           scf.for %[[T:.+]] = %{{.+}} to %c9
// CHECK:             scf.for %[[C:.+]] = %{{.+}} to %c8
// CHECK:               memref.load %{{.+}}[%[[B]], %[[T]], %[[C]]]
// For threads, both are outer loops, and consecutive threads have consecutive channels.
// THREADS-LABEL: func.func @average
// THREADS:         scf.parallel (%[[B:.+]]) = (%{{.+}}) to (%c4{{.*}})
// THREADS:           scf.parallel (%[[C:.+]]) = (%{{.+}}) to (%c8{{.*}})
// THREADS:             scf.for %[[T:.+]] = %{{.+}} to %c9
// THREADS:               memref.load %{{.+}}[%[[B]], %[[T]], %[[C]]]
func.func @average(%x: tensor<4x10x8xf32>) -> tensor<4x10x8xf32> {
  %y = skript.formula replace (%b, %c, %t) in (4, 8, 9) outs(%acc = %x : tensor<4x10x8xf32>) do {
    %one = arith.constant 1 : index
    %next = skript.add %t, %one : index
    %old = skript.access %acc[%b, %t, %c] : tensor<4x10x8xf32>
    %new = skript.access %x[%b, %next, %c] : tensor<4x10x8xf32>
    %sum = skript.add %old, %new : f32
    skript.yield %sum at [%b, %next, %c] : f32
  } : tensor<4x10x8xf32>
  return %y : tensor<4x10x8xf32>
}

// -----

// Only batches carry nothing, and they are the outer dimension: lanes on copies with batches last, 16 at a time.
// CHECK-LABEL: func.func @product
// CHECK:         scf.parallel (%{{.+}}) = (%{{.+}}) to (%c40{{.*}})
// CHECK:           scf.for
// CHECK-NOT:     linalg.generic
// LANES-LABEL: func.func @product
// LANES:         %[[MOVED:.+]] = linalg.generic
// LANES-SAME:      outs(%{{.+}} : tensor<200x40xf32>)
// LANES:         %[[OUT:.+]] = memref.alloc() : memref<201x40xf32>
// LANES:         scf.parallel (%[[BLOCK:.+]]) = (%{{.+}}) to (%c3{{.*}})
// LANES:           %[[FIRST:.+]] = skript.mul %[[BLOCK]], %{{.+}} : index
// LANES:           %[[REST:.+]] = skript.sub %{{.+}}, %[[FIRST]] : index
// LANES:           %[[COUNT:.+]] = skript.min %[[REST]], %{{.+}} : index
// LANES:           scf.for %[[T:.+]] = %{{.+}} to %c200
// LANES:             scf.for %[[LANE:.+]] = %{{.+}} to %[[COUNT]]
// LANES:               %[[B:.+]] = skript.add %[[FIRST]], %[[LANE]] : index
// LANES:               memref.load %[[OUT]][%[[T]], %[[B]]]
// LANES:         %[[VIEW:.+]] = memref.transpose %[[OUT]] (d0, d1) -> (d1, d0)
// LANES:         bufferization.to_tensor %[[VIEW]]
func.func @product(%x: tensor<40x200xf32>) -> tensor<40x201xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<40x201xf32>
  %y = skript.formula replace (%b, %t) in (40, 200) outs(%acc = %init : tensor<40x201xf32>) do {
    %one = arith.constant 1 : index
    %next = skript.add %t, %one : index
    %old = skript.access %acc[%b, %t] : tensor<40x201xf32>
    %new = skript.access %x[%b, %t] : tensor<40x200xf32>
    %power = skript.exp %old : f32
    %sum = skript.add %power, %new : f32
    skript.yield %sum at [%b, %next] : f32
  } : tensor<40x201xf32>
  return %y : tensor<40x201xf32>
}

// -----

// One addition for each element does not pay for copies: steps of eight chains alternate, and the chains that are left are computed
// one by one.
// LANES-LABEL: func.func @sums
// LANES-NOT:     linalg.generic
// LANES:         memref.store
// LANES:         scf.parallel (%[[BLOCK:.+]]) = (%{{.+}}) to (%c5{{.*}})
// LANES:           %[[FIRST:.+]] = skript.mul %[[BLOCK]], %{{.+}} : index
// LANES:           scf.for %{{.+}} = %{{.+}} to %c200
// LANES-NOT:         scf.for
// LANES-COUNT-8:     memref.store
// LANES-NOT:         memref.store
// LANES:         scf.parallel (%[[ONE:.+]]) = (%{{.+}}) to (%c3{{.*}})
// LANES:           scf.for %{{.+}} = %{{.+}} to %c200
// LANES:             memref.store
// LANES-NOT:         memref.store
func.func @sums(%x: tensor<43x200xf32>) -> tensor<43x201xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<43x201xf32>
  %y = skript.formula replace (%b, %t) in (43, 200) outs(%acc = %init : tensor<43x201xf32>) do {
    %one = arith.constant 1 : index
    %next = skript.add %t, %one : index
    %old = skript.access %acc[%b, %t] : tensor<43x201xf32>
    %new = skript.access %x[%b, %t] : tensor<43x200xf32>
    %sum = skript.add %old, %new : f32
    skript.yield %sum at [%b, %next] : f32
  } : tensor<43x201xf32>
  return %y : tensor<43x201xf32>
}

// -----

// Columns of which each carries its own sum: even blocks of at most 512 run in parallel, the rows in each of them in order.
// LANES-LABEL: func.func @columns
// LANES-NOT:     linalg.generic
// LANES:         scf.parallel (%[[BLOCK:.+]]) = (%{{.+}}) to (%c2{{.*}})
// LANES:           %[[FIRST:.+]] = skript.mul %[[BLOCK]], %{{.+}} : index
// LANES:           scf.for %[[T:.+]] = %{{.+}} to %c40
// LANES:             scf.for %[[LANE:.+]] = %{{.+}} to
// LANES:               %[[C:.+]] = skript.add %[[FIRST]], %[[LANE]] : index
// LANES:               memref.load %{{.+}}[%[[T]], %[[C]]]
// THREADS-LABEL: func.func @columns
// THREADS:         scf.parallel (%[[C:.+]]) = (%{{.+}}) to (%c600{{.*}})
// THREADS:           scf.for %[[T:.+]] = %{{.+}} to %c40
// THREADS:             memref.load %{{.+}}[%[[T]], %[[C]]]
func.func @columns(%x: tensor<40x600xf32>) -> tensor<41x600xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<41x600xf32>
  %y = skript.formula replace (%t, %c) in (40, 600) outs(%acc = %init : tensor<41x600xf32>) do {
    %one = arith.constant 1 : index
    %next = skript.add %t, %one : index
    %old = skript.access %acc[%t, %c] : tensor<41x600xf32>
    %new = skript.access %x[%t, %c] : tensor<40x600xf32>
    %sum = skript.add %old, %new : f32
    skript.yield %sum at [%next, %c] : f32
  } : tensor<41x600xf32>
  return %y : tensor<41x600xf32>
}

// -----

// Each element is written once, from one that was written before: the guard's other branch writes what the output held, so that it is not
// copied, and the sum of the last iteration is loop-carried for each of the chains.
// LANES-LABEL: func.func @guarded
// LANES-NOT:     memref.copy
// LANES:         scf.parallel (%{{.+}}) = (%{{.+}}) to (%c5{{.*}})
// LANES:           scf.for %[[T:.+]] = %{{.+}} to %c200{{.*}} iter_args(%[[LAST:[^ ]+]] = %{{[^,]+}}, %{{.+}}) -> (f32, f32, f32, f32, f32, f32, f32, f32)
// LANES:             %[[KEPT:.+]] = memref.load
// LANES:             %[[NEXT:.+]] = scf.if
// LANES-NOT:           memref.load %alloc
// LANES:               %[[SUM:.+]] = skript.add %[[LAST]], %{{.+}} : f32
// LANES:               scf.yield %[[SUM]]
// LANES:               scf.yield %[[KEPT]]
// LANES:             memref.store %[[NEXT]]
// LANES:             scf.yield %[[NEXT]],
// A thread for each chain carries its sum; where loops of so many iterations may be split, it is read from memory.
// THREADS-LABEL: func.func @guarded
// THREADS-NOT:     memref.copy
// THREADS:         scf.parallel (%{{.+}}) = (%{{.+}}) to (%c43{{.*}})
// THREADS:           scf.for %{{.+}} = %{{.+}} to %c200{{.*}} iter_args(%{{.+}} = %{{.+}}) -> (f32)
// MEMORY-LABEL: func.func @guarded
// MEMORY:         scf.parallel (%{{.+}}) = (%{{.+}}) to (%c43{{.*}})
// MEMORY:           scf.for %{{.+}} = %{{.+}} to %c200
// MEMORY-NOT:       iter_args
// MEMORY:             memref.load %[[OUT:alloc[^\[]*]]
// MEMORY:             memref.store %{{.+}}, %[[OUT]]
func.func @guarded(%x: tensor<43x200xf32>) -> tensor<43x200xf32> {
  %y = skript.formula replace (%b, %t) in (43, 200) outs(%acc = %x : tensor<43x200xf32>) where {
    %one = arith.constant 1 : index
    %last = skript.sub %t, %one : index
    %zero = arith.constant 0 : index
    %holds = skript.ge %last, %zero : index
    skript.condition %holds
  } do {
    %one = arith.constant 1 : index
    %last = skript.sub %t, %one : index
    %old = skript.access %acc[%b, %last] : tensor<43x200xf32>
    %new = skript.access %x[%b, %t] : tensor<43x200xf32>
    %sum = skript.add %old, %new : f32
    skript.yield %sum at [%b, %t] : f32
  } : tensor<43x200xf32>
  return %y : tensor<43x200xf32>
}

// -----

// An element that is read before it is written: the output is copied first.
// LANES-LABEL: func.func @ahead
// LANES:         memref.copy
// LANES-NOT:     iter_args
func.func @ahead(%x: tensor<43x200xf32>) -> tensor<43x200xf32> {
  %y = skript.formula replace (%b, %t) in (43, 200) outs(%acc = %x : tensor<43x200xf32>) where {
    %one = arith.constant 1 : index
    %next = skript.add %t, %one : index
    %end = arith.constant 200 : index
    %holds = skript.lt %next, %end : index
    skript.condition %holds
  } do {
    %one = arith.constant 1 : index
    %next = skript.add %t, %one : index
    %old = skript.access %acc[%b, %next] : tensor<43x200xf32>
    %new = skript.access %x[%b, %t] : tensor<43x200xf32>
    %sum = skript.add %old, %new : f32
    skript.yield %sum at [%b, %t] : f32
  } : tensor<43x200xf32>
  return %y : tensor<43x200xf32>
}

// -----

// Columns are independent within a row, but each reads the one before it in the last row: there are no blocks of columns.
// LANES-LABEL: func.func @diagonal
// LANES-NOT:     scf.parallel
// LANES:         scf.for %{{.+}} = %{{.+}} to %c40
// LANES:           scf.for %{{.+}} = %{{.+}} to %c600
// THREADS-LABEL: func.func @diagonal
// THREADS-NOT:     scf.parallel
// THREADS:         return
func.func @diagonal(%x: tensor<40x600xf32>) -> tensor<40x600xf32> {
  %y = skript.formula replace (%t, %c) in (40, 600) outs(%acc = %x : tensor<40x600xf32>) where {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : index
    %above = skript.sub %t, %one : index
    %left = skript.sub %c, %one : index
    %least = skript.min %above, %left : index
    %holds = skript.ge %least, %zero : index
    skript.condition %holds
  } do {
    %one = arith.constant 1 : index
    %above = skript.sub %t, %one : index
    %left = skript.sub %c, %one : index
    %old = skript.access %acc[%above, %left] : tensor<40x600xf32>
    %new = skript.access %x[%t, %c] : tensor<40x600xf32>
    %sum = skript.add %old, %new : f32
    skript.yield %sum at [%t, %c] : f32
  } : tensor<40x600xf32>
  return %y : tensor<40x600xf32>
}

// -----

// Rows are independent, and a row begins where its number is: for threads, a condition of each step, not the range of a loop.
// THREADS-LABEL: func.func @triangle
// THREADS:         scf.parallel (%[[B:.+]]) = (%{{.+}}) to (%c40{{.*}})
// THREADS:           scf.for
// THREADS:             memref.store
func.func @triangle(%x: tensor<40x50xf32>) -> tensor<40x51xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<40x51xf32>
  %y = skript.formula replace (%b, %t) in (40, 50) outs(%acc = %init : tensor<40x51xf32>) where {
    %holds = skript.le %b, %t : index
    skript.condition %holds
  } do {
    %one = arith.constant 1 : index
    %next = skript.add %t, %one : index
    %old = skript.access %acc[%b, %t] : tensor<40x51xf32>
    %new = skript.access %x[%b, %t] : tensor<40x50xf32>
    %sum = skript.add %old, %new : f32
    skript.yield %sum at [%b, %next] : f32
  } : tensor<40x51xf32>
  return %y : tensor<40x51xf32>
}
