// RUN: not skript-opt %s --split-input-file --skript-write-outputs 2>&1 | FileCheck %s

// CHECK: result 0 of type tensor<?xf32> has an extent known only at run time, but no bound
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> attributes {skript.entry} {
  return %x : tensor<?xf32>
}

// -----

// CHECK: none is marked `skript.entry`
func.func @one() { return }
func.func @other() { return }
