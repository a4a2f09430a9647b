// RUN: skript-opt %s --skript-scan-prefixes --canonicalize --cse --lower-affine --canonicalize | FileCheck %s

#end = affine_map<(i, j) -> (i)>
#term = affine_map<(i, j) -> (j)>
#order = affine_map<()[i, j] -> (i - j)>

// The sum of a block of 128 terms is carried by itself, and so is the sum of all blocks before it.
// CHECK-LABEL: func.func @sums
// CHECK-SAME:    %[[X:.+]]: tensor<300xf32>
// CHECK-DAG:     %[[NEUTRAL:.+]] = arith.constant -0.0
// CHECK-DAG:     %[[ZERO:.+]] = arith.constant 0.0
// CHECK:         %[[RESULT:.+]] = memref.alloc() {alignment = 64 : i64} : memref<300xf32>
// CHECK:         scf.for %{{.+}} = %c0 to %c300 step %c128 iter_args(%[[TOTAL:.+]] = %[[ZERO]])
// CHECK:           scf.for %[[I:.+]] = %{{.+}} to %{{.+}} step %c1 iter_args(%[[SUM:.+]] = %[[NEUTRAL]])
// CHECK:             %[[ELEMENT:.+]] = tensor.extract %[[X]][%[[I]]]
// CHECK:             %[[NEXT:.+]] = arith.addf %[[SUM]], %[[ELEMENT]]
// CHECK:             %[[PREFIX:.+]] = arith.addf %[[TOTAL]], %[[NEXT]]
// CHECK:             memref.store %[[PREFIX]], %[[RESULT]][%[[I]]]
// CHECK:             scf.yield %[[NEXT]]
// CHECK-NOT:     linalg.generic
func.func @sums(%x: tensor<300xf32>) -> tensor<300xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<300xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<300xf32>) -> tensor<300xf32>
  %0 = linalg.generic {indexing_maps = [#term, #end], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<300xf32>) outs(%start : tensor<300xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %distance = affine.apply #order()[%i, %j]
    %is_before = arith.cmpi sge, %distance, %c0 : index
    %selected = arith.select %is_before, %in, %zero : f32
    %sum = arith.addf %out, %selected fastmath<reassoc,contract> : f32
    linalg.yield %sum : f32
  } -> tensor<300xf32>
  return %0 : tensor<300xf32>
}

// Maxima of columns: rows side by side. A maximum does not round, so there is one accumulator, an array, in tiles of 256 columns.
// CHECK-LABEL: func.func @columns
// CHECK:         memref.alloc() {alignment = 64 : i64} : memref<100x600xf32>
// CHECK:         %[[TOTALS:.+]] = memref.alloc() {alignment = 64 : i64} : memref<600xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         scf.parallel (%{{.+}}) = (%c0) to (%c3)
// CHECK:           scf.for %{{.+}} = %c0 to %c100 step %c1
// CHECK:             scf.for
// CHECK:               memref.load %[[TOTALS]]
// CHECK:               arith.maximumf
func.func @columns(%x: tensor<100x600xf32>) -> tensor<100x600xf32> {
  %c0 = arith.constant 0 : index
  %least = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<100x600xf32>
  %start = linalg.fill ins(%least : f32) outs(%empty : tensor<100x600xf32>) -> tensor<100x600xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(i, k, j) -> (j, k)>, affine_map<(i, k, j) -> (i, k)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x : tensor<100x600xf32>) outs(%start : tensor<100x600xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 2 : index
    %distance = affine.apply #order()[%i, %j]
    %is_before = arith.cmpi sge, %distance, %c0 : index
    %selected = arith.select %is_before, %in, %least : f32
    %largest = arith.maximumf %out, %selected : f32
    linalg.yield %largest : f32
  } -> tensor<100x600xf32>
  return %0 : tensor<100x600xf32>
}

// A window as long as the tensor, in a border of zeros.
// CHECK-LABEL: func.func @windows
// CHECK-NOT:     linalg.generic
// CHECK:         scf.parallel (%{{.+}}) = (%c0) to (%c5) step (%c1)
// CHECK:           scf.for %{{.+}} = %c0 to %c64 step %c1 
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @windows(%x: tensor<5x64xf32>) -> tensor<5x64xf32> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<5x127xf32>
  %border = linalg.fill ins(%zero : f32) outs(%wide : tensor<5x127xf32>) -> tensor<5x127xf32>
  %inside = tensor.insert_slice %x into %border[0, 63] [5, 64] [1, 1] : tensor<5x64xf32> into tensor<5x127xf32>
  %empty = tensor.empty() : tensor<5x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x64xf32>) -> tensor<5x64xf32>
  %shape = tensor.empty() : tensor<1x64xi1>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(r, i, u, k) -> (r + u, i + k)>, affine_map<(r, i, u, k) -> (u, k)>, affine_map<(r, i, u, k) -> (r, i)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]
  } ins(%inside, %shape : tensor<5x127xf32>, tensor<1x64xi1>) outs(%start : tensor<5x64xf32>) {
  ^bb0(%in: f32, %unused: i1, %out: f32):
    %sum = arith.addf %out, %in : f32
    linalg.yield %sum : f32
  } -> tensor<5x64xf32>
  return %0 : tensor<5x64xf32>
}

// Maxima along short rows: a loop computes four rows, whose accumulators do not wait for each other.
#end3 = affine_map<(r, i, j) -> (r, i)>
#term3 = affine_map<(r, i, j) -> (r, j)>

// CHECK-LABEL: func.func @rows
// CHECK-SAME:    %[[X:.+]]: tensor<8x60xf32>
// CHECK:         scf.parallel (%[[GROUP:.+]]) = (%c0) to (%c2)
// CHECK:           %[[TOTALS:.+]]:4 = scf.for %{{.+}} = %c0 to %c60 step %c1 iter_args(%{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}, %{{.+}} = %{{.+}})
// CHECK-COUNT-4:     arith.maximumf
// CHECK:             scf.yield
// CHECK-NOT:     linalg.generic
func.func @rows(%x: tensor<8x60xf32>) -> tensor<8x60xf32> {
  %c0 = arith.constant 0 : index
  %lowest = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<8x60xf32>
  %start = linalg.fill ins(%lowest : f32) outs(%empty : tensor<8x60xf32>) -> tensor<8x60xf32>
  %0 = linalg.generic {indexing_maps = [#term3, #end3], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<8x60xf32>) outs(%start : tensor<8x60xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %distance = affine.apply #order()[%i, %j]
    %is_before = arith.cmpi sge, %distance, %c0 : index
    %selected = arith.select %is_before, %in, %lowest : f32
    %max = arith.maximumf %out, %selected : f32
    linalg.yield %max : f32
  } -> tensor<8x60xf32>
  return %0 : tensor<8x60xf32>
}

// Maxima along rows that fill vectors: log₂ steps within a vector, and one with the last total. The last four elements are scalars.
// CHECK-LABEL: func.func @vectors
// CHECK-SAME:    %[[X:.+]]: tensor<8x100xf32>
// CHECK-DAG:     %[[LOWEST:.+]] = arith.constant dense<0xFF800000> : vector<16xf32>
// CHECK:         %[[BUFFER:.+]] = bufferization.to_buffer %[[X]] read_only
// CHECK:         scf.parallel (%[[ROW:.+]]) = (%c0) to (%c8)
// CHECK:           %[[TOTAL:.+]] = scf.for %[[I:.+]] = %c0 to %c96 step %c16 iter_args(%[[BEFORE:.+]] = %{{.+}}) -> (f32)
// CHECK:             %[[TERMS:.+]] = vector.load %[[BUFFER]][%[[ROW]], %[[I]]] : {{.*}}, vector<16xf32>
// CHECK:             vector.shuffle %[[TERMS]], %[[LOWEST]] [16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]
// CHECK-COUNT-3:     vector.shuffle
// CHECK-NOT:         vector.shuffle
// CHECK:             vector.broadcast %[[BEFORE]]
// CHECK:             vector.store %[[ALL:.+]], %{{.+}}[%[[ROW]], %[[I]]]
// CHECK:             vector.extract %[[ALL]][15]
// CHECK:           scf.for %{{.+}} = %c96 to %c100 step %c1 iter_args(%{{.+}} = %[[TOTAL]])
// CHECK:             memref.store
// CHECK-NOT:     linalg.generic
func.func @vectors(%x: tensor<8x100xf32>) -> tensor<8x100xf32> {
  %c0 = arith.constant 0 : index
  %lowest = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<8x100xf32>
  %start = linalg.fill ins(%lowest : f32) outs(%empty : tensor<8x100xf32>) -> tensor<8x100xf32>
  %0 = linalg.generic {indexing_maps = [#term3, #end3], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<8x100xf32>) outs(%start : tensor<8x100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %distance = affine.apply #order()[%i, %j]
    %is_before = arith.cmpi sge, %distance, %c0 : index
    %selected = arith.select %is_before, %in, %lowest : f32
    %max = arith.maximumf %out, %selected : f32
    linalg.yield %max : f32
  } -> tensor<8x100xf32>
  return %0 : tensor<8x100xf32>
}

// Suffix sums of integers: vectors from the end of the row on, whose total is their first element.
// CHECK-LABEL: func.func @suffixes
// CHECK:         scf.for %[[STEP:.+]] = %c0 to %c64 step %c8 iter_args(%{{.+}} = %{{.+}}) -> (i64)
// CHECK:           vector.shuffle {{.*}} [1, 2, 3, 4, 5, 6, 7, 8]
// CHECK:           vector.shuffle {{.*}} [2, 3, 4, 5, 6, 7, 8, 8]
// CHECK:           vector.shuffle {{.*}} [4, 5, 6, 7, 8, 8, 8, 8]
// CHECK:           vector.extract %{{.+}}[0]
func.func @suffixes(%x: tensor<64xi64>) -> tensor<64xi64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %empty = tensor.empty() : tensor<64xi64>
  %start = linalg.fill ins(%zero : i64) outs(%empty : tensor<64xi64>) -> tensor<64xi64>
  %0 = linalg.generic {indexing_maps = [#term, #end], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64xi64>) outs(%start : tensor<64xi64>) {
  ^bb0(%in: i64, %out: i64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is_after = arith.cmpi sle, %i, %j : index
    %selected = arith.select %is_after, %in, %zero : i64
    %sum = arith.addi %out, %selected : i64
    linalg.yield %sum : i64
  } -> tensor<64xi64>
  return %0 : tensor<64xi64>
}

// Start values that differ are combined with the maxima at the end.
// CHECK-LABEL: func.func @starts
// CHECK-SAME:    %[[X:.+]]: tensor<100xf32>, %[[START:.+]]: tensor<100xf32>
// CHECK:         %[[LOWEST:.+]] = arith.constant 0xFF800000
// CHECK:         scf.for %[[I:.+]] = %c0 to %c100 step %c1 iter_args(%[[MAX:.+]] = %[[LOWEST]])
// CHECK:           %[[NEXT:.+]] = arith.maximumf %[[MAX]],
// CHECK:           %[[FIRST:.+]] = tensor.extract %[[START]][%[[I]]]
// CHECK:           %[[TOTAL:.+]] = arith.maximumf %[[FIRST]], %[[NEXT]]
// CHECK:           memref.store %[[TOTAL]]
// CHECK:           scf.yield %[[NEXT]]
func.func @starts(%x: tensor<100xf32>, %start: tensor<100xf32>) -> tensor<100xf32> {
  %c0 = arith.constant 0 : index
  %lowest = arith.constant 0xFF800000 : f32
  %0 = linalg.generic {indexing_maps = [#term, #end], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<100xf32>) outs(%start : tensor<100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %distance = affine.apply #order()[%i, %j]
    %is_before = arith.cmpi sge, %distance, %c0 : index
    %selected = arith.select %is_before, %in, %lowest : f32
    %max = arith.maximumf %out, %selected : f32
    linalg.yield %max : f32
  } -> tensor<100xf32>
  return %0 : tensor<100xf32>
}

// Element i reduces x[i], x[i - 1], … in descending order, as windows of a padded tensor; the padding is not read.
// CHECK-LABEL: func.func @descending
// CHECK-SAME:    %[[X:.+]]: tensor<64xf32>
// CHECK:         %[[BUFFER:.+]] = bufferization.to_buffer %[[X]] read_only
// CHECK:         scf.for %[[I:.+]] = %c0 to %c64 step %c16
// CHECK:           vector.load %[[BUFFER]][%{{.+}}]
// CHECK-NOT:     linalg.generic
func.func @descending(%x: tensor<64xf32>) -> tensor<64xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %wide = tensor.empty() : tensor<127xf32>
  %border = linalg.fill ins(%lowest : f32) outs(%wide : tensor<127xf32>) -> tensor<127xf32>
  %padded = tensor.insert_slice %x into %border[63] [64] [1] : tensor<64xf32> into tensor<127xf32>
  %empty = tensor.empty() : tensor<64xf32>
  %start = linalg.fill ins(%lowest : f32) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
  %window = tensor.empty() : tensor<64xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i - j + 63)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%padded, %window : tensor<127xf32>, tensor<64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%in: f32, %unused: f32, %out: f32):
    %max = arith.maximumf %out, %in : f32
    linalg.yield %max : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
