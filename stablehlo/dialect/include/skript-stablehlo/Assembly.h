// SPDX-License-Identifier: Apache-2.0
//===- Assembly.h - custom directives of assembly formats -------------------===//

#ifndef SKRIPT_STABLEHLO_ASSEMBLY_H
#define SKRIPT_STABLEHLO_ASSEMBLY_H

#include "skript-stablehlo/Stablehlo.h"

namespace skript_stablehlo {
using OperandList = llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand>;

/// One type for all operands and the result, or `(types) -> type`. The last element of `types` is the result type.
mlir::ParseResult parseTypes(mlir::OpAsmParser &parser, llvm::ArrayRef<mlir::Type *> types);
void printTypes(mlir::OpAsmPrinter &printer, llvm::ArrayRef<mlir::Type> types);

template <typename... Types> mlir::ParseResult parseSignature(mlir::OpAsmParser &parser, Types &...types) {
  return parseTypes(parser, {&types...});
}
template <typename... Types>
void printSignature(mlir::OpAsmPrinter &printer, mlir::Operation *, Types... types) {
  printTypes(printer, {mlir::Type(types)...});
}

/// A list of types, which are the operand types as well as the result types.
mlir::ParseResult parseSameTypes(mlir::OpAsmParser &parser, llvm::SmallVectorImpl<mlir::Type> &operands,
                                 llvm::SmallVectorImpl<mlir::Type> &results);
void printSameTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::TypeRange operands,
                    mlir::TypeRange results);

/// `e8m7`: numbers of exponent and mantissa bits.
mlir::ParseResult parseFloatFormat(mlir::OpAsmParser &parser, mlir::IntegerAttr &exponent, mlir::IntegerAttr &mantissa);
void printFloatFormat(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::IntegerAttr exponent,
                      mlir::IntegerAttr mantissa);

/// A keyword of an enumeration.
mlir::ParseResult parseWord(mlir::OpAsmParser &parser, ComparisonDirectionAttr &word);
mlir::ParseResult parseWord(mlir::OpAsmParser &parser, ComparisonTypeAttr &word);
mlir::ParseResult parseWord(mlir::OpAsmParser &parser, FftTypeAttr &word);
mlir::ParseResult parseWord(mlir::OpAsmParser &parser, RngAlgorithmAttr &word);
void printWord(mlir::OpAsmPrinter &printer, mlir::Operation *op, ComparisonDirectionAttr word);
void printWord(mlir::OpAsmPrinter &printer, mlir::Operation *op, ComparisonTypeAttr word);
void printWord(mlir::OpAsmPrinter &printer, mlir::Operation *op, FftTypeAttr word);
void printWord(mlir::OpAsmPrinter &printer, mlir::Operation *op, RngAlgorithmAttr word);

/// Only the result type, if both operand types are the type of its parts.
mlir::ParseResult parseComplexSignature(mlir::OpAsmParser &parser, mlir::Type &lhs, mlir::Type &rhs,
                                        mlir::Type &result);
void printComplexSignature(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type lhs, mlir::Type rhs,
                           mlir::Type result);

/// `condition, values`, if both values and the result have the same type.
mlir::ParseResult parseSelectSignature(mlir::OpAsmParser &parser, mlir::Type &condition, mlir::Type &onTrue,
                                       mlir::Type &onFalse, mlir::Type &result);
void printSelectSignature(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type condition,
                          mlir::Type onTrue, mlir::Type onFalse, mlir::Type result);

/// `[0:4, 1:9:2]`: start, limit, stride.
mlir::ParseResult parseSliceRanges(mlir::OpAsmParser &parser, mlir::DenseI64ArrayAttr &starts,
                                   mlir::DenseI64ArrayAttr &limits, mlir::DenseI64ArrayAttr &strides);
void printSliceRanges(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::DenseI64ArrayAttr starts,
                      mlir::DenseI64ArrayAttr limits, mlir::DenseI64ArrayAttr strides);

/// `%a, %b,`: operands before a keyword.
mlir::ParseResult parseLeadingOperands(mlir::OpAsmParser &parser, OperandList &operands);
void printLeadingOperands(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::OperandRange operands);

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1]`
mlir::ParseResult parseDotDimensions(mlir::OpAsmParser &parser, DotDimensionNumbersAttr &dimensions);
void printDotDimensions(mlir::OpAsmPrinter &printer, mlir::Operation *op, DotDimensionNumbersAttr dimensions);

/// `, precision = [DEFAULT, HIGH], algorithm = <…>`, both optional.
mlir::ParseResult parsePrecision(mlir::OpAsmParser &parser, mlir::ArrayAttr &precisions, DotAlgorithmAttr &algorithm);
void printPrecision(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::ArrayAttr precisions,
                    DotAlgorithmAttr algorithm);

/// `[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]`
mlir::ParseResult parseConvDimensions(mlir::OpAsmParser &parser, ConvDimensionNumbersAttr &dimensions);
void printConvDimensions(mlir::OpAsmPrinter &printer, mlir::Operation *op, ConvDimensionNumbersAttr dimensions);
mlir::FailureOr<ConvDimensionNumbersAttr> parseConvDimensions(mlir::AsmParser &parser);
void printConvDimensions(mlir::AsmPrinter &printer, ConvDimensionNumbersAttr dimensions);

/// `stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = …, rhs_dilate = …, reverse = …`, all optional.
mlir::ParseResult parseWindow(mlir::OpAsmParser &parser, mlir::DenseI64ArrayAttr &strides,
                              mlir::DenseIntElementsAttr &padding, mlir::DenseI64ArrayAttr &lhsDilation,
                              mlir::DenseI64ArrayAttr &rhsDilation, mlir::DenseBoolArrayAttr &reversal);
void printWindow(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::DenseI64ArrayAttr strides,
                 mlir::DenseIntElementsAttr padding, mlir::DenseI64ArrayAttr lhsDilation,
                 mlir::DenseI64ArrayAttr rhsDilation, mlir::DenseBoolArrayAttr reversal);
} // namespace skript_stablehlo

#endif // SKRIPT_STABLEHLO_ASSEMBLY_H
