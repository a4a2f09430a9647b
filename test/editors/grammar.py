#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests editors/tree-sitter-sknd.

- The generated parser belongs to grammar.js; with the tree-sitter CLI, it is generated again and compared.
- Documents that `skript fmt` accepts parse without errors: .sknd files, and code blocks of the documentation.
- The examples of test/corpus have their trees.
- The queries are valid, and each word has the kind of its semantic token (skript-language-server).
"""
import argparse
import ctypes
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile

import tree_sitter

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GRAMMAR = ROOT / "editors/tree-sitter-sknd"
sys.path.insert(0, str(ROOT / "bench"))
from language_server import Editor  # noqa: E402

BLOCK = re.compile(r"^```sknd[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
CORPUS = re.compile(r"^=+\n([^\n]*)\n=+\n(.*?)\n---+\n(.*?)(?=^=+\n|\Z)", re.MULTILINE | re.DOTALL)
# The captures that a word with a semantic token may have. A query knows the syntax around a word, but not its declaration: inputs and
# type parameters are variables, and casts are calls, where they are used.
KINDS = {
    "comment": {"comment"},
    "string": {"string"},
    "number": {"number"},
    "keyword": {"keyword", "boolean", "constant"},
    "decorator": {"attribute"},
    "type": {"type"},
    "typeParameter": {"type", "function", "variable"},
    "namespace": {"module"},
    "function": {"function"},
    "class": {"type", "function"},
    "property": {"property"},
    "parameter": {"variable"},
    "variable": {"variable", "label"},
}


def language(folder):
    """The language of the parser, which the C compiler builds."""
    library = pathlib.Path(folder) / "sknd.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Wno-unused", "-I", GRAMMAR / "src", GRAMMAR / "src/parser.c", "-o", library]
    subprocess.run(command, check=True)
    function = ctypes.CDLL(str(library)).tree_sitter_sknd
    function.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return tree_sitter.Language(capsule(function(), b"tree_sitter.Language", None))


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, check=True, capture_output=True, text=True)
    return [ROOT / line for line in listed.stdout.splitlines()]


def documents():
    """All texts in SkriptND with their names. Some are wrong, such as tests of diagnostics and fixtures."""
    for path in tracked("*.sknd"):
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for path in tracked("*.md"):
        text = path.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            yield "%s:%d" % (path.relative_to(ROOT), text.count("\n", 0, match.start()) + 1), match[1]


def accepted(skript, texts, folder):
    """The indices of the texts that `skript fmt` can parse."""
    for number, text in enumerate(texts):
        (folder / ("%d.sknd" % number)).write_text(text, encoding="utf-8")
    command = [skript, "fmt", "--check", "--message-format=json", folder]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=300)
    refused = {int(number) for number in re.findall(r'"path":"[^"]*?(\d+)\.sknd"[^\n]*"severity":"error"', printed.stdout + printed.stderr)}
    return [number for number in range(len(texts)) if number not in refused]


def first_error(node):
    """The first node that is wrong or missing."""
    if node.is_error or node.is_missing:
        return node
    return next(filter(None, (first_error(child) for child in node.children if child.has_error)), None)


def parses(parser, skript, folder):
    names, texts = zip(*documents())
    valid = accepted(skript, texts, folder)
    failures = []
    for number in valid:
        root = parser.parse(texts[number].encode()).root_node
        if root.has_error:
            node = first_error(root)
            failures.append("%s: line %d: %s" % (names[number], node.start_point[0] + 1, node.text.decode()[:60]))
    files = sum(names[number].endswith(".sknd") for number in valid)
    print("%d files and %d code blocks of %d documents are valid, %d parse with errors" % (files, len(valid) - files, len(texts), len(failures)))
    # A formatter that refuses everything would leave nothing to test.
    return failures + (["too few valid documents"] if files < 200 or len(valid) - files < 150 else [])


def corpus(parser):
    failures, count = [], 0
    for path in sorted((GRAMMAR / "test/corpus").glob("*.txt")):
        for name, source, expected in CORPUS.findall(path.read_text(encoding="utf-8")):
            count += 1
            tree = re.sub(r"\w+: ", "", str(parser.parse(source.strip("\n").encode()).root_node))
            if re.sub(r"\s+", " ", expected).replace(" )", ")").strip() != tree:
                failures.append("%s: %s: %s" % (path.name, name, tree))
    print("%d examples of the corpus, %d differ" % (count, len(failures)))
    return failures + ([] if count else ["the corpus is empty"])


def semantic_tokens(editor, legend, path, text):
    """The line, column, length and type of the semantic tokens."""
    document = {"uri": path.as_uri()}
    editor.tell("textDocument/didOpen", {"textDocument": {**document, "languageId": "sknd", "version": 1, "text": text}})
    data = editor.ask("textDocument/semanticTokens/full", {"textDocument": document})["data"]
    editor.tell("textDocument/didClose", {"textDocument": document})
    line = column = 0
    for at in range(0, len(data), 5):
        delta_line, delta_column, length, kind, _ = data[at : at + 5]
        line, column = line + delta_line, delta_column + (0 if delta_line else column)
        yield line, column, length, legend[kind]


def captured(query, root):
    """The first word of the capture at the beginning of each node, and at all columns of numbers; the last pattern counts."""
    kinds = {}
    for pattern, captures in sorted(tree_sitter.QueryCursor(query).matches(root), key=lambda match: match[0]):
        for name, nodes in captures.items():
            for node in nodes:
                line, column = node.start_point
                columns = node.end_point[1] - column if name == "number" else 1
                kinds.update({(line, column + at): name.split(".")[0] for at in range(columns)})
    return kinds


def highlights(reader, grammar, server):
    """Compares the captures of words with their semantic tokens."""
    query = tree_sitter.Query(grammar, (GRAMMAR / "queries/highlights.scm").read_text(encoding="utf-8"))
    editor, failures, words = Editor(server), [], 0
    for path in tracked("frontend/stdlib", "examples/*.sknd", "import/library", "bench/formulas", "test/tools/run"):
        text = path.read_text(encoding="utf-8") if path.suffix == ".sknd" else ""
        # Columns of the server count UTF-16 units, and those of the parser bytes.
        if not text or not text.isascii():
            continue
        kinds, lines = captured(query, reader.parse(text.encode()).root_node), text.split("\n")
        for line, column, length, kind in semantic_tokens(editor, editor.token_types, path, text):
            word = lines[line][column : column + length]
            # The word of a block follows its `@`, and interpolations are parts of strings.
            if word == "@" or (kind == "string" and (line, column) not in kinds):
                continue
            column -= kind == "decorator"
            words += 1
            if kinds.get((line, column)) not in KINDS[kind]:
                failures.append("%s:%d: `%s` is %s, highlighted as %s" % (path.relative_to(ROOT), line + 1, word, kind, kinds.get((line, column))))
    editor.process.kill()
    print("%d words have semantic tokens, %d are highlighted as another kind" % (words, len(failures)))
    return failures + ([] if words > 10000 else ["too few words"])


def queries(grammar):
    """Reads the other queries: those for Helix are in its folder."""
    failures, paths = [], sorted((GRAMMAR / "queries").rglob("*.scm"))
    for path in paths:
        try:
            tree_sitter.Query(grammar, path.read_text(encoding="utf-8"))
        except tree_sitter.QueryError as error:
            failures.append("%s: %s" % (path.name, error))
    print("%d queries, %d are wrong" % (len(paths), len(failures)))
    return failures


def generated():
    """Compares the generated parser with grammar.js."""
    if (GRAMMAR / "src/grammar.sha256").read_text().strip() != hashlib.sha256((GRAMMAR / "grammar.js").read_bytes()).hexdigest():
        return ["grammar.js has changed: run editors/tree-sitter-sknd/generate.sh"]
    differs = subprocess.run([GRAMMAR / "generate.sh", "--check"]).returncode
    return ["the parser is not the one of grammar.js: run editors/tree-sitter-sknd/generate.sh"] if differs else []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", type=pathlib.Path, default=ROOT / "target/release")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        grammar = language(temporary)
        reader = tree_sitter.Parser(grammar)
        failures = generated() + queries(grammar) + corpus(reader)
        failures += parses(reader, options.binaries / "skript", pathlib.Path(temporary))
        failures += highlights(reader, grammar, options.binaries / "skript-language-server")
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
