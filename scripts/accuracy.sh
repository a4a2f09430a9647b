#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the functions of compiled code and of the evaluator, and compares them with the bounds of docs/numerics.md.
# Arguments are every 4099th f32 number; all of them with --all; every Nth with a number N, which also prints the columns of the table.
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in
  --all) stride=1 ;;
  "") stride=4099 ;;
  *) stride=$1 ;;
esac
out=$PWD/out/accuracy
mkdir -p "$out"
target/release/skript compile test/numerics/functions.sknd -o "$out/functions.so"
vectors=
[ "$(uname -m)" != x86_64 ] || vectors="-march=native -lmvec"
# shellcheck disable=SC2086 # several words or none
cc -std=gnu11 -O3 -include "$out/functions.h" test/numerics/ulp.c -lpthread $vectors -lm -ldl -o "$out/ulp"
"$out/ulp" "$out/functions.so" "$stride" "$(nproc)" >"$out/measured.txt"
.venv/bin/python test/numerics/samples.py target/release/skript "$out" >>"$out/measured.txt"
[ -z "${1:-}" ] || cat "$out/measured.txt"
.venv/bin/python - "$out/measured.txt" <<'PY'
import re
import sys

bounds = {}
with open("docs/numerics.md") as page:
    for line in page:
        row = re.match(r"\| `(\w+)` \| ([0-9.]+) \|", line)
        if row:
            bounds[row[1]] = float(row[2])
measured = [line.split() for line in open(sys.argv[1])]
wrong = ["%s is off by %s units in the last place at %s, documented are %s" % (name, error, at, bounds.get(name))
         for name, error, at, kinds in measured if float(error) > bounds.get(name, 0)]
wrong += ["%s: %s results are infinite, NaN or of a sign where the true value is not" % (name, kinds)
          for name, error, at, kinds in measured if kinds != "0"]
if set(bounds) != {row[0] for row in measured}:
    wrong.append("docs/numerics.md lists other functions than test/numerics measures")
print("\n".join(wrong) or "%d functions are as accurate as documented" % len(measured))
sys.exit(bool(wrong))
PY
# The sum of 2^24 ones is exact.
.venv/bin/python - "$out" <<'PY'
import subprocess
import sys

import numpy as np

out = sys.argv[1]
np.save(out + "/ones.npy", np.ones(1 << 24, np.float32))
for how in ["--engine=reference", "--pipeline=linalg", "--pipeline=scf"]:
    subprocess.run(["target/release/skript", "run", "test/numerics/ones.sknd", how, "--input", "x=%s/ones.npy" % out,
                    "--output-dir", out], check=True)
    found = np.load(out + "/sum.npy")
    assert found.item() == 1 << 24, (how, found)
print("the sum of 2^24 ones is exact through the evaluator and two pipelines")
PY
if [ "$stride" = 1 ]; then
  SKRIPT_STRIDE=1 cargo test --release --quiet -p skript-semantics --test accuracy
fi
