// RUN: not skript-opt %s --skript-expand-library-math=operations=floor,sine 2>&1 | FileCheck %s

// CHECK: error: {{.*}}`sine` cannot be expanded
func.func @f(%x: f32) -> f32 {
  %r = math.floor %x : f32
  return %r : f32
}
