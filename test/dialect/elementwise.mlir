// RUN: skript-opt %s | skript-opt | FileCheck %s
// RUN: skript-opt %s --mlir-print-op-generic | skript-opt | FileCheck %s
// RUN: skript-opt %s --verify-roundtrip -o /dev/null

// CHECK-LABEL: func @scalars
func.func @scalars(%a: f32, %b: f32, %i: i64, %j: index, %p: i1) {
  // CHECK-NEXT: skript.add %{{.*}}, %{{.*}} : f32
  %0 = skript.add %a, %b : f32
  // CHECK-NEXT: skript.ceildiv %{{.*}}, %{{.*}} : i64
  %1 = skript.ceildiv %i, %i : i64
  // CHECK-NEXT: skript.mod %{{.*}}, %{{.*}} : index
  %2 = skript.mod %j, %j : index
  // CHECK-NEXT: skript.implies %{{.*}}, %{{.*}} : i1
  %3 = skript.implies %p, %p : i1
  // CHECK-NEXT: skript.lt %{{.*}}, %{{.*}} : f32
  %4 = skript.lt %a, %b : f32
  // CHECK-NEXT: skript.eq %{{.*}}, %{{.*}} : i1
  %5 = skript.eq %p, %4 : i1
  // CHECK-NEXT: skript.select %{{.*}}, %{{.*}}, %{{.*}} : f32
  %6 = skript.select %4, %a, %b : f32
  // CHECK-NEXT: skript.cast %{{.*}} : f32 to i64
  %7 = skript.cast %a : f32 to i64
  // CHECK-NEXT: skript.erf %{{.*}} {note = "kept"} : f32
  %8 = skript.erf %a {note = "kept"} : f32
  return
}

// CHECK-LABEL: func @shapes
func.func @shapes(%s: f32, %x: tensor<4x?xf32>, %y: tensor<?x5xf32>, %m: tensor<4x5xi1>, %v: vector<4x[2]xf32>,
                  %p: i1) {
  // CHECK-NEXT: %[[A:.*]] = skript.add %{{.*}}, %{{.*}} : tensor<4x?xf32>, f32
  %0 = skript.add %x, %s : tensor<4x?xf32>, f32
  // A static extent of either operand is that of the result.
  // CHECK-NEXT: %[[B:.*]] = skript.add %{{.*}}, %{{.*}} : tensor<4x?xf32>, tensor<?x5xf32>
  %1 = skript.add %x, %y : tensor<4x?xf32>, tensor<?x5xf32>
  // CHECK-NEXT: skript.neg %[[B]] : tensor<4x5xf32>
  %2 = skript.neg %1 : tensor<4x5xf32>
  // CHECK-NEXT: skript.sub %{{.*}}, %{{.*}} : tensor<4x?xf32> -> tensor<?x?xf32>
  %3 = skript.sub %x, %x : tensor<4x?xf32> -> tensor<?x?xf32>
  // CHECK-NEXT: skript.mul %{{.*}}, %{{.*}} : f32, vector<4x[2]xf32>
  %4 = skript.mul %s, %v : f32, vector<4x[2]xf32>
  // CHECK-NEXT: skript.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x5xi1>, tensor<4x5xf32>, f32
  %5 = skript.select %m, %1, %s : tensor<4x5xi1>, tensor<4x5xf32>, f32
  // CHECK-NEXT: skript.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x5xi1>, f32
  %6 = skript.select %m, %s, %s : tensor<4x5xi1>, f32
  // CHECK-NEXT: skript.not %{{.*}} : tensor<4x5xi1>
  %7 = skript.not %m : tensor<4x5xi1>
  // CHECK-NEXT: skript.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x5xf32>
  %8 = skript.select %p, %1, %1 : tensor<4x5xf32>
  // CHECK-NEXT: skript.ge %{{.*}}, %{{.*}} : tensor<4x?xf32>
  %9 = skript.ge %x, %x : tensor<4x?xf32>
  // CHECK-NEXT: skript.not %{{.*}} : tensor<4x?xi1>
  %10 = skript.not %9 : tensor<4x?xi1>
  return
}
