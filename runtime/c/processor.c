// SPDX-License-Identifier: Apache-2.0
/* Features of this processor, by LLVM's names. Errors, and element types. */
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

/* The processor state that the system saves for each thread (XCR0). */
static unsigned saved(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) return 0;
  __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return a;
}

/* The registers of a leaf; zeros if the processor lacks the leaf. */
static void leaf(unsigned number, unsigned subleaf, unsigned registers[4]) {
  unsigned *r = registers;
  memset(r, 0, 4 * sizeof *r);
  /* Register EAX of subleaf 0 of leaf 7 is the largest subleaf. */
  if (number == 7 && subleaf && (!__get_cpuid_count(7, 0, r, r + 1, r + 2, r + 3) || subleaf > r[0])) {
    memset(r, 0, 4 * sizeof *r);
    return;
  }
  if (!__get_cpuid_count(number, subleaf, r, r + 1, r + 2, r + 3)) memset(r, 0, 4 * sizeof *r);
}

static const char *find(const char *const *features, const char *name) {
  for (; *features; features++)
    if (strcmp(*features, name) == 0) return *features;
  return NULL;
}

/* Reads each leaf once, because cpuid takes tens of microseconds under a hypervisor. A feature that is not in the table
   counts as missing. */
const char *skript_lacking(const char *const *features) {
  const size_t count = sizeof known / sizeof *known;
  unsigned registers[4], state = saved();
  for (size_t n = 0; n < count; n++) {
    if (!n || known[n].leaf != known[n - 1].leaf || known[n].subleaf != known[n - 1].subleaf)
      leaf(known[n].leaf, known[n].subleaf, registers);
    const char *wanted = find(features, known[n].name);
    if (wanted && ((known[n].state & ~state) || !(registers[known[n].at] >> known[n].bit & 1))) return wanted;
  }
  for (; *features; features++) {
    size_t n = 0;
    while (n < count && strcmp(known[n].name, *features) != 0) n++;
    if (n == count) return *features;
  }
  return NULL;
}
#elif defined(__aarch64__) && defined(__linux__)
#include <stdlib.h>
#include <sys/prctl.h>

#ifndef PR_SVE_GET_VL
#define PR_SVE_GET_VL 51
#endif

/* Code that requires a minimum length of SVE registers computes wrong results with shorter registers. */
const char *skript_lacking(const char *const *features) {
  const int length = prctl(PR_SVE_GET_VL, 0, 0, 0, 0), bits = length < 0 ? 0 : (length & 0xffff) * 8;
  for (; *features; features++) {
    char *end = NULL;
    const long wanted = strncmp(*features, "sve", 3) ? 0 : strtol(*features + 3, &end, 10);
    if (wanted >= 128 && !*end && bits < wanted) return *features;
  }
  return NULL;
}
#else
const char *skript_lacking(const char *const *features) {
  (void)features;
  return NULL;
}
#endif
