#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# package.sh FILE.tgz NOTICES.txt: packages the npm package. Equal files have equal archives: files are sorted, and their time is
# SOURCE_DATE_EPOCH.
set -euo pipefail
output=$(realpath -m "$1") notices=$(realpath "$2")
cd "$(dirname "$0")/.."
javascript/build.sh
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
cp "$notices" build/javascript/NOTICES.txt
# The files that package.json lists, which npm unpacks from the folder `package`.
node -p 'JSON.parse(require("fs").readFileSync("javascript/package/package.json")).files.concat("package.json").sort().join("\n")' |
  tar --create --directory build/javascript --files-from=- --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --mode=u=rwX,go=rX --format=ustar --transform 's,^,package/,' | gzip -9n >"$output"
