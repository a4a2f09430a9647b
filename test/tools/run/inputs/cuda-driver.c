// SPDX-License-Identifier: Apache-2.0
// A CUDA driver for tests: its device is the processor, and its only kernel adds two arrays of floats.
// STUB selects a missing feature: devices, capability, memory, kernels.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int result;
enum { OK = 0, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_PTX = 218 };

static int lacks(const char *what) {
  const char *stub = getenv("STUB");
  return stub && !strcmp(stub, what);
}

static long live, contexts;

result cuInit(unsigned flags) { return flags ? 1 : lacks("driver") ? NO_DEVICE : OK; }
result cuDeviceGetCount(int *count) { *count = lacks("devices") ? 0 : 1; return OK; }
result cuDeviceGet(int *device, int ordinal) { *device = ordinal; return OK; }
result cuDeviceGetName(char *name, int length, int device) {
  (void)device;
  snprintf(name, length, "Stub");
  return OK;
}
result cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  /* The major and minor numbers of the compute capability. */
  *value = attribute == 75 ? (lacks("capability") ? 7 : 9) : attribute == 76 ? 5 : -1;
  return OK;
}
result cuDevicePrimaryCtxRetain(void **context, int device) { (void)device; contexts++; *context = &live; return OK; }
result cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  /* Everything was freed. */
  if (!--contexts && live) fprintf(stderr, "%ld leaks\n", live);
  return OK;
}
result cuCtxSetCurrent(void *context) { return context == &live ? OK : 1; }
/* The work of other libraries is complete. */
result cuCtxSynchronize(void) {
  if (getenv("STUB_GRAPHS")) fprintf(stderr, "all done\n");
  return OK;
}
result cuStreamCreate(void **stream, unsigned flags) { live++; *stream = malloc(flags + 1); return OK; }
result cuStreamSynchronize(void *stream) { return stream ? OK : 1; }
result cuStreamDestroy_v2(void *stream) { live--; free(stream); return OK; }
result cuModuleLoadData(void **module, const void *image) {
  if (lacks("kernels") || !strstr(image, ".visible .entry kernel_0(")) return INVALID_PTX;
  live++;
  *module = malloc(1);
  return OK;
}
result cuModuleUnload(void *module) { live--; free(module); return OK; }
result cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = module;
  return strcmp(name, "kernel_0") ? 1 : OK;
}
result cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
  if (lacks("memory")) return OUT_OF_MEMORY;
  live++;
  *address = (unsigned long long)aligned_alloc(64, (bytes + 63) / 64 * 64);
  return OK;
}
result cuMemFree_v2(unsigned long long address) { live--; free((void *)address); return OK; }
result cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *stream) {
  memcpy((void *)to, from, bytes);
  return stream ? OK : 1;
}
result cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, void *stream) {
  memcpy(to, (void *)from, bytes);
  return stream ? OK : 1;
}
result cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes, void *stream) {
  memcpy((void *)to, (void *)from, bytes);
  return stream ? OK : 1;
}

/* A launch that a graph repeats. */
struct launch {
  unsigned threads;
  const float *a, *b;
  float *sum;
};
struct graph {
  int count;
  struct launch launches[16];
};
static struct graph *captured;

static void compute(const struct launch *l) {
  for (unsigned i = 0; i < l->threads && i < 1000; i++) l->sum[i] = l->a[i] + l->b[i];
}
result cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz, unsigned shared,
                      void *stream, void **parameters, void **extra) {
  if (!function || !stream || shared || extra || y != 1 || z != 1 || ty != 1 || tz != 1) return 1;
  struct launch l = {x * tx, *(const float **)parameters[0], *(const float **)parameters[1], *(float **)parameters[2]};
  if (!captured) compute(&l);
  else if (captured->count < 16) captured->launches[captured->count++] = l;
  return OK;
}
result cuStreamBeginCapture_v2(void *stream, int mode) {
  if (!stream || captured || mode != 1) return 1;
  live++;
  captured = calloc(1, sizeof *captured);
  return OK;
}
result cuStreamEndCapture(void *stream, void **graph) {
  *graph = captured;
  captured = 0;
  return stream && *graph ? OK : 1;
}
result cuGraphInstantiateWithFlags(void **made, void *graph, unsigned long long flags) {
  live++;
  *made = memcpy(malloc(sizeof(struct graph)), graph, sizeof(struct graph));
  return flags ? 1 : OK;
}
result cuGraphDestroy(void *graph) { live--; free(graph); return OK; }
result cuGraphExecDestroy(void *graph) { live--; free(graph); return OK; }
result cuGraphLaunch(void *graph, void *stream) {
  const struct graph *g = graph;
  if (getenv("STUB_GRAPHS")) fprintf(stderr, "graph of %d\n", g->count);
  for (int i = 0; i < g->count; i++) compute(&g->launches[i]);
  return stream ? OK : 1;
}
result cuGetErrorName(result error, const char **text) {
  *text = error == INVALID_PTX ? "CUDA_ERROR_INVALID_PTX" : error == NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR";
  return OK;
}
result cuGetErrorString(result error, const char **text) {
  *text = error == INVALID_PTX ? "a PTX JIT compilation failed" : "no CUDA-capable device is detected";
  return OK;
}
