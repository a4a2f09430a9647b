// RUN: skript-opt %s --split-input-file --verify-diagnostics

func.func @cholesky_c1(%a: tensor<3x3xf32>) {
  // expected-error@+1 {{'stablehlo.cholesky' op cholesky_c1: element types differ: 'tensor<3x3xf32>' and 'tensor<3x3xf64>'}}
  %0 = stablehlo.cholesky %a : (tensor<3x3xf32>) -> tensor<3x3xf64>
  return
}

// -----

func.func @cholesky_c1_shape(%a: tensor<3x3xf32>) {
  // expected-error@+1 {{cholesky_c1: the result is 'tensor<2x3x3xf32>', but its shape should be [3, 3]}}
  %0 = stablehlo.cholesky %a : (tensor<3x3xf32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @cholesky_c2(%a: tensor<3xf32>) {
  // expected-error@+1 {{cholesky_c2: matrices have two dimensions at least, but 'tensor<3xf32>' has 1}}
  %0 = stablehlo.cholesky %a : tensor<3xf32>
  return
}

// -----

func.func @cholesky_c3(%a: tensor<2x3x4xf32>) {
  // expected-error@+1 {{cholesky_c3: matrices must have as many rows as columns, but 'tensor<2x3x4xf32>' has 3 and 4}}
  %0 = stablehlo.cholesky %a, lower = true : tensor<2x3x4xf32>
  return
}

// -----

func.func @cholesky_i1(%a: tensor<3x3xi32>) {
  // expected-error@+1 {{'stablehlo.cholesky' op operand #0 must be ranked tensor of f16, bf16, f32 or f64 or complex of f32 or f64 values, but got 'tensor<3x3xi32>'}}
  %0 = stablehlo.cholesky %a, lower = true : tensor<3x3xi32>
  return
}

// -----

func.func @triangular_solve_c1(%a: tensor<3x3xf32>, %b: tensor<3x2xf64>) {
  // expected-error@+1 {{triangular_solve_c1: element types differ: 'tensor<3x3xf32>' and 'tensor<3x2xf64>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return
}

// -----

func.func @triangular_solve_c2(%a: tensor<3xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{triangular_solve_c2: matrices have two dimensions at least, but 'tensor<3xf32>' has 1}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @triangular_solve_c2_ranks(%a: tensor<3x3xf32>, %b: tensor<2x3x3xf32>) {
  // expected-error@+1 {{triangular_solve_c2: `a` and `b` must have as many dimensions, but are 'tensor<3x3xf32>' and 'tensor<2x3x3xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @triangular_solve_c3_square(%a: tensor<3x4xf32>, %b: tensor<3x3xf32>) {
  // expected-error@+1 {{triangular_solve_c3: matrices must have as many rows as columns, but 'tensor<3x4xf32>' has 3 and 4}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x4xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @triangular_solve_c3(%a: tensor<2x3x3xf32>, %b: tensor<2x3x4xf32>) {
  // expected-error@+1 {{triangular_solve_c3: `b` must have as many matrices as `a`, and as many columns as they, but they are 'tensor<2x3x4xf32>' and 'tensor<2x3x3xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @triangular_solve_c3_batch(%a: tensor<2x3x3xf32>, %b: tensor<1x3x4xf32>) {
  // expected-error@+1 {{triangular_solve_c3: `b` must have as many matrices as `a`, and as many rows}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  return
}

// -----

func.func @triangular_solve_c4(%a: tensor<3x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error@+1 {{triangular_solve_c4: the result is 'tensor<3x5xf32>', but its shape should be [3, 4]}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @triangular_solve_i3(%a: tensor<3x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error@+2 {{expected ::skript_stablehlo::Transpose to be one of: NO_TRANSPOSE, TRANSPOSE, ADJOINT}}
  // expected-error@+1 {{failed to parse}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE_INVALID>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}
