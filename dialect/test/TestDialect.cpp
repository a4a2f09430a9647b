// SPDX-License-Identifier: Apache-2.0
//===- TestDialect.cpp - a dialect that no Rust code knows ------------------===//

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "skript-test/TestDialect.h.inc"
#define GET_OP_CLASSES
#include "skript-test/TestOps.h.inc"

#include "skript-test/TestDialect.cpp.inc"
#define GET_OP_CLASSES
#include "skript-test/TestOps.cpp.inc"

void skript_test::TestDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "skript-test/TestOps.cpp.inc"
      >();
}

extern "C" void skriptRegisterTestDialect(MlirDialectRegistry registry) {
  unwrap(registry)->insert<skript_test::TestDialect>();
}
