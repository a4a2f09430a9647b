// SPDX-License-Identifier: Apache-2.0
//===- Check.cpp - run-time checks ------------------------------------------===//

#include "skript/Skript.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace skript;

/// Verifies the placeholders of a message.
static LogicalResult verifyMessage(CheckOp op) {
  StringRef rest = op.getMessage();
  // The open choices, whose `{/}` follows later: whether each has its `{|}`.
  SmallVector<bool> choices;
  while (true) {
    rest = rest.substr(rest.find('{'));
    if (rest.empty())
      break;
    if (rest.consume_front("{{"))
      continue;
    size_t end = rest.find('}');
    if (end == StringRef::npos)
      return op.emitOpError() << "has a message with '" << rest
                              << "': a placeholder ends with '}'; write '{{' for a brace";
    StringRef placeholder = rest.slice(1, end);
    rest = rest.drop_front(end + 1);
    if (placeholder == "text")
      continue;
    if (placeholder == "|") {
      if (choices.empty() || choices.back())
        return op.emitOpError("has a message with '{|}' outside of a choice: it separates the two texts of '{0?}'");
      choices.back() = true;
      continue;
    }
    if (placeholder == "/") {
      if (choices.empty() || !choices.back())
        return op.emitOpError("has a message with '{/}' that ends no choice: write '{0?}yes{|}no{/}'");
      choices.pop_back();
      continue;
    }
    StringRef digits = placeholder;
    bool isChoice = digits.consume_back("?");
    if (!isChoice && !digits.consume_back(":bool"))
      digits.consume_back(":real");
    unsigned position;
    if (!llvm::all_of(digits, llvm::isDigit) || digits.getAsInteger(10, position))
      return op.emitOpError()
             << "has a message with the placeholder '{" << placeholder
             << "}', which is none of '{0}', '{0:bool}', '{0:real}', '{0?}', '{|}', '{/}' and '{text}'";
    if (position >= op.getValues().size())
      return op.emitOpError() << "has a message with value " << position << ", but has " << op.getValues().size()
                              << " values";
    if (isChoice)
      choices.push_back(false);
  }
  if (!choices.empty())
    return op.emitOpError("has a message with a choice that '{/}' does not end: write '{0?}yes{|}no{/}'");
  return success();
}

LogicalResult CheckOp::verify() {
  StringRef digits = getCode();
  if (!digits.consume_front("SK") || digits.size() != 4 || !llvm::all_of(digits, llvm::isDigit))
    return emitOpError() << "has the code '" << getCode() << "': a code is 'SK' and four digits";
  if (getValues().size() > kMaxValues)
    return emitOpError() << "has " << getValues().size() << " values, but a message prints at most " << kMaxValues;
  return verifyMessage(*this);
}

LogicalResult CheckOp::canonicalize(CheckOp op, PatternRewriter &rewriter) {
  if (!matchPattern(op.getCondition(), m_One()))
    return failure();
  rewriter.eraseOp(op);
  return success();
}
