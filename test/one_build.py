#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that packages that are built separately select the same features of dependencies as the whole workspace.

Otherwise, Cargo builds the dependency and all its dependents again. `features/Cargo.toml` has the list.
"""

import re
import subprocess
import sys

# The packages that tests, wheels and examples build separately.
ALONE = ["skript-python", "skript-python-runtime", "skript-c", "skript-passes-c", "skript-tools", "skript-run"]


def chosen(*options):
    """The packages and their features, as `cargo tree` prints them for the packages that `options` select."""
    command = ["cargo", "tree", "--offline", "--prefix", "none", "--no-dedupe", "-f", "{p} [{f}]", *options]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {line.replace(" (proc-macro)", "") for line in text.splitlines()}


def main():
    whole = chosen("--workspace")
    programs = chosen("--workspace", "-e", "no-dev")
    failures = [("cargo build --workspace", line) for line in sorted(programs - whole)]
    # The packages whose unit tests are compiled separately.
    with open("scripts/unit-tests.sh") as script:
        large = re.search(r"^large=\((.*)\)$", script.read(), re.MULTILINE).group(1).split()
    # The features of build scripts and procedural macros are chosen apart from those of programs.
    edges = ("-e", "no-dev,no-build,no-proc-macro")
    linked = chosen("--workspace", *edges)
    for package in large:
        lines = chosen("-p", package, "-p", "skript-features", *edges) - linked
        failures += [(f"-p {package} -p skript-features", line) for line in sorted(lines)]
    for package in ALONE:
        failures += [(f"-p {package}", line) for line in sorted(chosen("-p", package, "-e", "no-dev") - whole)]
    for command, line in failures:
        print(f"{command}: other features than all of the workspace has: {line}")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
