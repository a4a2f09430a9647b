// SPDX-License-Identifier: Apache-2.0
/* Models in SkriptND in a C program: compiled from text or loaded from .skm files, and run.
 *
 * Ownership. Handles are numbers, not pointers. Zero, a freed handle and an invented handle are errors, never undefined
 * behavior. The caller frees models and instances, in any order: an instance keeps the parts of its model that it needs.
 * The library copies all arguments before a function returns, and keeps no pointers of the caller.
 *
 * Errors. A function that can fail returns a status; SKC_OK is 0, errors are negative. skc_last_error() describes the
 * last failure on the calling thread. A failed function changes nothing, but may have written to output tensors.
 *
 * Threads. All functions may be called from any thread. Models are immutable. An instance executes one call at a time: a
 * concurrent call from another thread returns SKC_BUSY. Different instances execute concurrently.
 *
 * To link the compiled code of one model without this library and its compiler, run skript compile MODEL -o model.so. This
 * also writes model.h, whose element types have the same numbers as skc_type. The names of both headers do not collide.
 */
#ifndef SKRIPT_C_H
#define SKRIPT_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface, which skc_version() returns. */
#define SKC_VERSION 3
#define SKC_MAX_RANK 16

/* Statuses. */
enum {
  SKC_OK = 0,
  SKC_ARGUMENT = -1,  /* an invalid argument: a null pointer, or a wrong name, number, type, shape or size */
  SKC_WEIGHTS = -2,   /* weights are missing, or have a wrong type or shape */
  SKC_MEMORY = -3,    /* out of memory */
  SKC_PROCESSOR = -4, /* the code is for another processor, or the target is unknown */
  SKC_BUSY = -5,      /* another thread is using the instance */
  SKC_HANDLE = -6,    /* not a handle of this kind, or a freed handle */
  SKC_DOCUMENT = -7,  /* the text of the model has errors */
  SKC_COMPILE = -8,   /* the compiler does not support the model */
  SKC_FILE = -9,      /* a file cannot be read or written, or is not a compiled model */
  SKC_CHECK = -10,    /* a run-time check of the model failed */
  SKC_INTERNAL = -11, /* a defect of the library */
  SKC_DEVICE = -12,   /* the GPU does not exist or failed */
  SKC_STOPPED = -13   /* another thread stopped the call */
};

/* Types of elements; a bool is one byte, 0 or 1. */
typedef enum skc_type {
  SKC_BOOL,
  SKC_I32,
  SKC_I64,
  SKC_F32,
  SKC_F64,
  SKC_F16,
  SKC_BF16,
  SKC_I8,
  SKC_I16,
  SKC_U8,
  SKC_U16,
  SKC_U32,
  SKC_U64
} skc_type;

typedef enum skc_role { SKC_INPUT, SKC_VARIABLE, SKC_OUTPUT } skc_role;

/* Compiled code with the weights of its variables. */
typedef struct skc_model {
  uint64_t id;
} skc_model;

/* Loaded code with separate memory and separate values of variables that the model updates. */
typedef struct skc_instance {
  uint64_t id;
} skc_instance;

/* An input, variable or output. */
typedef struct skc_port {
  const char *name; /* lives as long as the model; an item of the pack `xs` is `xs:1`, `xs:2`, ... */
  uint32_t type;    /* a skc_type */
  uint32_t rank;
  int64_t bounds[SKC_MAX_RANK];  /* static extents, and upper bounds of dynamic extents */
  uint8_t dynamic[SKC_MAX_RANK]; /* 1 for a dynamic extent, which may vary from call to call */
  uint64_t bytes;                /* of the largest tensor */
} skc_port;

/* A tensor in memory of the caller: row-major, contiguous. */
typedef struct skc_tensor {
  uint32_t type; /* a skc_type */
  uint32_t rank;
  int64_t extents[SKC_MAX_RANK];
  void *data; /* may be NULL if there are no elements */
  uint64_t bytes; /* the size of `data` */
} skc_tensor;

/* A failure. Strings are never NULL; they live until the next failure on the thread. */
typedef struct skc_error {
  int32_t status;
  const char *code; /* the code of the diagnostic, `SK0412`, or empty; `skript explain SK0412` describes it */
  const char *text; /* the message; for documents all diagnostics, with lines of the text and carets */
  const char *path; /* the location of the first diagnostic; empty if it has none */
  uint32_t line;    /* from 1; 0 if there is no location */
  uint32_t column;
  uint32_t end_line;
  uint32_t end_column;
} skc_error;

/* Options of a compilation. Zeros select the defaults; set `size` to sizeof(skc_options). */
typedef struct skc_options {
  uint64_t size;
  const char *graph;    /* the graph to compile; NULL for the first one */
  const char *cpu;      /* a processor, such as x86-64-v3; NULL for this one */
  const char *features; /* changes of its features, `+avx512f,-fma`, or NULL */
  const char *real;     /* the type of real tensors: f16, bf16, f32, f64; NULL for f32, or that of an ONNX model */
  const char *integer;  /* the type of int tensors: i8, i16, i32, i64; NULL for i64 */
  const char *weights;  /* a folder or file of weights; NULL for those of the model */
  const char *bounds;   /* upper bounds of dynamic dimensions of an ONNX model, `batch=32,length=128`; NULL for 1024 */
  const char *shapes;   /* shapes of inputs, `x=1,3,224,224;mask=1,128`, to which the code is specialized, or NULL */
  const char *device;   /* a GPU: cuda, vulkan, cuda:1 for the second one, auto for the first available one; NULL for the processor */
  uint64_t threads;     /* the number of threads of a call; 0 for all CPUs of this process, or SKRIPT_NUM_THREADS */
} skc_options;

uint32_t skc_version(void);

/* The last failure on this thread, or NULL if there was none. */
const skc_error *skc_last_error(void);

/* Compiles a model folder, a packed folder, a .sknd file or an ONNX model. `options` may be NULL. */
int32_t skc_compile(const char *path, const skc_options *options, skc_model *model);
/* Compiles a text. `name` is its path in diagnostics; imports are resolved in its folder. */
int32_t skc_compile_text(const char *name, const char *text, uint64_t length, const skc_options *options, skc_model *model);
/* Loads a .skm file, which contains native code: load only files that you would execute as a program. `weights` is a folder
 * or file of weights; NULL if the model has none or embeds them. A model that was compiled for a GPU is loaded onto the first GPU
 * that supports its kernels. */
int32_t skc_load(const char *path, const char *weights, skc_model *model);
/* Writes a .skm file, with the weights if `embed` is not 0. */
int32_t skc_save(skc_model model, const char *path, int32_t embed);
/* Frees a model. A zero handle is ignored. */
int32_t skc_free_model(skc_model model);

/* The number of inputs, variables or outputs. */
int32_t skc_count(skc_model model, skc_role role, uint64_t *count);
/* Describes an input, variable or output. */
int32_t skc_port_at(skc_model model, skc_role role, uint64_t index, skc_port *port);
/* The index of the input, variable or output with this name. */
int32_t skc_find(skc_model model, skc_role role, const char *name, uint64_t *index);

/* Loads the code of a model into this process, and onto its GPU. */
int32_t skc_create(skc_model model, skc_instance *instance);
/* Computes the outputs from the inputs, both in the order of the model's ports. The caller sets `data` and `bytes` of each
 * output; `bytes` of its port suffices for any call. The function sets type, rank and extents. Variables are updated if the call
 * succeeds. For a model on a GPU, the tensors are copied. */
int32_t skc_run(skc_instance instance, const skc_tensor *inputs, uint64_t input_count, skc_tensor *outputs,
                uint64_t output_count);
/* As skc_run for a model on a CUDA GPU, with `data` as addresses in GPU memory. Tensors at multiples of 64 bytes are used in place,
 * other tensors are copied. Outputs are complete on return; inputs must be complete before the call, or be written in the stream of
 * skc_stream. A model that updates variables is an error. */
int32_t skc_run_on_device(skc_instance instance, const skc_tensor *inputs, uint64_t input_count, skc_tensor *outputs,
                          uint64_t output_count);
/* The CUstream of the calls of an instance, as a number. */
int32_t skc_stream(skc_instance instance, uint64_t *stream);
/* Stops the call in progress from another thread, and later calls until `stop` is 0: they return SKC_STOPPED. A call in progress
 * checks for it in loops that only a condition ends, and finishes other code. */
int32_t skc_stop(skc_instance instance, int32_t stop);
/* Frees an instance after a call in progress has ended. A zero handle is ignored. */
int32_t skc_free_instance(skc_instance instance);

#ifdef __cplusplus
}
#endif
#endif
