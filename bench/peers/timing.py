# SPDX-License-Identifier: Apache-2.0
"""The common code of all peers: forks a process for each request, which loads a model and calls it. Most peers import their library
before, so that it is imported once."""
import glob
import json
import os
import sys
import time
import traceback

import numpy

WARM_UP = 3
MIN_CALLS, MAX_CALLS = 5, 2000


def run(engine):
    """The main function of a peer. `engine(path, inputs, threads)` returns two functions without arguments: the first makes one call,
    the second returns the outputs of the last call as arrays by name. Requests and responses are lines of JSON (engines.py)."""
    answers = os.fdopen(os.dup(1), "w")
    # Output of the library is not part of the response.
    os.dup2(2, 1)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            answer(engine, json.loads(line), answers)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            print(json.dumps({"error": "exit status %d" % os.waitstatus_to_exitcode(status)}), file=answers, flush=True)


def answer(engine, request, answers):
    os.sched_setaffinity(0, request["cpus"])
    try:
        result = response(engine, **{name: request[name] for name in ("folder", "threads", "seconds", "outputs")})
    except Exception:
        result = {"error": traceback.format_exc().strip().splitlines()[-1][:300]}
    print(json.dumps(result), file=answers, flush=True)


def response(engine, folder, threads, seconds, outputs):
    """The minimum and the median time of the calls within `seconds`. With a folder `outputs`, writes the outputs of one call to it instead."""
    paths = sorted(glob.glob(os.path.join(folder, "x*.npy")))
    inputs = {os.path.basename(path)[: -len(".npy")]: numpy.load(path) for path in paths}
    call, results = engine(os.path.join(folder, "model.onnx"), inputs, threads)
    if outputs is None:
        times = call_times(call, seconds)
        return {"call_ms": 1e3 * min(times), "median_ms": 1e3 * numpy.median(times)}
    call()
    for name, values in results().items():
        numpy.save(os.path.join(outputs, name + ".npy"), values)
    return {}


def call_times(call, seconds):
    """Seconds of each call, after warming up."""
    for _ in range(WARM_UP):
        call()
    times, clock = [], time.perf_counter
    while len(times) < MIN_CALLS or (sum(times) < seconds and len(times) < MAX_CALLS):
        start = clock()
        call()
        times.append(clock() - start)
    return times
