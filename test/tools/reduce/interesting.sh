#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whether a module still holds what the test looks for; mlir-reduce takes exit status 1 as yes.
if grep -q 'skript.tanh' "$1"; then exit 1; else exit 0; fi
