// SPDX-License-Identifier: Apache-2.0

#include "skript_intrinsic.h"

/* Writes the bytes of its ints: in C, all values except 0 are true. */
int32_t truths(const struct skript_call *call) {
  const int64_t *n = call->inputs[0].data;
  uint8_t *y = call->outputs[0].data;
  for (int64_t i = 0; i < call->inputs[0].extents[0]; i++) y[i] = (uint8_t)n[i];
  return 0;
}
