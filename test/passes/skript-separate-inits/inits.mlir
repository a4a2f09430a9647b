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

// Who only reads a filled tensor shares it.
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
