// RUN: skript-opt %s --convert-skript-scalar-to-arith | FileCheck %s

// CHECK-LABEL: func.func @real
// CHECK-SAME:    %[[X:.+]]: f32, %[[Y:.+]]: f32
// CHECK:         %[[P:.+]] = arith.mulf %[[X]], %[[Y]] fastmath<contract> : f32
// CHECK:         %[[S:.+]] = arith.addf %[[P]], %[[X]] fastmath<reassoc,contract> : f32
// CHECK:         arith.maximumf %[[S]], %[[Y]] : f32
func.func @real(%x: f32, %y: f32) -> f32 {
  %p = skript.mul %x, %y : f32
  %s = skript.add %p, %x {accumulates} : f32
  %m = skript.max %s, %y : f32
  return %m : f32
}

// Division by zero is guarded.
// CHECK-LABEL: func.func @int
// CHECK-NOT:     skript.
// CHECK:         arith.cmpi
// CHECK:         arith.select
// CHECK:         return
func.func @int(%x: i64, %y: i64) -> i64 {
  %q = skript.div %x, %y : i64
  return %q : i64
}

// CHECK-LABEL: func.func @lanes
// CHECK:         arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK:         arith.cmpf une, %{{.*}}, %{{.*}} : vector<4xf32>
func.func @lanes(%x: vector<4xf32>) -> vector<4xi1> {
  %b = skript.cast %x : vector<4xf32> to vector<4xi1>
  return %b : vector<4xi1>
}
