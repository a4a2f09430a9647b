#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the model of this folder and a step of its training on one device and on eight, which JAX simulates on the CPU.

    run.py --skript BINARY

The model is exported for a single device, with the batch split over the devices, with the hidden units split (each device has an
eighth of both weight matrices), and with both; the training step for a single device and with the batch split. XLA partitions the
programs by their annotations; the manifest beside a program has the sharding of its arrays. numpy computes the expected results.
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
SPLIT_BATCH = ["--mesh", "data=8", "--shard", "x=data"]
PLACEMENTS = {
    "one device": [],
    "batch-parallel": SPLIT_BATCH + ["--shard", "y=data"],
    "tensor-parallel": ["--mesh", "model=8"] + SPLIT_UNITS,
    "both": ["--mesh", "data=2,model=4", "--shard", "x=data", "--shard", "y=data"] + SPLIT_UNITS,
}
TRAINING = {"one device": [], "batch-parallel": SPLIT_BATCH + ["--shard", "label=data"]}
RATE = 0.5


def execute(program, manifest, arrays):
    """The results, assembled from their parts, and the operations by which the devices exchange elements."""
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
    parts = executable.execute_sharded(given).disassemble_into_single_device_arrays()
    results = []
    for port, part in zip(manifest["results"], parts, strict=True):
        result = jax.make_array_from_single_device_arrays(tuple(port["shape"]), placed(port), part)
        results.append(numpy.asarray(result))
    code = executable.hlo_modules()[0].to_string()
    exchanged = [op for op in ("all-reduce", "all-gather", "all-to-all", "reduce-scatter") if op + "(" in code]
    return results, exchanged


def forward(values):
    """The scores and their softmax, with the hidden units."""
    import numpy

    hidden = numpy.maximum(values["x"] @ values["up"].T + values["up_bias"], 0)
    scores = hidden @ values["down"].T + values["down_bias"]
    raised = numpy.exp(scores - scores.max(1, keepdims=True))
    return hidden, raised / raised.sum(1, keepdims=True)


def trained(values):
    """The mean loss, and the variables after a step of gradient descent, by the derivatives of the two layers."""
    import numpy

    hidden, probabilities = forward(values)
    rows = numpy.arange(len(values["label"]))
    loss = -numpy.log(probabilities[rows, values["label"]]).mean()
    of_scores = probabilities.copy()
    of_scores[rows, values["label"]] -= 1
    of_scores /= len(rows)
    of_raised = (of_scores @ values["down"]) * (hidden > 0)
    slopes = {"up": of_raised.T @ values["x"], "up_bias": of_raised.sum(0), "down": of_scores.T @ hidden, "down_bias": of_scores.sum(0)}
    return {"loss": loss, **{name: values[name] - RATE * slope for name, slope in slopes.items()}}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--skript", required=True)
    skript = arguments.parse_args().skript
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["JAX_ENABLE_X64"] = "1"
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=%d" % DEVICES
    xla.require()
    import numpy

    random = numpy.random.default_rng(7)
    values = {name: random.standard_normal(shape) * scale for name, shape, scale in (
        ("x", (16, 32), 1), ("up", (64, 32), 0.2), ("up_bias", (64,), 0.1), ("down", (8, 64), 0.2), ("down_bias", (8,), 0.1))}
    values["label"] = random.integers(0, 8, 16)
    given = {name: array.astype("i8" if name == "label" else "f4") for name, array in values.items()}

    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        step = os.path.join(folder, "step")
        subprocess.run([skript, "grad", os.path.join(HERE, "training.sknd"), "--of", "loss",
                        "--train", "optim.sgd{rate=%s}" % RATE, "-o", step], check=True)
        for title, model, placements, want in (("model", HERE, PLACEMENTS, {"y": forward(values)[1]}),
                                               ("training step", step, TRAINING, trained(values))):
            for name, flags in placements.items():
                path = os.path.join(folder, "program.mlir")
                subprocess.run([skript, "compile", model, "--emit=stablehlo", "-o", path] + flags, check=True)
                with open(path) as file, open(path + ".json") as beside:
                    program, manifest = file.read(), json.load(beside)
                arrays = [given[port["name"].split(".")[-1]] for port in manifest["arguments"]]
                results, exchanged = execute(program, manifest, arrays)
                named = zip((port["name"].split(".")[-1] for port in manifest["results"]), results, strict=True)
                errors = {result: float(numpy.abs(got - want[result]).max()) for result, got in named}
                # A NaN is wrong, too.
                is_right = errors.keys() == want.keys() and all(error < 1e-5 for error in errors.values())
                is_summed = title == "model" or not flags or "all-reduce" in exchanged
                wrong += not (is_right and is_summed)
                print("  %-13s  %-15s  largest difference %.1e; devices exchange: %s" % (
                    title, name, numpy.max(list(errors.values())), ", ".join(exchanged) or "nothing"))
    sys.exit(wrong and "sharded: %d programs are wrong" % wrong)


if __name__ == "__main__":
    main()
