// SPDX-License-Identifier: Apache-2.0
//===- SkriptOps.td - invocations and formulas ----------------------------===//

#ifndef SKRIPT_OPS_TD
#define SKRIPT_OPS_TD

include "skript/SkriptElementwise.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

//===----------------------------------------------------------------------===//
// invoke
//===----------------------------------------------------------------------===//

def Skript_InvokeOp : Skript_Op<"invoke", [
    DeclareOpInterfaceMethods<CallOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "invocation of an operator instance";
  let description = [{
    Calls the function that holds one distinct instance of an operator. The operator's qualified name and its attribute
    values are kept on the invocation, so that a backend with its own kernel can match it before inlining.

    ```mlir
    %0 = skript.invoke @blur_0(%x, %w) operator "mine.blur" {stride = [2, 2]}
        : (tensor<1x8x8x8xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x3x3xf32>
    ```
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$callee,
    Variadic<AnyType>:$arguments,
    StrAttr:$operator_name,
    DefaultValuedAttr<DictionaryAttr, "{}">:$operator_attributes,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<AnyType>);
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// formula
//===----------------------------------------------------------------------===//

def Skript_FormulaOp : Skript_Op<"formula", [
    AttrSizedOperandSegments, DestinationStyleOpInterface, RecursiveMemoryEffects, RecursivelySpeculatable,
    DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<TilingInterface, [
      "getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation", "getResultTilePosition",
      "getIterationDomainTileFromResultTile", "generateResultTileValue"]>]> {
  let summary = "one `@lower` statement in normal form";
  let description = [{
    A loop nest over index variables `0 <= index < bound`, outermost first. Where the predicate (`where`) holds, or
    everywhere without a predicate, each value of the body is combined with the element of its destination at the
    subscripts, as the formula's kind states. `outs` are the initial contents of the destinations.

    Kinds: `assign sum product all any min max replace`. `replace`, and any formula that reads its own destinations,
    runs in index order; all other formulas are unordered. A sum of floats may be reassociated, but its order is fixed for a
    target. `assign` writes an element at most once.

    Both regions have the index variables (`index`) and one tensor per destination as block arguments: the contents of
    the destination at this step. Only `skript.access` reads these and captured tensors; no other operation within a
    formula has tensors as operands or results, and formulas do not nest.
    A step with several destinations computes all values, then writes all of them.
    A formula without steps (a bound of zero, a predicate that never holds) folds to its destinations. Canonical forms have no
    predicate that always holds, no unused destination, and no destination that is a cast to a less static type.

    Unordered formulas can be tiled (`transform.structured.tile_using_for`, `tile_using_forall`, `fuse`): a tile
    is the same formula over a part of the domain.

    Bounds are constants or operands:

    ```mlir
    %y = skript.formula sum (%i, %j) in (8, %n) outs(%acc = %init : tensor<8xf32>) where {
      %ok = skript.lt %j, %i : index
      skript.condition %ok
    } do {
      %v = skript.access %x[%i, %j] : tensor<8x?xf32>
      skript.yield %v at [%i] : f32
    } : tensor<8xf32>
    ```
  }];
  let arguments = (ins
    Skript_FormulaKindAttr:$kind,
    DenseI64ArrayAttr:$static_bounds,
    Variadic<Index>:$bounds,
    Variadic<Skript_Destination>:$outs);
  let results = (outs Variadic<Skript_Destination>:$results);
  let regions = (region AnyRegion:$predicate, AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Bounds of the index variables, outermost first: index attributes or values.
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedBounds();
    /// Number of index variables.
    unsigned getNumIndices() { return getStaticBounds().size(); }
    /// Discardable attribute of a formula that writes several elements of a tensor in one step: for each destination, the
    /// number of the first destination that is the same tensor.
    static ::llvm::StringRef getSameTensorAttrName() { return "skript.same_tensor"; }
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
}

//===----------------------------------------------------------------------===//
// intrinsic
//===----------------------------------------------------------------------===//

def Skript_IntrinsicOp : Skript_Op<"intrinsic", [
    AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "an operator without a formula, computed by a kernel of the runtime";
  let description = [{
    Reads `ins` and overwrites `outs` with the results of the operator's kernel; on tensors, the results are the new
    contents. Bufferization converts the operation to memrefs.

    If the size of an output depends on data, its destination has the upper bound, and a further destination
    at the end of `outs` receives its actual extents as i64. `dynamic_outputs` lists the positions of such outputs, in the order of
    these destinations.

    A `random` operator draws from a stream of random numbers; each execution draws new numbers.

    Attributes may be known only at run time: `given` has their names. Their values are the last operands of `ins`, in this
    order, as i64, f64 or i1. A single value has rank 0, a list rank 1.

    ```mlir
    %values, %positions = skript.intrinsic "mine.largest" ins(%x : tensor<2x5xf32>)
        outs(%v, %p : tensor<2x3xf32>, tensor<2x3xi64>) {operator_attributes = {axis = 1, k = 3}}
        -> tensor<2x3xf32>, tensor<2x3xi64>
    %places, %extents = skript.intrinsic "mine.places" ins(%x : tensor<2x5xf32>)
        outs(%b, %e : tensor<2x10xi64>, tensor<2xi64>) {dynamic_outputs = array<i64: 0>} -> tensor<2x10xi64>, tensor<2xi64>
    %first = skript.intrinsic "mine.first" ins(%x, %k : tensor<2x5xf32>, tensor<i64>)
        outs(%f : tensor<2x3xf32>) {given = ["k"]} -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins
    StrAttr:$operator_name,
    DefaultValuedAttr<DictionaryAttr, "{}">:$operator_attributes,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$dynamic_outputs,
    DefaultValuedAttr<StrArrayAttr, "{}">:$given,
    UnitAttr:$random,
    Variadic<AnyTypeOf<[AnyRankedTensor, AnyMemRef]>>:$inputs,
    Variadic<AnyTypeOf<[AnyRankedTensor, AnyMemRef]>>:$outs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $operator_name (`ins` `(` $inputs^ `:` type($inputs) `)`)? `outs` `(` $outs `:` type($outs) `)` attr-dict
    (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
}

//===----------------------------------------------------------------------===//
// check
//===----------------------------------------------------------------------===//

/// Whether the call continues. Checks write it, so that they are neither removed nor reordered.
def Skript_CheckResource : Resource<"::skript::CheckResource">;

def Skript_CheckOp : Skript_Op<"check", [MemoryEffects<[MemWrite<Skript_CheckResource>]>]> {
  let summary = "run-time check: ends the call if its condition is false";
  let description = [{
    If the condition is true, execution continues. Otherwise the call ends with a diagnostic of this code and message. The
    location of the operation, with its call sites, is the trace that the diagnostic prints.

    `{0}` in the message stands for the first of the values as an int, `{0:bool}` for this value as a bool, and
    `{0:real}` for the f64 that has its bits. `{text}` stands for the message of a runtime kernel. Value 3 selects one of two
    texts in `{3?}yes{|}no{/}`. `{{` is a brace. A check has at most 63 values, the capacity of a call's context.

    `status` is the number of the check, from 1, that the compiled entry returns if the check fails.
    `skript-number-checks` sets it, and `skript-lower-checks` lowers the operation to a branch and an early return.

    A check writes to a resource that only checks have. Two checks are not reordered, and no check is removed or merged,
    except that canonicalization erases a check whose condition is the constant `true`.

    ```mlir
    skript.check %equal, "SK9204", "{0} is not {1}"(%n, %m)
    skript.check %done, "SK9201", "operator mine.sorted: {text}" status 2
    ```
  }];
  let arguments = (ins
    I1:$condition,
    StrAttr:$code,
    StrAttr:$message,
    Variadic<I64>:$values,
    OptionalAttr<ConfinedAttr<I32Attr, [IntPositive]>>:$status);
  let assemblyFormat = "$condition `,` $code `,` $message (`(` $values^ `)`)? (`status` $status^)? attr-dict";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    /// Maximum number of values that a message prints.
    static constexpr size_t kMaxValues = 64;
  }];
}

def Skript_AccessOp : Skript_Op<"access", [
    NoMemoryEffect, DeclareOpInterfaceMethods<ConditionallySpeculatable>,
    TypesMatchWith<"the result is an element of the tensor", "tensor", "result",
                   "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()">]> {
  let summary = "element of a tensor; the indices are in bounds";
  let description = [{
    Reads one element. Out-of-bounds indices are undefined behavior; the frontend proves, clamps or guards indices. Folds for
    splats, and for constants at constant indices. Outside formulas it is equivalent to `tensor.extract`, to which the
    lowerings of formulas convert it.

    ```mlir
    %a = skript.access %A[%i, %l] : tensor<4x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tensor, Variadic<Index>:$indices);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$tensor `[` $indices `]` attr-dict `:` type($tensor)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Skript_ConditionOp : Skript_Op<"condition", [
    Pure, Terminator, HasParent<"FormulaOp">]> {
  let summary = "ends the predicate of a formula";
  let description = [{
    ```mlir
    skript.condition %ok
    ```
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

def Skript_YieldOp : Skript_Op<"yield", [
    Pure, Terminator, AttrSizedOperandSegments, HasParent<"FormulaOp">]> {
  let summary = "ends the body of a formula: a value and its position for each destination";
  let description = [{
    `ranks` is the number of subscripts of each value.

    ```mlir
    skript.yield %v at [%i, %j] : f32
    skript.yield %best at [%i], %where at [%i] : f32, i64
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values, Variadic<Index>:$subscripts, DenseI32ArrayAttr:$ranks);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The subscripts of one destination.
    ::mlir::OperandRange getSubscriptsOf(unsigned destination);
  }];
}

#endif // SKRIPT_OPS_TD
