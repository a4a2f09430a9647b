// SPDX-License-Identifier: Apache-2.0
//===- Chlo.h - the CHLO subset in C++ --------------------------------------===//

#ifndef SKRIPT_CHLO_H
#define SKRIPT_CHLO_H

#include "skript-stablehlo/Stablehlo.h"

#include "skript-stablehlo/ChloDialect.h.inc"

#define GET_OP_CLASSES
#include "skript-stablehlo/ChloOps.h.inc"

#endif // SKRIPT_CHLO_H
