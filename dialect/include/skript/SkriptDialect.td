// SPDX-License-Identifier: Apache-2.0
//===- SkriptDialect.td - the dialect and its attributes ------------------===//

#ifndef SKRIPT_DIALECT_TD
#define SKRIPT_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Skript_Dialect : Dialect {
  let name = "skript";
  let cppNamespace = "::skript";
  let summary = "Composed SkriptND models: operator instances, formulas, elementwise operations";
  let description = [{
    Represents a composed model of SkriptND (NNEF 2.0). Graphs and operator instances are `func.func`; `skript.invoke` calls
    an instance and keeps the operator's identity; `skript.formula` is the normal form of one `@lower` statement;
    elementwise operations compute on scalars, ranked tensors and vectors. Weights are arguments, never constants.

    Functions and their arguments carry attributes of the dialect: `skript.entry` (unit, on a `func.func`),
    `skript.name` and `skript.role` (strings, on arguments and results).
  }];

  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::tensor::TensorDialect"];
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Skript_Op<string mnemonic, list<Trait> traits = []>
    : Op<Skript_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Kind of a formula
//===----------------------------------------------------------------------===//

def Skript_Assign : I32EnumAttrCase<"Assign", 0, "assign">;
def Skript_Sum : I32EnumAttrCase<"Sum", 1, "sum">;
def Skript_Product : I32EnumAttrCase<"Product", 2, "product">;
def Skript_All : I32EnumAttrCase<"All", 3, "all">;
def Skript_Any : I32EnumAttrCase<"Any", 4, "any">;
def Skript_Min : I32EnumAttrCase<"Min", 5, "min">;
def Skript_Max : I32EnumAttrCase<"Max", 6, "max">;
def Skript_Replace : I32EnumAttrCase<"Replace", 7, "replace">;

def Skript_FormulaKind : I32EnumAttr<"FormulaKind",
    "how a formula combines a value with the current element", [
      Skript_Assign, Skript_Sum, Skript_Product, Skript_All, Skript_Any,
      Skript_Min, Skript_Max, Skript_Replace]> {
  let cppNamespace = "::skript";
  let genSpecializedAttr = 0;
}

def Skript_FormulaKindAttr
    : EnumAttr<Skript_Dialect, Skript_FormulaKind, "kind"> {
  let assemblyFormat = "`<` $value `>`";
}

#endif // SKRIPT_DIALECT_TD
