// SPDX-License-Identifier: Apache-2.0
//===- Chlo.h - the CHLO subset, and what is read of Shardy, in C++ ---------===//

#ifndef SKRIPT_CHLO_H
#define SKRIPT_CHLO_H

#include "skript-stablehlo/Stablehlo.h"

#include "skript-stablehlo/ChloDialect.h.inc"

#define GET_OP_CLASSES
#include "skript-stablehlo/ChloOps.h.inc"

namespace skript_shardy {
/// Stands for Shardy's dialect where programs are read. Its attributes say how to spread work over devices, never what
/// the work is: each is read as the string of its text, whatever that holds. There are no operations.
class ShardyDialect : public mlir::Dialect {
public:
  explicit ShardyDialect(mlir::MLIRContext *context);
  static llvm::StringRef getDialectNamespace() { return "sdy"; }
  mlir::Attribute parseAttribute(mlir::DialectAsmParser &parser, mlir::Type type) const override;
};
} // namespace skript_shardy

MLIR_DECLARE_EXPLICIT_TYPE_ID(skript_shardy::ShardyDialect)

#endif // SKRIPT_CHLO_H
