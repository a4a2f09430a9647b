// SPDX-License-Identifier: Apache-2.0
//===- Constraints.cpp - checks that verifiers share ------------------------===//

#include "Constraints.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace skript_stablehlo;
using namespace skript_stablehlo::constraints;

InFlightDiagnostic constraints::violates(Operation *op, unsigned constraint) {
  return op->emitOpError() << op->getName().stripDialect() << "_c" << constraint << ": ";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool constraints::fits(Extents a, Extents b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           auto [x, y] = pair;
           return ShapedType::isDynamic(x) || ShapedType::isDynamic(y) || x == y;
         });
}

bool constraints::oneShape(Type a, Type b) {
  auto x = dyn_cast<RankedTensorType>(a), y = dyn_cast<RankedTensorType>(b);
  return x && y ? fits(x.getShape(), y.getShape()) : !x && !y;
}

LogicalResult constraints::sameElements(Operation *op, unsigned constraint, Type a, Type b) {
  if (getElementTypeOrSelf(a) == getElementTypeOrSelf(b))
    return success();
  return violates(op, constraint) << "element types differ: " << a << " and " << b;
}

LogicalResult constraints::hasShape(Operation *op, unsigned constraint, RankedTensorType type, Extents wanted,
                                    StringRef role) {
  if (fits(type.getShape(), wanted))
    return success();
  return violates(op, constraint) << "the " << role << " is " << type << ", but its shape should be [" << wanted << "]";
}

LogicalResult constraints::haveOneShape(Operation *op, unsigned constraint, TypeRange types, StringRef roles) {
  for (Type type : types)
    if (!oneShape(type, types[0]))
      return violates(op, constraint) << roles << " must have one shape, but there are " << types[0] << " and " << type;
  return success();
}

LogicalResult constraints::isScalar(Operation *op, unsigned constraint, Type type, StringRef role) {
  if (cast<RankedTensorType>(type).getRank() == 0)
    return success();
  return violates(op, constraint) << role << " must be a tensor without dimensions, but is " << type;
}

LogicalResult constraints::arePlaces(Operation *op, unsigned constraint, TypeRange types) {
  for (Type type : types) {
    if (failed(isScalar(op, constraint, type, "a start index")))
      return failure();
    if (type != types[0])
      return violates(op, constraint) << "start indices must have one type, but there are " << types[0] << " and "
                                      << type;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Lists of numbers
//===----------------------------------------------------------------------===//

LogicalResult constraints::verify(Operation *op, const Dimensions &dimensions) {
  const auto &[name, list, rank, inRange, distinct, ascending] = dimensions;
  llvm::SmallSet<int64_t, 8> seen;
  for (auto [n, dimension] : llvm::enumerate(list)) {
    if (inRange && (dimension < 0 || dimension >= rank))
      return violates(op, inRange) << '`' << name << "` is [" << list << "], but must name dimensions from 0 to below "
                                   << rank;
    if (!seen.insert(dimension).second && distinct)
      return violates(op, distinct) << '`' << name << "` is [" << list << "], but must name distinct dimensions: "
                                    << dimension << " comes twice";
    if (ascending && n > 0 && list[n - 1] > dimension)
      return violates(op, ascending) << '`' << name << "` is [" << list << "], but must be sorted: " << dimension
                                     << " comes after " << list[n - 1];
  }
  return success();
}

LogicalResult constraints::areDistinct(Operation *op, unsigned constraint, const Dimensions &a, const Dimensions &b) {
  llvm::SmallSet<int64_t, 8> seen;
  for (Extents list : {a.list, b.list})
    for (int64_t dimension : list)
      if (!seen.insert(dimension).second)
        return violates(op, constraint) << '`' << a.name << "` is [" << a.list << "] and `" << b.name << "` is ["
                                        << b.list << "], but must name distinct dimensions: " << dimension
                                        << " comes twice";
  return success();
}

LogicalResult constraints::arePaired(Operation *op, unsigned constraint, size_t inputs, size_t operands,
                                    StringRef others) {
  if (op->getNumOperands() != operands)
    return violates(op, constraint) << "there must be as many " << others << " as inputs, but the operands are "
                                    << op->getNumOperands();
  if (inputs == 0)
    return violates(op, constraint) << "there are no inputs";
  if (op->getNumResults() == inputs)
    return success();
  return violates(op, constraint) << "there must be as many results as inputs, of which there are " << inputs << " among "
                                  << op->getNumOperands() << " operands, but there are " << op->getNumResults();
}

LogicalResult constraints::hasSize(Operation *op, unsigned constraint, StringRef name, size_t size, size_t wanted) {
  if (size == wanted)
    return success();
  return violates(op, constraint) << '`' << name << "` must have " << wanted << " entries, but has " << size;
}

LogicalResult constraints::areForBoth(Operation *op, unsigned constraint, std::optional<ArrayAttr> precisions) {
  if (!precisions || precisions->empty())
    return success();
  return hasSize(op, constraint, "precision_config", precisions->size(), 2);
}

LogicalResult constraints::areWithin(Operation *op, unsigned constraint, StringRef name, Extents sizes,
                                     Extents extents) {
  for (auto [dimension, size] : llvm::enumerate(sizes)) {
    int64_t extent = extents[dimension];
    if (size < 0 || (!ShapedType::isDynamic(extent) && size > extent))
      return violates(op, constraint) << name << " of " << size << " leaves dimension " << dimension
                                      << " of the operand, whose extent is " << extent;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

LogicalResult constraints::arePositive(Operation *op, unsigned constraint, StringRef name, Extents extents) {
  for (auto [dimension, entry] : llvm::enumerate(extents))
    if (entry <= 0)
      return violates(op, constraint) << '`' << name << "` must be positive, but is " << entry << " along dimension "
                                      << dimension << " of the window";
  return success();
}

LogicalResult constraints::verify(Operation *op, const Window &window) {
  size_t rank = window.extents.size();
  for (const WindowList *list : {&window.strides, &window.baseDilations, &window.windowDilations})
    if (list->list && (failed(hasSize(op, list->size, list->name, list->list->size(), rank)) ||
                       failed(arePositive(op, list->positive, list->name, *list->list))))
      return failure();
  if (!window.padding)
    return success();
  Extents shape = window.padding->getType().getShape();
  if (shape == Extents({int64_t(rank), 2}))
    return success();
  return violates(op, window.paddingShape) << "`padding` must have shape [" << rank << ", 2], but it has [" << shape
                                           << "]";
}

/// The distance from the first to the last of `count` elements at intervals of `step`, inclusive; 0 if there are no
/// elements.
static std::optional<int64_t> span(int64_t count, int64_t step) {
  return count == 0 ? 0 : llvm::checkedMulAdd(count - 1, step, int64_t(1));
}

FailureOr<SmallVector<int64_t>> constraints::places(Operation *op, unsigned constraint, const Window &window,
                                                    Extents base) {
  SmallVector<int64_t> padding(2 * base.size(), 0), counts;
  if (window.padding)
    padding.assign(window.padding->value_begin<int64_t>(), window.padding->value_end<int64_t>());
  for (auto [d, extent] : llvm::enumerate(base)) {
    if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(window.extents[d])) {
      counts.push_back(ShapedType::kDynamic);
      continue;
    }
    auto entry = [d = d](const WindowList &list) { return list.list ? (*list.list)[d] : 1; };
    std::optional<int64_t> padded = span(extent, entry(window.baseDilations));
    for (int64_t border : {padding[2 * d], padding[2 * d + 1]})
      padded = padded ? llvm::checkedAdd(*padded, border) : padded;
    std::optional<int64_t> covered = span(window.extents[d], entry(window.windowDilations));
    std::optional<int64_t> last = padded && covered ? llvm::checkedSub(*padded, *covered) : std::nullopt;
    if (!last)
      return violates(op, constraint) << "64 bits do not hold the extents of the window along dimension " << d
                                      << ": extent " << extent << ", window " << window.extents[d] << ", padding ["
                                      << padding[2 * d] << ", " << padding[2 * d + 1] << "], dilations "
                                      << entry(window.baseDilations) << " and " << entry(window.windowDilations);
    counts.push_back(*padded <= 0 || *last < 0 ? 0 : *last / entry(window.strides) + 1);
  }
  return counts;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The types of the values that a region returns; a diagnostic if the region is not one block that ends with a return.
static FailureOr<TypeRange> returned(Operation *op, unsigned constraint, Region &region, StringRef name) {
  if (!region.hasOneBlock())
    return violates(op, constraint) << name << " must be one block, but has " << region.getBlocks().size();
  Block &block = region.front();
  if (auto end = dyn_cast_or_null<ReturnOp>(block.empty() ? nullptr : &block.back()))
    return TypeRange(end->getOperandTypes());
  return violates(op, constraint) << name << " must end with stablehlo.return";
}

LogicalResult constraints::hasSignature(Operation *op, unsigned constraint, Region &region, StringRef name,
                                        TypeRange takes, TypeRange returns) {
  FailureOr<TypeRange> returnedTypes = returned(op, constraint, region, name);
  if (failed(returnedTypes))
    return failure();
  if (region.getArgumentTypes() != takes)
    return violates(op, constraint) << name << " must take (" << takes << "), but takes (" << region.getArgumentTypes()
                                    << ")";
  if (*returnedTypes != returns)
    return violates(op, constraint) << name << " must return (" << returns << "), but returns (" << *returnedTypes << ")";
  return success();
}

/// `is_promotable`: whether the type `to` can represent every value of the type `from`.
static bool isPromotable(Type from, Type to) {
  if (from == to)
    return true;
  if (auto a = dyn_cast<ComplexType>(from), b = dyn_cast<ComplexType>(to); a && b)
    return isPromotable(a.getElementType(), b.getElementType());
  auto a = dyn_cast<IntegerType>(from), b = dyn_cast<IntegerType>(to);
  if (a && b)
    return a.getSignedness() == b.getSignedness() && a.getWidth() > 1 && a.getWidth() <= b.getWidth();
  return isa<FloatType>(from) && isa<FloatType>(to) && from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth();
}

LogicalResult constraints::isReducer(Operation *op, unsigned constraint, unsigned elements, Region &region,
                                     StringRef name, TypeRange inputs, TypeRange results) {
  SmallVector<Type> scalars;
  for (Type result : results)
    scalars.push_back(RankedTensorType::get({}, getElementTypeOrSelf(result)));
  FailureOr<TypeRange> returnedTypes = returned(op, constraint, region, name);
  if (failed(returnedTypes))
    return failure();
  // The returned values determine the element types of the results, and these determine the rest of the signature.
  if (returnedTypes->size() == scalars.size())
    for (auto [n, type] : llvm::enumerate(*returnedTypes))
      if (type != scalars[n] && isa<RankedTensorType>(type) && cast<RankedTensorType>(type).getRank() == 0 &&
          region.getNumArguments() > n && region.getArgument(n).getType() == type)
        return violates(op, elements) << name << " makes elements of " << getElementTypeOrSelf(type) << ", but result "
                                      << n << " is " << results[n];
  SmallVector<Type> takes(scalars);
  llvm::append_range(takes, scalars);
  if (failed(hasSignature(op, constraint, region, name, takes, scalars)))
    return failure();
  for (auto [input, result] : llvm::zip(inputs, results))
    if (!isPromotable(getElementTypeOrSelf(input), getElementTypeOrSelf(result)))
      return violates(op, constraint) << name << " takes elements of " << getElementTypeOrSelf(result)
                                      << ", which do not hold those of " << input;
  return success();
}
