// RUN: skript-opt %s | skript-opt | FileCheck %s
// RUN: skript-opt %s --mlir-print-op-generic | skript-opt | FileCheck %s
// The operations that the draft does not have.

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<4xf32>, %i: tensor<4xui8>, %p: tensor<i1>, %z: tensor<4xcomplex<f32>>, %c: tensor<4xi1>) {
  // CHECK: stablehlo.cbrt %{{.+}} : tensor<4xf32>
  %0 = stablehlo.cbrt %x : tensor<4xf32>
  // CHECK: stablehlo.exponential %{{.+}} : tensor<4xf32>
  %1 = stablehlo.exponential %x : tensor<4xf32>
  // CHECK: stablehlo.exponential_minus_one %{{.+}} : tensor<4xf32>
  %2 = stablehlo.exponential_minus_one %x : tensor<4xf32>
  // CHECK: stablehlo.log_plus_one %{{.+}} : tensor<4xf32>
  %3 = stablehlo.log_plus_one %x : tensor<4xf32>
  // CHECK: stablehlo.tan %{{.+}} : tensor<4xf32>
  %4 = stablehlo.tan %x : tensor<4xf32>
  // CHECK: stablehlo.sign %{{.+}} : tensor<4xf32>
  %5 = stablehlo.sign %x : tensor<4xf32>
  // CHECK: stablehlo.round_nearest_afz %{{.+}} : tensor<4xf32>
  %6 = stablehlo.round_nearest_afz %x : tensor<4xf32>
  // CHECK: stablehlo.round_nearest_even %{{.+}} : tensor<4xf32>
  %7 = stablehlo.round_nearest_even %x : tensor<4xf32>
  // CHECK: stablehlo.subtract %{{.+}}, %{{.+}} : tensor<4xf32>
  %8 = stablehlo.subtract %x, %x : tensor<4xf32>
  // CHECK: stablehlo.multiply %{{.+}}, %{{.+}} : tensor<4xf32>
  %9 = stablehlo.multiply %x, %x : tensor<4xf32>
  // CHECK: stablehlo.divide %{{.+}}, %{{.+}} : tensor<4xf32>
  %10 = stablehlo.divide %x, %x : tensor<4xf32>
  // CHECK: stablehlo.remainder %{{.+}}, %{{.+}} : tensor<4xf32>
  %11 = stablehlo.remainder %x, %x : tensor<4xf32>
  // CHECK: stablehlo.power %{{.+}}, %{{.+}} : tensor<4xf32>
  %12 = stablehlo.power %x, %x : tensor<4xf32>
  // CHECK: stablehlo.atan2 %{{.+}}, %{{.+}} : tensor<4xf32>
  %13 = stablehlo.atan2 %x, %x : tensor<4xf32>
  // CHECK: stablehlo.shift_left %{{.+}}, %{{.+}} : tensor<4xui8>
  %14 = stablehlo.shift_left %i, %i : tensor<4xui8>
  // CHECK: stablehlo.shift_right_arithmetic %{{.+}}, %{{.+}} : tensor<4xui8>
  %15 = stablehlo.shift_right_arithmetic %i, %i : tensor<4xui8>
  // CHECK: stablehlo.shift_right_logical %{{.+}}, %{{.+}} : tensor<4xui8>
  %16 = stablehlo.shift_right_logical %i, %i : tensor<4xui8>
  // CHECK: stablehlo.popcnt %{{.+}} : tensor<4xui8>
  %17 = stablehlo.popcnt %i : tensor<4xui8>
  // CHECK: stablehlo.count_leading_zeros %{{.+}} : tensor<4xui8>
  %18 = stablehlo.count_leading_zeros %i : tensor<4xui8>
  // CHECK: stablehlo.convert %{{.+}} : (tensor<4xf32>) -> tensor<4xui8>
  %19 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xui8>
  // CHECK: stablehlo.is_finite %{{.+}} : (tensor<4xf32>) -> tensor<4xi1>
  %20 = stablehlo.is_finite %x : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK: stablehlo.real %{{.+}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %21 = stablehlo.real %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK: stablehlo.imag %{{.+}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %22 = stablehlo.imag %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK: stablehlo.complex %{{.+}}, %{{.+}} : tensor<4xcomplex<f32>>
  %23 = stablehlo.complex %x, %x : tensor<4xcomplex<f32>>
  // CHECK: stablehlo.compare LT, %{{.+}}, %{{.+}}, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %24 = stablehlo.compare LT, %x, %x, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: stablehlo.compare EQ, %{{.+}}, %{{.+}} : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  %25 = stablehlo.compare EQ, %i, %i : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  // CHECK: stablehlo.select %{{.+}}, %{{.+}}, %{{.+}} : tensor<4xi1>, tensor<4xf32>
  %26 = stablehlo.select %c, %x, %x : tensor<4xi1>, tensor<4xf32>
  // CHECK: stablehlo.select %{{.+}}, %{{.+}}, %{{.+}} : tensor<i1>, tensor<4xf32>
  %27 = stablehlo.select %p, %x, %x : tensor<i1>, tensor<4xf32>
  // CHECK: stablehlo.clamp %{{.+}}, %{{.+}}, %{{.+}} : tensor<4xf32>
  %28 = stablehlo.clamp %x, %x, %x : tensor<4xf32>
  // CHECK: stablehlo.bitcast_convert %{{.+}} : (tensor<4xf32>) -> tensor<4xui32>
  %29 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xui32>
  // CHECK: stablehlo.bitcast_convert %{{.+}} : (tensor<4xui8>) -> tensor<f32>
  %30 = stablehlo.bitcast_convert %i : (tensor<4xui8>) -> tensor<f32>
  // CHECK: stablehlo.reduce_precision %{{.+}}, format = e5m10 : tensor<4xf32>
  %31 = stablehlo.reduce_precision %x, format = e5m10 : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @moving
func.func @moving(%x: tensor<4x8xf32>, %s: tensor<f32>, %i: tensor<i32>, %u: tensor<1x2xf32>, %g: tensor<3x1xi64>,
                  %im: tensor<1x3x8x8xf32>, %k: tensor<5x3x3x3xf32>) {
  // CHECK: stablehlo.iota dim = 1 : tensor<4x8xi64>
  %0 = stablehlo.iota dim = 1 : tensor<4x8xi64>
  // CHECK: stablehlo.broadcast_in_dim %{{.+}}, dims = [1, 2] : (tensor<4x8xf32>) -> tensor<2x4x8xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<4x8xf32>) -> tensor<2x4x8xf32>
  // CHECK: stablehlo.broadcast_in_dim %{{.+}}, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %2 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2xf32>
  // CHECK: stablehlo.reshape %{{.+}} : (tensor<4x8xf32>) -> tensor<32xf32>
  %3 = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32>
  // CHECK: stablehlo.transpose %{{.+}}, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %4 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // CHECK: stablehlo.reverse %{{.+}}, dims = [0] : tensor<4x8xf32>
  %5 = stablehlo.reverse %x, dims = [0] : tensor<4x8xf32>
  // CHECK: stablehlo.slice %{{.+}} [0:4, 1:8:2] : (tensor<4x8xf32>) -> tensor<4x4xf32>
  %6 = stablehlo.slice %x [0:4, 1:8:2] : (tensor<4x8xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.pad %{{.+}}, %{{.+}}, low = [0, -1], high = [1, 0], interior = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<5x14xf32>
  %7 = stablehlo.pad %x, %s, low = [0, -1], high = [1, 0], interior = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<5x14xf32>
  // CHECK: stablehlo.concatenate %{{.+}}, %{{.+}}, dim = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %8 = stablehlo.concatenate %x, %x, dim = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  // CHECK: stablehlo.dynamic_slice %{{.+}}, %{{.+}}, %{{.+}}, sizes = [1, 2] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  %9 = stablehlo.dynamic_slice %x, %i, %i, sizes = [1, 2] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  // CHECK: stablehlo.dynamic_update_slice %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} : (tensor<4x8xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  %10 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<4x8xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.gather"(%{{.+}}, %{{.+}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<3x1xi64>) -> tensor<3x8xf32>
  %11 = "stablehlo.gather"(%x, %g) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<3x1xi64>) -> tensor<3x8xf32>
  // CHECK: stablehlo.dot_general %{{.+}}, %{{.+}}, contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %12 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.dot_general %{{.+}}, %{{.+}}, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [HIGHEST, DEFAULT] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>
  %13 = stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [HIGHEST, DEFAULT] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.convolution(%{{.+}}, %{{.+}}) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 1], pad = {{\[\[}}0, 1], [1, 1{{\]\]}}, lhs_dilate = [1, 1], rhs_dilate = [1, 2], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<5x3x3x3xf32>) -> tensor<1x5x4x6xf32>
  %14 = stablehlo.convolution(%im, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 1], pad = [[0, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 2], reverse = [0, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<5x3x3x3xf32>) -> tensor<1x5x4x6xf32>
  // CHECK: stablehlo.convolution(%{{.+}}, %{{.+}}) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<5x3x3x3xf32>) -> tensor<1x5x6x6xf32>
  %15 = stablehlo.convolution(%im, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<5x3x3x3xf32>) -> tensor<1x5x6x6xf32>
  return
}

// CHECK-LABEL: func.func @combining
func.func @combining(%x: tensor<4x8xf32>, %s: tensor<f32>, %j: tensor<4x8xi64>, %n: tensor<i64>, %g: tensor<3x1xi64>,
                     %u: tensor<3x8xf32>, %u1: tensor<1x8xf32>, %state: tensor<2xui64>) {
  // CHECK: stablehlo.reduce(%{{.+}} init: %{{.+}}) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK:      stablehlo.reduce(%{{.+}} init: %{{.+}}), (%{{.+}} init: %{{.+}}) across dimensions = [0] :
  // CHECK-NEXT: reducer(%[[A:.+]]: tensor<f32>, %[[B:.+]]: tensor<f32>) (%[[C:.+]]: tensor<i64>, %[[D:.+]]: tensor<i64>) {
  // CHECK-NEXT:   %[[LESS:.+]] = stablehlo.compare LT, %[[A]], %[[B]]
  %1:2 = stablehlo.reduce(%x init: %s), (%j init: %n) across dimensions = [0] : (tensor<4x8xf32>, tensor<4x8xi64>, tensor<f32>, tensor<i64>) -> (tensor<8xf32>, tensor<8xi64>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i64>, %d: tensor<i64>) {
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v = stablehlo.select %p, %a, %b : tensor<i1>, tensor<f32>
    %w = stablehlo.select %p, %c, %d : tensor<i1>, tensor<i64>
    stablehlo.return %v, %w : tensor<f32>, tensor<i64>
  }
  // CHECK: "stablehlo.reduce_window"(%{{.+}}, %{{.+}}) <{padding = dense<{{\[\[}}0, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 3>}>
  %2 = "stablehlo.reduce_window"(%x, %s) <{padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.scatter"(%{{.+}}, %{{.+}}, %{{.+}}) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}>
  %3 = "stablehlo.scatter"(%x, %g, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.sort"(%{{.+}}) <{dimension = 1 : i64, is_stable = true}>
  %4 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.select_and_scatter"
  %5 = "stablehlo.select_and_scatter"(%x, %u1, %s) <{window_dimensions = array<i64: 4, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  // CHECK: stablehlo.rng_bit_generator %{{.+}}, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  %6:2 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return
}

// CHECK-LABEL: func.func @control
func.func @control(%n: tensor<i32>, %x: tensor<4xf32>, %p: tensor<i1>) {
  // CHECK:      %{{.+}}:2 = stablehlo.while(%[[I:.+]] = %{{.+}}, %[[X:.+]] = %{{.+}}) : tensor<i32>, tensor<4xf32>
  // CHECK-NEXT: cond {
  // CHECK-NEXT:   stablehlo.compare LT, %[[I]], %{{.+}}, SIGNED
  // CHECK:      } do {
  // CHECK-NEXT:   stablehlo.add %[[X]], %[[X]]
  %0:2 = stablehlo.while(%i = %n, %y = %x) : tensor<i32>, tensor<4xf32>
   cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %y, %y : tensor<4xf32>
    stablehlo.return %i, %1 : tensor<i32>, tensor<4xf32>
  }
  // CHECK: "stablehlo.if"(%{{.+}}) ({
  %2 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    %3 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %3 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  // CHECK: %{{.+}}:2 = stablehlo.optimization_barrier %{{.+}}, %{{.+}} : tensor<4xf32>, tensor<i1>
  %5:2 = stablehlo.optimization_barrier %x, %p : tensor<4xf32>, tensor<i1>
  // CHECK: stablehlo.optimization_barrier()
  stablehlo.optimization_barrier ()
  // CHECK: "stablehlo.case"(%{{.+}}) ({
  %4 = "stablehlo.case"(%n) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %2 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @calls
func.func @calls(%x: tensor<4x4xf32>) {
  // CHECK: stablehlo.custom_call @lapack_spotrf_ffi(%{{.+}}) {mhlo.backend_config = {uplo = 76 : ui8}, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0]>]} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {mhlo.backend_config = {uplo = 76 : ui8}, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
  // CHECK: stablehlo.composite "my.op" %{{.+}} {composite_attributes = {k = 4 : i64}, decomposition = @same, version = 1 : i32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.composite "my.op" %x {composite_attributes = {k = 4 : i64}, decomposition = @same, version = 1 : i32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.dot_general %{{.+}}, %{{.+}}, contracting_dims = [1] x [0], precision = [HIGH, HIGH], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> :
  %2 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], precision = [HIGH, HIGH], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
func.func private @same(tensor<4x4xf32>) -> tensor<4x4xf32>
