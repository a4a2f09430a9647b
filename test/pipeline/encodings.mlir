// RUN: skript-opt %s --skript-to-linalg | FileCheck %s
// RUN: skript-opt %s --skript-split-guards=interior=0 | FileCheck %s --check-prefix=PARTS
// RUN: skript-opt %s --skript-pad-extents | FileCheck %s --check-prefix=PADDED

// What a tensor's type says besides extents and elements stays: in parts and borders, in sums that are wide, and at bounds.
// A formula that gives such a tensor another shape is no linalg: nobody knows what the encoding says of the other shape.

// CHECK-LABEL: func.func @sum
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<4x5xbf16, "rows">) outs(%{{.*}} : tensor<4xf32, "rows">)
// CHECK:         return %{{.*}} : tensor<4xbf16, "rows">
func.func @sum(%x: tensor<4x5xbf16, "rows">, %init: tensor<4xbf16, "rows">) -> tensor<4xbf16, "rows"> {
  %y = skript.formula sum (%i, %j) in (4, 5) outs(%acc = %init : tensor<4xbf16, "rows">) do {
    %v = skript.access %x[%i, %j] : tensor<4x5xbf16, "rows">
    skript.yield %v at [%i] : bf16
  } : tensor<4xbf16, "rows">
  return %y : tensor<4xbf16, "rows">
}

// CHECK-LABEL: func.func @window
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<10xf32, "rows">, tensor<3xf32>) outs(%{{.*}} : tensor<8xf32, "rows">)
// PARTS-LABEL: func.func @window
// PARTS-COUNT-3: tensor.insert_slice %{{.*}} : tensor<{{.*}}xf32, "rows"> into tensor<8xf32, "rows">
func.func @window(%x: tensor<8xf32, "rows">, %w: tensor<3xf32>, %init: tensor<8xf32, "rows">) -> tensor<8xf32, "rows"> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %y = skript.formula sum (%i, %j) in (8, 3) outs(%acc = %init : tensor<8xf32, "rows">) where {
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %c1 : index
    %lo = skript.ge %r, %c0 : index
    %hi = skript.lt %r, %c8 : index
    %in = skript.and %lo, %hi : i1
    skript.condition %in
  } do {
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %c1 : index
    %a = skript.access %x[%r] : tensor<8xf32, "rows">
    %b = skript.access %w[%j] : tensor<3xf32>
    %v = skript.mul %a, %b : f32
    skript.yield %v at [%i] : f32
  } : tensor<8xf32, "rows">
  return %y : tensor<8xf32, "rows">
}

// A copy to a tensor of another encoding says so.
// CHECK-LABEL: func.func @convert
// CHECK:         tensor.cast %{{.*}} : tensor<4xf32, "rows"> to tensor<4xf32>
func.func @convert(%x: tensor<4xf32, "rows">, %init: tensor<4xf32>) -> tensor<4xf32> {
  %y = skript.formula assign (%i) in (4) outs(%acc = %init : tensor<4xf32>) do {
    %v = skript.access %x[%i] : tensor<4xf32, "rows">
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @flatten
// CHECK:         scf.parallel
// CHECK:         return %{{.*}} : tensor<6xf32, "rows">
func.func @flatten(%x: tensor<2x3xf32, "rows">, %init: tensor<6xf32, "rows">) -> tensor<6xf32, "rows"> {
  %c3 = arith.constant 3 : index
  %y = skript.formula assign (%i, %j) in (2, 3) outs(%acc = %init : tensor<6xf32, "rows">) do {
    %v = skript.access %x[%i, %j] : tensor<2x3xf32, "rows">
    %p = skript.mul %i, %c3 : index
    %q = skript.add %p, %j : index
    skript.yield %v at [%q] : f32
  } : tensor<6xf32, "rows">
  return %y : tensor<6xf32, "rows">
}

// PADDED-LABEL: func.func @open
// PADDED-SAME:    tensor<8xf32, "rows">
// PADDED:         skript.neg %{{.*}} : tensor<8xf32, "rows">
func.func @open(%x: tensor<?xf32, "rows"> {skript.bounds = array<i64: 8>}) -> tensor<?xf32, "rows"> attributes {skript.entry} {
  %y = skript.neg %x : tensor<?xf32, "rows">
  return %y : tensor<?xf32, "rows">
}
