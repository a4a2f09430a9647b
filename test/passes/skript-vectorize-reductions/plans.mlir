// A chosen plan is an attribute of its kernel: the key, the number of the plan, how many there are, and the plan. A key that no kernel
// has, and a number that the kernel does not have, change nothing.
// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-vectorize-reductions{vector-bits=256 vector-registers=16 plans=*:0})' | FileCheck %s --check-prefix=FIRST
// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-vectorize-reductions{vector-bits=256 vector-registers=16 plans=*:1})' | FileCheck %s --check-prefix=SECOND
// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-vectorize-reductions{vector-bits=256 vector-registers=16 plans=0123456789ab:1})' | FileCheck %s --check-prefix=FIRST
// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-vectorize-reductions{vector-bits=256 vector-registers=16 plans=*:99})' | FileCheck %s --check-prefix=FIRST
// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-vectorize-reductions{vector-bits=256 vector-registers=16})' | FileCheck %s --check-prefix=NONE
// RUN: not skript-opt %s --pass-pipeline='builtin.module(skript-vectorize-reductions{plans=1})' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: option plans: `1` is not KEY:NUMBER
// RUN: not skript-opt %s --pass-pipeline='builtin.module(skript-vectorize-reductions{fma-ports=0})' 2>&1 | FileCheck %s --check-prefix=PORTS
// PORTS: option fma-ports is 0, which is not between 1 and 1024
// NONE-NOT: skript.plan

// FIRST: func.func private @kernel_0
// FIRST-SAME: skript.plan = ["{{[0-9a-f]+}}", "0", "{{[1-8]}}", "lanes=1x2 unroll=0x6 order=0,1"]
// SECOND: func.func private @kernel_0
// SECOND-SAME: skript.plan = ["{{[0-9a-f]+}}", "1", "{{[1-8]}}", "lanes=1x{{.*}}"]
func.func @product(%a: memref<48x64xf32>, %b: memref<64x80xf32>, %y: memref<48x80xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, l) -> (i, l)>, affine_map<(i, j, l) -> (l, j)>, affine_map<(i, j, l) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<48x64xf32>, memref<64x80xf32>) outs(%y : memref<48x80xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  }
  return
}
