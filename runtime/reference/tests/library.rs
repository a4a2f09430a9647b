// SPDX-License-Identifier: Apache-2.0
//! Operators of the standard library that the conformance suite does not cover: values worked out by hand.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skript_frontend::check::check_program;
use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::Sink;
use skript_frontend::limits::Limits;
use skript_frontend::model::Model;
use skript_frontend::program::Edition;
use skript_frontend::source_files::load_program;
use skript_reference::{Outcome, evaluate};
use skript_tensor::Tensor;
use std::sync::Arc;

fn model(edition: Edition, outputs: &str, statements: &str) -> Result<Model, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.sknd");
    let modules = ["layout", "math", "linalg", "nn", "image", "layer", "misc", "rand"];
    let imports: String = modules.iter().map(|m| format!("import {m};\n")).collect();
    let text = format!("{imports}graph G {{ @output {{ {outputs} }} @compose {{ {statements} }} }}");
    std::fs::write(&path, text).unwrap();
    let (limits, mut sink) = (Limits::default(), Sink::default());
    let program = load_program(&path, Some(edition), &limits, &mut sink);
    check_program(&program, &mut sink);
    let model = if sink.has_errors() {
        None
    } else {
        compose(&program, &ComposeOptions::default(), &limits, &mut sink)
    };
    model.ok_or_else(|| sink.into_sorted().into_iter().map(|d| d.message).collect())
}

/// Runs the statements of a graph without inputs; `variables` in the model's order, each filled with one value.
fn run_with(edition: Edition, outputs: &str, statements: &str, variables: &[f32]) -> Outcome {
    let model = model(edition, outputs, statements).unwrap_or_else(|e| panic!("{e:#?}"));
    let shapes = model.variables.iter().map(|v| v.tensor.fixed_shape().unwrap());
    let variables: Vec<_> = shapes
        .zip(variables)
        .map(|(shape, value)| {
            let volume: u64 = shape.iter().product();
            let values = vec![*value; usize::try_from(volume).unwrap()];
            Arc::new(Tensor::from_f32(&shape, &values).unwrap())
        })
        .collect();
    evaluate(&model, &[], &variables).unwrap()
}

fn reals(outputs: &str, statements: &str) -> Vec<f32> {
    let outcome = run_with(Edition::Draft6, outputs, statements, &[]);
    outcome.outputs[0].as_f32().unwrap().to_vec()
}

/// A statement `name = …;` that makes a tensor of `values`.
fn tensor(name: &str, shape: &[u64], values: &[f32]) -> String {
    format!("{name} = layout.constant{{shape={shape:?}, value={values:?}}}();\n")
}

fn counting(name: &str, shape: &[u64]) -> String {
    let volume: u64 = shape.iter().product();
    let values: Vec<f32> = (0..u16::try_from(volume).unwrap()).map(f32::from).collect();
    tensor(name, shape, &values)
}

#[test]
fn running_sums_go_both_ways_with_and_without_the_element() {
    let sum = |attributes: &str| {
        let x = tensor("x", &[2, 3], &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
        reals("y: real[2,3];", &format!("{x} y = math.cumsum{{axis=-1{attributes}}}(x);"))
    };
    assert_eq!(sum(""), [1.0, 3.0, 7.0, 8.0, 24.0, 56.0]);
    assert_eq!(sum(", exclusive=true"), [0.0, 1.0, 3.0, 0.0, 8.0, 24.0]);
    assert_eq!(sum(", reverse=true"), [7.0, 6.0, 4.0, 56.0, 48.0, 32.0]);
    let both = sum(", exclusive=true, reverse=true");
    assert_eq!(both, [6.0, 4.0, 0.0, 48.0, 32.0, 0.0]);
}

#[test]
fn channels_become_blocks_and_back() {
    // One pixel of four channels is a block of 2 × 2.
    let x = counting("x", &[1, 4, 1, 2]);
    let y = reals("y: real[1,1,2,4];", &format!("{x} y = layout.depth_to_space{{block_size=[2, 2]}}(x);"));
    assert_eq!(y, [0.0, 2.0, 1.0, 3.0, 4.0, 6.0, 5.0, 7.0]);
    let back = reals(
        "z: real[1,4,1,2];",
        &format!(
            "{x} y = layout.depth_to_space{{block_size=2}}(x); z = layout.space_to_depth{{block_size=2}}(y);"
        ),
    );
    assert_eq!(back, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
}

#[test]
fn blocks_first_tells_where_the_channel_stands() {
    let x = counting("x", &[1, 4, 1, 1]);
    let depth_to_space = |first: bool| {
        reals(
            "y: real[1,2,1,2];",
            &format!("{x} y = layout.depth_to_space{{block_size=[1, 2], blocks_first={first}}}(x);"),
        )
    };
    assert_eq!(depth_to_space(true), [0.0, 2.0, 1.0, 3.0]);
    assert_eq!(depth_to_space(false), [0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn vectors_span_a_grid() {
    let (a, b) = (tensor("a", &[2], &[1.0, 2.0]), tensor("b", &[3], &[3.0, 4.0, 5.0]));
    let statements = format!("{a} {b} [x, y] = misc.mesh_grid([a, b]);");
    let outcome = run_with(Edition::Draft6, "x: real[2,3]; y: real[2,3];", &statements, &[]);
    let read = |i: usize| outcome.outputs[i].as_f32().unwrap().to_vec();
    assert_eq!(read(0), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
    assert_eq!(read(1), [3.0, 4.0, 5.0, 3.0, 4.0, 5.0]);
}

#[test]
fn grids_look_between_and_beyond_elements() {
    let x = tensor("x", &[1, 1, 4], &[10.0, 20.0, 30.0, 40.0]);
    // With corners aligned, -1 … 1 is 0 … 3: positions 0, 1.5, 3 and 4.5.
    let grid = tensor("g", &[1, 4, 1], &[-1.0, 0.0, 1.0, 2.0]);
    let sample = |attributes: &str| {
        reals(
            "y: real[1,1,4];",
            &format!("{x} {grid} y = image.grid_sample{{aligned=true{attributes}}}(x, g);"),
        )
    };
    assert_eq!(sample(""), [10.0, 25.0, 40.0, 0.0]);
    assert_eq!(sample(", padding='REPLICATE'"), [10.0, 25.0, 40.0, 40.0]);
    // 4.5 is mirrored at 3 to 1.5.
    assert_eq!(sample(", padding='REFLECT'"), [10.0, 25.0, 40.0, 25.0]);
    assert_eq!(sample(", mode='NEAREST'"), [10.0, 30.0, 40.0, 0.0]);
}

#[test]
fn grid_coordinates_name_the_last_dimension_first() {
    let x = counting("x", &[1, 1, 2, 2]);
    let grid = tensor("g", &[1, 1, 1, 2], &[1.0, -1.0]);
    let y = reals("y: real[1,1,1,1];", &format!("{x} {grid} y = image.grid_sample{{aligned=true}}(x, g);"));
    assert_eq!(y, [1.0]);
}

#[test]
fn the_default_permutation_reverses_from_the_axis_on() {
    let x = counting("x", &[2, 2, 2]);
    let y = reals("y: real[2,2,2];", &format!("{x} y = layout.transpose{{axis=1}}(x);"));
    assert_eq!(y, [0.0, 2.0, 1.0, 3.0, 4.0, 6.0, 5.0, 7.0]);
}

#[test]
fn layers_own_their_weights() {
    let x = tensor("x", &[1, 2], &[3.0, 5.0]);
    let statements = format!("{x} y = layer.linear{{channels=2}}(x);");
    let names: Vec<String> = model(Edition::Draft6, "y: real[1,2];", &statements)
        .unwrap()
        .variables
        .into_iter()
        .map(|v| v.name)
        .collect();
    assert_eq!(names, ["main.G.y.filter", "main.G.y.bias"]);
    let outcome = run_with(Edition::Draft6, "y: real[1,2];", &statements, &[2.0, 1.0]);
    assert_eq!(outcome.outputs[0].as_f32().unwrap(), [17.0, 17.0]);
}

#[test]
fn layers_of_convolutions_know_their_extents() {
    let x = counting("x", &[1, 2, 4]);
    let y = reals_of_layer(
        "y: real[1,4,2];",
        &format!(
            "{x} y = layer.conv{{channels=4, size=[2], stride=2, padding=0, groups=2, use_bias=false}}(x);"
        ),
        &[1.0],
    );
    assert_eq!(y, [1.0, 5.0, 1.0, 5.0, 9.0, 13.0, 9.0, 13.0]);
    let y = reals_of_layer(
        "y: real[1,1,5];",
        &format!("{x} y = layer.deconv{{channels=1, size=[2], padding=0}}(x);"),
        &[1.0, 0.5],
    );
    assert_eq!(y, [4.5, 10.5, 14.5, 18.5, 10.5]);
}

fn reals_of_layer(outputs: &str, statements: &str, variables: &[f32]) -> Vec<f32> {
    let outcome = run_with(Edition::Draft6, outputs, statements, variables);
    outcome.outputs[0].as_f32().unwrap().to_vec()
}

#[test]
fn batches_are_normalized_by_the_statistics_that_the_layer_owns() {
    // mean 1, variance 1, bias 1, scale 1: x - 1 + 1.
    let x = tensor("x", &[1, 1, 2], &[1.0, 3.0]);
    let statements = format!("{x} y = layer.batch_norm{{epsilon=0.0}}(x);");
    let y = reals_of_layer("y: real[1,1,2];", &statements, &[1.0; 4]);
    assert_eq!(y, [1.0, 3.0]);
    // mean 0, variance 4 alone.
    let statements = format!("{x} y = layer.batch_norm{{epsilon=0.0, use_bias=false, use_scale=false}}(x);");
    let y = reals_of_layer("y: real[1,1,2];", &statements, &[0.0, 4.0]);
    assert_eq!(y, [0.5, 1.5]);
}

#[test]
fn the_khronos_edition_divides_towards_zero_and_slices_from_the_start() {
    let ints = |statements: &str| {
        let outcome = run_with(Edition::Khronos, "z: int[4];", statements, &[]);
        outcome.outputs[0].as_i64().unwrap().to_vec()
    };
    let operands = "x = layout.tensor{shape=[4], value=[7, -7, 7, -7]}();
        y = layout.tensor{shape=[4], value=[2, 2, -2, -2]}();";
    assert_eq!(ints(&format!("{operands} z = math.div(x, y);")), [3, -3, -3, 3]);
    assert_eq!(ints(&format!("{operands} z = math.mod(x, y);")), [1, -1, 1, -1]);
    let reversed = "x = layout.tensor{shape=[4], value=[1, 2, 3, 4]}();
        z = layout.slice{axes=[0], begin=[3], end=[-1], stride=[-1]}(x);";
    assert_eq!(ints(reversed), [4, 3, 2, 1]);
}

#[test]
fn the_khronos_edition_finds_positions_along_a_last_dimension() {
    let x = tensor("x", &[2, 2, 2], &[0.0, 9.0, 1.0, 2.0, 3.0, 4.0, 8.0, 5.0]);
    let statements = format!("{x} y = math.argmax_nd{{axes=[1, 2], squeeze=true}}(x);");
    let outcome = run_with(Edition::Khronos, "y: int[2,2];", &statements, &[]);
    assert_eq!(outcome.outputs[0].as_i64().unwrap(), [0, 1, 1, 0]);
}

#[test]
fn attributes_out_of_range_are_named() {
    let message = |statements: &str| {
        let x = counting("x", &[1, 4, 4]);
        model(Edition::Draft6, "y: real[1,4,4];", &format!("{x} {statements}")).unwrap_err()[0].clone()
    };
    assert!(
        message("y = layout.pad{padding=[0, 0, 4, 0, 0, 4], method='REFLECT'}(x);").contains("'padding'")
    );
    assert!(message("y = layout.shuffle{axis=1, groups=3}(x);").contains("'groups'"));
    for beyond in [
        "y = layout.flatten{axis=3}(x);",
        "y = layout.flatten{axis=3, rank=0}(x);",
        "y = layout.reshape{axis=3, rank=0, shape=[1]}(x);",
        "y = layout.transpose{axis=3, perm=[]}(x);",
    ] {
        assert!(message(beyond).contains("'axis' must lie between"), "{beyond}");
    }
}

/// A single value is repeated for every element (2.6.1), whatever their number.
#[test]
fn tensors_of_an_image_are_filled_with_one_value() {
    let filled = "y = layout.tensor{shape=[1, 64, 224, 224], value=1.0}();";
    model(Edition::Khronos, "y: real[1,64,224,224];", filled).unwrap_or_else(|e| panic!("{e:#?}"));
}
