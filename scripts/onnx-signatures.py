#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes import/src/operators/signatures.txt: inputs, attributes and types of the operators that the import supports, from the
schemas that the packages `onnx` and `onnxruntime` register.

Usage: onnx-signatures.py [--check]
"""

import pathlib
import re
import sys

import onnx.defs
from onnxruntime.capi import onnxruntime_pybind11_state as runtime

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "import" / "src" / "operators"
TARGET = FOLDER / "signatures.txt"
NAMES = dict(float="f32", double="f64", float16="f16", bfloat16="bf16", bool="bool", int4="i4", uint4="u4",
             **{f"{sign}int{bits}": f"{sign or 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)})
HEADER = """\
# Inputs, attributes and types of operators, by the operator set since which they are so.
# Written by scripts/onnx-signatures.py from the schemas of onnx {} and onnxruntime {}.
#
# Lines `@n types` name sets of types; `[t]` is a sequence. Other lines have: operator; set; types or type variables of the
# inputs (`?`: optional, `*`: any number of one type, `**`: any number of any of the types); attributes (`!`: required); type variables.
"""


def supported():
    """The operators that have import rules, with their domains."""
    found = set()
    for path in FOLDER.glob("*.rs"):
        text = path.read_text()
        found |= {("", name) for name in re.findall(r'\boperator\(\s*"(\w+)"', text)}
        found |= {("com.microsoft", name) for name in re.findall(r'\bmicrosoft\(\s*"(\w+)"', text)}
    return found


def short(name):
    """The type in signatures.txt, or None if the import does not support values of this type."""
    name = re.sub(r"^optional\((.*)\)$", r"\1", name.replace(" ", ""))
    sequence = re.fullmatch(r"seq\((.*)\)", name)
    if sequence:
        inner = short(sequence[1])
        return inner and f"[{inner}]"
    tensor = re.fullmatch(r"tensor\((\w+)\)", name)
    return NAMES.get(tensor[1]) if tensor else None


def main():
    wanted = supported()
    schemas = {}
    for schema in runtime.get_all_operator_schema():
        schemas[(schema.domain, schema.name, schema.since_version)] = schema
    # For the operators of onnx, its own schemas replace those of onnxruntime.
    for schema in onnx.defs.get_all_schemas_with_history():
        schemas[(schema.domain, schema.name, schema.since_version)] = schema
    own = {(s.domain, s.name) for s in onnx.defs.get_all_schemas_with_history()}
    sets, lines = {}, []

    def types(names):
        listed = sorted({short(name) for name in names} - {None})
        return "@%d" % sets.setdefault(" ".join(listed), len(sets))

    for (domain, name, since), schema in sorted(schemas.items()):
        if (domain, name) not in wanted:
            continue
        if domain == "" and (domain, name) in own and not any(
                s.name == name and s.since_version == since and s.domain == "" for s in onnx.defs.get_all_schemas_with_history()):
            continue
        inputs = []
        for port in schema.inputs:
            option = str(port.option).rsplit(".", 1)[-1].split(":")[0].lower()
            mark = {"optional": "?", "variadic": "*" if either(port, "is_homogeneous", "isHomogeneous") else "**"}.get(option, "")
            known = [c for c in schema.type_constraints if c.type_param_str == typed(port)]
            inputs.append((typed(port) if known else types([typed(port)])) + mark)
        variables = [f"{c.type_param_str}={types(c.allowed_type_strs)}" for c in schema.type_constraints]
        attributes = [key + "!" * attribute.required for key, attribute in sorted(schema.attributes.items())]
        full = f"{domain}.{name}" if domain else name
        lines.append("; ".join([full, str(since), " ".join(inputs), " ".join(attributes), " ".join(variables)]))
    missing = wanted - {(d, n) for d, n, _ in schemas}
    if missing:
        sys.exit(f"no schema of {sorted(missing)}")
    import onnxruntime
    text = HEADER.format(onnx.__version__, onnxruntime.__version__)
    text += "".join(f"@{at} {names}\n" for names, at in sets.items())
    text += "".join(line + "\n" for line in lines)
    if "--check" in sys.argv[1:]:
        sys.exit(0 if TARGET.read_text() == text else f"{TARGET} is not what {sys.argv[0]} writes")
    TARGET.write_text(text)


def either(owner, *names):
    """The first of these attributes that exists: the two packages name it differently."""
    return next(getattr(owner, name) for name in names if hasattr(owner, name))


def typed(port):
    return either(port, "type_str", "typeStr")


main()
