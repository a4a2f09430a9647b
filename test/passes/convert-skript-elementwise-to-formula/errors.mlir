// RUN: skript-opt %s --split-input-file --verify-diagnostics --convert-skript-elementwise-to-formula

func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{is elementwise but its results are not all ranked tensors}}
  %0 = math.exp %x : tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @wide(%x: tensor<4xi128>) -> tensor<4xi128> {
  // expected-error @+1 {{'arith.addi' op has no formula, as one of its tensors is tensor<4xi128>: elements of formulas are signless integers of at most 64 bits}}
  %0 = arith.addi %x, %x : tensor<4xi128>
  return %0 : tensor<4xi128>
}

// -----

func.func @narrow(%x: tensor<?xf32>) -> tensor<?xf8E5M2> {
  // expected-error @+1 {{'arith.truncf' op has no formula, as one of its tensors is tensor<?xf8E5M2>}}
  %0 = arith.truncf %x : tensor<?xf32> to tensor<?xf8E5M2>
  return %0 : tensor<?xf8E5M2>
}

// -----

func.func @complex(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @+1 {{'stablehlo.exponential' op has no formula, as one of its tensors is tensor<4xcomplex<f32>>}}
  %0 = stablehlo.exponential %x : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
