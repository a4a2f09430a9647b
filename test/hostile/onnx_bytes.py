# SPDX-License-Identifier: Apache-2.0
"""ONNX models as bytes, without the checks of the package `onnx`: any field may be absent or wrong."""
import struct


def varint(number):
    number &= (1 << 64) - 1
    data = b""
    while number > 127:
        data += bytes([number & 127 | 128])
        number >>= 7
    return data + bytes([number])


def field(number, value):
    """One field of a message: an int, a text, bytes or a nested message, or a float; each item of a list."""
    if value is None:
        return b""
    if isinstance(value, list):
        return b"".join(field(number, item) for item in value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name, value, kind=None):
    """An attribute with the field and the type that its value has."""
    if isinstance(value, int):
        fields, own = field(3, value), 2
    elif isinstance(value, float):
        fields, own = field(2, value), 1
    elif isinstance(value, str):
        fields, own = field(4, value), 3
    elif isinstance(value, bytes):
        fields, own = field(5, value), 4
    elif value and isinstance(value[0], float):
        fields, own = field(7, value), 6
    elif value and isinstance(value[0], str):
        fields, own = field(9, value), 8
    else:
        fields, own = field(8, value), 7
    return field(5, field(1, name) + fields + field(20, own if kind is None else kind))


def node(kind, inputs="x", outputs="y", *more, domain=None, name=None, **attributes):
    """A node; names are separated by spaces, and `_` is an absent one."""
    names = [[("" if n == "_" else n) for n in text.split()] for text in (inputs, outputs)]
    fields = field(1, names[0]) + field(2, names[1]) + field(3, name) + field(4, kind) + field(7, domain)
    return field(1, fields + b"".join(attribute(k, v) for k, v in attributes.items()) + b"".join(more))


def subgraph(name, body, number=6):
    """An attribute that is a graph."""
    return field(5, field(1, name) + field(number, body) + field(20, 5))


def shape(*extents):
    return field(2, b"".join(field(1, field(1, e) if isinstance(e, int) else field(2, e) if e else b"") for e in extents))


def value(name, *extents, kind=1, ranked=True):
    """The declaration of a tensor."""
    inner = field(1, kind) + (shape(*extents) if ranked else b"")
    return field(1, name) + field(2, field(1, inner))


def tensor(name, extents, kind=1, raw=None, **data):
    """A tensor; `floats`, `ints`, `longs`, `doubles`, `texts`, `external` and `location` are its other fields."""
    numbers = {"floats": 4, "ints": 5, "texts": 6, "longs": 7, "doubles": 10, "location": 14}
    fields = field(1, list(extents)) + field(2, kind) + field(8, name) + field(9, raw)
    for key, content in data.items():
        if key == "external":
            fields += field(13, [field(1, k) + field(2, v) for k, v in content])
        else:
            fields += field(numbers[key], list(content) if isinstance(content, (list, tuple)) else content)
    return fields


def graph(nodes, inputs=None, outputs=None, tensors=(), more=b"", name="g"):
    inputs = [value("x", 2, 3)] if inputs is None else inputs
    outputs = [value("y", 2, 3)] if outputs is None else outputs
    nodes = nodes if isinstance(nodes, bytes) else b"".join(nodes)
    return nodes + field(2, name) + field(5, list(tensors)) + field(11, inputs) + field(12, outputs) + more


def onnx(nodes=b"", inputs=None, outputs=None, tensors=(), opset=17, ir=8, more=b"", inside=b"", domains=()):
    """A model with one graph."""
    versions = field(8, [field(2, opset)] + [field(1, domain) + field(2, version) for domain, version in domains])
    return field(1, ir) + versions + field(7, graph(nodes, inputs, outputs, tensors, inside)) + more
