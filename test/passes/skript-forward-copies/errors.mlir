// No module is refused. These copies remain: of arrays that are read later, to arrays that were used before, to the new value of a variable, of
// functions of positions, and of values that depend on a variable.
// RUN: skript-opt %s --skript-forward-copies | FileCheck %s

#map = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @read_later
// CHECK:         memref.copy
func.func @read_later(%y: memref<8xf32> {llvm.noalias}, %z: memref<1xf32> {llvm.noalias}) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %start = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%start : memref<8xf32>)
  memref.copy %start, %y : memref<8xf32> to memref<8xf32>
  memref.store %zero, %y[%c0] : memref<8xf32>
  %first = memref.load %start[%c0] : memref<8xf32>
  memref.store %first, %z[%c0] : memref<1xf32>
  return
}

// CHECK-LABEL: func.func @used_before
// CHECK:         memref.copy
func.func @used_before(%y: memref<8xf32> {llvm.noalias}, %z: memref<1xf32> {llvm.noalias}) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<8xf32>)
  %start = memref.alloc() : memref<8xf32>
  linalg.fill ins(%one : f32) outs(%start : memref<8xf32>)
  %first = memref.load %y[%c0] : memref<8xf32>
  memref.store %first, %z[%c0] : memref<1xf32>
  memref.copy %start, %y : memref<8xf32> to memref<8xf32>
  return
}

// CHECK-LABEL: func.func @variable
// CHECK:         memref.copy
func.func @variable(%v: memref<8xf32> {skript.name = "v", skript.role = "variable"}) attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %start = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%start : memref<8xf32>)
  memref.copy %start, %v : memref<8xf32> to memref<8xf32>
  return
}

// CHECK-LABEL: func.func @prepared
// CHECK-COUNT-2: memref.copy
func.func @prepared(%v: memref<8xf32> {skript.name = "v", skript.role = "variable"}, %y: memref<8xf32> {llvm.noalias}, %z: memref<8xf32> {llvm.noalias}) attributes {skript.entry} {
  %start = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%start : memref<8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %x = arith.sitofp %n : i64 to f32
    %0 = math.sin %x : f32
    linalg.yield %0 : f32
  }
  memref.copy %start, %y : memref<8xf32> to memref<8xf32>
  %squares = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%v : memref<8xf32>) outs(%squares : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    linalg.yield %0 : f32
  }
  memref.copy %squares, %z : memref<8xf32> to memref<8xf32>
  return
}
