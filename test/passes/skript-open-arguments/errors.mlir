// RUN: not skript-opt %s --split-input-file --skript-open-arguments 2>&1 | FileCheck %s

// CHECK: argument 0 has a dynamic extent without an upper bound
func.func @unbounded(%x: memref<?xf32>) attributes {skript.entry} {
  return
}

// -----

// CHECK: argument 0 has a dynamic extent, and no argument with `skript.extents` holds it
func.func @untold(%x: memref<?xf32> {skript.bounds = array<i64: 8>}) attributes {skript.entry} {
  return
}

// -----

// CHECK: none is marked `skript.entry`
func.func @one() { return }
func.func @other() { return }

// -----

// CHECK: the entry is called by a 'func.call' of the module, and cannot get other arguments
func.func @entry(%x: memref<4xf32>) -> memref<4xf32> attributes {skript.entry} {
  %0 = func.call @entry(%x) : (memref<4xf32>) -> memref<4xf32>
  return %0 : memref<4xf32>
}

// -----

// CHECK: argument 0 is not a contiguous array: its layout has strides
func.func @strided(%x: memref<2x5xf32, strided<[10, 1]>>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0, %c0] : memref<2x5xf32, strided<[10, 1]>>
  return
}
