// RUN: skript-opt %s --split-input-file --skript-to-linalg-named | FileCheck %s

// Loops in another order, factors swapped, the output transposed: the factors change places.
// CHECK: #[[T:.+]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-LABEL: func.func @transposed
// CHECK-SAME:    %[[A:.+]]: tensor<4x16xf32>, %[[B:.+]]: tensor<16x8xf32>
// CHECK:         linalg.matmul indexing_maps = [#[[T]], {{.*}}] ins(%[[B]], %[[A]] : tensor<16x8xf32>, tensor<4x16xf32>)
// CHECK-NOT:     linalg.generic
func.func @transposed(%A: tensor<4x16xf32>, %B: tensor<16x8xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<8x4xf32>
  %c = skript.formula sum (%l, %j, %i) in (16, 8, 4) outs(%acc = %init : tensor<8x4xf32>) do {
    %a = skript.access %A[%i, %l] : tensor<4x16xf32>
    %b = skript.access %B[%l, %j] : tensor<16x8xf32>
    %v = skript.mul %b, %a : f32
    skript.yield %v at [%j, %i] : f32
  } : tensor<8x4xf32>
  return %c : tensor<8x4xf32>
}

// -----

// A guard that keeps a window inside is a border: of zeros for products.
// CHECK-LABEL: func.func @same
// CHECK-DAG:     %[[ZERO:.+]] = arith.constant 0.0
// CHECK:         %[[BORDER:.+]] = linalg.fill ins(%[[ZERO]] : f32) {{.*}} -> tensor<1x2x9xf32>
// CHECK:         %[[PADDED:.+]] = tensor.insert_slice %{{.*}} into %[[BORDER]][0, 0, 1] [1, 2, 8] [1, 1, 1]
// CHECK:         linalg.conv_1d_ncw_fcw {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>}
// CHECK-SAME:      ins(%[[PADDED]], %{{.*}} : tensor<1x2x9xf32>, tensor<3x2x3xf32>)
func.func @same(%x: tensor<1x2x8xf32>, %w: tensor<3x2x3xf32>) -> tensor<1x3x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<1x3x4xf32>
  %y = skript.formula sum (%n, %f, %i, %c, %j) in (1, 3, 4, 2, 3) outs(%acc = %init : tensor<1x3x4xf32>) where {
    %p = skript.mul %i, %c2 : index
    %q = skript.add %p, %j : index
    %r = skript.sub %q, %c1 : index
    %lo = skript.ge %r, %c0 : index
    %hi = skript.lt %r, %c8 : index
    %ok = skript.and %lo, %hi : i1
    skript.condition %ok
  } do {
    %p = skript.mul %i, %c2 : index
    %q = skript.add %p, %j : index
    %r = skript.sub %q, %c1 : index
    %a = skript.access %x[%n, %c, %r] : tensor<1x2x8xf32>
    %b = skript.access %w[%f, %c, %j] : tensor<3x2x3xf32>
    %v = skript.mul %a, %b : f32
    skript.yield %v at [%n, %f, %i] : f32
  } : tensor<1x3x4xf32>
  return %y : tensor<1x3x4xf32>
}

// -----

// Groups are a dimension of their own: reshapes, no copies.
// CHECK-LABEL: func.func @grouped
// CHECK-SAME:    %[[X:.+]]: tensor<1x6x5x5xf32>, %[[W:.+]]: tensor<4x3x2x2xf32>
// CHECK-DAG:     %[[GX:.+]] = tensor.expand_shape %[[X]] {{.*}} into tensor<1x2x3x5x5xf32>
// CHECK-DAG:     %[[GW:.+]] = tensor.expand_shape %[[W]] {{.*}} into tensor<2x2x3x2x2xf32>
// CHECK:         linalg.conv_2d_ngchw_gfchw {{.*}} ins(%[[GX]], %[[GW]] :
// CHECK:         tensor.collapse_shape %{{.*}} into tensor<1x4x4x4xf32>
func.func @grouped(%x: tensor<1x6x5x5xf32>, %w: tensor<4x3x2x2xf32>) -> tensor<1x4x4x4xf32> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<1x4x4x4xf32>
  %y = skript.formula sum (%n, %g, %f, %i, %j, %c, %u, %v) in (1, 2, 2, 4, 4, 3, 2, 2) outs(%acc = %init : tensor<1x4x4x4xf32>) do {
    %gf = skript.mul %g, %c2 : index
    %of = skript.add %gf, %f : index
    %gc = skript.mul %g, %c3 : index
    %ic = skript.add %gc, %c : index
    %p = skript.add %i, %u : index
    %q = skript.add %j, %v : index
    %a = skript.access %x[%n, %ic, %p, %q] : tensor<1x6x5x5xf32>
    %b = skript.access %w[%of, %c, %u, %v] : tensor<4x3x2x2xf32>
    %e = skript.mul %a, %b : f32
    skript.yield %e at [%n, %of, %i, %j] : f32
  } : tensor<1x4x4x4xf32>
  return %y : tensor<1x4x4x4xf32>
}

// -----

// Elements that accumulate get the identity around them.
// CHECK-LABEL: func.func @largest
// CHECK-DAG:     %[[LEAST:.+]] = arith.constant 0xFF800000 : f32
// CHECK:         linalg.fill ins(%[[LEAST]] : f32) {{.*}} -> tensor<1x10x2xf32>
// CHECK:         linalg.pooling_nwc_max
func.func @largest(%x: tensor<1x8x2xf32>) -> tensor<1x8x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %least = arith.constant 0xFF800000 : f32
  %init = tensor.splat %least : tensor<1x8x2xf32>
  %y = skript.formula max (%n, %i, %c, %j) in (1, 8, 2, 3) outs(%acc = %init : tensor<1x8x2xf32>) where {
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %c1 : index
    %lo = skript.ge %r, %c0 : index
    %hi = skript.lt %r, %c8 : index
    %ok = skript.and %lo, %hi : i1
    skript.condition %ok
  } do {
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %c1 : index
    %a = skript.access %x[%n, %r, %c] : tensor<1x8x2xf32>
    skript.yield %a at [%n, %i, %c] : f32
  } : tensor<1x8x2xf32>
  return %y : tensor<1x8x2xf32>
}

// -----

// A sum of a row, whose dimension stays.
// CHECK-LABEL: func.func @rows
// CHECK:         linalg.reduce {{.*}}ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<4xf32>) dimensions = [1]
// CHECK:         tensor.expand_shape
func.func @rows(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<4x1xf32>
  %y = skript.formula sum (%i, %j) in (4, 8) outs(%acc = %init : tensor<4x1xf32>) do {
    %a = skript.access %x[%i, %j] : tensor<4x8xf32>
    skript.yield %a at [%i, %c0] : f32
  } : tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}

// -----

// Groups that an index of output channels finds by division are a dimension of their own, behind a border too.
// CHECK-LABEL: func.func @divided
// CHECK-SAME:    %[[X:.+]]: tensor<1x4x8xf32>, %[[W:.+]]: tensor<6x2x3xf32>
// CHECK:         %[[PADDED:.+]] = tensor.insert_slice %[[X]] into %{{.+}}[0, 0, 1]
// CHECK-DAG:     tensor.expand_shape %[[PADDED]] {{.*}} into tensor<1x2x2x1x10xf32>
// CHECK-DAG:     tensor.expand_shape %[[W]] {{.*}} into tensor<2x3x2x1x3xf32>
// CHECK:         linalg.conv_2d_ngchw_gfchw
// CHECK:         tensor.collapse_shape %{{.*}} into tensor<1x6x8xf32>
func.func @divided(%x: tensor<1x4x8xf32>, %w: tensor<6x2x3xf32>) -> tensor<1x6x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<1x6x8xf32>
  %y = skript.formula sum (%b, %o, %i, %c, %u) in (1, 6, 8, 2, 3) outs(%acc = %init : tensor<1x6x8xf32>) where {
    %q = skript.add %i, %u : index
    %r = skript.sub %q, %c1 : index
    %lo = skript.ge %r, %c0 : index
    %hi = skript.lt %r, %c8 : index
    %ok = skript.and %lo, %hi : i1
    skript.condition %ok
  } do {
    %g = skript.div %o, %c3 : index
    %s = skript.mul %g, %c2 : index
    %ch = skript.add %s, %c : index
    %q = skript.add %i, %u : index
    %r = skript.sub %q, %c1 : index
    %a = skript.access %x[%b, %ch, %r] : tensor<1x4x8xf32>
    %k = skript.access %w[%o, %c, %u] : tensor<6x2x3xf32>
    %m = skript.mul %a, %k : f32
    skript.yield %m at [%b, %o, %i] : f32
  } : tensor<1x6x8xf32>
  return %y : tensor<1x6x8xf32>
}

// -----

// So are those of one channel each.
// CHECK-LABEL: func.func @multiplied
// CHECK:         linalg.conv_2d_ngchw_gfchw {{.*}} ins(%{{.+}}, %{{.+}} : tensor<1x4x1x8x8xf32>, tensor<4x2x1x3x3xf32>)
func.func @multiplied(%x: tensor<1x4x8x8xf32>, %w: tensor<8x3x3xf32>) -> tensor<1x8x6x6xf32> {
  %zero = arith.constant 0.0 : f32
  %c2 = arith.constant 2 : index
  %init = tensor.splat %zero : tensor<1x8x6x6xf32>
  %y = skript.formula sum (%b, %o, %i, %j, %u, %v) in (1, 8, 6, 6, 3, 3) outs(%acc = %init : tensor<1x8x6x6xf32>) do {
    %g = skript.div %o, %c2 : index
    %p = skript.add %i, %u : index
    %q = skript.add %j, %v : index
    %a = skript.access %x[%b, %g, %p, %q] : tensor<1x4x8x8xf32>
    %k = skript.access %w[%o, %u, %v] : tensor<8x3x3xf32>
    %m = skript.mul %a, %k : f32
    skript.yield %m at [%b, %o, %i, %j] : f32
  } : tensor<1x8x6x6xf32>
  return %y : tensor<1x8x6x6xf32>
}

// -----

// Seven channels are no multiple of groups of three: the place stays a quotient.
// CHECK: affine_map<(d0, d1, d2) -> (d0 floordiv 3, d1 + d2)>
// CHECK-LABEL: func.func @uneven
// CHECK:         linalg.generic
func.func @uneven(%x: tensor<3x9xf32>, %w: tensor<7x2xf32>) -> tensor<7x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c3 = arith.constant 3 : index
  %init = tensor.splat %zero : tensor<7x8xf32>
  %y = skript.formula sum (%o, %i, %u) in (7, 8, 2) outs(%acc = %init : tensor<7x8xf32>) do {
    %g = skript.div %o, %c3 : index
    %p = skript.add %i, %u : index
    %a = skript.access %x[%g, %p] : tensor<3x9xf32>
    %k = skript.access %w[%o, %u] : tensor<7x2xf32>
    %m = skript.mul %a, %k : f32
    skript.yield %m at [%o, %i] : f32
  } : tensor<7x8xf32>
  return %y : tensor<7x8xf32>
}

// -----

// The only place of a window of all elements is a sum of products, whatever is known of their number.
// CHECK-LABEL: func.func @dot
// CHECK-SAME:    (%[[X:.+]]: tensor<?xf32>, %[[W:.+]]: tensor<?xf32>)
// CHECK:         linalg.dot ins(%[[X]], %[[W]] : tensor<?xf32>, tensor<?xf32>) outs(%{{.+}} : tensor<f32>)
// CHECK-NOT:     linalg.conv
func.func @dot(%x: tensor<?xf32>, %w: tensor<?xf32>) -> tensor<1xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %w, %c0 : tensor<?xf32>
  %same = skript.eq %n, %m : index
  call @skript.check.0(%same) : (i1) -> ()
  %init = tensor.splat %zero : tensor<1xf32>
  %y = skript.formula sum (%i) in (%n) outs(%acc = %init : tensor<1xf32>) do {
    %a = skript.access %x[%i] : tensor<?xf32>
    %b = skript.access %w[%i] : tensor<?xf32>
    %p = skript.mul %a, %b : f32
    skript.yield %p at [%c0] : f32
  } : tensor<1xf32>
  return %y : tensor<1xf32>
}
func.func private @skript.check.0(i1)

// -----

// Pooling with a dynamic batch becomes a named operation: its window is static.
// CHECK-LABEL: func.func @batch
// CHECK-SAME:    (%[[X:.+]]: tensor<?x3x8x8xf32>)
// CHECK:         %[[WINDOW:.+]] = tensor.empty() : tensor<2x2xf32>
// CHECK:         linalg.pooling_nchw_max {{.*}} ins(%[[X]], %[[WINDOW]] : tensor<?x3x8x8xf32>, tensor<2x2xf32>)
func.func @batch(%x: tensor<?x3x8x8xf32>) -> tensor<?x3x4x4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %least = arith.constant 0xFF800000 : f32
  %n = tensor.dim %x, %c0 : tensor<?x3x8x8xf32>
  %init = tensor.splat %least[%n] : tensor<?x3x4x4xf32>
  %y = skript.formula max (%b, %c, %i, %j, %s, %t) in (%n, 3, 4, 4, 2, 2) outs(%acc = %init : tensor<?x3x4x4xf32>) do {
    %p = skript.mul %i, %c2 : index
    %q = skript.add %p, %s : index
    %r = skript.mul %j, %c2 : index
    %u = skript.add %r, %t : index
    %v = skript.access %x[%b, %c, %q, %u] : tensor<?x3x8x8xf32>
    skript.yield %v at [%b, %c, %i, %j] : f32
  } : tensor<?x3x4x4xf32>
  return %y : tensor<?x3x4x4xf32>
}
