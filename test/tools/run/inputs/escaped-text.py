# SPDX-License-Identifier: Apache-2.0
"""Checks that files, and a program's message about a file with such a name, contain no control sequences of terminals."""

import subprocess
import sys

for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        assert not set("\x1b\u202e") & set(file.read()), path
run = subprocess.run(["skript-run", "a\x1b[31m\u202e.skm"], capture_output=True, text=True, timeout=20, check=False)
assert run.returncode == 1, run
assert "a\\u{1b}[31m\\u{202e}.skm: error: " in run.stderr and "\x1b" not in run.stderr, run.stderr
