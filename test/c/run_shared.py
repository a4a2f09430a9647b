#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a model like `skript run`, but through a shared object and its C interface, for the conformance suite.

    run_shared.py SKRIPT MODEL [--input NAME=FILE.npy[,FILE.npy]]... [--output-dir DIR] [flags of skript compile]...
"""
import ctypes
import os
import subprocess
import sys
import tempfile

import numpy as np

ROLES = INPUT, VARIABLE, OUTPUT = range(3)
TYPES = [np.bool_, np.int32, np.int64, np.float32, np.float64, np.float16, None, np.int8, np.int16, np.uint8, np.uint16,
         np.uint32, np.uint64]


class Port(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int), ("rank", ctypes.c_uint32),
                ("bounds", ctypes.POINTER(ctypes.c_int64)), ("dynamic", ctypes.POINTER(ctypes.c_uint8)),
                ("bytes", ctypes.c_uint64), ("pack", ctypes.c_char_p), ("position", ctypes.c_uint32),
                ("length", ctypes.c_uint32)]


class Tensor(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("rank", ctypes.c_uint32), ("extents", ctypes.c_int64 * 16),
                ("data", ctypes.c_void_p), ("bytes", ctypes.c_uint64)]


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("text", ctypes.c_char * 2048)]


def fail(text):
    sys.exit("model.so:1:1: error: " + text)


def load(path):
    library = ctypes.CDLL(path)
    library.skript_port_at.restype = ctypes.POINTER(Port)
    library.skript_count.restype = ctypes.c_size_t
    library.skript_create.restype = ctypes.c_void_p
    library.skript_create.argtypes = [ctypes.c_char_p, ctypes.POINTER(Error)]
    library.skript_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t,
                                   ctypes.POINTER(Error)]
    library.skript_free.argtypes = [ctypes.c_void_p]
    return library


def ports(library, role):
    return [library.skript_port_at(role, n).contents for n in range(library.skript_count(role))]


def tensor(array):
    extents = (ctypes.c_int64 * 16)(*array.shape)
    return Tensor(TYPES.index(array.dtype.type), array.ndim, extents, array.ctypes.data, array.nbytes)


def main():
    skript, model, *rest = sys.argv[1:]
    inputs, folder, flags = {}, ".", []
    while rest:
        flag = rest.pop(0)
        if flag == "--input":
            name, files = rest.pop(0).split("=", 1)
            inputs[name] = files.split(",")
        elif flag == "--output-dir":
            folder = rest.pop(0)
        else:
            flags.append(flag)
    with tempfile.TemporaryDirectory() as build:
        path = os.path.join(build, "model.so")
        done = subprocess.run([skript, "compile", model, "-o", path] + flags)
        if done.returncode:
            sys.exit(done.returncode)
        library = load(path)
    error = Error()
    weights = model if os.path.isdir(model) else os.path.dirname(model)
    weights = None if "--embed-weights" in flags else weights.encode()
    instance = library.skript_create(weights, ctypes.byref(error))
    if not instance:
        fail(error.text.decode())
    given, buffers = [], []
    for port in ports(library, INPUT):
        name = (port.pack or port.name).decode()
        files = inputs.get(name)
        if files is None or len(files) != (port.length if port.pack else 1):
            fail("input `%s` is not given as the model has it" % name)
        array = np.load(files[port.position if port.pack else 0])
        if array.dtype.kind != np.dtype(TYPES[port.type]).kind and array.dtype.kind not in "iu":
            fail("input `%s` is of another kind" % name)
        given.append(np.require(array.astype(TYPES[port.type]), requirements=["C", "A"]))
    for port in ports(library, OUTPUT):
        buffers.append(np.zeros(max(port.bytes, 1), np.uint8))
    tensors = (Tensor * max(len(given), 1))(*map(tensor, given))
    results = (Tensor * max(len(buffers), 1))(*[Tensor(data=r.ctypes.data, bytes=r.nbytes) for r in buffers])
    if library.skript_run(instance, tensors, len(given), results, len(buffers), ctypes.byref(error)):
        fail(error.text.decode().replace("\n", " "))
    os.makedirs(folder, exist_ok=True)
    for port, result, held in zip(ports(library, OUTPUT), results, buffers):
        shape = tuple(result.extents[:result.rank])
        kind = np.dtype(TYPES[result.type])
        array = held[:int(np.prod(shape, dtype=np.int64)) * kind.itemsize].view(kind).reshape(shape)
        name = "%s_%d" % (port.pack.decode(), port.position) if port.pack else port.name.decode()
        np.save(os.path.join(folder, name + ".npy"), array)
    library.skript_free(instance)


if __name__ == "__main__":
    main()
