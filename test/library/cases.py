# SPDX-License-Identifier: Apache-2.0
"""Cases, each of which is an invocation of an operator with arrays and their numpy, scipy or ONNX Runtime results."""
import itertools
import os
import struct
import zlib

import numpy as np

KINDS = {"f": "real", "i": "int", "b": "bool"}
BOTH = ("draft6", "khronos")


class StorageTypes:
    """The storage types: `skript run --real=… --int=…`. Selected before cases are built."""

    real, int = "f32", "i64"
    # The relative and absolute differences due to the rounding of an operator's outputs: half a unit in the last place of
    # normal and of subnormal numbers. The error of the computation in f32 is added.
    ROUNDING = {"f16": (2.0 ** -11, 2.0 ** -25), "bf16": (2.0 ** -8, 0), "f32": (0, 0), "f64": (0, 0)}
    # For expected values that numpy computed in f64.
    DOUBLE = (1e-12, 1e-14)
    # The element types of result arrays: numpy has no bf16, so its values are written as f32.
    FILES = {"f16": np.float16, "bf16": np.float32, "f32": np.float32, "f64": np.float64,
             "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
    LARGEST = {"f16": 65519.0, "bf16": 3.395e38, "f32": np.inf, "f64": np.inf}

    @classmethod
    def round(cls, array):
        """Rounds reals to the storage type."""
        with np.errstate(all="ignore"):
            if cls.real == "f64":
                return np.asarray(array, dtype=np.float64)
            array = np.asarray(array, dtype=np.float32)
            if cls.real == "f16":
                return np.asarray(array.astype(np.float16).astype(np.float32))
            if cls.real == "bf16":
                bits = np.ascontiguousarray(array).view(np.uint32).reshape(array.shape).astype(np.uint64)
                bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000
                return np.asarray(bits, dtype=np.uint32).view(np.float32).reshape(array.shape)
            return array

    @classmethod
    def holds(cls, array):
        """Whether the storage type represents the array: `skript run` accepts it, and numbers do not become zeros."""
        if array.dtype.kind == "f":
            vanishes = (array != 0) & (cls.round(array) == 0)
            return not np.any(vanishes | np.isfinite(array) & (np.abs(array) > cls.LARGEST[cls.real]))
        if array.dtype.kind == "i":
            return np.array_equal(array.astype(cls.FILES[cls.int]), array)
        return True


class Random:
    """Numbers that depend only on a seed; each operator has a separate stream, so that new cases do not change old ones."""

    def __init__(self, seed):
        self.stream = np.random.default_rng(seed)

    def real(self, shape=(), low=-3.0, high=3.0):
        return StorageTypes.round(self.stream.uniform(low, high, shape))

    def int(self, shape=(), low=-9, high=10):
        return np.asarray(self.stream.integers(low, high, shape), dtype=np.int64)

    def bool(self, shape=()):
        return np.asarray(self.stream.integers(0, 2, shape), dtype=bool)

    def of(self, kind, shape=()):
        return getattr(self, kind)(shape)

    def permutation(self, count):
        return self.stream.permutation(count)


def random(name):
    return Random(zlib.crc32(name.encode()))


class Case:
    """`inputs`: an array, a list of arrays (a pack), a string (source text), None (`~`). `outputs`: an array each, a list
    of arrays for a pack, or a function from the computed array to an error or None; then `declared` has the types."""

    def __init__(self, operator, inputs, outputs, attributes=None, types="", variables=None, declared=None, edition="draft6",
                 rtol=2e-5, atol=2e-6, signed_zero=False, label="", dynamic=None):
        self.operator = operator
        self.inputs = inputs
        self.outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        self.attributes = {k: v for k, v in (attributes or {}).items() if v is not None}
        self.types = types
        self.variables = variables or {}
        self.declared = declared or {}
        self.edition = edition
        self.rtol, self.atol, self.signed_zero = rtol, atol, signed_zero
        self.label = label
        self.dynamic = dynamic

    def __str__(self):
        attributes = ", ".join("%s=%s" % (k, literal(v)) for k, v in self.attributes.items())
        shapes = ", ".join(x if isinstance(x, str) else "~" if x is None else "[%s]" % ", ".join(type_of(i) for i in x)
                           if isinstance(x, list) else type_of(x) for x in self.inputs)
        return "%s%s{%s}(%s) %s%s" % (self.operator, self.types, attributes, shapes, self.edition,
                                      " " + self.label if self.label else "")

    def document(self):
        """The text of main.sknd."""
        declarations, arguments = [], []
        for at, value in enumerate(self.inputs):
            if value is None or isinstance(value, str):
                arguments.append("~" if value is None else value)
                continue
            items = value if isinstance(value, list) else [value]
            names = ["x%d_%d" % (at, i) for i in range(len(items))] if isinstance(value, list) else ["x%d" % at]
            declarations += ["%s: %s;" % (n, type_of(i, self.dynamic)) for n, i in zip(names, items)]
            arguments.append("[%s]" % ", ".join(names) if isinstance(value, list) else names[0])
        results, outputs = [], []
        for at, value in enumerate(self.outputs):
            names = ["y%d" % at]
            if isinstance(value, (list, tuple)):
                names = ["y%d_%d" % (at, i) for i in range(len(value))]
                results.append("[%s]" % ", ".join(names))
            else:
                results.append(names[0])
            items = value if isinstance(value, (list, tuple)) else [value]
            outputs += ["%s: %s;" % (n, self.declared.get(n) or type_of(i, self.dynamic and "all")) for n, i in zip(names, items)]
        module = self.operator.split(".")[0]
        attributes = ", ".join("%s=%s" % (k, literal(v)) for k, v in self.attributes.items())
        blocks = "@input { %s }\n    " % " ".join(declarations) if declarations else ""
        return ("import %s;\n\ngraph G {\n    %s@output { %s }\n    @compose {\n        %s = r: %s%s%s(%s);\n    }\n}\n" %
                (module, blocks, " ".join(outputs), ", ".join(results), self.operator, self.types,
                 "{%s}" % attributes if attributes else "", ", ".join(arguments)))

    def write(self, folder):
        """Writes the model folder with its arrays. Returns the arguments that run it."""
        os.makedirs(folder)
        with open(os.path.join(folder, "main.sknd"), "w") as file:
            file.write(self.document())
        for name, value in self.variables.items():
            write_dat(os.path.join(folder, "main.G.r.%s.dat" % name), value)
        arrays = {}
        for at, value in enumerate(self.inputs):
            if isinstance(value, list):
                arrays.update({"x%d_%d" % (at, i): item for i, item in enumerate(value)})
            elif isinstance(value, np.ndarray):
                arrays["x%d" % at] = value
        arguments = [folder, "--edition=%s" % self.edition]
        for name, value in arrays.items():
            path = os.path.join(folder, name + ".npy")
            np.save(path, value)
            arguments += ["--input", "%s=%s" % (name, path)]
        return arguments

    def fits(self):
        """Whether the storage types can represent all arrays."""
        values = list(self.variables.values())
        for value in self.inputs:
            values += value if isinstance(value, list) else [value]
        return all(StorageTypes.holds(v) for v in values if isinstance(v, np.ndarray))

    def complaint(self, folder):
        """Describes the wrong results in a folder, or returns None."""
        for at, value in enumerate(self.outputs):
            items = [("y%d_%d" % (at, i), item) for i, item in enumerate(value)] if isinstance(value, (list, tuple)) \
                else [("y%d" % at, value)]
            for name, want in items:
                path = os.path.join(folder, name + ".npy")
                if not os.path.exists(path):
                    return "%s is missing" % name
                got = np.load(path)
                reason = want(got) if callable(want) else self.difference(got, want)
                if reason:
                    return "%s: %s" % (name, reason)
        return None

    def difference(self, got, want):
        kind = want.dtype.kind
        expected = {"f": StorageTypes.FILES[StorageTypes.real], "i": StorageTypes.FILES[StorageTypes.int]}.get(kind, want.dtype)
        if got.dtype != expected:
            return "type %s instead of %s" % (got.dtype, np.dtype(expected))
        if kind == "i":
            limits = np.iinfo(expected)
            want = np.clip(want, limits.min, limits.max).astype(expected)
        if got.shape != want.shape:
            return "shape %s instead of %s" % (got.shape, want.shape)
        if want.dtype.kind == "f":
            a, b = got.astype(np.float64), want.astype(np.float64)
            rounding = StorageTypes.ROUNDING[StorageTypes.real]
            rtol, atol = self.rtol + rounding[0], self.atol + rounding[1]
            if StorageTypes.real == "f64" and want.dtype == np.float64:
                rtol, atol = max(self.rtol * 5e-8, StorageTypes.DOUBLE[0]), max(self.atol * 5e-8, StorageTypes.DOUBLE[1])
            bad = ~np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
            # Beyond the largest number is infinity.
            most = StorageTypes.LARGEST[StorageTypes.real]
            bad &= ~(np.isinf(a) & (np.sign(a) == np.sign(b)) & (np.abs(b) > most * (1 - rtol)))
            if self.signed_zero:
                bad |= (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))
        else:
            bad = got != want
        if not np.any(bad):
            return None
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        return "%d of %d elements differ, first at %s: %s instead of %s" % (
            np.sum(bad), bad.size, list(first), got[first], want[first])


def type_of(array, dynamic=None):
    """`real[2,3]`; with dynamic extents `real[~|3,~|4]`, or `real[~|3,3]` if only the first is dynamic."""
    unknown = {None: 0, "first": 1, "all": array.ndim}[dynamic]
    extents = ["~|%d" % (n + 1) if d < unknown else str(n) for d, n in enumerate(array.shape)]
    return "%s[%s]" % (KINDS[array.dtype.kind], ",".join(extents))


def literal(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'%s'" % value
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(literal(item) for item in value)
    return repr(value)


def write_dat(path, array):
    """Writes a weight in the format of model folders: a header of 128 bytes, then int64, float64, or otherwise float32."""
    kind = {"i": "<i8"}.get(array.dtype.kind, "<f8" if array.dtype == np.float64 else "<f4")
    data = np.ascontiguousarray(array, dtype=kind).tobytes()
    extents = (list(array.shape) + [0] * 8)[:8]
    head = b"\x4e\xef\x01\x00" + struct.pack("<II8III", len(data), array.ndim, *extents, 8 * int(kind[2]), 4 if kind[1] == "i" else 0)
    with open(path, "wb") as file:
        file.write(head.ljust(128, b"\0") + data)


def points(shape):
    return itertools.product(*[range(n) for n in shape])


def f32(array):
    """Rounds to the type that formulas compute in; overflow becomes infinity."""
    with np.errstate(all="ignore"):
        return np.asarray(array, dtype=np.float64).astype(np.float64 if StorageTypes.real == "f64" else np.float32)
