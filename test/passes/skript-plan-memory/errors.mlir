// RUN: not skript-opt %s --split-input-file --skript-plan-memory 2>&1 | FileCheck %s

// CHECK: buffer has a size known only at run time
func.func @dynamic(%n: index) attributes {skript.entry} {
  %a = memref.alloc(%n) : memref<?xf32>
  %c0 = arith.constant 0 : index
  %v = memref.load %a[%c0] : memref<?xf32>
  return
}

// -----

// CHECK: buffer returned by the entry
func.func @escapes() -> memref<4xf32> attributes {skript.entry} {
  %a = memref.alloc() : memref<4xf32>
  return %a : memref<4xf32>
}

// -----

// CHECK: buffer passed to the next iteration of a loop
func.func @carried(%x: memref<4xf32>, %y: memref<4xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %x) -> memref<4xf32> {
    %a = memref.alloc() : memref<4xf32>
    memref.copy %s, %a : memref<4xf32> to memref<4xf32>
    scf.yield %a : memref<4xf32>
  }
  memref.copy %r, %y : memref<4xf32> to memref<4xf32>
  return
}

// -----

// CHECK: the entry is called by a 'skript.invoke' of the module, and cannot get other arguments
func.func @entry(%x: memref<4xf32>) -> memref<4xf32> attributes {skript.entry} {
  %0 = skript.invoke @entry(%x) operator "mine.again" : (memref<4xf32>) -> memref<4xf32>
  return %0 : memref<4xf32>
}

// -----

// CHECK: a call needs 4398046511104 bytes for the tensors between its operators, at most 1099511627776 are supported: smaller upper bounds
func.func @large(%x: memref<f32>) attributes {skript.entry} {
  %a = memref.alloc() : memref<1048576x1048576xf32>
  %c0 = arith.constant 0 : index
  %v = memref.load %a[%c0, %c0] : memref<1048576x1048576xf32>
  memref.store %v, %x[] : memref<f32>
  return
}
