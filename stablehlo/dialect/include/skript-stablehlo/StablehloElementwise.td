// SPDX-License-Identifier: Apache-2.0
//===- StablehloElementwise.td - elementwise operations ---------------------===//

#ifndef SKRIPT_STABLEHLO_ELEMENTWISE_TD
#define SKRIPT_STABLEHLO_ELEMENTWISE_TD

include "skript-stablehlo/StablehloDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Checks `<op>_c1` and similar constraints. The trait precedes the elementwise traits, whose messages do not name the
/// constraint.
def Stablehlo_OneType : NativeOpTrait<"OneType"> {
  let cppNamespace = "::skript_stablehlo";
}
def Stablehlo_OneShape : NativeOpTrait<"OneShape"> {
  let cppNamespace = "::skript_stablehlo";
}
def Stablehlo_Pair : NativeOpTrait<"Pair"> {
  let cppNamespace = "::skript_stablehlo";
}
def Stablehlo_Modulus : NativeOpTrait<"Modulus"> {
  let cppNamespace = "::skript_stablehlo";
}
def Stablehlo_Comparison : NativeOpTrait<"Comparison"> {
  let cppNamespace = "::skript_stablehlo";
}

class Stablehlo_Elementwise<string mnemonic, string what, list<Trait> traits = [Stablehlo_OneType]>
    : Stablehlo_Op<mnemonic, !listconcat(traits, ElementwiseMappable.traits, [Pure])> {
  let summary = what;
}

class Stablehlo_Unary<string mnemonic, Type domain, string what, list<Trait> traits = [Stablehlo_OneType]>
    : Stablehlo_Elementwise<mnemonic, what, traits> {
  let arguments = (ins domain:$operand);
  let results = (outs domain:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<Signature>(type($operand), type($result))";
}

class Stablehlo_Binary<string mnemonic, Type domain, string what, list<Trait> traits = []>
    : Stablehlo_Elementwise<mnemonic, what, !listconcat([Stablehlo_OneType], traits)> {
  let arguments = (ins domain:$lhs, domain:$rhs);
  let results = (outs domain:$result);
  let assemblyFormat =
    "$lhs `,` $rhs attr-dict `:` custom<Signature>(type($lhs), type($rhs), type($result))";
}

//===----------------------------------------------------------------------===//
// The draft's operations
//===----------------------------------------------------------------------===//

def Stablehlo_AbsOp : Stablehlo_Unary<"abs", Stablehlo_Number, "absolute value; of a complex number, its modulus",
    [Stablehlo_Modulus]> {
  let results = (outs Stablehlo_Number:$result);
  let description = [{
    `abs_c1`: one shape. `abs_c2`: one element type; for a complex operand, the type of its parts.
  }];
}
def Stablehlo_AddOp : Stablehlo_Binary<"add", Stablehlo_Ordered, "sum; integers wrap around, preds are or-ed", [Commutative]> {
  let description = [{
    `add_c1`: operands and result have one type. The draft has no sum of preds; current StableHLO does.

    ```mlir
    %2 = stablehlo.add %0, %1 : tensor<2x2xf32>
    ```
  }];
}
def Stablehlo_AndOp : Stablehlo_Binary<"and", Stablehlo_Bits, "bitwise or logical and", [Commutative]>;
def Stablehlo_CeilOp : Stablehlo_Unary<"ceil", Stablehlo_Real, "next integer above">;
def Stablehlo_CosineOp : Stablehlo_Unary<"cosine", Stablehlo_RealOrComplex, "cosine">;
def Stablehlo_FloorOp : Stablehlo_Unary<"floor", Stablehlo_Real, "next integer below">;
def Stablehlo_LogOp : Stablehlo_Unary<"log", Stablehlo_RealOrComplex, "natural logarithm">;
def Stablehlo_LogisticOp : Stablehlo_Unary<"logistic", Stablehlo_RealOrComplex, "1 / (1 + exp(-x))">;
def Stablehlo_MaximumOp : Stablehlo_Binary<"maximum", Stablehlo_Ordered, "greater operand; NaN if any is", [Commutative]>;
def Stablehlo_MinimumOp : Stablehlo_Binary<"minimum", Stablehlo_Ordered, "lesser operand; NaN if any is", [Commutative]>;
def Stablehlo_NegateOp : Stablehlo_Unary<"negate", Stablehlo_Number, "negation; integers wrap around">;
def Stablehlo_NotOp : Stablehlo_Unary<"not", Stablehlo_Bits, "bitwise or logical not">;
def Stablehlo_OrOp : Stablehlo_Binary<"or", Stablehlo_Bits, "bitwise or logical or", [Commutative]>;
def Stablehlo_RsqrtOp : Stablehlo_Unary<"rsqrt", Stablehlo_RealOrComplex, "reciprocal of the square root">;
def Stablehlo_SineOp : Stablehlo_Unary<"sine", Stablehlo_RealOrComplex, "sine">;
def Stablehlo_SqrtOp : Stablehlo_Unary<"sqrt", Stablehlo_RealOrComplex, "square root">;
def Stablehlo_TanhOp : Stablehlo_Unary<"tanh", Stablehlo_RealOrComplex, "hyperbolic tangent">;
def Stablehlo_XorOp : Stablehlo_Binary<"xor", Stablehlo_Bits, "bitwise or logical exclusive or", [Commutative]>;

def Stablehlo_ConstantOp : Stablehlo_Op<"constant", [Pure]> {
  let summary = "constant tensor";
  let description = [{
    `constant_c1`: value and result have one type.

    ```mlir
    %0 = stablehlo.constant dense<[0x42F6D78D, 1.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Stablehlo_Tensor:$output);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

def Stablehlo_SubtractOp : Stablehlo_Binary<"subtract", Stablehlo_Number, "difference">;
def Stablehlo_MultiplyOp : Stablehlo_Binary<"multiply", Stablehlo_Ordered, "product; preds are and-ed", [Commutative]>;
def Stablehlo_DivideOp : Stablehlo_Binary<"divide", Stablehlo_Number, "quotient; integers round toward zero">;
def Stablehlo_RemainderOp
    : Stablehlo_Binary<"remainder", Stablehlo_Number, "remainder with the sign of the dividend">;
def Stablehlo_PowerOp : Stablehlo_Binary<"power", Stablehlo_Number, "power">;
def Stablehlo_Atan2Op : Stablehlo_Binary<"atan2", Stablehlo_RealOrComplex, "angle of a point">;
def Stablehlo_ShiftLeftOp : Stablehlo_Binary<"shift_left", Stablehlo_IntegerLike, "left shift">;
def Stablehlo_ShiftRightArithmeticOp
    : Stablehlo_Binary<"shift_right_arithmetic", Stablehlo_IntegerLike, "right shift that keeps the sign">;
def Stablehlo_ShiftRightLogicalOp
    : Stablehlo_Binary<"shift_right_logical", Stablehlo_IntegerLike, "right shift that fills with zeros">;
def Stablehlo_CbrtOp : Stablehlo_Unary<"cbrt", Stablehlo_RealOrComplex, "cubic root">;
def Stablehlo_ExpOp : Stablehlo_Unary<"exponential", Stablehlo_RealOrComplex, "exponential function">;
def Stablehlo_Expm1Op
    : Stablehlo_Unary<"exponential_minus_one", Stablehlo_RealOrComplex, "exponential function less one">;
def Stablehlo_Log1pOp : Stablehlo_Unary<"log_plus_one", Stablehlo_RealOrComplex, "logarithm of one more">;
def Stablehlo_TanOp : Stablehlo_Unary<"tan", Stablehlo_RealOrComplex, "tangent">;
def Stablehlo_SignOp : Stablehlo_Unary<"sign",
    Stablehlo_Any<[Stablehlo_Signed, Stablehlo_Float, Stablehlo_Complex]>, "sign">;
def Stablehlo_RoundAwayOp
    : Stablehlo_Unary<"round_nearest_afz", Stablehlo_Real, "nearest integer, halves away from zero">;
def Stablehlo_RoundEvenOp
    : Stablehlo_Unary<"round_nearest_even", Stablehlo_Real, "nearest integer, halves to even">;
def Stablehlo_PopulationCountOp : Stablehlo_Unary<"popcnt", Stablehlo_IntegerLike, "number of bits that are set">;
def Stablehlo_LeadingZerosOp
    : Stablehlo_Unary<"count_leading_zeros", Stablehlo_IntegerLike, "number of zero bits in front">;

def Stablehlo_ReducePrecisionOp
    : Stablehlo_Unary<"reduce_precision", Stablehlo_Real, "rounding to fewer bits of exponent and mantissa"> {
  let description = [{
    Halves go to even; what the exponent cannot say becomes infinite, or zero of the same sign; NaN stays.
    `reduce_precision_c2`: there is a bit of exponent; `reduce_precision_c3`: the bits of the mantissa are not negative.

    ```mlir
    %1 = stablehlo.reduce_precision %0, format = e8m7 : tensor<4xf32>
    ```
  }];
  let arguments = (ins Stablehlo_Real:$operand, I32Attr:$exponent_bits, I32Attr:$mantissa_bits);
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<FloatFormat>($exponent_bits, $mantissa_bits) attr-dict `:`
    custom<Signature>(type($operand), type($result))
  }];
  let hasVerifier = 1;
}

/// Operations with another element type for the result; the shape is that of the operand (`<op>_c1`).
class Stablehlo_Retyped<string mnemonic, Type from, Type to, string what>
    : Stablehlo_Elementwise<mnemonic, what, [Stablehlo_OneShape]> {
  let arguments = (ins from:$operand);
  let results = (outs to:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<Signature>(type($operand), type($result))";
}
def Stablehlo_ConvertOp
    : Stablehlo_Retyped<"convert", Stablehlo_Ordered, Stablehlo_Ordered, "conversion to another element type">;
def Stablehlo_IsFiniteOp
    : Stablehlo_Retyped<"is_finite", Stablehlo_Real, Stablehlo_PredLike, "whether neither infinite nor NaN">;
def Stablehlo_RealOp
    : Stablehlo_Retyped<"real", Stablehlo_RealOrComplex, Stablehlo_Real, "real part"> {
  let hasVerifier = 1;
}
def Stablehlo_ImagOp
    : Stablehlo_Retyped<"imag", Stablehlo_RealOrComplex, Stablehlo_Real, "imaginary part"> {
  let hasVerifier = 1;
}

def Stablehlo_ComplexOp : Stablehlo_Elementwise<"complex", "complex number of two parts", [Stablehlo_Pair]> {
  let arguments = (ins Stablehlo_Real:$lhs, Stablehlo_Real:$rhs);
  let results = (outs Stablehlo_ComplexOnly:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<ComplexSignature>(type($lhs), type($rhs), type($result))";
}

def Stablehlo_CompareOp : Stablehlo_Elementwise<"compare", "comparison", [Stablehlo_Comparison]> {
  let description = [{
    ```mlir
    %2 = stablehlo.compare LT, %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    ```
  }];
  let arguments = (ins Stablehlo_Ordered:$lhs, Stablehlo_Ordered:$rhs,
    Stablehlo_ComparisonDirectionAttr:$comparison_direction,
    OptionalAttr<Stablehlo_ComparisonTypeAttr>:$compare_type);
  let results = (outs Stablehlo_PredLike:$result);
  let assemblyFormat = [{
    custom<Word>($comparison_direction) `,` $lhs `,` $rhs (`,` custom<Word>($compare_type)^)? attr-dict `:`
    functional-type(operands, results)
  }];
}

/// Not elementwise, because the condition may be a scalar for tensor values.
def Stablehlo_SelectOp : Stablehlo_Op<"select", [Pure]> {
  let summary = "one of two values by a condition";
  let description = [{
    The condition is a scalar tensor or has the shape of the values.

    ```mlir
    %1 = stablehlo.select %p, %x, %y : tensor<4xi1>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Stablehlo_PredLike:$pred, Stablehlo_Ordered:$on_true, Stablehlo_Ordered:$on_false);
  let results = (outs Stablehlo_Ordered:$result);
  let assemblyFormat = [{
    $pred `,` $on_true `,` $on_false attr-dict `:`
    custom<SelectSignature>(type($pred), type($on_true), type($on_false), type($result))
  }];
  let hasVerifier = 1;
}

def Stablehlo_ClampOp : Stablehlo_Op<"clamp", [Pure]> {
  let summary = "value between two bounds, which may be scalars";
  let arguments = (ins Stablehlo_Tensor:$min, Stablehlo_Tensor:$operand, Stablehlo_Tensor:$max);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict `:`
    custom<Signature>(type($min), type($operand), type($max), type($result))
  }];
  let hasVerifier = 1;
}

#endif // SKRIPT_STABLEHLO_ELEMENTWISE_TD
