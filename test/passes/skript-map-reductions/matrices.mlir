// RUN: skript-opt %s "--skript-map-reductions=gpu=sm_80 precision=f16" --split-input-file | FileCheck %s --check-prefixes=CHECK,F16
// RUN: skript-opt %s "--skript-map-reductions=gpu=sm_80 precision=tf32" --split-input-file | FileCheck %s --check-prefixes=CHECK,TF32
// RUN: skript-opt %s "--skript-map-reductions=gpu=sm_80 precision=bf16" --split-input-file | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: skript-opt %s "--skript-map-reductions=gpu=sm_80 precision=tf32" --split-input-file --canonicalize --cse | FileCheck %s --check-prefix=BANKS
// RUN: skript-opt %s --skript-map-reductions=gpu=sm_80 --split-input-file | FileCheck %s --check-prefix=NONE
// RUN: skript-opt %s "--skript-map-reductions=gpu=vulkan-matrices precision=f16" --split-input-file | FileCheck %s --check-prefix=SIMULATED

// A product of matrices by tensor cores: a warp multiplies 16 × 16 by 16 × 8 elements at once, 16 × 8 by 8 × 8 in tf32. Inputs are
// rounded while they are copied; lines of the copies are consecutive products, 16 bytes apart. 40 products are 2 whole steps of 16, and one of
// 8, whose other products are zeros, negative ones of the right side.
// CHECK-LABEL: func.func @product
// CHECK:         gpu.launch
// F16-SAME:        workgroup(%[[A:.+]] : memref<2x32x24xf16, #gpu.address_space<workgroup>>, %[[B:.+]] : memref<2x64x24xf16, #gpu.address_space<workgroup>>)
// BF16-SAME:       workgroup(%[[A:.+]] : memref<2x32x24xi16, #gpu.address_space<workgroup>>, %[[B:.+]] : memref<2x64x24xi16, #gpu.address_space<workgroup>>)
// TF32-SAME:       workgroup(%[[A:.+]] : memref<2x32x20xi32, #gpu.address_space<workgroup>>, %[[B:.+]] : memref<2x64x20xi32, #gpu.address_space<workgroup>>)
// CHECK:           scf.for {{.*}} iter_args
// F16:               arith.truncf {{.*}} : f32 to f16
// BF16:              arith.truncf {{.*}} : f32 to bf16
// TF32:              nvvm.convert.float.to.tf32 {{.*}} {rnd = #nvvm.fp_rnd_mode<rna>}
// CHECK:             vector.store %{{.+}}, %[[A]]
// CHECK:             gpu.barrier
// CHECK:             memref.extract_aligned_pointer_as_index %[[A]]
// CHECK:             nvvm.ldmatrix %{{.+}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
// F16-COUNT-4:       llvm.bitcast {{.*}} : i32 to vector<2xf16>
// CHECK:             memref.extract_aligned_pointer_as_index %[[B]]
// F16-NEXT:          arith.constant 1536 : index
// F16-NEXT:          arith.constant 0 : index
// CHECK:             nvvm.ldmatrix %{{.+}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 2 : i32
// F16-COUNT-2:       nvvm.mma.sync {{.*}} shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (vector<2xf16>, vector<2xf16>, f32)
// BF16-COUNT-2:      nvvm.mma.sync {{.*}} multiplicandAPtxType = #nvvm.mma_type<bf16>, {{.*}} shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (i32, i32, f32)
// TF32-COUNT-2:      nvvm.mma.sync {{.*}} multiplicandAPtxType = #nvvm.mma_type<tf32>, {{.*}} shape = #nvvm.shape<m = 16, n = 8, k = 8>} : (i32, i32, f32)
// CHECK:             scf.yield
// CHECK:           arith.select
// CHECK:           nvvm.mma.sync
// CHECK:         } {nvvm.minctasm = 2 : i32}
// CHECK-NOT:       linalg.generic
// NONE-LABEL:  func.func @product
// NONE-NOT:      nvvm.mma.sync
// NONE:        return
// The right side has columns next to each other in memory, and products in its copy, whose lines have 20 words: two threads copy 8 columns of
// a product, and the next two those of the next product. Thread t of a warp stores an element i of its four into the bank
// (((t % 2) * 4 + i) * 20 + t / 2) % 32, which is another one for each t; by columns first it would be (t * 80 + i * 20) % 32 for 16 threads, one of two.
// BANKS-LABEL: func.func @product
// BANKS-DAG:     %[[PAIR:.+]] = arith.divui %[[T:.+]], %c2_i32 : i32
// BANKS-DAG:     %[[LOW:.+]] = arith.remui %[[T]], %c2_i32 : i32
// BANKS:         %[[HIGH:.+]] = arith.divui %[[PAIR]], %c16_i32 : i32
// BANKS:         %[[PRODUCT:.+]] = arith.remui %[[PAIR]], %c16_i32 : i32
// BANKS:         %[[FIRST:.+]] = arith.muli %[[HIGH]], %c2_i32 : i32
// BANKS:         %[[GROUP:.+]] = arith.addi %[[FIRST]], %[[LOW]] : i32
// BANKS:         arith.muli %[[GROUP]], %c4_i32 : i32
// Threads put the elements of their registers where the instruction has them.
// SIMULATED-LABEL: func.func @product
// SIMULATED:         workgroup({{.*}}, %[[A:.+]] : memref<2x16x16xf32, #gpu.address_space<workgroup>>, %[[B:.+]] : memref<2x8x16xf32, #gpu.address_space<workgroup>>)
// SIMULATED-COUNT-8: memref.store %{{.+}}, %[[A]]
// SIMULATED-COUNT-4: memref.store %{{.+}}, %[[B]]
// SIMULATED:         gpu.barrier
// SIMULATED:         scf.for
// SIMULATED:           memref.load %[[A]]
// SIMULATED:           memref.load %[[B]]
func.func @product(%x: memref<16000xi8>, %y: memref<10240xi8>, %z: memref<25600xi8>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %a = memref.view %x[%c0][] : memref<16000xi8> to memref<100x40xf32>
  %b = memref.view %y[%c0][] : memref<10240xi8> to memref<40x64xf32>
  %c = memref.view %z[%c0][] : memref<25600xi8> to memref<100x64xf32>
  linalg.generic {
    indexing_maps = [affine_map<(i, j, l) -> (i, l)>, affine_map<(i, j, l) -> (l, j)>, affine_map<(i, j, l) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : memref<100x40xf32>, memref<40x64xf32>) outs(%c : memref<100x64xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32):
    %p = arith.mulf %u, %v fastmath<contract> : f32
    %s = arith.addf %w, %p fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Sums in the order of the formula, and reductions that are no sums of products, are computed by threads.
// CHECK-LABEL: func.func @others
// CHECK:         gpu.launch
// CHECK:         gpu.launch
// CHECK-NOT:     nvvm.mma.sync
// CHECK:         return
func.func @others(%x: memref<16000xi8>, %y: memref<10240xi8>, %z: memref<25600xi8>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %a = memref.view %x[%c0][] : memref<16000xi8> to memref<100x40xf32>
  %b = memref.view %y[%c0][] : memref<10240xi8> to memref<40x64xf32>
  %c = memref.view %z[%c0][] : memref<25600xi8> to memref<100x64xf32>
  linalg.generic {
    indexing_maps = [affine_map<(i, j, l) -> (i, l)>, affine_map<(i, j, l) -> (l, j)>, affine_map<(i, j, l) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : memref<100x40xf32>, memref<40x64xf32>) outs(%c : memref<100x64xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32):
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %w, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {
    indexing_maps = [affine_map<(i, j, l) -> (i, l)>, affine_map<(i, j, l) -> (l, j)>, affine_map<(i, j, l) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : memref<100x40xf32>, memref<40x64xf32>) outs(%c : memref<100x64xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32):
    %p = arith.addf %u, %v : f32
    %s = arith.maximumf %w, %p : f32
    linalg.yield %s : f32
  }
  return
}
