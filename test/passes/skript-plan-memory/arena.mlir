// RUN: skript-opt %s --split-input-file --skript-plan-memory | FileCheck %s

// Buffers with disjoint lifetimes share memory; others do not.
// CHECK-LABEL: func.func @chain
// CHECK-SAME:    %[[ARENA:[^:]+]]: memref<128xi8> {{{.*}}llvm.noalias{{.*}}}
// CHECK-NOT:     memref.alloc
// CHECK-DAG:     %[[LOW:.+]] = arith.constant 0 : index
// CHECK:         memref.view %[[ARENA]][%{{.+}}][] : memref<128xi8> to memref<16xf32>
// CHECK:         memref.view %[[ARENA]][%{{.+}}][] : memref<128xi8> to memref<16xf32>
// CHECK:         memref.view %[[ARENA]][%{{.+}}][] : memref<128xi8> to memref<16xf32>
func.func @chain(%x: memref<16xf32>, %y: memref<16xf32>) attributes {skript.entry} {
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  memref.copy %a, %b : memref<16xf32> to memref<16xf32>
  %c = memref.alloc() : memref<16xf32>
  memref.copy %b, %c : memref<16xf32> to memref<16xf32>
  memref.copy %c, %y : memref<16xf32> to memref<16xf32>
  return
}

// -----

// A buffer read in a loop lives until the loop ends, so what the loop allocates lies elsewhere.
// CHECK-LABEL: func.func @loop
// CHECK-SAME:    memref<128xi8>
func.func @loop(%x: memref<16xf32>, %y: memref<16xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    memref.copy %a, %y : memref<16xf32> to memref<16xf32>
    %b = memref.alloc() : memref<16xf32>
    memref.copy %y, %b : memref<16xf32> to memref<16xf32>
    memref.copy %b, %y : memref<16xf32> to memref<16xf32>
  }
  return
}

// -----

// A buffer with a dynamic extent has a slot for its upper bound, and the size of its extent.
// CHECK-LABEL: func.func @bounded
// CHECK-SAME:    %[[ARENA:[^:]+]]: memref<128xi8>
// CHECK:         %[[ROWS:.+]] = arith.minsi
// CHECK:         memref.view %[[ARENA]][%{{.+}}][%[[ROWS]]] {skript.bytes = {{[0-9]+}} : i64} : memref<128xi8> to memref<?x4xf32>
func.func @bounded(%n: index) attributes {skript.entry} {
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  %rows = arith.minsi %n, %c8 : index
  %a = memref.alloc(%rows) : memref<?x4xf32>
  %v = memref.load %a[%c0, %c0] : memref<?x4xf32>
  return
}

// -----

// A branch may hand on a part of another buffer: the bound is the larger of both.
// CHECK-LABEL: func.func @part
// CHECK-SAME:    memref<{{[0-9]+}}xi8>
// CHECK-NOT:     memref.alloc
func.func @part(%x: memref<8x8xf32>, %n: index, %c: i1) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %few = arith.minsi %n, %c4 : index
  %many = arith.minsi %n, %c8 : index
  %b = scf.if %c -> (memref<?xf32, strided<[?], offset: ?>>) {
    %row = memref.subview %x[%few, 0] [1, %many] [1, 1] : memref<8x8xf32> to memref<?xf32, strided<[1], offset: ?>>
    %cast = memref.cast %row : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[?], offset: ?>>
    scf.yield %cast : memref<?xf32, strided<[?], offset: ?>>
  } else {
    %a = memref.alloc(%few) : memref<?xf32>
    %cast = memref.cast %a : memref<?xf32> to memref<?xf32, strided<[?], offset: ?>>
    scf.yield %cast : memref<?xf32, strided<[?], offset: ?>>
  }
  %dim = memref.dim %b, %c0 : memref<?xf32, strided<[?], offset: ?>>
  %d = memref.alloc(%dim) : memref<?xf32>
  memref.copy %b, %d : memref<?xf32, strided<[?], offset: ?>> to memref<?xf32>
  %v = memref.load %d[%c0] : memref<?xf32>
  return
}

// -----

// A reshape keeps what is known of extents: the second buffer is as large as the first at most, three times four elements.
// CHECK-LABEL: func.func @reshaped
// CHECK-SAME:    %[[ARENA:[^:]+]]: memref<128xi8>
// CHECK:         memref.view %[[ARENA]][%{{.+}}][%{{.+}}] {skript.bytes = {{[0-9]+}} : i64} : memref<128xi8> to memref<?x4xf32>
// CHECK:         memref.view %[[ARENA]][%{{.+}}][%{{.+}}] {skript.bytes = {{[0-9]+}} : i64} : memref<128xi8> to memref<?xf32>
func.func @reshaped(%n: index) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %rows = arith.minsi %n, %c3 : index
  %a = memref.alloc(%rows) : memref<?x4xf32>
  %wide = memref.expand_shape %a [[0, 1], [2]] output_shape [%rows, 1, 4] : memref<?x4xf32> into memref<?x1x4xf32>
  %flat = memref.collapse_shape %wide [[0, 1, 2]] : memref<?x1x4xf32> into memref<?xf32>
  %dim = memref.dim %flat, %c0 : memref<?xf32>
  %b = memref.alloc(%dim) : memref<?xf32>
  memref.copy %flat, %b : memref<?xf32> to memref<?xf32>
  %v = memref.load %b[%c0] : memref<?xf32>
  return
}
