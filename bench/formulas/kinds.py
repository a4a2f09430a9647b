# SPDX-License-Identifier: Apache-2.0
"""The formulas of this folder. Beside the model `NAME.sknd`, `NAME.py` has the same computation in `numpy`, which is the reference, and
in `numba` and `torch` where a user would write it: functions of the inputs, and of the attributes that they name. They return the outputs
of the graph, in order. `SMALL` are the attributes in tests; with `COMPILED = False`, torch.compile would unroll hundreds of steps; `SHARE`
is the share of elements that rounding may change, such as labels of points between two centres.
"""
import glob
import importlib.util
import os
import re
import sys
import types

import numpy as np

from cases import Attributes, options

# The reference does not use numba, which only the environment of the benchmarks has.
if importlib.util.find_spec("numba") is None:
    sys.modules["numba"] = types.SimpleNamespace(prange=range)

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = sorted(os.path.basename(path)[: -len(".sknd")] for path in glob.glob(os.path.join(HERE, "*.sknd")))


def file_of(name):
    return os.path.join(HERE, name + ".sknd")


def module(name):
    return importlib.import_module(name)


def made(name, others, seed=1):
    """The attributes and the inputs of a formula, always the same for a seed."""
    attributes = Attributes(file_of(name), others)
    return attributes, module(name).inputs(np.random.default_rng(seed), attributes)


def small(name):
    return module(name).SMALL


def outputs(name):
    """The names of the outputs of the graph."""
    with open(file_of(name)) as file:
        graph = file.read().split("\ngraph ")[1]
    return re.findall(r"(\w+): \w+\[", re.search(r"@output \{(.*?)\}", graph, re.S)[1])


def expected(name, attributes, inputs):
    found = module(name).numpy(**inputs, **options(module(name).numpy, attributes))
    return dict(zip(outputs(name), found if isinstance(found, tuple) else (found,)))


def function(engine, name):
    """The function of a peer, or `None`."""
    return getattr(module(name), engine, None)


def compiles(name):
    return getattr(module(name), "COMPILED", True)


def share(name):
    return getattr(module(name), "SHARE", 0.0)
