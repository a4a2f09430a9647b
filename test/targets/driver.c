// SPDX-License-Identifier: Apache-2.0
/* Calls the code of one object file, in static memory: compiled with the object's header as MODEL_H for each model.
 *
 * `skript_drive` reads, for each input and variable in the order of the table, its extents as int64_t and its elements, and writes
 * the status as int64_t, then extents and elements of each output. Memory is first filled with a pattern, so that code cannot
 * assume zeros, and bytes after the arena must not change. */
#include MODEL_H

typedef __SIZE_TYPE__ size;

#define SIZE_OF(role, name, type, element, rank, bounds, dynamic, bytes) +(((bytes) + 63u) / 64u * 64u + 64u)
#define STREAM_OF(role, name, type, element, rank, bounds, dynamic, bytes) +(bytes) + 8u * (rank)
#define ROW_OF(role, name, type, element, rank, bounds, dynamic, bytes) {role, element, rank, bounds, dynamic, bytes},
#define GUARD 64

struct tensor {
  int role, element, rank;
  int64_t bounds[16];
  uint8_t dynamic[16];
  uint64_t bytes;
};

static const struct tensor tensors[] = {SKRIPT_TENSORS(ROW_OF){-1, 0, 0, {0}, {0}, 0}};
#define COUNT (sizeof tensors / sizeof *tensors - 1)

#define ALIGNMENT (SKRIPT_ARENA_ALIGNMENT > 64 ? SKRIPT_ARENA_ALIGNMENT : 64)
_Alignas(ALIGNMENT) static uint8_t arena[SKRIPT_ARENA_BYTES + GUARD];
_Alignas(64) static uint8_t prepared[SKRIPT_PREPARED_BYTES + GUARD];
_Alignas(64) static uint8_t memory[64 SKRIPT_TENSORS(SIZE_OF)];
static int64_t extents[COUNT + 1][16];
static void *pointers[SKRIPT_POINTERS + 1];
static struct skript_context context;

uint8_t skript_stream[64 SKRIPT_TENSORS(STREAM_OF)];

static void fill(uint8_t *to, size bytes) {
  for (size n = 0; n < bytes; n++) to[n] = 0xA5;
}

static void copy(void *to, const void *from, size bytes) {
  for (size n = 0; n < bytes; n++) ((uint8_t *)to)[n] = ((const uint8_t *)from)[n];
}

static int is_dynamic(const struct tensor *tensor) {
  for (int d = 0; d < tensor->rank; d++)
    if (tensor->dynamic[d]) return 1;
  return 0;
}

static size bytes_of(size number) {
  size bytes = tensors[number].element;
  for (int d = 0; d < tensors[number].rank; d++) bytes *= (size)extents[number][d];
  return bytes;
}

static int is_read(const struct tensor *tensor) { return tensor->role == SKRIPT_INPUT || tensor->role == SKRIPT_VARIABLE; }

/* Reads the input from `skript_stream`, and overwrites it with the output. Returns the number of written bytes. */
size skript_drive(void) {
  fill(arena, sizeof arena);
  fill(prepared, sizeof prepared);
  fill(memory, sizeof memory);
  size at = 0, next = 0, slot = COUNT;
  for (size n = 0; n < COUNT; n++) {
    pointers[n] = memory + next;
    next += ((size)tensors[n].bytes + 63) / 64 * 64 + 64;
    copy(extents[n], tensors[n].bounds, sizeof extents[n]);
    if (is_read(&tensors[n])) {
      copy(extents[n], skript_stream + at, 8 * (size)tensors[n].rank);
      at += 8 * (size)tensors[n].rank;
      copy(pointers[n], skript_stream + at, bytes_of(n));
      at += bytes_of(n);
    }
    if (is_dynamic(&tensors[n])) pointers[slot++] = extents[n];
  }
  if (SKRIPT_PREPARED_BYTES > 0) pointers[slot++] = prepared;
#if SKRIPT_PREPARED_BYTES > 0
  skript_prepare(pointers);
#endif
  int64_t status = slot == SKRIPT_POINTERS ? skript_entry(pointers, arena, &context) : -1;
  for (size n = 0; n < GUARD; n++)
    if (arena[SKRIPT_ARENA_BYTES + n] != 0xA5 || prepared[SKRIPT_PREPARED_BYTES + n] != 0xA5) status = -2;
  for (size n = 0; n < COUNT; n++)
    if (tensors[n].bytes && ((uint8_t *)pointers[n])[(tensors[n].bytes + 63) / 64 * 64 + 63] != 0xA5) status = -3;
  copy(skript_stream, &status, 8);
  at = 8;
  for (size n = 0; n < COUNT; n++) {
    if (tensors[n].role != SKRIPT_OUTPUT) continue;
    copy(skript_stream + at, extents[n], 8 * (size)tensors[n].rank);
    at += 8 * (size)tensors[n].rank;
    copy(skript_stream + at, pointers[n], bytes_of(n));
    at += bytes_of(n);
  }
  return at;
}

#ifdef __wasm__
uint8_t *skript_stream_address(void) { return skript_stream; }
#else
#include <stdio.h>

int main(int count, char **arguments) {
  FILE *in = count == 3 ? fopen(arguments[1], "rb") : NULL;
  if (!in) return 2;
  size_t got = fread(skript_stream, 1, sizeof skript_stream, in);
  fclose(in);
  FILE *out = got ? fopen(arguments[2], "wb") : fopen(arguments[2], "wb");
  if (!out) return 2;
  size_t bytes = skript_drive();
  int done = fwrite(skript_stream, 1, bytes, out) == bytes;
  return fclose(out) || !done ? 2 : 0;
}
#endif
