// SPDX-License-Identifier: Apache-2.0
/* Kernels for the operators of main.sknd:
 *
 *   cc -shared -fPIC -I runtime/c examples/intrinsic/kernels.c -o kernels.so
 *   skript run examples/intrinsic --intrinsic main.sorted=sorted@./kernels.so --intrinsic main.above=above@./kernels.so \
 *     --input x=x.npy --output-dir out
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "skript_intrinsic.h"

static const struct skript_value *attribute(const struct skript_call *call, const char *name) {
  for (size_t n = 0; n < call->attribute_count; n++)
    if (strcmp(call->attributes[n].name, name) == 0) return &call->attributes[n].value;
  return NULL;
}

static int ascending(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static int descending(const void *a, const void *b) { return ascending(b, a); }

int32_t sorted(const struct skript_call *call) {
  const struct skript_array *x = &call->inputs[0];
  const struct skript_value *down = attribute(call, "down");
  size_t count = (size_t)x->extents[0];
  float *y = call->outputs[0].data;
  memcpy(y, x->data, count * sizeof *y);
  qsort(y, count, sizeof *y, down && down->integer ? descending : ascending);
  return 0;
}

int32_t above(const struct skript_call *call) {
  const struct skript_array *x = &call->inputs[0];
  const struct skript_value *limit = attribute(call, "limit");
  const float *values = x->data;
  float *y = call->outputs[0].data;
  int64_t found = 0;
  for (int64_t n = 0; n < x->extents[0]; n++) {
    if (values[n] != values[n]) {
      snprintf(call->message, call->message_size, "element %lld is not a number", (long long)n);
      return 1;
    }
    if (limit && values[n] > limit->real) y[found++] = values[n];
  }
  call->outputs[0].extents[0] = found;
  return 0;
}
