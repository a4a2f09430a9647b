#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs examples/ray and examples/spark on local workers: scripts/scale.sh [options of run.py]. Installs ray and pyspark into
# build/scale-venv; Spark needs Java (Debian's default-jre-headless) and is skipped without it.
set -eu
cd "$(dirname "$0")/.."
environment=build/scale-venv requirements=examples/ray/requirements.txt
if ! cmp -s "$requirements" "$environment/requirements.txt"; then
  echo "scale: installing the packages of $requirements into $environment"
  [ -x "$environment/bin/python" ] || python3 -m venv "$environment"
  "$environment/bin/python" -m pip install -q --disable-pip-version-check -r "$requirements"
  cp "$requirements" "$environment/requirements.txt"
fi
out=$PWD/out/scale
rm -rf "$out" && mkdir -p "$out/model" "$out/packages"
# The package skript-runtime, with the module that cargo built.
cp -r python/runtime/skript_runtime "$out/packages/"
cp target/release/libskript_python_runtime.so "$out/packages/skript_runtime/_runtime.abi3.so"
cp examples/ray/main.sknd "$out/model/"
"$environment/bin/python" examples/ray/weights.py "$out/model"
target/release/skript compile "$out/model" --embed-weights -o "$out/model.skm"
export PYTHONPATH=$out/packages RAY_DEDUP_LOGS=0 RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO=0
echo "Ray Data"
"$environment/bin/python" examples/ray/run.py "$out/model.skm" "$@"
if command -v java >/dev/null; then
  echo "Spark"
  "$environment/bin/python" examples/spark/run.py "$out/model.skm" "$@"
else
  echo "skipped: Spark: java is not installed (apt-get install default-jre-headless)"
fi
