// SPDX-License-Identifier: Apache-2.0
//! Prints docs/onnx.md: an introduction, then the table of rules.

const INTRODUCTION: &str = "# ONNX operators

Written by the example `onnx_page` of the crate `skript-import`; `scripts/docs.sh` updates it. [ONNX
models](guide/onnx.md) is a short introduction.

`skript import model.onnx` writes a model folder: `main.sknd`, formulas of operators that the standard library
lacks in `onnx.sknd`, the weights in `main.safetensors`, and `import.json`, which lists inputs, outputs and
variables in the order of the ONNX graph, under both names, and states whether the model is `quantized`.
`skript run`, `check`, `compile`, `compare`, `bench` and `info` import `.onnx` files in memory and write
nothing. Their messages name the file and the ONNX node. Outputs of `run` have the element types of the ONNX
model.

## Shapes
- **Specialized calls.** `skript run`, `compare`, `bench` and calls in Python import a model with dynamic
  dimensions for the shapes of their arrays, without options. If elements of small inputs determine shapes or
  branches, such as `axes` or a sampling rate, the model is also imported for their values. `--verbose` prints
  these shapes and values. Inputs with random values need `--input-shape`.
- **One code for all shapes.** `import`, `compile`, `check`, `info` and `view` keep dynamic dimensions under
  their names. So do calls with `--bound batch=32`, which sets an upper bound (1024 by default, with a note).
  `--input-shape x=1,3,224,224` makes the dimensions of an input static; -1 and ?, as in `x=-1,3,224,224`,
  leave one dynamic. Upper bounds reserve addresses, not memory.
- **Arithmetic on shapes** is computed at import, by any operator whose operands are static. Without arrays,
  `--constant NAME=FILE.npy` turns inputs that determine a shape into constants; where this is needed, the
  message names them.
- **Broadcasting.** Dynamic dimensions that a node combines must have equal extents in each call. An extent of
  1 is not broadcast (SK9203), except by `Expand`, which broadcasts dynamic extents of 1 too.
- **Checks in each call.** The parts of `Split` must add up to a dynamic extent, `TopK` must find `k` elements
  in it, the inputs that `Scan` scans together must have one length, and dimensions with one letter of
  `Einsum` must have one extent. Other calls are refused (SK9203).
- **Slices.** If data determine the ends of a `Slice`, its extents follow from them in each call. If the end
  is the start plus a constant, the extent is that constant, and a call with fewer elements is refused
  (SK9203).
- **Branches.** The branches of an `If` whose condition depends on data may have different extents. If their
  ranks differ, the model is imported for one of them: the one of the declared rank or, if the condition is an
  `Equal`, as in the `squeeze` of torch, the one for unequal values. A call whose condition selects the other
  branch is refused (SK9203).
- **Loops.** `Loop` and `Scan` become loops of the language. A `Loop` whose body needs the step number at
  import is unrolled, up to 256 steps. Sequences are lists of tensors of a length that is known at import.

## Names and files
- **Names.** A trailing `_output_0` is dropped, each run of characters other than letters and digits becomes
  `_`, and `_` at both ends is dropped. A name that begins with a digit, or is a word of the language, gets a
  prefix. A name that is in use gets the first free suffix of `_2`, `_3`, …. `--input`, `--input-shape`,
  `--constant` and arrays of `.npz` archives accept either name. If two inputs share a name, one in each
  language, it is that of the ONNX model, also in calls in Python. An input that has an initializer is not an
  input of the document; its value is the initializer.
- **Weights.** Those of equal elements become constants, and operations on weights alone, such as transpositions, are
  computed by the import. With `--trainable`, all real weights with dimensions are variables with their names, as
  [training](guide/training.md) needs. `skript grad` imports a model in this way.
- **Repeated blocks.** With `--structure`, repeated blocks, such as the layers of a transformer, become one
  operator of `main.sknd`, named after the part of the graph, with its own arrays as variables.
  `--weights-format dat` writes one file for each array.
- **Files.** External data must be in the model's folder. If the model is a link, as in the cache of the
  Hugging Face Hub, its data may be links into the folder that the model's link leads to. A model file has at
  most 2 GiB.
- **Refusals.** A model with unsupported nodes is refused, with all reasons (SK9107) and exit status 1. Nodes
  after a refused one report only reasons that do not depend on it.

## Values
- **Element types.** `real` is the smallest of f16, bf16, f32 and f64 that includes all float types of the
  model. Tensors of a narrower type are stored in it and rounded to it: weights, inputs, outputs and tensors
  between nodes. `import.json` lists them ([Numerics](numerics.md#storage-types-of-tensors)). With
  `--structure`, `onnx.round_reals` rounds tensors inside of operators. Ints have 64 bits in SkriptND, and
  arithmetic wraps around as in the ONNX types; weights, inputs and outputs of int8, int16 and int32 are
  stored in these types. uint64 uses the bits of a signed int. An array for an input has the type of the ONNX
  model, or another integer type whose values fit; any other type is refused (SK9103).
- **Out-of-range indices and zero divisors.** Where ONNX leaves a result undefined, it is defined here: an
  out-of-range index of `Gather`, `GatherElements` or `GatherND` is clamped to the nearest element, as
  data-dependent indices are in SkriptND; the quotient of an int and 0 is 0.
- **Integers.** The mean of ints is that of their 64-bit sum, rounded towards zero, as in onnxruntime.
  `ReduceL2` and `Shrink` compute ints in f64 and round towards zero. `ReduceLogSum`, `ReduceLogSumExp`, and
  modes of `Resize` other than `nearest` are refused for ints.
- **Normalization.** `LayerNormalization`, `RMSNormalization` and `GroupNormalization` compute in the wider of
  the input type and `stash_type`, so f16 and bf16 compute in f32.
- **Resizing.** `align_corners` and `tf_crop_and_resize` relate positions by the extents of the result, as the
  text of `Resize` and onnxruntime do. Two ONNX node tests (`resize_downsample_scales_…_align_corners`) use
  the scales instead.
- **Random numbers** are those of SkriptND (`rand.normal`, `rand.uniform`), because ONNX defines none: the
  same in each call and on every machine, different for each node. Seeds are ignored.
- **Quantized recurrence.** `DynamicQuantizeLSTM` rounds the inputs of all steps together, and the states of
  each step together, as onnxruntime does with a batch of one.

## Versions
The operators below are supported in opsets 7 to NEWEST. The column *versions* lists the sets that changed an
operator. Each node is compared with the schema of its operator in the model's set: contradicting types,
unknown or repeated attributes and inputs, missing required attributes, operators of later sets, and newer
sets are refused by name. If a declared type or shape of an output or inner value contradicts the nodes, a
warning names both (SK9107), and the nodes' own type is used.";

fn main() {
    let newest = skript_import::operators::newest().to_string();
    println!("{}", INTRODUCTION.replace("NEWEST", &newest));
    print!("{}", skript_import::operators::markdown());
}
