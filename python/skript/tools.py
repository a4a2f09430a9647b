# SPDX-License-Identifier: Apache-2.0
"""The command-line tools, which the wheel contains beside the extension module."""
import os
import pathlib
import sys


def _run(name):
    program = pathlib.Path(__file__).parent / "bin" / name
    if not program.exists():
        sys.exit("%s: this installation has no command-line tools: install the wheel of skript" % name)
    os.execv(program, [name, *sys.argv[1:]])


def skript():
    """Runs `skript`."""
    _run("skript")


def skript_opt():
    """Runs `skript-opt`."""
    _run("skript-opt")


def skript_translate():
    """Runs `skript-translate`."""
    _run("skript-translate")
