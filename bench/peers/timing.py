# SPDX-License-Identifier: Apache-2.0
"""What every process of a peer does: load the model, warm up, call it for a while, write times and outputs."""
import argparse
import glob
import json
import os
import time

import numpy

WARM_UP = 3
LEAST_CALLS, MOST_CALLS = 5, 2000


def run(engine):
    """The main function of a peer. `engine(folder, inputs, threads)` returns a function without arguments that makes one call, and
    one that returns the outputs of the last call as arrays by name."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", help="folder of the workload (model_files.py)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.4, help="how long to call the model")
    parser.add_argument("--outputs", help="folder for the outputs, one .npy each")
    options = parser.parse_args()
    paths = sorted(glob.glob(os.path.join(options.folder, "x*.npy")))
    inputs = {os.path.basename(path)[: -len(".npy")]: numpy.load(path) for path in paths}
    call, outputs = engine(os.path.join(options.folder, "model.onnx"), inputs, options.threads)
    times = [] if options.seconds == 0 else measured(call, options.seconds)
    if not times:
        call()
    if options.outputs:
        for name, values in outputs().items():
            numpy.save(os.path.join(options.outputs, name + ".npy"), values)
    print(json.dumps({"call_ms": 1e3 * min(times, default=0), "median_ms": 1e3 * numpy.median(times or [0])}))


def measured(call, seconds):
    """Seconds of each call, after warming up."""
    for _ in range(WARM_UP):
        call()
    times, clock = [], time.perf_counter
    while len(times) < LEAST_CALLS or (sum(times) < seconds and len(times) < MOST_CALLS):
        start = clock()
        call()
        times.append(clock() - start)
    return times
