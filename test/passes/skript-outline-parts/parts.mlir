// RUN: skript-opt %s --split-input-file --skript-outline-parts=most=4 | FileCheck %s
// RUN: skript-opt %s --split-input-file --skript-outline-parts | FileCheck %s --check-prefix=SHORT

// What follows each other becomes calls of parts. Views and constants are made again in them; scalars that a later op uses are
// results; the memory's arguments keep what they say.
// CHECK-LABEL: func.func @entry
// CHECK-SAME:    (%[[X:[^:]+]]: memref<4xi8>, %[[Y:[^:]+]]: memref<4xi8> {llvm.noalias}, %[[ARENA:[^:]+]]: memref<8xi8> {llvm.align = 64 : i64, llvm.noalias})
// CHECK-NOT:     memref.view
// CHECK:         %[[SEEN:.+]] = call @part_0(%[[X]], %[[ARENA]]) : (memref<4xi8>, memref<8xi8>) -> f32
// CHECK-NEXT:    call @part_1(%[[SEEN]], %[[ARENA]], %[[Y]])
// CHECK-NEXT:    return
// SHORT-LABEL: func.func @entry
// SHORT-NOT:     @part
// SHORT:         return
func.func private @kernel(memref<1xf32>, memref<1xf32>)
func.func @entry(%x: memref<4xi8>, %y: memref<4xi8> {llvm.noalias}, %arena: memref<8xi8> {llvm.noalias, llvm.align = 64 : i64}) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %in = memref.view %x[%c0][] : memref<4xi8> to memref<1xf32>
  %a = memref.view %arena[%c0][] : memref<8xi8> to memref<1xf32>
  %b = memref.view %arena[%c4][] : memref<8xi8> to memref<1xf32>
  %out = memref.view %y[%c0][] : memref<4xi8> to memref<1xf32>
  call @kernel(%in, %a) : (memref<1xf32>, memref<1xf32>) -> ()
  %seen = memref.load %in[%c0] : memref<1xf32>
  memref.store %seen, %a[%c0] : memref<1xf32>
  call @kernel(%a, %b) : (memref<1xf32>, memref<1xf32>) -> ()
  memref.store %seen, %b[%c0] : memref<1xf32>
  call @kernel(%b, %out) : (memref<1xf32>, memref<1xf32>) -> ()
  return
}

// CHECK-LABEL: func.func private @part_0
// CHECK-SAME:    (%[[IN:[^:]+]]: memref<4xi8>, %[[MEMORY:[^:]+]]: memref<8xi8> {llvm.align = 64 : i64, llvm.noalias}) -> f32
// CHECK-SAME:    attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"], skript.part}
// CHECK:         %[[A:.+]] = memref.view %[[MEMORY]][
// CHECK:         call @kernel(%{{.*}}, %[[A]])
// CHECK:         %[[SEEN:.+]] = memref.load
// CHECK:         memref.store %[[SEEN]], %[[A]]
// CHECK:         call @kernel(%[[A]], %{{.*}})
// CHECK:         return %[[SEEN]] : f32
// CHECK-LABEL: func.func private @part_1
// CHECK:         memref.store
// CHECK:         call @kernel

// -----

// A loop that is longer than a part stays, what it holds moves; of what it hands on nobody knows whose memory it is. Checks stay.
// CHECK-LABEL: func.func @loop
// CHECK:         %[[HOLDS:.+]] = call @part_0(
// CHECK:         skript.check %[[HOLDS]], "SK9203"
// CHECK:         scf.for %{{.*}} iter_args(%[[FROM:.+]] = %{{.*}}, %[[TO:.+]] = %{{.*}})
// CHECK-NEXT:      func.call @part_1({{.*}}%[[FROM]]{{.*}}) : (memref<1xf32>, memref<1xf32>, memref<8xi8>) -> ()
// CHECK-NEXT:      func.call @part_2(
// CHECK-NEXT:      scf.yield %[[TO]], %[[FROM]]
// CHECK:         return
// CHECK:       func.func private @part_1(%{{[^:]+}}: memref<1xf32>, %{{[^:]+}}: memref<1xf32>, %{{[^:]+}}: memref<8xi8> {llvm.align = 64 : i64})
// SHORT-LABEL: func.func @loop
// SHORT-NOT:     @part
func.func private @kernel(memref<1xf32>, memref<1xf32>, memref<8xi8>)
func.func @loop(%n: memref<1xi64>, %arena: memref<8xi8> {llvm.noalias, llvm.align = 64 : i64}) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %least = arith.constant 2 : i64
  %given = memref.load %n[%c0] : memref<1xi64>
  %holds = arith.cmpi sge, %given, %least : i64
  skript.check %holds, "SK9203", "never"
  %a = memref.view %arena[%c0][] : memref<8xi8> to memref<1xf32>
  %b = memref.view %arena[%c4][] : memref<8xi8> to memref<1xf32>
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%from = %a, %to = %b) -> (memref<1xf32>, memref<1xf32>) {
    func.call @kernel(%from, %to, %arena) : (memref<1xf32>, memref<1xf32>, memref<8xi8>) -> ()
    func.call @kernel(%to, %from, %arena) : (memref<1xf32>, memref<1xf32>, memref<8xi8>) -> ()
    func.call @kernel(%from, %to, %arena) : (memref<1xf32>, memref<1xf32>, memref<8xi8>) -> ()
    func.call @kernel(%to, %from, %arena) : (memref<1xf32>, memref<1xf32>, memref<8xi8>) -> ()
    func.call @kernel(%from, %to, %arena) : (memref<1xf32>, memref<1xf32>, memref<8xi8>) -> ()
    scf.yield %to, %from : memref<1xf32>, memref<1xf32>
  }
  return
}
