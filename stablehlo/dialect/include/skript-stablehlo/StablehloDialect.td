// SPDX-License-Identifier: Apache-2.0
//===- StablehloDialect.td - dialect, element types, attributes -------------===//
//
// An independent definition of the StableHLO operations that this project reads and writes. It shares names and textual
// form with the definition of the OpenXLA project, so a context must not contain both.
//
//===----------------------------------------------------------------------===//

#ifndef SKRIPT_STABLEHLO_DIALECT_TD
#define SKRIPT_STABLEHLO_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Stablehlo_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::skript_stablehlo";
  let summary = "Portable operations on tensors: what this project exports and reads";
  let description = [{
    Operations on ranked tensors whose element types are signed and unsigned integers of 4, 8, 16, 32 and 64 bits
    (`iN`, `uiN`), `i1` for `pred`, `f16`, `bf16`, `f32`, `f64`, and complex pairs of the last two. Constraints of the
    nineteen operations of the StableHLO draft are checked under their labels: `add_c1`.

    Elementwise operations also accept scalars: `convert-skript-elementwise-to-linalg` emits them in the bodies of
    `linalg.generic`.
  }];
  let useDefaultAttributePrinterParser = 1;
}

class Stablehlo_Op<string mnemonic, list<Trait> traits = []>
    : Op<Stablehlo_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

def Stablehlo_Signed : AnyTypeOf<[I<4>, I8, I16, I32, I64], "4/8/16/32/64-bit signed integer">;
def Stablehlo_Unsigned : AnyTypeOf<[UI<4>, UI8, UI16, UI32, UI64], "4/8/16/32/64-bit unsigned integer">;
def Stablehlo_Pred : TypeAlias<I1, "pred">;
def Stablehlo_Float : AnyTypeOf<[F16, BF16, F32, F64], "f16, bf16, f32 or f64">;
def Stablehlo_Complex : AnyTypeOf<[Complex<F32>, Complex<F64>], "complex of f32 or f64">;

class Stablehlo_Any<list<Type> elements> : AnyTypeOf<!listconcat(elements, [RankedTensorOf<elements>])>;

def Stablehlo_IntegerLike : Stablehlo_Any<[Stablehlo_Signed, Stablehlo_Unsigned]>;
def Stablehlo_Bits : Stablehlo_Any<[Stablehlo_Pred, Stablehlo_Signed, Stablehlo_Unsigned]>;
def Stablehlo_Real : Stablehlo_Any<[Stablehlo_Float]>;
def Stablehlo_RealOrComplex : Stablehlo_Any<[Stablehlo_Float, Stablehlo_Complex]>;
def Stablehlo_ComplexOnly : Stablehlo_Any<[Stablehlo_Complex]>;
def Stablehlo_Number : Stablehlo_Any<[Stablehlo_Signed, Stablehlo_Unsigned, Stablehlo_Float, Stablehlo_Complex]>;
def Stablehlo_Ordered
    : Stablehlo_Any<[Stablehlo_Pred, Stablehlo_Signed, Stablehlo_Unsigned, Stablehlo_Float, Stablehlo_Complex]>;
def Stablehlo_PredLike : Stablehlo_Any<[Stablehlo_Pred]>;

def Stablehlo_Tensor : RankedTensorOf<
    [Stablehlo_Pred, Stablehlo_Signed, Stablehlo_Unsigned, Stablehlo_Float, Stablehlo_Complex]>;
def Stablehlo_IndexTensor : RankedTensorOf<[Stablehlo_Signed, Stablehlo_Unsigned]>;

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class Stablehlo_Enum<string name, string what, list<I32EnumAttrCase> cases> : I32EnumAttr<name, what, cases> {
  let cppNamespace = "::skript_stablehlo";
  let genSpecializedAttr = 0;
}
class Stablehlo_EnumAttr<I32EnumAttr values, string word> : EnumAttr<Stablehlo_Dialect, values, word> {
  let summary = values.summary # ", `#stablehlo<" # word # " " # !head(values.enumerants).symbol # ">` or another of "
      # !interleave(!foreach(value, values.enumerants, value.symbol), ", ");
}

def Stablehlo_ComparisonDirection : Stablehlo_Enum<"ComparisonDirection", "which comparison", [
  I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>, I32EnumAttrCase<"GE", 2>,
  I32EnumAttrCase<"GT", 3>, I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def Stablehlo_ComparisonDirectionAttr
    : Stablehlo_EnumAttr<Stablehlo_ComparisonDirection, "comparison_direction">;

def Stablehlo_ComparisonType : Stablehlo_Enum<"ComparisonType", "how elements compare", [
  I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>, I32EnumAttrCase<"TOTALORDER", 2>,
  I32EnumAttrCase<"SIGNED", 3>, I32EnumAttrCase<"UNSIGNED", 4>]>;
def Stablehlo_ComparisonTypeAttr : Stablehlo_EnumAttr<Stablehlo_ComparisonType, "comparison_type">;

def Stablehlo_Precision : Stablehlo_Enum<"Precision", "precision of products", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>]>;
def Stablehlo_PrecisionAttr : Stablehlo_EnumAttr<Stablehlo_Precision, "precision">;

def Stablehlo_RngAlgorithm : Stablehlo_Enum<"RngAlgorithm", "generator of random bits", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"THREE_FRY", 1>, I32EnumAttrCase<"PHILOX", 2>]>;
def Stablehlo_RngAlgorithmAttr : Stablehlo_EnumAttr<Stablehlo_RngAlgorithm, "rng_algorithm">;

def Stablehlo_FftType : Stablehlo_Enum<"FftType", "kind of Fourier transform", [
  I32EnumAttrCase<"FFT", 0>, I32EnumAttrCase<"IFFT", 1>, I32EnumAttrCase<"RFFT", 2>, I32EnumAttrCase<"IRFFT", 3>]>;
def Stablehlo_FftTypeAttr : Stablehlo_EnumAttr<Stablehlo_FftType, "fft_type">;

def Stablehlo_Transpose : Stablehlo_Enum<"Transpose", "which form of a matrix", [
  I32EnumAttrCase<"NO_TRANSPOSE", 1>, I32EnumAttrCase<"TRANSPOSE", 2>, I32EnumAttrCase<"ADJOINT", 3>]>;
def Stablehlo_TransposeAttr : Stablehlo_EnumAttr<Stablehlo_Transpose, "transpose">;

//===----------------------------------------------------------------------===//
// Dimension numbers
//===----------------------------------------------------------------------===//

class Stablehlo_Dimensions<string name, string word> : AttrDef<Stablehlo_Dialect, name> {
  let mnemonic = word;
  let hasCustomAssemblyFormat = 1;
}

def Stablehlo_DotDimensionNumbers : Stablehlo_Dimensions<"DotDimensionNumbers", "dot"> {
  let summary = "which dimensions of both operands a dot_general pairs";
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$lhsBatchingDimensions, ArrayRefParameter<"int64_t">:$rhsBatchingDimensions,
    ArrayRefParameter<"int64_t">:$lhsContractingDimensions, ArrayRefParameter<"int64_t">:$rhsContractingDimensions);
}

def Stablehlo_GatherDimensionNumbers : Stablehlo_Dimensions<"GatherDimensionNumbers", "gather"> {
  let summary = "what the dimensions of a gather's operands mean";
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$offsetDims, ArrayRefParameter<"int64_t">:$collapsedSliceDims,
    ArrayRefParameter<"int64_t">:$operandBatchingDims, ArrayRefParameter<"int64_t">:$startIndicesBatchingDims,
    ArrayRefParameter<"int64_t">:$startIndexMap, "int64_t":$indexVectorDim);
}

def Stablehlo_ScatterDimensionNumbers : Stablehlo_Dimensions<"ScatterDimensionNumbers", "scatter"> {
  let summary = "what the dimensions of a scatter's operands mean";
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$updateWindowDims, ArrayRefParameter<"int64_t">:$insertedWindowDims,
    ArrayRefParameter<"int64_t">:$inputBatchingDims, ArrayRefParameter<"int64_t">:$scatterIndicesBatchingDims,
    ArrayRefParameter<"int64_t">:$scatterDimsToOperandDims, "int64_t":$indexVectorDim);
}

def Stablehlo_ConvDimensionNumbers : Stablehlo_Dimensions<"ConvDimensionNumbers", "conv"> {
  let summary = "what the dimensions of a convolution's operands and result mean";
  let parameters = (ins
    "int64_t":$inputBatchDimension, "int64_t":$inputFeatureDimension,
    ArrayRefParameter<"int64_t">:$inputSpatialDimensions,
    "int64_t":$kernelInputFeatureDimension, "int64_t":$kernelOutputFeatureDimension,
    ArrayRefParameter<"int64_t">:$kernelSpatialDimensions,
    "int64_t":$outputBatchDimension, "int64_t":$outputFeatureDimension,
    ArrayRefParameter<"int64_t">:$outputSpatialDimensions);
}

//===----------------------------------------------------------------------===//
// Advice to consumers
//===----------------------------------------------------------------------===//

def Stablehlo_OutputOperandAlias : Stablehlo_Dimensions<"OutputOperandAlias", "output_operand_alias"> {
  let summary = "a result of a custom_call that may share the memory of an operand";
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$outputTupleIndices, "int64_t":$operandIndex,
    ArrayRefParameter<"int64_t">:$operandTupleIndices);
}

def Stablehlo_DotAlgorithm : AttrDef<Stablehlo_Dialect, "DotAlgorithm"> {
  let mnemonic = "dot_algorithm";
  let summary = "the precision that a dot_general needs at least";
  let parameters = (ins
    "::mlir::Type":$lhs_precision_type, "::mlir::Type":$rhs_precision_type, "::mlir::Type":$accumulation_type,
    "int64_t":$lhs_component_count, "int64_t":$rhs_component_count, "int64_t":$num_primitive_operations,
    "bool":$allow_imprecise_accumulation);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // SKRIPT_STABLEHLO_DIALECT_TD
