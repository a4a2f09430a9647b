# SPDX-License-Identifier: Apache-2.0
"""Runs one engine on one workload in a separate process. In measurements, it is pinned to as many CPUs as it has threads.

A peer is a program that forks a process for each request (timing.py)."""
import atexit
import contextlib
import glob
import json
import os
import select
import signal
import subprocess
import sys
import tempfile

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
# torch has a separate environment, and is a peer only if this is installed. It computes the workloads that have a torch function, by
# executing their model.py.
PYTHON = {"torch": os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "torch-venv", "bin", "python")}
OURS, PEERS = "ours", ("onnxruntime", "openvino", "tract", *(name for name, path in PYTHON.items() if os.path.exists(path)))
# tract does not create threads.
MOST_THREADS = {"tract": 1}
# The time limit of a process, in seconds.
TIMEOUT = 180


class Failed(Exception):
    """An engine failed on a workload, with the reason."""


def cpus(threads, round):
    """CPUs for a process. They change in each round, so that other work on one of them does not affect all rounds."""
    available = sorted(os.sched_getaffinity(0))
    first = round % len(available)
    return {(available[first:] + available[:first])[at] for at in range(min(threads, len(available)))}


def run(command, pinned, **environment):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, env={**os.environ, **environment},
                              preexec_fn=lambda: os.sched_setaffinity(0, pinned))
    except subprocess.TimeoutExpired:
        raise Failed("no result within %d s" % TIMEOUT)
    if done.returncode:
        raise Failed((done.stderr.strip().splitlines() or ["exit status %d" % done.returncode])[-1][:300])
    return done.stdout


# Additional options of skript.
OURS_OPTIONS = []


def arguments(folder):
    """The inputs of a workload as options of skript."""
    paths = sorted(glob.glob(os.path.join(folder, "x*.npy")))
    return [part for path in paths for part in ("--input", "%s=%s" % (os.path.basename(path)[: -len(".npy")], path))]


def ours(folder):
    """A workload as arguments of skript. A workload without a document is a quantized ONNX model."""
    has_text = os.path.exists(os.path.join(folder, "main.sknd"))
    model = [folder] if has_text else [os.path.join(folder, "model.onnx"), "--quantize=integer"]
    with open(os.path.join(folder, "options.json")) as file:
        return [*model, *json.load(file), *OURS_OPTIONS, *arguments(folder)]


def measure_ours(skript, folder, threads, round, calls):
    """The output of `skript bench --json`."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        run([skript, "bench", *ours(folder), "--threads", str(threads), "--calls", str(calls), "--json", file.name], cpus(threads, round))
        return json.load(file)


def available(names, folder):
    """The peers that can compute a workload."""
    return [name for name in names if name != "torch" or os.path.exists(os.path.join(folder, "model.py"))]


def python(name):
    """The Python interpreter with a peer's package."""
    return PYTHON.get(name, sys.executable)


def version(name):
    """The version of a peer's package."""
    return run([python(name), "-c", "import importlib.metadata as m; print(m.version('%s'))" % name], os.sched_getaffinity(0)).strip()


# The started programs of the peers, by name.
_programs = {}


def request(name, folder, pinned, threads=1, seconds=0.0, outputs=None):
    """The response of a peer for one workload (timing.py)."""
    if name not in _programs:
        command = [python(name), os.path.join(HERE, "peer_%s.py" % name)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        _programs[name] = subprocess.Popen(command, text=True, start_new_session=True, **pipes)
    program, more = _programs[name], {"threads": threads, "seconds": seconds, "outputs": outputs}
    print(json.dumps({"folder": folder, "cpus": sorted(pinned), **more}), file=program.stdin, flush=True)
    answered, _, _ = select.select([program.stdout], [], [], TIMEOUT)
    answer = json.loads(program.stdout.readline() or '{"error": "the peer ended"}') if answered else {"error": "no result within %d s" % TIMEOUT}
    if not answered or program.poll() is not None:
        stop(name)
    if "error" in answer:
        raise Failed(answer["error"])
    return answer


def stop(name):
    """Ends the program of a peer and the process that it forked."""
    program = _programs.pop(name)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()


@atexit.register
def stop_all():
    for name in list(_programs):
        stop(name)


def measure_peer(name, folder, threads, round, seconds):
    return request(name, folder, cpus(threads, round), threads, seconds)


def outputs(name, skript, folder):
    """The outputs of one call by name."""
    with tempfile.TemporaryDirectory() as results:
        if name == OURS:
            run([skript, "run", *ours(folder), "--output-dir", results], os.sched_getaffinity(0))
        else:
            request(name, folder, os.sched_getaffinity(0), outputs=results)
        return {os.path.basename(path)[: -len(".npy")]: numpy.load(path) for path in sorted(glob.glob(os.path.join(results, "*.npy")))}
