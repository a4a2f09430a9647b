#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs models with a dynamic number of rows, compiled for simulated targets with small caches, in memory between inaccessible pages.

    bounds.py --skript BINARY [--case SUBSTRING]... [--sample N]

With small caches, small models are compiled like large ones: with packed operands, split reductions, blocks of rows, and stores that bypass
the cache. Each model is compiled to an object for each target and each upper bound, and runs with every number of rows up to the bound.
The test allocates all memory: each tensor and the arena end before an inaccessible page, and in a second run begin after one. Inputs and
variables are read-only. Results are compared with numpy, and bytes of outputs beyond their rows must not change. `--sample N` selects one of
N compilations, the same ones in each run.
"""
import argparse
import ctypes
import mmap
import os
import re
import subprocess
import sys
import tempfile
import zlib

import numpy

BOUNDS = [1, 3, 16, 63, 65]
CACHES = {"small": "4096,65536,1048576", "tiny": "1024,4096,32768"}
TARGETS = [["--cpu=" + cpu, "--cache-bytes=" + caches] for cpu in ("native", "x86-64-v3") for caches in CACHES.values()]
TYPES = {1: "i4", 2: "i8", 3: "f4", 4: "f8"}


def softmax(x):
    e = numpy.exp(x - x.max(-1, keepdims=True, initial=-numpy.inf))
    return e / e.sum(-1, keepdims=True)


def windows(x, size, stride=1, padding=0, border=0.0):
    """The windows of images: [batch, channels, rows, columns, size, size]."""
    x = numpy.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)], constant_values=border)
    return numpy.lib.stride_tricks.sliding_window_view(x, (size, size), (2, 3))[:, :, ::stride, ::stride]


def conv(x, w, padding=1):
    return numpy.einsum("bcijpq,fcpq->bfij", windows(x, w.shape[2], padding=padding), w, optimize=True)


def relu(x):
    return numpy.maximum(x, 0)


def attention(q, k, v):
    return softmax(q @ k.T) @ v


def normalized(x):
    d = x - x.mean(1, keepdims=True)
    return d / numpy.sqrt((d * d).mean(1, keepdims=True) + 1e-3)


# By name: inputs, variables, outputs, their formulas, and the same computation in numpy. `n` is the bound of the rows.
MODELS = {
    "product": ("x: real[n|N,128]", "w: real[128,768]; b: real[768]", "y: real[~,~]",
                "p = linalg.matmul(x, w); q = math.add{rhs_align=1}(p, b); y = nn.relu(q)", lambda x, w, b: relu(x @ w + b)),
    "wide product": ("x: real[n|N,512]; w: real[512,1100]", "", "y: real[~,~]", "y = linalg.matmul(x, w)", lambda x, w: x @ w),
    "transposed product": ("x: real[n|N,100]", "w: real[300,100]", "y: real[~,~]", "y = linalg.matmul{transB=true}(x, w)", lambda x, w: x @ w.T),
    "product along rows": ("x: real[n|N,40]; v: real[n,300]", "", "y: real[~,~]", "y = linalg.matmul{transA=true}(x, v)", lambda x, v: x.T @ v),
    "products": ("x: real[n|N,96]", "a: real[96,384]; b: real[384,96]", "y: real[~,~]",
                 "p = linalg.matmul(x, a); q = nn.relu(p); r = linalg.matmul(q, b); y = math.add(r, x)", lambda x, a, b: relu(x @ a) @ b + x),
    "attention": ("q: real[n|N,64]; k: real[n,64]; v: real[n,48]", "", "y: real[~,~]",
                  "s = linalg.matmul{transB=true}(q, k); p = nn.softmax{axes=[1]}(s); y = linalg.matmul(p, v)", attention),
    "rows": ("x: real[n|N,640]", "", "y: real[~,~]; z: real[~,~]",
             "y = nn.softmax{axes=[1]}(x); m = math.mean_reduce{axes=[1]}(x); d = math.sub(x, m); e = math.mul(d, d); "
             "v = math.mean_reduce{axes=[1]}(e); u = math.add(v, 0.001); s = math.sqrt(u); z = math.div(d, s)", lambda x: (softmax(x), normalized(x))),
    "columns": ("x: real[n|N,700]", "", "y: real[~,~]; z: real[~,~]", "y = math.sum_reduce{axes=[0]}(x); z = math.max_reduce{axes=[0]}(x)",
                lambda x: (x.sum(0, keepdims=True), x.max(0, keepdims=True, initial=-numpy.inf))),
    "images": ("x: real[n|N,8,11,13]", "w: real[24,8,3,3]; d: real[24,1,3,3]", "y: real[~,~,~,~]; z: real[~,~,~,~]",
               "c = nn.conv{padding=[1,1,1,1]}(x, w); r = nn.relu(c); y = nn.max_pool{size=[3,3],stride=[2,2],padding=[0,0,0,0],axes=[2,3]}(r); "
               "z = nn.conv{groups=24,padding=[1,1,1,1]}(r, d)",
               lambda x, w, d: (windows(relu(conv(x, w)), 3, 2).max((4, 5)), numpy.einsum("bcijpq,cpq->bcij", windows(relu(conv(x, w)), 3, padding=1), d[:, 0]))),
    "wide images": ("x: real[1,6,10,n|N]", "w: real[20,6,3,3]", "y: real[~,~,~,~]; z: real[~,~,~,~]",
                    "y = nn.conv{padding=[1,1,1,1]}(x, w); z = nn.max_pool{size=[3,3],stride=[1,1],padding=[1,1,1,1],axes=[2,3]}(x)",
                    lambda x, w: (conv(x, w), windows(x, 3, padding=1, border=-numpy.inf).max((4, 5)))),
    "map": ("x: real[n|N,4099]", "", "y: real[~,~]", "a = math.mul(x, 3.0); y = math.add(a, 1.0)", lambda x: x * 3 + 1),
    "large": ("x: real[n|N,4]; u: real[650,512]", "", "y: real[~,~]; z: real[~,~]; s: real[~,~]",
              "y = math.mul(x, 2.0); z = math.mul(u, 2.0); s = nn.softmax{axes=[1]}(u)", lambda x, u: (x * 2, u * 2, softmax(u))),
}


def write(folder, bound, inputs, variables, outputs, computes):
    modules = sorted(set(re.findall(r"(\w+)\.\w+[({]", computes)))
    lines = ["import %s;" % m for m in modules] + ["graph G {", "@input { %s; }" % inputs.replace("|N", "|%d" % bound)]
    if variables:
        lines.append("@variable { %s; }" % variables)
    lines += ["@output { %s; }" % outputs, "@compose { %s; }" % computes, "}"]
    with open(os.path.join(folder, "main.sknd"), "w") as file:
        file.write("\n".join(lines) + "\n")


class Header:
    """Tensors and memory according to the header of an object file."""

    def __init__(self, text):
        number = lambda name: int(re.search(r"#define %s (\d+)" % name, text).group(1))
        self.arena, self.prepared = number("SKRIPT_ARENA_BYTES"), number("SKRIPT_PREPARED_BYTES")
        row = r'X\(SKRIPT_(\w+), "([^"]*)", (\d+), (\d+), \d+, SKRIPT_LIST\(([^)]*)\), SKRIPT_LIST\(([^)]*)\)'
        integers = lambda items: [int(item) for item in items.split(",") if item.strip()]
        self.tensors = [(role, name.split(".")[-1], TYPES[int(kind)], integers(bounds), integers(dynamic))
                        for role, name, kind, _, bounds, dynamic in re.findall(row, text)]


class Guarded:
    """Memory directly before or after an inaccessible page."""

    libc = ctypes.CDLL(None, use_errno=True)

    def __init__(self, size, at_end):
        page = mmap.PAGESIZE
        self.size, pages = size, (size + page - 1) // page * page
        self.map = mmap.mmap(-1, pages + 2 * page)
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        self.protect(self.start, page, mmap_none=True)
        self.protect(self.start + page + pages, page, mmap_none=True)
        self.offset = page + (pages - size if at_end else 0)
        self.inner = (self.start + page, pages)
        self.address = self.start + self.offset

    def protect(self, start, size, mmap_none=False):
        if self.libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(size), 0 if mmap_none else mmap.PROT_READ):
            raise OSError(ctypes.get_errno(), "mprotect")

    def array(self, kind, shape=None):
        count = self.size // numpy.dtype(kind).itemsize if shape is None else int(numpy.prod(shape))
        return numpy.frombuffer(self.map, kind, count, self.offset).reshape(-1 if shape is None else shape)

    def seal(self):
        if self.inner[1]:
            self.protect(*self.inner)


UNTOUCHED = 0xA5


def call(library, header, values, at_end):
    """The outputs of a call. Checks that the bytes beyond their rows did not change."""
    memory, pointers, extents, outputs = [], [], [], []
    for role, name, kind, bounds, dynamic in header.tensors:
        shape = bounds if role == "OUTPUT" else list(values[name].shape)
        own = Guarded(int(numpy.prod(shape)) * numpy.dtype(kind).itemsize, at_end)
        if role == "OUTPUT":
            own.array("u1")[:] = UNTOUCHED
        else:
            own.array(kind, shape)[...] = values[name]
            own.seal()
        held = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        if role == "OUTPUT":
            outputs.append((name, kind, own, held, len(shape)))
        extents += [held] if any(dynamic) else []
        memory.append(own)
        pointers.append(own.address)
    arena, prepared = Guarded(header.arena, at_end), Guarded(header.prepared, at_end)
    pointers += [ctypes.addressof(held) for held in extents] + [prepared.address]
    table = (ctypes.c_void_p * len(pointers))(*pointers)
    if header.prepared:
        library.skript_prepare(table)
        prepared.seal()
    context = (ctypes.c_uint8 * 1024)()
    status = library.skript_entry(table, ctypes.c_void_p(arena.address), context)
    if status:
        return "status %d" % status
    results = {}
    for name, kind, own, held, rank in outputs:
        shape = list(held[:rank])
        used = int(numpy.prod(shape)) * numpy.dtype(kind).itemsize
        if (own.array("u1")[used:] != UNTOUCHED).any():
            return "%s: bytes beyond %s are written" % (name, shape)
        results[name] = own.array(kind, shape).copy()
    return results


def runs(library, header, model, bound):
    """Runs with every number of rows. Returns the first difference from numpy, or None."""
    inputs, variables, outputs, _, compute = model
    names = re.findall(r"(\w+): real\[([^\]]*)\]", inputs + "; " + variables)
    expected_names = [name for name, _ in re.findall(r"(\w+): real\[([^\]]*)\]", outputs)]
    random = numpy.random.default_rng(bound)
    full = {name: random.standard_normal([bound if d.split("|")[0] == "n" else int(d) for d in shape.split(",")]).astype("f") for name, shape in names}
    for rows in range(bound + 1):
        values = {}
        for name, shape in names:
            part = tuple(slice(rows) if d.split("|")[0] == "n" else slice(None) for d in shape.split(","))
            values[name] = numpy.ascontiguousarray(full[name][part])
        try:
            with numpy.errstate(all="ignore"):
                expected = compute(*[values[name].astype("f8") for name, _ in names])
        except ValueError:
            # numpy supports neither windows larger than the image nor extremes of empty arrays.
            if rows:
                raise
            continue
        expected = expected if isinstance(expected, tuple) else (expected,)
        for at_end in (True, False):
            results = call(library, header, values, at_end)
            if isinstance(results, str):
                return "%d rows: %s" % (rows, results)
            for name, own in zip(expected_names, expected):
                found = results[name]
                if found.shape != own.shape or not numpy.allclose(found, own, rtol=1e-4, atol=1e-4):
                    wrong = found.size if found.shape != own.shape else int((~numpy.isclose(found, own, rtol=1e-4, atol=1e-4)).sum())
                    return "%d rows: %s %s differs from %s in %d elements" % (rows, name, found.shape, own.shape, wrong)
    return None


def in_child(work):
    """Runs a function in a child process. Returns its result, or how the process ended."""
    read, written = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(written, (work() or "").encode()[:4000])
        except BaseException as error:
            os.write(written, repr(error).encode()[:4000])
        os._exit(0)
    os.close(written)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return "signal %d: an access outside of the memory" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else text or None


def compiled(skript, folder, flags):
    path = os.path.join(folder, "model.o")
    done = subprocess.run([skript, "compile", folder, "-o", path, *flags], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        return None, "not compiled: " + done.stderr.strip()
    shared = os.path.join(folder, "model.so")
    subprocess.run(["cc", "-shared", "-o", shared, path, "-lm"], check=True)
    with open(os.path.join(folder, "model.h")) as file:
        return shared, Header(file.read())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", required=True)
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--sample", type=int, default=1)
    args = parser.parse_args()
    count, failures = 0, 0
    with tempfile.TemporaryDirectory(prefix="bounds_") as top:
        for name, model in MODELS.items():
            if args.case and not any(c in name for c in args.case):
                continue
            for flags in TARGETS:
                for bound in BOUNDS:
                    label = "%s, %s, bound %d" % (name, " ".join(flags), bound)
                    if zlib.crc32(label.encode()) % args.sample:
                        continue
                    count += 1
                    folder = os.path.join(top, str(count))
                    os.makedirs(folder)
                    write(folder, bound, *model[:4])
                    shared, header = compiled(args.skript, folder, flags)
                    said = header if shared is None else in_child(lambda: runs(ctypes.CDLL(shared), header, model, bound))
                    if said:
                        failures += 1
                        print("FAILED %s: %s" % (label, said))
    print("bounds: %d compilations of %d models, %d wrong" % (count, len(MODELS), failures))
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
