// SPDX-License-Identifier: Apache-2.0
/* A compiled SkriptND model in a shared object: its interface, instances, calls.
 *
 * Link with the object, or load it with dlopen (with RTLD_LOCAL if there are several models) and look the functions up.
 * All functions may be called from any thread. An instance executes one call at a time; different instances execute calls
 * concurrently. Errors are written to the struct that the caller passes, which may be NULL; there is no global state.
 */
#ifndef SKRIPT_MODEL_H
#define SKRIPT_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface, which skript_version() returns. */
#define SKRIPT_MODEL_VERSION 1
#define SKRIPT_MAX_RANK 16

/* Statuses that functions return. A positive status comes from the model's code: a run-time check failed. */
enum {
  SKRIPT_OK = 0,
  SKRIPT_ARGUMENT = -1,  /* an argument does not fit the model */
  SKRIPT_WEIGHTS = -2,   /* weights are missing, or do not fit the model */
  SKRIPT_MEMORY = -3,    /* there is not enough memory */
  SKRIPT_PROCESSOR = -4, /* the code is for another processor */
  SKRIPT_BUSY = -5       /* another thread is using the instance */
};

typedef enum skript_type {
  SKRIPT_BOOL, /* one byte, 0 or 1 */
  SKRIPT_I32,
  SKRIPT_I64,
  SKRIPT_F32,
  SKRIPT_F64,
  SKRIPT_F16,
  SKRIPT_BF16,
  SKRIPT_I8,
  SKRIPT_I16,
  SKRIPT_U8,
  SKRIPT_U16,
  SKRIPT_U32,
  SKRIPT_U64
} skript_type;

typedef enum skript_role { SKRIPT_INPUT, SKRIPT_VARIABLE, SKRIPT_OUTPUT } skript_role;

/* One tensor of the model's interface. Its pointers are valid as long as the shared object is loaded. */
typedef struct skript_port {
  const char *name; /* items of the pack `xs` are `xs:1`, `xs:2`, ... */
  skript_type type;
  uint32_t rank;
  const int64_t *bounds;  /* rank extents; upper bounds of dynamic extents */
  const uint8_t *dynamic; /* rank flags: 1 for a dynamic extent, which may differ in each call */
  uint64_t bytes;         /* of the largest tensor */
  const char *pack;       /* the pack that the tensor is an item of, or NULL */
  uint32_t position;      /* in the pack, from 0 */
  uint32_t length;        /* items of the pack */
} skript_port;

/* The caller's memory as a tensor: row-major, contiguous, aligned to its elements. Outputs must not overlap other tensors. */
typedef struct skript_tensor {
  skript_type type;
  uint32_t rank;
  int64_t extents[SKRIPT_MAX_RANK];
  void *data;
  uint64_t bytes; /* size of `data` */
} skript_tensor;

typedef struct skript_error {
  int32_t status;
  char text[2048]; /* the message, with the operator calls that lead to a failed check; ends in '\0' */
} skript_error;

typedef struct skript_instance skript_instance;

uint32_t skript_version(void);
/* The graph's name. */
const char *skript_graph(void);
/* Bytes of memory of an instance, without its variables. */
uint64_t skript_memory(void);

/* The number of tensors of a role. */
size_t skript_count(skript_role role);
/* NULL if the index is out of range. */
const skript_port *skript_port_at(skript_role role, size_t index);
/* The index of the tensor with this name; -1 if there is none. */
int64_t skript_find(skript_role role, const char *name);

/* A new instance, or NULL with the reason in `error`. `weights` is the folder of the variables' .dat files; if it is
 * NULL, each variable must be set before the first call, unless the model embeds its weights. Files in the element types of
 * the model are mapped until the instance is freed: do not write to them or truncate them. A call that reads beyond the end of
 * a truncated file terminates the process by SIGBUS. To replace weights in use, write new files and rename them to the old
 * names. */
skript_instance *skript_create(const char *weights, skript_error *error);
/* Sets a variable to a copy of the value. */
int32_t skript_write_variable(skript_instance *instance, size_t index, const skript_tensor *value, skript_error *error);
/* Copies a variable's current value to `value->data` and fills in type, rank and extents. */
int32_t skript_read_variable(skript_instance *instance, size_t index, skript_tensor *value, skript_error *error);
/* Computes the outputs. Each output's `data` holds at least `bytes` of its port; type, rank and extents are filled in.
 * Variables that the model updates change only if the call succeeds. */
int32_t skript_run(skript_instance *instance, const skript_tensor *inputs, size_t input_count, skript_tensor *outputs,
                   size_t output_count, skript_error *error);
/* Accepts NULL. No call of the instance may be in progress. */
void skript_free(skript_instance *instance);

/* A tensor with the maximum extents of a port, in the caller's memory. */
static inline skript_tensor skript_tensor_of(const skript_port *port, void *data) {
  skript_tensor tensor;
  tensor.type = port->type;
  tensor.rank = port->rank;
  for (uint32_t d = 0; d < SKRIPT_MAX_RANK; d++) tensor.extents[d] = d < port->rank ? port->bounds[d] : 0;
  tensor.data = data;
  tensor.bytes = port->bytes;
  return tensor;
}

#ifdef __cplusplus
}
#endif
#endif
