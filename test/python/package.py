# SPDX-License-Identifier: Apache-2.0
"""Tests of the package skript: results, names, types, errors, state, threads, memory.

    package.py [unittest arguments]

Runs the extension modules in target/release, or with `--installed` those that are installed.
"""
import concurrent.futures
import contextlib
import gc
import html.parser
import importlib
import io
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# The packages with the extension modules that cargo built.
BUILT = tempfile.TemporaryDirectory()
# A cache that is separate from the user's.
os.environ["XDG_CACHE_HOME"] = os.path.join(BUILT.name, "cache")


def place(package, module, library):
    """Creates a package with its extension module in a separate folder."""
    folder = pathlib.Path(BUILT.name) / package.name
    shutil.copytree(package, folder, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    os.symlink(ROOT / "target/release" / library, folder / (module + ".abi3.so"))


if "--installed" in sys.argv:
    sys.argv.remove("--installed")
else:
    place(ROOT / "python/skript", "_skript", "libskript_python.so")
    place(ROOT / "python/runtime/skript_runtime", "_runtime", "libskript_python_runtime.so")
    sys.path.insert(0, BUILT.name)

import numpy  # noqa: E402
import skript  # noqa: E402

QUANTIZED = """
import linalg;
import quant;
graph Quantized {
    @input { a: real[3,20]; b: real[20,4]; }
    @output { c: real[3,4]; }
    @compose { c = linalg.matmul(a, b); }
    @quantize {
        a: quant.zero_point_linear_quantize{zero_point=100, scale=0.02, bits=8, signed=false};
        b: quant.zero_point_linear_quantize{zero_point=0, scale=0.01, bits=8};
    }
}
"""
SCALE = """
operator scaled {
    @attrib { factor: real; }
    @input { x: real[n]; }
    @output { y: real[n]; }
    @lower { y[i,] = x[i,] * factor, i < n; }
}
graph Doubled {
    @input { x: real[n|8]; }
    @output { y: real[n]; }
    @compose { y = scaled{factor = 2.0}(x); }
}
"""
SYMBOLIC = """func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
  %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %shape = stablehlo.concatenate %rows, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %count = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  %all = stablehlo.dynamic_broadcast_in_dim %count, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
  %y = stablehlo.add %x, %all : tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
"""

TWO = """
import math;
graph Two {
    @input { a: real[2, 3]; b: real[2, 3]; }
    @output { sum: real[2, 3]; difference: real[2, 3]; }
    @compose { sum = math.add(a, b); difference = math.sub(a, b); }
}
"""
SHIFTED = """
import math;
graph Shifted {
    @input { x: real[3]; }
    @output { y: real[3]; }
    @variable { offset: real[3]; }
    @compose { y = math.add(x, offset); }
}
"""
COUNTING = """
import math;
graph Counting {
    @input { x: real[2]; }
    @output { y: real[2]; }
    @variable { total: real[2]; }
    @compose { y = math.add(total, x); }
    @update { total = y; }
}
"""
ENDLESS = """
operator same { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,], i < n; } }
operator below { @input { x: real[n]; } @output { y: bool[]; } @lower { y[] = true; y[] &= x[i,] < 30.0, i < n; } }
graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = with s = x while below(s) do same(s); } }
"""
PACKS = """
import layout;
graph Packs {
    @input { xs: real[2]..(3); }
    @output { y: real[6]; zs: real[2]..(3); }
    @compose { y = layout.concat{axis=0}(xs); zs = layout.split{axis=0, count=3}(y); }
}
"""
PRODUCT = """
import linalg;
graph Product {
    @input { a: real[900, 900]; b: real[900, 900]; }
    @output { c: real[900, 900]; }
    @compose { c = linalg.matmul(a, b); }
}
"""


def ramp(*shape, dtype=numpy.float32):
    return numpy.arange(numpy.prod(shape), dtype=dtype).reshape(shape)


class Calls(unittest.TestCase):
    def test_a_call_computes(self):
        model = skript.from_text(SCALE)
        y = model(numpy.array([1, 2, 4], numpy.float32))
        self.assertEqual(y.dtype, numpy.float32)
        self.assertEqual(y.tolist(), [2, 4, 8])
        self.assertEqual(model([0.5]).tolist(), [1])
        self.assertEqual(model(x=numpy.zeros(0, numpy.float32)).shape, (0,))

    def test_outputs_are_a_named_tuple(self):
        model = skript.from_text(TWO)
        a, b = ramp(2, 3), ramp(2, 3) * 3
        out = model(a, b=b)
        numpy.testing.assert_array_equal(out.sum, a + b)
        numpy.testing.assert_array_equal(out.difference, a - b)
        total, _ = out
        self.assertIs(total, out[0])

    def test_the_evaluator_agrees(self):
        model = skript.from_text(TWO)
        generator = numpy.random.default_rng(1)
        a, b = (generator.standard_normal((2, 3), dtype=numpy.float32) for _ in range(2))
        for ours, theirs in zip(model(a, b), model.evaluate(a, b)):
            numpy.testing.assert_array_equal(ours, theirs)

    def test_other_types(self):
        for real, dtype in (("f64", numpy.float64), ("f16", numpy.float16)):
            y = skript.from_text(SCALE, real=real)(numpy.array([1, 2], dtype))
            self.assertEqual((y.dtype, y.tolist()), (dtype, [2, 4]))
        try:
            import ml_dtypes
        except ImportError:
            return
        y = skript.from_text(SCALE, real="bf16")(numpy.array([1, 2], ml_dtypes.bfloat16))
        self.assertEqual((y.dtype.name, y.astype(float).tolist()), ("bfloat16", [2, 4]))

    def test_narrower_types_are_widened(self):
        model = skript.from_text(SCALE)
        self.assertEqual(model(numpy.array([1, 2], numpy.float16)).tolist(), [2, 4])

    def test_uint64_is_taken_where_int64_holds_it(self):
        model = skript.from_text("import math; graph G { @input { x: int[2]; } @output { y: int[2]; } @compose { y = math.add(x, 1); } }")
        self.assertEqual(model(numpy.array([1, 2**63 - 2], numpy.uint64)).tolist(), [2, 2**63 - 1])
        with self.assertRaisesRegex(skript.Error, f"SK9103.*`x`: element 1 is {2**63}, which does not fit i64"):
            model(numpy.array([1, 2**63], numpy.uint64))

    def test_layouts(self):
        model = skript.from_text(TWO)
        a = numpy.asfortranarray(ramp(2, 3))
        b = ramp(4, 6)[::2, ::2]
        self.assertFalse(b.flags.c_contiguous)
        swapped = a.astype(">f4")
        for first in (a, swapped):
            numpy.testing.assert_array_equal(model(first, b).sum, a + b)

    def test_packs(self):
        model = skript.from_text(PACKS)
        xs = [numpy.array([n, n + 1], numpy.float32) for n in (1, 3, 5)]
        y, zs = model(xs)
        self.assertEqual(y.tolist(), [1, 2, 3, 4, 5, 6])
        self.assertEqual([z.tolist() for z in zs], [[1, 2], [3, 4], [5, 6]])
        (port,) = model.compile().inputs
        self.assertEqual((port.name, port.pack), ("xs", 3))
        with self.assertRaisesRegex(ValueError, "pack of 3, but 2"):
            model(xs[:2])
        with self.assertRaisesRegex(ValueError, r"`xs\[1\]` has shape \(3,\)"):
            model([xs[0], ramp(3), xs[2]])

    def test_ports(self):
        model = skript.from_text(SCALE)
        (port,) = model.inputs
        self.assertEqual((port.name, port.dtype, port.shape, port.bounds), ("x", numpy.float32, (None,), (8,)))
        self.assertEqual(str(port), "x: float32(n≤8,)")
        self.assertEqual(repr(model), "<model Doubled(x: float32(n≤8,)) -> (y: float32(n≤8,))>")
        self.assertIn("Doubled", repr(model.compile()))

    def test_weights(self):
        given = skript.from_text(SHIFTED, weights={"text.Shifted.offset": numpy.array([1, 2, 3], numpy.float32)})
        self.assertEqual(given([1.0, 1.0, 1.0]).tolist(), [2, 3, 4])
        missing = skript.from_text(SHIFTED)
        self.assertIn("offset", str(missing.check()[0]))
        with self.assertRaisesRegex(skript.Error, "offset"):
            missing([1.0, 1.0, 1.0])
        skript.from_text(SHIFTED, weights="random")([1.0, 1.0, 1.0])

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "main.sknd").write_text(SHIFTED)
            numpy.savez(path / "main.npz", **{"main.Shifted.offset": numpy.array([1, 2, 3], numpy.float32)})
            for name in (path, str(path / "main.sknd")):
                self.assertEqual(skript.load(name)([1, 1, 1]).tolist(), [2, 3, 4])
            with self.assertRaises(FileNotFoundError):
                skript.load(path / "other.sknd")

    def test_example(self):
        model = skript.load(ROOT / "examples/perceptron", weights="random")
        self.assertEqual(model.check(), [])
        x = numpy.random.default_rng(1).random(model.inputs[0].bounds, dtype=numpy.float32)
        ours, theirs = model(x), model.evaluate(x)
        for a, b in zip(*((v if isinstance(v, tuple) else (v,)) for v in (ours, theirs))):
            numpy.testing.assert_allclose(a, b, rtol=1e-5)


class Errors(unittest.TestCase):
    def test_a_document_with_errors(self):
        text = "graph G {\n  @input { x: real[2] }\n  @output { y: real[2]; }\n  @compose { y = z; }\n}\n"
        with self.assertRaises(skript.Error) as raised:
            skript.from_text(text, name="bad.sknd")
        error = raised.exception
        self.assertEqual((error.code, error.file, error.line, error.column), ("SK1601", "bad.sknd", 2, 22))
        self.assertEqual(error.span[:2], (2, 22))
        self.assertIn("  @input { x: real[2] }", str(error))
        self.assertIn("^", str(error))
        self.assertEqual(error.diagnostics[0].code, error.code)
        self.assertIsInstance(error.notes, list)

    def test_all_errors_are_listed(self):
        text = "graph G { @input { x: real[2]; } @output { y: real[2]; z: real[2]; } @compose { y = u; z = v; } }"
        with self.assertRaises(skript.Error) as raised:
            skript.from_text(text)
        messages = " ".join(d.message for d in raised.exception.diagnostics)
        self.assertIn("`u`", messages)
        self.assertIn("`v`", messages)

    def test_arguments(self):
        model = skript.from_text(TWO)
        a = ramp(2, 3)
        for call, kind, text in [
            (lambda: model(a), TypeError, "no array for input `b`"),
            (lambda: model(a, a, a), TypeError, "the model has 2 inputs, but 3 were passed"),
            (lambda: model(a, c=a), TypeError, "no input `c`: it has inputs `a`, `b`"),
            (lambda: model(a, a=a), TypeError, "`a` is passed twice"),
            (lambda: model(a, a.astype(numpy.int64)), TypeError, "`b` has elements of int64, the model expects float32"),
            (lambda: model(a, a.astype(numpy.int8)), TypeError, "elements of int8"),
            (lambda: model(a, ramp(3, 2)), ValueError, r"`b` has shape \(3, 2\), the model expects \(2, 3\)"),
            (lambda: model(a, object()), TypeError, "`b` must be an array of float32"),
            (lambda: model(a, [1, 2, 3]), ValueError, "shape"),
        ]:
            with self.assertRaisesRegex(kind, text):
                call()
        with self.assertRaisesRegex(ValueError, r"the model expects \(≤8,\); `bounds` of skript.load sets the upper bounds of ONNX models"):
            skript.from_text(SCALE)(ramp(9))

    def test_options(self):
        for call, kind, text in [
            (lambda: skript.from_text(SCALE, graph="None"), ValueError, "no graph `None`"),
            (lambda: skript.from_text(SCALE, real="f8"), ValueError, "f8"),
            (lambda: skript.from_text(SCALE, weights=1), TypeError, "weights must be"),
            (lambda: skript.from_text(SCALE).compile(target="nonsense"), ValueError, "nonsense"),
            (lambda: skript.from_text(SCALE).compile(fast_math="much"), ValueError, "winograd"),
            (lambda: skript.from_text(SCALE).compile(quantize="much"), ValueError, "integer"),
            (lambda: skript.from_text(SCALE, quantize="much"), ValueError, "simulate"),
            (lambda: skript.load(ROOT / "examples/perceptron", bounds={"n": 2}), ValueError, "ONNX"),
        ]:
            with self.assertRaisesRegex(kind, text):
                call()

    def test_checks_at_run_time(self):
        text = """
import math;
graph Same {
    @input { a: real[n|4]; b: real[m|4]; }
    @output { c: real[n]; }
    @compose { c = math.add(a, b); }
}
"""
        model = skript.from_text(text)
        self.assertEqual(model([1, 2], [3, 4]).tolist(), [4, 6])
        with self.assertRaises(skript.Error) as raised:
            model([1, 2], [3, 4, 5])
        self.assertRegex(raised.exception.code, r"SK92\d\d")
        self.assertEqual(raised.exception.file, "text.sknd")
        self.assertEqual(model([1, 2], [3, 4]).tolist(), [4, 6])


class State(unittest.TestCase):
    def setUp(self):
        self.model = skript.from_text(COUNTING, weights={"text.Counting.total": numpy.zeros(2, numpy.float32)})

    def test_variables_keep_their_values(self):
        model = self.model.compile()
        for n in range(1, 6):
            self.assertEqual(model([1, 2]).tolist(), [n, 2 * n])
        (name,) = model.variables
        self.assertEqual(model.variables[name].tolist(), [5, 10])
        with self.assertRaises(ValueError):
            model.variables[name][0] = 1
        other = model.copy()
        self.assertEqual(other([1, 2]).tolist(), [1, 2])
        model.set_variable(name, [7, 7])
        self.assertEqual(model([1, 2]).tolist(), [8, 9])
        model.reset()
        self.assertEqual(model([1, 2]).tolist(), [1, 2])
        model.bench(seconds=0.01)
        self.assertEqual(model([1, 2]).tolist(), [2, 4])
        with self.assertRaises(KeyError):
            model.set_variable("other", [1, 2])

    def test_saved_models(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.skm"
            model = self.model.compile()
            model([1, 2])
            model.save(path)
            runtime = importlib.import_module("skript_runtime")
            for package in (skript, runtime):
                loaded = package.load(path)
                self.assertEqual(loaded([1, 2]).tolist(), [1, 2])
                self.assertEqual(loaded([1, 2]).tolist(), [2, 4])
                loaded.reset()
                self.assertEqual(loaded([1, 2]).tolist(), [1, 2])
            with self.assertRaises(runtime.Error):
                path.write_bytes(b"no model")
                runtime.load(path)
            model.save(path, weights=False)
            with self.assertRaisesRegex(runtime.Error, "no weights"):
                runtime.load(path)


class Cache(unittest.TestCase):
    """Compiled models in the user's cache."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.patch = unittest.mock.patch.dict(os.environ, {"XDG_CACHE_HOME": self.folder.name})
        self.patch.start()

    def tearDown(self):
        self.patch.stop()
        self.folder.cleanup()

    def entries(self):
        return sorted(path.name for path in pathlib.Path(self.folder.name).glob("skript/*.skm"))

    def test_models_are_compiled_once(self):
        first = skript.from_text(SCALE).compile()
        (entry,) = self.entries()
        path = pathlib.Path(self.folder.name) / "skript" / entry
        written = path.stat().st_mtime_ns
        # Another process.
        text = "import sys; sys.path.insert(0, %r); import skript; print(skript.from_text(%r)([1, 2]).tolist())"
        folder = pathlib.Path(skript.__file__).parent.parent
        program = [sys.executable, "-c", text % (str(folder), SCALE)]
        self.assertEqual(subprocess.check_output(program, text=True), "[2.0, 4.0]\n")
        self.assertEqual((self.entries(), path.stat().st_mtime_ns), ([entry], written))
        self.assertEqual(first([1, 2]).tolist(), [2, 4])

    def test_a_damaged_entry_is_replaced(self):
        skript.from_text(SCALE).compile()
        (entry,) = self.entries()
        path = pathlib.Path(self.folder.name) / "skript" / entry
        right = path.read_bytes()
        path.write_bytes(right[:-40] + bytes(40))
        self.assertEqual(skript.from_text(SCALE)([1, 2]).tolist(), [2, 4])
        self.assertEqual(path.read_bytes(), right)

    def test_options_have_entries_of_their_own(self):
        model = skript.from_text(SCALE)
        for count, options in enumerate([{}, {"target": "x86-64-v3"}, {"fast_math": "none"}], 1):
            self.assertEqual(model.compile(**options)([1, 2]).tolist(), [2, 4])
            self.assertEqual(len(self.entries()), count)

    def test_shapes_have_entries_of_their_own(self):
        text = """
import linalg;
graph G {
    @input { x: real[n|9,4]; }
    @variable { w: real[4,3]; }
    @output { y: real[n,3]; }
    @compose { y = linalg.matmul(x, w); }
}"""
        w = numpy.arange(12, dtype=numpy.float32).reshape(4, 3)
        model = skript.from_text(text, weights={"text.G.w": w}, specialize=True)
        # Code for all shapes cannot be compiled.
        for n, count in [(2, 1), (5, 2), (2, 2), (0, 3)]:
            x = numpy.arange(n * 4, dtype=numpy.float32).reshape(n, 4)
            numpy.testing.assert_array_equal(model(x), x @ w)
            self.assertEqual(len(self.entries()), count)
        with self.assertRaisesRegex(ValueError, "≤9"):
            model(numpy.zeros((10, 4), numpy.float32))

    def test_quantization(self):
        a, b = numpy.linspace(-1, 3, 60).reshape(3, 20).astype("f4"), numpy.linspace(1, -1.3, 80).reshape(20, 4).astype("f4")
        plain = skript.from_text(QUANTIZED)(a, b)
        numpy.testing.assert_allclose(plain, a @ b, rtol=1e-5)
        levels = numpy.clip(numpy.round(a / numpy.float32(0.02)), -100, 155), numpy.clip(numpy.round(b / numpy.float32(0.01)), -128, 127)
        expected = (levels[0] @ levels[1]) * 0.0002
        for options in ({"quantize": "simulate"}, {"quantize": "integer"}):
            numpy.testing.assert_allclose(skript.from_text(QUANTIZED, **options)(a, b), expected, rtol=1e-3, atol=1e-4)
        model = skript.from_text(QUANTIZED, quantize="simulate")
        numpy.testing.assert_allclose(model.compile(quantize="integer")(a, b), expected, rtol=1e-3, atol=1e-4)

    def test_without_a_cache(self):
        model = skript.from_text(SCALE, cache=False)
        self.assertEqual(model([1, 2]).tolist(), [2, 4])
        skript.from_text(SCALE).compile(cache=False)
        self.assertEqual(self.entries(), [])
        model.compile(cache=True)
        self.assertEqual(len(self.entries()), 1)


class Memory(unittest.TestCase):
    def test_inputs_are_not_copied(self):
        """An input of 240 MB is not copied."""
        text = "graph First { @input { x: real[n|100000000]; } @output { y: real[1]; } @compose { y = layout.slice{axes=[0], begin=[0], end=[1]}(x); } }"
        model = skript.from_text("import layout;\n" + text)
        x = numpy.ones(60_000_000, numpy.float32)
        model(x[:10])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        y = model(x)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 100_000)
        self.assertEqual(y.tolist(), [1])

    def test_outputs_are_writable_and_independent(self):
        model = skript.from_text(SCALE)
        first = model([1, 2])
        second = model([3, 4])
        first[0] = 9
        self.assertTrue(first.flags.writeable and second.flags.aligned)
        self.assertEqual((first.tolist(), second.tolist()), ([9, 4], [6, 8]))
        del model
        self.assertEqual(second.tolist(), [6, 8])

    def test_dlpack(self):
        class Exported:
            """An array of another library."""

            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        model = skript.from_text(SCALE)
        self.assertEqual(model(Exported(ramp(3))).tolist(), [0, 2, 4])
        class Older(Exported):
            """An array of a library without support for versions of the protocol."""

            def __dlpack__(self):
                return self.array.__dlpack__()

        class Elsewhere(Exported):
            def __dlpack_device__(self):
                return (2, 1)

        self.assertEqual(model(Older(ramp(3))).tolist(), [0, 2, 4])
        self.assertEqual(model(Exported(ramp(6)[::-2])).tolist(), [10, 6, 2])
        self.assertEqual(model(Exported(ramp(0))).shape, (0,))
        with self.assertRaisesRegex(TypeError, "input `x` is in memory of CUDA device 2:1"):
            model(Elsewhere(ramp(3)))
        with self.assertRaisesRegex(TypeError, "an unsupported element type"):
            model(Exported(ramp(3, dtype=numpy.complex64)))
        with self.assertRaisesRegex(TypeError, "elements of int64"):
            model(Exported(ramp(3, dtype=numpy.int64)))
        try:
            import jax
        except ImportError:
            return
        self.assertEqual(model(jax.numpy.arange(3.0)).tolist(), [0, 2, 4])
        for real in ("f16", "bf16"):
            x = jax.numpy.arange(3, dtype={"f16": "float16", "bf16": "bfloat16"}[real])
            y = skript.from_text(SCALE, real=real)(x)
            self.assertEqual((y.dtype, y.astype(float).tolist()), (x.dtype, [0, 2, 4]))

    def test_exported_arrays_are_released(self):
        class Kept(numpy.ndarray):
            pass

        model = skript.from_text(SCALE)
        x = ramp(8).view(Kept)
        before = sys.getrefcount(x)

        class Exported:
            def __dlpack__(self, **options):
                return x.__dlpack__(**options)

        for _ in range(100):
            model(Exported())
        gc.collect()
        self.assertEqual(sys.getrefcount(x), before)

    def test_nothing_leaks(self):
        model = skript.from_text(SCALE)
        x = ramp(8)
        before = sys.getrefcount(x)
        for _ in range(1000):
            model(x)
        self.assertEqual(sys.getrefcount(x), before)


class Threads(unittest.TestCase):
    def test_other_threads_run_meanwhile(self):
        model = skript.from_text(PRODUCT).compile(threads=1)
        a = numpy.ones((900, 900), numpy.float32)
        model(a, a)
        steps, done = [0], threading.Event()

        def count():
            while not done.is_set():
                steps[0] += 1
                time.sleep(0)

        counter = threading.Thread(target=count)
        counter.start()
        most = 0
        for _ in range(20):
            before = steps[0]
            model(a, a)
            most = max(most, steps[0] - before)
        done.set()
        counter.join()
        # If a call held the GIL, no other thread could make progress.
        self.assertGreater(most, 10)

    def test_calls_of_one_object(self):
        model = skript.from_text(COUNTING, weights={"text.Counting.total": numpy.zeros(2, numpy.float32)}).compile()

        def call():
            for _ in range(200):
                model([1, 1])

        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(model([0, 0]).tolist(), [800, 800])

    def test_a_call_that_takes_too_long_is_stopped(self):
        # The limit of four million iterations would end the loop after minutes.
        model = skript.from_text(ENDLESS.replace("real[2]", "real[20000]")).compile()
        self.assertIsNone(model.timeout)
        model.timeout = 0.001
        with self.assertRaises(TimeoutError):
            model(numpy.ones(20000, numpy.float32))
        model.timeout = 60
        finished = numpy.full(20000, 31, numpy.float32)
        numpy.testing.assert_array_equal(model(finished), finished)
        for wrong in (0, -1, float("nan")):
            with self.assertRaises(ValueError):
                model.timeout = wrong

    def test_without_a_timeout_the_limit_of_iterations_ends_loops(self):
        model = skript.from_text(ENDLESS).compile()
        with self.assertRaisesRegex(skript.Error, "loop_steps"):
            model([1, 1])

    def test_a_timeout_does_not_stop_the_call_of_another_thread(self):
        model = skript.from_text(ENDLESS.replace("real[2]", "real[20000]")).compile()
        endless, short = (numpy.full(20000, value, numpy.float32) for value in (1, 31))

        def call(array):
            begun = time.monotonic()
            try:
                model(array)
            except TimeoutError:
                return time.monotonic() - begun

        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            model.timeout = 1
            begun = time.process_time()
            first = pool.submit(call, endless)
            # The thread computes when it uses the processor.
            while time.process_time() < begun + 0.05 and not first.done():
                time.sleep(0.01)
            # The second call waits for the first, longer than its own time.
            model.timeout = 0.001
            with self.assertRaises(TimeoutError):
                model(endless)
            self.assertGreaterEqual(first.result(), 1)
            model.timeout = 0.25
            ends = list(pool.map(call, [endless, short] * 3))
        self.assertEqual([end is None for end in ends], [False, True] * 3, ends)

    def test_threads_do_not_change_results(self):
        model = skript.from_text(PRODUCT)
        generator = numpy.random.default_rng(1)
        a, b = (generator.random((900, 900), dtype=numpy.float32) for _ in range(2))
        one, two = (model.compile(threads=n)(a, b) for n in (1, 2))
        numpy.testing.assert_array_equal(one, two)
        numpy.testing.assert_allclose(one, a @ b, rtol=1e-4)


class Looking(unittest.TestCase):
    def test_graphs(self):
        model = skript.from_text(SCALE)
        graph = model.graph()
        self.assertEqual([call.operator for call in graph], ["text.scaled"])
        self.assertIn("digraph", graph.to_dot())
        self.assertIn("float32(≤8,)", str(graph))

    def test_pages(self):
        """Notebooks show the page of `skript view` in a frame, and a table if the page is large."""
        model = skript.from_text(SHIFTED, weights={"text.Shifted.offset": numpy.array([1, 2, 3], numpy.float32)})
        page = model.to_html()
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        self.assertEqual(page, model.to_html())
        self.assertNotEqual(page, model.to_html(weights=False))
        frames = []

        class Frames(html.parser.HTMLParser):
            def handle_starttag(self, tag, attributes):
                frames.append((tag, dict(attributes)))

        for shown in (model, model.graph()):
            Frames().feed(shown._repr_html_())
            (tag, attributes) = frames.pop()
            self.assertEqual((tag, frames), ("iframe", []))
            self.assertEqual(attributes["srcdoc"], model.to_html(weights=False))
            self.assertEqual(attributes["sandbox"], "allow-scripts")
        with unittest.mock.patch("skript.graph.MAX_PAGE_BYTES", 1000):
            self.assertIn("<td style='text-align:left'>math.add</td>", model._repr_html_())

    def test_stages(self):
        model = skript.from_text(SCALE)
        self.assertIn("stablehlo", model.to_stablehlo())
        self.assertIn("skript.", model.to_mlir())

    def test_stablehlo_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program.mlir"
            path.write_text(skript.from_text(TWO).to_stablehlo())
            a = ramp(2, 3)
            numpy.testing.assert_array_equal(skript.load(path)(a, a)[0], a + a)
            path.write_text("func.func @main() {")
            with self.assertRaises(skript.Error):
                skript.load(path)

    def test_symbolic_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "symbolic.mlir"
            path.write_text(SYMBOLIC)
            program = skript.load(path)
            self.assertIsInstance(program, skript.Program)
            for rows in (1, 3, 3):
                x = ramp(rows, 2)
                numpy.testing.assert_array_equal(program(x), x + rows)
            self.assertEqual(program.compile((5, 2)).inputs[0].shape, (5, 2))
            with self.assertRaisesRegex(skript.Error, "its shape in this call is"):
                program(ramp(3, 4))
            with self.assertRaisesRegex(TypeError, "pass them in order"):
                program(x=ramp(3, 2))

    def test_operators(self):
        conv = skript.operators["nn.conv"]
        self.assertIn("nn.conv", conv.signature)
        self.assertTrue(conv.summary.startswith("Convolution"))
        self.assertIn("Example: nn.conv", str(conv))
        self.assertGreater(len(skript.operators), 100)
        self.assertIn("nn.max_pool", [o.name for o in skript.operators.find("pool")])
        with self.assertRaisesRegex(KeyError, "nn.conv"):
            skript.operators["nn.con"]

    def test_documentation(self):
        for item in (skript, skript.load, skript.from_text, skript.CompiledModel, skript.Model.compile, skript.Error):
            self.assertGreater(len(item.__doc__), 80)
        for name in skript.__all__:
            self.assertTrue(hasattr(skript, name))


def blocks(wanted):
    """The examples of docs/python.md that use torch, if it is `wanted`, otherwise the other ones."""
    text = (ROOT / "docs/python.md").read_text()
    found = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for block in found if ("torch" in block) == (wanted == "torch")]


class Documentation(unittest.TestCase):
    def test_examples(self):
        """The examples of docs/python.md in order."""
        try:
            import onnx
        except ImportError:
            self.skipTest("no package onnx")
        helper, kinds = onnx.helper, onnx.TensorProto
        ports = [helper.make_tensor_value_info(name, kinds.FLOAT, ["batch", 4]) for name in ("image", "y")]
        graph = helper.make_graph([helper.make_node("Relu", ["image"], ["y"])], "net", ports[:1], ports[1:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        x = ramp(5, 4) - 7
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                onnx.save(model, "model.onnx")
                names = {"x": x}
                with contextlib.redirect_stdout(io.StringIO()) as printed:
                    for block in blocks(None):
                        exec(block, names)
            finally:
                os.chdir(here)
        numpy.testing.assert_array_equal(names["y"], numpy.maximum(x, 0))
        self.assertIn("Bench(best=", printed.getvalue())


class Jax(unittest.TestCase):
    def test_a_function_of_jax(self):
        try:
            import jax
        except ImportError:
            self.skipTest("no package jax")
        called = skript.jax_callable(skript.from_text(TWO))
        a = jax.numpy.asarray(ramp(2, 3))
        both = jax.jit(lambda a: called(a, a * 2)[0].sum())
        self.assertEqual(float(both(a)), float((a * 3).sum()))
        with self.assertRaisesRegex(ValueError, "dynamic"):
            skript.jax_callable(skript.from_text(SCALE))


if __name__ == "__main__":
    unittest.main()
