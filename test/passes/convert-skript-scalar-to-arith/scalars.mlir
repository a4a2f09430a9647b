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

// Each operation of a longer expansion rounds.
// CHECK-LABEL: func.func @mod
// CHECK-NOT:     fastmath
// CHECK:         return
func.func @mod(%x: f32, %y: f32) -> f32 {
  %m = skript.mod %x, %y : f32
  return %m : f32
}

// Casts between real types of 16 bits pass over f32, from f64 over an f32 that is rounded to an odd digit.
// CHECK-LABEL: func.func @halves
// CHECK-SAME:    %[[X:.+]]: f64
// CHECK:         %[[NEAR:.+]] = arith.truncf %[[X]] : f64 to f32
// CHECK:         %[[BACK:.+]] = arith.extf %[[NEAR]] : f32 to f64
// CHECK:         arith.cmpf one, %[[X]], %[[BACK]] : f64
// CHECK:         %[[B:.+]] = arith.bitcast %{{.*}} : i16 to bf16
// CHECK:         %[[W:.+]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK:         arith.truncf %[[W]] : f32 to f16
func.func @halves(%x: f64) -> f16 {
  %b = skript.cast %x : f64 to bf16
  %h = skript.cast %b : bf16 to f16
  return %h : f16
}

// Narrower integers are the nearest ones that there are; an index has 64 bits.
// CHECK-LABEL: func.func @narrow
// CHECK-SAME:    %[[X:.+]]: vector<4xi64>, %[[I:.+]]: index
// CHECK:         %[[LEAST:.+]] = arith.constant dense<-128> : vector<4xi64>
// CHECK:         %[[ABOVE:.+]] = arith.maxsi %[[X]], %[[LEAST]] : vector<4xi64>
// CHECK:         %[[MOST:.+]] = arith.constant dense<127> : vector<4xi64>
// CHECK:         %[[WITHIN:.+]] = arith.minsi %[[ABOVE]], %[[MOST]] : vector<4xi64>
// CHECK:         arith.trunci %[[WITHIN]] : vector<4xi64> to vector<4xi8>
// CHECK:         %[[WORD:.+]] = arith.index_cast %[[I]] : index to i64
// CHECK:         arith.maxsi %[[WORD]]
// CHECK:         arith.trunci %{{.+}} : i64 to i32
// CHECK:         arith.extsi %{{.+}} : i32 to i64
func.func @narrow(%x: vector<4xi64>, %i: index) -> (vector<4xi8>, i64) {
  %n = skript.cast %x : vector<4xi64> to vector<4xi8>
  %k = skript.cast %i : index to i32
  %w = skript.cast %k : i32 to i64
  return %n, %w : vector<4xi8>, i64
}

// Vectors whose length the target chooses stay what they are, in recipes of several steps as well.
// CHECK-LABEL: func.func @scalable
// CHECK:         arith.addf %{{.+}}, %{{.+}} fastmath<contract> : vector<[4]xf32>
// CHECK:         arith.cmpf {{.+}} : vector<2x[4]xf32>
// CHECK-NOT:     skript.
func.func @scalable(%v: vector<[4]xf32>, %w: vector<2x[4]xf32>) -> (vector<[4]xf32>, vector<2x[4]xi8>) {
  %a = skript.add %v, %v : vector<[4]xf32>
  %b = skript.cast %w : vector<2x[4]xf32> to vector<2x[4]xi8>
  return %a, %b : vector<[4]xf32>, vector<2x[4]xi8>
}
