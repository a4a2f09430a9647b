// SPDX-License-Identifier: Apache-2.0
/* A program without a C library for a Cortex-M4: start-up, one call of the model, its results by semihosting. */
#include "model.h"

typedef __SIZE_TYPE__ size_t;

/* The weights, read-only in flash, and the samples: data.s has them from files. */
extern const float samples[], kernel[], offset[], weights[], bias[];

static float likely[4];
_Alignas(SKRIPT_ARENA_ALIGNMENT) static uint8_t arena[SKRIPT_ARENA_BYTES + 1];
_Alignas(64) static uint8_t prepared[SKRIPT_PREPARED_BYTES + 1];
static struct skript_context context;

/* The functions of memory that the model's code calls, if any: compilers expect them of every program. */
void *memset(void *to, int value, size_t bytes) {
  volatile uint8_t *at = to;
  while (bytes--) *at++ = (uint8_t)value;
  return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  volatile uint8_t *at = to;
  const uint8_t *next = from;
  while (bytes--) *at++ = *next++;
  return to;
}

/* Operation 4 writes a text to the debugger's console, 0x18 ends the program. */
static void semihost(uint32_t operation, const void *argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void print_bits(float number) {
  uint32_t bits;
  char text[10];
  memcpy(&bits, &number, sizeof bits);
  for (int n = 0; n < 8; n++) text[n] = "0123456789abcdef"[bits >> (28 - 4 * n) & 15];
  text[8] = '\n';
  text[9] = 0;
  semihost(4, text);
}

void start(void) {
  extern uint32_t zeros_begin, zeros_end;
  for (uint32_t *word = &zeros_begin; word < &zeros_end; word++) *(volatile uint32_t *)word = 0;
  *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20; /* the unit for reals is on */
  __asm__ volatile("dsb\nisb");
  void *tensors[] = {(void *)samples, (void *)kernel, (void *)offset, (void *)weights, (void *)bias, likely, prepared};
#if SKRIPT_PREPARED_BYTES > 0
  skript_prepare(tensors);
#endif
  int32_t status = skript_entry(tensors, arena, &context);
  for (int n = 0; status == 0 && n < 4; n++) print_bits(likely[n]);
  semihost(0x18, (void *)0x20026);
  for (;;) {
  }
}

/* The first words of the memory: the stack's end and the start. */
extern uint32_t stack_end;
__attribute__((section(".vectors"), used)) static const void *const vectors[] = {&stack_end, (void *)start};
