// SPDX-License-Identifier: Apache-2.0
// Compiles a model from text, describes it, and runs it in two threads.
#include "skript.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char TEXT[] =
    "operator scaled {\n"
    "    @attrib { factor: real; }\n"
    "    @input { x: real[n]; }\n"
    "    @output { y: real[n]; }\n"
    "    @lower { y[i,] = x[i,] * factor, i < n; }\n"
    "}\n"
    "graph Doubled {\n"
    "    @input { x: real[n|8]; }\n"
    "    @output { y: real[n]; }\n"
    "    @compose { y = scaled{factor = 2.0}(x); }\n"
    "}\n";

static int failed(const char *what) {
  const skc_error *error = skc_last_error();
  fprintf(stderr, "%s: status %d\n%s\n", what, (int)error->status, error->text);
  return 1;
}

static skc_tensor vector(float *data, int64_t length) {
  skc_tensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.type = SKC_F32;
  tensor.rank = 1;
  tensor.extents[0] = length;
  tensor.data = data;
  tensor.bytes = (uint64_t)length * sizeof *data;
  return tensor;
}

struct work {
  skc_model model;
  float first;
  int failed;
};

// Each thread has an instance.
static void *compute(void *pointer) {
  struct work *work = (struct work *)pointer;
  skc_instance instance;
  work->failed = 1;
  if (skc_create(work->model, &instance) != SKC_OK) return NULL;
  for (int call = 0; call < 100; call++) {
    float x[3] = {work->first, 1.0f, (float)call}, y[8];
    skc_tensor input = vector(x, 3), output = vector(y, 8);
    if (skc_run(instance, &input, 1, &output, 1) != SKC_OK) return NULL;
    if (output.rank != 1 || output.extents[0] != 3) return NULL;
    for (int at = 0; at < 3; at++) {
      if (y[at] != 2.0f * x[at]) return NULL;
    }
  }
  work->failed = skc_free_instance(instance) != SKC_OK;
  return NULL;
}

int main(void) {
  skc_model model;
  // The text of a wrong model: the error has a code and a location.
  if (skc_compile_text("wrong.sknd", "graph G {\n  @input { x: real[2] }\n}\n", 37, NULL, &model) != SKC_DOCUMENT) return 1;
  const skc_error *error = skc_last_error();
  printf("%s at %s:%u:%u\n%s\n", error->code, error->path, (unsigned)error->line, (unsigned)error->column, error->text);

  if (skc_compile_text("doubled.sknd", TEXT, sizeof TEXT - 1, NULL, &model) != SKC_OK) return failed("compile");
  static const char *const ROLES[] = {"input", "variable", "output"};
  for (int role = SKC_INPUT; role <= SKC_OUTPUT; role++) {
    uint64_t count;
    if (skc_count(model, (skc_role)role, &count) != SKC_OK) return failed("count");
    for (uint64_t index = 0; index < count; index++) {
      skc_port port;
      if (skc_port_at(model, (skc_role)role, index, &port) != SKC_OK) return failed("port");
      printf("%s %s: rank %u, at most %lld elements, %llu bytes\n", ROLES[role], port.name, (unsigned)port.rank, (long long)port.bounds[0],
             (unsigned long long)port.bytes);
    }
  }
  struct work works[2] = {{model, 3.0f, 0}, {model, 4.0f, 0}};
  pthread_t threads[2];
  for (int at = 0; at < 2; at++) pthread_create(&threads[at], NULL, compute, &works[at]);
  for (int at = 0; at < 2; at++) pthread_join(threads[at], NULL);
  if (works[0].failed || works[1].failed) return failed("compute");

  // An array that is too long is refused with its name.
  skc_instance instance;
  if (skc_create(model, &instance) != SKC_OK) return failed("create");
  float x[9] = {0}, y[8];
  skc_tensor input = vector(x, 9), output = vector(y, 8);
  if (skc_run(instance, &input, 1, &output, 1) != SKC_ARGUMENT) return 1;
  printf("%s\n", skc_last_error()->text);
  // An instance keeps what it needs of its model.
  if (skc_free_model(model) != SKC_OK) return failed("free");
  input = vector(x, 8);
  if (skc_run(instance, &input, 1, &output, 1) != SKC_OK) return failed("run");
  if (skc_free_instance(instance) != SKC_OK) return failed("free");
  if (skc_run(instance, &input, 1, &output, 1) != SKC_HANDLE) return 1;
  printf("%s\n", skc_last_error()->text);

  // Code for one shape.
  skc_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.shapes = "x=3";
  if (skc_compile_text("doubled.sknd", TEXT, sizeof TEXT - 1, &options, &model) != SKC_OK) return failed("compile");
  skc_port port;
  if (skc_port_at(model, SKC_OUTPUT, 0, &port) != SKC_OK) return failed("port");
  printf("output %s: %lld elements%s\n", port.name, (long long)port.bounds[0], port.dynamic[0] ? " at most" : "");
  if (skc_free_model(model) != SKC_OK) return failed("free");
  return 0;
}
