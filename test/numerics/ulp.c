// SPDX-License-Identifier: Apache-2.0
/* Measures the error of a model's functions over all f32 numbers, or every STRIDE-th, against the C library in double.
 *
 *   ulp FUNCTIONS.so STRIDE THREADS
 *
 * An output has the name of its function. Prints a line for each: name, largest error in units in the last place of the true
 * value, its argument, and the number of results that, unlike the true value, are infinite, NaN or of the other sign.
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 65536, BLOCK = 64, MOST = 32 };

/* The C library's functions on vectors of four numbers are less exact, by up to 2^-27 of a unit in the last place of a float. They
 * determine for which numbers the scalar functions are not necessary. */
#ifdef __AVX2__
#include <immintrin.h>
#define VECTOR(name) __m256d _ZGVdN4v_##name(__m256d);
VECTOR(exp) VECTOR(log) VECTOR(sin) VECTOR(cos) VECTOR(tan) VECTOR(asin) VECTOR(acos) VECTOR(atan)
VECTOR(sinh) VECTOR(cosh) VECTOR(tanh) VECTOR(asinh) VECTOR(acosh) VECTOR(atanh) VECTOR(erf)
static __m256d _ZGVdN4v_sqrt(__m256d x) { return _mm256_sqrt_pd(x); }
typedef __m256d (*vector_function)(__m256d);
#define ROW(name) {#name, name, _ZGVdN4v_##name}
#else
typedef void (*vector_function)(void);
#define ROW(name) {#name, name, NULL}
#endif

struct function {
  const char *name;
  double (*value)(double);
  vector_function values;
};

static const struct function references[] = {
    ROW(sqrt), ROW(exp), ROW(log), ROW(sin), ROW(cos), ROW(tan), ROW(asin), ROW(acos), ROW(atan), ROW(sinh), ROW(cosh),
    ROW(tanh), ROW(asinh), ROW(acosh), ROW(atanh), ROW(erf),
};

static const struct function *reference[MOST];
static size_t outputs;
static uint64_t stride;
static int threads;
static __typeof__(&skript_create) create;
static __typeof__(&skript_run) run;
static __typeof__(&skript_port_at) port_at;

struct result {
  double error;
  float at;
  uint64_t wrong;
};

struct part {
  int number;
  struct result results[MOST];
};

/* The error of a result in units in the last place; negative if only one of result and true value is NaN, infinite or negative. */
static double distance(float found, double wanted) {
  if (isnan(found) || isnan(wanted)) return isnan(found) && isnan(wanted) ? 0 : -1;
  /* The true value of a result that is rounded to 2^128 or beyond is infinite. */
  if (isinf(found)) return fabs(wanted) >= 0x1.ffffffp+127 && (found > 0) == (wanted > 0) ? 0 : -1;
  if (isinf(wanted)) return -1;
  if (found == 0 && wanted == 0) return signbit(found) == signbit(wanted) ? 0 : -1;
  int exponent;
  (void)frexp(wanted, &exponent);
  return fabs(found - wanted) / ldexp(1, exponent < -125 ? -149 : exponent - 24);
}

/* Whether a block of results has neither errors of kind nor larger errors than the worst one so far. */
static int is_no_worse(const struct function *function, const float *in, const float *found, double worst) {
#ifdef __AVX2__
  uint64_t bad = 0;
  double wanted[BLOCK];
  for (int i = 0; i < BLOCK; i += 4)
    _mm256_storeu_pd(wanted + i, function->values(_mm256_cvtps_pd(_mm_loadu_ps(in + i))));
  /* Like `distance`, but without branches: a comparison with NaN is false. */
  for (int i = 0; i < BLOCK; i++) {
    double f = found[i], w = wanted[i];
    uint64_t a, b;
    memcpy(&a, &f, sizeof a);
    memcpy(&b, &w, sizeof b);
    uint64_t exponent = b >> 52 & 0x7ff, least = 1022 - 125;
    uint64_t inverse = (1023 + 1022 + 24 - (exponent > least ? exponent : least)) << 52;
    double units;
    memcpy(&units, &inverse, sizeof units);
    uint64_t near = fabs(f - w) * units <= worst, signs = (a ^ b) >> 63 == 0, same = a == b;
    uint64_t both = (f != f) & (w != w), zero = (f == 0) & (w == 0);
    bad |= !(same | both | (near & (signs | !zero)));
  }
  return !bad;
#else
  return (void)function, (void)in, (void)found, (void)worst, 0;
#endif
}

static void compare(const struct function *function, const float *in, const float *found, struct result *result) {
  for (int i = 0; i < BLOCK; i++) {
    double error = distance(found[i], function->value(in[i]));
    if (error < 0) result->wrong++;
    if (error > result->error) {
      result->error = error;
      result->at = in[i];
    }
  }
}

static void *measure(void *argument) {
  struct part *part = argument;
  skript_error error;
  skript_instance *instance = create(NULL, &error);
  float *in = aligned_alloc(64, CHUNK * sizeof *in);
  skript_tensor input = skript_tensor_of(port_at(SKRIPT_INPUT, 0), in), output[MOST];
  for (size_t n = 0; n < outputs; n++)
    output[n] = skript_tensor_of(port_at(SKRIPT_OUTPUT, n), aligned_alloc(64, CHUNK * sizeof *in));
  uint64_t all = (((uint64_t)1 << 32) + stride - 1) / stride;
  for (uint64_t first = (uint64_t)part->number * CHUNK; first < all; first += (uint64_t)threads * CHUNK) {
    for (uint64_t n = 0; n < CHUNK; n++) {
      uint32_t bits = (uint32_t)((first + n) * stride);
      memcpy(&in[n], &bits, sizeof bits);
    }
    if (!instance || run(instance, &input, 1, output, outputs, &error) != SKRIPT_OK) {
      fprintf(stderr, "%s\n", error.text);
      exit(1);
    }
    for (size_t n = 0; n < outputs; n++) {
      const float *found = output[n].data;
      for (int i = 0; i < CHUNK; i += BLOCK)
        if (!is_no_worse(reference[n], in + i, found + i, part->results[n].error))
          compare(reference[n], in + i, found + i, &part->results[n]);
    }
  }
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 4) return fprintf(stderr, "usage: ulp FUNCTIONS.so STRIDE THREADS\n"), 2;
  void *object = dlopen(arguments[1], RTLD_NOW);
  if (!object) return fprintf(stderr, "%s\n", dlerror()), 1;
  *(void **)&create = dlsym(object, "skript_create");
  *(void **)&run = dlsym(object, "skript_run");
  *(void **)&port_at = dlsym(object, "skript_port_at");
  stride = strtoull(arguments[2], NULL, 10);
  threads = atoi(arguments[3]);
  const skript_port *port;
  for (; outputs < MOST && (port = port_at(SKRIPT_OUTPUT, outputs)); outputs++) {
    for (size_t n = 0; n < sizeof references / sizeof *references; n++)
      if (strcmp(references[n].name, port->name) == 0) reference[outputs] = &references[n];
    if (!reference[outputs]) return fprintf(stderr, "no reference for %s\n", port->name), 1;
  }
  struct part *parts = calloc((size_t)threads, sizeof *parts);
  pthread_t *handles = calloc((size_t)threads, sizeof *handles);
  for (int n = 0; n < threads; n++) {
    parts[n].number = n;
    if (pthread_create(&handles[n], NULL, measure, &parts[n])) return 1;
  }
  for (int n = 0; n < threads; n++) pthread_join(handles[n], NULL);
  for (size_t o = 0; o < outputs; o++) {
    struct result worst = {0, 0, 0};
    for (int n = 0; n < threads; n++) {
      uint64_t wrong = worst.wrong + parts[n].results[o].wrong;
      if (parts[n].results[o].error > worst.error) worst = parts[n].results[o];
      worst.wrong = wrong;
    }
    printf("%s %.4f %a %llu\n", port_at(SKRIPT_OUTPUT, o)->name, worst.error, worst.at,
           (unsigned long long)worst.wrong);
  }
  return 0;
}
