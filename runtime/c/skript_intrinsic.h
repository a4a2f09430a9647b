// SPDX-License-Identifier: Apache-2.0
/* A user-defined kernel for an operator without a body: `skript run MODEL --intrinsic NAME=SYMBOL@library.so`.
 *
 * The symbol is a function `int32_t kernel(const struct skript_call *call)`. It returns 0 after it has written all outputs;
 * any other status fails the run with the message in `call->message`. It may be called from several threads at once, must not
 * unwind, and must not keep pointers beyond the call.
 *
 * For models run with --real=f64, the kernel is `SYMBOL_f64` instead, whose reals are `double`. If a model is run with
 * narrower types, `SYMBOL` still receives `float` and `int64_t`, and its results are rounded.
 */
#ifndef SKRIPT_INTRINSIC_H
#define SKRIPT_INTRINSIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types of tensors. */
enum { SKRIPT_ELEMENT_BOOL = 0 /* one byte, 0 or 1; in an output, every byte except 0 is true */, SKRIPT_ELEMENT_INT = 1 /* int64_t */, SKRIPT_ELEMENT_REAL = 2 /* float; double in SYMBOL_f64 */ };

/* Contiguous and row-major. `extents` of an output are the extents of its type. If the kernel determines them (`is_dynamic`),
 * they are upper bounds: the kernel writes the actual extents to `extents`, and the elements contiguously by these. */
struct skript_array {
  int32_t element;
  uint32_t rank;
  int64_t *extents;
  void *data;
  int32_t is_dynamic;
};

enum { SKRIPT_VALUE_NULL, SKRIPT_VALUE_BOOL, SKRIPT_VALUE_INT, SKRIPT_VALUE_REAL, SKRIPT_VALUE_STR, SKRIPT_VALUE_LIST };

/* The value of an attribute. */
struct skript_value {
  int32_t kind;
  int64_t integer;                  /* for a bool (0 or 1) or an int */
  double real;                      /* for a real */
  const char *text;                 /* for a str; ends in '\0' */
  const struct skript_value *items; /* for a list */
  size_t count;                     /* the number of items of a list */
};

struct skript_attribute {
  const char *name;
  struct skript_value value;
};

struct skript_call {
  const char *operator_name; /* the qualified name, such as `main.sorted` */
  const struct skript_attribute *attributes;
  size_t attribute_count;
  const struct skript_array *inputs; /* packs are flattened */
  size_t input_count;
  struct skript_array *outputs;
  size_t output_count;
  char *message; /* buffer for the reason of a failure; the text ends in '\0' */
  size_t message_size;
};

#ifdef __cplusplus
}
#endif
#endif
