//===- Transforms.cpp - C face of the transformations -----------------------===//

#include "skript-c/Transforms.h"
#include "skript/Transforms.h"

#include "mlir/CAPI/IR.h"

extern "C" {

bool skriptFuseElementwise(MlirOperation root, unsigned operations, unsigned inputs) {
  return succeeded(skript::fuseElementwise(unwrap(root), {operations, inputs}));
}

void skriptMergeDuplicates(MlirOperation root) { skript::mergeDuplicates(unwrap(root)); }
}
