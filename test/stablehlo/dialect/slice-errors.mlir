// RUN: skript-opt %s --split-input-file --verify-diagnostics
// Slices at places that are data: one violation of every constraint.

func.func @dynamic_slice_c1(%x: tensor<4xf32>, %i: tensor<i32>, %j: tensor<i64>, %v: tensor<1xi32>) {
  // expected-error@+1 {{dynamic_slice_c1: element types differ: 'tensor<4xf32>' and 'tensor<2xf64>'}}
  %r = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf64>
  return
}

// -----

func.func @dynamic_slice_c2(%x: tensor<4xf32>, %i: tensor<i32>, %j: tensor<i64>, %v: tensor<1xi32>) {
  // expected-error@+1 {{dynamic_slice_c2: `start_indices` must have 1 entries, but has 2}}
  %r = stablehlo.dynamic_slice %x, %i, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>, tensor<i32>) -> tensor<2xf32>
  return
}

// -----

func.func @dynamic_slice_c2_2(%x: tensor<4xf32>, %i: tensor<i32>, %j: tensor<i64>, %v: tensor<1xi32>) {
  // expected-error@+1 {{dynamic_slice_c2: `slice_sizes` must have 1 entries, but has 2}}
  %r = stablehlo.dynamic_slice %x, %i, sizes = [2, 2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
  return
}

// -----

func.func @dynamic_slice_c3(%x: tensor<4xf32>, %i: tensor<i32>, %j: tensor<i64>, %v: tensor<1xi32>) {
  // expected-error@+1 {{dynamic_slice_c3: a start index must be a tensor without dimensions, but is 'tensor<1xi32>'}}
  %r = stablehlo.dynamic_slice %x, %v, sizes = [2] : (tensor<4xf32>, tensor<1xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @dynamic_slice_c3_2(%x: tensor<4x4xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error@+1 {{dynamic_slice_c3: start indices must have one type, but there are 'tensor<i32>' and 'tensor<i64>'}}
  %r = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 2] : (tensor<4x4xf32>, tensor<i32>, tensor<i64>) -> tensor<2x2xf32>
  return
}

// -----

func.func @dynamic_slice_c4(%x: tensor<4xf32>, %i: tensor<i32>, %j: tensor<i64>, %v: tensor<1xi32>) {
  // expected-error@+1 {{dynamic_slice_c4: a slice of 9 leaves dimension 0 of the operand, whose extent is 4}}
  %r = stablehlo.dynamic_slice %x, %i, sizes = [9] : (tensor<4xf32>, tensor<i32>) -> tensor<9xf32>
  return
}

// -----

func.func @dynamic_slice_c4_2(%x: tensor<4xf32>, %i: tensor<i32>, %j: tensor<i64>, %v: tensor<1xi32>) {
  // expected-error@+1 {{dynamic_slice_c4: a slice of -1 leaves dimension 0}}
  %r = stablehlo.dynamic_slice %x, %i, sizes = [-1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
  return
}

// -----

func.func @dynamic_slice_c5(%x: tensor<4xf32>, %i: tensor<i32>, %j: tensor<i64>, %v: tensor<1xi32>) {
  // expected-error@+1 {{dynamic_slice_c5: the result is 'tensor<3xf32>', but its shape should be [2]}}
  %r = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<3xf32>
  return
}

// -----

func.func @dynamic_update_slice_c1(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<i32>, %v: tensor<1xi32>) {
  // expected-error@+1 {{dynamic_update_slice_c1: operand and result must have one type, but are 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %r = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
  return
}

// -----

func.func @dynamic_update_slice_c2(%x: tensor<4xf32>, %u: tensor<2xf64>, %i: tensor<i32>, %v: tensor<1xi32>) {
  // expected-error@+1 {{dynamic_update_slice_c2: element types differ}}
  %r = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<2xf64>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @dynamic_update_slice_c3(%x: tensor<4xf32>, %u: tensor<2x2xf32>, %i: tensor<i32>, %v: tensor<1xi32>) {
  // expected-error@+1 {{dynamic_update_slice_c3: the update must have the rank of 'tensor<4xf32>', but is 'tensor<2x2xf32>'}}
  %r = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<2x2xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @dynamic_update_slice_c4(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<i32>, %v: tensor<1xi32>) {
  // expected-error@+1 {{dynamic_update_slice_c4: `start_indices` must have 1 entries, but has 2}}
  %r = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @dynamic_update_slice_c5(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<i32>, %v: tensor<1xi32>) {
  // expected-error@+1 {{dynamic_update_slice_c5: a start index must be a tensor without dimensions}}
  %r = stablehlo.dynamic_update_slice %x, %u, %v : (tensor<4xf32>, tensor<2xf32>, tensor<1xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @dynamic_update_slice_c6(%x: tensor<4xf32>, %u: tensor<9xf32>, %i: tensor<i32>, %v: tensor<1xi32>) {
  // expected-error@+1 {{dynamic_update_slice_c6: the update 'tensor<9xf32>' leaves dimension 0 of 'tensor<4xf32>'}}
  %r = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<9xf32>, tensor<i32>) -> tensor<4xf32>
  return
}
