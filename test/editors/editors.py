#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executes the configurations of docs/editors.md in Neovim, Helix and Emacs, without a display.

The editors are those of build/editors, which test/editors/setup.sh installs, in a changed root. If the folder is missing, the test
prints that it is skipped. Each editor opens a model with the configuration of the page, and checks what it highlights, reports and
formats: neovim.lua, emacs.el, and `hx --health`.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "test"))
from documents import blocks  # noqa: E402

EDITORS = ROOT / "build/editors"
# The folder of the test in the root of the editors.
WORK = "/work"
MODEL = """import nn;

# comment
graph G {
    @input {
        x: real[1, 8];
    }
    @output { y: real[1, 8]; }
    @compose {   y = nn.relu(x);   }
}
"""


def configurations():
    """The shell block and the configuration of each editor, by its name."""
    result, editor = {}, None
    for block in blocks((ROOT / "docs/editors.md").read_text(encoding="utf-8")):
        if block.language == "sh" and block.options:
            (editor,) = block.options
            result[editor] = [block.text, ""]
        elif editor:
            result[editor][1] += block.text
    return result


def inside(*command, check=True, **variables):
    """Runs a command in the root of the editors and returns its output."""
    environment = {"PATH": WORK + "/target/release:/usr/bin:/bin", "HOME": WORK + "/home", "LANG": "C.UTF-8", "TERM": "xterm", **variables}
    line = ["env", "-i", *("%s=%s" % pair for pair in environment.items()), *command]
    # Helix reads its path in /proc. The mount ends with the command.
    root = ["unshare", "--mount", "sh", "-c", 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"', str(EDITORS)]
    done = subprocess.run([*root, *line], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=180)
    if check and done.returncode:
        raise AssertionError("%s: exit code %d\n%s" % (command[0], done.returncode, done.stdout))
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)


def prepare():
    """Copies what the configurations refer to."""
    work = EDITORS / WORK[1:]
    shutil.rmtree(work, ignore_errors=True)
    for path in ("editors/tree-sitter-sknd", "editors/emacs", "test/editors"):
        shutil.copytree(ROOT / path, work / path)
    (work / "target/release").mkdir(parents=True)
    shutil.copy2(ROOT / "target/release/skript-language-server", work / "target/release")
    (work / "model").mkdir()
    (work / "model/main.sknd").write_text(MODEL)
    formatted = subprocess.run([ROOT / "target/release/skript", "fmt", "-"], input=MODEL, capture_output=True, text=True, check=True).stdout
    (work / "expected").write_text(formatted)
    return work


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def neovim(work, text):
    write(work / "home/.config/nvim/init.lua", text)
    print(inside("nvim", "--headless", "+luafile %s/test/editors/neovim.lua" % WORK, WORK + "/model/main.sknd", SKND_EXPECTED=WORK + "/expected").strip())


def helix(work, text):
    write(work / "home/.config/helix/languages.toml", text)
    health = inside("hx", "--health", "sknd")
    for line in ("skript-language-server: /", "Tree-sitter parser: ✓", "Highlight queries: ✓", "Textobject queries: ✓", "Indent queries: ✓"):
        assert line in health, "no `%s` in\n%s" % (line, health)
    print("%s: server, parser and queries are found" % inside("hx", "--version").strip())


def emacs(work, text):
    write(work / "home/.emacs.d/init.el", text)
    command = ["emacs", "--batch", "-l", WORK + "/home/.emacs.d/init.el", "-l", WORK + "/test/editors/emacs.el"]
    files = {"SKND_FILE": WORK + "/model/main.sknd", "SKND_EXPECTED": WORK + "/expected"}
    print(inside(*command, **files, SKND_TREE_SITTER="1").strip().split("\n")[-1])
    # Without the grammar, the other mode.
    (work / "home/.emacs.d/tree-sitter/libtree-sitter-sknd.so").unlink()
    output = inside(*command, **files)
    assert "mode: sknd-mode" in output, output
    print(output.strip().split("\n")[-1])


def main():
    if not (EDITORS / "usr/bin/hx").exists() or os.geteuid() != 0:
        print("skipped: editors: test/editors/setup.sh installs them, as root")
        return 0
    work, found = prepare(), configurations()
    for run in (neovim, helix, emacs):
        script, text = found[run.__name__]
        (work / "home").mkdir(exist_ok=True)
        inside("sh", "-ec", "cd %s\n%s" % (WORK, script))
        run(work, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
