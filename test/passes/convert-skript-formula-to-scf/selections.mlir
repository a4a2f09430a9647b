// RUN: skript-opt %s --convert-skript-formula-to-scf --split-input-file | FileCheck %s

// The position of the first largest element of each row: its choice is marked.
// CHECK-LABEL: func.func @largest
// CHECK:         } {skript.selects}
func.func @largest(%x: tensor<5x500xf32>, %y: tensor<5x500xf32>, %init: tensor<5xi64>) -> tensor<5xi64> {
  %p = skript.formula replace (%i, %l) in (5, 500) outs(%acc = %init : tensor<5xi64>) where {
    %u = skript.access %x[%i, %l] : tensor<5x500xf32>
    %h = skript.access %acc[%i] : tensor<5xi64>
    %k = arith.index_cast %h : i64 to index
    %v = skript.access %x[%i, %k] : tensor<5x500xf32>
    %is = skript.gt %u, %v : f32
    skript.condition %is
  } do {
    %n = arith.index_cast %l : index to i64
    skript.yield %n at [%i] : i64
  } : tensor<5xi64>
  return %p : tensor<5xi64>
}

// -----

// The operands of the comparison are exchanged.
// CHECK-LABEL: func.func @least
// CHECK:         } {skript.selects}
func.func @least(%x: tensor<5x500xf32>, %y: tensor<5x500xf32>, %init: tensor<5xi64>) -> tensor<5xi64> {
  %p = skript.formula replace (%i, %l) in (5, 500) outs(%acc = %init : tensor<5xi64>) where {
    %u = skript.access %x[%i, %l] : tensor<5x500xf32>
    %h = skript.access %acc[%i] : tensor<5xi64>
    %k = arith.index_cast %h : i64 to index
    %v = skript.access %x[%i, %k] : tensor<5x500xf32>
    %is = skript.gt %v, %u : f32
    skript.condition %is
  } do {
    %n = arith.index_cast %l : index to i64
    skript.yield %n at [%i] : i64
  } : tensor<5xi64>
  return %p : tensor<5xi64>
}

// -----

// The last one of equal elements is selected.
// CHECK-LABEL: func.func @last
// CHECK-NOT:     skript.selects
func.func @last(%x: tensor<5x500xf32>, %y: tensor<5x500xf32>, %init: tensor<5xi64>) -> tensor<5xi64> {
  %p = skript.formula replace (%i, %l) in (5, 500) outs(%acc = %init : tensor<5xi64>) where {
    %u = skript.access %x[%i, %l] : tensor<5x500xf32>
    %h = skript.access %acc[%i] : tensor<5xi64>
    %k = arith.index_cast %h : i64 to index
    %v = skript.access %x[%i, %k] : tensor<5x500xf32>
    %is = skript.ge %u, %v : f32
    skript.condition %is
  } do {
    %n = arith.index_cast %l : index to i64
    skript.yield %n at [%i] : i64
  } : tensor<5xi64>
  return %p : tensor<5xi64>
}

// -----

// The element is compared with one of another tensor.
// CHECK-LABEL: func.func @other
// CHECK-NOT:     skript.selects
func.func @other(%x: tensor<5x500xf32>, %y: tensor<5x500xf32>, %init: tensor<5xi64>) -> tensor<5xi64> {
  %p = skript.formula replace (%i, %l) in (5, 500) outs(%acc = %init : tensor<5xi64>) where {
    %u = skript.access %x[%i, %l] : tensor<5x500xf32>
    %h = skript.access %acc[%i] : tensor<5xi64>
    %k = arith.index_cast %h : i64 to index
    %v = skript.access %y[%i, %k] : tensor<5x500xf32>
    %is = skript.gt %u, %v : f32
    skript.condition %is
  } do {
    %n = arith.index_cast %l : index to i64
    skript.yield %n at [%i] : i64
  } : tensor<5xi64>
  return %p : tensor<5xi64>
}

// -----

// All rows have one position.
// CHECK-LABEL: func.func @common
// CHECK-NOT:     skript.selects
func.func @common(%x: tensor<5x500xf32>, %y: tensor<5x500xf32>, %init: tensor<5xi64>) -> tensor<5xi64> {
  %p = skript.formula replace (%i, %l) in (5, 500) outs(%acc = %init : tensor<5xi64>) where {
    %zero = arith.constant 0 : index
    %u = skript.access %x[%i, %l] : tensor<5x500xf32>
    %h = skript.access %acc[%zero] : tensor<5xi64>
    %k = arith.index_cast %h : i64 to index
    %v = skript.access %x[%i, %k] : tensor<5x500xf32>
    %is = skript.gt %u, %v : f32
    skript.condition %is
  } do {
    %zero = arith.constant 0 : index
    %n = arith.index_cast %l : index to i64
    skript.yield %n at [%zero] : i64
  } : tensor<5xi64>
  return %p : tensor<5xi64>
}
