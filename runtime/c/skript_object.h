// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>

/* SKRIPT_TENSORS(X) calls X(role, name, type, size of an element, rank, bounds, dynamic, bytes) for each tensor, in the order of
 * their pointers. `bounds` and `dynamic` are initializers of arrays. `bounds` has the extents, or their upper bounds where
 * `dynamic` is 1. */
#define SKRIPT_LIST(...) {__VA_ARGS__}
enum { SKRIPT_INPUT, SKRIPT_VARIABLE, SKRIPT_OUTPUT, SKRIPT_UPDATE };

/* The state of run-time checks and random operators; zero-initialized before the first call. */
struct skript_context {
  int64_t values[64]; /* the last one is not 0 if another thread stops the call */
  uint64_t seed;
  uint64_t draws;
  char message[256];
};

/* Runs the model once, in memory of the caller. Tensors are row-major, contiguous by their actual extents, little endian,
 * aligned to their elements; `arena` has SKRIPT_ARENA_BYTES bytes at SKRIPT_ARENA_ALIGNMENT. Outputs do not overlap any other
 * memory. Inputs have their actual extents. Outputs have their upper bounds before the call and their actual extents after it.
 * Updates are the new values of variables. Returns 0, or the number of the run-time check that failed. */
int32_t skript_entry(void *const *tensors, uint8_t *arena, struct skript_context *context);

#if SKRIPT_PREPARED_BYTES > 0
/* Computes the values that depend on variables alone. Call it before the first call, and after variables changed. The memory
 * for these values is the last pointer of the table, aligned to 64 bytes. */
void skript_prepare(void *const *tensors);
#endif
