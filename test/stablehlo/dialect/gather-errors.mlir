// RUN: skript-opt %s --split-input-file --verify-diagnostics
// Gathers: one violation of every constraint.

func.func @gather_c1(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c1: `offset_dims`, `collapsed_slice_dims` and `operand_batching_dims` must have as many entries as 'tensor<4x5xf32>' has dimensions, but have 1, 0 and 0}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c2(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c2: `index_vector_dim` is 9, but must be from 0 to the rank of 'tensor<3x1xi32>'}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 9>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c2_2(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c2: `index_vector_dim` is -1}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = -1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c3(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c3: `start_index_map` must have 1 entries, but has 2}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c4(%x: tensor<4x5x6xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c4: `offset_dims` is [2, 1], but must be sorted: 1 comes after 2}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5, 6>}> : (tensor<4x5x6xf32>, tensor<3x1xi32>) -> tensor<3x5x6xf32>
  return
}

// -----

func.func @gather_c4_2(%x: tensor<4x5x6xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c4: `offset_dims` is [1, 1], but must name distinct dimensions: 1 comes twice}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5, 6>}> : (tensor<4x5x6xf32>, tensor<3x1xi32>) -> tensor<3x5x6xf32>
  return
}

// -----

func.func @gather_c5(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c5: `offset_dims` is [7], but must name dimensions from 0 to below 2}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [7], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c5_2(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c5: `offset_dims` is [-7]}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [-7], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c6(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c6: `collapsed_slice_dims` is [0] and `operand_batching_dims` is [0], but must name distinct dimensions: 0 comes twice}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_c7(%x: tensor<4x5x6xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c7: `collapsed_slice_dims` is [1, 0], but must be sorted}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1, 0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 6>}> : (tensor<4x5x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c8(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c8: `collapsed_slice_dims` is [6], but must name dimensions from 0 to below 2}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [6], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c8_2(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c8: `collapsed_slice_dims` is [-1]}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [-1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c9(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c9: a slice must be 1 at most along `collapsed_slice_dims`, but is 2 along dimension 0}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c10(%x: tensor<3x3x6xf32>, %i: tensor<3x3x1xi32>) {
  // expected-error@+1 {{gather_c10: `operand_batching_dims` is [1, 0], but must be sorted}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [1, 0], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 6>}> : (tensor<3x3x6xf32>, tensor<3x3x1xi32>) -> tensor<3x3x6xf32>
  return
}

// -----

func.func @gather_c11(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c11: `operand_batching_dims` is [8], but must name dimensions from 0 to below 2}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [8], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c12(%x: tensor<3x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c12: a slice must be 1 at most along `operand_batching_dims`, but is 2 along dimension 0}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 5>}> : (tensor<3x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c13(%x: tensor<3x3x6xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c13: `start_indices_batching_dims` is [0, 0], but must name distinct dimensions}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 0], start_index_map = [2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 6>}> : (tensor<3x3x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c14(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c14: `start_indices_batching_dims` is [9], but must name dimensions from 0 to below 2}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [9], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c15(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c15: `start_indices_batching_dims` is [1], but must not hold `index_vector_dim`, which is 1}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c16(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c16: `operand_batching_dims` and `start_indices_batching_dims` must have as many entries, but have 1 and 0}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c17(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c17: batching extents differ: dimension 0 of 'tensor<4x5xf32>' and dimension 0 of 'tensor<3x1xi32>'}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c18(%x: tensor<4x5xf32>, %i: tensor<3x2xi32>) {
  // expected-error@+1 {{gather_c18: `start_index_map` is [0, 0], but must name distinct dimensions}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x2xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c18_2(%x: tensor<3x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c18: `start_index_map` is [0] and `operand_batching_dims` is [0], but must name distinct dimensions}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<3x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c19(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c19: `start_index_map` is [6], but must name dimensions from 0 to below 2}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [6], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c20(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c20: `slice_sizes` must have 2 entries, but has 1}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c21(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c21: a slice of 9 leaves dimension 1 of the operand, whose extent is 5}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 9>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x9xf32>
  return
}

// -----

func.func @gather_c21_2(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c21: a slice of -5 leaves dimension 1}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, -5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c22(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c22: the result is 'tensor<3x4xf32>', but its shape should be [3, 5]}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @gather_c23(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+1 {{gather_c23: element types differ}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf64>
  return
}
