#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the extension for VS Code without an editor: packages it twice, compares the bytes and the list of files, runs the
# packaged client against the language server, and tokenizes all files by the TextMate grammar.
set -eu
cd "$(dirname "$0")/../.."
if ! command -v npm >/dev/null || [ "$(node --print 'process.versions.node.split(".")[0]')" -lt 20 ]; then
  echo "skipped: the extension for VS Code: needs npm and Node 20 or newer"
  exit 0
fi
out=$PWD/out/vscode
rm -rf "$out"
mkdir -p "$out"
editors/vscode/package.sh "$out/skriptnd.vsix" || {
  [ $? = 3 ] || exit 1
  echo "skipped: the extension for VS Code: npm cannot install its tools"
  exit 0
}
editors/vscode/package.sh "$out/again.vsix"
cmp "$out/skriptnd.vsix" "$out/again.vsix"
python3 -m zipfile -e "$out/skriptnd.vsix" "$out"
(cd "$out/extension" && find . -type f | LC_ALL=C sort) | diff - test/editors/vscode/files.txt
export NODE_PATH=$PWD/test/editors/vscode/modules:$PWD/build/vscode/node_modules
timeout 120 node test/editors/vscode/client.js "$out/extension" "$PWD/target/release/skript-language-server" "$PWD/target/release/skript"
# Fixtures contain texts of documents in another notation, and inputs of test/tools/check are wrong.
git ls-files -z '*.sknd' ':!runtime/reference/tests/fixtures' ':!test/tools/check' |
  xargs -0 node test/editors/vscode/textmate.js "$out/extension/syntaxes/sknd.tmLanguage.json" frontend/src/syntax/skript.pest
