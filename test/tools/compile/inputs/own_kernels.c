// SPDX-License-Identifier: Apache-2.0
/* Calls examples/intrinsic as a shared object that is linked with its kernels. The results are those of the command line. */
#include <stdio.h>
#include <stdlib.h>

#include "own.h"

static void show(const skript_tensor *tensor) {
  const float *values = tensor->data;
  for (int64_t n = 0; n < tensor->extents[0]; n++) printf(" %g", values[n]);
  printf("\n");
}

int main(int argc, char **argv) {
  float x[8], y[8], down[8];
  skript_error error = {0};
  skript_instance *model = skript_create(NULL, &error);
  skript_tensor input = skript_tensor_of(skript_port_at(SKRIPT_INPUT, 0), x);
  skript_tensor outputs[2] = {skript_tensor_of(skript_port_at(SKRIPT_OUTPUT, 0), y),
                              skript_tensor_of(skript_port_at(SKRIPT_OUTPUT, 1), down)};
  for (int n = 1; n < argc; n++) x[n - 1] = strtof(argv[n], NULL);
  input.extents[0] = argc - 1;
  if (!model || skript_run(model, &input, 1, outputs, 2, &error)) {
    printf("%d: %s\n", (int)error.status, error.text);
    return 1;
  }
  show(&outputs[0]);
  show(&outputs[1]);
  skript_free(model);
  return 0;
}
