# SPDX-License-Identifier: Apache-2.0
"""The examples in the library's comments: `NAME<types>{attributes}(arguments) = results`, and
`with name = value, …` for variables. Nested lists are tensors, parentheses enclose packs, and `2.0 ..(32)` is 2.0, 32 times."""
import ast
import re

import numpy as np

from cases import Case

EXAMPLE = re.compile(r"^(?P<name>[\w.]+)(?P<types><\w+>)?(\{(?P<attributes>.*?)\})?\((?P<arguments>.*)\) = (?P<results>.*?)"
                     r"( with (?P<variables>.*))?$")


class Verbatim(Case):
    """A case whose attributes are source text already."""

    def __init__(self, attributes, *arguments, **settings):
        super().__init__(*arguments, **settings)
        self.source = attributes

    def document(self):
        text = super().document()
        head = self.operator + self.types
        return text.replace("r: %s(" % head, "r: %s{%s}(" % (head, self.source)) if self.source else text


def values(text):
    """Comma-separated values: tensors as arrays, packs as lists of them."""
    text = re.sub(r"\btrue\b", "True", re.sub(r"\bfalse\b", "False", text))
    text = re.sub(r"(-?[\d.]+) \.\.\((\d+)\)", lambda found: ", ".join([found[1]] * int(found[2])), text)
    found = ast.literal_eval("[%s]" % text)
    return [[array(item) for item in value] if isinstance(value, tuple) else array(value) for value in found]


def array(value):
    found = np.array(value)
    return found.astype({"f": np.float32, "i": np.int64, "b": bool}[found.dtype.kind])


def case(text, khronos):
    parts = EXAMPLE.match(text)
    if not parts:
        raise ValueError("this is not an example: %s" % text)
    results = values(parts["results"])
    declared = {}
    for at, result in enumerate(results):
        if isinstance(result, np.ndarray):  # its extents may depend on the data
            kind = {"f": "real", "i": "int", "b": "bool"}[result.dtype.kind]
            declared["y%d" % at] = "%s[%s]" % (kind, ",".join("~" for _ in result.shape))
    variables = {}
    for name, value in re.findall(r"(\w+) = (.*?)(?=, \w+ = |$)", parts["variables"] or ""):
        variables[name] = values(value)[0]
    return Verbatim(parts["attributes"] or "", parts["name"], values(parts["arguments"]), results, types=parts["types"] or "",
                    declared=declared, variables=variables, edition="khronos" if khronos else "draft6", rtol=1e-6, atol=1e-6,
                    label="example")


def cases(entries):
    for entry in entries:
        for text in entry["examples"]:
            yield case(text, entry["edition"] == "khronos")
