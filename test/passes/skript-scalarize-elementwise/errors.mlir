// RUN: skript-opt %s --split-input-file --verify-diagnostics --skript-scalarize-elementwise

func.func @scalable(%x: vector<[4]xf32>) -> vector<[4]xf32> {
  // expected-error @below {{is elementwise but its results are not all ranked tensors, or vectors of fixed length}}
  %0 = arith.addf %x, %x : vector<[4]xf32>
  return %0 : vector<[4]xf32>
}

// -----

func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @below {{is elementwise but its results are not all ranked tensors, or vectors of fixed length}}
  %0 = math.exp %x : tensor<*xf32>
  return %0 : tensor<*xf32>
}
