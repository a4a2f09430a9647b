// SPDX-License-Identifier: Apache-2.0
// Random calls of the functions of skript.h: null pointers, wrong handles, counts, types, ranks and sizes. No call may crash,
// access memory outside of its arguments, or return an undocumented status.
//     random_calls SEED CALLS FOLDER
#include "skript.h"
#include "../../runtime/c/skript_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Both interfaces have the same types, with the same numbers.
_Static_assert((int)SKC_BOOL == (int)SKRIPT_BOOL && (int)SKC_F32 == (int)SKRIPT_F32 && (int)SKC_F16 == (int)SKRIPT_F16, "types");
_Static_assert((int)SKC_I8 == (int)SKRIPT_I8 && (int)SKC_U64 == (int)SKRIPT_U64, "types");
_Static_assert((int)SKC_INPUT == (int)SKRIPT_INPUT && (int)SKC_OUTPUT == (int)SKRIPT_OUTPUT, "roles");
_Static_assert((int)SKC_ARGUMENT == (int)SKRIPT_ARGUMENT && (int)SKC_BUSY == (int)SKRIPT_BUSY, "statuses");
_Static_assert(SKC_MAX_RANK == SKRIPT_MAX_RANK && sizeof(skc_tensor) == sizeof(skript_tensor), "tensors");
_Static_assert(offsetof(skc_tensor, extents) == offsetof(skript_tensor, extents), "tensors");
_Static_assert(offsetof(skc_tensor, data) == offsetof(skript_tensor, data), "tensors");
_Static_assert(offsetof(skc_tensor, bytes) == offsetof(skript_tensor, bytes), "tensors");

static uint64_t state;
static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}
static uint64_t below(uint64_t n) { return next() % n; }
static int rarely(void) { return below(8) == 0; }

static void check(int32_t status) {
  if (status > SKC_OK || status < SKC_STOPPED || status == SKC_INTERNAL) {
    fprintf(stderr, "status %d: %s\n", (int)status, skc_last_error() ? skc_last_error()->text : "");
    exit(1);
  }
  if (status != SKC_OK) {
    const skc_error *error = skc_last_error();
    if (error == NULL || error->status != status || error->text == NULL || error->text[0] == '\0' || error->code == NULL || error->path == NULL) {
      fprintf(stderr, "status %d without an error\n", (int)status);
      exit(1);
    }
  }
}

static const char *const TEXTS[] = {
    "graph G { @input { x: real[n|4]; } @variable { w: real[2]; } @output { y: real[n]; } @compose { y = x; } }",
    "operator f { @input { x: real[n]; k: int[]; } @output { y: real[n]; } @lower { y[i,] = x[i,] + 1.0, i < n; } }\n"
    "graph G { @input { x: real[n|4]; k: int[]; } @output { y: real[n]; } @compose { y = f(x, k); } }",
    "graph G { @input { x: real[2] } }",
    "",
    "graph G { @input { x: optional real[2, 3]; } @output { y: real[2, 3]; } @compose { y = x; } }",
};

// Some strings end at the end of their memory, so that a sanitizer detects every read past them.
static char *string(void) {
  static const char *const STRINGS[] = {"", "G", "f32", "i64", "x", "y", "native", "/nowhere", "\xff\xfe", "+avx", "x86-64-v3", "cpu", "cuda:9", "n=3"};
  if (rarely()) return NULL;
  return strdup(STRINGS[below(sizeof STRINGS / sizeof *STRINGS)]);
}

static skc_options *options(void) {
  if (below(2)) return NULL;
  skc_options *made = (skc_options *)calloc(1, sizeof *made);
  made->size = rarely() ? below(1000) : sizeof *made;
  if (rarely()) made->graph = string();
  if (rarely()) made->cpu = string();
  if (rarely()) made->features = string();
  if (rarely()) made->real = string();
  if (rarely()) made->integer = string();
  if (rarely()) made->weights = string();
  if (rarely()) made->bounds = string();
  if (rarely()) made->shapes = string();
  if (rarely()) made->device = string();
  made->threads = below(4);
  return made;
}

static void free_options(skc_options *made) {
  if (made == NULL) return;
  free((void *)made->graph), free((void *)made->cpu), free((void *)made->features);
  free((void *)made->real), free((void *)made->integer), free((void *)made->weights);
  free((void *)made->bounds), free((void *)made->shapes), free((void *)made->device);
  free(made);
}

enum { HELD = 6 };
static skc_model models[HELD];
static skc_instance instances[HELD];

static skc_model model(void) {
  skc_model found = models[below(HELD)];
  if (rarely()) found.id = below(40);
  if (rarely()) found.id = next();
  return found;
}
static skc_instance instance(void) {
  skc_instance found = instances[below(HELD)];
  if (rarely()) found.id = below(40);
  if (rarely()) found.id = next();
  return found;
}

// A tensor whose memory has exactly `bytes` bytes.
static void fill(skc_tensor *tensor) {
  memset(tensor, 0, sizeof *tensor);
  tensor->type = rarely() ? (uint32_t)next() : below(2) ? SKC_F32 : (uint32_t)below(14);
  tensor->rank = rarely() ? (uint32_t)next() : (uint32_t)below(3);
  for (int at = 0; at < SKC_MAX_RANK; at++) tensor->extents[at] = rarely() ? (int64_t)next() : (int64_t)below(6);
  tensor->bytes = below(80);
  tensor->data = rarely() || tensor->bytes == 0 ? NULL : calloc(1, tensor->bytes);
}

static void run(void) {
  uint64_t count = below(4), results = below(3);
  skc_tensor *inputs = (skc_tensor *)calloc(count + 1, sizeof *inputs), *outputs = (skc_tensor *)calloc(results + 1, sizeof *outputs);
  for (uint64_t at = 0; at < count; at++) fill(&inputs[at]);
  for (uint64_t at = 0; at < results; at++) fill(&outputs[at]);
  if (rarely()) check(skc_run_on_device(instance(), inputs, count, outputs, results));
  uint64_t stream;
  if (rarely()) check(skc_stream(instance(), rarely() ? NULL : &stream));
  check(skc_run(instance(), rarely() ? NULL : inputs, count, rarely() ? NULL : outputs, results));
  for (uint64_t at = 0; at < count; at++) free(inputs[at].data);
  for (uint64_t at = 0; at < results; at++) free(outputs[at].data);
  free(inputs), free(outputs);
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  state = strtoull(arguments[1], NULL, 10) * 2654435761u + 88172645463325252u;
  long calls = strtol(arguments[2], NULL, 10);
  char path[4096];
  snprintf(path, sizeof path, "%s/random.skm", arguments[3]);
  for (long call = 0; call < calls; call++) {
    uint64_t at = below(HELD), number = 0;
    switch (below(13)) {
      case 0: {  // Compiling takes longer than the other calls.
        if (below(4)) break;
        const char *text = TEXTS[below(sizeof TEXTS / sizeof *TEXTS)];
        uint64_t length = rarely() ? below(strlen(text) + 1) : strlen(text);
        char *copy = (char *)malloc(length ? length : 1), *name = string();
        memcpy(copy, text, length);
        skc_options *chosen = options();
        check(skc_compile_text(name, rarely() ? NULL : copy, length, chosen, rarely() ? NULL : &models[at]));
        free_options(chosen), free(copy), free(name);
        break;
      }
      case 1: {
        char *name = string();
        check(skc_compile(name, NULL, &models[at]));
        free(name);
        break;
      }
      case 2: check(skc_save(model(), rarely() ? NULL : path, (int32_t)below(2))); break;
      case 3: check(skc_load(rarely() ? NULL : path, rarely() ? "/nowhere" : NULL, &models[at])); break;
      case 4: check(skc_count(model(), (skc_role)(rarely() ? next() & 0xffff : below(3)), rarely() ? NULL : &number)); break;
      case 5: {
        skc_port port;
        check(skc_port_at(model(), (skc_role)(rarely() ? 7 : below(3)), rarely() ? next() : below(3), rarely() ? NULL : &port));
        break;
      }
      case 6: {
        char *name = string();
        check(skc_find(model(), (skc_role)below(4), name, rarely() ? NULL : &number));
        free(name);
        break;
      }
      case 7: check(skc_create(model(), rarely() ? NULL : &instances[at])); break;
      case 8: if (rarely()) check(skc_free_model(model())); break;
      case 10: check(skc_stop(instance(), (int32_t)below(2))); break;
      case 9: if (rarely()) check(skc_free_instance(instance())); break;
      default: run(); break;
    }
  }
  printf("%ld random calls\n", calls);
  return 0;
}
