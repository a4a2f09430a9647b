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

static const struct {
  const char *name;
  unsigned leaf, subleaf, at, bit, state;
} known[] = {
#include "x86_features.h"
};

/* The parts of the processor's state that the system saves for each thread. */
static unsigned saved(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) return 0;
  __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return a;
}

static int has(size_t n) {
  unsigned registers[4] = {0};
  if (known[n].state & ~saved()) return 0;
  if (known[n].leaf == 7 && known[n].subleaf) {
    if (!__get_cpuid_count(7, 0, &registers[0], &registers[1], &registers[2], &registers[3])) return 0;
    if (known[n].subleaf > registers[0]) return 0;
  }
  if (!__get_cpuid_count(known[n].leaf, known[n].subleaf, &registers[0], &registers[1], &registers[2], &registers[3]))
    return 0;
  return registers[known[n].at] >> known[n].bit & 1;
}

/* A feature that is not in the table counts as lacking. */
static int lacks(const char *feature) {
  for (size_t n = 0; n < sizeof known / sizeof *known; n++)
    if (strcmp(known[n].name, feature) == 0) return !has(n);
  return 1;
}

const char *skript_lacking(const char *const *features) {
  for (; *features; features++)
    if (lacks(*features)) return *features;
  return NULL;
}
#else
const char *skript_lacking(const char *const *features) {
  (void)features;
  return NULL;
}
#endif
