// SPDX-License-Identifier: Apache-2.0
/* A kernel of your own for an operator without a body: `skript run MODEL --intrinsic NAME=SYMBOL@library.so`.
 *
 * The symbol is a function `int32_t kernel(const struct skript_call *call)`. It returns 0 when all outputs are written; any
 * other number fails the run, with what stands in `call->message`. It may be called from several threads at once, must not
 * unwind, and keeps no pointer beyond the call.
 *
 * For models run with --real=f64, the kernel is `SYMBOL_f64` instead, whose reals are `double`. Whatever narrower types a model
 * is run with, `SYMBOL` gets `float` and `int64_t`, and its results are rounded.
 */
#ifndef SKRIPT_INTRINSIC_H
#define SKRIPT_INTRINSIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the elements of a tensor. */
enum { SKRIPT_ELEMENT_BOOL = 0 /* one byte, 0 or 1; of an output, true is any but 0 */, SKRIPT_ELEMENT_INT = 1 /* int64_t */, SKRIPT_ELEMENT_REAL = 2 /* float; double in SYMBOL_f64 */ };

/* Contiguous and row-major. `extents` of an output are those of its type, or their upper bounds if the kernel determines
 * them (`is_dynamic`); then the kernel writes the actual ones to `extents`, and the elements contiguously by these. */
struct skript_array {
  int32_t element;
  uint32_t rank;
  int64_t *extents;
  void *data;
  int32_t is_dynamic;
};

enum { SKRIPT_VALUE_NULL, SKRIPT_VALUE_BOOL, SKRIPT_VALUE_INT, SKRIPT_VALUE_REAL, SKRIPT_VALUE_STR, SKRIPT_VALUE_LIST };

/* An attribute's value. */
struct skript_value {
  int32_t kind;
  int64_t integer;                 /* of a bool (0 or 1) or an int */
  double real;                     /* of a real */
  const char *text;                /* of a str, ends in '\0' */
  const struct skript_value *items; /* of a list */
  size_t count;                    /* of a list's items */
};

struct skript_attribute {
  const char *name;
  struct skript_value value;
};

struct skript_call {
  const char *operator_name; /* qualified: `main.sorted` */
  const struct skript_attribute *attributes;
  size_t attribute_count;
  const struct skript_array *inputs; /* packs flattened */
  size_t input_count;
  struct skript_array *outputs;
  size_t output_count;
  char *message; /* buffer for the reason if the kernel fails, ends in '\0' */
  size_t message_size;
};

#ifdef __cplusplus
}
#endif
#endif
