# SPDX-License-Identifier: Apache-2.0
"""The files of one workload: main.sknd and main.safetensors if it has a SkriptND document, model.onnx, the inputs as .npy, and
model.py and the variables as .npy if torch computes it."""
import json
import os
import struct

import numpy


def write(net, folder):
    """Writes the files for all engines."""
    os.makedirs(folder, exist_ok=True)
    if net.text():
        with open(os.path.join(folder, "main.sknd"), "w") as file:
            file.write(net.text())
    if net.variables:
        write_safetensors(os.path.join(folder, "main.safetensors"), {"main.Main." + name: array.values for name, array in net.variables.items()})
    with open(os.path.join(folder, "model.onnx"), "wb") as file:
        file.write(net.onnx().SerializeToString())
    if net.torch():
        with open(os.path.join(folder, "model.py"), "w") as file:
            file.write(net.torch())
        for name, array in net.variables.items():
            numpy.save(os.path.join(folder, name + ".npy"), array.values)
    for name, array in net.inputs.items():
        numpy.save(os.path.join(folder, name + ".npy"), array.values)
    with open(os.path.join(folder, "options.json"), "w") as file:
        json.dump(getattr(net, "options", []), file)


def write_safetensors(path, arrays):
    """The format of Hugging Face: the length of a JSON header, the header, the data."""
    header, end = {}, 0
    for name, values in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [end, end + values.nbytes]}
        end += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % 64)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for values in arrays.values():
            file.write(values.tobytes())
