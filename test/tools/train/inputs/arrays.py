# SPDX-License-Identifier: Apache-2.0
"""Checks a Python expression on `a`, the arrays of a .safetensors file by name."""

import json
import pathlib
import struct
import sys

import numpy as np

TYPES = {"F32": np.float32, "F64": np.float64, "I64": np.int64}

data = pathlib.Path(sys.argv[1]).read_bytes()
start = 8 + struct.unpack("<Q", data[:8])[0]
a = {}
for name, entry in json.loads(data[8:start]).items():
    if name != "__metadata__":
        begin, end = (start + offset for offset in entry["data_offsets"])
        a[name] = np.frombuffer(data[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
assert eval(sys.argv[2], {"a": a, "np": np}), a
