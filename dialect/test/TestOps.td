// SPDX-License-Identifier: Apache-2.0
//===- TestOps.td - operations that no Rust code knows ---------------------===//

#ifndef SKRIPT_TEST_OPS_TD
#define SKRIPT_TEST_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Test_Dialect : Dialect {
  let name = "skript_test";
  let cppNamespace = "::skript_test";
  let summary = "operations of a dialect that no pass names; known to skript-opt only";
}

class Test_Elementwise<string mnemonic>
    : Op<Test_Dialect, mnemonic, !listconcat(ElementwiseMappable.traits, [Pure])>;

def Test_BlendOp : Test_Elementwise<"blend"> {
  let summary = "an elementwise operation on two operands of any types";
  let arguments = (ins AnyType:$lhs, AnyType:$rhs);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
}

def Test_SplitOp : Test_Elementwise<"split"> {
  let summary = "an elementwise operation with two results and an attribute";
  let arguments = (ins AnyType:$operand, I64Attr:$at);
  let results = (outs AnyType:$low, AnyType:$high);
  let assemblyFormat = "$operand `at` $at attr-dict `:` type($operand) `->` type($low) `,` type($high)";
}

#endif // SKRIPT_TEST_OPS_TD
