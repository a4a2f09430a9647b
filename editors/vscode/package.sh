#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# package.sh FILE.vsix: packages the extension for VS Code. npm installs the pinned tools into build/vscode. Equal sources
# have equal archives: the time of all entries is SOURCE_DATE_EPOCH. Exits with 3 if npm cannot install the tools.
set -eu
# The archive has local times and the permissions of the files.
export TZ=UTC
umask 022
output=$(realpath -m "$1")
cd "$(dirname "$0")/../.."
source=editors/vscode staging=build/vscode
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
mkdir -p "$staging" "$(dirname "$output")"
# `$staging/package-lock.json` is a copy of the lock file from which the packages were installed.
if ! cmp -s "$source/package-lock.json" "$staging/package-lock.json"; then
  echo "vscode: installing the packages of $source/package-lock.json into $staging"
  rm -rf "$staging"
  mkdir -p "$staging"
  cp "$source/package.json" "$source/package-lock.json" "$staging"
  (cd "$staging" && npm ci --ignore-scripts --no-audit --no-fund --silent) || { rm "$staging/package-lock.json"; exit 3; }
fi
# Files of an earlier run would be packaged.
find "$staging" -mindepth 1 -maxdepth 1 ! -name node_modules -exec rm -r {} +
cp -r "$source/." "$staging"
cp LICENSE "$staging/LICENSE"
find "$staging" -mindepth 1 -name node_modules -prune -o -type f -exec chmod u=rw,go=r {} +
cd "$staging"
node_modules/.bin/vsce package --no-dependencies --allow-missing-repository --out "$output" >package.log 2>&1 || { cat package.log; exit 1; }
