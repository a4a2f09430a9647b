// SPDX-License-Identifier: Apache-2.0
//! Published and hand-made examples.

use crate::{Call, Output, Value, kernel, largest_position};
use skript_semantics::Numbers;
use skript_semantics::ScalarKind::{self, Int, Real};
use skript_tensor::{ElementType, Tensor};

type Attributes<'a> = &'a [(&'a str, Value)];

/// Calls an intrinsic whose outputs have these types; without types, the kernel determines the shapes.
fn run(
    name: &str,
    attributes: Attributes<'_>,
    inputs: &[Tensor],
    outputs: &[(ScalarKind, &[u64])],
) -> Vec<Tensor> {
    let owned = attributes.iter().map(|(n, v)| (n.to_string(), v.clone()));
    let output = |(kind, shape): &(ScalarKind, &[u64])| Output {
        element: ElementType::for_kind(*kind, Numbers::default()),
        shape: Some(shape.to_vec()),
        bound: shape.to_vec(),
    };
    let call = Call {
        attributes: &owned.collect::<Vec<_>>(),
        inputs: &inputs.iter().collect::<Vec<_>>(),
        outputs: &outputs.iter().map(output).collect::<Vec<_>>(),
        seed: 7,
    };
    kernel(name).unwrap().run(&call).unwrap_or_else(|e| panic!("{e}"))
}

fn reals(shape: &[u64], values: &[f32]) -> Tensor {
    Tensor::from_f32(shape, values).unwrap()
}

fn ints(values: &[i64]) -> Value {
    Value::List(values.iter().map(|&i| Value::Int(i)).collect())
}

fn text(value: &str) -> Value {
    Value::Str(value.to_string())
}

#[test]
fn largest_keeps_equal_values_in_order() {
    let attributes = |largest| {
        [
            ("k", Value::Int(3)),
            ("axis", Value::Int(-1)),
            ("largest", Value::Bool(largest)),
            ("sorted", Value::Bool(true)),
        ]
    };
    let x = reals(&[2, 4], &[1.0, 3.0, 3.0, 2.0, 5.0, 4.0, 6.0, 4.0]);
    let types: [(ScalarKind, &[u64]); 2] = [(Real, &[2, 3]), (Int, &[2, 3])];
    let top = run("algo.top_k", &attributes(true), std::slice::from_ref(&x), &types);
    assert_eq!(top[0].as_f32(), Some(&[3.0, 3.0, 2.0, 6.0, 5.0, 4.0][..]));
    assert_eq!(top[1].as_i64(), Some(&[1, 2, 3, 2, 0, 1][..]));
    let low = run("algo.top_k", &attributes(false), &[x], &types);
    assert_eq!(low[1].as_i64(), Some(&[0, 3, 1, 1, 3, 0][..]));
}

/// Integers that f64 cannot represent are distinguished.
#[test]
fn largest_compares_ints_exactly() {
    let attributes = [("k", Value::Int(4)), ("axis", Value::Int(0)), ("largest", Value::Bool(true))];
    let values = [i64::MIN, i64::MAX - 1, i64::MAX, i64::MAX - 1];
    let x = Tensor::from_i64(&[4], &values).unwrap();
    let types: [(ScalarKind, &[u64]); 2] = [(Int, &[4]), (Int, &[4])];
    let top = run("onnx.top_k", &attributes, &[x], &types);
    let sorted = [i64::MAX, i64::MAX - 1, i64::MAX - 1, i64::MIN];
    assert_eq!(top[0].as_i64(), Some(&sorted[..]));
    assert_eq!(top[1].as_i64(), Some(&[2, 1, 3, 0][..]));
}

/// The example in the ONNX specification of NonMaxSuppression.
#[test]
fn overlapping_boxes_are_suppressed() {
    let boxes = [
        [0.0, 0.0, 1.0, 1.0],
        [0.0, 0.1, 1.0, 1.1],
        [0.0, -0.1, 1.0, 0.9],
        [0.0, 10.0, 1.0, 11.0],
        [0.0, 10.1, 1.0, 11.1],
        [0.0, 100.0, 1.0, 101.0],
    ]
    .concat();
    let scores = [0.9, 0.75, 0.6, 0.95, 0.5, 0.3];
    let suppress = |limit, min_score, boxes: &[f32], format| {
        let attributes = [
            ("box_format", text(format)),
            ("max_outputs_per_class", Value::Int(limit)),
            ("iou_threshold", Value::Real(0.5)),
            ("score_threshold", min_score),
        ];
        let inputs = [reals(&[1, 6, 4], boxes), reals(&[1, 1, 6], &scores)];
        run("algo.nonmax_suppress", &attributes, &inputs, &[(Int, &[6, 3])]).remove(0)
    };
    let all = suppress(6, Value::Null, &boxes, "CORNERS");
    assert_eq!(all.shape(), [3, 3]);
    assert_eq!(all.as_i64(), Some(&[0, 0, 3, 0, 0, 0, 0, 0, 5][..]));
    let two = suppress(2, Value::Null, &boxes, "CORNERS");
    assert_eq!(two.as_i64(), Some(&[0, 0, 3, 0, 0, 0][..]));
    let good = suppress(6, Value::Real(0.4), &boxes, "CORNERS");
    assert_eq!(good.shape(), [2, 3]);
    let centered: Vec<f32> =
        boxes.chunks(4).flat_map(|b| [(b[1] + b[3]) / 2.0, (b[0] + b[2]) / 2.0, 1.0, 1.0]).collect();
    let same = suppress(6, Value::Null, &centered, "CENTER");
    assert_eq!(same.as_i64(), all.as_i64());
}

#[test]
fn positions_come_in_columns() {
    let x = reals(&[2, 3], &[0.0, 1.0, 0.0, 2.0, 0.0, f32::NAN]);
    let result = run("layout.nonzero", &[], &[x], &[(Int, &[2, 6])]).remove(0);
    assert_eq!(result.shape(), [2, 3]);
    assert_eq!(result.as_i64(), Some(&[0, 1, 1, 1, 0, 2][..]));
}

/// The first and the last row of the cubic Resize example (scale 2) in the ONNX specification.
#[test]
fn cubic_enlargement() {
    let values: Vec<f32> = (1..=16u8).map(f32::from).collect();
    let attributes = [
        ("axes", ints(&[-2, -1])),
        ("size", ints(&[8, 8])),
        ("antialias", Value::Bool(true)),
        ("coeff_a", Value::Real(-0.75)),
        ("coordinate_transform", text("SYMMETRIC")),
    ];
    let x = reals(&[1, 4, 4], &values);
    let y = run("image.cubic_resize", &attributes, &[x], &[(Real, &[1, 8, 8])]).remove(0);
    // In units of 1/256.
    let first = [121.0, 197.0, 319.0, 480.0, 584.0, 745.0, 867.0, 943.0].map(|v: f32| v / 256.0);
    assert_eq!(y.as_f32().unwrap()[..8], first);
    let last = first.map(|v| 17.0 - v);
    assert!(y.as_f32().unwrap()[56..].iter().rev().eq(last.iter()));
}

#[test]
fn regions_are_cut_into_bins() {
    let values: Vec<f32> = (0..16u8).map(f32::from).collect();
    let inputs = [
        reals(&[1, 1, 4, 4], &values),
        reals(&[2, 4], &[0.0, 0.0, 4.0, 4.0, 1.0, 1.0, 3.0, 2.0]),
        Tensor::from_i64(&[2], &[0, 0]).unwrap(),
    ];
    let types: [(ScalarKind, &[u64]); 1] = [(Real, &[2, 1, 2, 1])];
    let largest = run("image.max_roi_pool", &[], &inputs, &types).remove(0);
    assert_eq!(largest.as_f32(), Some(&[7.0, 15.0, 5.0, 9.0][..]));
    let mean = run("image.avg_roi_pool", &[], &inputs, &types).remove(0);
    assert_eq!(mean.as_f32(), Some(&[3.5, 11.5, 5.0, 9.0][..]));
}

#[test]
fn far_positions_of_a_grid_are_the_border() {
    let attributes = [("padding", Value::Str("REPLICATE".to_string())), ("aligned", Value::Bool(false))];
    let values: Vec<f32> = (0..16u8).map(f32::from).collect();
    let far = [1e12, 1e12, 1e17, 1e30, 1e30, -1e30];
    let inputs = [reals(&[1, 1, 4, 4], &values), reals(&[1, 3, 1, 2], &far)];
    let types: [(ScalarKind, &[u64]); 1] = [(Real, &[1, 1, 3, 1])];
    let result = run("image._cubic_grid_sample", &attributes, &inputs, &types).remove(0);
    let result = result.as_f32().unwrap();
    let near = |(a, b): (&f32, f32)| (a - b).abs() < 1e-4;
    assert!(result.iter().zip([15.0, 15.0, 3.0]).all(near), "{result:?}");
}

#[test]
fn random_tensors_keep_their_range() {
    let attributes = [("min", Value::Int(2)), ("max", Value::Int(5))];
    let dice = run("rand.uniform", &attributes, &[], &[(Int, &[100])]).remove(0);
    let dice = dice.as_i64().unwrap();
    assert!(dice.iter().all(|d| (2..5).contains(d)));
    assert!((2..5).all(|d| dice.contains(&d)));
    let attributes = [("mean", Value::Real(3.0)), ("std", Value::Real(0.5))];
    let bell = run("rand.normal", &attributes, &[], &[(Real, &[1000])]).remove(0);
    let mean = bell.as_f32().unwrap().iter().sum::<f32>() / 1000.0;
    assert!((2.9..3.1).contains(&mean));
}

#[test]
fn rounding_does_not_leave_the_range() {
    let drawn = |element: ElementType, min: f64, max: f64| -> Vec<f64> {
        let call = Call {
            attributes: &[("min".to_string(), Value::Real(min)), ("max".to_string(), Value::Real(max))],
            inputs: &[],
            outputs: &[Output { element, shape: Some(vec![20_000]), bound: vec![20_000] }],
            seed: 7,
        };
        let result = kernel("rand.uniform").unwrap().run(&call).unwrap();
        result[0].scalars().map(|x| x.to_real()).collect()
    };
    for (element, min, max) in [
        (ElementType::F16, 0.0, 1.0),
        (ElementType::BF16, -1.0, 1.0),
        (ElementType::F16, 0.1, 0.11),
        (ElementType::BF16, 1000.0, 1010.0),
        (ElementType::F32, 1e8, 1e8 + 20.0),
    ] {
        let numbers = drawn(element, min, max);
        assert!(numbers.iter().all(|x| (min..max).contains(x)), "{element} {min} {max}");
    }
    // Two adjacent values, 1e8 and the next f32, each drawn half of the time.
    let halves = drawn(ElementType::F32, 1e8, 1e8 + 16.0);
    let upper = halves.iter().filter(|x| **x == 1e8 + 8.0).count();
    assert!((9_500..15_500).contains(&upper), "{upper}");
    assert_eq!(drawn(ElementType::F16, 2.5, 2.5)[0], 2.5);
}

#[test]
fn a_missing_shape_is_an_error() {
    let call = Call {
        attributes: &[("min".to_string(), Value::Real(0.0))],
        inputs: &[],
        outputs: &[Output { element: ElementType::F32, shape: None, bound: vec![4] }],
        seed: 7,
    };
    let error = kernel("rand.uniform").unwrap().run(&call).unwrap_err();
    assert!(matches!(error, crate::KernelError::NoShape(0)), "{error}");
    assert!(kernel("nn.relu").is_none());
}

#[test]
fn nothing_else_is_an_intrinsic() {
    let names: Vec<_> = crate::names().collect();
    assert_eq!(
        names,
        [
            "algo.top_k",
            "onnx.top_k",
            "algo.nonmax_suppress",
            "layout.nonzero",
            "image.cubic_resize",
            "image._cubic_grid_sample",
            "image.max_roi_pool",
            "image.avg_roi_pool",
            "rand.uniform",
            "rand.normal",
            "rand.bernoulli",
        ]
    );
    assert!(names.iter().all(|n| crate::is_random(n) == n.starts_with("rand.")));
}

#[test]
fn positions_end_where_the_extents_do() {
    let shapes = [vec![300, 10]];
    let largest = |axis| largest_position("algo.top_k", Some(axis), &shapes);
    assert_eq!([0, 1, -1, -2, 2].map(largest), [Some(299), Some(9), Some(9), Some(299), None]);
    assert_eq!(largest_position("layout.nonzero", None, &shapes), Some(299));
    let boxes = [vec![2, 6, 4], vec![2, 40, 6]];
    let suppressed = largest_position("algo.nonmax_suppress", None, &boxes);
    assert_eq!(suppressed, Some(39));
    assert_eq!(largest_position("rand.uniform", None, &shapes), None);
}
