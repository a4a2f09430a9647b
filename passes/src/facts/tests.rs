// SPDX-License-Identifier: Apache-2.0

use super::*;
use crate::ir::copy::operation_name;
use crate::ir::skript::Check;
use crate::ir::{blocks, operations};
use melior::ir::{BlockLike, Module};
use skript_symbolic::Interval;

#[test]
fn definitions_and_checks_prove_extents_equal() {
    let text = "
        func.func @f(%x: tensor<?x3xf32>, %y: tensor<?xf32>, %n: index) {
          %c0 = arith.constant 0 : index
          %v = arith.constant 0.0 : f32
          %m = tensor.dim %x, %c0 : tensor<?x3xf32>
          %s = tensor.splat %v[%n] : tensor<?x3xf32>
          %u = tensor.splat %v[%n] : tensor<1x?x3x1xf32>
          %z = skript.add %s, %x : tensor<?x3xf32>
          %c4 = arith.constant 4 : index
          %fourfold = skript.mul %n, %c4 : index
          %wide = tensor.empty(%fourfold) : tensor<?xf32>
          %part = tensor.extract_slice %x[%m, 0] [%n, 1] [1, 1] : tensor<?x3xf32> to tensor<?xf32>
          %flat = tensor.collapse_shape %u [[0, 1], [2, 3]] : tensor<1x?x3x1xf32> into tensor<?x3xf32>
          %same = skript.eq %m, %n : index
          %flag = arith.andi %same, %same : i1
          skript.check %flag, \"SK9203\", \"not equal\"
          return
        }";
    let context = crate::ir::new_context();
    let module = Module::parse(&context, text).unwrap();
    let function = module.body().first_operation().unwrap();
    let body = blocks(function)[0];
    let all = operations(body);
    let [x, y, n] = [0, 1, 2].map(|a| Value::from(body.argument(a).unwrap()));
    let made = |name: &str| -> Value {
        let named = |op: &&OperationRef| operation_name(**op) == name;
        all.iter().find(named).unwrap().result(0).unwrap().into()
    };
    let mut facts = Facts::default();
    for name in
        [ops::tensor::SPLAT, ops::skript::ADD, ops::tensor::COLLAPSE_SHAPE, ops::tensor::EXTRACT_SLICE]
    {
        assert!(facts.is_extent(made(name), 0, n, 1), "{name}");
    }
    assert!(facts.is_extent(x, 0, made(ops::tensor::DIM), 1));
    assert!(!facts.is_extent(x, 0, n, 1));
    assert!(!facts.is_extent(y, 0, n, 1));
    assert!(facts.is_extent(made(ops::tensor::EMPTY), 0, n, 4));
    assert!(!facts.is_extent(made(ops::tensor::EMPTY), 0, n, 2));
    assert!(!facts.is_extent(y, 0, n, 4));
    let check = all.iter().find_map(|op| Check::cast(*op));
    facts.learn(check.unwrap().condition().unwrap());
    assert!(facts.is_extent(x, 0, n, 1));
    assert!(!facts.is_extent(y, 0, n, 1));
}

#[test]
fn a_selected_tensor_has_the_extents_of_neither() {
    let text = "
        func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index, %p: i1) {
          %c0 = arith.constant 0 : index
          %m = tensor.dim %x, %c0 : tensor<?xf32>
          %z = arith.select %p, %x, %y : tensor<?xf32>
          return
        }";
    let context = crate::ir::new_context();
    let module = Module::parse(&context, text).unwrap();
    let all = operations(blocks(module.body().first_operation().unwrap())[0]);
    let [dim, selected] = [1, 2].map(|n| Value::from(all[n].result(0).unwrap()));
    assert!(!Facts::default().is_extent(selected, 0, dim, 1));
}

#[test]
fn an_index_has_the_interval_of_its_operations() {
    let text = "
        func.func @f(%x: tensor<?xf32>) {
          %c0 = arith.constant 0 : index
          %c16 = arith.constant 16 : index
          %n = tensor.dim %x, %c0 : tensor<?xf32>
          %m = arith.minsi %n, %c16 : index
          %s = arith.subi %m, %c16 : index
          %p = arith.muli %s, %m : index
          return
        }";
    let context = crate::ir::new_context();
    let module = Module::parse(&context, text).unwrap();
    let all = operations(blocks(module.body().first_operation().unwrap())[0]);
    let range = |n: usize, depth| {
        let extent = |value, _| crate::ir::shape::Dim::of(value).map(|_| interval::EXTENT);
        interval::search(all[n].result(0).unwrap().into(), depth, &extent)
    };
    assert_eq!(range(3, 8), Some(Interval { low: 0, high: 16 }));
    assert_eq!(range(4, 8), Some(Interval { low: -16, high: 0 }));
    assert_eq!(range(5, 8), Some(Interval { low: -256, high: 0 }));
    assert_eq!(range(5, 1), None);
}
