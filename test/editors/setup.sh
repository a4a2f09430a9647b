#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Optional: installs Debian 13's Neovim, Emacs and Helix into build/editors, 900 MB, for test/editors/editors.py. Needs root.
set -eu
cd "$(dirname "$0")/../.."
root=build/editors
[ ! -e "$root/usr/bin/hx" ] || exit 0
command -v debootstrap >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends debootstrap; }
rm -rf "$root"
debootstrap --variant=minbase --include=neovim,emacs-nox,hx,gcc,libc6-dev,git trixie "$root" >"$root.log" || { tail "$root.log"; exit 1; }
