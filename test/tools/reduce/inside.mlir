// RUN: skript-reduce %s --leave-out="test=%S/interesting.sh" 2>&1 | FileCheck %s --match-full-lines

// Operations of all dialects are left out inside of functions and loops too, and functions that nothing calls any more.
// CHECK: module {
func.func @called(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = skript.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-NEXT: func.func @defect(%[[X:.*]]: tensor<4xf32>, %[[OPEN:.*]]: tensor<?xf32>, %{{.*}}: i1) -> (tensor<4xf32>, tensor<?xf32>) {
func.func @defect(%x: tensor<4xf32>, %open: tensor<?xf32>, %condition: i1) -> (tensor<4xf32>, tensor<?xf32>) {
  // CHECK-NOT: skript.exp {{.*}}
  // CHECK-NOT: func.call {{.*}}
  %0 = skript.exp %x : tensor<4xf32>
  %1 = func.call @called(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // CHECK: %[[RESULT:.*]] = scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %[[X]]) -> (tensor<4xf32>) {
  // CHECK-NEXT: %[[TANH:.*]] = skript.tanh %[[CARRIED]] : tensor<4xf32>
  // CHECK-NEXT: scf.yield %[[TANH]] : tensor<4xf32>
  // CHECK-NEXT: }
  %2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%carried = %1) -> tensor<4xf32> {
    %a = skript.sqrt %carried : tensor<4xf32>
    %b = skript.tanh %a : tensor<4xf32>
    %c = skript.exp %b : tensor<4xf32>
    scf.yield %c : tensor<4xf32>
  }
  %3 = scf.if %condition -> tensor<4xf32> {
    %a = skript.sqrt %2 : tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %2 : tensor<4xf32>
  }
  %4 = skript.exp %open : tensor<?xf32>
  // CHECK-NEXT: return %[[RESULT]], %[[OPEN]] : tensor<4xf32>, tensor<?xf32>
  return %3, %4 : tensor<4xf32>, tensor<?xf32>
}
