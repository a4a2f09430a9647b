// SPDX-License-Identifier: Apache-2.0
//===- ShardyOps.td - the Shardy subset -------------------------------------===//
//
// Operations and attributes of `sdy` distribute work over devices and do not affect results. They are parsed only so that
// the import can erase them; each attribute is the string of its text, which is not interpreted.
//
//===----------------------------------------------------------------------===//

#ifndef SKRIPT_SHARDY_OPS_TD
#define SKRIPT_SHARDY_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Shardy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::skript_shardy";
  let summary = "Placement of tensors on devices: the subset that this project reads";
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
  }];
}

class Shardy_Op<string mnemonic, string what, list<Trait> traits = []> : Op<Shardy_Dialect, mnemonic, traits> {
  let summary = what;
}
class Shardy_Constraint<string mnemonic, string what> : Shardy_Op<mnemonic, what, [Pure, SameOperandsAndResultType]> {
  let arguments = (ins AnyRankedTensor:$input, StrAttr:$sharding);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input custom<Placement>($sharding) attr-dict `:` type($result)";
}

def Shardy_MeshOp : Shardy_Op<"mesh", "named axes of devices"> {
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$mesh);
  let assemblyFormat = "$sym_name `=` custom<Placement>($mesh) attr-dict";
}
def Shardy_ShardingConstraintOp : Shardy_Constraint<"sharding_constraint", "a constraint on the sharding of a tensor">;
def Shardy_ReshardOp : Shardy_Constraint<"reshard", "a tensor that moves to another placement">;

#endif // SKRIPT_SHARDY_OPS_TD
