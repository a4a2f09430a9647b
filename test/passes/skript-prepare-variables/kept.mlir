// RUN: skript-opt --split-input-file --skript-prepare-variables %s | FileCheck %s

// A variable that calls update.
// CHECK-LABEL: func.func @updated
// CHECK:         linalg.transpose
// CHECK-NOT:   prepare_0
func.func @updated(%w: memref<4x4xf32> {skript.role = "variable", skript.updated}, %y: memref<4xf32>) attributes {skript.entry} {
  %t = memref.alloc() : memref<4x4xf32>
  linalg.transpose ins(%w : memref<4x4xf32>) outs(%t : memref<4x4xf32>) permutation = [1, 0]
  linalg.vecmat ins(%y, %t : memref<4xf32>, memref<4x4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

// Something else writes the buffer as well.
// CHECK-LABEL: func.func @written
// CHECK:         linalg.transpose
// CHECK-NOT:   prepare_0
func.func @written(%x: memref<4x4xf32>, %w: memref<4x4xf32> {skript.role = "variable"}, %y: memref<4xf32>) attributes {skript.entry} {
  %t = memref.alloc() : memref<4x4xf32>
  linalg.transpose ins(%w : memref<4x4xf32>) outs(%t : memref<4x4xf32>) permutation = [1, 0]
  linalg.matmul ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%t : memref<4x4xf32>)
  linalg.vecmat ins(%y, %t : memref<4xf32>, memref<4x4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

// The buffer is read before it is written again.
// CHECK-LABEL: func.func @between
// CHECK:         linalg.transpose
// CHECK:         linalg.transpose
// CHECK-NOT:   prepare_0
func.func @between(%w: memref<4x4xf32> {skript.role = "variable"}, %v: memref<4x4xf32> {skript.role = "variable"}, %y: memref<4xf32>) attributes {skript.entry} {
  %t = memref.alloc() : memref<4x4xf32>
  linalg.transpose ins(%w : memref<4x4xf32>) outs(%t : memref<4x4xf32>) permutation = [1, 0]
  linalg.vecmat ins(%y, %t : memref<4xf32>, memref<4x4xf32>) outs(%y : memref<4xf32>)
  linalg.transpose ins(%v : memref<4x4xf32>) outs(%t : memref<4x4xf32>) permutation = [1, 0]
  linalg.vecmat ins(%y, %t : memref<4xf32>, memref<4x4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

// Much larger than the variable: to read it takes longer than to compute it.
// CHECK-LABEL: func.func @broadcast
// CHECK:         linalg.broadcast
// CHECK-NOT:   prepare_0
func.func @broadcast(%b: memref<4xf32> {skript.role = "variable"}, %y: memref<64x4xf32>) attributes {skript.entry} {
  %t = memref.alloc() : memref<64x4xf32>
  linalg.broadcast ins(%b : memref<4xf32>) outs(%t : memref<64x4xf32>) dimensions = [0]
  linalg.add ins(%t, %y : memref<64x4xf32>, memref<64x4xf32>) outs(%y : memref<64x4xf32>)
  return
}

// -----

// A view of the buffer that another operation makes may be written through.
// CHECK-LABEL: func.func @selected
// CHECK:         linalg.transpose
// CHECK-NOT:   prepare_0
func.func @selected(%w: memref<4x4xf32> {skript.role = "variable"}, %other: memref<4x4xf32>, %c: i1, %y: memref<4xf32>) attributes {skript.entry} {
  %t = memref.alloc() : memref<4x4xf32>
  linalg.transpose ins(%w : memref<4x4xf32>) outs(%t : memref<4x4xf32>) permutation = [1, 0]
  %s = arith.select %c, %t, %other : memref<4x4xf32>
  linalg.transpose ins(%other : memref<4x4xf32>) outs(%s : memref<4x4xf32>) permutation = [1, 0]
  linalg.vecmat ins(%y, %t : memref<4xf32>, memref<4x4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

// A loop inside of another one passes the buffer from step to step and writes it.
// CHECK-LABEL: func.func @carried
// CHECK:         linalg.transpose
// CHECK-NOT:   prepare_0
func.func @carried(%x: memref<4xf32>, %w: memref<4x4xf32> {skript.role = "variable"}, %y: memref<4xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %t = memref.alloc() : memref<4x4xf32>
  linalg.transpose ins(%w : memref<4x4xf32>) outs(%t : memref<4x4xf32>) permutation = [1, 0]
  scf.for %i = %c0 to %c4 step %c1 {
    %v = memref.load %x[%i] : memref<4xf32>
    %last = scf.for %j = %c0 to %c4 step %c1 iter_args(%b = %t) -> memref<4x4xf32> {
      memref.store %v, %b[%i, %j] : memref<4x4xf32>
      scf.yield %b : memref<4x4xf32>
    }
  }
  linalg.vecmat ins(%x, %t : memref<4xf32>, memref<4x4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

// The check of an index that a variable holds comes before the access.
// CHECK-LABEL: func.func @checked
// CHECK:         skript.check
// CHECK:         linalg.generic
// CHECK-NOT:   prepare_0
#id = affine_map<(i) -> (i)>
func.func @checked(%table: memref<8xf32> {skript.role = "variable"}, %index: memref<4xi64> {skript.role = "variable"}, %y: memref<4xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : i64
  %first = memref.load %index[%c0] : memref<4xi64>
  %inside = arith.cmpi ult, %first, %c8 : i64
  skript.check %inside, "SK9205", "outside"()
  %t = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%index : memref<4xi64>) outs(%t : memref<4xf32>) {
  ^bb0(%i: i64, %out: f32):
    %at = arith.index_cast %i : i64 to index
    %v = memref.load %table[%at] : memref<8xf32>
    linalg.yield %v : f32
  }
  linalg.add ins(%t, %y : memref<4xf32>, memref<4xf32>) outs(%y : memref<4xf32>)
  return
}
