#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a page of the reference: reference.py command-line | python | c

- `command-line`: the help of each command of `skript`, and of `skript-run`.
- `python`: the signatures of the type stubs with the documentation of the built package.
- `c`: the declarations of skript.h with their comments.

scripts/docs.sh calls it after the build.
"""
import ast
import importlib
import inspect
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILT = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release"
NOTE = "<!-- Written by scripts/docs.sh. -->"


def wrap(text, width=110, **options):
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False, **options)


def prose(text):
    """Marks words such as <NAME> as code, so that they are not read as HTML."""
    return re.sub(r"<([A-Z][^>]*)>", r"`<\1>`", text)


# The command line.


def help_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def options(lines):
    """The entries of a section of clap's help: flags and the paragraphs that explain them."""
    entries = []
    for line in lines:
        if re.match(r" {2,6}\S", line):
            flags, _, summary = line.strip().partition("  ")
            entries.append((flags, [summary.strip()] if summary else []))
        elif entries and line.strip():
            entries[-1][1].append(line.strip())
    return entries


def entry(flags, paragraphs):
    """A list item: the flags, their purpose, their values."""
    text = []
    for paragraph in paragraphs:
        values = re.fullmatch(r"\[possible values: (.*)\]", paragraph)
        default = re.fullmatch(r"\[default: (.*)\]", paragraph)
        value = re.match(r"- (\S+?): +(.*)", paragraph)
        if values:
            text.append("Values: " + ", ".join(f"`{name}`" for name in values[1].split(", ")) + ".")
        elif default:
            text.append(f"Default: `{default[1]}`.")
        elif value:
            text.append(f"`{value[1]}`: {prose(value[2]).rstrip('.')}.")
        elif paragraph != "Possible values:":
            text.append(prose(paragraph).rstrip(".") + ".")
    return wrap(f"- `{flags}`: {' '.join(text)}", subsequent_indent="  ")


def command(name, text):
    """The section of one command, from its help."""
    summary, usage, *rest = re.split(r"\n\n", text, maxsplit=2)
    parts = [f"## `{name}`", wrap(prose(summary).rstrip(".") + "."), f"```text\n{usage.removeprefix('Usage: ')}\n```"]
    sections = re.split(r"^([A-Z][\w ]+):\n", "\n\n".join(rest), flags=re.M)[1:]
    for title, body in zip(sections[::2], sections[1::2]):
        parts.append(f"**{title}**\n\n" + "\n".join(entry(*item) for item in options(body.split("\n"))))
    return "\n\n".join(parts)


def command_line():
    skript = BUILT / "skript"
    overview = help_of(skript, "help")
    names = [flags for flags, _ in options(re.search(r"Commands:\n(.*?)\n\n", overview, re.S)[1].split("\n"))]
    sections = [command(f"skript {name}", help_of(skript, "help", name)) for name in names if name != "help"]
    sections.append(command("skript-run", help_of(BUILT / "skript-run", "--help")))
    table = "\n".join(f"| [`skript {n}`](#skript-{n}) | {summary(skript, n)} |" for n in names if n != "help")
    return f"""{NOTE}
# Command line

`skript help COMMAND` prints these texts; `skript man -o FOLDER` writes manual pages, and `skript completions SHELL` a
completion script. Exit status: 0 success, 1 an error in the model or its data, 2 wrong usage; of `skript diff` 1 if the
models differ, and 2 for all errors.

| command | purpose |
|---|---|
{table}

{chr(10).join(s + chr(10) for s in sections)}"""


def summary(skript, name):
    return prose(help_of(skript, "help", name).split("\n")[0])


# Python.


def package():
    """The package `skript` with the extension module that cargo built."""
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "skript").mkdir()
    for source in (ROOT / "python/skript").glob("*.py"):
        (folder / "skript" / source.name).symlink_to(source)
    (folder / "skript/_skript.abi3.so").symlink_to(BUILT / "libskript_python.so")
    sys.path.insert(0, str(folder))
    return importlib.import_module("skript")


def documentation(text):
    """A docstring in Markdown: sections in numpy's style become lists, examples become code."""
    opening, *sections = re.split(r"^(\w+)\n-{3,}\n", inspect.cleandoc(text or ""), flags=re.M)
    parts = [opening.strip()]
    for title, body in zip(sections[::2], sections[1::2]):
        if ">>>" in body:
            parts.append(f"**{title}**\n\n```python\n{body.strip()}\n```")
            continue
        entries, after = [], []
        for line in body.strip().split("\n"):
            if line.startswith("    ") and not after:
                entries[-1][1].append(line.strip())
            elif re.fullmatch(r"[\w.*]+(, [\w.*]+)*", line):
                entries.append((line, []))
            else:
                after.append(line)
        items = (wrap(f"- `{name}`: {' '.join(lines)}", subsequent_indent="  ") for name, lines in entries)
        parts += [f"**{title}**\n\n" + "\n".join(items), "\n".join(after).strip()]
    return "\n\n".join(filter(None, parts))


def signature(node):
    node.body = [ast.Expr(ast.Constant(...))]
    node.decorator_list = []
    text = ast.unparse(node).replace("\n    ...", " ...").removesuffix(" ...").removesuffix(":")
    if len(text) <= 100:
        return text
    head, arguments, tail = re.fullmatch(r"(def \w+\()(.*)(\).*)", text, re.S).groups()
    return f"{head}\n" + "".join(f"    {a},\n" for a in re.split(r", (?![^\[]*\])", arguments)) + tail


def python():
    skript = package()
    stubs = ast.parse((ROOT / "python/skript/_skript.pyi").read_text(encoding="utf-8"))
    sections = [f"""{NOTE}
# Python API

The signatures are those of the type stubs, `python/skript/_skript.pyi`. [Models in Python](python.md) shows how the
parts work together; `help(skript)` prints the same texts."""]
    functions = {}
    for node in stubs.body:
        if isinstance(node, ast.FunctionDef):
            functions.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.ClassDef) and hasattr(skript, node.name):
            sections.append(python_class(getattr(skript, node.name), node))
    for name, overloads in functions.items():
        if callable(getattr(skript, name)) and name != "operators":
            code = "\n".join(signature(node) for node in overloads)
            sections.append(f"## `{name}`\n\n```python\n{code}\n```\n\n{documentation(getattr(skript, name).__doc__)}")
    for name, file in (("from_torch", "torch.py"), ("jax_callable", "jax.py")):
        # torch and jax need not be installed.
        module = ast.parse((ROOT / "python/skript" / file).read_text(encoding="utf-8"))
        function = next(node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == name)
        text = documentation(ast.get_docstring(function) or "")
        sections.append(f"## `{name}`\n\n```python\n{signature(function)}\n```\n\n{text}")
    return "\n\n".join(sections)


def python_class(value, node):
    parts = [f"## `{node.name}`", documentation(value.__doc__)]
    attributes = [item for item in node.body if isinstance(item, ast.AnnAssign)]
    rows = [f"| `{a.target.id}` | `{ast.unparse(a.annotation)}` | {first_line(value, a.target.id)} |".replace(" | None", " \\| None") for a in attributes]
    if rows:
        parts.append("| attribute | type | |\n|---|---|---|\n" + "\n".join(rows))
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and not (item.name.startswith("_") and item.name != "__call__"):
            text = documentation(getattr(value, item.name).__doc__) if item.name != "__call__" else ""
            heading = f"{node.name}.{item.name}" if item.name != "__call__" else f"{node.name}(…)"
            parts.append(f"### `{heading}`\n\n```python\n{signature(item)}\n```" + (f"\n\n{text}" if text else ""))
    return "\n\n".join(parts)


def first_line(value, name):
    text = getattr(getattr(value, name, None), "__doc__", None) or ""
    return " ".join(text.split("\n\n")[0].split()) if "descriptor" in type(getattr(value, name, None)).__name__ else ""


# C.


def c():
    header = (ROOT / "skript-c/include/skript.h").read_text(encoding="utf-8")
    body = header.split("extern \"C\" {\n#endif\n", 1)[1].rsplit("#ifdef __cplusplus", 1)[0]
    opening = re.search(r"/\*(.*?)\*/", header, re.S)[1]
    paragraphs = [" ".join(re.sub(r"^ \* ?", "", line) for line in part.split("\n")) for part in re.split(r"\n \*\n", opening)]
    sections = [f"{NOTE}\n# C API", *(wrap(p.strip()) for p in paragraphs)]
    for block in filter(str.strip, re.split(r"\n\n", body)):
        names = re.findall(r"\b(skc_\w+)\(", re.sub(r"/\*.*?\*/", "", block, flags=re.S)) or re.findall(r"\} (skc_\w+);", block)
        if names:
            sections.append("## " + ", ".join(f"`{name}`" for name in dict.fromkeys(names)))
        comment = re.match(r"\s*/\*(.*?)\*/\n", block, re.S)
        if comment:
            sections.append(wrap(" ".join(re.sub(r"^\s*\* ?", "", line).strip() for line in comment[1].strip().split("\n"))))
            block = block[comment.end():]
        if block.strip():
            sections.append(f"```c\n{block.strip()}\n```")
    return "\n\n".join(sections)


PAGES = {"command-line": command_line, "python": python, "c": c}

if __name__ == "__main__":
    print(PAGES[sys.argv[1]]().rstrip())
