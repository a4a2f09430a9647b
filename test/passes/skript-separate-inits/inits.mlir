// RUN: skript-opt %s --skript-separate-inits | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @destinations
// CHECK:         %[[F:.+]] = linalg.fill
// CHECK-NEXT:    linalg.generic {{.*}} outs(%[[F]]
// CHECK:         %[[G:.+]] = linalg.fill
// CHECK-NEXT:    linalg.generic {{.*}} outs(%[[G]]
func.func @destinations(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %a, %o : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.subf %a, %o : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// Users that only read a filled tensor share it.
// CHECK-LABEL: func.func @readers
// CHECK-COUNT-1: linalg.fill
// CHECK-NOT:     linalg.fill
func.func @readers() -> (f32, f32) {
  %zero = arith.constant 0.0 : f32
  %i = arith.constant 0 : index
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %0 = tensor.extract %f[%i] : tensor<8xf32>
  %1 = tensor.extract %f[%i] : tensor<8xf32>
  return %0, %1 : f32, f32
}

// Sixteen users share an empty tensor, the next one gets another.
// CHECK-LABEL: func.func @empty
// CHECK:         %[[E:.+]] = tensor.empty
// CHECK-COUNT-16: linalg.copy {{.*}} outs(%[[E]]
// CHECK-NEXT:    %[[N:.+]] = tensor.empty
// CHECK-NEXT:    linalg.copy {{.*}} outs(%[[N]]
func.func @empty(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.copy ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.copy ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %2 = linalg.copy ins(%1 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %3 = linalg.copy ins(%2 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %4 = linalg.copy ins(%3 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %5 = linalg.copy ins(%4 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %6 = linalg.copy ins(%5 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %7 = linalg.copy ins(%6 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %8 = linalg.copy ins(%7 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %9 = linalg.copy ins(%8 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %10 = linalg.copy ins(%9 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %11 = linalg.copy ins(%10 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %12 = linalg.copy ins(%11 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %13 = linalg.copy ins(%12 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %14 = linalg.copy ins(%13 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %15 = linalg.copy ins(%14 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %16 = linalg.copy ins(%15 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %16 : tensor<8xf32>
}

// An argument that is never written: of many readers groups of 16 read a tensor of their own, which has its buffer; others stay.
// CHECK-LABEL: func.func @weights
// CHECK-SAME:    (%[[W:.+]]: tensor<2xf32> {bufferization.writable = false}, %[[X:.+]]: tensor<2xf32>)
// CHECK-COUNT-16: tensor.extract %[[W]][
// CHECK-NEXT:    %[[BUFFER:.+]] = bufferization.to_buffer %[[W]] read_only : tensor<2xf32> to memref<2xf32>
// CHECK-NEXT:    %[[OWN:.+]] = bufferization.to_tensor %[[BUFFER]] restrict : memref<2xf32> to tensor<2xf32>
// CHECK-NEXT:    tensor.extract %[[OWN]][
// CHECK-NEXT:    tensor.extract %[[OWN]][
// CHECK-COUNT-18: tensor.extract %[[X]][
func.func @weights(%w: tensor<2xf32> {bufferization.writable = false}, %x: tensor<2xf32>) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %w0 = tensor.extract %w[%c0] : tensor<2xf32>
  %w1 = tensor.extract %w[%c0] : tensor<2xf32>
  %w2 = tensor.extract %w[%c0] : tensor<2xf32>
  %w3 = tensor.extract %w[%c0] : tensor<2xf32>
  %w4 = tensor.extract %w[%c0] : tensor<2xf32>
  %w5 = tensor.extract %w[%c0] : tensor<2xf32>
  %w6 = tensor.extract %w[%c0] : tensor<2xf32>
  %w7 = tensor.extract %w[%c0] : tensor<2xf32>
  %w8 = tensor.extract %w[%c0] : tensor<2xf32>
  %w9 = tensor.extract %w[%c0] : tensor<2xf32>
  %w10 = tensor.extract %w[%c0] : tensor<2xf32>
  %w11 = tensor.extract %w[%c0] : tensor<2xf32>
  %w12 = tensor.extract %w[%c0] : tensor<2xf32>
  %w13 = tensor.extract %w[%c0] : tensor<2xf32>
  %w14 = tensor.extract %w[%c0] : tensor<2xf32>
  %w15 = tensor.extract %w[%c0] : tensor<2xf32>
  %w16 = tensor.extract %w[%c0] : tensor<2xf32>
  %w17 = tensor.extract %w[%c0] : tensor<2xf32>
  %x0 = tensor.extract %x[%c0] : tensor<2xf32>
  %x1 = tensor.extract %x[%c0] : tensor<2xf32>
  %x2 = tensor.extract %x[%c0] : tensor<2xf32>
  %x3 = tensor.extract %x[%c0] : tensor<2xf32>
  %x4 = tensor.extract %x[%c0] : tensor<2xf32>
  %x5 = tensor.extract %x[%c0] : tensor<2xf32>
  %x6 = tensor.extract %x[%c0] : tensor<2xf32>
  %x7 = tensor.extract %x[%c0] : tensor<2xf32>
  %x8 = tensor.extract %x[%c0] : tensor<2xf32>
  %x9 = tensor.extract %x[%c0] : tensor<2xf32>
  %x10 = tensor.extract %x[%c0] : tensor<2xf32>
  %x11 = tensor.extract %x[%c0] : tensor<2xf32>
  %x12 = tensor.extract %x[%c0] : tensor<2xf32>
  %x13 = tensor.extract %x[%c0] : tensor<2xf32>
  %x14 = tensor.extract %x[%c0] : tensor<2xf32>
  %x15 = tensor.extract %x[%c0] : tensor<2xf32>
  %x16 = tensor.extract %x[%c0] : tensor<2xf32>
  %x17 = tensor.extract %x[%c0] : tensor<2xf32>
  return %w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7, %w8, %w9, %w10, %w11, %w12, %w13, %w14, %w15, %w16, %w17, %x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9, %x10, %x11, %x12, %x13, %x14, %x15, %x16, %x17 : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
}

// Readers in a loop as well: their tensor is made in front of it.
// CHECK-LABEL: func.func @turns
// CHECK-SAME:    %[[W:[^ ]+]]: tensor<2xf32>
// CHECK:         %[[BUFFER:.+]] = bufferization.to_buffer %[[W]] read_only : tensor<2xf32> to memref<2xf32>
// CHECK-NEXT:    %[[OWN:.+]] = bufferization.to_tensor %[[BUFFER]] restrict : memref<2xf32> to tensor<2xf32>
// CHECK-NEXT:    scf.for
// CHECK-COUNT-16: = tensor.extract %[[W]][
// CHECK-COUNT-2:  tensor.extract %[[OWN]][
func.func @turns(%w: tensor<2xf32> {bufferization.writable = false}, %start: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %end = scf.for %i = %c0 to %c2 step %c1 iter_args(%sum = %start) -> f32 {
    %w0 = tensor.extract %w[%i] : tensor<2xf32>
    %s0 = arith.addf %sum, %w0 : f32
    %w1 = tensor.extract %w[%i] : tensor<2xf32>
    %s1 = arith.addf %s0, %w1 : f32
    %w2 = tensor.extract %w[%i] : tensor<2xf32>
    %s2 = arith.addf %s1, %w2 : f32
    %w3 = tensor.extract %w[%i] : tensor<2xf32>
    %s3 = arith.addf %s2, %w3 : f32
    %w4 = tensor.extract %w[%i] : tensor<2xf32>
    %s4 = arith.addf %s3, %w4 : f32
    %w5 = tensor.extract %w[%i] : tensor<2xf32>
    %s5 = arith.addf %s4, %w5 : f32
    %w6 = tensor.extract %w[%i] : tensor<2xf32>
    %s6 = arith.addf %s5, %w6 : f32
    %w7 = tensor.extract %w[%i] : tensor<2xf32>
    %s7 = arith.addf %s6, %w7 : f32
    %w8 = tensor.extract %w[%i] : tensor<2xf32>
    %s8 = arith.addf %s7, %w8 : f32
    %w9 = tensor.extract %w[%i] : tensor<2xf32>
    %s9 = arith.addf %s8, %w9 : f32
    %w10 = tensor.extract %w[%i] : tensor<2xf32>
    %s10 = arith.addf %s9, %w10 : f32
    %w11 = tensor.extract %w[%i] : tensor<2xf32>
    %s11 = arith.addf %s10, %w11 : f32
    %w12 = tensor.extract %w[%i] : tensor<2xf32>
    %s12 = arith.addf %s11, %w12 : f32
    %w13 = tensor.extract %w[%i] : tensor<2xf32>
    %s13 = arith.addf %s12, %w13 : f32
    %w14 = tensor.extract %w[%i] : tensor<2xf32>
    %s14 = arith.addf %s13, %w14 : f32
    %w15 = tensor.extract %w[%i] : tensor<2xf32>
    %s15 = arith.addf %s14, %w15 : f32
    %w16 = tensor.extract %w[%i] : tensor<2xf32>
    %s16 = arith.addf %s15, %w16 : f32
    %w17 = tensor.extract %w[%i] : tensor<2xf32>
    %s17 = arith.addf %s16, %w17 : f32
    scf.yield %s17 : f32
  }
  return %end : f32
}

// A tensor that a branch writes is filled in the branch.
// CHECK-LABEL: func.func @nested
// CHECK:         %[[OUTER:.+]] = linalg.fill
// CHECK:         linalg.generic {{.*}} outs(%[[OUTER]] : tensor<8xf32>)
// CHECK:         scf.if
// CHECK:           %[[EMPTY:.+]] = tensor.empty() : tensor<8xf32>
// CHECK:           %[[INNER:.+]] = linalg.fill ins(%{{.+}} : f32) outs(%[[EMPTY]] : tensor<8xf32>)
// CHECK:           linalg.generic {{.*}} outs(%[[INNER]] : tensor<8xf32>)
func.func @nested(%x: tensor<8xf32>, %c: i1) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%fill : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %1 = scf.if %c -> (tensor<8xf32>) {
    %2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%0 : tensor<8xf32>) outs(%fill : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.subf %b, %a : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    scf.yield %2 : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// A generic operation that reads nothing is a fill.
// CHECK-LABEL: func.func @generic
// CHECK-NOT:     linalg.fill
// CHECK:         %[[F:.+]] = linalg.generic {{.*}} outs(%{{[^ ]+}} : tensor<8xf32>) {
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} outs(%[[F]] : tensor<8xf32>) {
// CHECK:         %[[G:.+]] = linalg.generic {indexing_maps = [#{{[^,]+}}], {{.*}} outs(%{{[^ ]+}} : tensor<8xf32>) {
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} outs(%[[G]] : tensor<8xf32>) {
func.func @generic(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%o: f32):
    linalg.yield %two : f32
  } -> tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %a, %o : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.subf %a, %o : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// This also applies to loops, and to writes of a part of the filled tensor.
// CHECK-LABEL: func.func @parts
// CHECK:         %[[F:.+]] = linalg.fill
// CHECK-NEXT:    tensor.insert_slice %{{.*}} into %[[F]]
// CHECK:         %[[G:.+]] = linalg.fill
// CHECK-NEXT:    tensor.insert %{{.*}} into %[[G]]
// CHECK:         %[[H:.+]] = linalg.fill
// CHECK-NEXT:    scf.for {{.*}} iter_args(%{{.*}} = %[[H]])
func.func @parts(%x: tensor<4xf32>, %v: f32) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %0 = tensor.insert_slice %x into %f[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %1 = tensor.insert %v into %f[%c1] : tensor<8xf32>
  %2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %f) -> tensor<8xf32> {
    %u = tensor.insert %v into %t[%i] : tensor<8xf32>
    scf.yield %u : tensor<8xf32>
  }
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A border is filled before what it goes around is begun, if it can be.
// CHECK-LABEL: func.func @border
// CHECK:         %[[WIDE:.+]] = linalg.fill {{.*}} -> tensor<8xf32>
// CHECK-NEXT:    %[[ZERO:.+]] = linalg.fill {{.*}} -> tensor<4xf32>
// CHECK-NEXT:    %[[INSIDE:.+]] = linalg.generic {{.*}} outs(%[[ZERO]]
// CHECK:         tensor.insert_slice %[[INSIDE]] into %[[WIDE]]
// CHECK:         %[[LATE:.+]] = tensor.extract
// CHECK-NEXT:    linalg.fill ins(%[[LATE]]
func.func @border(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %a, %o : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %wide = tensor.empty() : tensor<8xf32>
  %g = linalg.fill ins(%zero : f32) outs(%wide : tensor<8xf32>) -> tensor<8xf32>
  %1 = tensor.insert_slice %0 into %g[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %late = tensor.extract %0[%c0] : tensor<4xf32>
  %h = linalg.fill ins(%late : f32) outs(%wide : tensor<8xf32>) -> tensor<8xf32>
  %2 = tensor.insert_slice %0 into %h[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// Each writer of one element has its own.
// CHECK-LABEL: func.func @scalars
// CHECK:         linalg.fill ins(%arg0 : f32) outs(%[[FIRST:.+]] : tensor<f32>)
// CHECK:         %[[SECOND:.+]] = tensor.empty() : tensor<f32>
// CHECK:         linalg.fill ins(%arg1 : f32) outs(%[[SECOND]] : tensor<f32>)
func.func @scalars(%x: f32, %y: f32) -> (f32, f32) {
  %e = tensor.empty() : tensor<f32>
  %a = linalg.fill ins(%x : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = tensor.extract %a[] : tensor<f32>
  %b = linalg.fill ins(%y : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %1 = tensor.extract %b[] : tensor<f32>
  return %0, %1 : f32, f32
}

// What is computed from variables alone has tensors of its own: it is computed once, before the first call.
// CHECK-LABEL: func.func @variables
// CHECK:         %[[E:.+]] = tensor.empty
// CHECK-NEXT:    linalg.generic {{.*}} outs(%[[E]]
// CHECK:         %[[F:.+]] = tensor.empty
// CHECK-NEXT:    linalg.generic {{.*}} outs(%[[F]]
// CHECK-NOT:     tensor.empty
func.func @variables(%v: tensor<8xf32> {skript.role = "variable"}, %w: tensor<8xf32> {skript.role = "variable"}) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%v : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%w : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
