// SPDX-License-Identifier: Apache-2.0
//===- Ops.cpp - generated definitions of all operations --------------------===//

#include "skript/Skript.h"

#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "skript/SkriptOps.cpp.inc"
