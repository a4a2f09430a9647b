// RUN: skript-opt %s --convert-skript-scalar-to-arith | FileCheck %s

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
