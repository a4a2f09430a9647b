#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Weights of a shared object: compares each type of file with numpy; invalid files are refused. weights.py --skript BINARY"""
import argparse
import ctypes
import os
import struct
import subprocess
import tempfile

import numpy as np

MODEL = """graph Weights {
    @input { x: real[1]; }
    @variable { r: real[23]; i: int[23]; b: bool[23]; }
    @output { y: real[1]; }
    @compose { y = x; }
    @update { r = copy(r); i = copy(i); b = copy(b); }
}
operator copy {
    @dtype { T: type; }
    @input { x: T[n]; }
    @output { y: T[n]; }
    @lower { y[i,] = x[i,], i < n; }
}
"""
COUNT = 23


class Tensor(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("rank", ctypes.c_uint32), ("extents", ctypes.c_int64 * 16),
                ("data", ctypes.c_void_p), ("bytes", ctypes.c_uint64)]


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("text", ctypes.c_char * 2048)]


def dat(code, bits, data, count=COUNT, length=None, rank=1, marked=0, magic=b"\x4e\xef\x01\x00"):
    stated = len(data) if length is None else length
    head = magic + struct.pack("<II8III", stated, rank, count, *[0] * 7, bits, code) + struct.pack("<I", marked)
    return head.ljust(128, b"\0") + data


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--skript", required=True)
    binary = os.path.abspath(parser.parse_args().skript)
    folder = tempfile.mkdtemp()
    model = os.path.join(folder, "main.sknd")
    with open(model, "w") as file:
        file.write(MODEL)
    subprocess.run([binary, "compile", model, "-o", os.path.join(folder, "model.so")], check=True)
    library = ctypes.CDLL(os.path.join(folder, "model.so"))
    library.skript_create.restype = ctypes.c_void_p
    library.skript_create.argtypes = [ctypes.c_char_p, ctypes.POINTER(Error)]
    library.skript_free.argtypes = [ctypes.c_void_p]
    library.skript_read_variable.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(Tensor), ctypes.POINTER(Error)]
    library.skript_find.restype = ctypes.c_int64
    names = {"r": np.float32, "i": np.int64, "b": np.bool_}
    error = Error()

    def store(name, content):
        with open(os.path.join(folder, "main.Weights.%s.dat" % name), "wb") as file:
            file.write(content)

    def good():
        store("r", dat(0, 32, np.zeros(COUNT, np.float32).tobytes()))
        store("i", dat(4, 64, np.zeros(COUNT, np.int64).tobytes()))
        store("b", dat(5, 1, bytes(3)))

    def load(name):
        instance = library.skript_create(folder.encode(), ctypes.byref(error))
        if not instance:
            return error.text.decode()
        index = library.skript_find(1, b"main.Weights." + name.encode())
        found = np.zeros(COUNT, names[name])
        tensor = Tensor(data=found.ctypes.data, bytes=found.nbytes)
        assert library.skript_read_variable(instance, index, ctypes.byref(tensor), ctypes.byref(error)) == 0, error.text
        library.skript_free(instance)
        return found

    def converted(name, content, wanted):
        good()
        store(name, content)
        found = load(name)
        assert not isinstance(found, str), found
        assert np.array_equal(found, wanted, equal_nan=found.dtype.kind == "f"), (found, wanted)

    def refused(name, content, text):
        good()
        store(name, content)
        found = load(name)
        assert isinstance(found, str) and text in found, (found, text)

    random = np.random.default_rng(1)
    cases = 0
    for _ in range(200):
        halves = random.integers(0, 1 << 16, COUNT, np.uint16).view(np.float16)
        converted("r", dat(0, 16, halves.tobytes()), halves.astype(np.float32))
        doubles = np.ldexp(random.standard_normal(COUNT), random.integers(-160, 120, COUNT))
        doubles[:3] = [np.inf, -np.inf, np.nan]
        converted("r", dat(0, 64, doubles.tobytes()), doubles.astype(np.float32))
        cases += 2
    for bits in (8, 16, 32, 64):
        for signed in (False, True):
            kind = np.dtype("%s%d" % ("i" if signed else "u", bits // 8))
            most = min(np.iinfo(kind).max, np.iinfo(np.int64).max)
            numbers = random.integers(np.iinfo(kind).min, most, COUNT, kind, endpoint=True)
            converted("i", dat(4 if signed else 1, bits, numbers.tobytes()), numbers.astype(np.int64))
            if signed:
                converted("i", dat(1, bits, numbers.tobytes(), marked=1), numbers.astype(np.int64))
            cases += 1
    flags = random.integers(0, 2, COUNT).astype(bool)
    converted("b", dat(5, 1, np.packbits(flags).tobytes()), flags)
    converted("b", dat(5, 8, (flags * 7).astype(np.uint8).tobytes()), flags)
    zeros = bytes(4 * COUNT)
    refused("r", dat(0, 64, np.full(COUNT, 1e300).tobytes()), "element 0 is no f32 number")
    refused("i", dat(1, 64, np.full(COUNT, 1 << 63, np.uint64).tobytes()), "element 0 is no i64 number")
    refused("r", dat(4, 32, zeros), "are i32 instead of f32")
    refused("b", dat(0, 32, zeros), "are f32 instead of bool")
    refused("r", dat(0, 32, zeros, count=22), "extent 0 is 22 instead of 23")
    refused("r", dat(0, 32, zeros, count=0xffffffff), "extent 0 is 4294967295")
    refused("r", dat(0, 32, zeros, rank=2), "rank 2 instead of 1")
    refused("r", dat(0, 32, zeros, rank=0xffffffff), "rank 4294967295 is above 8")
    refused("r", dat(0, 32, zeros, length=91), "the header states 91")
    refused("r", dat(0, 32, zeros[:-1]), "91 follow it")
    refused("r", dat(0, 32, zeros + b"x"), "93 follow it")
    refused("r", dat(0, 24, zeros), "24 bits are not supported")
    refused("r", dat(3, 32, zeros), "items of type 3")
    refused("r", dat(0x10000, 32, zeros), "items of type 65536")
    refused("r", dat(0, 32, zeros, magic=b"\x4e\xef\x02\x00"), "version 2.0")
    refused("r", b"\x93NUMPY".ljust(220), "not an NNEF tensor")
    refused("r", b"short", "too few")
    refused("r", b"", "is empty")
    good()
    os.remove(os.path.join(folder, "main.Weights.r.dat"))
    assert "no weights for variable `main.Weights.r`" in load("r")
    os.mkdir(os.path.join(folder, "main.Weights.r.dat"))
    assert "not an ordinary file" in load("r")
    os.rmdir(os.path.join(folder, "main.Weights.r.dat"))
    os.mkfifo(os.path.join(folder, "main.Weights.r.dat"))
    assert "not an ordinary file" in load("r")
    os.remove(os.path.join(folder, "main.Weights.r.dat"))
    with tempfile.NamedTemporaryFile(suffix=".dat") as outside:
        outside.write(dat(0, 32, zeros))
        outside.flush()
        os.symlink(outside.name, os.path.join(folder, "main.Weights.r.dat"))
        assert "a link out of its folder" in load("r")
    print("C: weights of all types are as numpy has them (%d files), and 21 that lie are refused" % cases)


main()
