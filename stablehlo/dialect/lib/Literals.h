// SPDX-License-Identifier: Apache-2.0
//===- Literals.h - checks of elements in literals --------------------------===//

#ifndef SKRIPT_STABLEHLO_LITERALS_H
#define SKRIPT_STABLEHLO_LITERALS_H

#include <optional>
#include <string>

namespace skript_stablehlo {
/// An element that the element type of its literal cannot represent.
struct StrayElement {
  const char *at;
  std::string message;
};

/// Returns the first such element of the literal `dense<…> : tensor<…xTYPE>` or `sparse<…> : tensor<…xTYPE>` at the
/// start of the NUL-terminated text. MLIR accepts any integer with at most the bits of the type, so it would read 128
/// as the 8-bit integer −128; if complex elements are mixed with real ones, it reads past the end of the parsed
/// elements. Hexadecimal numbers are bit patterns. Reads at most the length of the literal, not the length of the text.
std::optional<StrayElement> strayElement(const char *text);
} // namespace skript_stablehlo

#endif // SKRIPT_STABLEHLO_LITERALS_H
