// SPDX-License-Identifier: Apache-2.0
//===- Skript.h - the skript dialect in C++ -------------------------------===//

#ifndef SKRIPT_SKRIPT_H
#define SKRIPT_SKRIPT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

#include "skript/SkriptDialect.h.inc"
#include "skript/SkriptEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "skript/SkriptAttributes.h.inc"

#include "skript/Elementwise.h"

namespace skript {
/// The side-effect resource that checks write. It represents whether the call continues.
struct CheckResource : mlir::SideEffects::Resource::Base<CheckResource> {
  mlir::StringRef getName() final { return "<SkriptCheck>"; }
};
} // namespace skript

#define GET_OP_CLASSES
#include "skript/SkriptOps.h.inc"

namespace skript {
/// Registers the bufferization of intrinsics, and of invocations that are not inlined.
void attachIntrinsicBufferization(mlir::MLIRContext &context);
void attachInvokeBufferization(mlir::MLIRContext &context);

/// Adds the dialect and its dependencies to `registry`.
void registerSkript(mlir::DialectRegistry &registry);
} // namespace skript

#endif // SKRIPT_SKRIPT_H
