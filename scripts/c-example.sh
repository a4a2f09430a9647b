#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles examples/c to a shared object and calls it from C; then calls it with every kind of error.
set -eu
cd "$(dirname "$0")/.."
out=$PWD/out/c
rm -rf "$out" && mkdir -p "$out/weights"
target/release/skript compile examples/c -o "$out/follow.so"
.venv/bin/python test/tools/write_dat.py "$out/weights/main.Follow.center.dat" --shape 2
.venv/bin/python test/tools/write_dat.py "$out/weights/main.Follow.calls.dat" --shape "" --item-type 4 --bits 32
cc -std=gnu11 -Wall -Wextra -Werror -O1 -include "$out/follow.h" examples/c/main.c -lpthread -lm -ldl -o "$out/follow"
said=$("$out/follow" "$out/follow.so" "$out/weights")
wanted='graph Follow
input points, f32: at most 4 2
variable main.Follow.center, f32: 2
variable main.Follow.calls, i64:
output distance, f32: at most 4
2 calls, the center is at'
if [ "${said:0:${#wanted}}" != "$wanted" ]; then
  printf 'not what was wanted:\n%s\n' "$said" >&2
  exit 1
fi
for line in '^0 points: SK9203: there must be a point to follow, not.*0' '^  in examples/c/main.sknd:17:9-17:14: main.follow$' \
  '^5 points: input `points` has shape \[5, 2\], the model expects \[at most 4, 2\]$' \
  '^no weights for variable `main.Follow.center`: there is no /nowhere/main.Follow.center.dat$'; do
  if ! grep -q "$line" <<<"$said"; then
    printf 'no line `%s` in\n%s\n' "$line" "$said" >&2
    exit 1
  fi
done
.venv/bin/python test/c/weights.py --skript target/release/skript
# Compilation is deterministic: the bytes are equal.
target/release/skript compile examples/c -o "$out/again.so"
cmp "$out/follow.so" "$out/again.so"
echo "C: a shared object is loaded, queried, run, and reports errors in two threads"
