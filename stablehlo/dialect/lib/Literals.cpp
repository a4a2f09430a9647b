// SPDX-License-Identifier: Apache-2.0
//===- Literals.cpp - elements as a text writes them ------------------------===//

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
/// A place in a text that ends with NUL.
struct Reader {
  const char *at;

  /// Over spaces and remarks.
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

  /// A word or a number, which may be empty.
  StringRef word() {
    skip();
    const char *begin = at;
    while (isAlnum(*at) || *at == '-' || *at == '+' || *at == '.')
      ++at;
    return StringRef(begin, at - begin);
  }
};

/// Elements between two places, of a type by its name, which is empty where the text does not say it; `pair` is where the
/// first of two numbers in parentheses begins, if there is one.
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
  // Of a sparse literal, values come after the places.
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
  std::optional<Elements> found = elements(text);
  if (!found)
    return std::nullopt;
  if (found->pair && !found->type.empty() && found->type != "complex")
    return StrayElement{found->pair,
                        ("constant_c1: two numbers in parentheses are a complex one, no element of '" + found->type + "'").str()};
  unsigned width;
  StringRef bits = found->type;
  bool isSigned = !bits.consume_front("u");
  if (!bits.consume_front("i") || bits.getAsInteger(10, width) || width == 0 || width > 64)
    return std::nullopt;
  // A pred is false or true, for which 0 and 1 may stand.
  isSigned = isSigned && width > 1;
  APInt least = isSigned ? APInt::getSignedMinValue(width).sext(128) : APInt(128, 0);
  APInt greatest = (isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width)).zext(128);
  for (Reader reader{found->begin}; reader.skip(), reader.at < found->end;) {
    StringRef word = reader.word(), digits = word;
    bool isNegative = digits.consume_front("-");
    APInt value;
    // Anything else is a word, bits, or what the parser refuses.
    if (digits.empty() || !all_of(digits, isDigit) || digits.getAsInteger(10, value)) {
      reader.at += word.empty();
      continue;
    }
    bool fits = value.getActiveBits() < 128;
    value = fits ? value.zextOrTrunc(128) : value;
    if (fits && isNegative)
      value.negate();
    if (fits && value.sge(least) && value.sle(greatest))
      continue;
    SmallString<24> from, to;
    least.toStringSigned(from);
    greatest.toStringSigned(to);
    std::string message = ("constant_c1: " + word + " is not an element of '" + found->type + "'").str();
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
