// RUN: not skript-opt %s --split-input-file --skript-point-arguments 2>&1 | FileCheck %s

// CHECK: argument 1 is not a contiguous array of rank 1: run `skript-open-arguments` first
func.func @shaped(%x: memref<8xi8>, %y: memref<2x4xi8>) attributes {skript.entry} {
  return
}

// -----

// CHECK: argument 0 is not a contiguous array of rank 1
func.func @strided(%x: memref<8xi8, strided<[2]>>) attributes {skript.entry} {
  return
}

// -----

// CHECK: argument 0 is not a contiguous array of rank 1
func.func @open(%x: memref<?xi8>) attributes {skript.entry} {
  return
}

// -----

// CHECK: the entry is called by a 'func.call' of the module, and cannot get other arguments
func.func @entry(%x: memref<4xf32>) -> memref<4xf32> attributes {skript.entry} {
  %0 = func.call @entry(%x) : (memref<4xf32>) -> memref<4xf32>
  return %0 : memref<4xf32>
}
