#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports conformance cases to StableHLO, which XLA parses, verifies, serializes and runs on the CPU.

    xla.py SUITE --skript BINARY [--shard I/N] [--case SUBSTRING]... [--seconds S] [--update] [--report FILE]

`skript compile --emit=stablehlo` exports all cases of the suite that have outputs. The results of XLA are compared with the
expected values. Cases with dynamic extents of inputs are exported twice: with the shapes of their files, and (`CASE+padded`)
padded to their bounds with NaN, or a number that changes every sum. `passing-xla.txt` beside this file lists the passing
cases; it only grows: a listed case that fails is an error, and `--update` adds new ones. The script needs the version of jax
below, which is also that of scripts/requirements.in, because it uses unstable interfaces.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import time

VERSION = "0.10.2"
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))
import shards  # noqa: E402


def require():
    """Ends the script unless this jax version is installed."""
    try:
        import jax
        found = jax.__version__
    except ImportError:
        found = "none"
    if found != VERSION:
        sys.exit("xla: needs jax %s, found %s: run scripts/setup.sh" % (VERSION, found))


def collect(suite, chosen):
    cases = []
    for family in sorted(os.listdir(suite)):
        for name in sorted(os.listdir(os.path.join(suite, family))) if os.path.isdir(os.path.join(suite, family)) else []:
            folder = os.path.join(suite, family, name)
            path = os.path.join(folder, "case.json")
            if not os.path.isfile(path) or chosen and not any(c in family + "/" + name for c in chosen):
                continue
            with open(path) as file:
                meta = json.load(file)
            if meta["expect"] == "ok" and meta.get("outputs"):
                cases.append((family + "/" + name, folder, meta))
    return cases


def shapes_of(case):
    """Flags that set the shapes of a case's inputs to those of its files."""
    import numpy
    _, folder, meta = case
    flags = []
    for name, files in (meta.get("inputs") or {}).items():
        files = files if isinstance(files, list) else [files]
        shapes = [numpy.load(os.path.join(folder, file)).shape for file in files]
        flags += ["--input-shape", name + "=" + ";".join(",".join(map(str, shape)) for shape in shapes)]
    return flags


def export(skript, case, out, shapes, weights="file"):
    """Exports a program. Returns None, or the reason of the failure. `shapes` are flags for the shapes of inputs, `weights` one for the weights."""
    name, folder, meta = case
    command = [skript, "compile", "--message-format=short", "--emit=stablehlo", folder, "-o", out, "--report", out + ".forms"]
    command += meta.get("args") or []
    command += shapes
    for key, value in (meta.get("attrs") or {}).items():
        command += ["--set", "%s=%s" % (key, json.dumps(value))]
    if meta.get("variables"):
        command.append("--weights=" + weights)
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode == 0:
        return None
    said = done.stderr.strip().split("\n")
    return "no export: " + (said[0] if said else "exit status %d" % done.returncode)


def read_dat(path):
    import numpy
    with open(path, "rb") as file:
        data = file.read()
    length, = numpy.frombuffer(data, "<u4", 1, 4)
    rank, = numpy.frombuffer(data, "<u4", 1, 8)
    extents = numpy.frombuffer(data, "<u4", 8, 12)[:rank]
    bits, kind = (int(v) for v in numpy.frombuffer(data, "<u4", 2, 44))
    body = data[128:128 + int(length)]
    if kind == 5 or bits == 1:
        raw = numpy.unpackbits(numpy.frombuffer(body, "u1"))[:int(numpy.prod(extents))] if bits == 1 else numpy.frombuffer(body, "u1")
        return raw.astype(bool).reshape(extents)
    dtype = {0: "<f", 1: "<u", 2: "<u", 3: "<i", 4: "<i"}[kind] + str(bits // 8)
    return numpy.frombuffer(body, dtype).reshape(extents)


class Xla:
    """The XLA of one process: parses, verifies, serializes, compiles and runs programs."""

    def __init__(self):
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        import jax
        import jax.extend.backend
        import numpy
        from jax._src.interpreters import mlir
        from jax._src.lib import xla_client
        from jaxlib.mlir import ir
        from jaxlib.mlir.dialects import stablehlo
        jax.config.update("jax_enable_x64", True)
        self.jax, self.numpy, self.mlir, self.client, self.ir, self.stablehlo = jax, numpy, mlir, xla_client, ir, stablehlo
        self.backend = jax.extend.backend.get_backend("cpu")

    def run(self, text, arguments):
        with self.mlir.make_ir_context():
            module = self.ir.Module.parse(text)
            module.operation.verify()
            self.stablehlo.serialize_portable_artifact_str(str(module), self.stablehlo.get_minimum_version())
            devices = self.client.DeviceList(tuple(self.backend.local_devices()[:1]))
            program = self.backend.compile_and_load(module, devices, self.client.CompileOptions())
            results = program.execute([self.jax.device_put(a) for a in arguments])
            return [self.numpy.asarray(r) for r in results]


def read_safetensors(path):
    """The arrays of a file, by name."""
    import numpy
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header, data = json.loads(file.read(length)), file.read()
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        dtype = {"F32": "<f4", "I64": "<i8", "BOOL": "?"}[entry["dtype"]]
        arrays[name] = numpy.frombuffer(data[begin:end], dtype).reshape(entry["shape"])
    return arrays


def dtype_of(word):
    """The numpy type of a manifest's element type."""
    import numpy
    return numpy.dtype({"i1": "?"}.get(word) or "<%s%d" % (word[0], int(word[1:]) // 8))


def values_of(port, folder, meta, weights):
    import numpy
    dtype = dtype_of(port["dtype"])
    name = port["name"]
    if name in weights:
        values = weights[name]
    elif port["role"] == "variable":
        values = read_dat(os.path.join(folder, (meta.get("variables") or {}).get(name, name + ".dat")))
    else:
        base, _, item = name.partition(":")
        files = meta["inputs"][base]
        values = numpy.load(os.path.join(folder, files[int(item) - 1] if item else files))
    return values.astype(dtype)


def padded_to(shape, values):
    """A larger array that begins with the given one; its padding is values that change every sum."""
    import numpy
    if values.dtype.kind == "i":
        filler = min(2 ** 40 + 1, numpy.iinfo(values.dtype).max)
    else:
        filler = True if values.dtype.kind == "b" else numpy.nan
    whole = numpy.full(shape, filler, values.dtype)
    whole[tuple(slice(0, e) for e in values.shape)] = values
    return whole


def arguments_of(manifest, folder, meta, beside):
    """The case's arrays, padded to the shapes of the program, and their extents."""
    import numpy
    ports = manifest["arguments"]
    weights = read_safetensors(os.path.join(beside, manifest["weights"])) if "weights" in manifest else {}
    arrays = {p["name"]: values_of(p, folder, meta, weights) for p in ports if p["role"] != "extent"}
    padded = {p["extent_of"] for p in ports if p["role"] == "extent"}
    arguments = []
    for port in ports:
        name, shape = port["name"], tuple(port["shape"])
        if port["role"] == "extent":
            arguments.append(numpy.int32(arrays[port["extent_of"]].shape[port["dimension"]]))
        elif name in padded:
            arguments.append(padded_to(shape, arrays[name]))
        elif arrays[name].size != int(numpy.prod(shape)):
            raise ValueError("%s has shape %s, the program wants %s" % (name, arrays[name].shape, shape))
        else:
            arguments.append(arrays[name].reshape(shape))
    return arguments


def results_of(manifest, results):
    """The arrays of the outputs by name, cut to their dynamic extents."""
    pairs = list(zip(manifest["results"], results))
    found = {p["name"]: r for p, r in pairs if p["role"] == "output"}
    for port, extent in pairs:
        if port["role"] == "extent" and port["extent_of"] in found:
            whole = found[port["extent_of"]]
            cut = [slice(None)] * whole.ndim
            cut[port["dimension"]] = slice(0, int(extent))
            found[port["extent_of"]] = whole[tuple(cut)]
    return found


def difference(want, got, meta):
    import numpy
    if want.shape != got.shape:
        return "shape %s instead of %s" % (got.shape, want.shape)
    if want.dtype.kind == "f":
        bad = ~numpy.isclose(got.astype("f8"), want.astype("f8"), rtol=meta.get("rtol", 1e-4), atol=meta.get("atol", 1e-5), equal_nan=True)
    else:
        bad = got != want
    if not numpy.any(bad):
        return None
    at = tuple(numpy.argwhere(bad)[0])
    return "%d of %d values differ, first at %s: %s instead of %s" % (bad.sum(), bad.size, [int(i) for i in at], got[at], want[at])


def manifest_of(path):
    with open(path + ".json") as file:
        return json.load(file)


def judge(xla, case, path):
    """Describes how XLA's results differ from the expected ones; returns None if they are equal."""
    import numpy
    name, folder, meta = case
    with open(path) as file:
        text = file.read()
    manifest = manifest_of(path)
    try:
        found = results_of(manifest, xla.run(text, arguments_of(manifest, folder, meta, os.path.dirname(path))))
    except Exception as error:
        return "XLA: " + " ".join(str(error).split())[:300]
    for key, files in meta["outputs"].items():
        names = ["%s:%d" % (key, i + 1) for i in range(len(files))] if isinstance(files, list) else [key]
        for port, file in zip(names, files if isinstance(files, list) else [files]):
            if port not in found:
                return "no result %s" % port
            reason = difference(numpy.load(os.path.join(folder, file)), found[port], meta)
            if reason:
                return "%s: %s" % (port, reason)
    return None


def work(job):
    """Runs the cases of one process."""
    cases, skript, seconds = job
    xla, results, begun = Xla(), {}, time.time()
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(cases):
            if seconds and time.time() - begun > seconds:
                break
            path = os.path.join(folder, "%d.mlir" % number)
            open_path = os.path.join(folder, "%d.open.mlir" % number)
            reason, forms = attempt(xla, case, skript, open_path, [])
            if os.path.exists(open_path + ".json"):
                is_padded = any(p["role"] == "extent" for p in manifest_of(open_path)["arguments"])
            else:
                is_padded = False
            if is_padded:
                results[case[0] + "+padded"] = (reason, forms)
            if is_padded or reason is not None:
                reason, forms = attempt(xla, case, skript, path, shapes_of(case))
            results[case[0]] = (reason, forms)
    return results


def attempt(xla, case, skript, path, shapes):
    """The error of the result, or None, and the forms of the formulas."""
    try:
        for weights in ("file", "inline") if case[2].get("variables") else ("file",):
            reason = export(skript, case, path, shapes, weights)
            if reason is None:
                reason = judge(xla, case, path)
            if reason is not None:
                break
    except subprocess.TimeoutExpired:
        reason = "no export: timed out"
    forms = []
    if os.path.exists(path + ".forms"):
        with open(path + ".forms") as file:
            forms = [line.rstrip("\n").split("\t") for line in file]
    return reason, forms


def run(cases, skript, jobs, seconds):
    chunks = [cases[i::jobs] for i in range(jobs)]
    results = {}
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        for part in pool.map(work, [(c, skript, seconds) for c in chunks if c]):
            results.update(part)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("suite")
    parser.add_argument("--skript", required=True)
    shards.add_argument(parser)
    parser.add_argument("--case", action="append")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--report", help="write the form of each formula of each operator to this file")
    parser.add_argument("--verbose", action="store_true", help="print every case that fails, listed or not")
    args = parser.parse_args()
    require()
    cases = collect(args.suite, args.case)
    cases = shards.shard(cases, args.shard)
    path = os.path.join(HERE, "passing-xla.txt")
    listed = set()
    if os.path.exists(path):
        with open(path) as file:
            listed = set(file.read().split())
    results = run(cases, os.path.abspath(args.skript), args.jobs, args.seconds)
    passing = {case for case, (reason, _) in results.items() if reason is None}
    lost = sorted(listed & set(results) - passing)
    for case in lost:
        print("REGRESSION %s: %s" % (case, results[case][0]))
    if args.verbose:
        for case in sorted(set(results) - passing):
            print("FAIL %s: %s" % (case, results[case][0]))
    if args.report:
        with open(args.report, "w") as file:
            for case in sorted(results):
                for function, operator, form, *_ in results[case][1]:
                    file.write("%s\t%s\t%s\t%s\n" % (case, function, operator, form))
    forms = collections.Counter(form for _, forms in results.values() for _, _, form, *_ in forms)
    print("forms of formulas: " + ", ".join("%s %d" % item for item in forms.most_common()))
    exported = sum(1 for reason, _ in results.values() if not (reason or "").startswith("no export"))
    gained = sorted(passing - listed)
    if args.update and gained:
        with open(path, "w") as file:
            file.write("".join(case + "\n" for case in sorted(listed | passing)))
    elif gained:
        print("%d cases pass that the list does not hold yet (--update adds them)" % len(gained))
    print("StableHLO in XLA: %d cases, %d exported, %d equal, %d listed" % (len(results), exported, len(passing), len(listed)))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
