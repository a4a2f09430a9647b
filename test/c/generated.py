#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a model like `skript run`, but through the C program of `skript compile --emit=c`, for the conformance suite.

    generated.py SKRIPT [--cc COMPILER] MODEL [--input NAME=FILE.npy[,FILE.npy]]... [--output-dir DIR] [flags of skript compile]...

The program is compiled without a warning, and undefined behaviour ends it.
"""
import ctypes
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

TYPES = {"bool": np.bool_, "int8_t": np.int8, "int16_t": np.int16, "int32_t": np.int32, "int64_t": np.int64,
         "float": np.float32, "double": np.float64, "uint16_t": np.uint16}
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-shared", "-fPIC", "-lm"]
TRAPS = {"gcc": "-fsanitize-undefined-trap-on-error", "clang-22": "-fsanitize-trap=undefined"}
ROLES = {"Inputs:": "input", "Weights:": "weight", "Outputs:": "output", "New values of weights that a call updates:": "update"}
TENSOR = re.compile(r" \*   (\w+)(?: \((.*)\))?: (\w+)\[([^\]]*)\](?:, bits of (\w+))?$")


class Failed(Exception):
    """An error of the compiler, or a failed run-time check."""


class Tensor:
    def __init__(self, role, found):
        self.role, self.name, model, element, extents, bits = role, *found.groups()
        self.model, self.type, self.bits = model or self.name, TYPES[element], bits
        extents = [e for e in extents.split(", ") if e]
        self.bounds = [int(e.removeprefix("<= ")) for e in extents]
        self.is_dynamic = any(e.startswith("<=") for e in extents)

    def stored(self, array):
        """An array as the function reads it."""
        if self.bits == "f16":
            array = array.astype(np.float16).view(np.uint16)
        elif self.bits == "bf16":
            array = np.frombuffer(array.astype(np.float32).tobytes(), np.uint32)
            array = ((array + 0x7FFF + (array >> 16 & 1)) >> 16).astype(np.uint16)
        # Not empty, and aligned.
        data = np.zeros(max(array.size, 1), self.type)
        data[:array.size] = array.astype(self.type).reshape(-1)
        return data

    def value(self, data, shape):
        array = data[:int(np.prod(shape, dtype=np.int64))].reshape(shape)
        if self.bits == "f16":
            return array.view(np.float16)
        return (array.astype(np.uint32) << 16).view(np.float32) if self.bits == "bf16" else array


class Program:
    """A compiled C program of a model."""

    def __init__(self, skript, model, flags, cc="gcc", optimize="-O1", folder=None):
        self.folder = folder or tempfile.mkdtemp()
        source = os.path.join(self.folder, "model.c")
        done = subprocess.run([skript, "compile", model, "--emit=c", "-o", source, "--message-format=short", *flags], capture_output=True, text=True)
        if done.returncode:
            raise Failed(done.stderr)
        with open(os.path.join(self.folder, "model.h")) as file:
            self.header = file.read()
        library = os.path.join(self.folder, "model-%s.so" % cc)
        sanitized = ["-fsanitize=undefined", TRAPS[cc]] if cc in TRAPS and optimize == "-O1" else []
        done = subprocess.run([cc, source, optimize, "-o", library, *sanitized, *FLAGS], capture_output=True, text=True)
        if done.returncode:
            raise Failed("%s: %s" % (cc, done.stderr))
        self.library = ctypes.CDLL(library)
        self.tensors, role = [], None
        for line in self.header.split("*/")[0].split("\n"):
            role = ROLES.get(line[3:], role) if line.startswith(" * ") and not line.startswith(" *  ") else role
            if found := TENSOR.match(line):
                self.tensors.append(Tensor(role, found))
        self.function, parameters = re.search(r"^int (\w+)\(([^)]*)\);", self.header, re.M | re.S).groups()
        self.parameters = [re.findall(r"\w+", p)[-1] for p in parameters.split(",")]

    def named(self, role):
        return [tensor for tensor in self.tensors if tensor.role == role]

    def constant(self, name):
        return int(re.search(r"#define %s_%s (\d+)" % (self.function, name), self.header).group(1))

    def weights(self, arrays):
        """The structure with the weights of the file, or with arrays by the names of the members."""
        count = len(self.named("weight"))

        class Weights(ctypes.Structure):
            _fields_ = [("pointers", ctypes.c_void_p * count)]
        if arrays is not None:
            self.contents = [tensor.stored(arrays[tensor.name]) for tensor in self.named("weight")]
            return Weights((ctypes.c_void_p * count)(*[array.ctypes.data for array in self.contents]))
        with open(os.path.join(self.folder, "model.bin"), "rb") as file:
            contents = file.read()
        self.contents = aligned(len(contents))
        self.contents[:len(contents)] = np.frombuffer(contents, np.uint8)
        bind = getattr(self.library, self.function + "_bind")
        bind.restype, bind.argtypes = Weights, [ctypes.c_void_p]
        return bind(self.contents.ctypes.data)

    def run(self, inputs, weights=None):
        """The outputs and the new values of variables by their names in the model; `inputs` and `weights` are by name."""
        given, shapes, values, results = {}, {}, {}, []
        for tensor in self.named("input"):
            array = np.asarray(inputs[tensor.model])
            given[tensor.name], shapes[tensor.name] = tensor.stored(array), np.array(array.shape, np.int64)
        for tensor in self.named("output") + self.named("update"):
            given[tensor.name] = np.zeros(max(int(np.prod(tensor.bounds, dtype=np.int64)), 1), tensor.type)
            shapes[tensor.name] = np.array(tensor.bounds, np.int64)
            results.append(tensor)
        arena = aligned(self.constant("WORKSPACE_BYTES"))
        held = []
        for name in self.parameters:
            if name == "workspace":
                held.append(ctypes.c_void_p(arena.ctypes.data))
            elif name == "weights":
                held.append(ctypes.byref(self.weights(weights)))
            else:
                array = given.get(name)
                array = shapes[name.removesuffix("_extents")] if array is None else array
                held.append(ctypes.c_void_p(array.ctypes.data))
        status = getattr(self.library, self.function)(*held)
        if status:
            found = re.search(r"^ \*   %d: (\w+), (.*)$" % status, self.header, re.M)
            raise Failed("model.c:1:1: error[%s]: %s" % (found.groups() if found else ("SK9204", "status %d" % status)))
        for tensor in results:
            key = tensor.model if tensor.role == "output" else "next " + tensor.model
            values[key] = tensor.value(given[tensor.name], shapes[tensor.name])
        return values


def aligned(size):
    """Bytes at an address for vectors."""
    bytes = np.zeros(size + 64, np.uint8)
    first = -bytes.ctypes.data % 64
    return bytes[first:first + size]


def has_weights(skript, model, flags):
    done = subprocess.run([skript, "compile", model, "--emit=c", "--no-locations", *flags], capture_output=True, text=True)
    return "_weights {" in done.stdout


def main():
    skript, *rest = sys.argv[1:]
    inputs, folder, flags, cc = {}, ".", [], "gcc"
    while rest:
        flag = rest.pop(0)
        if flag == "--input":
            name, files = rest.pop(0).split("=", 1)
            arrays = [np.load(file) for file in files.split(",")]
            inputs[name] = arrays[0]
            inputs.update(("%s:%d" % (name, at + 1), array) for at, array in enumerate(arrays))
        elif flag == "--output-dir":
            folder = rest.pop(0)
        elif flag == "--cc":
            cc = rest.pop(0)
        else:
            flags.append(flag)
    model = next(flag for flag in flags if not flag.startswith("-"))
    flags.remove(model)
    try:
        with tempfile.TemporaryDirectory() as build:
            needs = has_weights(skript, model, flags)
            program = Program(skript, model, flags + (["--weights=file"] if needs else []), cc, folder=build)
            values = program.run(inputs)
    except Failed as error:
        sys.exit(str(error))
    except KeyError as error:
        sys.exit("model.c:1:1: error: input %s is not given" % error)
    os.makedirs(folder, exist_ok=True)
    for name, array in values.items():
        if name.startswith("next "):
            continue
        pack = re.fullmatch(r"(.*):(\d+)", name)
        name = "%s_%d" % (pack.group(1), int(pack.group(2)) - 1) if pack else name
        np.save(os.path.join(folder, name + ".npy"), array)


if __name__ == "__main__":
    main()
