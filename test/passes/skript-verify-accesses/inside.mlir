// RUN: skript-opt %s --split-input-file --skript-verify-accesses | FileCheck %s

// Rows of a dynamic number, in tiles of eight and what is left of them. The kernel gets the array by pointer.
// CHECK-LABEL: func.func @rows
func.func @rows(%bytes: memref<2048xi8>, %given: memref<1xi64>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %extent = memref.load %given[%c0] : memref<1xi64>
  %cast = arith.index_cast %extent : i64 to index
  %n = arith.minui %cast, %c32 : index
  %x = memref.view %bytes[%c0][%n] : memref<2048xi8> to memref<?x16xf32>
  %p = memref.reinterpret_cast %x to offset: [0], sizes: [1], strides: [1] : memref<?x16xf32> to memref<1xf32, strided<[1]>>
  call @kernel(%p, %n) : (memref<1xf32, strided<[1]>>, index) -> ()
  return
}

func.func private @kernel(%p: memref<1xf32, strided<[1]>>, %n: index) {
  %x = memref.reinterpret_cast %p to offset: [0], sizes: [1099511627776], strides: [1] : memref<1xf32, strided<[1]>> to memref<1099511627776xf32, strided<[1]>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c112 = arith.constant 112 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %tiles = arith.divui %n, %c8 : index
  %whole = arith.muli %tiles, %c8 : index
  scf.for %i = %c0 to %whole step %c8 {
    %first = arith.muli %i, %c16 : index
    %last = arith.addi %first, %c112 : index
    vector.store %zero, %x[%first] : memref<1099511627776xf32, strided<[1]>>, vector<16xf32>
    vector.store %zero, %x[%last] : memref<1099511627776xf32, strided<[1]>>, vector<16xf32>
  }
  scf.for %i = %whole to %n step %c1 {
    %first = arith.muli %i, %c16 : index
    vector.store %zero, %x[%first] : memref<1099511627776xf32, strided<[1]>>, vector<16xf32>
  }
  return
}

// -----

// The lanes of the last vector are masked.
// CHECK-LABEL: func.func @lanes
func.func @lanes(%bytes: memref<400xi8>, %m: index) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c100 = arith.constant 100 : index
  %n = arith.minui %m, %c100 : index
  %x = memref.view %bytes[%c0][%n] : memref<400xi8> to memref<?xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  scf.for %i = %c0 to %n step %c16 {
    %left = arith.subi %n, %i : index
    %mask = vector.create_mask %left : vector<16xi1>
    vector.maskedstore %x[%i], %mask, %zero : memref<?xf32>, vector<16xi1>, vector<16xf32>
  }
  return
}

// -----

// Elements that are indices are checked when the code runs.
// CHECK-LABEL: func.func @elements
func.func @elements(%x: memref<8xf32>, %at: memref<1xindex>) -> f32 attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %i = memref.load %at[%c0] : memref<1xindex>
  %v = memref.load %x[%i] : memref<8xf32>
  return %v : f32
}

// -----

// A guard bounds a multiple of the index: element 31 * (2 - i) + i.
// CHECK-LABEL: func.func @guarded
func.func @guarded(%x: memref<4x31xf32>, %y: memref<31xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c31 = arith.constant 31 : index
  scf.for %i = %c0 to %c31 step %c1 {
    %row = arith.subi %c2, %i : index
    %inside = arith.cmpi sge, %row, %c0 : index
    scf.if %inside {
      %v = memref.load %x[%row, %i] : memref<4x31xf32>
      memref.store %v, %y[%i] : memref<31xf32>
    }
  }
  return
}
