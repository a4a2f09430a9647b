// SPDX-License-Identifier: Apache-2.0
//===- Transforms.cpp - C API of the transformations ------------------------===//

#include "skript-c/Transforms.h"
#include "skript/Transforms.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

extern "C" {

bool skriptFuseElementwise(MlirOperation root, unsigned operations, unsigned inputs, bool mapsOnly) {
  return succeeded(skript::fuseElementwise(unwrap(root), {operations, inputs, mapsOnly}));
}

bool skriptComputeInUsers(MlirOperation root, unsigned operations, unsigned inputs) {
  return succeeded(skript::computeInUsers(unwrap(root), {operations, inputs}));
}

size_t skriptFingerprint(MlirOperation function) { return skript::fingerprint(unwrap(function)); }

bool skriptAreEqualFunctions(MlirOperation left, MlirOperation right) {
  return skript::areEqualFunctions(unwrap(left), unwrap(right));
}

bool skriptIsReduction(MlirAttribute iterator) {
  auto own = mlir::dyn_cast<mlir::linalg::IteratorTypeAttr>(unwrap(iterator));
  return own && own.getValue() == mlir::utils::IteratorType::reduction;
}

void skriptMergeDuplicates(MlirOperation root) { skript::mergeDuplicates(unwrap(root)); }

bool skriptComputePart(MlirOperation operation, const MlirValue *destinations, const int64_t *offsets,
                       const int64_t *sizes, bool guarded, MlirValue *results) {
  auto formula = mlir::dyn_cast<skript::FormulaOp>(unwrap(operation));
  if (!formula)
    return false;
  llvm::SmallVector<mlir::Value> values;
  for (size_t i = 0; i < formula.getOuts().size(); ++i)
    values.push_back(unwrap(destinations[i]));
  size_t indices = formula.getNumIndices();
  auto parts = skript::computePart(formula, values, {offsets, indices}, {sizes, indices}, guarded);
  if (mlir::failed(parts))
    return false;
  for (auto [position, value] : llvm::enumerate(*parts))
    results[position] = wrap(value);
  return true;
}
}
