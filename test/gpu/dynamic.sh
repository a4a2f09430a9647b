#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares kernels with dynamic extents, and those that select positions, on Vulkan with the evaluator: whole tiles, parts of them, one
# element, none.
#     test/gpu/dynamic.sh SKRIPT
set -eu
cd "$(dirname "$0")"
skript=$(cd ../.. && realpath "$1")
while read -r m k n h r t; do
  "$skript" compare inputs/dynamic.sknd --device=vulkan --input-shape a="$m,$k" --input-shape b="$k,$n" \
    --input-shape q="$h,$r,32" --input-shape p="$h,$t,32"
done <<END
64 100 70 5 40 50
37 50 41 3 35 34
40 16 33 5 33 1
1 1 1 1 1 1
3 0 5 0 3 4
0 5 7 2 0 8
END
for shape in 9,500 3,70 1,1 0,10; do
  "$skript" compare inputs/selections.sknd --device=vulkan --input-shape w=$shape
done
