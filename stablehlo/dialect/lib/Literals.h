// SPDX-License-Identifier: Apache-2.0
//===- Literals.h - elements as a text writes them --------------------------===//

#ifndef SKRIPT_STABLEHLO_LITERALS_H
#define SKRIPT_STABLEHLO_LITERALS_H

#include <optional>
#include <string>

namespace skript_stablehlo {
/// An element that is none of the type that its literal has.
struct StrayElement {
  const char *at;
  std::string message;
};

/// The first in `dense<…> : tensor<…xTYPE>` or `sparse<…> : tensor<…xTYPE>`, with which a text begins that ends with NUL:
/// MLIR takes what has no more bits than the type, so that 128 would be the least number of 8 bits, and of complex numbers
/// among others as many as it wants, from after their end where there are too few. Numbers in hexadecimal are bits. No more
/// is read than the literal is long, however long the text is.
std::optional<StrayElement> strayElement(const char *text);
} // namespace skript_stablehlo

#endif // SKRIPT_STABLEHLO_LITERALS_H
