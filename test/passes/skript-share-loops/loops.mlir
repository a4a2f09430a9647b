// RUN: skript-opt %s --skript-share-loops | FileCheck %s

// A static loop with enough work: the first dimension with at least 16 iterations is divided. Constants are rebuilt.
// CHECK-LABEL: func.func @map
// CHECK-DAG:     %[[ZERO:.+]] = arith.constant 0 : index
// CHECK-DAG:     %[[STEPS:.+]] = arith.constant 256 : index
// CHECK:         call @loop_0(%arg0, %arg1, %{{.+}}, %[[STEPS]]) : (memref<8x1024x1024xf32>, memref<8x1024x1024xf32>, index, index) -> ()
// CHECK-NOT:     scf.parallel
// CHECK:         return
func.func @map(%x: memref<8x1024x1024xf32> {llvm.noalias}, %y: memref<8x1024x1024xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c1024 = arith.constant 1024 : index
  scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%c8, %c1024, %c1024) step (%c1, %c1, %c1) {
    %a = memref.load %x[%i, %j, %k] : memref<8x1024x1024xf32>
    memref.store %a, %y[%i, %j, %k] : memref<8x1024x1024xf32>
    %b = arith.addf %a, %a : f32
    memref.store %b, %y[%i, %j, %k] : memref<8x1024x1024xf32>
    scf.reduce
  }
  return
}

// Too little work for two steps.
// CHECK-LABEL: func.func @short
// CHECK:         scf.parallel
func.func @short(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c64, %c64) step (%c1, %c1) {
    %a = memref.load %x[%i, %j] : memref<64x64xf32>
    memref.store %a, %y[%i, %j] : memref<64x64xf32>
    scf.reduce
  }
  return
}

// A dynamic extent decides the number of steps: at least 1, at most the extent.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME:    %[[ARENA:.+]]: memref<4194304xi8>, %[[N:.+]]: index
// CHECK:         arith.divui
// CHECK:         arith.minui
// CHECK:         arith.minui %{{.+}}, %[[N]]
// CHECK:         %[[STEPS:.+]] = arith.maxui
// CHECK:         call @loop_1({{.+}}, %{{.+}}, %[[STEPS]])
func.func @dynamic(%arena: memref<4194304xi8>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = memref.view %arena[%c0][%n] : memref<4194304xi8> to memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = math.exp %a : f32
    memref.store %b, %x[%i] : memref<?xf32>
    scf.reduce
  }
  return
}

// A value that a function cannot have: an array of dynamic extents that is no view.
// CHECK-LABEL: func.func @unavailable
// CHECK:         scf.parallel
func.func @unavailable(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = math.exp %a : f32
    memref.store %b, %x[%i] : memref<?xf32>
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func private @loop_0
// CHECK-SAME:    (%{{.+}}: memref<8x1024x1024xf32> {llvm.noalias}, %{{.+}}: memref<8x1024x1024xf32>, %[[FROM:.+]]: index, %[[TO:.+]]: index)
// CHECK-SAME:    skript.steps
// CHECK:         arith.muli %[[FROM]]
// CHECK:         %[[START:.+]] = arith.divui
// CHECK:         arith.muli %[[TO]]
// CHECK:         %[[END:.+]] = arith.divui
// CHECK:         scf.parallel (%{{.+}}, %{{.+}}, %{{.+}}) = (%{{.+}}, %[[START]], %{{.+}}) to (%{{.+}}, %[[END]], %{{.+}})

// CHECK-LABEL: func.func private @loop_1
// CHECK:         memref.view %{{.+}} to memref<?xf32>
// CHECK:         scf.parallel
