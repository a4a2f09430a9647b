// SPDX-License-Identifier: Apache-2.0
// Runs a model on a CUDA device through skript.h. The driver is test/tools/run/inputs/cuda-driver.c, whose GPU memory is memory of
// this process.
//     device MODEL
#include "skript.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000 };

static void check(int32_t status, int line) {
  if (status == SKC_OK) return;
  fprintf(stderr, "line %d: status %d: %s\n", line, (int)status, skc_last_error()->text);
  exit(1);
}
#define CHECK(call) check(call, __LINE__)
#define REQUIRE(condition) \
  if (!(condition)) { \
    fprintf(stderr, "line %d: not %s\n", __LINE__, #condition); \
    return 1; \
  }

static skc_tensor tensor(float *data) {
  skc_tensor made = {.type = SKC_F32, .rank = 1, .extents = {N}, .data = data, .bytes = N * sizeof *data};
  return made;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  REQUIRE(skc_version() == SKC_VERSION);
  skc_options options = {.size = sizeof options, .device = "cuda"};
  skc_model model;
  skc_instance instance;
  CHECK(skc_compile(arguments[1], &options, &model));
  CHECK(skc_create(model, &instance));
  // Two arrays in GPU memory, and one whose address is not a multiple of 64.
  float *a = aligned_alloc(64, 4096), *b = aligned_alloc(64, 4096), *odd = aligned_alloc(64, 8192), *sum = aligned_alloc(64, 4096);
  for (int i = 0; i < N; i++) a[i] = i, b[i] = 3 * i, odd[i + 1] = i + 0.5f;
  skc_tensor inputs[2] = {tensor(a), tensor(b)}, output = {.data = sum, .bytes = 4096};
  // The third call repeats the launches of the second one.
  for (int call = 0; call < 3; call++) {
    memset(sum, 0, 4096);
    CHECK(skc_run_on_device(instance, inputs, 2, &output, 1));
    for (int i = 0; i < N; i++) REQUIRE(sum[i] == 4 * i);
    REQUIRE(output.type == SKC_F32 && output.rank == 1 && output.extents[0] == N);
  }
  inputs[1] = tensor(odd + 1);
  output.data = odd + 1024;
  CHECK(skc_run_on_device(instance, inputs, 2, &output, 1));
  for (int i = 0; i < N; i++) REQUIRE(odd[i + 1024] == 2 * i + 0.5f);
  // The same with arrays in host memory.
  output.data = sum;
  CHECK(skc_run(instance, inputs, 2, &output, 1));
  for (int i = 0; i < N; i++) REQUIRE(sum[i] == 2 * i + 0.5f);
  uint64_t stream = 0;
  CHECK(skc_stream(instance, &stream));
  REQUIRE(stream != 0);
  // Unsuitable arguments are errors.
  inputs[0].extents[0] = N - 1;
  REQUIRE(skc_run_on_device(instance, inputs, 2, &output, 1) == SKC_ARGUMENT);
  inputs[0].extents[0] = N;
  output.bytes = 100;
  REQUIRE(skc_run_on_device(instance, inputs, 2, &output, 1) == SKC_ARGUMENT);
  output.bytes = 4096;
  inputs[0].type = SKC_I32;
  REQUIRE(skc_run_on_device(instance, inputs, 2, &output, 1) == SKC_ARGUMENT);
  CHECK(skc_free_instance(instance));
  CHECK(skc_free_model(model));
  // A model on the processor.
  CHECK(skc_compile(arguments[1], NULL, &model));
  CHECK(skc_create(model, &instance));
  inputs[0] = tensor(a);
  REQUIRE(skc_run_on_device(instance, inputs, 2, &output, 1) == SKC_ARGUMENT);
  REQUIRE(skc_stream(instance, &stream) == SKC_ARGUMENT);
  CHECK(skc_free_instance(instance));
  CHECK(skc_free_model(model));
  options.device = "cuda:7";
  CHECK(skc_compile(arguments[1], &options, &model));
  REQUIRE(skc_create(model, &instance) == SKC_DEVICE);
  CHECK(skc_free_model(model));
  options.device = "tpu";
  REQUIRE(skc_compile(arguments[1], &options, &model) == SKC_ARGUMENT);
  free(a), free(b), free(odd), free(sum);
  printf("arrays on a GPU\n");
  return 0;
}
