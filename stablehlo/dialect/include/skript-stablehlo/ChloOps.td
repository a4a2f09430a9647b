// SPDX-License-Identifier: Apache-2.0
//===- ChloOps.td - the CHLO subset ------------------------------------------===//
//
// An independent definition of the CHLO operations that this project reads: functions that can be composed of StableHLO
// operations. It shares names and textual form with the definition of the OpenXLA project, so a context must not contain
// both.
//
//===----------------------------------------------------------------------===//

#ifndef SKRIPT_CHLO_OPS_TD
#define SKRIPT_CHLO_OPS_TD

include "skript-stablehlo/StablehloDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::skript_chlo";
  let summary = "Functions that StableHLO can be composed of: what this project reads of them";
}

class Chlo_Op<string mnemonic, string what, list<Trait> traits = []>
    : Op<Chlo_Dialect, mnemonic, !listconcat(traits, [Pure])> {
  let summary = what;
}

/// Checks `<op>_c1`, like the traits of StableHLO operations. CHLO operations lack the elementwise trait, because
/// `convert-stablehlo-to-linalg` emits their scalar forms.
def Chlo_OneType : NativeOpTrait<"OneType"> {
  let cppNamespace = "::skript_stablehlo";
}
def Chlo_OneShape : NativeOpTrait<"OneShape"> {
  let cppNamespace = "::skript_stablehlo";
}

class Chlo_Unary<string mnemonic, string what, Type domain = Stablehlo_RealOrComplex, Type codomain = domain,
                 list<Trait> traits = [Chlo_OneType]> : Chlo_Op<mnemonic, what, traits> {
  let arguments = (ins domain:$operand);
  let results = (outs codomain:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<MapTypes>(type($operand), type($result))";
}
class Chlo_Binary<string mnemonic, string what> : Chlo_Op<mnemonic, what, [Chlo_OneType]> {
  let arguments = (ins Stablehlo_Real:$lhs, Stablehlo_Real:$rhs);
  let results = (outs Stablehlo_Real:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<MapTypes>(type($lhs), type($rhs), type($result))";
}

def Chlo_AcosOp : Chlo_Unary<"acos", "inverse cosine">;
def Chlo_AcoshOp : Chlo_Unary<"acosh", "inverse hyperbolic cosine">;
def Chlo_AsinOp : Chlo_Unary<"asin", "inverse sine">;
def Chlo_AsinhOp : Chlo_Unary<"asinh", "inverse hyperbolic sine">;
def Chlo_AtanOp : Chlo_Unary<"atan", "inverse tangent">;
def Chlo_AtanhOp : Chlo_Unary<"atanh", "inverse hyperbolic tangent">;
def Chlo_BesselI1eOp : Chlo_Unary<"bessel_i1e", "exponentially scaled modified Bessel function of order 1", Stablehlo_Real>;
def Chlo_CoshOp : Chlo_Unary<"cosh", "hyperbolic cosine">;
def Chlo_DigammaOp : Chlo_Unary<"digamma", "logarithmic derivative of the gamma function", Stablehlo_Real>;
def Chlo_ErfOp : Chlo_Unary<"erf", "error function", Stablehlo_Real>;
def Chlo_ErfInvOp : Chlo_Unary<"erf_inv", "inverse of the error function", Stablehlo_Real>;
def Chlo_ErfcOp : Chlo_Unary<"erfc", "1 - erf(x)", Stablehlo_Real>;
def Chlo_IsInfOp
    : Chlo_Unary<"is_inf", "whether an element is infinite", Stablehlo_Real, Stablehlo_PredLike, [Chlo_OneShape]>;
def Chlo_LgammaOp : Chlo_Unary<"lgamma", "logarithm of the absolute value of the gamma function", Stablehlo_Real>;
def Chlo_NextAfterOp : Chlo_Binary<"next_after", "next representable number in the direction of the second operand">;
def Chlo_PolygammaOp : Chlo_Binary<"polygamma", "derivative of digamma, of the order of the first operand">;
def Chlo_SinhOp : Chlo_Unary<"sinh", "hyperbolic sine">;
def Chlo_SquareOp : Chlo_Unary<"square", "product of an element with itself", Stablehlo_Number>;
def Chlo_TanOp : Chlo_Unary<"tan", "tangent">;
def Chlo_ZetaOp : Chlo_Binary<"zeta", "Hurwitz zeta function">;

def Chlo_TopKOp : Chlo_Op<"top_k", "the k largest elements along the last dimension, and their indices"> {
  let description = [{
    ```mlir
    %values, %indices = chlo.top_k(%0, k = 2) : tensor<3x8xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
    ```
  }];
  let arguments = (ins Stablehlo_Tensor:$operand, I64Attr:$k);
  let results = (outs Stablehlo_Tensor:$values, Stablehlo_IndexTensor:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k `)` attr-dict `:` type($operand) `->` `(` type($values) `,` type($indices) `)`
  }];
  let hasVerifier = 1;
}

#endif // SKRIPT_CHLO_OPS_TD
