// SPDX-License-Identifier: Apache-2.0
/* What this processor can do, by the names that LLVM has for it. Errors, and elements. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tables.h"

int32_t skript_fail(skript_error *error, int32_t status, const char *format, ...) {
  if (error) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    error->status = status;
  }
  return status;
}

size_t skript_size(skript_type type) {
  static const uint8_t sizes[] = {1, 4, 8, 4, 8, 2, 2, 1, 2, 1, 2, 4, 8};
  return (unsigned)type < sizeof sizes ? sizes[type] : 1;
}

const char *skript_type_name(skript_type type) {
  static const char *const names[] = {"bool", "i32", "i64", "f32", "f64", "f16", "bf16",
                                      "i8",   "i16", "u8",  "u16", "u32", "u64"};
  return (unsigned)type < sizeof names / sizeof *names ? names[type] : "of no known type";
}

#if defined(__x86_64__)
#include <cpuid.h>

/* `wide`: the system must save the registers, which the compiler's own test looks after. */
static const struct {
  const char *name;
  unsigned leaf, subleaf, place, bit;
  int wide;
} known[] = {
    {"sse3", 1, 0, 2, 0, 0},         {"ssse3", 1, 0, 2, 9, 0},        {"sse4.1", 1, 0, 2, 19, 0},
    {"sse4.2", 1, 0, 2, 20, 0},      {"popcnt", 1, 0, 2, 23, 0},      {"avx", 1, 0, 2, 28, 256},
    {"fma", 1, 0, 2, 12, 256},       {"f16c", 1, 0, 2, 29, 256},      {"avx2", 7, 0, 1, 5, 256},
    {"bmi", 7, 0, 1, 3, 0},          {"bmi2", 7, 0, 1, 8, 0},         {"lzcnt", 0x80000001, 0, 2, 5, 0},
    {"avx512f", 7, 0, 1, 16, 512},   {"avx512dq", 7, 0, 1, 17, 512},  {"avx512bw", 7, 0, 1, 30, 512},
    {"avx512vl", 7, 0, 1, 31, 512},  {"avx512cd", 7, 0, 1, 28, 512},  {"avx512vbmi", 7, 0, 2, 1, 512},
    {"avx512vnni", 7, 0, 2, 11, 512}, {"avx512fp16", 7, 0, 3, 23, 512}, {"avx512bf16", 7, 1, 0, 5, 512},
    {"avxvnni", 7, 1, 0, 4, 256},
};

static int has(size_t n) {
  unsigned registers[4] = {0};
  __builtin_cpu_init();
  if (known[n].wide >= 256 && !__builtin_cpu_supports("avx")) return 0;
  if (known[n].wide == 512 && !__builtin_cpu_supports("avx512f")) return 0;
  if (!__get_cpuid_count(known[n].leaf, known[n].subleaf, &registers[0], &registers[1], &registers[2], &registers[3]))
    return 0;
  return registers[known[n].place] >> known[n].bit & 1;
}

const char *skript_lacking(const char *const *features) {
  for (; *features; features++)
    for (size_t n = 0; n < sizeof known / sizeof *known; n++)
      if (strcmp(known[n].name, *features) == 0 && !has(n)) return *features;
  return NULL;
}
#else
const char *skript_lacking(const char *const *features) {
  (void)features;
  return NULL;
}
#endif
