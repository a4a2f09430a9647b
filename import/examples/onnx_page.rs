// SPDX-License-Identifier: Apache-2.0
//! Prints docs/onnx.md: what the rules say about themselves.

const INTRODUCTION: &str = "# ONNX models

Written by the example `onnx_page` of the crate `skript-import`; `scripts/docs.sh` updates it.

`skript import model.onnx` writes a model folder in SkriptND: `main.sknd`, the operators that the standard library lacks as
formulas in `onnx.sknd`, the weights in `main.safetensors`, and `import.json`, which has the inputs, outputs and variables in
the order of the ONNX graph, under both names. `skript run`, `check`, `compile`, `compare`, `bench` and `info` import an
`.onnx` file when they read it: in memory, nothing is written. Their messages name the file and the ONNX node. Outputs of `run` have the element types of the ONNX model.

- **Repeated blocks.** With `--structure`, blocks that repeat, such as the layers of a transformer, become one operator of `main.sknd`: named
  as the block's part of the graph, with its own arrays as variables. `--weights-format dat` writes a file for each array.
- **Names.** `_output_0` at the end is dropped, each run of other characters than letters and digits becomes `_`, and `_` at
  both ends is dropped. A name that begins with a digit, or is a word of the language, gets a prefix. A name that is in use
  gets the first free suffix of `_2`, `_3`, …. `--input`, `--input-shape` and `--constant` accept either name, and
  so do arrays of `.npz` archives; a name that two inputs have, one in each language, is that of the ONNX model, also in calls in Python. An input that has an initializer is no
  input of the document: its value is that of the initializer.
- **Calls decide shapes.** `skript run`, `compare`, `bench` and calls in Python import a model with dynamic dimensions for the shapes of their
  arrays, without any option. Where elements of small inputs decide shapes or branches, such as `axes` or a sampling rate, the model is imported for
  these values too. `--verbose` prints what it was imported for. Inputs with random values need `--input-shape`.
- **One code for all shapes.** `import`, `compile`, `check`, `info` and `view` keep dynamic dimensions with their names, and so do calls with
  `--bound batch=32`, which sets the upper bound of one (1024 without it, with a note). `--input-shape x=1,3,224,224` makes those of an input static;
  -1 and ?, as in `x=-1,3,224,224`, are for extents that stay as in the model. Upper bounds reserve addresses, not memory.
- **Shapes.** Arithmetic on shapes is computed at import, by any operator where the shapes are static. Without arrays, inputs that decide a shape
  become constants with `--constant NAME=FILE.npy`; where that is needed, the message names them.
- **Element types.** `real` is the least of f16, bf16, f32 and f64 that holds all types of the model. Tensors of a narrower type are stored
  in it and rounded to it, as weights, inputs, outputs and between nodes: `import.json` lists them ([numerics.md](numerics.md#storage-types-of-tensors)).
  With `--structure`, tensors inside of an operator are rounded by `onnx.round_reals`. Ints have 64 bits in SkriptND, and arithmetic wraps
  around as in the types of ONNX; weights, inputs and outputs of int8, int16 and int32 are stored so. uint64 has the bits of its ints.
  An array for an input has the type of the ONNX model, or another type of ints: values that do not fit are refused (SK9103).
- **Positions and zero divisors.** Where ONNX leaves a result undefined, it is defined here: an index of `Gather`, `GatherElements` or
  `GatherND` that is out of range reads the element at the border, as positions that data decide do in SkriptND, and nothing fails; the
  quotient of an int and 0 is 0.
- **Broadcasting.** Dynamic dimensions that a node combines must have one extent in each call: that of 1 is not repeated (SK9203), except by
  `Expand`, which repeats extents of 1 also where they are dynamic.
- **Checks in each call.** The parts of `Split` must add up to the extent of a dynamic dimension, `TopK` must find `k` elements there, what
  `Scan` scans together must have one length, and dimensions with one letter of `Einsum` one extent: other calls are refused (SK9203).
- **Slices.** Where data decide the ends of a `Slice`, its extents follow from them in each call. If the end is the begin plus a constant, the
  extent is that constant, and a call that finds fewer elements is refused (SK9203).
- **Branches.** The branches of an `If` that data select may have other extents. Where they have other ranks, the model is imported for one of
  them: that of the rank which the graph declares or, if the condition is an `Equal`, as in the `squeeze` of torch, the one of values that
  differ. A call whose condition selects the other branch is refused (SK9203).
- **Resizing.** `align_corners` and `tf_crop_and_resize` relate positions by the extents of the result, as the text of `Resize` and onnxruntime do.
  Two node tests of ONNX (`resize_downsample_scales_…_align_corners`) rest on the scales instead.
- **Random numbers** are of SkriptND (`rand.normal`, `rand.uniform`), as ONNX defines none: the same in each call and on every machine, others for
  each node. A seed selects none of them.
- **Ints.** The mean of ints is that of their sum in 64 bits, rounded towards zero, as in onnxruntime. `ReduceL2` and `Shrink` compute ints
  in f64, and round towards zero. `ReduceLogSum`, `ReduceLogSumExp`, and modes of `Resize` other than `nearest` are refused for ints.
- **Normalization.** `LayerNormalization`, `RMSNormalization` and `GroupNormalization` compute in the wider one of the types of the input
  and of `stash_type`, so f16 and bf16 in f32.
- **Refusals.** A model with anything that is not supported is refused, with all reasons (SK9107) and exit status 1. Nodes after a refused
  one have those reasons that do not depend on it.
- **Files.** External data must be in the model's folder. If the model is a link, as in the cache of the Hugging Face Hub, its data may also be
  links into the folder that the model's link leads to. A model file has at most 2 GiB.
- **Quantized recurrence.** `DynamicQuantizeLSTM` rounds the inputs of all steps together, and the states of each step together, as onnxruntime
  does with a batch of one.

- **Loops.** `Loop` and `Scan` become loops of the language; the steps of a `Loop` whose body needs their numbers at import are written one by one,
  where at most 256 are known. Sequences are lists of tensors whose number is known at import.

The operators below are supported in opsets 7 to NEWEST, as their versions differ: those are the sets since which an operator is as it
is. Each node is compared with the schema of its operator in the model's set: types that differ where they must not, attributes and
inputs that the operator does not have or has twice, required attributes that are missing, operators of later sets, and newer sets are refused by name. Where a declared type or shape
of an output or inner value contradicts what the nodes compute, a warning names both (SK9107), and that of the nodes is used.";

fn main() {
    let newest = skript_import::operators::newest().to_string();
    println!("{}", INTRODUCTION.replace("NEWEST", &newest));
    print!("{}", skript_import::operators::markdown());
}
