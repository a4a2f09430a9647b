// RUN: skript-opt %s --skript-mark-steps | FileCheck %s

// A dynamic extent is read where the step begins; an allocation's extent is its operand. Steps of a loop are marked
// inside of it, and the loop itself ends the step before.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?xf32>, %[[N:[a-z0-9]+]]: index
// CHECK:         memref.alloc(%[[N]])
// CHECK-NOT:     memref.dim
// CHECK:         %[[DIM:.+]] = memref.dim %[[X]]
// CHECK:         %[[FLOPS:.+]] = arith.muli %{{.+}}, %[[DIM]]
// CHECK:         %[[SUM:.+]] = arith.addi %{{.+}}, %[[FLOPS]]
// CHECK:         call @skript_profile(%{{.+}}, %[[SUM]], %{{.+}}) {skript.operators
// CHECK:         linalg.generic
// CHECK:         call @skript_profile(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) : (index, index, index) -> ()
// CHECK-NEXT:    scf.for
// CHECK:           call @skript_profile({{.*}}) {skript.operators
// CHECK-NEXT:      memref.copy
// CHECK:           call @skript_profile
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @loop(%x: memref<?xf32>, %n: index) attributes {skript.entry} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %t = memref.alloc(%n) : memref<?xf32>
  linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]
  } ins(%x : memref<?xf32>) outs(%t : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  }
  scf.for %i = %zero to %n step %one {
    memref.copy %t, %x : memref<?xf32> to memref<?xf32>
  }
  return
}
