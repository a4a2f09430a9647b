// SPDX-License-Identifier: Apache-2.0
//===- Shardy.h - the Shardy subset in C++ ----------------------------------===//

#ifndef SKRIPT_SHARDY_H
#define SKRIPT_SHARDY_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "skript-stablehlo/ShardyDialect.h.inc"

#define GET_OP_CLASSES
#include "skript-stablehlo/ShardyOps.h.inc"

#endif // SKRIPT_SHARDY_H
