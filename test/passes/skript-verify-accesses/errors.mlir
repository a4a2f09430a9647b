// RUN: not skript-opt %s --split-input-file --skript-verify-accesses 2>&1 | FileCheck %s

// The lanes of the last vector are not masked.
// CHECK: internal compiler error: this access may be out of bounds of its memory
func.func @lanes(%bytes: memref<400xi8>, %m: index) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c100 = arith.constant 100 : index
  %n = arith.minui %m, %c100 : index
  %x = memref.view %bytes[%c0][%n] : memref<400xi8> to memref<?xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  scf.for %i = %c0 to %n step %c16 {
    vector.store %zero, %x[%i] : memref<?xf32>, vector<16xf32>
  }
  return
}

// -----

// A view is larger than its slot of the arena.
// CHECK: internal compiler error: this access may be out of bounds of its memory
func.func @slot(%arena: memref<4096xi8>, %m: index) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c100 = arith.constant 100 : index
  %n = arith.minui %m, %c100 : index
  %x = memref.view %arena[%c0][%n] {skript.bytes = 256 : i64} : memref<4096xi8> to memref<?xf32>
  return
}

// -----

// A view is larger than what it views.
// CHECK: internal compiler error: this access may be out of bounds of its memory
func.func @view(%arena: memref<256xi8>, %m: index) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c100 = arith.constant 100 : index
  %n = arith.minui %m, %c100 : index
  %x = memref.view %arena[%c0][%n] : memref<256xi8> to memref<?xf32>
  return
}

// -----

// A call passes more rows than the array has.
// CHECK: internal compiler error: this access may be out of bounds of its memory
func.func @rows(%x: memref<4x16xf32>) attributes {skript.entry} {
  %c5 = arith.constant 5 : index
  %p = memref.reinterpret_cast %x to offset: [0], sizes: [1], strides: [1] : memref<4x16xf32> to memref<1xf32, strided<[1]>>
  call @fill(%p, %c5) : (memref<1xf32, strided<[1]>>, index) -> ()
  return
}

func.func private @fill(%p: memref<1xf32, strided<[1]>>, %n: index) {
  %x = memref.reinterpret_cast %p to offset: [0], sizes: [1099511627776], strides: [1] : memref<1xf32, strided<[1]>> to memref<1099511627776xf32, strided<[1]>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %first = arith.muli %i, %c16 : index
    memref.store %zero, %x[%first] : memref<1099511627776xf32, strided<[1]>>
  }
  return
}

// -----

// A window reads beyond the last element.
// CHECK: internal compiler error: this access may be out of bounds of its memory
func.func @window(%bytes: memref<40xi8>, %m: index, %f: memref<3xf32>, %y: memref<8xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %n = arith.minui %m, %c10 : index
  %x = memref.view %bytes[%c0][%n] : memref<40xi8> to memref<?xf32>
  linalg.generic {
    indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x, %f : memref<?xf32>, memref<3xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %o, %a : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// A guard allows the row before the first one.
// CHECK: internal compiler error: this access may be out of bounds of its memory
func.func @guarded(%x: memref<4x31xf32>, %y: memref<31xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c31 = arith.constant 31 : index
  %before = arith.constant -1 : index
  scf.for %i = %c0 to %c31 step %c1 {
    %row = arith.subi %c2, %i : index
    %inside = arith.cmpi sge, %row, %before : index
    scf.if %inside {
      %v = memref.load %x[%row, %i] : memref<4x31xf32>
      memref.store %v, %y[%i] : memref<31xf32>
    }
  }
  return
}
