// Quotients by a value that stays the same along the innermost loop, and functions, are computed by vectors: several at once, single ones, and
// a masked one for the rest. Where numerators are not in a range, they are divided.
// RUN: skript-opt %s --split-input-file --pass-pipeline='builtin.module(skript-vectorize-maps{vector-bits=512},canonicalize)' | FileCheck %s
// RUN: skript-opt %s --split-input-file --pass-pipeline='builtin.module(skript-vectorize-maps{vector-bits=256 vector-registers=16 functions=true},canonicalize)' | FileCheck %s --check-prefix=NARROW

// CHECK-LABEL: func.func @quotients
// CHECK:         scf.parallel
// CHECK:           %[[S:.+]] = memref.load %{{.+}}[%c0, %c0] : memref<1x1xf32>
// CHECK:           %[[R:.+]] = arith.divf %{{.+}}, %[[S]] : f32
// CHECK:           %[[V:.+]] = vector.broadcast %[[S]] : f32 to vector<16xf32>
// CHECK:           %[[RV:.+]] = vector.broadcast %[[R]] : f32 to vector<16xf32>
// CHECK:           scf.for %{{.+}} = %c0 to %c960 step %c64
// CHECK-COUNT-4:     vector.load {{.+}}, vector<16xf32>
// CHECK:             arith.maxui
// CHECK:             %[[OUT:.+]] = arith.cmpi uge, %{{.+}} : vector<16xi32>
// CHECK:             %[[ANY:.+]] = vector.reduction <or>, %[[OUT]] : vector<16xi1> into i1
// CHECK:             scf.if %[[ANY]]
// CHECK-COUNT-4:       arith.divf {{.+}}, %[[V]] : vector<16xf32>
// CHECK:             } else {
// CHECK:               %[[Q:.+]] = arith.mulf %[[X:.+]], %[[RV]] : vector<16xf32>
// CHECK:               %[[N:.+]] = arith.negf %[[Q]] : vector<16xf32>
// CHECK:               %[[E:.+]] = math.fma %[[N]], %[[V]], %[[X]] : vector<16xf32>
// CHECK:               math.fma %[[E]], %[[RV]], %[[Q]] : vector<16xf32>
// CHECK-COUNT-4:     vector.store
// CHECK:           scf.for %[[J:.+]] = %c960 to %c992 step %c16
// CHECK:             arith.divf {{.+}} : vector<16xf32>
// CHECK:           vector.maskedload
// CHECK:           arith.divf {{.+}} : vector<16xf32>
// CHECK:           vector.maskedstore
// NARROW-LABEL: func.func @quotients
// NARROW:         scf.for %{{.+}} = %c0 to %c992 step %c16
// NARROW-COUNT-2:   vector.load {{.+}}, vector<8xf32>
func.func @quotients(%x: memref<64x1000xf32>, %y: memref<64x1000xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %s = memref.alloca() : memref<1x1xf32>
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    %from = memref.subview %x[%i, 0] [1, 1000] [1, 1] : memref<64x1000xf32> to memref<1x1000xf32, strided<[1000, 1], offset: ?>>
    %to = memref.subview %y[%i, 0] [1, 1000] [1, 1] : memref<64x1000xf32> to memref<1x1000xf32, strided<[1000, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%from, %s : memref<1x1000xf32, strided<[1000, 1], offset: ?>>, memref<1x1xf32>) outs(%to : memref<1x1000xf32, strided<[1000, 1], offset: ?>>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %q = arith.divf %a, %b : f32
      linalg.yield %q : f32
    }
    scf.reduce
  }
  return
}

// -----

// Dynamic rows. What only depends on the divisor is computed once.
// CHECK-LABEL: func.func @normalized
// CHECK:         scf.parallel
// CHECK:           memref.dim
// CHECK:           math.sqrt %{{.+}} : f32
// CHECK:           arith.remui
// CHECK:           scf.for
// CHECK-NOT:         math.sqrt
// CHECK-COUNT-4:     arith.subf {{.+}} : vector<16xf32>
// CHECK:             scf.if
func.func @normalized(%x: memref<8x?xf32>, %mean: memref<f32>, %variance: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%mean, %variance : memref<f32>, memref<f32>) outs(%x : memref<8x?xf32>) {
    ^bb0(%m: f32, %v: f32, %a: f32):
      %r = math.sqrt %v : f32
      %d = arith.subf %a, %m : f32
      %q = arith.divf %d, %r : f32
      linalg.yield %q : f32
    }
    scf.reduce
  }
  return
}

// -----

// Functions alone, if the target has instructions for them.
// CHECK-LABEL: func.func @exponentials
// CHECK:         linalg.generic
// NARROW-LABEL: func.func @exponentials
// NARROW-NOT:     linalg.generic
// NARROW:         math.exp {{.+}} : vector<8xf32>
func.func @exponentials(%x: memref<128xf32>, %y: memref<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%c1) step (%c1) {
    linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]} ins(%x : memref<128xf32>) outs(%y : memref<128xf32>) {
    ^bb0(%a: f32, %out: f32):
      %e = math.exp %a : f32
      linalg.yield %e : f32
    }
    scf.reduce
  }
  return
}
