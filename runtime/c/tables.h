// SPDX-License-Identifier: Apache-2.0
/* The tables that the compiler generates for a model, and the functions that several files of this library use. */
#ifndef SKRIPT_TABLES_H
#define SKRIPT_TABLES_H

/* Only the declarations of the header are visible outside of the shared object. */
#pragma GCC visibility push(default)
#include "skript_model.h"
#pragma GCC visibility pop

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tensors and weights are little endian"
#endif

/* A run-time check. In `message`, `{0}`, `{1:real}`, `{2:bool}` are replaced by values of the context, `{text}` by the message of
   a kernel; `{3?}yes{|}no{/}` is `yes` if value 3 is not 0, else `no`; `{{` is a brace. */
struct skript_check {
  const char *code;
  const char *message;
  const char *const *trace; /* operator calls, innermost first; ends in NULL */
};

/* The new value of a variable. Its pointer follows the pointers of the graph's outputs. */
struct skript_update {
  uint32_t variable;
  skript_port port;
};

struct skript_tables {
  const char *graph;
  uint64_t arena_bytes;
  uint64_t arena_alignment;
  uint64_t prepared_bytes; /* the size of the array that `prepare` fills, which is the last of the tensors */
  void (*prepare)(void *const *tensors); /* NULL if nothing is prepared */
  const skript_port *ports[3]; /* by role */
  size_t counts[3];
  const char *const *const *aliases; /* per variable: other names of its file; ends in NULL */
  const struct skript_update *updates;
  size_t update_count;
  const struct skript_check *checks; /* status n is check n - 1 */
  size_t check_count;
  const char *const *features; /* required features of the processor; ends in NULL */
  const uint8_t *embedded;     /* weights: the result of `prepare`, then variables; NULL if they are in files */
  const int64_t *offsets;      /* for each variable, its offset in `embedded`; -1 if only `prepare` reads it */
};

extern const struct skript_tables skript_tables;

/* The state of run-time checks and random operators; the same for all users of compiled code (docs/intrinsics.md). */
struct skript_context {
  int64_t values[64]; /* the last one is not 0 if another thread stops the call */
  uint64_t seed;
  uint64_t draws;
  char message[256];
};

/* The model's code. `tensors` are inputs, variables, outputs and updates, then the extents of dynamic tensors, then prepared
   variables. */
int32_t skript_entry(void *const *tensors, uint8_t *arena, struct skript_context *context);

/* Fills in `error` unless it is NULL; returns `status`. */
int32_t skript_fail(skript_error *error, int32_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A feature that the code requires and this processor lacks, or NULL. */
const char *skript_lacking(const char *const *features);
/* The size of one element in bytes. */
size_t skript_size(skript_type type);
/* The name of a type, such as `f32`. */
const char *skript_type_name(skript_type type);

/* The value of a variable. */
struct skript_value {
  void *data;    /* NULL: no value yet */
  void *mapping; /* the mapped file that contains `data`, or `data` itself if it is embedded; NULL: `data` was allocated */
  size_t mapped_bytes; /* 0 if `data` is embedded */
};

/* Allocates at least one byte of zeroed memory, aligned to a cache line. NULL if memory is insufficient. */
void *skript_allocate(uint64_t bytes);
void skript_release(struct skript_value *value);
/* Reads the file of variable `index` in a folder. */
int32_t skript_load(const char *folder, size_t index, struct skript_value *value, skript_error *error);

#endif
