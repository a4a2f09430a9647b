// SPDX-License-Identifier: Apache-2.0
//===- StablehloOps.td - moving, combining, control flow --------------------===//

#ifndef SKRIPT_STABLEHLO_OPS_TD
#define SKRIPT_STABLEHLO_OPS_TD

include "skript-stablehlo/StablehloElementwise.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"

//===----------------------------------------------------------------------===//
// Creation and movement of elements
//===----------------------------------------------------------------------===//

class Stablehlo_Shaping<string mnemonic, string what> : Stablehlo_Op<mnemonic, [Pure]> {
  let summary = what;
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
}

def Stablehlo_IotaOp : Stablehlo_Shaping<"iota", "positions along one dimension"> {
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs RankedTensorOf<[Stablehlo_Signed, Stablehlo_Unsigned, Stablehlo_Float, Stablehlo_Complex]>:$result);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($result)";
}
def Stablehlo_BroadcastInDimOp : Stablehlo_Shaping<"broadcast_in_dim", "repetition along new dimensions"> {
  let description = "`dims` maps each dimension of the operand to a dimension of the result.";
  let arguments = (ins Stablehlo_Tensor:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let assemblyFormat =
    "$operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_ReshapeOp : Stablehlo_Shaping<"reshape", "the same elements in another shape"> {
  let arguments = (ins Stablehlo_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_BitcastConvertOp : Stablehlo_Shaping<"bitcast_convert", "the same bits as another element type"> {
  let description = [{
    If the elements of the result are narrower, the result has an additional last dimension that begins with the lowest
    bits. If they are wider, the elements along the last dimension of the operand are joined.

    ```mlir
    %1 = stablehlo.bitcast_convert %0 : (tensor<4xf32>) -> tensor<4x2xui16>
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_TransposeOp : Stablehlo_Shaping<"transpose", "a permutation of the dimensions"> {
  let arguments = (ins Stablehlo_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let assemblyFormat = "$operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_ReverseOp : Stablehlo_Shaping<"reverse", "elements in opposite order"> {
  let arguments = (ins Stablehlo_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let assemblyFormat =
    "$operand `,` `dims` `=` $dimensions attr-dict `:` custom<Signature>(type($operand), type($result))";
}
def Stablehlo_SliceOp : Stablehlo_Shaping<"slice", "every n-th element between two positions"> {
  let arguments = (ins Stablehlo_Tensor:$operand, DenseI64ArrayAttr:$start_indices,
    DenseI64ArrayAttr:$limit_indices, DenseI64ArrayAttr:$strides);
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides) attr-dict `:`
    functional-type(operands, results)
  }];
}
def Stablehlo_PadOp : Stablehlo_Shaping<"pad", "borders of one value; negative borders remove elements"> {
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$padding_value,
    DenseI64ArrayAttr:$edge_padding_low, DenseI64ArrayAttr:$edge_padding_high, DenseI64ArrayAttr:$interior_padding);
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` `high` `=` $edge_padding_high `,`
    `interior` `=` $interior_padding attr-dict `:` functional-type(operands, results)
  }];
}
def Stablehlo_ConcatenateOp : Stablehlo_Shaping<"concatenate", "the concatenation of tensors"> {
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, I64Attr:$dimension);
  let assemblyFormat = [{
    custom<LeadingOperands>($inputs) `dim` `=` $dimension attr-dict `:`
    functional-type(operands, results)
  }];
}
def Stablehlo_DynamicSliceOp : Stablehlo_Shaping<"dynamic_slice", "a block at dynamic positions"> {
  let arguments = (ins Stablehlo_Tensor:$operand, Variadic<Stablehlo_IndexTensor>:$start_indices,
    DenseI64ArrayAttr:$slice_sizes);
  let assemblyFormat = [{
    $operand `,` custom<LeadingOperands>($start_indices) `sizes` `=` $slice_sizes attr-dict `:`
    functional-type(operands, results)
  }];
}
def Stablehlo_DynamicUpdateSliceOp
    : Stablehlo_Shaping<"dynamic_update_slice", "a tensor with a block replaced, at dynamic positions"> {
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$update,
    Variadic<Stablehlo_IndexTensor>:$start_indices);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_GatherOp : Stablehlo_Op<"gather", [Pure]> {
  let summary = "slices at dynamic positions, which are clamped";
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_IndexTensor:$start_indices,
    Stablehlo_GatherDimensionNumbers:$dimension_numbers, DenseI64ArrayAttr:$slice_sizes,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs Stablehlo_Tensor:$result);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Operations whose result shapes depend on operands
//===----------------------------------------------------------------------===//

class Stablehlo_Dynamic<string mnemonic, string what> : Stablehlo_Op<mnemonic, [Pure]> {
  let summary = what;
  let description = [{
    The import replaces this operation by the operation with attributes as soon as the shape of the result is known.
  }];
  let results = (outs Stablehlo_Tensor:$result);
}

def Stablehlo_GetDimensionSizeOp : Stablehlo_Dynamic<"get_dimension_size", "extent of a dimension"> {
  let arguments = (ins Stablehlo_Tensor:$operand, I64Attr:$dimension);
  let results = (outs 0DTensorOf<[I32]>:$result);
  let assemblyFormat = "$operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Stablehlo_DynamicReshapeOp : Stablehlo_Dynamic<"dynamic_reshape", "the same elements in a dynamic shape"> {
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_IndexTensor:$output_shape);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_DynamicBroadcastInDimOp
    : Stablehlo_Dynamic<"dynamic_broadcast_in_dim", "repetition to a dynamic shape"> {
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_IndexTensor:$output_dimensions,
    DenseI64ArrayAttr:$broadcast_dimensions, OptionalAttr<DenseI64ArrayAttr>:$known_expanding_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$known_nonexpanding_dimensions);
  let assemblyFormat = [{
    $operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions attr-dict `:`
    functional-type(operands, results)
  }];
}
def Stablehlo_DynamicIotaOp : Stablehlo_Dynamic<"dynamic_iota", "positions along one dimension of a dynamic shape"> {
  let arguments = (ins Stablehlo_IndexTensor:$output_shape, I64Attr:$iota_dimension);
  let assemblyFormat = "$output_shape `,` `dim` `=` $iota_dimension attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_RealDynamicSliceOp : Stablehlo_Dynamic<"real_dynamic_slice", "elements between dynamic positions"> {
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_IndexTensor:$start_indices,
    Stablehlo_IndexTensor:$limit_indices, Stablehlo_IndexTensor:$strides);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_DynamicPadOp : Stablehlo_Dynamic<"dynamic_pad", "a border of dynamic size"> {
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$padding_value,
    Stablehlo_IndexTensor:$edge_padding_low, Stablehlo_IndexTensor:$edge_padding_high,
    Stablehlo_IndexTensor:$interior_padding);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_DynamicGatherOp : Stablehlo_Dynamic<"dynamic_gather", "slices of dynamic sizes"> {
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_IndexTensor:$start_indices,
    Stablehlo_IndexTensor:$slice_sizes, Stablehlo_GatherDimensionNumbers:$dimension_numbers,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
}
def Stablehlo_DynamicConvOp : Stablehlo_Dynamic<"dynamic_conv", "a convolution with dynamic padding"> {
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs, Stablehlo_IndexTensor:$padding,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides, OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
    OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation, OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
    Stablehlo_ConvDimensionNumbers:$dimension_numbers, I64Attr:$feature_group_count, I64Attr:$batch_group_count,
    OptionalAttr<TypedArrayAttrBase<Stablehlo_PrecisionAttr, "precisions">>:$precision_config);
}

//===----------------------------------------------------------------------===//
// Reductions, scatters and products
//===----------------------------------------------------------------------===//

class Stablehlo_WithRegions<string mnemonic, string what, list<Trait> traits = []>
    : Stablehlo_Op<mnemonic, !listconcat(traits, [RecursiveMemoryEffects, RecursivelySpeculatable])> {
  let summary = what;
}

def Stablehlo_ReduceOp : Stablehlo_WithRegions<"reduce", "combination along dimensions",
    [SameVariadicOperandSize, SingleBlock]> {
  let description = [{
    ```mlir
    %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, Variadic<Stablehlo_Tensor>:$init_values,
    DenseI64ArrayAttr:$dimensions);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def Stablehlo_ReduceWindowOp : Stablehlo_WithRegions<"reduce_window", "combination of sliding windows",
    [SameVariadicOperandSize, SingleBlock]> {
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, Variadic<Stablehlo_Tensor>:$init_values,
    DenseI64ArrayAttr:$window_dimensions, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<DenseI64ArrayAttr>:$base_dilations, OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
    OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
}
def Stablehlo_SortOp : Stablehlo_WithRegions<"sort", "tensors ordered together along one dimension", [SingleBlock]> {
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let regions = (region SizedRegion<1>:$comparator);
  let hasVerifier = 1;
}
def Stablehlo_ScatterOp : Stablehlo_WithRegions<"scatter", "updates at dynamic positions; positions out of bounds are skipped",
    [SameVariadicOperandSize, SingleBlock]> {
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, Stablehlo_IndexTensor:$scatter_indices,
    Variadic<Stablehlo_Tensor>:$updates, Stablehlo_ScatterDimensionNumbers:$scatter_dimension_numbers,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let regions = (region SizedRegion<1>:$update_computation);
  let hasVerifier = 1;
}
def Stablehlo_SelectAndScatterOp
    : Stablehlo_WithRegions<"select_and_scatter", "values sent to the element that each window selects"> {
  let arguments = (ins Stablehlo_Tensor:$operand, Stablehlo_Tensor:$source, Stablehlo_Tensor:$init_value,
    OptionalAttr<DenseI64ArrayAttr>:$window_dimensions, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs Stablehlo_Tensor:$result);
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let hasVerifier = 1;
}
def Stablehlo_DotGeneralOp : Stablehlo_Op<"dot_general", [Pure]> {
  let summary = "sum of products along paired dimensions";
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs,
    Stablehlo_DotDimensionNumbers:$dot_dimension_numbers,
    OptionalAttr<TypedArrayAttrBase<Stablehlo_PrecisionAttr, "precisions">>:$precision_config,
    OptionalAttr<Stablehlo_DotAlgorithm>:$algorithm);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotDimensions>($dot_dimension_numbers) `` custom<Precision>($precision_config, $algorithm)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
def Stablehlo_ConvolutionOp : Stablehlo_Op<"convolution", [Pure]> {
  let summary = "sum of products over sliding windows and features";
  let arguments = (ins Stablehlo_Tensor:$lhs, Stablehlo_Tensor:$rhs,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides, OptionalAttr<I64ElementsAttr>:$padding,
    OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation, OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
    OptionalAttr<DenseBoolArrayAttr>:$window_reversal, Stablehlo_ConvDimensionNumbers:$dimension_numbers,
    I64Attr:$feature_group_count, I64Attr:$batch_group_count,
    OptionalAttr<TypedArrayAttrBase<Stablehlo_PrecisionAttr, "precisions">>:$precision_config);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    `(` $lhs `,` $rhs `)` `dim_numbers` `=` custom<ConvDimensions>($dimension_numbers) `,`
    `window` `=` `{` custom<Window>($window_strides, $padding, $lhs_dilation, $rhs_dilation, $window_reversal) `}`
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
def Stablehlo_Matrices : RankedTensorOf<[Stablehlo_Float, Stablehlo_Complex]>;
def Stablehlo_CholeskyOp : Stablehlo_Op<"cholesky", [Pure]> {
  let summary = "Cholesky factors of Hermitian positive-definite matrices";
  let description = [{
    The factor `L` with `a = L Lᴴ`, or its adjoint if `lower = false`; the last two dimensions are those of the matrices.
    Elements in the other triangle of `a` are ignored, and are zeros in the result.

    ```mlir
    %1 = stablehlo.cholesky %0, lower = true : tensor<2x3x3xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Matrices:$a, DefaultValuedOptionalAttr<BoolAttr, "false">:$lower);
  let results = (outs Stablehlo_Matrices:$result);
  let assemblyFormat =
    "$a (`,` `lower` `=` $lower^)? attr-dict `:` custom<Signature>(type($a), type($result))";
  let hasVerifier = 1;
}
def Stablehlo_TriangularSolveOp : Stablehlo_Op<"triangular_solve", [Pure]> {
  let summary = "solutions of systems with triangular matrices";
  let description = [{
    The solution `x` of `op(a) x = b`, or of `x op(a) = b` if `left_side = false`. `transpose_a` determines `op`, and `lower` the
    triangle of `a` that is read. If `unit_diagonal = true`, the elements of the diagonal of `a` are taken as ones.

    ```mlir
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = true,
        transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}>
        : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Matrices:$a, Stablehlo_Matrices:$b, BoolAttr:$left_side, BoolAttr:$lower,
    BoolAttr:$unit_diagonal, Stablehlo_TransposeAttr:$transpose_a);
  let results = (outs Stablehlo_Matrices:$result);
  let hasVerifier = 1;
}
def Stablehlo_FftOp : Stablehlo_Op<"fft", [Pure]> {
  let summary = "Fourier transform along the last dimensions";
  let description = [{
    `fft_length` has the lengths of the last dimensions, which are transformed. For `RFFT` and `IRFFT`, the last dimension of the
    complex tensor has only the first `length / 2 + 1` elements.

    ```mlir
    %1 = stablehlo.fft %0, type = RFFT, length = [8] : (tensor<2x8xf32>) -> tensor<2x5xcomplex<f32>>
    ```
  }];
  let arguments = (ins Stablehlo_FftTypeAttr:$fft_type, Stablehlo_Tensor:$operand, DenseI64ArrayAttr:$fft_length);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `type` `=` custom<Word>($fft_type) `,` `length` `=` $fft_length attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
def Stablehlo_BitsOrReals : RankedTensorOf<[Stablehlo_Signed, Stablehlo_Unsigned, Stablehlo_Float]>;
def Stablehlo_RngBitGeneratorOp : Stablehlo_Op<"rng_bit_generator", [Pure]> {
  let summary = "random bits and the generator's next state";
  let arguments = (ins Stablehlo_RngAlgorithmAttr:$rng_algorithm, Stablehlo_BitsOrReals:$initial_state);
  let results = (outs Stablehlo_BitsOrReals:$output_state, Stablehlo_BitsOrReals:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` custom<Word>($rng_algorithm) attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

def Stablehlo_CustomCallOp : Stablehlo_Op<"custom_call"> {
  let summary = "a call of a function that the consumer knows by name";
  let description = [{
    ```mlir
    %1:2 = stablehlo.custom_call @lapack_spotrf_ffi(%0) {mhlo.backend_config = {uplo = 76 : ui8}}
        : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>)
    ```
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, SymbolNameAttr:$call_target_name,
    OptionalAttr<BoolAttr>:$has_side_effect, OptionalAttr<AnyAttr>:$backend_config,
    OptionalAttr<I32Attr>:$api_version, OptionalAttr<FlatSymbolRefArrayAttr>:$called_computations,
    OptionalAttr<ArrayAttr>:$operand_layouts, OptionalAttr<ArrayAttr>:$result_layouts,
    OptionalAttr<TypedArrayAttrBase<Stablehlo_OutputOperandAlias, "aliases">>:$output_operand_aliases);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let assemblyFormat =
    "$call_target_name `(` $inputs `)` attr-dict `:` functional-type(operands, results)";
}
def Stablehlo_CompositeOp
    : Stablehlo_Op<"composite", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "an operation that a function composes of other operations";
  let description = [{
    ```mlir
    %1 = stablehlo.composite "my.op" %0 {decomposition = @my.op.impl} : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$inputs, StrAttr:$name,
    OptionalAttr<DictionaryAttr>:$composite_attributes, FlatSymbolRefAttr:$decomposition,
    OptionalAttr<I32Attr>:$version);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let assemblyFormat = "$name $inputs attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

def Stablehlo_OptimizationBarrierOp : Stablehlo_Op<"optimization_barrier", [Pure]> {
  let summary = "the operands, all of which are computed before any result is used";
  let description = [{
    `optimization_barrier_c1`: results have the types of the operands.

    ```mlir
    %2:2 = stablehlo.optimization_barrier %0, %1 : tensor<4xf32>, tensor<i32>
    ```
  }];
  let arguments = (ins Variadic<Stablehlo_Tensor>:$operand);
  let results = (outs Variadic<Stablehlo_Tensor>:$result);
  let assemblyFormat = [{
    attr-dict ($operand^ `:` custom<SameTypes>(type($operand), type($result))) : (`(` `)`)?
  }];
  let hasVerifier = 1;
}

def Stablehlo_WhileOp : Stablehlo_WithRegions<"while", "repetition while a condition holds",
    [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let arguments = (ins Variadic<Stablehlo_Tensor>:$operand);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Names the arguments of both regions.
    static ::llvm::StringRef argumentName() { return "iterArg"; }
  }];
}
def Stablehlo_IfOp : Stablehlo_WithRegions<"if", "one of two computations"> {
  let arguments = (ins 0DTensorOf<[Stablehlo_Pred]>:$pred);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let hasVerifier = 1;
}
def Stablehlo_CaseOp : Stablehlo_WithRegions<"case", "one of several computations; the last one if the index is out of bounds"> {
  let arguments = (ins 0DTensorOf<[I32]>:$index);
  let results = (outs Variadic<Stablehlo_Tensor>);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let hasVerifier = 1;
}
def Stablehlo_ReturnOp : Stablehlo_Op<"return", [Pure, Terminator]> {
  let summary = "end of a region, with its results";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

#endif // SKRIPT_STABLEHLO_OPS_TD
