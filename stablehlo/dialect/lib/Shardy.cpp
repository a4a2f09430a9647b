// SPDX-License-Identifier: Apache-2.0
//===- Shardy.cpp - parses placements as strings ----------------------------===//

#include "skript-stablehlo/Shardy.h"
#include "skript-stablehlo-c/Dialect.h"

#include "mlir/CAPI/Registration.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace skript_shardy;

#include "skript-stablehlo/ShardyDialect.cpp.inc"

/// `<@mesh, [{"x"}, {"y":(1)2, ?}p1], replicated={"z"}>`: any tokens up to the matching closing bracket.
static ParseResult parsePlacement(OpAsmParser &parser, StringAttr &text) {
  SMLoc begin = parser.getCurrentLocation();
  if (parser.parseLess())
    return failure();
  for (unsigned depth = 1; depth > 0;) {
    StringRef word;
    StringAttr symbol;
    std::string string;
    APInt integer;
    if (succeeded(parser.parseOptionalGreater())) {
      --depth;
    } else if (succeeded(parser.parseOptionalLess())) {
      ++depth;
    } else {
      OptionalParseResult number = parser.parseOptionalInteger(integer);
      bool isToken = number.has_value() ? succeeded(*number)
                                        : succeeded(parser.parseOptionalSymbolName(symbol)) ||
                                              succeeded(parser.parseOptionalString(&string)) ||
                                              succeeded(parser.parseOptionalLSquare()) ||
                                              succeeded(parser.parseOptionalRSquare()) ||
                                              succeeded(parser.parseOptionalLBrace()) ||
                                              succeeded(parser.parseOptionalRBrace()) ||
                                              succeeded(parser.parseOptionalLParen()) ||
                                              succeeded(parser.parseOptionalRParen()) ||
                                              succeeded(parser.parseOptionalComma()) ||
                                              succeeded(parser.parseOptionalEqual()) ||
                                              succeeded(parser.parseOptionalColon()) ||
                                              succeeded(parser.parseOptionalQuestion()) ||
                                              succeeded(parser.parseOptionalKeyword(&word));
      if (!isToken)
        return parser.emitError(parser.getCurrentLocation(), "expected a placement that ends with '>'");
    }
  }
  const char *end = parser.getCurrentLocation().getPointer();
  text = parser.getBuilder().getStringAttr(StringRef(begin.getPointer(), end - begin.getPointer()).rtrim());
  return success();
}

static void printPlacement(OpAsmPrinter &printer, Operation *, StringAttr text) {
  printer << text.getValue().drop_until([](char c) { return c == '<'; });
}

#define GET_OP_CLASSES
#include "skript-stablehlo/ShardyOps.cpp.inc"

void ShardyDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "skript-stablehlo/ShardyOps.cpp.inc"
      >();
}

Attribute ShardyDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  return StringAttr::get(getContext(), parser.getFullSymbolSpec());
}

extern "C" {
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(SkriptShardy, skript_shardy, skript_shardy::ShardyDialect)
}
