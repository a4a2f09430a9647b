// SPDX-License-Identifier: Apache-2.0
/* Loads a compiled model, asks what it is, runs it, and compares with what C computes.
 *
 *   skript compile examples/c -o follow.so        writes follow.so and follow.h
 *   cc -include follow.h examples/c/main.c -lpthread -o follow
 *   ./follow ./follow.so WEIGHTS                  a folder with main.Follow.center.dat and main.Follow.calls.dat
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions of one model: each shared object has its own. */
static struct {
  __typeof__(&skript_version) version;
  __typeof__(&skript_graph) graph;
  __typeof__(&skript_count) count;
  __typeof__(&skript_port_at) port_at;
  __typeof__(&skript_find) find;
  __typeof__(&skript_create) create;
  __typeof__(&skript_write_variable) write_variable;
  __typeof__(&skript_read_variable) read_variable;
  __typeof__(&skript_run) run;
  __typeof__(&skript_free) free;
} model;

static void stop(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void load(const char *path) {
  void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!object) stop("dlopen", dlerror());
  const struct {
    const char *name;
    void *place;
  } functions[] = {
      {"skript_version", &model.version},
      {"skript_graph", &model.graph},
      {"skript_count", &model.count},
      {"skript_port_at", &model.port_at},
      {"skript_find", &model.find},
      {"skript_create", &model.create},
      {"skript_write_variable", &model.write_variable},
      {"skript_read_variable", &model.read_variable},
      {"skript_run", &model.run},
      {"skript_free", &model.free},
  };
  for (size_t n = 0; n < sizeof functions / sizeof *functions; n++) {
    void *function = dlsym(object, functions[n].name);
    if (!function) stop("dlsym", dlerror());
    memcpy(functions[n].place, &function, sizeof function);
  }
  if (model.version() != SKRIPT_MODEL_VERSION) stop(path, "made for another version of the header");
}

static void describe(void) {
  static const char *const roles[] = {"input", "variable", "output"};
  printf("graph %s\n", model.graph());
  for (int role = SKRIPT_INPUT; role <= SKRIPT_OUTPUT; role++)
    for (size_t n = 0; n < model.count((skript_role)role); n++) {
      const skript_port *port = model.port_at((skript_role)role, n);
      printf("%s %s, %s:", roles[role], port->name, port->type == SKRIPT_F32 ? "f32" : "i64");
      for (uint32_t d = 0; d < port->rank; d++)
        printf(" %s%lld", port->dynamic[d] ? "at most " : "", (long long)port->bounds[d]);
      printf("\n");
    }
}

/* One call on `count` points; the squared distances. */
static int32_t call(skript_instance *instance, const float *points, int64_t count, float *distances, int64_t *found,
                    skript_error *error) {
  skript_tensor input = skript_tensor_of(model.port_at(SKRIPT_INPUT, 0), (void *)points);
  skript_tensor output = skript_tensor_of(model.port_at(SKRIPT_OUTPUT, 0), distances);
  input.extents[0] = count;
  int32_t status = model.run(instance, &input, 1, &output, 1, error);
  *found = status == SKRIPT_OK ? output.extents[0] : -1;
  return status;
}

static void expect(double wanted, double found, const char *what) {
  if (fabs(wanted - found) <= 1e-6 * (1 + fabs(wanted))) return;
  fprintf(stderr, "%s is %g instead of %g\n", what, found, wanted);
  exit(1);
}

/* Two calls with state: the second sees the center that the first left behind. */
static void follow(const char *weights) {
  skript_error error;
  skript_instance *instance = model.create(weights, &error);
  if (!instance) stop("create", error.text);
  float center[2];
  int64_t calls = 0;
  size_t center_index = (size_t)model.find(SKRIPT_VARIABLE, "main.Follow.center");
  size_t calls_index = (size_t)model.find(SKRIPT_VARIABLE, "main.Follow.calls");
  skript_tensor center_value = skript_tensor_of(model.port_at(SKRIPT_VARIABLE, center_index), center);
  skript_tensor calls_value = skript_tensor_of(model.port_at(SKRIPT_VARIABLE, calls_index), &calls);
  if (model.read_variable(instance, center_index, &center_value, &error)) stop("read", error.text);

  static const float points[][2] = {{1, 2}, {3, -4}, {0.5, 0.25}, {-7, 9}};
  double x = center[0], y = center[1];
  for (int64_t count = 4; count >= 3; count--) {
    float distances[4];
    int64_t found;
    if (call(instance, points[0], count, distances, &found, &error)) stop("run", error.text);
    expect((double)count, (double)found, "the number of distances");
    double sum_x = 0, sum_y = 0;
    for (int64_t n = 0; n < count; n++) {
      double to_x = points[n][0] - x, to_y = points[n][1] - y;
      expect(to_x * to_x + to_y * to_y, distances[n], "a distance");
      sum_x += points[n][0];
      sum_y += points[n][1];
    }
    x = x / 2 + sum_x / (double)count / 2;
    y = y / 2 + sum_y / (double)count / 2;
    if (model.read_variable(instance, center_index, &center_value, &error)) stop("read", error.text);
    expect(x, center[0], "the center's x");
    expect(y, center[1], "the center's y");
  }
  if (model.read_variable(instance, calls_index, &calls_value, &error)) stop("read", error.text);
  printf("%lld calls, the center is at %g %g\n", (long long)calls, center[0], center[1]);

  /* A call that fails changes nothing; a value may be set by hand. */
  float distances[4];
  int64_t found;
  if (call(instance, points[0], 0, distances, &found, &error) <= 0) stop("run", "no points were accepted");
  if (model.read_variable(instance, center_index, &center_value, &error)) stop("read", error.text);
  expect(x, center[0], "the center's x after a failure");
  center[0] = center[1] = 0;
  if (model.write_variable(instance, center_index, &center_value, &error)) stop("write", error.text);
  if (call(instance, points[0], 1, distances, &found, &error)) stop("run", error.text);
  expect(5, distances[0], "the distance from a center that was set");
  model.free(instance);
}

struct worker {
  const char *weights;
  int64_t count; /* of points, which the model refuses */
  char text[2048];
};

/* The same mistake many times: each time the error of this thread, not of the other. */
static void *mistaken(void *argument) {
  struct worker *worker = argument;
  skript_error error;
  skript_instance *instance = model.create(worker->weights, &error);
  if (!instance) stop("create", error.text);
  float points[5][2] = {{0}}, distances[4];
  int64_t found;
  for (int n = 0; n < 10000; n++) {
    int32_t status = call(instance, points[0], worker->count, distances, &found, &error);
    if (status == SKRIPT_OK || status != error.status) stop("thread", "the mistake was not noticed");
    if (n && strcmp(worker->text, error.text) != 0) stop("thread", "the error of another call");
    memcpy(worker->text, error.text, sizeof error.text);
    if (call(instance, points[0], 2, distances, &found, &error)) stop("thread", error.text);
  }
  model.free(instance);
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 3) stop("usage", "follow FOLLOW.so WEIGHTS");
  load(arguments[1]);
  describe();
  follow(arguments[2]);

  struct worker workers[2] = {{arguments[2], 0, ""}, {arguments[2], 5, ""}};
  pthread_t threads[2];
  for (int n = 0; n < 2; n++)
    if (pthread_create(&threads[n], NULL, mistaken, &workers[n])) stop("thread", "none could be started");
  for (int n = 0; n < 2; n++) pthread_join(threads[n], NULL);
  for (int n = 0; n < 2; n++) printf("%lld points: %s\n", (long long)workers[n].count, workers[n].text);

  skript_error error;
  if (model.create("/nowhere", &error)) stop("create", "weights that are not there were found");
  printf("%s\n", error.text);
  return 0;
}
