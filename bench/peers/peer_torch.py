# SPDX-License-Identifier: Apache-2.0
"""Eager torch on the CPU: the function of model.py (network.py) on the inputs and variables in the same folder."""
import glob
import os

import numpy
import timing
import torch


def engine(model, inputs, threads):
    torch.set_num_threads(threads)
    folder = os.path.dirname(model)
    with open(os.path.join(folder, "model.py")) as file:
        text = file.read()
    names = {"torch": torch, "F": torch.nn.functional}
    exec(compile(text, "model.py", "exec"), names)
    variables = {os.path.basename(path)[: -len(".npy")]: numpy.load(path) for path in glob.glob(os.path.join(folder, "w*.npy"))}
    operands = {name: torch.from_numpy(values) for name, values in {**inputs, **variables}.items()}

    def call():
        with torch.inference_mode():
            return names["main"](**operands)

    return call, lambda: {name: value.numpy() for name, value in call().items()}


if __name__ == "__main__":
    timing.run(engine)
