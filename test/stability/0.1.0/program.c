// SPDX-License-Identifier: Apache-2.0
// The C API as version 0.1.0 has it.
#include "skript.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int failed(const char *what) {
  fprintf(stderr, "%s: %s\n", what, skc_last_error() ? skc_last_error()->text : "wrong result");
  return 1;
}

int main(int count, char **words) {
  if (count != 2) return 2;
  skc_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.threads = 1;
  skc_model model;
  skc_instance instance;
  uint64_t inputs;
  skc_port port;
  if (skc_compile(words[1], &options, &model) != SKC_OK) return failed("compile");
  if (skc_count(model, SKC_INPUT, &inputs) != SKC_OK || inputs != 1) return failed("count");
  if (skc_port_at(model, SKC_INPUT, 0, &port) != SKC_OK || port.type != SKC_F32 || port.bounds[0] != 16 || !port.dynamic[0]) return failed("port");
  if (skc_create(model, &instance) != SKC_OK) return failed("create");
  float x[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, y[16][5], total[5];
  skc_tensor input = {.type = SKC_F32, .rank = 2, .extents = {2, 4}, .data = x, .bytes = sizeof x};
  skc_tensor outputs[2] = {
      {.type = SKC_F32, .rank = 2, .data = y, .bytes = sizeof y},
      {.type = SKC_F32, .rank = 2, .data = total, .bytes = sizeof total},
  };
  if (skc_run(instance, &input, 1, outputs, 2) != SKC_OK) return failed("run");
  if (outputs[0].extents[0] != 2 || fabsf(total[0] - (y[0][0] + y[1][0])) > 1e-4f) return failed("values");
  if (skc_free_instance(instance) != SKC_OK || skc_free_model(model) != SKC_OK) return failed("free");
  return 0;
}
