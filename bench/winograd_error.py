# SPDX-License-Identifier: Apache-2.0
"""Prints the maximum error of padded 3 × 3 convolutions of normally distributed data for each level of fast math. The unit is the
unit roundoff times the sum of the absolute values of all terms (docs/numerics.md)."""

import argparse
import json
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy

# Channels, and the extent of the map.
SHAPES = [(64, 56), (128, 28), (256, 14), (512, 7)]


def model(folder, x, weights):
    channels, extent = x.shape[1], x.shape[2]
    (folder / "main.sknd").write_text(
        f"""import nn;
graph G {{
    @input {{ x: real[1,{channels},{extent},{extent}]; }}
    @variable {{ w: real[{channels},{channels},3,3]; }}
    @output {{ y: real[1,{channels},{extent},{extent}]; }}
    @compose {{ y = nn.conv{{padding = [1,1,1,1]}}(x, w); }}
}}
"""
    )
    data = weights.tobytes()
    entry = {"dtype": "F32", "shape": list(weights.shape), "data_offsets": [0, len(data)]}
    header = json.dumps({"main.G.w": entry}).encode()
    (folder / "main.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + data)
    numpy.save(folder / "x.npy", x)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skript", default="target/release/skript", help="the binary")
    skript = parser.parse_args().skript
    for channels, extent in SHAPES:
        random = numpy.random.default_rng(channels)
        x = random.standard_normal((1, channels, extent, extent)).astype("f")
        weights = random.standard_normal((channels, channels, 3, 3)).astype("f")
        padded = numpy.pad(x[0].astype("d"), ((0, 0), (1, 1), (1, 1)))
        shifts = [padded[:, i : i + extent, j : j + extent] for i in range(3) for j in range(3)]
        columns = numpy.stack(shifts, 1).reshape(channels * 9, -1)
        rows = weights.astype("d").reshape(channels, -1)
        exact, size = rows @ columns, abs(rows) @ abs(columns)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            model(folder, x, weights)
            for level in ["default", "winograd"]:
                command = [skript, "run", folder, "--input", f"x={folder}/x.npy", f"--fast-math={level}"]
                subprocess.run([*command, "--output-dir", folder / level], check=True, capture_output=True)
                y = numpy.load(folder / level / "y.npy")[0].reshape(channels, -1)
                error = (abs(y - exact) / size).max() / 2.0**-24
                print(f"{channels} channels, {extent} × {extent}, {level}: {error:.1f} u S")


main()
