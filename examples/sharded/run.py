#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the model of this folder on one device and on eight, which JAX simulates on the CPU, and compares.

    run.py --skript BINARY

Three programs are exported: one for a single device, one whose batch is split over the devices, one whose hidden units
are (each device holds an eighth of both weight matrices). XLA partitions them by the annotations in the program; where
arrays start out is read from the manifest beside it. All three answers are held against numpy's.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "test", "stablehlo"))
import xla  # noqa: E402

DEVICES = 8
SPLIT_UNITS = ["--shard", "main.Classifier.up=model", "--shard", "main.Classifier.up_bias=model",
               "--shard", "main.Classifier.down=_,model"]
PLACEMENTS = {
    "one device": [],
    "batch-parallel": ["--mesh", "data=8", "--shard", "x=data", "--shard", "y=data"],
    "tensor-parallel": ["--mesh", "model=8"] + SPLIT_UNITS,
    "both": ["--mesh", "data=2,model=4", "--shard", "x=data", "--shard", "y=data"] + SPLIT_UNITS,
}


def execute(program, manifest, arrays):
    """The first result, put together from its parts, and what the program of one device exchanges with others."""
    import jax
    import numpy
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    from jaxlib.mlir import ir

    axes = manifest.get("mesh", [{"axis": "all", "devices": 1}])
    extents = [axis["devices"] for axis in axes]
    count = int(numpy.prod(extents))
    devices = jax.devices()[:count]
    mesh = Mesh(numpy.array(devices).reshape(extents), [axis["axis"] for axis in axes])

    def placed(port):
        split = [tuple(axes) or None for axes in port.get("sharding", [])]
        return NamedSharding(mesh, PartitionSpec(*split))

    options = xla_client.CompileOptions()
    options.num_partitions = options.executable_build_options.num_partitions = count
    options.executable_build_options.use_spmd_partitioning = True
    options.executable_build_options.use_shardy_partitioner = True
    assignment = numpy.arange(count).reshape(1, count)
    options.executable_build_options.device_assignment = xla_client.DeviceAssignment.create(assignment)
    backend = devices[0].client
    with mlir.make_ir_context():
        module = ir.Module.parse(program)
        module.operation.verify()
        executable = backend.compile_and_load(module, xla_client.DeviceList(tuple(devices)), options)
    given = [jax.device_put(array, placed(port)) for array, port in zip(arrays, manifest["arguments"])]
    parts = executable.execute_sharded(given).disassemble_into_single_device_arrays()[0]
    port = manifest["results"][0]
    result = jax.make_array_from_single_device_arrays(tuple(port["shape"]), placed(port), parts)
    code = executable.hlo_modules()[0].to_string()
    exchanged = [op for op in ("all-reduce", "all-gather", "all-to-all", "reduce-scatter") if op + "(" in code]
    return numpy.asarray(result), exchanged


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--skript", required=True)
    skript = arguments.parse_args().skript
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=%d" % DEVICES
    xla.require()
    import numpy

    random = numpy.random.default_rng(7)
    values = {name: random.standard_normal(shape).astype("f") * scale for name, shape, scale in (
        ("x", (16, 32), 1), ("up", (64, 32), 0.2), ("up_bias", (64,), 0.1), ("down", (8, 64), 0.2), ("down_bias", (8,), 0.1))}
    hidden = numpy.maximum(values["x"] @ values["up"].T + values["up_bias"], 0)
    scores = (hidden @ values["down"].T + values["down_bias"]).astype("f8")
    want = numpy.exp(scores - scores.max(1, keepdims=True))
    want /= want.sum(1, keepdims=True)

    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, flags in PLACEMENTS.items():
            path = os.path.join(folder, "program.mlir")
            subprocess.run([skript, "compile", HERE, "--emit=stablehlo", "-o", path] + flags, check=True)
            with open(path) as file, open(path + ".json") as beside:
                program, manifest = file.read(), json.load(beside)
            arrays = [values[port["name"].split(".")[-1]] for port in manifest["arguments"]]
            got, exchanged = execute(program, manifest, arrays)
            error = float(numpy.abs(got - want).max())
            wrong += not error < 1e-5
            print("  %-16s largest difference %.1e; devices exchange: %s" % (name, error, ", ".join(exchanged) or "nothing"))
    sys.exit(wrong and "sharded: %d programs are wrong" % wrong)


if __name__ == "__main__":
    main()
