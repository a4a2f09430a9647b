// SPDX-License-Identifier: Apache-2.0
//===- VerifyMatrices.cpp - Cholesky factors, triangular systems ------------===//

#include "Constraints.h"

using namespace mlir;
using namespace skript_stablehlo;
using namespace skript_stablehlo::constraints;

static LogicalResult areMatrices(Operation *op, unsigned constraint, RankedTensorType type) {
  if (type.getRank() >= 2)
    return success();
  return violates(op, constraint) << "matrices have two dimensions at least, but " << type << " has " << type.getRank();
}

static LogicalResult areSquare(Operation *op, unsigned constraint, RankedTensorType type) {
  if (fits(type.getShape().take_back(1), type.getShape().take_back(2).drop_back()))
    return success();
  return violates(op, constraint) << "matrices must have as many rows as columns, but " << type << " has "
                                  << type.getDimSize(type.getRank() - 2) << " and " << type.getShape().back();
}

LogicalResult CholeskyOp::verify() {
  RankedTensorType a = getA().getType();
  if (failed(sameElements(*this, 1, a, getType())) || failed(hasShape(*this, 1, getType(), a.getShape())) ||
      failed(areMatrices(*this, 2, a)))
    return failure();
  return areSquare(*this, 3, a);
}

LogicalResult TriangularSolveOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType();
  if (failed(sameElements(*this, 1, a, b)) || failed(areMatrices(*this, 2, a)))
    return failure();
  if (a.getRank() != b.getRank())
    return violates(*this, 2) << "`a` and `b` must have as many dimensions, but are " << a << " and " << b;
  if (failed(areSquare(*this, 3, a)))
    return failure();
  StringRef side = getLeftSide() ? "rows" : "columns";
  int64_t place = b.getRank() - (getLeftSide() ? 2 : 1);
  if (!fits(a.getShape().drop_back(2), b.getShape().drop_back(2)) ||
      !fits({a.getShape().back()}, {b.getDimSize(place)}))
    return violates(*this, 3) << "`b` must have as many matrices as `a`, and as many " << side << " as they, but they are "
                              << b << " and " << a;
  if (failed(sameElements(*this, 4, b, getType())))
    return failure();
  return hasShape(*this, 4, getType(), b.getShape());
}
