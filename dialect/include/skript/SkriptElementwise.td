// SPDX-License-Identifier: Apache-2.0
//===- SkriptElementwise.td - elementwise operations ----------------------===//
//
// Mnemonics and meaning are those of the scalar table (frontend/semantics).
//
//===----------------------------------------------------------------------===//

#ifndef SKRIPT_ELEMENTWISE_TD
#define SKRIPT_ELEMENTWISE_TD

include "skript/SkriptDialect.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Wider integers have no lowering, and folding their powers would not terminate in practice.
def Skript_Int : Type<
    CPred<"$_self.isSignlessInteger() && $_self.getIntOrFloatBitWidth() >= 2 && $_self.getIntOrFloatBitWidth() <= 64">,
    "signless integer of 2 to 64 bits", "::mlir::IntegerType">;

/// IEEE formats and bf16: narrower formats lack infinities, on which folders rely.
def Skript_Float : AnyTypeOf<[BF16, F16, F32, F64], "bf16, f16, f32 or f64", "::mlir::FloatType">;

class Skript_Shaped<list<Type> elements, string what>
    : AnyTypeOf<!listconcat(elements, [RankedTensorOf<elements>, VectorOfAnyRankOf<elements>]),
                what # ", or a ranked tensor or vector of it">;

def Skript_Bool : Skript_Shaped<[I1], "i1">;
def Skript_Real : Skript_Shaped<[Skript_Float], "bf16, f16, f32 or f64">;
def Skript_Number : Skript_Shaped<[Skript_Int, Index, Skript_Float],
    "signless integer of 2 to 64 bits, index, bf16, f16, f32 or f64">;
def Skript_Scalar : Skript_Shaped<[I1, Skript_Int, Index, Skript_Float],
    "signless integer of at most 64 bits, index, bf16, f16, f32 or f64">;

/// The destination of a formula.
def Skript_Destination : RankedTensorOf<[I1, Skript_Int, Index, Skript_Float]>;

//===----------------------------------------------------------------------===//
// Base classes
//===----------------------------------------------------------------------===//

/// Verifier, result types, shapes and assembly of all operations except `cast` are shared (lib/Elementwise.cpp).
class Skript_Elementwise<string mnemonic, list<Trait> traits = []>
    : Skript_Op<mnemonic, !listconcat(ElementwiseMappable.traits, traits, [
        Pure, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>])> {
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder, ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return ::skript::detail::reifyElementwise(builder, getOperation(), shapes);
    }
    ::llvm::LogicalResult $cppClass::verify() {
      return ::skript::detail::verifyElementwise(getOperation());
    }
  }];
}

class Skript_Declaration<int operands> {
  code text = [{
    static constexpr unsigned getOperandNumber() { return }] # operands # [{; }
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual);
  }];
}

/// Operands of one element type; the result has it too, or is i1.
class Skript_Inferred<string mnemonic, bit comparison, list<Trait> traits = []>
    : Skript_Elementwise<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<InferTypeOpInterface>])> {
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder, ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return ::skript::detail::reifyElementwise(builder, getOperation(), shapes);
    }
    ::llvm::LogicalResult $cppClass::verify() {
      return ::skript::detail::verifyElementwise(getOperation());
    }
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties,
        ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::skript::detail::inferElementwise(context, location, operands.getTypes(), }] #
      !if(comparison, "true", "false") # [{, types);
    }
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual) {
      return ::skript::detail::compatibleElementwise(inferred, actual);
    }
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser, ::mlir::OperationState &state) {
      return ::skript::detail::parseElementwise(parser, state, $cppClass::getOperandNumber(), }] #
      !if(comparison, "true", "false") # [{);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) {
      ::skript::detail::printElementwise(printer, getOperation());
    }
  }];
}

class Skript_Unary<string mnemonic, Type domain, list<Trait> traits = []>
    : Skript_Inferred<mnemonic, 0, traits> {
  let arguments = (ins domain:$operand);
  let results = (outs domain:$result);
  let extraClassDeclaration = Skript_Declaration<1>.text;
}

class Skript_Binary<string mnemonic, Type domain, list<Trait> traits = []>
    : Skript_Inferred<mnemonic, 0, traits> {
  let arguments = (ins domain:$lhs, domain:$rhs);
  let results = (outs domain:$result);
  let extraClassDeclaration = Skript_Declaration<2>.text;
}

class Skript_Comparison<string mnemonic, list<Trait> traits = []>
    : Skript_Inferred<mnemonic, 1, traits> {
  let arguments = (ins Skript_Scalar:$lhs, Skript_Scalar:$rhs);
  let results = (outs Skript_Bool:$result);
  let extraClassDeclaration = Skript_Declaration<2>.text;
}

/// A real function without a folder: its value depends on the math library of the target.
class Skript_Function<string mnemonic, string what, list<Trait> traits = []>
    : Skript_Unary<mnemonic, Skript_Real, traits> {
  let summary = what;
  let description = what # " of each element (SkriptND 2.4).";
  let hasFolder = 0;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

def Skript_AddOp : Skript_Binary<"add", Skript_Number, [Commutative]> {
  let summary = "sum";
  let description = [{
    The sum of two operands; integers wrap around.

    ```mlir
    %s = skript.add %x, %bias : tensor<4x?xf32>, f32
    ```
  }];
}
def Skript_SubOp : Skript_Binary<"sub", Skript_Number> {
  let summary = "difference";
  let description = "`lhs - rhs`; integers wrap around.";
}
def Skript_MulOp : Skript_Binary<"mul", Skript_Number, [Commutative]> {
  let summary = "product";
  let description = "The product of two operands; integers wrap around.";
}
def Skript_DivOp : Skript_Binary<"div", Skript_Number> {
  let summary = "quotient; integers round down";
  let description = [{
    Floats: IEEE division. Integers: the quotient rounded down; by zero it is 0, and the least integer by -1 is itself.
  }];
}
def Skript_CeilDivOp : Skript_Binary<"ceildiv", Skript_Number> {
  let summary = "quotient rounded up";
  let description = [{
    Floats: `ceil(lhs / rhs)`. Integers: the quotient rounded up; by zero it is 0, and the least integer by -1 is itself.
  }];
}
def Skript_ModOp : Skript_Binary<"mod", Skript_Number> {
  let summary = "remainder with the sign of the divisor";
  let description = [{
    `lhs - rhs * floor(lhs / rhs)`. Integers: has the sign of the divisor; by zero it is 0.
  }];
}
def Skript_PowOp : Skript_Binary<"pow", Skript_Number> {
  let summary = "power";
  let description = [{
    `lhs` to the power `rhs`. Integers wrap around; a negative exponent gives 0, except for the bases 1 and -1.
  }];
}
def Skript_MinOp : Skript_Binary<"min", Skript_Number, [Commutative]> {
  let summary = "lesser operand; NaN if any is NaN";
  let description = "The lesser operand (integers: signed). NaN if any operand is NaN; -0 is less than +0.";
}
def Skript_MaxOp : Skript_Binary<"max", Skript_Number, [Commutative]> {
  let summary = "greater operand; NaN if any is NaN";
  let description = "The greater operand (integers: signed). NaN if any operand is NaN; +0 is greater than -0.";
}
def Skript_NegOp : Skript_Unary<"neg", Skript_Number> {
  let summary = "negation";
  let description = "Changes the sign, also of zero and NaN. The minimum integer is its own negation.";
}
def Skript_AbsOp : Skript_Unary<"abs", Skript_Number> {
  let summary = "absolute value";
  let description = "The absolute value; that of the minimum integer is itself.";
}
def Skript_SignOp : Skript_Unary<"sign", Skript_Number> {
  let summary = "sign: -1, 0, or 1";
  let description = "-1, 0 or 1. The sign of a zero is that zero, of NaN it is NaN.";
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

def Skript_LtOp : Skript_Comparison<"lt"> {
  let summary = "less";
  let description = "Integers compare signed, i1 as false < true; NaN is not less than anything.";
}
def Skript_LeOp : Skript_Comparison<"le"> {
  let summary = "less or equal";
  let description = "See `skript.lt`.";
}
def Skript_GtOp : Skript_Comparison<"gt"> {
  let summary = "greater";
  let description = "See `skript.lt`.";
}
def Skript_GeOp : Skript_Comparison<"ge"> {
  let summary = "greater or equal";
  let description = "See `skript.lt`.";
}
def Skript_EqOp : Skript_Comparison<"eq", [Commutative]> {
  let summary = "equal";
  let description = "NaN equals nothing; the two zeros are equal.";
}
def Skript_NeOp : Skript_Comparison<"ne", [Commutative]> {
  let summary = "not equal";
  let description = "The negation of `skript.eq`: true if any operand is NaN.";
}

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

def Skript_AndOp : Skript_Binary<"and", Skript_Bool, [Commutative]> {
  let summary = "conjunction";
  let description = "True where both operands are.";
}
def Skript_OrOp : Skript_Binary<"or", Skript_Bool, [Commutative]> {
  let summary = "disjunction";
  let description = "True where any operand is.";
}
def Skript_XorOp : Skript_Binary<"xor", Skript_Bool, [Commutative]> {
  let summary = "exclusive disjunction";
  let description = "True where the operands differ.";
}
def Skript_ImpliesOp : Skript_Binary<"implies", Skript_Bool> {
  let summary = "implication";
  let description = "False only where `lhs` is true and `rhs` is not.";
}
def Skript_NotOp : Skript_Unary<"not", Skript_Bool> {
  let summary = "negation";
  let description = "True where the operand is false.";
}

//===----------------------------------------------------------------------===//
// Real functions
//===----------------------------------------------------------------------===//

def Skript_SqrtOp : Skript_Unary<"sqrt", Skript_Real> {
  let summary = "square root";
  let description = "The correctly rounded square root; NaN of anything below zero.";
}
def Skript_ExpOp : Skript_Function<"exp", "Exponential function">;
def Skript_LogOp : Skript_Function<"log", "Natural logarithm">;
def Skript_SinOp : Skript_Function<"sin", "Sine">;
def Skript_CosOp : Skript_Function<"cos", "Cosine">;
def Skript_TanOp : Skript_Function<"tan", "Tangent">;
def Skript_AsinOp : Skript_Function<"asin", "Inverse sine">;
def Skript_AcosOp : Skript_Function<"acos", "Inverse cosine">;
def Skript_AtanOp : Skript_Function<"atan", "Inverse tangent">;
def Skript_SinhOp : Skript_Function<"sinh", "Hyperbolic sine">;
def Skript_CoshOp : Skript_Function<"cosh", "Hyperbolic cosine">;
def Skript_TanhOp : Skript_Function<"tanh", "Hyperbolic tangent">;
def Skript_AsinhOp : Skript_Function<"asinh", "Inverse hyperbolic sine">;
def Skript_AcoshOp : Skript_Function<"acosh", "Inverse hyperbolic cosine">;
def Skript_AtanhOp : Skript_Function<"atanh", "Inverse hyperbolic tangent">;
def Skript_ErfOp : Skript_Function<"erf", "Error function">;

def Skript_RoundOp : Skript_Unary<"round", Skript_Real> {
  let summary = "nearest integer, halves away from zero";
  let description = "The nearest integer; halves go away from zero. Keeps the sign of zero.";
}
def Skript_FloorOp : Skript_Unary<"floor", Skript_Real> {
  let summary = "next integer below";
  let description = "The greatest integer that is not greater.";
}
def Skript_CeilOp : Skript_Unary<"ceil", Skript_Real> {
  let summary = "next integer above";
  let description = "The smallest integer that is not less.";
}
def Skript_FracOp : Skript_Unary<"frac", Skript_Real> {
  let summary = "fractional part with the sign of the operand";
  let description = "`x - trunc(x)`.";
}

//===----------------------------------------------------------------------===//
// Casts and selection
//===----------------------------------------------------------------------===//

def Skript_CastOp : Skript_Elementwise<"cast"> {
  let summary = "conversion between i1, integers, index, and floats";
  let description = [{
    To i1: whether the operand differs from zero (NaN does). From i1: 0 or 1. Float to integer: truncates toward zero,
    saturates, NaN gives 0. Integers saturate where they narrow (`arith.trunci` drops bits) and widen by sign. Integer to
    float and float to float round to nearest, ties to even.

    ```mlir
    %i = skript.cast %x : tensor<4xf32> to tensor<4xi64>
    ```
  }];
  let arguments = (ins Skript_Scalar:$operand);
  let results = (outs Skript_Scalar:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasFolder = 1;
}

def Skript_SelectOp : Skript_Elementwise<"select", [
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "one of two values by a condition; both are evaluated";
  let description = [{
    Where the condition is true `true_value`, else `false_value`. Each operand may be a scalar among tensors.

    ```mlir
    %r = skript.select %c, %a, %b : f32                                       // a scalar condition
    %s = skript.select %m, %x, %y : tensor<4xi1>, tensor<4xf32>               // both values of one type
    %t = skript.select %m, %x, %b : tensor<4xi1>, tensor<4xf32>, f32
    ```
  }];
  let arguments = (ins Skript_Bool:$condition, Skript_Scalar:$true_value, Skript_Scalar:$false_value);
  let results = (outs Skript_Scalar:$result);
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let extraClassDeclaration = Skript_Declaration<3>.text;
}

#endif // SKRIPT_ELEMENTWISE_TD
