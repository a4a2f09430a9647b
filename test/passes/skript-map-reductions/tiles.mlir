// RUN: skript-opt %s --skript-map-reductions=gpu=gfx90a --split-input-file | FileCheck %s
// RUN: skript-opt %s --skript-map-reductions=gpu=sm_80 --split-input-file --canonicalize --cse | FileCheck %s --check-prefix=DIRECT
// RUN: skript-opt %s --skript-map-reductions=gpu=sm_80 --split-input-file | FileCheck %s --check-prefix=UNROLLED
// RUN: skript-opt %s --skript-map-reductions=gpu=vulkan-matrices --split-input-file --canonicalize --cse | FileCheck %s --check-prefix=SIMULATED

// A product of matrices, in tiles of 32 × 32 of 256 threads with 2 × 2 elements each. 40 products are 2 whole steps of 16 and one of 8.
// The left matrix is read along the products, so lines of its copy are apart from other banks. Consecutive elements are
// copied at once, and those of the next step are read before the products of a step.
// The loop over the products of a copy is one iteration in the end: a loop would compute as much for itself as for four products.
// UNROLLED: #[[FULL:.*]] = #llvm.loop_unroll<disable = false, full = true>
// UNROLLED: #[[LOOP:.*]] = #llvm.loop_annotation<unroll = #[[FULL]]>
// UNROLLED: func.func @product
// UNROLLED: arith.mulf
// UNROLLED: } {loop_annotation = #[[LOOP]]}

// CHECK-LABEL: func.func @product
// CHECK:         gpu.launch
// CHECK-SAME:      workgroup(%[[A:.+]] : memref<2x16x36xf32, #gpu.address_space<workgroup>>, %[[B:.+]] : memref<2x16x32xf32, #gpu.address_space<workgroup>>)
// CHECK:           scf.for
// CHECK:             %[[U:.+]] = vector.load %{{.+}}[%{{.+}}] {alignment = 8 : i64} : memref<4000xf32, strided<[1]>>, vector<2xf32>
// CHECK:             %[[V:.+]] = vector.load %{{.+}}[%{{.+}}] {alignment = 8 : i64} : memref<2560xf32, strided<[1]>>, vector<2xf32>
// CHECK:             gpu.barrier
// CHECK:             scf.for {{.*}} iter_args({{.*}} = %[[U]], %[[W:.+]] = %[[V]]) -> (f32, f32, f32, f32, vector<2xf32>, vector<2xf32>)
// CHECK-COUNT-2:       memref.store %{{.+}}, %[[A]]
// CHECK:               vector.store %[[W]], %[[B]][%{{.+}}] {alignment = 8 : i64}
// CHECK:               gpu.barrier
// CHECK-COUNT-2:       vector.load
// CHECK:               scf.for
// CHECK:                 vector.load %[[A]]
// CHECK:                 vector.load %[[B]]
// CHECK-COUNT-4:         arith.addf {{.*}} fastmath<reassoc,contract> : f32
// CHECK:             gpu.barrier
// CHECK:             scf.if
// CHECK:               vector.store %{{.+}}, %{{.+}}[%{{.+}}] {alignment = 8 : i64} : memref<6400xf32, strided<[1]>>, vector<2xf32>
// CHECK-NOT:       linalg.generic
// With `cp.async`, elements of the right matrix go to the copy of the next step without registers: pairs of 8 bytes, at ((step modulo 2 · 16 + product)
// · 32 + column) · 4. The left one is transposed on the way, through registers. A thread waits for its own copies, then for the others.
// DIRECT-LABEL: func.func @product
// DIRECT:         workgroup(%{{.+}} : memref<2x16x36xf32, #gpu.address_space<workgroup>>, %[[B:.+]] : memref<2x16x32xf32, #gpu.address_space<workgroup>>)
// DIRECT:           nvvm.cp.async.wait.group 0
// DIRECT-NEXT:      gpu.barrier
// DIRECT:           %[[BASE:.+]] = memref.extract_aligned_pointer_as_index %[[B]]
// DIRECT:           %[[ARRAY:.+]] = memref.extract_aligned_pointer_as_index %{{.+}} : memref<2560xf32, strided<[1]>>
// DIRECT:           nvvm.cp.async.shared.global %{{.+}}, %{{.+}}, 8, cache = ca
// DIRECT-NEXT:      nvvm.cp.async.commit.group
// DIRECT:           scf.for %[[FIRST:.+]] = %c0_i32 to %c32_i32 step %c16_i32 iter_args({{.*}}) -> (f32, f32, f32, f32, vector<2xf32>)
// DIRECT:             nvvm.cp.async.wait.group 0
// DIRECT-NEXT:        gpu.barrier
// DIRECT-NEXT:        %[[NEXT:.+]] = arith.addi %[[FIRST]], %c16_i32 : i32
// DIRECT-NEXT:        %[[STEP:.+]] = arith.divui %[[NEXT]], %c16_i32 : i32
// DIRECT-NEXT:        %[[BUFFER:.+]] = arith.remui %[[STEP]], %c2_i32 : i32
// DIRECT:             %[[ROWS:.+]] = arith.muli %[[BUFFER]], %c16_i32 : i32
// DIRECT-NEXT:        %[[ROW:.+]] = arith.addi %[[ROWS]], %{{.+}} : i32
// DIRECT-NEXT:        %[[START:.+]] = arith.muli %[[ROW]], %c32_i32 : i32
// DIRECT-NEXT:        %[[PLACE:.+]] = arith.addi %[[START]], %{{.+}} : i32
// DIRECT-NEXT:        %[[INDEX:.+]] = arith.index_cast %[[PLACE]] : i32 to index
// DIRECT-NEXT:        %[[BYTES:.+]] = arith.muli %[[INDEX]], %c4 : index
// DIRECT-NEXT:        arith.addi %[[BASE]], %[[BYTES]] : index
// DIRECT:             arith.addi %[[ARRAY]], %{{.+}} : index
// DIRECT:             nvvm.cp.async.shared.global %{{.+}}, %{{.+}}, 8, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
// DIRECT:             vector.load %{{.+}} : memref<4000xf32, strided<[1]>>
// DIRECT:             scf.for
// The simulation has the same order, with loads and stores.
// SIMULATED-LABEL: func.func @product
// SIMULATED:         workgroup(%{{.+}} : memref<{{.*}}>, %[[B:.+]] : memref<2x16x16xf32, #gpu.address_space<workgroup>>)
// SIMULATED:           gpu.barrier
// SIMULATED:           vector.store %{{.+}}, %[[B]]
// SIMULATED:           scf.for
// SIMULATED:             gpu.barrier
// SIMULATED:             vector.store %{{.+}}, %[[B]]
// SIMULATED:             scf.for
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

// Long rows are shared by 256 threads, which combine their sums in pairs.
// CHECK-LABEL: func.func @rows
// CHECK:         gpu.launch
// CHECK-SAME:      workgroup(%[[SUMS:.+]] : memref<256xf32, #gpu.address_space<workgroup>>)
// CHECK:           %[[ZERO:.+]] = arith.constant -0.000000e+00 : f32
// CHECK:           %[[SUM:.+]] = scf.for {{.*}} iter_args(%{{.+}} = %[[ZERO]])
// CHECK:             arith.addf
// CHECK:           memref.store %[[SUM]], %[[SUMS]]
// CHECK-COUNT-8:   arith.addf
// CHECK:           gpu.barrier
// CHECK-NOT:       linalg.generic
func.func @rows(%x: memref<20000xi8>, %z: memref<20xi8>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %a = memref.view %x[%c0][] : memref<20000xi8> to memref<5x1000xf32>
  %c = memref.view %z[%c0][] : memref<20xi8> to memref<5xf32>
  linalg.generic {
    indexing_maps = [affine_map<(i, l) -> (i, l)>, affine_map<(i, l) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%a : memref<5x1000xf32>) outs(%c : memref<5xf32>) {
  ^bb0(%u: f32, %w: f32):
    %s = arith.addf %w, %u fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A sum that must be computed in the order of the formula stays with one thread, as does a short one.
// CHECK-LABEL: func.func @stay
// CHECK-NOT:     gpu.launch
// CHECK-COUNT-2: linalg.generic
func.func @stay(%x: memref<20000xi8>, %z: memref<20xi8>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %a = memref.view %x[%c0][] : memref<20000xi8> to memref<5x1000xf32>
  %b = memref.view %x[%c0][] : memref<20000xi8> to memref<5x10xf32>
  %c = memref.view %z[%c0][] : memref<20xi8> to memref<5xf32>
  linalg.generic {
    indexing_maps = [affine_map<(i, l) -> (i, l)>, affine_map<(i, l) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%a : memref<5x1000xf32>) outs(%c : memref<5xf32>) {
  ^bb0(%u: f32, %w: f32):
    %s = arith.addf %w, %u : f32
    linalg.yield %s : f32
  }
  linalg.generic {
    indexing_maps = [affine_map<(i, l) -> (i, l)>, affine_map<(i, l) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%b : memref<5x10xf32>) outs(%c : memref<5xf32>) {
  ^bb0(%u: f32, %w: f32):
    %s = arith.addf %w, %u fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// The fill before the reduction and the elementwise operation after it are computed with each element.
// CHECK-LABEL: func.func @bias
// CHECK-NOT:     linalg.fill
// CHECK:         gpu.launch
// CHECK:           %[[SUMS:.+]]:6 = scf.for {{.*}} iter_args(%{{.+}} = %[[ZERO:.+]], %{{.+}} = %[[ZERO]], %{{.+}} = %[[ZERO]], %{{.+}} = %[[ZERO]], 
// CHECK:           arith.maximumf
// CHECK-NOT:     linalg.generic
func.func @bias(%x: memref<8192xi8>, %y: memref<8192xi8>, %z: memref<16384xi8>, %t: memref<16384xi8>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.view %x[%c0][] : memref<8192xi8> to memref<64x32xf32>
  %b = memref.view %y[%c0][] : memref<8192xi8> to memref<32x64xf32>
  %c = memref.view %z[%c0][] : memref<16384xi8> to memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
  linalg.generic {
    indexing_maps = [affine_map<(i, j, l) -> (i, l)>, affine_map<(i, j, l) -> (l, j)>, affine_map<(i, j, l) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : memref<64x32xf32>, memref<32x64xf32>) outs(%c : memref<64x64xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32):
    %p = arith.mulf %u, %v fastmath<contract> : f32
    %s = arith.addf %w, %p fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]
  } outs(%c : memref<64x64xf32>) {
  ^bb0(%w: f32):
    %m = arith.maximumf %w, %zero : f32
    linalg.yield %m : f32
  }
  return
}

// -----

// The host computes the number of tiles from dynamic extents, each at most the number of blocks. Without products nothing is read.
// CHECK-LABEL: func.func @dynamic
// CHECK:         %[[M:.+]] = memref.dim %{{.+}}, %{{.+}} : memref<?x?xf32>
// CHECK:         %[[TILES:.+]] = arith.index_cast %{{.+}} : i64 to index
// CHECK:         %[[FEW:.+]] = arith.minui %[[TILES]], %{{.+}} : index
// CHECK:         %[[BLOCKS:.+]] = arith.maxui %[[FEW]], %{{.+}} : index
// CHECK:         gpu.launch {{.*}} in (%{{.+}} = %[[BLOCKS]],
// CHECK:           scf.for %{{.+}} = %{{.+}} to %[[TILES]]
// CHECK:             scf.if
// CHECK:               scf.for
// CHECK:                 gpu.barrier
// CHECK:               scf.for
// CHECK:                 gpu.barrier
// CHECK:             else
// CHECK:             scf.if
// CHECK:               memref.store
// CHECK-NOT:       linalg.generic
func.func @dynamic(%x: memref<?xi8>, %y: memref<?xi8>, %z: memref<?xi8>, %m: index, %n: index, %k: index) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %a = memref.view %x[%c0][%m, %k] : memref<?xi8> to memref<?x?xf32>
  %b = memref.view %y[%c0][%k, %n] : memref<?xi8> to memref<?x?xf32>
  %c = memref.view %z[%c0][%m, %n] : memref<?xi8> to memref<?x?xf32>
  linalg.generic {
    indexing_maps = [affine_map<(i, j, l) -> (i, l)>, affine_map<(i, j, l) -> (l, j)>, affine_map<(i, j, l) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32):
    %p = arith.mulf %u, %v fastmath<contract> : f32
    %s = arith.addf %w, %p fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Rows of dynamic extents.
// CHECK-LABEL: func.func @dynamic_rows
// CHECK:         gpu.launch
// CHECK:           arith.minui
// CHECK:           scf.for
// CHECK:             arith.maximumf
// CHECK-NOT:       linalg.generic
func.func @dynamic_rows(%x: memref<?xi8>, %z: memref<?xi8>, %m: index, %k: index) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %a = memref.view %x[%c0][%m, %k] : memref<?xi8> to memref<?x?xf32>
  %c = memref.view %z[%c0][%m] : memref<?xi8> to memref<?xf32>
  linalg.generic {
    indexing_maps = [affine_map<(i, l) -> (i, l)>, affine_map<(i, l) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%a : memref<?x?xf32>) outs(%c : memref<?xf32>) {
  ^bb0(%u: f32, %w: f32):
    %s = arith.maximumf %w, %u : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// At an address that is no multiple of 16, elements are copied one by one.
// CHECK-LABEL: func.func @apart
// CHECK:         gpu.launch
// CHECK-NOT:       {alignment = 8 : i64} : memref<4000xf32
// CHECK:           memref.load %{{.+}} : memref<4000xf32, strided<[1]>>
// CHECK:         return
func.func @apart(%x: memref<16004xi8>, %y: memref<10240xi8>, %z: memref<25600xi8>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %a = memref.view %x[%c4][] : memref<16004xi8> to memref<100x40xf32>
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

// 64 products are whole steps: after the last one no copy begins. A thread copies 4 rows and 2 columns: 16 bytes go past the cache of a
// processor, shorter ones do not.
// DIRECT-LABEL: func.func @whole
// DIRECT:           scf.for %[[FIRST:.+]] = %c0_i32 to %c64_i32 step %c8_i32
// DIRECT:             nvvm.cp.async.wait.group 0
// DIRECT-NEXT:        gpu.barrier
// DIRECT-NEXT:        %[[NEXT:.+]] = arith.addi %[[FIRST]], %c8_i32 : i32
// DIRECT-NEXT:        %[[ANY:.+]] = arith.cmpi ult, %[[NEXT]], %c64_i32 : i32
// DIRECT-NEXT:        scf.if %[[ANY]] {
// DIRECT:               nvvm.cp.async.shared.global %{{.+}}, %{{.+}}, 16, cache = cg
// DIRECT:               nvvm.cp.async.shared.global %{{.+}}, %{{.+}}, 8, cache = ca
// DIRECT-NEXT:          nvvm.cp.async.commit.group
// DIRECT-NEXT:        }
func.func @whole(%x: memref<524288xi8>, %y: memref<524288xi8>, %z: memref<16777216xi8>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %a = memref.view %x[%c0][] : memref<524288xi8> to memref<64x2048xf32>
  %b = memref.view %y[%c0][] : memref<524288xi8> to memref<64x2048xf32>
  %c = memref.view %z[%c0][] : memref<16777216xi8> to memref<2048x2048xf32>
  linalg.generic {
    indexing_maps = [affine_map<(i, j, l) -> (l, i)>, affine_map<(i, j, l) -> (l, j)>, affine_map<(i, j, l) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : memref<64x2048xf32>, memref<64x2048xf32>) outs(%c : memref<2048x2048xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32):
    %p = arith.mulf %u, %v fastmath<contract> : f32
    %s = arith.addf %w, %p fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  }
  return
}
