// SPDX-License-Identifier: Apache-2.0
//===- Assembly.cpp - parsers and printers that operations share ------------===//

#include "skript-stablehlo/Assembly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace skript_stablehlo {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

ParseResult parseTypes(OpAsmParser &parser, ArrayRef<Type *> types) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  auto function = dyn_cast<FunctionType>(type);
  if (!function) {
    for (Type *slot : types)
      *slot = type;
    return success();
  }
  if (function.getNumInputs() + 1 != types.size() || function.getNumResults() != 1)
    return parser.emitError(loc) << "expected " << types.size() - 1 << " operand types and one result type";
  for (auto [slot, input] : llvm::zip(types.drop_back(), function.getInputs()))
    *slot = input;
  *types.back() = function.getResult(0);
  return success();
}

void printTypes(OpAsmPrinter &printer, ArrayRef<Type> types) {
  if (llvm::all_equal(types)) {
    printer << types.back();
    return;
  }
  printer << '(';
  llvm::interleaveComma(types.drop_back(), printer);
  printer << ") -> " << types.back();
}

/// The type of the real or imaginary part of a complex type, with the same shape.
static Type part(Type type) {
  Type element = getElementTypeOrSelf(type);
  auto complex = dyn_cast<ComplexType>(element);
  if (!complex)
    return {};
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(complex.getElementType());
  return complex.getElementType();
}

ParseResult parseComplexSignature(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parseTypes(parser, {&lhs, &rhs, &result}))
    return failure();
  if (lhs != result)
    return success();
  lhs = rhs = part(result);
  return lhs ? ParseResult(success()) : parser.emitError(loc) << "expected a complex type, found " << result;
}

void printComplexSignature(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs, Type result) {
  if (lhs == rhs && lhs == part(result))
    printer << result;
  else
    printTypes(printer, {lhs, rhs, result});
}

ParseResult parseSelectSignature(OpAsmParser &parser, Type &condition, Type &onTrue, Type &onFalse, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> types;
  if (parser.parseTypeList(types))
    return failure();
  if (types.size() == 2) {
    condition = types[0];
    onTrue = onFalse = result = types[1];
    return success();
  }
  auto function = types.size() == 1 ? dyn_cast<FunctionType>(types[0]) : FunctionType();
  if (!function || function.getNumInputs() != 3 || function.getNumResults() != 1)
    return parser.emitError(loc) << "expected the types of condition and values, or a function type";
  condition = function.getInput(0);
  onTrue = function.getInput(1);
  onFalse = function.getInput(2);
  result = function.getResult(0);
  return success();
}

void printSelectSignature(OpAsmPrinter &printer, Operation *, Type condition, Type onTrue, Type onFalse, Type result) {
  if (onTrue == onFalse && onTrue == result)
    printer << condition << ", " << result;
  else
    printTypes(printer, {condition, onTrue, onFalse, result});
}

ParseResult parseSameTypes(OpAsmParser &parser, SmallVectorImpl<Type> &operands, SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(operands))
    return failure();
  results.assign(operands.begin(), operands.end());
  return success();
}

void printSameTypes(OpAsmPrinter &printer, Operation *, TypeRange operands, TypeRange) {
  llvm::interleaveComma(operands, printer);
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

ParseResult parseFloatFormat(OpAsmParser &parser, IntegerAttr &exponent, IntegerAttr &mantissa) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  StringRef remaining = word;
  int32_t bits[2];
  if (!remaining.consume_front("e") || remaining.consumeInteger(10, bits[0]) || !remaining.consume_front("m") ||
      remaining.consumeInteger(10, bits[1]) || !remaining.empty())
    return parser.emitError(loc) << "expected bits of exponent and mantissa such as e8m7, found " << word;
  exponent = parser.getBuilder().getI32IntegerAttr(bits[0]);
  mantissa = parser.getBuilder().getI32IntegerAttr(bits[1]);
  return success();
}

void printFloatFormat(OpAsmPrinter &printer, Operation *, IntegerAttr exponent, IntegerAttr mantissa) {
  printer << 'e' << exponent.getInt() << 'm' << mantissa.getInt();
}

template <typename Attr, typename Symbolize>
static ParseResult parseEnumeration(OpAsmParser &parser, Attr &attribute, Symbolize symbolize) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  auto value = symbolize(word);
  if (!value)
    return parser.emitError(loc) << "'" << word << "' is not a word of '" << Attr::getMnemonic() << "'";
  attribute = Attr::get(parser.getContext(), *value);
  return success();
}

ParseResult parseWord(OpAsmParser &parser, ComparisonDirectionAttr &word) {
  return parseEnumeration(parser, word, [](StringRef text) { return symbolizeComparisonDirection(text); });
}
ParseResult parseWord(OpAsmParser &parser, ComparisonTypeAttr &word) {
  return parseEnumeration(parser, word, [](StringRef text) { return symbolizeComparisonType(text); });
}
ParseResult parseWord(OpAsmParser &parser, FftTypeAttr &word) {
  return parseEnumeration(parser, word, [](StringRef text) { return symbolizeFftType(text); });
}
ParseResult parseWord(OpAsmParser &parser, RngAlgorithmAttr &word) {
  return parseEnumeration(parser, word, [](StringRef text) { return symbolizeRngAlgorithm(text); });
}
void printWord(OpAsmPrinter &printer, Operation *, ComparisonDirectionAttr word) {
  printer << stringifyComparisonDirection(word.getValue());
}
void printWord(OpAsmPrinter &printer, Operation *, ComparisonTypeAttr word) {
  printer << stringifyComparisonType(word.getValue());
}
void printWord(OpAsmPrinter &printer, Operation *, FftTypeAttr word) {
  printer << stringifyFftType(word.getValue());
}
void printWord(OpAsmPrinter &printer, Operation *, RngAlgorithmAttr word) {
  printer << stringifyRngAlgorithm(word.getValue());
}

//===----------------------------------------------------------------------===//
// Operands and lists
//===----------------------------------------------------------------------===//

ParseResult parseLeadingOperands(OpAsmParser &parser, OperandList &operands) {
  while (true) {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult parsed = parser.parseOptionalOperand(operand);
    if (!parsed.has_value())
      return success();
    if (*parsed || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
}

void printLeadingOperands(OpAsmPrinter &printer, Operation *, OperandRange operands) {
  llvm::interleave(operands, [&](Value operand) { printer << operand << ','; }, [&] { printer << ' '; });
}

ParseResult parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &starts, DenseI64ArrayAttr &limits,
                             DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> from, to, by;
  auto range = [&]() -> ParseResult {
    int64_t start, limit, stride = 1;
    if (parser.parseInteger(start) || parser.parseColon() || parser.parseInteger(limit))
      return failure();
    if (succeeded(parser.parseOptionalColon()) && parser.parseInteger(stride))
      return failure();
    from.push_back(start);
    to.push_back(limit);
    by.push_back(stride);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, range))
    return failure();
  starts = parser.getBuilder().getDenseI64ArrayAttr(from);
  limits = parser.getBuilder().getDenseI64ArrayAttr(to);
  strides = parser.getBuilder().getDenseI64ArrayAttr(by);
  return success();
}

void printSliceRanges(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr starts, DenseI64ArrayAttr limits,
                      DenseI64ArrayAttr strides) {
  printer << '[';
  llvm::interleaveComma(llvm::seq<size_t>(0, starts.size()), printer, [&](size_t d) {
    printer << starts[d] << ':' << limits[d];
    if (strides[d] != 1)
      printer << ':' << strides[d];
  });
  printer << ']';
}

static ParseResult parseIntegers(AsmParser &parser, SmallVectorImpl<int64_t> &integers) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(integers.emplace_back()); });
}

static void printIntegers(AsmPrinter &printer, ArrayRef<int64_t> integers) {
  printer << '[';
  llvm::interleaveComma(integers, printer);
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static ParseResult parsePair(AsmParser &parser, SmallVectorImpl<int64_t> &lhs, SmallVectorImpl<int64_t> &rhs) {
  if (parser.parseEqual() || parseIntegers(parser, lhs) || parser.parseKeyword("x"))
    return failure();
  return parseIntegers(parser, rhs);
}

ParseResult parseDotDimensions(OpAsmParser &parser, DotDimensionNumbersAttr &dimensions) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContracted, rhsContracted;
  if (succeeded(parser.parseOptionalKeyword("batching_dims")) &&
      (parsePair(parser, lhsBatch, rhsBatch) || parser.parseComma()))
    return failure();
  if (parser.parseKeyword("contracting_dims") || parsePair(parser, lhsContracted, rhsContracted))
    return failure();
  dimensions =
      DotDimensionNumbersAttr::get(parser.getContext(), lhsBatch, rhsBatch, lhsContracted, rhsContracted);
  return success();
}

static void printPair(AsmPrinter &printer, ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  printer << " = ";
  printIntegers(printer, lhs);
  printer << " x ";
  printIntegers(printer, rhs);
}

void printDotDimensions(OpAsmPrinter &printer, Operation *, DotDimensionNumbersAttr dimensions) {
  if (!dimensions.getLhsBatchingDimensions().empty() || !dimensions.getRhsBatchingDimensions().empty()) {
    printer << "batching_dims";
    printPair(printer, dimensions.getLhsBatchingDimensions(), dimensions.getRhsBatchingDimensions());
    printer << ", ";
  }
  printer << "contracting_dims";
  printPair(printer, dimensions.getLhsContractingDimensions(), dimensions.getRhsContractingDimensions());
}

ParseResult parsePrecision(OpAsmParser &parser, ArrayAttr &precisions, DotAlgorithmAttr &algorithm) {
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("algorithm"))) {
      if (parser.parseEqual() || parser.parseCustomAttributeWithFallback(algorithm))
        return failure();
      continue;
    }
    SmallVector<Attribute> list;
    if (parser.parseKeyword("precision") || parser.parseEqual() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
          StringRef word;
          SMLoc loc = parser.getCurrentLocation();
          if (parser.parseKeyword(&word))
            return failure();
          std::optional<Precision> precision = symbolizePrecision(word);
          if (!precision)
            return parser.emitError(loc) << "expected DEFAULT, HIGH or HIGHEST";
          list.push_back(PrecisionAttr::get(parser.getContext(), *precision));
          return success();
        }))
      return failure();
    if (!list.empty())
      precisions = parser.getBuilder().getArrayAttr(list);
  }
  return success();
}

void printPrecision(OpAsmPrinter &printer, Operation *, ArrayAttr precisions, DotAlgorithmAttr algorithm) {
  if (precisions && !precisions.empty()) {
    printer << ", precision = [";
    llvm::interleaveComma(precisions.getAsRange<PrecisionAttr>(), printer,
                          [&](PrecisionAttr precision) { printer << stringifyPrecision(precision.getValue()); });
    printer << ']';
  }
  if (algorithm) {
    printer << ", algorithm = ";
    printer.printStrippedAttrOrType(algorithm);
  }
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Parses rows of two integers, such as `[[0, 1], [0, 1]]`.
static ParseResult parsePadding(OpAsmParser &parser, DenseIntElementsAttr &padding) {
  SmallVector<int64_t> flat;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] { return parseIntegers(parser, flat); }))
    return failure();
  if (flat.size() % 2 != 0)
    return parser.emitError(loc) << "expected pairs of paddings";
  auto type = RankedTensorType::get({int64_t(flat.size() / 2), 2}, parser.getBuilder().getI64Type());
  padding = DenseIntElementsAttr::get(type, flat);
  return success();
}

static void printPadding(OpAsmPrinter &printer, DenseIntElementsAttr padding) {
  SmallVector<int64_t> flat(padding.getValues<int64_t>());
  printer << '[';
  llvm::interleaveComma(llvm::seq<size_t>(0, flat.size() / 2), printer,
                        [&](size_t row) { printIntegers(printer, ArrayRef(flat).slice(2 * row, 2)); });
  printer << ']';
}

/// Parses `true` or `false`; older printers print 1 and 0.
static ParseResult parseFlag(AsmParser &parser, bool &flag) {
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("true"))) {
    flag = true;
    return success();
  }
  int64_t number = 0;
  if (failed(parser.parseOptionalKeyword("false")) && parser.parseInteger(number))
    return failure();
  if (number != 0 && number != 1)
    return parser.emitError(loc) << "expected true, false, 1 or 0";
  flag = number == 1;
  return success();
}

ParseResult parseWindow(OpAsmParser &parser, DenseI64ArrayAttr &strides, DenseIntElementsAttr &padding,
                        DenseI64ArrayAttr &lhsDilation, DenseI64ArrayAttr &rhsDilation,
                        DenseBoolArrayAttr &reversal) {
  StringRef word;
  while (succeeded(parser.parseOptionalKeyword(&word, {"stride", "pad", "lhs_dilate", "rhs_dilate", "reverse"}))) {
    if (parser.parseEqual())
      return failure();
    SmallVector<int64_t> integers;
    if (word == "pad") {
      if (parsePadding(parser, padding))
        return failure();
    } else if (word == "reverse") {
      SmallVector<bool> flags;
      if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                         [&] { return parseFlag(parser, flags.emplace_back()); }))
        return failure();
      reversal = parser.getBuilder().getDenseBoolArrayAttr(flags);
    } else if (parseIntegers(parser, integers)) {
      return failure();
    } else {
      DenseI64ArrayAttr list = parser.getBuilder().getDenseI64ArrayAttr(integers);
      (word == "stride" ? strides : word == "lhs_dilate" ? lhsDilation : rhsDilation) = list;
    }
    if (failed(parser.parseOptionalComma()))
      break;
  }
  return success();
}

void printWindow(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr strides, DenseIntElementsAttr padding,
                 DenseI64ArrayAttr lhsDilation, DenseI64ArrayAttr rhsDilation, DenseBoolArrayAttr reversal) {
  StringRef separator = "";
  auto name = [&](StringRef word) {
    printer << separator << word << " = ";
    separator = ", ";
  };
  auto integers = [&](StringRef word, DenseI64ArrayAttr list) {
    if (!list)
      return;
    name(word);
    printIntegers(printer, list);
  };
  integers("stride", strides);
  if (padding) {
    name("pad");
    printPadding(printer, padding);
  }
  integers("lhs_dilate", lhsDilation);
  integers("rhs_dilate", rhsDilation);
  if (reversal) {
    name("reverse");
    printer << '[';
    llvm::interleaveComma(reversal.asArrayRef(), printer, [&](bool flag) { printer << (flag ? "true" : "false"); });
    printer << ']';
  }
}

namespace {
/// The dimensions of an operand: two named dimensions, and the spatial dimensions by number.
struct Layout {
  StringRef first, second;
  int64_t at[2] = {-1, -1};
  SmallVector<int64_t> spatial;
};
} // namespace

static ParseResult parseLayout(AsmParser &parser, Layout &layout) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t position = 0;
  auto entry = [&]() -> ParseResult {
    SMLoc here = parser.getCurrentLocation();
    if (succeeded(parser.parseOptionalQuestion())) {
      // A dimension without a meaning, which the verifier refuses.
      ++position;
      return success();
    }
    auto take = [&](int64_t &slot, const Twine &name) -> ParseResult {
      if (slot >= 0)
        return parser.emitError(here) << '`' << name << "` names two dimensions";
      slot = position++;
      return success();
    };
    int64_t number;
    if (OptionalParseResult integer = parser.parseOptionalInteger(number); integer.has_value()) {
      if (*integer)
        return failure();
      if (number < 0 || number > 1000)
        return parser.emitError(here) << "spatial dimensions are numbered from 0, not " << number;
      if (int64_t(layout.spatial.size()) <= number)
        layout.spatial.resize(number + 1, -1);
      return take(layout.spatial[number], Twine(number));
    }
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    if (word != layout.first && word != layout.second)
      return parser.emitError(here) << "expected '" << layout.first << "', '" << layout.second << "' or a number";
    return take(layout.at[word == layout.second], word);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, entry))
    return failure();
  if (layout.at[0] < 0 || layout.at[1] < 0 || llvm::is_contained(layout.spatial, -1))
    return parser.emitError(loc) << "a dimension is missing";
  return success();
}

FailureOr<ConvDimensionNumbersAttr> parseConvDimensions(AsmParser &parser) {
  Layout input{"b", "f", {-1, -1}, {}}, kernel{"i", "o", {-1, -1}, {}}, output{"b", "f", {-1, -1}, {}};
  if (parseLayout(parser, input) || parser.parseKeyword("x") || parseLayout(parser, kernel) || parser.parseArrow() ||
      parseLayout(parser, output))
    return failure();
  return ConvDimensionNumbersAttr::get(parser.getContext(), input.at[0], input.at[1], input.spatial, kernel.at[0],
                                       kernel.at[1], kernel.spatial, output.at[0], output.at[1], output.spatial);
}

static void printLayout(AsmPrinter &printer, char first, int64_t firstAt, char second, int64_t secondAt,
                        ArrayRef<int64_t> spatial) {
  printer << '[';
  int64_t last = std::max(firstAt, secondAt);
  for (int64_t position : spatial)
    last = std::max(last, position);
  llvm::interleaveComma(llvm::seq<int64_t>(0, last + 1), printer, [&](int64_t position) {
    const int64_t *entry = llvm::find(spatial, position);
    if (position == firstAt)
      printer << first;
    else if (position == secondAt)
      printer << second;
    else if (entry != spatial.end())
      printer << entry - spatial.begin();
    else
      printer << '?';
  });
  printer << ']';
}

void printConvDimensions(AsmPrinter &printer, ConvDimensionNumbersAttr dimensions) {
  printLayout(printer, 'b', dimensions.getInputBatchDimension(), 'f', dimensions.getInputFeatureDimension(),
              dimensions.getInputSpatialDimensions());
  printer << 'x';
  printLayout(printer, 'i', dimensions.getKernelInputFeatureDimension(), 'o',
              dimensions.getKernelOutputFeatureDimension(), dimensions.getKernelSpatialDimensions());
  printer << "->";
  printLayout(printer, 'b', dimensions.getOutputBatchDimension(), 'f', dimensions.getOutputFeatureDimension(),
              dimensions.getOutputSpatialDimensions());
}

ParseResult parseConvDimensions(OpAsmParser &parser, ConvDimensionNumbersAttr &dimensions) {
  FailureOr<ConvDimensionNumbersAttr> parsed = parseConvDimensions(parser);
  if (failed(parsed))
    return failure();
  dimensions = *parsed;
  return success();
}

void printConvDimensions(OpAsmPrinter &printer, Operation *, ConvDimensionNumbersAttr dimensions) {
  printConvDimensions(printer, dimensions);
}
} // namespace skript_stablehlo
