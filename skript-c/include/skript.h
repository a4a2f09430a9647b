// SPDX-License-Identifier: Apache-2.0
/* Models in SkriptND in a C program: compiled from text or loaded from .skm files, and run.
 *
 * Ownership. Handles are numbers, not pointers: zero is no handle, a handle that was freed or never given is an error and
 * never undefined. The caller frees models and instances, in any order: an instance keeps what it needs of its model.
 * The library copies all that it is given before a function returns, and keeps no pointer of the caller.
 *
 * Errors. A function that can fail returns a status; SKC_OK is 0, all others are negative. skc_last_error() describes the
 * last failure on the calling thread. A failed function changes nothing, but may have written to output tensors.
 *
 * Threads. All functions may be called from any thread. Models do not change after they were made. An instance computes one
 * call at a time: a second thread that calls it meanwhile gets SKC_BUSY. Different instances compute at the same time.
 *
 * Compiled code of one model without this library: skript compile MODEL -o model.so, whose skript_model.h has the same
 * types, with the same numbers, and no compiler. Names of both do not collide.
 */
#ifndef SKRIPT_C_H
#define SKRIPT_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface; what skc_version() returns. */
#define SKC_VERSION 3
#define SKC_MAX_RANK 16

/* Statuses. */
enum {
  SKC_OK = 0,
  SKC_ARGUMENT = -1,  /* an argument does not fit: a null pointer, a wrong name, number, type, shape or size */
  SKC_WEIGHTS = -2,   /* weights are missing, or do not fit */
  SKC_MEMORY = -3,    /* out of memory */
  SKC_PROCESSOR = -4, /* the code is for another processor, or the target is unknown */
  SKC_BUSY = -5,      /* another thread is using the instance */
  SKC_HANDLE = -6,    /* not a handle of this kind, or one that was freed */
  SKC_DOCUMENT = -7,  /* the text of the model has errors */
  SKC_COMPILE = -8,   /* the compiler does not support the model */
  SKC_FILE = -9,      /* a file cannot be read or written, or is not a compiled model */
  SKC_CHECK = -10,    /* a run-time check of the model failed */
  SKC_INTERNAL = -11, /* a defect of the library */
  SKC_DEVICE = -12    /* there is no such GPU, or it failed */
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

/* Code in this process with its own memory, and its own values of variables that the model updates. */
typedef struct skc_instance {
  uint64_t id;
} skc_instance;

/* An input, variable or output. */
typedef struct skc_port {
  const char *name; /* lives as long as the model; an item of the pack `xs` is `xs:1`, `xs:2`, ... */
  uint32_t type;    /* a skc_type */
  uint32_t rank;
  int64_t bounds[SKC_MAX_RANK];  /* extents, for dynamic ones upper bounds */
  uint8_t dynamic[SKC_MAX_RANK]; /* 1 where the extent may vary from call to call */
  uint64_t bytes;                /* of the largest tensor */
} skc_port;

/* A tensor in memory of the caller: row-major, without gaps. */
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
  const char *code; /* of the diagnostic, `SK0412`, or empty; `skript explain SK0412` describes it */
  const char *text; /* for people; for documents all diagnostics, with lines of the text and carets */
  const char *path; /* the location of the first diagnostic; empty if it has none */
  uint32_t line;    /* from 1; 0 if there is no location */
  uint32_t column;
  uint32_t end_line;
  uint32_t end_column;
} skc_error;

/* How to compile. All zeros stand for the defaults; set `size` to sizeof(skc_options). */
typedef struct skc_options {
  uint64_t size;
  const char *graph;    /* the graph to compile; NULL for the first one */
  const char *cpu;      /* a processor, such as x86-64-v3; NULL for this one */
  const char *features; /* changes of its features, `+avx512f,-fma`, or NULL */
  const char *real;     /* the type of real tensors: f16, bf16, f32, f64; NULL for f32, or that of an ONNX model */
  const char *integer;  /* the type of int tensors: i8, i16, i32, i64; NULL for i64 */
  const char *weights;  /* a folder or file of weights; NULL for those of the model */
  const char *bounds;   /* upper bounds of dynamic dimensions of an ONNX model, `batch=32,length=128`; NULL for 1024 */
  const char *shapes;   /* shapes of inputs with dynamic dimensions, `x=1,3,224,224;mask=1,128`, or NULL: the code is for them alone */
  const char *device;   /* a GPU: cuda, vulkan, cuda:1 for another one, auto for the first one; NULL for the processor */
  uint64_t threads;     /* the number of threads of a call; 0 for all CPUs of this process, or SKRIPT_NUM_THREADS */
} skc_options;

uint32_t skc_version(void);

/* The last failure on this thread, or NULL if there was none. */
const skc_error *skc_last_error(void);

/* Compiles a model folder, a packed folder, a .sknd file or an ONNX model. `options` may be NULL. */
int32_t skc_compile(const char *path, const skc_options *options, skc_model *model);
/* Compiles a text. `name` is its path in diagnostics; imports are looked for beside it. */
int32_t skc_compile_text(const char *name, const char *text, uint64_t length, const skc_options *options, skc_model *model);
/* Loads a .skm file, which contains native code: load only those that you would execute as a program. `weights` is a folder
 * or file of weights; NULL if the model has none or embeds them. A model that was compiled for a GPU runs on the first one that
 * runs its kernels. */
int32_t skc_load(const char *path, const char *weights, skc_model *model);
/* Writes a .skm file, with the weights if `embed` is not 0. */
int32_t skc_save(skc_model model, const char *path, int32_t embed);
/* Frees a model. A zero handle is fine. */
int32_t skc_free_model(skc_model model);

/* The number of inputs, variables or outputs. */
int32_t skc_count(skc_model model, skc_role role, uint64_t *count);
/* Describes one of them. */
int32_t skc_port_at(skc_model model, skc_role role, uint64_t index, skc_port *port);
/* The index of the one of this name. */
int32_t skc_find(skc_model model, skc_role role, const char *name, uint64_t *index);

/* Loads the code of a model into this process, and onto its GPU. */
int32_t skc_create(skc_model model, skc_instance *instance);
/* Computes the outputs from the inputs, both in the order of the model's ports. The caller sets `data` and `bytes` of each
 * output, at least `bytes` of its port for any call; type, rank and extents are filled in. Variables that the model updates
 * change if the call succeeds. A model on a GPU gets copies. */
int32_t skc_run(skc_instance instance, const skc_tensor *inputs, uint64_t input_count, skc_tensor *outputs,
                uint64_t output_count);
/* The same for a model on a GPU with CUDA, where `data` are addresses in memory of the GPU. Addresses that are multiples of 64 are
 * used as they are, others cost a copy. Outputs are complete when it returns; inputs must be, or be written in the stream of
 * skc_stream. A model that updates variables is an error. */
int32_t skc_run_on_device(skc_instance instance, const skc_tensor *inputs, uint64_t input_count, skc_tensor *outputs,
                          uint64_t output_count);
/* The CUstream that calls of an instance are in, as a number. */
int32_t skc_stream(skc_instance instance, uint64_t *stream);
/* Frees an instance; a call of it that is under way ends first. A zero handle is fine. */
int32_t skc_free_instance(skc_instance instance);

#ifdef __cplusplus
}
#endif
#endif
