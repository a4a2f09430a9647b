#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the WebAssembly module, and writes the files of the npm package to build/javascript. The first call installs Rust's target
# with rustup; exits with 3 if that fails. SKRIPT_WASM_PROFILE names another profile of Cargo.
set -eu
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"
target=wasm32-unknown-unknown output=build/javascript profile=${SKRIPT_WASM_PROFILE:-wasm}
if [ ! -d "$(rustc --print target-libdir --target $target)" ]; then
  echo "javascript: installing Rust's target $target"
  rustup target add $target || exit 3
fi
# If the variable is set for packaging, the crate `cc` would build everything again.
env -u SOURCE_DATE_EPOCH cargo build --quiet --locked --profile "$profile" --target $target -p skript-javascript
mkdir -p $output
for file in javascript/package/* LICENSE; do cmp -s "$file" "$output/${file##*/}" || cp "$file" $output; done
# Replaced at once: others may read it.
module=$(mktemp $output/module.XXXXXX)
cp "target/$target/$profile/skript_javascript.wasm" "$module"
chmod 644 "$module"
mv "$module" $output/skriptnd.wasm
