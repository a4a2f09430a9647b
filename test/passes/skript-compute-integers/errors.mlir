// RUN: skript-opt %s --skript-compute-integers --canonicalize --cse | FileCheck %s

// Nothing becomes a byte: integers without limits, limits of nine bits, a scale that varies along the reduction, and a sum that
// exceeds 32 bits.
#x = affine_map<(i, k) -> (k)>
#w = affine_map<(i, k) -> (i, k)>
#sum = affine_map<(i, k) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#vector = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @unlimited
// CHECK-NOT:     i8
func.func @unlimited(%x: tensor<7xi64> {skript.role = "input"}) -> tensor<7xf32> {
  %scale = arith.constant 0.5 : f32
  %empty = tensor.empty() : tensor<7xf32>
  %y = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%x : tensor<7xi64>) outs(%empty : tensor<7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %real = arith.sitofp %a : i64 to f32
    %scaled = arith.mulf %real, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// CHECK-LABEL: func.func @nine_bits
// CHECK-NOT:     i8
func.func @nine_bits(%x: tensor<7xi64> {skript.role = "input"}) -> tensor<7xf32> {
  %scale = arith.constant 0.5 : f32
  %least = arith.constant -1 : i64
  %most = arith.constant 255 : i64
  %empty = tensor.empty() : tensor<7xf32>
  %y = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%x : tensor<7xi64>) outs(%empty : tensor<7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %raised = arith.maxsi %a, %least : i64
    %level = arith.minsi %raised, %most : i64
    %real = arith.sitofp %level : i64 to f32
    %scaled = arith.mulf %real, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// The sum of products remains in reals.
// CHECK-LABEL: func.func @scale_along_reduction
// CHECK-NOT:     arith.muli
// CHECK:         arith.addf {{.+}} : f32
func.func @scale_along_reduction(
    %x: tensor<7xi8> {skript.role = "input"}, %w: tensor<4x7xi8> {skript.role = "variable"},
    %s: tensor<7xf32> {skript.role = "variable"}) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %xs = tensor.empty() : tensor<7xf32>
  %xq = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%x : tensor<7xi8>) outs(%xs : tensor<7xf32>) {
  ^bb0(%a: i8, %o: f32):
    %real = arith.sitofp %a : i8 to f32
    linalg.yield %real : f32
  } -> tensor<7xf32>
  %ws = tensor.empty() : tensor<4x7xf32>
  %wq = linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%w, %s : tensor<4x7xi8>, tensor<7xf32>) outs(%ws : tensor<4x7xf32>) {
  ^bb0(%a: i8, %f: f32, %o: f32):
    %real = arith.sitofp %a : i8 to f32
    %scaled = arith.mulf %real, %f : f32
    linalg.yield %scaled : f32
  } -> tensor<4x7xf32>
  %empty = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%xq, %wq : tensor<7xf32>, tensor<4x7xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %c, %product : f32
    linalg.yield %next : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// 150 000 products of two bytes: the sum may exceed 2³¹.
// CHECK-LABEL: func.func @long_sum
// CHECK-NOT:     arith.muli
// CHECK:         arith.addf {{.+}} : f32
func.func @long_sum(
    %x: tensor<150000xi8> {skript.role = "input"}, %w: tensor<4x150000xi8> {skript.role = "variable"}) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %xs = tensor.empty() : tensor<150000xf32>
  %xq = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%x : tensor<150000xi8>) outs(%xs : tensor<150000xf32>) {
  ^bb0(%a: i8, %o: f32):
    %real = arith.sitofp %a : i8 to f32
    linalg.yield %real : f32
  } -> tensor<150000xf32>
  %ws = tensor.empty() : tensor<4x150000xf32>
  %wq = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<4x150000xi8>) outs(%ws : tensor<4x150000xf32>) {
  ^bb0(%a: i8, %o: f32):
    %real = arith.sitofp %a : i8 to f32
    linalg.yield %real : f32
  } -> tensor<4x150000xf32>
  %empty = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%xq, %wq : tensor<150000xf32>, tensor<4x150000xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %c, %product : f32
    linalg.yield %next : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Payloads that resemble 8-bit quantizations, but whose integers are too far from zero, wrap around, or are converted in
// another way.

// 32 bits do not hold the limits.
// CHECK-LABEL: func.func @far(
// CHECK-NOT:     outs({{.+}} : tensor<7xi8>)
// CHECK:         return
func.func @far(%arg0: tensor<7xi64> {skript.role = "input"}) -> tensor<7xf32> {
  %empty = tensor.empty() : tensor<7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg0 : tensor<7xi64>) outs(%empty : tensor<7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 5000000000 : i64
    %high = arith.constant 5000000100 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    linalg.yield %real : f32
  } -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// Nor a zero point that is known only at run time.
// CHECK-LABEL: func.func @far_zero_point(
// CHECK-NOT:     outs({{.+}} : tensor<7xi8>)
// CHECK:         return
func.func @far_zero_point(%arg0: tensor<7xi64> {skript.role = "input"}, %arg1: tensor<i64> {skript.role = "input"}) -> tensor<7xi64> {
  %low = arith.constant 8589934592 : i64
  %high = arith.constant 8589934847 : i64
  %empty = tensor.empty() : tensor<7xi64>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg0, %arg1 : tensor<7xi64>, tensor<i64>) outs(%empty : tensor<7xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %raised = arith.maxsi %a, %low : i64
    %limited = arith.minsi %raised, %high : i64
    %z0 = arith.maxsi %b, %low : i64
    %z1 = arith.minsi %z0, %high : i64
    %difference = arith.subi %limited, %z1 : i64
    linalg.yield %difference : i64
  } -> tensor<7xi64>
  return %y : tensor<7xi64>
}

// The limits are those of the lowest 32 bits.
// CHECK-LABEL: func.func @truncated(
// CHECK:         linalg.generic {{.*}} outs({{.+}} : tensor<7xi8>)
// CHECK:           %[[NARROW:.+]] = arith.index_cast %{{.+}} : index to i32
// CHECK:           arith.extsi %[[NARROW]] : i32 to i64
func.func @truncated(%arg0: tensor<7xi64> {skript.role = "input"}) -> tensor<7xf32> {
  %empty = tensor.empty() : tensor<7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg0 : tensor<7xi64>) outs(%empty : tensor<7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i32
    %high = arith.constant 255 : i32
    %index = arith.index_cast %a : i64 to index
    %narrow = arith.index_cast %index : index to i32
    %raised = arith.maxsi %narrow, %low : i32
    %level = arith.minsi %raised, %high : i32
    %real = arith.sitofp %level : i32 to f32
    linalg.yield %real : f32
  } -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// The result consists of bytes already.
// CHECK-LABEL: func.func @bytes(
// CHECK-NOT:     arith.ext
// CHECK:         arith.index_cast {{.+}} : index to i8
// CHECK:         return
func.func @bytes(%arg0: tensor<7xi64> {skript.role = "input"}) -> tensor<7xi8> {
  %empty = tensor.empty() : tensor<7xi8>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg0 : tensor<7xi64>) outs(%empty : tensor<7xi8>) {
  ^bb0(%a: i64, %o: i8):
    %low = arith.constant 0 : index
    %high = arith.constant 100 : index
    %index = arith.index_cast %a : i64 to index
    %raised = arith.maxsi %index, %low : index
    %level = arith.minsi %raised, %high : index
    %y8 = arith.index_cast %level : index to i8
    linalg.yield %y8 : i8
  } -> tensor<7xi8>
  return %y : tensor<7xi8>
}

// Sums of such values would not fit f16.
// CHECK-LABEL: func.func @halves(
// CHECK-NOT:     outs({{.+}} : tensor<7xi8>)
// CHECK:         return
func.func @halves(%arg0: tensor<7xi64> {skript.role = "input"}) -> tensor<7xf16> {
  %empty = tensor.empty() : tensor<7xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg0 : tensor<7xi64>) outs(%empty : tensor<7xf16>) {
  ^bb0(%a: i64, %o: f16):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f16
    linalg.yield %real : f16
  } -> tensor<7xf16>
  return %y : tensor<7xf16>
}

// Selections around a conversion are part of it if they compare as the language converts.
// CHECK-LABEL: func.func @converted(
// CHECK:         linalg.generic {{.*}} outs({{.+}} : tensor<7xi8>)
// CHECK-NOT:       i64
// CHECK:           math.roundeven
func.func @converted(%arg0: tensor<7xf32> {skript.role = "input"}) -> tensor<7xf32> {
  %empty = tensor.empty() : tensor<7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg0 : tensor<7xf32>) outs(%empty : tensor<7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant -9.22337203E+18 : f32
    %highest = arith.constant 9.22337203E+18 : f32
    %least64 = arith.constant -9223372036854775808 : i64
    %most64 = arith.constant 9223372036854775807 : i64
    %least = arith.constant 0 : i64
    %most = arith.constant 255 : i64
    %rounded = math.roundeven %a : f32
    %inside0 = arith.cmpf ogt, %rounded, %lowest : f32
    %inside1 = arith.cmpf olt, %rounded, %highest : f32
    %inside = arith.andi %inside0, %inside1 : i1
    %guarded = arith.select %inside, %rounded, %zero : f32
    %integer = arith.fptosi %guarded : f32 to i64
    %is_low = arith.cmpf ole, %rounded, %lowest : f32
    %is_high = arith.cmpf oge, %rounded, %highest : f32
    %limited0 = arith.select %is_low, %least64, %integer : i64
    %limited1 = arith.select %is_high, %most64, %limited0 : i64
    %raised = arith.maxsi %limited1, %least : i64
    %level = arith.minsi %raised, %most : i64
    %real = arith.sitofp %level : i64 to f32
    linalg.yield %real : f32
  } -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// A limit replaces another real.
// CHECK-LABEL: func.func @other_real(
// CHECK:           arith.fptosi {{.+}} : f32 to i64
// CHECK:         return
func.func @other_real(%arg0: tensor<7xf32> {skript.role = "input"}) -> tensor<7xf32> {
  %empty = tensor.empty() : tensor<7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg0 : tensor<7xf32>) outs(%empty : tensor<7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant -9.22337203E+18 : f32
    %highest = arith.constant 9.22337203E+18 : f32
    %least64 = arith.constant -9223372036854775808 : i64
    %most64 = arith.constant 9223372036854775807 : i64
    %least = arith.constant 0 : i64
    %most = arith.constant 255 : i64
    %rounded = math.roundeven %a : f32
    %inside0 = arith.cmpf ogt, %rounded, %lowest : f32
    %inside1 = arith.cmpf olt, %rounded, %highest : f32
    %inside = arith.andi %inside0, %inside1 : i1
    %guarded = arith.select %inside, %rounded, %zero : f32
    %integer = arith.fptosi %guarded : f32 to i64
    %is_low = arith.cmpf ole, %a, %lowest : f32
    %is_high = arith.cmpf oge, %rounded, %highest : f32
    %limited0 = arith.select %is_low, %least64, %integer : i64
    %limited1 = arith.select %is_high, %most64, %limited0 : i64
    %raised = arith.maxsi %limited1, %least : i64
    %level = arith.minsi %raised, %most : i64
    %real = arith.sitofp %level : i64 to f32
    linalg.yield %real : f32
  } -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// The lower limit replaces large reals.
// CHECK-LABEL: func.func @other_limit(
// CHECK:           arith.fptosi {{.+}} : f32 to i64
// CHECK:         return
func.func @other_limit(%arg0: tensor<7xf32> {skript.role = "input"}) -> tensor<7xf32> {
  %empty = tensor.empty() : tensor<7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg0 : tensor<7xf32>) outs(%empty : tensor<7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant -9.22337203E+18 : f32
    %highest = arith.constant 9.22337203E+18 : f32
    %least64 = arith.constant -9223372036854775808 : i64
    %most64 = arith.constant 9223372036854775807 : i64
    %least = arith.constant 0 : i64
    %most = arith.constant 255 : i64
    %rounded = math.roundeven %a : f32
    %inside0 = arith.cmpf ogt, %rounded, %lowest : f32
    %inside1 = arith.cmpf olt, %rounded, %highest : f32
    %inside = arith.andi %inside0, %inside1 : i1
    %guarded = arith.select %inside, %rounded, %zero : f32
    %integer = arith.fptosi %guarded : f32 to i64
    %is_low = arith.cmpf oge, %rounded, %lowest : f32
    %is_high = arith.cmpf oge, %rounded, %highest : f32
    %limited0 = arith.select %is_low, %least64, %integer : i64
    %limited1 = arith.select %is_high, %most64, %limited0 : i64
    %raised = arith.maxsi %limited1, %least : i64
    %level = arith.minsi %raised, %most : i64
    %real = arith.sitofp %level : i64 to f32
    linalg.yield %real : f32
  } -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// Only the quotient that is rounded to an integer becomes a product.
// CHECK-LABEL: func.func @quotient(
// CHECK:         linalg.generic {{.*}} outs({{.+}} : tensor<7xi8>)
// CHECK:           arith.divf
// CHECK:           math.floor
// CHECK-NOT:       arith.divf
// CHECK:           math.roundeven
func.func @quotient(%arg0: tensor<7xf32> {skript.role = "input"}) -> tensor<7xf32> {
  %empty = tensor.empty() : tensor<7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg0 : tensor<7xf32>) outs(%empty : tensor<7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = arith.constant 41.0 : f32
    %step = arith.constant 0.5 : f32
    %hundred = arith.constant 100.0 : f32
    %part = arith.divf %a, %d : f32
    %whole = math.floor %part : f32
    %many = arith.mulf %whole, %hundred : f32
    %scaled = arith.divf %many, %step : f32
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant -9.22337203E+18 : f32
    %highest = arith.constant 9.22337203E+18 : f32
    %least64 = arith.constant -9223372036854775808 : i64
    %most64 = arith.constant 9223372036854775807 : i64
    %least = arith.constant 0 : i64
    %most = arith.constant 255 : i64
    %rounded = math.roundeven %scaled : f32
    %inside0 = arith.cmpf ogt, %rounded, %lowest : f32
    %inside1 = arith.cmpf olt, %rounded, %highest : f32
    %inside = arith.andi %inside0, %inside1 : i1
    %guarded = arith.select %inside, %rounded, %zero : f32
    %integer = arith.fptosi %guarded : f32 to i64
    %is_low = arith.cmpf ole, %rounded, %lowest : f32
    %is_high = arith.cmpf oge, %rounded, %highest : f32
    %limited0 = arith.select %is_low, %least64, %integer : i64
    %limited1 = arith.select %is_high, %most64, %limited0 : i64
    %raised = arith.maxsi %limited1, %least : i64
    %level = arith.minsi %raised, %most : i64
    %real = arith.sitofp %level : i64 to f32
    linalg.yield %real : f32
  } -> tensor<7xf32>
  return %y : tensor<7xf32>
}
