// SPDX-License-Identifier: Apache-2.0
//===- DimensionNumbers.cpp - textual form of dimension numbers -------------===//

#include "skript-stablehlo/Assembly.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace skript_stablehlo;

namespace {
/// `<name = [1, 2], other = 3>`: empty lists are omitted, fields are in any order.
struct Fields {
  llvm::MapVector<StringRef, SmallVector<int64_t>> lists;
  llvm::MapVector<StringRef, int64_t> numbers;

  LogicalResult parse(AsmParser &parser) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&]() -> ParseResult {
      StringRef word;
      SMLoc loc = parser.getCurrentLocation();
      if (parser.parseKeyword(&word) || parser.parseEqual())
        return failure();
      if (auto list = lists.find(word); list != lists.end()) {
        list->second.clear();
        return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
          return parser.parseInteger(list->second.emplace_back());
        });
      }
      if (auto number = numbers.find(word); number != numbers.end())
        return parser.parseInteger(number->second);
      return parser.emitError(loc) << "there is no field '" << word << "' here";
    });
  }

  void print(AsmPrinter &printer) const {
    StringRef separator = "<";
    for (auto &[name, list] : lists) {
      if (list.empty())
        continue;
      printer << separator << name << " = [";
      llvm::interleaveComma(list, printer);
      printer << ']';
      separator = ", ";
    }
    for (auto &[name, number] : numbers) {
      // An index vector dimension of 0 is the default.
      if (number == 0)
        continue;
      printer << separator << name << " = " << number;
      separator = ", ";
    }
    printer << (separator == "<" ? "<>" : ">");
  }

  void list(StringRef name, ArrayRef<int64_t> values = {}) { lists[name].assign(values.begin(), values.end()); }
};
} // namespace

Attribute DotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Fields fields;
  const char *names[] = {"lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
                         "rhs_contracting_dimensions"};
  for (const char *name : names)
    fields.list(name);
  if (failed(fields.parse(parser)))
    return {};
  return get(parser.getContext(), fields.lists[names[0]], fields.lists[names[1]], fields.lists[names[2]],
             fields.lists[names[3]]);
}

void DotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  Fields fields;
  fields.list("lhs_batching_dimensions", getLhsBatchingDimensions());
  fields.list("rhs_batching_dimensions", getRhsBatchingDimensions());
  fields.list("lhs_contracting_dimensions", getLhsContractingDimensions());
  fields.list("rhs_contracting_dimensions", getRhsContractingDimensions());
  fields.print(printer);
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Fields fields;
  const char *names[] = {"offset_dims", "collapsed_slice_dims", "operand_batching_dims",
                         "start_indices_batching_dims", "start_index_map"};
  for (const char *name : names)
    fields.list(name);
  fields.numbers["index_vector_dim"] = 0;
  if (failed(fields.parse(parser)))
    return {};
  return get(parser.getContext(), fields.lists[names[0]], fields.lists[names[1]], fields.lists[names[2]],
             fields.lists[names[3]], fields.lists[names[4]], fields.numbers["index_vector_dim"]);
}

void GatherDimensionNumbersAttr::print(AsmPrinter &printer) const {
  Fields fields;
  fields.list("offset_dims", getOffsetDims());
  fields.list("collapsed_slice_dims", getCollapsedSliceDims());
  fields.list("operand_batching_dims", getOperandBatchingDims());
  fields.list("start_indices_batching_dims", getStartIndicesBatchingDims());
  fields.list("start_index_map", getStartIndexMap());
  fields.numbers["index_vector_dim"] = getIndexVectorDim();
  fields.print(printer);
}

Attribute ScatterDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  Fields fields;
  const char *names[] = {"update_window_dims", "inserted_window_dims", "input_batching_dims",
                         "scatter_indices_batching_dims", "scatter_dims_to_operand_dims"};
  for (const char *name : names)
    fields.list(name);
  fields.numbers["index_vector_dim"] = 0;
  if (failed(fields.parse(parser)))
    return {};
  return get(parser.getContext(), fields.lists[names[0]], fields.lists[names[1]], fields.lists[names[2]],
             fields.lists[names[3]], fields.lists[names[4]], fields.numbers["index_vector_dim"]);
}

void ScatterDimensionNumbersAttr::print(AsmPrinter &printer) const {
  Fields fields;
  fields.list("update_window_dims", getUpdateWindowDims());
  fields.list("inserted_window_dims", getInsertedWindowDims());
  fields.list("input_batching_dims", getInputBatchingDims());
  fields.list("scatter_indices_batching_dims", getScatterIndicesBatchingDims());
  fields.list("scatter_dims_to_operand_dims", getScatterDimsToOperandDims());
  fields.numbers["index_vector_dim"] = getIndexVectorDim();
  fields.print(printer);
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<ConvDimensionNumbersAttr> parsed = parseConvDimensions(parser);
  if (failed(parsed) || parser.parseGreater())
    return {};
  return *parsed;
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printConvDimensions(printer, *this);
  printer << '>';
}

Attribute OutputOperandAliasAttr::parse(AsmParser &parser, Type) {
  Fields fields;
  const char *names[] = {"output_tuple_indices", "operand_tuple_indices"};
  for (const char *name : names)
    fields.list(name);
  fields.numbers["operand_index"] = 0;
  if (failed(fields.parse(parser)))
    return {};
  return get(parser.getContext(), fields.lists[names[0]], fields.numbers["operand_index"], fields.lists[names[1]]);
}

void OutputOperandAliasAttr::print(AsmPrinter &printer) const {
  Fields fields;
  fields.list("output_tuple_indices", getOutputTupleIndices());
  fields.list("operand_tuple_indices", getOperandTupleIndices());
  fields.numbers["operand_index"] = getOperandIndex();
  fields.print(printer);
}
