// SPDX-License-Identifier: Apache-2.0
/* Reads variables from the .dat files of a folder: a 128-byte header, then the items, row-major and little endian. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tables.h"

enum { HEADER = 128, MAX_EXTENTS = 8 };

void *skript_allocate(uint64_t bytes) {
  uint64_t whole = (bytes + 63) / 64 * 64;
  if (whole < bytes || whole > SIZE_MAX) return NULL;
  void *data = aligned_alloc(64, whole ? (size_t)whole : 64);
  if (data) memset(data, 0, whole ? (size_t)whole : 64);
  return data;
}

void skript_release(struct skript_value *value) {
  if (!value->mapping)
    free(value->data);
  else if (value->mapped_bytes)
    munmap(value->mapping, value->mapped_bytes);
  memset(value, 0, sizeof *value);
}

static uint32_t word(const uint8_t *file, size_t offset) {
  uint32_t value;
  memcpy(&value, file + offset, sizeof value);
  return value;
}

/* The kinds of the language. Elements of different kinds are never converted into each other. */
static int kind(skript_type type) {
  switch (type) {
    case SKRIPT_BOOL: return 0;
    case SKRIPT_F16:
    case SKRIPT_BF16:
    case SKRIPT_F32:
    case SKRIPT_F64: return 2;
    default: return 1;
  }
}

/* The type of a file's items; -1 if it is not supported. */
static int item_type(uint32_t code, uint32_t bits, uint32_t marked) {
  int is_signed = code == 4 || (code == 1 && marked);
  if (code == 5 && (bits == 1 || bits == 8)) return SKRIPT_BOOL;
  if (code != 0 && code != 1 && code != 4) return -1;
  switch (bits) {
    case 8: return code == 0 ? -1 : is_signed ? SKRIPT_I8 : SKRIPT_U8;
    case 16: return code == 0 ? SKRIPT_F16 : is_signed ? SKRIPT_I16 : SKRIPT_U16;
    case 32: return code == 0 ? SKRIPT_F32 : is_signed ? SKRIPT_I32 : SKRIPT_U32;
    case 64: return code == 0 ? SKRIPT_F64 : is_signed ? SKRIPT_I64 : SKRIPT_U64;
    default: return -1;
  }
}

static double half(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double size = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                : exponent     ? ldexp(1024 + fraction, exponent - 25)
                               : ldexp(fraction, -24);
  return bits >> 15 ? -size : size;
}

static double read_real(skript_type type, const uint8_t *item) {
  uint16_t bits;
  float narrow;
  double wide;
  switch (type) {
    case SKRIPT_F16: memcpy(&bits, item, 2); return half(bits);
    case SKRIPT_F32: memcpy(&narrow, item, 4); return narrow;
    default: memcpy(&wide, item, 8); return wide;
  }
}

/* Returns 0 if the item does not fit. */
static int read_int(skript_type type, const uint8_t *item, int64_t *value) {
  uint64_t bits = 0;
  size_t size = skript_size(type);
  memcpy(&bits, item, size);
  unsigned unused = 64 - 8 * (unsigned)size;
  switch (type) {
    case SKRIPT_I8:
    case SKRIPT_I16:
    case SKRIPT_I32:
    case SKRIPT_I64: *value = (int64_t)(bits << unused) >> unused; return 1;
    default: *value = (int64_t)bits; return bits <= INT64_MAX;
  }
}

/* Rounds to nearest, ties to even, with `digits` bits of significand; numbers below the exponent `lowest` are subnormal. */
static double rounded(double value, int digits, int lowest) {
  if (value == 0 || !isfinite(value)) return value;
  int exponent;
  (void)frexp(value, &exponent);
  int scale = (exponent < lowest ? lowest : exponent) - digits;
  return ldexp(nearbyint(ldexp(value, -scale)), scale);
}

static uint16_t half_bits(double value, int digits, int lowest) {
  int width = 16 - digits, sign = signbit(value) ? 1 << 15 : 0, fraction_bits = digits - 1;
  int all = ((1 << width) - 1) << fraction_bits;
  if (isnan(value)) return (uint16_t)(sign | all | 1 << (fraction_bits - 1));
  value = fabs(rounded(value, digits, lowest));
  if (isinf(value)) return (uint16_t)(sign | all);
  if (value < ldexp(1, lowest - 1)) return (uint16_t)(sign | (int)ldexp(value, digits - lowest));
  int exponent;
  double significand = frexp(value, &exponent);
  int field = exponent - lowest + 1;
  if (field >= (1 << width) - 1) return (uint16_t)(sign | all);
  return (uint16_t)(sign | field << fraction_bits | ((int)ldexp(significand, digits) & ((1 << fraction_bits) - 1)));
}

/* Returns 0 if a finite value would become infinite. */
static int write_real(skript_type type, double value, uint8_t *place) {
  uint16_t bits;
  float narrow;
  int fits;
  switch (type) {
    case SKRIPT_F16:
      bits = half_bits(value, 11, -13);
      fits = (bits & 0x7fff) != 0x7c00;
      memcpy(place, &bits, 2);
      break;
    case SKRIPT_BF16:
      bits = half_bits(value, 8, -125);
      fits = (bits & 0x7fff) != 0x7f80;
      memcpy(place, &bits, 2);
      break;
    case SKRIPT_F32:
      narrow = (float)value;
      fits = !isinf(narrow);
      memcpy(place, &narrow, 4);
      break;
    default: fits = 1; memcpy(place, &value, 8);
  }
  return fits || isinf(value);
}

static int write_int(skript_type type, int64_t value, uint8_t *place) {
  size_t size = skript_size(type);
  unsigned unused = 64 - 8 * (unsigned)size;
  memcpy(place, &value, size);
  return (int64_t)((uint64_t)value << unused) >> unused == value;
}

/* Converts all items. Returns the position of the first item that does not fit, or `count`. */
static uint64_t convert(skript_type from, const uint8_t *items, skript_type to, uint8_t *data, uint64_t count) {
  size_t step = skript_size(from), size = skript_size(to);
  for (uint64_t n = 0; n < count; n++, items += step, data += size) {
    int64_t value;
    int fits = kind(to) == 2 ? write_real(to, read_real(from, items), data)
                             : read_int(from, items, &value) && write_int(to, value, data);
    if (!fits) return n;
  }
  return count;
}

/* Copies bools to one byte each, 0 or 1. */
static void unpack(const uint8_t *items, uint32_t bits, uint8_t *data, uint64_t count) {
  for (uint64_t n = 0; n < count; n++) data[n] = bits == 1 ? items[n / 8] >> (7 - n % 8) & 1 : items[n] != 0;
}

static int32_t read_file(const char *path, const uint8_t *file, uint64_t length, const skript_port *port,
                         struct skript_value *value, skript_error *error) {
#define WRONG(...) return skript_fail(error, SKRIPT_WEIGHTS, __VA_ARGS__)
  if (length < HEADER) WRONG("%s: %" PRIu64 " bytes are too few for the header of %d bytes", path, length, HEADER);
  if (file[0] != 0x4e || file[1] != 0xef) WRONG("%s: the first bytes are not 4E EF: this is not an NNEF tensor", path);
  if (file[2] != 1 || file[3] != 0) WRONG("%s: version %d.%d is not 1.0", path, file[2], file[3]);
  uint32_t stated = word(file, 4), rank = word(file, 8), bits = word(file, 44), code = word(file, 48);
  if (rank > MAX_EXTENTS) WRONG("%s: rank %" PRIu32 " is above %d", path, rank, MAX_EXTENTS);
  int type = item_type(code, bits, word(file, 52));
  if (type < 0) WRONG("%s: items of type %" PRIu32 " and %" PRIu32 " bits are not supported", path, code, bits);
  if (rank != port->rank) WRONG("%s has rank %" PRIu32 " instead of %" PRIu32, path, rank, port->rank);
  uint64_t count = 1;
  for (uint32_t d = 0; d < rank; d++) {
    if (word(file, 12 + 4 * d) != port->bounds[d])
      WRONG("%s: extent %" PRIu32 " is %" PRIu32 " instead of %" PRId64, path, d, word(file, 12 + 4 * d),
            port->bounds[d]);
    count *= (uint64_t)port->bounds[d];
  }
  /* Does not overflow: the shape is that of the port, whose size is less than 2^40 bytes. */
  uint64_t bytes = (count * bits + 7) / 8;
  if (stated != bytes || length - HEADER != bytes)
    WRONG("%s: its shape needs %" PRIu64 " bytes; the header states %" PRIu32 ", and %" PRIu64 " follow it", path,
          bytes, stated, length - HEADER);
  if (kind((skript_type)type) != kind(port->type))
    WRONG("the elements of %s are %s instead of %s; convert them first", path, skript_type_name((skript_type)type),
          skript_type_name(port->type));
  const uint8_t *items = file + HEADER;
  if ((skript_type)type == port->type && type != SKRIPT_BOOL) {
    value->data = (void *)(uintptr_t)items;
    value->mapping = (void *)(uintptr_t)file;
    value->mapped_bytes = (size_t)length;
    return SKRIPT_OK;
  }
  uint8_t *data = skript_allocate(port->bytes);
  if (!data) return skript_fail(error, SKRIPT_MEMORY, "no memory for variable `%s`", port->name);
  if (type == SKRIPT_BOOL) {
    unpack(items, bits, data, count);
  } else {
    uint64_t wrong = convert((skript_type)type, items, port->type, data, count);
    if (wrong < count) {
      free(data);
      WRONG("%s: element %" PRIu64 " is no %s number", path, wrong, skript_type_name(port->type));
    }
  }
  value->data = data;
  return SKRIPT_OK;
#undef WRONG
}

/* Whether the links of a path in a folder lead out of the folder, or to another file than the opened file. */
static int leads_out(const char *path, const char *folder, const struct stat *opened) {
  char *real = realpath(path, NULL), *home = realpath(*folder ? folder : "/", NULL);
  struct stat about;
  int inside = real && home && stat(real, &about) == 0 && about.st_dev == opened->st_dev &&
               about.st_ino == opened->st_ino && strncmp(real, home, strlen(home)) == 0 &&
               (real[strlen(home)] == '/' || strcmp(home, "/") == 0);
  free(real);
  free(home);
  return !inside;
}

/* Maps a regular file and reads it. If the mapping remains in use, the value owns it. The kind of the file is tested before
 * opening, because opening a device may act on it, and again after opening, because the name may refer to another file by
 * then. */
static int32_t load_file(const char *path, const char *folder, const skript_port *port, struct skript_value *value,
                         skript_error *error) {
  struct stat about;
  if (stat(path, &about) != 0)
    return skript_fail(error, SKRIPT_WEIGHTS, "cannot read %s: %s", path, strerror(errno));
  if (!S_ISREG(about.st_mode)) return skript_fail(error, SKRIPT_WEIGHTS, "%s is not an ordinary file", path);
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0 || fstat(descriptor, &about) != 0) {
    int32_t status = skript_fail(error, SKRIPT_WEIGHTS, "cannot read %s: %s", path, strerror(errno));
    if (descriptor >= 0) close(descriptor);
    return status;
  }
  uint64_t length = (uint64_t)about.st_size;
  const char *wrong = !S_ISREG(about.st_mode)           ? "is not an ordinary file"
                      : leads_out(path, folder, &about) ? "is a link out of its folder"
                      : length == 0                     ? "is empty"
                                                        : NULL;
  if (wrong) {
    close(descriptor);
    return skript_fail(error, SKRIPT_WEIGHTS, "%s %s", path, wrong);
  }
  void *file = mmap(NULL, (size_t)length, PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  if (file == MAP_FAILED) return skript_fail(error, SKRIPT_WEIGHTS, "cannot map %s: %s", path, strerror(errno));
  int32_t status = read_file(path, file, length, port, value, error);
  if (!value->mapping) munmap(file, (size_t)length);
  return status;
}

int32_t skript_load(const char *folder, size_t index, struct skript_value *value, skript_error *error) {
  const skript_port *port = &skript_tables.ports[SKRIPT_VARIABLE][index];
  const char *const *alias = skript_tables.aliases[index];
  char path[4096];
  for (const char *name = port->name; name; name = *alias++) {
    int length = snprintf(path, sizeof path, "%s/%s.dat", folder, name);
    if (length < 0 || (size_t)length >= sizeof path)
      return skript_fail(error, SKRIPT_WEIGHTS, "the path of variable `%s` is too long", port->name);
    if (access(path, F_OK) == 0) return load_file(path, folder, port, value, error);
  }
  return skript_fail(error, SKRIPT_WEIGHTS, "no weights for variable `%s`: there is no %s/%s.dat", port->name, folder,
                     port->name);
}
