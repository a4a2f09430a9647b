// SPDX-License-Identifier: Apache-2.0
//===- Literals.cpp - checks of elements in literals ------------------------===//

#include "Literals.h"
#include "skript-stablehlo-c/Dialect.h"

#include "mlir/CAPI/Wrap.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <cstring>

using namespace llvm;
using namespace skript_stablehlo;

namespace {
/// A cursor in a NUL-terminated text.
struct Reader {
  const char *at;

  /// Skips white space and comments.
  void skip() {
    while (true) {
      at += std::strspn(at, " \t\r\n");
      if (at[0] != '/' || at[1] != '/')
        return;
      at += std::strcspn(at, "\n");
    }
  }

  bool take(StringRef piece) {
    skip();
    bool isNext = std::strncmp(at, piece.data(), piece.size()) == 0;
    at += isNext ? piece.size() : 0;
    return isNext;
  }

  /// Reads a word or a number, possibly empty.
  StringRef word() {
    skip();
    const char *begin = at;
    while (isAlnum(*at) || *at == '-' || *at == '+' || *at == '.')
      ++at;
    return StringRef(begin, at - begin);
  }
};

/// The text of the elements of a literal, and the name of their type, which is empty if the text does not contain it.
/// `pair` is the first opening parenthesis of a complex element, or null.
struct Elements {
  const char *begin, *end, *pair;
  StringRef type;
};
} // namespace

static std::optional<Elements> elements(const char *text) {
  Reader reader{text};
  bool isSparse = reader.take("sparse");
  if ((!isSparse && !reader.take("dense")) || !reader.take("<"))
    return std::nullopt;
  // In a sparse literal, the values follow the indices.
  const char *begin = isSparse ? nullptr : reader.at, *pair = nullptr;
  for (int depth = 0; !reader.take(">"); ++reader.at) {
    char next = *reader.at;
    if (next == '\0' || next == '"')
      return std::nullopt;
    depth += (next == '[') - (next == ']');
    pair = next == '(' && !pair ? reader.at : pair;
    if (next == ',' && depth == 0 && !begin)
      begin = reader.at + 1;
  }
  const char *end = reader.at - 1;
  if (!begin || !reader.take(":") || !reader.take("tensor") || !reader.take("<"))
    return std::nullopt;
  StringRef type = reader.word();
  while (!type.empty() && isDigit(type.front())) {
    type = type.drop_while(isDigit);
    type.consume_front("x");
  }
  return Elements{begin, end, pair, type};
}

std::optional<StrayElement> skript_stablehlo::strayElement(const char *text) {
  std::optional<Elements> literal = elements(text);
  if (!literal)
    return std::nullopt;
  if (literal->pair && !literal->type.empty() && literal->type != "complex")
    return StrayElement{literal->pair,
                        ("constant_c1: two numbers in parentheses are a complex one, no element of '" + literal->type + "'").str()};
  unsigned width;
  StringRef bits = literal->type;
  bool isSigned = !bits.consume_front("u");
  if (!bits.consume_front("i") || bits.getAsInteger(10, width) || width == 0 || width > 64)
    return std::nullopt;
  // The elements of a pred are false and true, or 0 and 1.
  isSigned = isSigned && width > 1;
  APInt min = isSigned ? APInt::getSignedMinValue(width).sext(128) : APInt(128, 0);
  APInt max = (isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width)).zext(128);
  for (Reader reader{literal->begin}; reader.skip(), reader.at < literal->end;) {
    StringRef word = reader.word(), digits = word;
    bool isNegative = digits.consume_front("-");
    APInt value;
    // Other tokens are keywords, bit patterns, or invalid; the parser rejects invalid tokens.
    if (digits.empty() || !all_of(digits, isDigit) || digits.getAsInteger(10, value)) {
      reader.at += word.empty();
      continue;
    }
    bool fits = value.getActiveBits() < 128;
    value = fits ? value.zextOrTrunc(128) : value;
    if (fits && isNegative)
      value.negate();
    if (fits && value.sge(min) && value.sle(max))
      continue;
    SmallString<24> from, to;
    min.toStringSigned(from);
    max.toStringSigned(to);
    std::string message = ("constant_c1: " + word + " is not an element of '" + literal->type + "'").str();
    return StrayElement{word.data(), (message + ", whose elements are from " + from + " to " + to).str()};
  }
  return std::nullopt;
}

bool skriptStablehloStrayElement(const char *text, size_t *offset, MlirStringCallback callback, void *data) {
  std::optional<StrayElement> stray = strayElement(text);
  if (!stray)
    return false;
  *offset = stray->at - text;
  callback(mlirStringRefCreate(stray->message.data(), stray->message.size()), data);
  return true;
}
