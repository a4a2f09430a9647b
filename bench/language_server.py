#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the language server on large files: from a keystroke to the answer of a request, in milliseconds.

Each row is a file: a graph of 5,000 lines, and files of 4,000 and 20,000 operators. `keystroke` is a change of one
character with the completion after it; the other columns are requests without a change before them.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time


def graph(lines):
    """A graph with about this many lines."""
    layers = lines // 3
    variables = "".join(f"        w{i}: real[16, 16, 3, 3];\n" for i in range(layers))
    steps = "        a0 = nn.conv(x, w0);\n" + "".join(
        f"        b{i} = nn.conv(a{i - 1}, w{i});\n        a{i} = nn.relu(b{i});\n" for i in range(1, layers)
    )
    tensors = "    @input {\n        x: real[1, 16, 8, 8];\n    }\n    @output {\n        y: real[1, 16, 8, 8];\n    }\n"
    end = f"        y = nn.relu(a{layers - 1});\n"
    return f"import nn;\n\ngraph G {{\n{tensors}    @variable {{\n{variables}    }}\n    @compose {{\n{steps}{end}    }}\n}}\n"


def operators(count):
    """A file with this many operators and a graph that invokes a hundred of them."""
    one = (
        "# Adds {0}.\noperator f{0} {{\n    @input {{ x: real[n]; }}\n    @output {{ y: real[n]; }}\n"
        "    @lower {{ y[i,] = x[i,] + {0}.0, i < n; }}\n}}\n\n"
    )
    steps = "".join(f"        a{i + 1} = f{i}(a{i});\n" for i in range(1, 100))
    text = "".join(one.format(i) for i in range(count))
    tensors = "    @input { x: real[4]; }\n    @output { y: real[4]; }\n"
    return f"{text}graph G {{\n{tensors}    @compose {{\n        a1 = f0(x);\n{steps}        y = f0(a100);\n    }}\n}}\n"


class Editor:
    """A client of the server."""

    def __init__(self, server):
        self.process = subprocess.Popen([server], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.count = 0
        capabilities = self.ask("initialize", {"capabilities": {}})["capabilities"]
        self.token_types = capabilities["semanticTokensProvider"]["legend"]["tokenTypes"]
        self.tell("initialized", {})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def receive(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            name, value = line.split(b": ")
            length = int(value) if name == b"Content-Length" else length
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, params):
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.count:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message.get("result")


def measured(server, path, text, rounds):
    """The times of the columns."""
    editor = Editor(server)
    document = {"uri": path.as_uri()}
    editor.tell("textDocument/didOpen", {"textDocument": {**document, "languageId": "sknd", "version": 1, "text": text}})
    last = text.rindex("        y = ")
    position = {"line": text.count("\n", 0, last), "character": 8}
    place = {"textDocument": document, "position": position}
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": text.count("\n"), "character": 0}}
    screen = {"start": {"line": position["line"] - 40, "character": 0}, "end": position}
    requests = {
        "completion": ("textDocument/completion", place),
        "hover": ("textDocument/hover", place),
        "references": ("textDocument/references", {**place, "context": {"includeDeclaration": True}}),
        "symbols": ("textDocument/documentSymbol", {"textDocument": document}),
        "tokens": ("textDocument/semanticTokens/full", {"textDocument": document}),
        "hints": ("textDocument/inlayHint", {"textDocument": document, "range": screen}),
        "folding": ("textDocument/foldingRange", {"textDocument": document}),
        "actions": ("textDocument/codeAction", {"textDocument": document, "range": whole, "context": {"diagnostics": []}}),
    }

    def timed(work):
        start = time.perf_counter()
        work()
        return 1e3 * (time.perf_counter() - start)

    times = {"first": timed(lambda: editor.ask(*requests["hover"]))}

    def keystroke(version):
        end = {**position, "character": 8 + (version % 2)}
        change = {"range": {"start": position, "end": end}, "text": "" if version % 2 else "z"}
        editor.tell("textDocument/didChange", {"textDocument": {**document, "version": version}, "contentChanges": [change]})
        editor.ask(*requests["completion"])

    times["keystroke"] = statistics.median(timed(lambda: keystroke(2 * n + m)) for n in range(1, rounds) for m in (0, 1))
    for name, request in requests.items():
        times[name] = statistics.median(timed(lambda: editor.ask(*request)) for _ in range(rounds))
    editor.ask("shutdown", None)
    editor.tell("exit", None)
    editor.process.wait(timeout=60)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="target/release/skript-language-server")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    files = {
        "a graph of 5,000 lines": graph(5000),
        "4,000 operators": operators(4000),
        "20,000 operators": operators(20000),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "main.sknd")
        header = None
        for name, text in files.items():
            times = measured(arguments.server, path, text, arguments.rounds)
            if header is None:
                header = list(times)
                print("| file | " + " | ".join(header) + " |\n|---" + "|---:" * len(header) + "|")
            print(f"| {name} | " + " | ".join(f"{times[column]:.0f}" for column in header) + " |", flush=True)


if __name__ == "__main__":
    main()
