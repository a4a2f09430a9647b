#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executes the code blocks of README.md and of the guide, and compares their output.

    documents.py [PAGE...]

Each page runs in a separate folder below out/documents, which contains links to the files of the checkout. The word after the language
of a block selects the action:

    ```sh                run by bash
    ```python            run in one namespace for the whole page
    ```text              after one of these: its expected output; so is `LANGUAGE output`
    ```LANGUAGE file=F   written to the file F
    ```LANGUAGE skip     not run: needs a network, minutes, or hardware
    ```LANGUAGE fails    run, and must fail
    ```sh needs=vulkan   run where a Vulkan driver is installed

In expected output, `…` matches any text within a line, and a line `…` any lines. Measured values are not compared: a number with
the unit of a time, a rate, a share or a size, or of threads, matches any other number.
"""
import contextlib
import glob
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "out/documents"
TIMEOUT = 300
# Languages whose blocks are not executed.
SHOWN = {"", "mlir"}
MEASURED = re.compile(r"\d[\d.]* ?(?:ns|µs|ms|s|MB|MiB|GFLOP/s|GB/s|%|bytes|threads?)(?!\w)")
LAVAPIPE = glob.glob("/usr/share/vulkan/icd.d/lvp_icd.*.json")


class Block:
    def __init__(self, line, info, lines):
        words = info.split()
        self.line, self.text = line, "".join(lines)
        self.language = words[0] if words else ""
        self.options = dict(word.partition("=")[::2] for word in words[1:])


def blocks(text):
    """The fenced blocks of a page."""
    found, inside = [], None
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if not line.startswith("```"):
            if inside is not None:
                inside.append(line)
        elif inside is None:
            start, info, inside = number, line[3:].strip(), []
        else:
            found.append(Block(start, info, inside))
            inside = None
    return found


def lines(text):
    """The lines without repeated spaces and without measured values."""
    return [" ".join(MEASURED.sub("<measured>", line).split()) for line in text.rstrip().split("\n")]


def matches(expected, actual):
    """Whether the output matches that of the page."""
    patterns = ("(?:.*\n)*?" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + "\n" for line in lines(expected))
    return re.fullmatch("".join(patterns), "\n".join(lines(actual)) + "\n") is not None


class Page:
    """The state of one page: its folder, its environment, and the names of its Python blocks."""

    def __init__(self, path):
        self.path = path
        self.folder = OUT / path.stem.lower()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        for entry in ROOT.iterdir():
            if entry.name not in ("out", ".git"):
                (self.folder / entry.name).symlink_to(entry)
        self.names = {"__name__": "__main__"}
        tools = [str(ROOT / "target/release"), str(ROOT / ".venv/bin")]
        self.environment = {
            **os.environ,
            "PATH": os.pathsep.join([*tools, os.environ["PATH"]]),
            "XDG_CACHE_HOME": str(OUT / "cache"),
            "COLUMNS": "100",
            "PYTHONPATH": str(OUT / "packages"),
        }
        if LAVAPIPE:
            self.environment.setdefault("VK_ICD_FILENAMES", LAVAPIPE[0])

    def shell(self, text):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
        )
        return done.stdout, done.returncode == 0

    def python(self, text):
        printed = io.StringIO()
        os.environ.update(self.environment)
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed):
            try:
                exec(compile(text, str(self.path), "exec"), self.names)
            except Exception:  # the page shows the output of an error
                return printed.getvalue() + traceback.format_exc(), False
        return printed.getvalue(), True

    def run(self):
        """The errors of the page."""
        complaints, output = [], None
        for block in blocks(self.path.read_text(encoding="utf-8")):
            at = f"{self.path.relative_to(ROOT)}:{block.line}"
            if (block.language == "text" or "output" in block.options) and output is not None:
                if not matches(block.text, output):
                    complaints.append(f"{at}: the output differs:\n{output}")
                output = None
                continue
            output = None
            if "skip" in block.options or block.options.get("needs") == "vulkan" and not LAVAPIPE:
                continue
            if "file" in block.options:
                file = self.folder / block.options["file"]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block.text, encoding="utf-8")
            elif block.language in ("sh", "python"):
                output, succeeded = (self.shell if block.language == "sh" else self.python)(block.text)
                if succeeded == ("fails" in block.options):
                    complaints.append(f"{at}: the block {'succeeds' if succeeded else 'fails'}:\n{output}")
                    break
            elif block.language not in SHOWN:
                complaints.append(f"{at}: a block of {block.language} needs an option")
        return complaints


def place_packages():
    """The Python packages with the extension modules that cargo built."""
    shutil.rmtree(OUT / "packages", ignore_errors=True)
    for source, module, library in (
        ("python/skript", "_skript", "libskript_python.so"),
        ("python/runtime/skript_runtime", "_runtime", "libskript_python_runtime.so"),
    ):
        folder = OUT / "packages" / pathlib.Path(source).name
        shutil.copytree(ROOT / source, folder, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        (folder / f"{module}.abi3.so").symlink_to(ROOT / "target/release" / library)
    sys.path.insert(0, str(OUT / "packages"))


def main(names):
    pages = [ROOT / name for name in names] or [ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md"))]
    OUT.mkdir(parents=True, exist_ok=True)
    place_packages()
    complaints = [complaint for page in pages for complaint in Page(page).run()]
    print("\n".join(complaints))
    print(f"documents: {len(pages)} pages, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
