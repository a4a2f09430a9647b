// RUN: skript-opt %s --skript-share-loops | FileCheck %s

// Views of different bytes of one buffer are arguments that do not alias. Those of the same bytes are rebuilt in the function.
// CHECK-LABEL: func.func @disjoint
// CHECK:         %[[X:.+]] = memref.view %arg0[%{{.+}}][] : memref<12582912xi8> to memref<1048576xf32>
// CHECK:         %[[Y:.+]] = memref.view %arg0[%{{.+}}][] : memref<12582912xi8> to memref<1048576xf32>
// CHECK:         call @loop_0(%[[X]], %[[Y]], %{{.+}}, %{{.+}}) : (memref<1048576xf32>, memref<1048576xf32>, index, index) -> ()
func.func @disjoint(%arena: memref<12582912xi8> {llvm.align = 64 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 1048576 : index
  %second = arith.constant 4194304 : index
  %x = memref.view %arena[%c0][] : memref<12582912xi8> to memref<1048576xf32>
  %y = memref.view %arena[%second][] : memref<12582912xi8> to memref<1048576xf32>
  scf.parallel (%i) = (%c0) to (%end) step (%c1) {
    %a = memref.load %x[%i] : memref<1048576xf32>
    %b = math.exp %a : f32
    memref.store %b, %y[%i] : memref<1048576xf32>
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func @overlapping
// CHECK:         call @loop_1(%arg0, %{{.+}}, %{{.+}}) : (memref<12582912xi8>, index, index) -> ()
func.func @overlapping(%arena: memref<12582912xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 1048576 : index
  %second = arith.constant 2097152 : index
  %x = memref.view %arena[%c0][] : memref<12582912xi8> to memref<1048576xf32>
  %y = memref.view %arena[%second][] : memref<12582912xi8> to memref<1048576xf32>
  scf.parallel (%i) = (%c0) to (%end) step (%c1) {
    %a = memref.load %x[%i] : memref<1048576xf32>
    %b = math.exp %a : f32
    memref.store %b, %y[%i] : memref<1048576xf32>
    scf.reduce
  }
  return
}

// Views with dynamic extents are passed as all of their bytes.
// CHECK-LABEL: func.func @dynamic
// CHECK:         %[[X:.+]] = memref.view %arg0[%{{.+}}][] : memref<12582912xi8> to memref<4194304xi8>
// CHECK:         %[[Y:.+]] = memref.view %arg0[%{{.+}}][] : memref<12582912xi8> to memref<8388608xi8>
// CHECK:         call @loop_2(%{{.+}}, %[[X]], %arg1, %[[Y]], %{{.+}}, %{{.+}}, %{{.+}}) : (index, memref<4194304xi8>, index, memref<8388608xi8>, index, index, index) -> ()
func.func @dynamic(%arena: memref<12582912xi8>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %most = arith.constant 2097152 : index
  %second = arith.constant 4194304 : index
  %end = arith.minsi %n, %most : index
  %x = memref.view %arena[%c0][%n] {skript.bytes = 4194304 : i64} : memref<12582912xi8> to memref<?xf32>
  %y = memref.view %arena[%second][%end] : memref<12582912xi8> to memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = math.exp %a : f32
    memref.store %b, %y[%i] : memref<?xf32>
    scf.reduce
  }
  return
}

// CHECK: func.func private @loop_0(%{{.+}}: memref<1048576xf32> {llvm.align = 64 : i64, llvm.noalias}, %{{.+}}: memref<1048576xf32> {llvm.align = 64 : i64, llvm.noalias}, %{{.+}}: index, %{{.+}}: index)
// CHECK: func.func private @loop_1(%{{.+}}: memref<12582912xi8>, %{{.+}}: index, %{{.+}}: index)
// CHECK: func.func private @loop_2(%{{.+}}: index, %[[X:.+]]: memref<4194304xi8> {llvm.noalias}, %{{.+}}: index, %[[Y:.+]]: memref<8388608xi8> {llvm.noalias}, %{{.+}}: index, %{{.+}}: index, %{{.+}}: index)
// CHECK:   memref.view %[[X]][%{{.+}}][%{{.+}}] : memref<4194304xi8> to memref<?xf32>
// CHECK:   memref.view %[[Y]][%{{.+}}][%{{.+}}] : memref<8388608xi8> to memref<?xf32>
