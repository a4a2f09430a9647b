// RUN: not skript-opt %s --split-input-file --skript-write-outputs 2>&1 | FileCheck %s

// CHECK: result 0 of type tensor<?xf32> has a dynamic extent without an upper bound
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> attributes {skript.entry} {
  return %x : tensor<?xf32>
}

// -----

// CHECK: none is marked `skript.entry`
func.func @one() { return }
func.func @other() { return }

// -----

// CHECK: the entry is called by a 'skript.invoke' of the module, and cannot get other arguments
func.func @entry(%x: tensor<4xf32>) -> tensor<4xf32> attributes {skript.entry} {
  %0 = skript.invoke @entry(%x) operator "mine.again" : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
