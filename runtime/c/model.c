// SPDX-License-Identifier: Apache-2.0
/* Instances of a compiled model: memory, variables and calls. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tables.h"

struct skript_instance {
  atomic_flag busy;
  void *arena_mapping;
  size_t arena_bytes;
  uint8_t *arena;
  struct skript_value *variables;
  /* Memory for the next values of updated variables; swapped with the current values after a call. */
  struct skript_value *next;
  /* The prepared variables; NULL before the first call. */
  void *prepared;
  void **pointers;
  int64_t (*extents)[SKRIPT_MAX_RANK];
};

#define T skript_tables

static const char *const role_names[] = {"input", "variable", "output"};

uint32_t skript_version(void) { return SKRIPT_MODEL_VERSION; }

const char *skript_graph(void) { return T.graph; }

uint64_t skript_memory(void) { return T.arena_bytes + (T.embedded ? 0 : T.prepared_bytes); }

size_t skript_count(skript_role role) { return (unsigned)role < 3 ? T.counts[role] : 0; }

const skript_port *skript_port_at(skript_role role, size_t index) {
  return index < skript_count(role) ? &T.ports[role][index] : NULL;
}

int64_t skript_find(skript_role role, const char *name) {
  for (size_t n = 0; name && n < skript_count(role); n++)
    if (strcmp(T.ports[role][n].name, name) == 0) return (int64_t)n;
  return -1;
}

static size_t port_count(void) { return T.counts[0] + T.counts[1] + T.counts[2] + T.update_count; }

static int is_dynamic(const skript_port *port) {
  for (uint32_t d = 0; d < port->rank; d++)
    if (port->dynamic[d]) return 1;
  return 0;
}

static int32_t start(skript_instance *instance, skript_error *error) {
  if (!instance) return skript_fail(error, SKRIPT_ARGUMENT, "there is no instance: NULL was given");
  if (atomic_flag_test_and_set_explicit(&instance->busy, memory_order_acquire))
    return skript_fail(error, SKRIPT_BUSY, "another thread is using the instance: use one instance per thread");
  return SKRIPT_OK;
}

static int32_t end(skript_instance *instance, int32_t status) {
  atomic_flag_clear_explicit(&instance->busy, memory_order_release);
  return status;
}

/* Writes extents as `[2, at most 5]`; `dynamic` is NULL for the extents of a tensor. */
static void write_extents(char *text, size_t size, const int64_t *extents, const uint8_t *dynamic, uint32_t rank) {
  size_t used = (size_t)snprintf(text, size, "[");
  for (uint32_t d = 0; d < rank && used < size; d++) {
    const char *prefix = dynamic && dynamic[d] ? "at most " : "";
    used += (size_t)snprintf(text + used, size - used, "%s%s%" PRId64, d ? ", " : "", prefix, extents[d]);
  }
  if (used < size) snprintf(text + used, size - used, "]");
}

/* Checks whether an input or a variable fits its port. */
static int32_t accept(skript_role role, const skript_port *port, const skript_tensor *tensor, skript_error *error) {
  const char *what = role_names[role];
  if (tensor->type != port->type)
    return skript_fail(error, SKRIPT_ARGUMENT, "%s `%s` is %s, the model expects %s", what, port->name,
                       skript_type_name(tensor->type), skript_type_name(port->type));
  int fits = tensor->rank == port->rank;
  uint64_t volume = 1;
  for (uint32_t d = 0; fits && d < port->rank; d++) {
    int64_t n = tensor->extents[d];
    fits = port->dynamic[d] ? n >= 0 && n <= port->bounds[d] : n == port->bounds[d];
    /* Does not overflow: the product of the upper bounds is less than 2^40. */
    volume *= (uint64_t)n;
  }
  if (!fits) {
    char found[512], wanted[512];
    uint32_t rank = tensor->rank < SKRIPT_MAX_RANK ? tensor->rank : SKRIPT_MAX_RANK;
    write_extents(found, sizeof found, tensor->extents, NULL, rank);
    write_extents(wanted, sizeof wanted, port->bounds, port->dynamic, port->rank);
    return skript_fail(error, SKRIPT_ARGUMENT, "%s `%s` has shape %s, the model expects %s", what, port->name, found,
                       wanted);
  }
  uint64_t bytes = volume * skript_size(port->type);
  if (tensor->bytes < bytes || (bytes && !tensor->data))
    return skript_fail(error, SKRIPT_ARGUMENT, "%s `%s` has %" PRIu64 " bytes at %p, it needs %" PRIu64, what,
                       port->name, tensor->bytes, tensor->data, bytes);
  if ((uintptr_t)tensor->data % skript_size(port->type))
    return skript_fail(error, SKRIPT_ARGUMENT, "the memory of %s `%s` is not aligned to its elements of %zu bytes",
                       what, port->name, skript_size(port->type));
  return SKRIPT_OK;
}

/* Checks whether the caller's memory holds the largest tensor of a port. */
static int32_t accept_memory(const char *what, const skript_port *port, const skript_tensor *tensor,
                           skript_error *error) {
  if (tensor->bytes < port->bytes || (port->bytes && !tensor->data))
    return skript_fail(error, SKRIPT_ARGUMENT, "%s `%s` has %" PRIu64 " bytes of memory at %p, it needs %" PRIu64, what,
                       port->name, tensor->bytes, tensor->data, port->bytes);
  if ((uintptr_t)tensor->data % skript_size(port->type))
    return skript_fail(error, SKRIPT_ARGUMENT, "the memory of %s `%s` is not aligned to its elements of %zu bytes",
                       what, port->name, skript_size(port->type));
  return SKRIPT_OK;
}

/* The address of arrays without elements. */
static int64_t nothing[8];
static void *place(void *data) { return data ? data : nothing; }

static int32_t map_arena(skript_instance *instance, skript_error *error) {
  if (T.arena_bytes == 0) {
    instance->arena = (uint8_t *)(uintptr_t)T.arena_alignment;
    return SKRIPT_OK;
  }
  /* The alignment that the code requires, or 2 MiB if it is less, which permits huge pages. */
  size_t alignment = T.arena_alignment > (2u << 20) ? (size_t)T.arena_alignment : (size_t)2 << 20;
  size_t bytes = (size_t)T.arena_bytes + alignment;
  void *mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return skript_fail(error, SKRIPT_MEMORY, "no memory for an arena of %" PRIu64 " bytes", T.arena_bytes);
#ifdef MADV_HUGEPAGE
  (void)madvise(mapping, bytes, MADV_HUGEPAGE);
#endif
  instance->arena_mapping = mapping;
  instance->arena_bytes = bytes;
  instance->arena = (uint8_t *)(((uintptr_t)mapping + alignment - 1) / alignment * alignment);
  return SKRIPT_OK;
}

/* Sets the variables to the embedded weights. Variables that only `prepare` reads are not embedded. */
static int32_t use_embedded(skript_instance *instance, const char *weights, skript_error *error) {
  if (weights)
    return skript_fail(error, SKRIPT_WEIGHTS, "the model embeds its weights: give skript_create NULL in place of %s",
                       weights);
  for (size_t n = 0; n < T.counts[SKRIPT_VARIABLE]; n++) {
    struct skript_value *value = &instance->variables[n];
    value->data = T.offsets[n] < 0 ? (void *)nothing : (void *)(uintptr_t)(T.embedded + T.offsets[n]);
    value->mapping = value->data;
  }
  instance->prepared = (void *)(uintptr_t)T.embedded;
  return SKRIPT_OK;
}

static int is_updated(size_t variable) {
  for (size_t n = 0; n < T.update_count; n++)
    if (T.updates[n].variable == variable) return 1;
  return 0;
}

static void forget_prepared(skript_instance *instance) {
  if (T.embedded) return;
  free(instance->prepared);
  instance->prepared = NULL;
}

static int32_t fill(skript_instance *instance, const char *weights, skript_error *error) {
  int32_t status = map_arena(instance, error);
  if (status == SKRIPT_OK && T.embedded) {
    status = use_embedded(instance, weights, error);
    weights = NULL;
  }
  for (size_t n = 0; status == SKRIPT_OK && weights && n < T.counts[SKRIPT_VARIABLE]; n++)
    status = skript_load(weights, n, &instance->variables[n], error);
  for (size_t n = 0; status == SKRIPT_OK && n < T.update_count; n++) {
    instance->next[n].data = skript_allocate(T.updates[n].port.bytes);
    if (!instance->next[n].data)
      status = skript_fail(error, SKRIPT_MEMORY, "no memory for the next value of variable `%s`",
                           T.updates[n].port.name);
  }
  return status;
}

skript_instance *skript_create(const char *weights, skript_error *error) {
  const char *lacking = skript_lacking(T.features);
  if (lacking) {
    skript_fail(error, SKRIPT_PROCESSOR, "compiled for a processor with %s, which this processor lacks", lacking);
    return NULL;
  }
  skript_instance *instance = calloc(1, sizeof *instance);
  if (instance) {
    atomic_flag_clear(&instance->busy);
    instance->variables = calloc(T.counts[SKRIPT_VARIABLE] + 1, sizeof *instance->variables);
    instance->next = calloc(T.update_count + 1, sizeof *instance->next);
    instance->pointers = calloc(2 * port_count() + 2, sizeof *instance->pointers);
    instance->extents = calloc(port_count() + 1, sizeof *instance->extents);
  }
  if (!instance || !instance->variables || !instance->next || !instance->pointers || !instance->extents) {
    skript_fail(error, SKRIPT_MEMORY, "no memory for an instance");
  } else if (fill(instance, weights, error) == SKRIPT_OK) {
    return instance;
  }
  skript_free(instance);
  return NULL;
}

void skript_free(skript_instance *instance) {
  if (!instance) return;
  for (size_t n = 0; instance->variables && n < T.counts[SKRIPT_VARIABLE]; n++)
    skript_release(&instance->variables[n]);
  for (size_t n = 0; instance->next && n < T.update_count; n++) skript_release(&instance->next[n]);
  if (instance->arena_mapping) munmap(instance->arena_mapping, instance->arena_bytes);
  forget_prepared(instance);
  free(instance->variables);
  free(instance->next);
  free(instance->pointers);
  free(instance->extents);
  free(instance);
}

int32_t skript_write_variable(skript_instance *instance, size_t index, const skript_tensor *value,
                              skript_error *error) {
  const skript_port *port = skript_port_at(SKRIPT_VARIABLE, index);
  if (!port || !value)
    return skript_fail(error, SKRIPT_ARGUMENT, "the model has no variable %zu, or no value is given", index);
  if (T.embedded && !is_updated(index))
    return skript_fail(error, SKRIPT_ARGUMENT, "the model embeds its weights, so variable `%s` keeps its value",
                       port->name);
  int32_t status = accept(SKRIPT_VARIABLE, port, value, error);
  if (status != SKRIPT_OK) return status;
  status = start(instance, error);
  if (status != SKRIPT_OK) return status;
  struct skript_value copy = {skript_allocate(port->bytes), NULL, 0};
  if (!copy.data) return end(instance, skript_fail(error, SKRIPT_MEMORY, "no memory for variable `%s`", port->name));
  if (port->bytes) memcpy(copy.data, value->data, (size_t)port->bytes);
  skript_release(&instance->variables[index]);
  instance->variables[index] = copy;
  forget_prepared(instance);
  return end(instance, SKRIPT_OK);
}

int32_t skript_read_variable(skript_instance *instance, size_t index, skript_tensor *value, skript_error *error) {
  const skript_port *port = skript_port_at(SKRIPT_VARIABLE, index);
  if (!port || !value)
    return skript_fail(error, SKRIPT_ARGUMENT, "the model has no variable %zu, or no tensor is given", index);
  if (T.embedded && T.offsets[index] < 0)
    return skript_fail(error, SKRIPT_WEIGHTS, "variable `%s` has no value: the model embeds only values computed from it",
                       port->name);
  int32_t status = accept_memory(role_names[SKRIPT_VARIABLE], port, value, error);
  if (status != SKRIPT_OK) return status;
  status = start(instance, error);
  if (status != SKRIPT_OK) return status;
  if (!instance->variables[index].data)
    return end(instance, skript_fail(error, SKRIPT_WEIGHTS, "variable `%s` has no value yet", port->name));
  if (port->bytes) memcpy(value->data, instance->variables[index].data, (size_t)port->bytes);
  void *data = value->data;
  uint64_t bytes = value->bytes;
  *value = skript_tensor_of(port, data);
  value->bytes = bytes;
  return end(instance, SKRIPT_OK);
}

/* Formats a value of the context for `{0}`, `{1:real}` or `{2:bool}` in a message. A real has a point or an exponent. */
static void write_value(char *text, size_t size, const char *kind, int64_t value) {
  if (strncmp(kind, ":bool}", 6) == 0) {
    snprintf(text, size, "%s", value ? "true" : "false");
  } else if (strncmp(kind, ":real}", 6) == 0) {
    double real;
    memcpy(&real, &value, sizeof real);
    for (int digits = 1; digits <= 17; digits++) {
      snprintf(text, size, "%.*g", digits, real);
      if (strtod(text, NULL) == real) break;
    }
    size_t length = strlen(text);
    if (!strpbrk(text, ".einf") && length + 2 < size) memcpy(text + length, ".0", 3);
  } else {
    snprintf(text, size, "%" PRId64, value);
  }
}

/* Appends a piece to the text, truncated to the size of its buffer. */
static void append(char *text, size_t size, size_t *used, const char *piece, size_t length) {
  if (length > size - 1 - *used) length = size - 1 - *used;
  memcpy(text + *used, piece, length);
  *used += length;
}

/* Writes the message of a check, in the format of `skript_check`. */
static size_t write_message(char *text, size_t size, const char *message, const struct skript_context *context) {
  size_t used = 0;
  /* Number of choices around the current character, and number of these, from the outermost, that select its branch. */
  int depth = 0, selected = 0;
  for (const char *c = message; *c;) {
    if (c[0] != '{' || c[1] == '{') {
      if (depth == selected) append(text, size, &used, c, 1);
      c += c[0] == '{' ? 2 : 1;
      continue;
    }
    const char *close = strchr(c, '}');
    if (!close) break;
    char *kind;
    unsigned long place = strtoul(c + 1, &kind, 10);
    int64_t value = place < sizeof context->values / sizeof *context->values ? context->values[place] : 0;
    if (c[1] == '|') {
      if (selected == depth) {
        selected--;
      } else if (selected == depth - 1) {
        selected++;
      }
    } else if (c[1] == '/') {
      depth--;
      if (selected > depth) selected = depth;
    } else if (*kind == '?') {
      if (selected == depth++ && value) selected++;
    } else if (depth == selected && strncmp(c, "{text}", 6) == 0) {
      append(text, size, &used, context->message, strnlen(context->message, sizeof context->message));
    } else if (depth == selected) {
      char written[64];
      write_value(written, sizeof written, kind, value);
      append(text, size, &used, written, strlen(written));
    }
    c = close + 1;
  }
  return used;
}

static int32_t failed_check(int32_t status, const struct skript_context *context, skript_error *error) {
  if (status < 1 || (size_t)status > T.check_count)
    return skript_fail(error, status > 0 ? status : SKRIPT_ARGUMENT,
                       "the model's code returned status %" PRId32 ", which is not in its table of checks",
                       status);
  if (!error) return status;
  const struct skript_check *check = &T.checks[status - 1];
  char text[sizeof error->text];
  size_t used = write_message(text, sizeof text, check->message, context);
  for (const char *const *line = check->trace; *line && used + 1 < sizeof text; line++) {
    int length = snprintf(text + used, sizeof text - used, "\n  in %s", *line);
    used = used + (size_t)length < sizeof text ? used + (size_t)length : sizeof text - 1;
  }
  text[used] = '\0';
  return skript_fail(error, status, "%s: %s", check->code, text);
}

/* Computes the values that depend on variables alone, unless they are prepared. Their pointer follows all other pointers. */
static int32_t prepare(skript_instance *instance, size_t position, skript_error *error) {
  if (!T.prepare) return SKRIPT_OK;
  void *prepared = instance->prepared ? instance->prepared : skript_allocate(T.prepared_bytes);
  if (!prepared)
    return skript_fail(error, SKRIPT_MEMORY, "no memory for %" PRIu64 " bytes of prepared variables", T.prepared_bytes);
  instance->pointers[position] = prepared;
  if (!instance->prepared) T.prepare(instance->pointers);
  instance->prepared = prepared;
  return SKRIPT_OK;
}

/* Collects the pointers of a call: tensors, the extents of dynamic tensors, prepared variables. */
static int32_t arrange(skript_instance *instance, const skript_tensor *inputs, skript_tensor *outputs,
                       skript_error *error) {
  size_t n = 0, all = port_count();
  const skript_port *port;
  int64_t(*extents)[SKRIPT_MAX_RANK] = instance->extents;
  for (size_t i = 0; (port = skript_port_at(SKRIPT_INPUT, i)); i++, n++) {
    int32_t status = accept(SKRIPT_INPUT, port, &inputs[i], error);
    if (status != SKRIPT_OK) return status;
    instance->pointers[n] = place(inputs[i].data);
    memcpy(extents[n], inputs[i].extents, port->rank * sizeof(int64_t));
  }
  for (size_t i = 0; (port = skript_port_at(SKRIPT_VARIABLE, i)); i++, n++) {
    if (!instance->variables[i].data)
      return skript_fail(error, SKRIPT_WEIGHTS, "variable `%s` has no value: give skript_create a folder of weights, "
                         "or set it with skript_write_variable", port->name);
    instance->pointers[n] = instance->variables[i].data;
    memcpy(extents[n], port->bounds, port->rank * sizeof(int64_t));
  }
  for (size_t i = 0; (port = skript_port_at(SKRIPT_OUTPUT, i)); i++, n++) {
    int32_t status = accept_memory(role_names[SKRIPT_OUTPUT], port, &outputs[i], error);
    if (status != SKRIPT_OK) return status;
    instance->pointers[n] = place(outputs[i].data);
    memcpy(extents[n], port->bounds, port->rank * sizeof(int64_t));
  }
  for (size_t i = 0; i < T.update_count; i++, n++) {
    instance->pointers[n] = instance->next[i].data;
    memcpy(extents[n], T.updates[i].port.bounds, T.updates[i].port.rank * sizeof(int64_t));
  }
  size_t next = all;
  n = 0;
  for (int role = 0; role < 3; role++)
    for (size_t i = 0; i < T.counts[role]; i++, n++)
      if (is_dynamic(&T.ports[role][i])) instance->pointers[next++] = extents[n];
  for (size_t i = 0; i < T.update_count; i++, n++)
    if (is_dynamic(&T.updates[i].port)) instance->pointers[next++] = extents[n];
  return prepare(instance, next, error);
}

static void deliver(skript_instance *instance, skript_tensor *outputs) {
  size_t first = T.counts[SKRIPT_INPUT] + T.counts[SKRIPT_VARIABLE];
  for (size_t i = 0; i < T.counts[SKRIPT_OUTPUT]; i++) {
    const skript_port *port = &T.ports[SKRIPT_OUTPUT][i];
    outputs[i].type = port->type;
    outputs[i].rank = port->rank;
    for (uint32_t d = 0; d < port->rank; d++) {
      int64_t actual = port->dynamic[d] ? instance->extents[first + i][d] : port->bounds[d];
      outputs[i].extents[d] = actual < 0 ? 0 : actual > port->bounds[d] ? port->bounds[d] : actual;
    }
  }
  for (size_t i = 0; i < T.update_count; i++) {
    struct skript_value *variable = &instance->variables[T.updates[i].variable];
    struct skript_value old = *variable;
    *variable = instance->next[i];
    /* If the old value is a mapped file, `own_next` replaces it before the next call. */
    instance->next[i] = old;
  }
}

/* Allocates memory for the next value of each updated variable where `next` is a mapped file, which is not written to. */
static int32_t own_next(skript_instance *instance, skript_error *error) {
  for (size_t i = 0; i < T.update_count; i++) {
    struct skript_value *next = &instance->next[i];
    if (next->data && !next->mapping) continue;
    void *data = skript_allocate(T.updates[i].port.bytes);
    if (!data)
      return skript_fail(error, SKRIPT_MEMORY, "no memory for the next value of variable `%s`",
                         T.updates[i].port.name);
    skript_release(next);
    next->data = data;
  }
  return SKRIPT_OK;
}

int32_t skript_run(skript_instance *instance, const skript_tensor *inputs, size_t input_count, skript_tensor *outputs,
                   size_t output_count, skript_error *error) {
  if (input_count != T.counts[SKRIPT_INPUT] || output_count != T.counts[SKRIPT_OUTPUT])
    return skript_fail(error, SKRIPT_ARGUMENT, "%zu inputs and %zu outputs given, the model has %zu and %zu",
                       input_count, output_count, T.counts[SKRIPT_INPUT], T.counts[SKRIPT_OUTPUT]);
  if ((input_count && !inputs) || (output_count && !outputs))
    return skript_fail(error, SKRIPT_ARGUMENT, "no tensors are given: NULL");
  int32_t status = start(instance, error);
  if (status != SKRIPT_OK) return status;
  status = own_next(instance, error);
  if (status == SKRIPT_OK) status = arrange(instance, inputs, outputs, error);
  if (status != SKRIPT_OK) return end(instance, status);
  struct skript_context context = {{0}, 0, 0, ""};
  status = skript_entry(instance->pointers, instance->arena, &context);
  if (status != 0) return end(instance, failed_check(status, &context, error));
  deliver(instance, outputs);
  if (error) {
    error->status = SKRIPT_OK;
    error->text[0] = '\0';
  }
  return end(instance, SKRIPT_OK);
}
