// RUN: not skript-opt %s --split-input-file --skript-open-arguments 2>&1 | FileCheck %s

// CHECK: argument 0 has an extent known only at run time, but no bound
func.func @unbounded(%x: memref<?xf32>) attributes {skript.entry} {
  return
}

// -----

// CHECK: argument 0 has an extent known only at run time, but nobody tells it
func.func @untold(%x: memref<?xf32> {skript.bounds = array<i64: 8>}) attributes {skript.entry} {
  return
}

// -----

// CHECK: none is marked `skript.entry`
func.func @one() { return }
func.func @other() { return }
