#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds examples/c-api against libskript-c.so as C and as C++ and runs it; then runs random calls of the interface with the
# address sanitizer.
set -eu
cd "$(dirname "$0")/.."
out=$PWD/out/c-api
rm -rf "$out" && mkdir -p "$out"
skript-c/install.sh "$out"
flags=(-Wall -Wextra -Werror -O1 -I "$out/include")
link=(-L "$out/lib" -lskript-c -lpthread "-Wl,-rpath,$out/lib")
cc -std=gnu11 "${flags[@]}" examples/c-api/main.c "${link[@]}" -o "$out/example"
c++ -std=c++17 "${flags[@]}" -x c++ examples/c-api/main.c -x none "${link[@]}" -o "$out/example-cpp"
for program in example example-cpp; do
  said=$("$out/$program")
  for line in '^SK1601 at wrong.sknd:2:22$' 'error\[SK1601\]: `;` is missing here' '^input x: rank 1, at most 8 elements, 32 bytes$' \
    '^output y: rank 1, at most 8 elements, 32 bytes$' '^input `x` has shape \[9\]' '^[0-9]* is not a handle of an instance, or was freed$' \
    '^output y: 3 elements$'; do
    if ! grep -q "$line" <<<"$said"; then
      printf '%s: no line `%s` in\n%s\n' "$program" "$line" "$said" >&2
      exit 1
    fi
  done
done
cc -std=gnu11 "${flags[@]}" -g -fsanitize=address,undefined -fno-sanitize-recover=all test/c/random_calls.c "${link[@]}" -o "$out/random"
for seed in ${SEEDS:-1 2 3}; do
  # MLIR keeps memory until the process ends, which is not a leak of the library.
  ASAN_OPTIONS=detect_leaks=0 "$out/random" "$seed" "${CALLS:-3000}" "$out"
done
cc -shared -fPIC -o "$out/libcuda.so.1" test/tools/run/inputs/cuda-driver.c
cc -std=gnu11 "${flags[@]}" test/c/device.c "${link[@]}" -o "$out/device"
[ "$(LD_LIBRARY_PATH=$out "$out/device" test/tools/run/inputs/cuda.sknd)" = "arrays on a GPU" ]
echo "C API: an example in C and C++, and random calls"
