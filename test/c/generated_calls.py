# SPDX-License-Identifier: Apache-2.0
"""Models whose C programs need more than one call of an operator: updates, failed checks, loops on dynamic arrays, names of macros, and
random models. Numpy or the evaluator compute the expected values."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

from generated import Failed, Program

DIFFERENTIAL = str(pathlib.Path(__file__).resolve().parent.parent / "differential")

AVERAGE = """import math;
graph G {
    @input { x: real[3]; }
    @variable { mean: real[3]; last: real[3]; }
    @output { y: real[3]; }
    @compose { d = math.sub(x, last); y = math.add(d, mean); }
    @update { a = math.mul(mean, 0.75); b = math.mul(x, 0.25); mean = math.add(a, b); last = x; }
}
"""
PRODUCT = """import linalg;
graph G {
    @input { a: real[n|8, 3]; b: real[3, m|8]; c: real[m, 2]; }
    @output { y: real[n, 2]; }
    @compose { p = linalg.matmul(a, b); y = linalg.matmul(p, c); }
}
"""
LOOPS = """import linalg;
import math;
graph G {
    @input { x: real[n|16, 3]; times: int[]; m: real[3, 3]; }
    @output { y: real[n, 3]; z: real[n, 3]; }
    @compose {
        y = with h = x do..(i -> times) math.mul(h, x);
        z = with g = x do..(j -> times) { p = linalg.matmul(g, m); q = math.add(p, x); yield q; };
    }
}
"""
MACROS = """import math;
graph G {
    @input { G_SIZE_x: real[2]; x: real[2]; G_weights: real[2]; }
    @variable { G_WORKSPACE_BYTES: real[2]; }
    @output { G_SIZE_y: real[2]; y: real[2]; }
    @compose { y = math.add(G_SIZE_x, x); p = math.mul(x, G_weights); G_SIZE_y = math.add(p, G_WORKSPACE_BYTES); }
}
"""
# A stride of two along the rows of outputs; rows that fill a vector, and more.
WINDOWS = """import nn;
graph G {
    @input { x: real[2, 3, 9, 21]; f: real[4, 3, 3, 3]; }
    @output { y: real[2, 4, 4, 10]; }
    @compose { y = nn.conv{stride=[2, 2], padding=[0, 0, 0, 0]}(x, f); }
}
"""


def program(options, text, cc, folder, flags=(), name="main.sknd"):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return Program(options.skript, path, list(flags), cc, folder=folder)


def updates(options, cc, folder):
    """Calls in a chain: each one reads the variables that the previous one wrote."""
    random = np.random.default_rng(0)
    compiled = program(options, AVERAGE, cc, folder)
    mean, last = random.standard_normal((2, 3)).astype(np.float32)
    state = {"mean": mean, "last": last}
    for _ in range(5):
        x = random.standard_normal(3).astype(np.float32)
        expected = x - last + mean
        mean, last = mean * np.float32(0.75) + x * np.float32(0.25), x
        found = compiled.run({"x": x}, state)
        state = {"mean": found["next main.G.mean"], "last": found["next main.G.last"]}
        np.testing.assert_array_equal(found["y"], expected)
        np.testing.assert_array_equal(state["mean"], mean)
        np.testing.assert_array_equal(state["last"], last)


def checks(options, cc, folder):
    """A failed check returns its number; after it, the results of the program are right."""
    random = np.random.default_rng(1)
    compiled = program(options, PRODUCT, cc, folder)
    a, b, c = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((5, 3), (3, 6), (6, 2)))
    np.testing.assert_array_equal(compiled.run({"a": a, "b": b, "c": c})["y"], a @ b @ c)
    for wrong in ({"a": a, "b": b, "c": c[:5]}, {"a": np.zeros((9, 3)), "b": b, "c": c}):
        try:
            compiled.run(wrong)
        except Failed as error:
            assert "SK92" in str(error), error
        else:
            raise AssertionError("a call with wrong extents succeeds")
    np.testing.assert_array_equal(compiled.run({"a": a[:0], "b": b, "c": c})["y"], a[:0] @ b @ c)


def loops(options, cc, folder):
    """A loop carries arrays with dynamic extents."""
    random = np.random.default_rng(2)
    compiled = program(options, LOOPS, cc, folder)
    m = random.integers(-1, 2, (3, 3)).astype(np.float32)
    for rows, times in ((5, 3), (16, 1), (1, 0), (0, 2)):
        x = random.integers(-2, 3, (rows, 3)).astype(np.float32)
        y = z = x
        for _ in range(times):
            y, z = y * x, z @ m + x
        found = compiled.run({"x": x, "times": np.array(times), "m": m})
        np.testing.assert_array_equal(found["y"], y)
        np.testing.assert_array_equal(found["z"], z)


def macros(options, cc, folder):
    """Tensors with the names of macros and types of the header."""
    one, x, two, three = np.arange(8, dtype=np.float32).reshape(4, 2)
    found = program(options, MACROS, cc, folder).run({"G_SIZE_x": one, "x": x, "G_weights": two}, {"t_G_WORKSPACE_BYTES": three})
    np.testing.assert_array_equal(found["y"], one + x)
    np.testing.assert_array_equal(found["G_SIZE_y"], x * two + three)


def windows(options, cc, folder):
    random = np.random.default_rng(3)
    x, f = (random.integers(-3, 4, shape).astype(np.float32) for shape in ((2, 3, 9, 21), (4, 3, 3, 3)))
    found = program(options, WINDOWS, cc, folder).run({"x": x, "f": f})["y"]
    views = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))[:, :, ::2, ::2]
    np.testing.assert_array_equal(found, np.einsum("nchwij,ocij->nohw", views, f))


def random_model(options, cc, folder, seed):
    """All outputs of a random model equal those of the evaluator. Returns whether the model has a form in C."""
    # Last: test/import has a module of the same name as one of the folder.
    if DIFFERENTIAL not in sys.path:
        sys.path.append(DIFFERENTIAL)
    from model_generation import Model
    from model_runs import Case, Setting, arrays
    import random
    model, setting = Model(seed, False), Setting(random.Random(seed))
    setting.real, setting.int, setting.is_exact, setting.fast_math = "f64", "i64", True, "none"
    given = arrays(model, setting, seed)
    variables = {value.name: given.pop(value.name) for value in model.variables}
    case = Case(folder, model.text(), given, variables, setting)
    flags = case.arguments("reference", setting.types())
    expected = subprocess.run([options.skript, "run", "--engine=reference", *flags], capture_output=True, text=True)
    weights = ["--weights=file", "--variables", flags[flags.index("--variables") + 1]] if variables else []
    try:
        compiled = Program(options.skript, os.path.join(folder, "main.sknd"), setting.types() + weights, cc, folder=folder)
    except Failed as error:
        refusal = re.findall(r"error\[\w+\]", str(error))[:1]
        assert "form in C" in str(error) or refusal == re.findall(r"error\[\w+\]", expected.stderr)[:1], error
        return "form in C" not in str(error)
    inputs = {name: array for name, array in given.items() if name != "pack"}
    inputs.update({"pack:%d" % (at + 1): item for at, item in enumerate(given.get("pack", []))})
    try:
        found = compiled.run(inputs)
    except Failed as error:
        assert expected.returncode == 1 and "error[SK92" in expected.stderr, (str(error), expected.stderr)
        return True
    assert expected.returncode == 0, expected.stderr
    for name, array in found.items():
        if not name.startswith("next "):
            one = np.load(os.path.join(case.output("reference"), name + ".npy"))
            np.testing.assert_array_equal(array, one, err_msg=name)
    return True


def random_models(options, cc, folder):
    """At least three of four models have a form in C."""
    written = 0
    for seed in range(options.models):
        with tempfile.TemporaryDirectory(dir=folder) as home:
            try:
                written += random_model(options, cc, home, seed)
            except (Failed, AssertionError) as error:
                raise AssertionError("model %d: %s" % (seed, error)) from error
    assert written * 4 >= options.models * 3, "%d of %d random models have a form in C" % (written, options.models)


CASES = [updates, checks, loops, macros, windows, random_models]
