// RUN: not skript-opt %s --split-input-file --skript-write-outputs 2>&1 | FileCheck %s

// CHECK: known only at run time
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> attributes {skript.entry} {
  return %x : tensor<?xf32>
}

// -----

// CHECK: none is marked `skript.entry`
func.func @one() { return }
func.func @other() { return }
