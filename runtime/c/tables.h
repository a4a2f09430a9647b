// SPDX-License-Identifier: Apache-2.0
/* What the compiler writes about one model, and what the parts of this library share. */
#ifndef SKRIPT_TABLES_H
#define SKRIPT_TABLES_H

/* Only what the header declares is seen outside of the shared object. */
#pragma GCC visibility push(default)
#include "skript_model.h"
#pragma GCC visibility pop

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tensors and weights are little endian"
#endif

/* A run-time check. In `message`, `{0}`, `{1:real}`, `{2:bool}` stand for the values that it found, `{text}` for what a kernel says;
   of `{3?}yes{|}no{/}` value 3 chooses one part, and `{{` is a brace. */
struct skript_check {
  const char *code;
  const char *message;
  const char *const *trace; /* operator calls, innermost first; ends in NULL */
};

/* The new value of a variable, which the code gives after the graph's outputs. */
struct skript_update {
  uint32_t variable;
  skript_port port;
};

struct skript_tables {
  const char *graph;
  uint64_t arena_bytes;
  uint64_t arena_alignment;
  uint64_t prepared_bytes; /* of the array that `prepare` fills: the last of the tensors */
  void (*prepare)(void *const *tensors); /* NULL: nothing is prepared */
  const skript_port *ports[3]; /* by role */
  size_t counts[3];
  const char *const *const *aliases; /* per variable: further names of its file; ends in NULL */
  const struct skript_update *updates;
  size_t update_count;
  const struct skript_check *checks; /* status n is check n - 1 */
  size_t check_count;
  const char *const *features; /* of the processor; ends in NULL */
  const uint8_t *embedded;     /* weights: what `prepare` computes, then variables; NULL if they are in files */
  const int64_t *offsets;      /* per variable, in `embedded`; -1 if only `prepare` reads it */
};

extern const struct skript_tables skript_tables;

/* What a failed check leaves behind; the same for all users of compiled code (docs/intrinsics.md). */
struct skript_context {
  int64_t values[64];
  uint64_t seed;
  uint64_t draws;
  char message[256];
};

/* The model's code: inputs, variables, outputs, updates, then extents of those that vary, then prepared variables. */
int32_t skript_entry(void *const *tensors, uint8_t *arena, struct skript_context *context);

/* Fills in `error`, if there is one; gives `status`. */
int32_t skript_fail(skript_error *error, int32_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A feature that the code needs and this processor lacks; NULL if there is none. */
const char *skript_lacking(const char *const *features);
/* Bytes of one element. */
size_t skript_size(skript_type type);
/* `f32`. */
const char *skript_type_name(skript_type type);

/* A variable's value. */
struct skript_value {
  void *data;    /* NULL: it has none yet */
  void *mapping; /* a mapped file that `data` lies in, else NULL: `data` was allocated */
  size_t mapped_bytes; /* 0 in place of a file: `data` is embedded */
};

/* Memory at a cache line, zeroed; at least one byte. NULL if there is none. */
void *skript_allocate(uint64_t bytes);
void skript_release(struct skript_value *value);
/* Reads the file of variable `index` in a folder. */
int32_t skript_load(const char *folder, size_t index, struct skript_value *value, skript_error *error);

#endif
