#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares kernels on Vulkan with the evaluator: kernels with dynamic extents (whole tiles, partial tiles, one element, none), kernels
# that select positions, elementwise operations, attentions, and sequential formulas. Kernels that exceed the time limit of a device
# are refused.
#     test/gpu/dynamic.sh SKRIPT
set -eu
cd "$(dirname "$0")"
skript=$(cd ../.. && realpath "$1")
while read -r m k n h r t; do
  "$skript" compare inputs/dynamic.sknd --device=vulkan --input-shape a="$m,$k" --input-shape b="$k,$n" \
    --input-shape q="$h,$r,32" --input-shape p="$h,$t,32"
  # With simulated copies into shared memory that bypass registers.
  "$skript" compare inputs/dynamic.sknd --device=vulkan --gpu-arch=vulkan-matrices --input-shape a="$m,$k" --input-shape b="$k,$n" \
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
for n in 70 1 0; do
  for types in "f32 i64" "f64 i32" "f16 i8"; do
    "$skript" compare inputs/elements.sknd --device=vulkan --real "${types% *}" --int "${types#* }" --input-shape x=$n,24 --input-shape s=$n \
      --input-shape t=24,$n --input-shape k=$n,24
  done
done
for shapes in "70 300" "3 1" "0 17"; do
  "$skript" compare inputs/rows.sknd --device=vulkan --input-shape x="${shapes% *}",3,50 --input-shape u=100,"${shapes#* }"
done
for sizes in 2,70,50 3,5,33 1,64,1 2,0,9; do
  IFS=, read -r b n m <<<"$sizes"
  for types in "f32 1e-5" "f16 2e-2"; do
    "$skript" compare inputs/attention.sknd --device=vulkan --real "${types% *}" --atol "${types#* }" --input-shape r="$b",2,"$n",16 \
      --input-shape p="$b",2,"$m",16 --input-shape w="$b",2,"$m",12
  done
done
kernels=$("$skript" compile inputs/layers.sknd --target=vulkan --emit=scheduled | grep -c gpu.launch_func)
[ "$kernels" = 5 ] || { echo "inputs/layers.sknd has $kernels kernels instead of 5" && exit 1; }
"$skript" compare inputs/layers.sknd --device=vulkan
# One more kernel for each input, which is widened.
kernels=$("$skript" compile inputs/layers.sknd --real=bf16 --target=vulkan --emit=scheduled | grep -c gpu.launch_func)
[ "$kernels" = 7 ] || { echo "inputs/layers.sknd has $kernels kernels in bf16 instead of 7" && exit 1; }
for real in "f16 2e-2" "bf16 6e-2"; do
  "$skript" compare inputs/layers.sknd --device=vulkan --real "${real% *}" --atol "${real#* }"
done
for precision in tf32 f16; do
  "$skript" compare inputs/attention.sknd --device=vulkan --gpu-arch=vulkan-matrices --gpu-precision=$precision --atol 2e-3 \
    --input-shape r=2,2,50,16 --input-shape p=2,2,41,16 --input-shape w=2,2,41,12
done
for shapes in "7 50 70000" "1 1 65537" "0 0 0"; do
  read -r n b m <<<"$shapes"
  "$skript" compare inputs/scans.sknd --device=vulkan --input-shape g="$n",300 --input-shape f="$b",90 --input-shape a="$b" --input-shape l="$m"
done
"$skript" compare inputs/mappings.sknd --device=vulkan --gpu-arch=vulkan-matrices
said=$("$skript" compare inputs/long.sknd --device=vulkan 2>&1) || grep "SK9201.*its driver ends them" <<<"$said" || { echo "$said" && exit 1; }
for int in i64 i32 i16 i8; do
  "$skript" compare inputs/signs.sknd --device=vulkan --int $int
done
for edition in draft6 khronos; do
  "$skript" compare inputs/remainders.sknd --device=vulkan --edition=$edition
done
