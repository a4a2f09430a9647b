# SPDX-License-Identifier: Apache-2.0
"""Tests of the interface for callers: models in files and in memory, options, names, arrays, copies and pickles, Ctrl-C.

    callers.py [--installed] [unittest arguments]
"""
import copy
import importlib
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import package  # noqa: E402  places the packages
import numpy  # noqa: E402
import skript  # noqa: E402

try:
    import onnx
except ImportError:
    onnx = None

runtime = importlib.import_module("skript_runtime")


def network(nodes, inputs, outputs, initializers=(), name="net"):
    """An ONNX model; inputs and outputs are (name, type, shape)."""
    helper = onnx.helper
    ports = lambda all: [helper.make_tensor_value_info(n, getattr(onnx.TensorProto, kind), shape) for n, kind, shape in all]  # noqa: E731
    nodes = [helper.make_node(of[0], of[1], of[2], name=of[0].lower(), **(of[3] if len(of) > 3 else {})) for of in nodes]
    graph = helper.make_graph(nodes, name, ports(inputs), ports(outputs), list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def relu(kind="FLOAT", shape=("batch", 4), name="image"):
    return network([("Relu", [name], ["y"])], [(name, kind, shape)], [("y", kind, shape)])


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def saved(self, model, name="net.onnx"):
        onnx.save(model, self.folder / name)
        return self.folder / name

    def raises(self, kind, text, call, *arguments, **options):
        with self.assertRaisesRegex(kind, text) as caught:
            call(*arguments, **options)
        return caught.exception


class Sources(Case):
    @unittest.skipIf(onnx is None, "no package onnx")
    def test_models_in_memory(self):
        model = relu()
        x = numpy.float32([[-1, 2, -3, 4]])
        for source in (model, model.SerializeToString(), bytearray(model.SerializeToString()), self.saved(model), str(self.saved(model))):
            loaded = skript.load(source, bounds={"batch": 2})
            self.assertEqual(loaded(x).tolist(), [[0, 2, 0, 4]])
        error = self.raises(skript.Error, "ONNX model: NoSuch `nosuch`", skript.load, network([("NoSuch", ["x"], ["y"])], [("x", "FLOAT", [2])], [("y", "FLOAT", [2])]))
        self.assertNotIn("main.sknd", str(error))

    @unittest.skipIf(onnx is None, "no package onnx")
    def test_elements_beside_a_model_in_memory(self):
        w = onnx.numpy_helper.from_array(numpy.ones((4, 400), numpy.float32), "w")
        model = network([("MatMul", ["x", "w"], ["y"])], [("x", "FLOAT", [2, 4])], [("y", "FLOAT", [2, 400])], [w])
        path = self.folder / "net.onnx"
        onnx.save_model(model, path, save_as_external_data=True, location="net.data", size_threshold=0)
        self.assertEqual(skript.load(path)(numpy.ones((2, 4), numpy.float32))[0, 0], 4)
        self.raises(skript.Error, "net.data.*pass the path of the model", skript.load, path.read_bytes())

    def test_other_objects(self):
        for wrong, text in ((3, "not 3"), (None, "not None"), ([1], r"not \[1\]")):
            self.raises(TypeError, "reads a path, the bytes of an ONNX model, or an onnx.ModelProto, " + text, skript.load, wrong)
        self.raises(ValueError, "the 5 bytes are not an ONNX model", skript.load, b"hello")

        class Module:
            def state_dict(self):
                return {}

        self.raises(TypeError, "skript.from_torch converts a torch.nn.Module", skript.load, Module())

    def test_files_in_other_formats(self):
        for name, content, text in [
            ("net.pt", b"PK\x03\x04", "is a PyTorch file, which is not read.*\n.*torch.onnx.export"),
            ("net.bin", b"PK\x03\x04" + bytes(26) + b"net/data.pkl", "is a PyTorch file"),
            ("net.tflite", b"", "is a TensorFlow Lite model"),
            ("net.h5", b"", "is a Keras model"),
            ("net.safetensors", b"", "is a file of weights"),
            ("net", b"GGUF\x03", "is a GGUF model"),
        ]:
            path = self.folder / name
            path.write_bytes(content)
            error = self.raises(skript.Error, "(?s)" + name + ".*" + text, skript.load, path)
            self.assertTrue(error.help)
            self.raises(runtime.Error, text.split(",")[0] + ", not a compiled model", runtime.load, path)

    def test_compiled_models(self):
        self.raises(FileNotFoundError, "nope.skm", runtime.load, "nope.skm")
        self.raises(FileNotFoundError, "nope.skm", skript.load, "nope.skm")
        path = self.folder / "net.skm"
        path.write_bytes(b"no model")
        for load in (runtime.load, skript.load):
            self.raises(Exception, "net.skm: this is not a compiled model", load, path)
        model = skript.from_text(package.SCALE)
        for save in (model.save, model.compile().save):
            for name in ("out.onnx", "out", "out.skm.bak"):
                self.raises(ValueError, f"whose name must end in .skm: pass .* instead of .*{name}", save, self.folder / name)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["net.skm"])


class Options(Case):
    def test_every_option_says_what_it_takes(self):
        text = package.SCALE
        model = skript.from_text(text)
        path = package.ROOT / "examples/perceptron"
        for name, value, kind, wanted in [
            ("threads", -1, ValueError, "an int of at least 0"),
            ("threads", "two", TypeError, "an int of at least 0"),
            ("threads", 1 << 70, ValueError, "an int of at least 0"),
            ("cache", "no", TypeError, "True or False"),
            ("specialize", None, TypeError, "True or False"),
            ("graph", 1, TypeError, "the name of a graph"),
            ("attributes", [1], TypeError, "a dict of values"),
            ("shapes", (1, 2), TypeError, "a dict of shapes"),
            ("real", 16, TypeError, "'f16', 'bf16', 'f32' or 'f64'"),
            ("int", 16, TypeError, "'i8'"),
            ("given", "x", TypeError, "a list of names"),
            ("absent", 1, TypeError, "a list of names"),
            ("quantize", True, TypeError, "'simulate' or 'integer'"),
        ]:
            with self.subTest(option=name, value=value):
                shown = f"{name} is {value!r}: it must be {wanted}".replace("(", r"\(").replace(")", r"\)").replace("[", r"\[").replace("]", r"\]")
                self.raises(kind, shown, skript.from_text, text, **{name: value})
                self.raises(kind, shown, skript.load, path, **{name: value})
        for name, value, wanted in [("bounds", 8, "a dict of upper bounds"), ("constants", [1], "a dict of arrays"), ("structure", 1, "True or False")]:
            self.raises(TypeError, f"{name} is .*: it must be {wanted}", skript.load, path, **{name: value})
        compiled = model.compile()
        for call, options, kind, text in [
            (model.compile, dict(threads=-2), ValueError, "threads is -2"),
            (model.compile, dict(fast_math=1), TypeError, "fast_math is 1: it must be 'none', 'default' or 'winograd'"),
            (model.compile, dict(target=1), TypeError, "target is 1"),
            (model.compile, dict(cache=1), TypeError, "cache is 1: it must be True or False"),
            (model.bench, dict(seconds="1"), TypeError, "seconds is '1': it must be a number"),
            (model.bench, dict(seconds=-1), ValueError, "seconds is -1"),
            (compiled.copy, dict(threads=-1), ValueError, "threads is -1"),
        ]:
            self.raises(kind, text, call, **options)
        self.raises(TypeError, "device is 3: it must be the name of a device", model.to, 3)
        self.raises(TypeError, "weights is 1: it must be True or False", compiled.save, self.folder / "a.skm", weights=1)
        compiled.save(self.folder / "a.skm")
        self.raises(ValueError, "threads is -1", runtime.load, self.folder / "a.skm", threads=-1)

    @unittest.skipIf(onnx is None, "no package onnx")
    def test_ints_of_onnx_have_their_types(self):
        self.raises(ValueError, "int does not apply to ONNX models", skript.load, relu(), int="i32")


@unittest.skipIf(onnx is None, "no package onnx")
class Names(Case):
    """`image` is a module of SkriptND's library: the graph has another name for the input."""

    def test_errors_have_the_names_of_onnx(self):
        model = skript.load(relu(), bounds={"batch": 8})
        for function in (model, model.compile(), model.evaluate):
            self.raises(TypeError, "no array for input `image`", function)
            self.raises(TypeError, "no input `picture`: it has input `image`", function, picture=1)
            self.raises(ValueError, "input `image` has shape", function, numpy.zeros((9, 4), numpy.float32))
            self.raises(TypeError, "input `image` has elements of int64", function, numpy.zeros((2, 4), numpy.int64))
            self.raises(TypeError, "input `image` must be an array", function, object())

    def test_dimensions_have_names(self):
        model = skript.load(relu(), bounds={"batch": 8})
        (port,) = model.inputs
        self.assertEqual((port.name, port.aliases, port.shape, port.bounds, port.dimensions), ("x_image", ["image"], (None, 4), (8, 4), ("batch", None)))
        self.assertIn("(image: float32(batch≤8, 4)) -> (y: float32(batch≤8, 4))", repr(model))
        (port,) = skript.from_text(package.SCALE).inputs
        self.assertEqual((str(port), port.dimensions), ("x: float32(n≤8,)", ("n",)))

    def test_errors_have_nodes(self):
        """Errors refer to nodes, not to lines of the document in memory. `Slice` of a dynamic dimension is checked in each call, other nodes when the model is composed."""
        end = onnx.numpy_helper.from_array(numpy.array([3]), "end")
        start = onnx.numpy_helper.from_array(numpy.array([1]), "start")
        nodes = [("TopK", ["x", "end"], ["v", "i"], {"axis": 0}), ("Relu", ["v"], ["y"])]
        model = network(nodes, [("x", "FLOAT", ["n"])], [("y", "FLOAT", [3])], [start, end])
        path = self.saved(model)
        loaded = skript.load(path, bounds={"n": 8})
        self.assertEqual(loaded([1, 5, 3, 4]).tolist(), [5, 4, 3])
        saved = self.folder / "net.skm"
        loaded.save(saved)
        for call in (loaded, loaded.compile(), skript.load(saved), runtime.load(saved)):
            error = self.raises(Exception, "SK92", call, [1, 2])
            self.assertNotIn("main.sknd", str(error))
            self.assertIn(f"{path}: ONNX node `topk`", str(error))

    def test_messages_have_no_operations_of_mlir(self):
        shapes = [("a", "FLOAT", ["n", "m"]), ("b", "FLOAT", ["m", "k"])]
        nodes = [("MatMul", ["a", "b"], ["c"]), ("Exp", ["c"], ["d"]), ("ReduceMax", ["d"], ["y"], {"keepdims": 0})]
        path = self.saved(network(nodes, shapes, [("y", "FLOAT", [])]))
        model = skript.load(path, bounds={"n": 1 << 20, "m": 4, "k": 1 << 20}, cache=False)
        error = self.raises(skript.Error, r"a call needs \d+ bytes|no memory for an arena", model.compile)
        for internal in ("builtin.module", "func.func", "main.sknd", "memory failed"):
            self.assertNotIn(internal, str(error))


class Arrays(Case):
    def test_wider_reals_are_rounded(self):
        """Values are refused as by the command line."""
        model = skript.from_text(package.SCALE)
        self.assertEqual(model(numpy.array([1.5, 0.1])).tolist(), [3.0, float(numpy.float32(0.1) * 2)])
        self.assertEqual(model(numpy.array([numpy.inf, -numpy.inf])).tolist(), [numpy.inf, -numpy.inf])
        for large in (numpy.array([1, 1e39]), [1, 1e39]):
            error = self.raises(skript.Error, "SK9103.*input `x`: element 1 is 1e39", model, large)
            self.assertEqual(error.code, "SK9103")
        half = skript.from_text(package.SCALE, real="f16")
        self.assertEqual(half(numpy.array([1.5, 2], numpy.float32)).tolist(), [3, 4])
        self.raises(skript.Error, "element 0 is 7e4", half, numpy.array([70000], numpy.float32))
        self.raises(TypeError, "`x` has elements of int64, the model expects float32", model, numpy.array([1, 2]))

    @unittest.skipIf(onnx is None, "no package onnx")
    def test_reals_of_the_model(self):
        """Float outputs have the type of `real`; other outputs keep their types."""
        nodes = [("Relu", ["image"], ["y"]), ("Cast", ["y"], ["z"], {"to": onnx.TensorProto.INT32})]
        model = network(nodes, [("image", "FLOAT", [2])], [("y", "FLOAT", [2]), ("z", "INT32", [2])])
        for real, kind in (("f16", "float16"), ("f64", "float64"), (None, "float32")):
            loaded = skript.load(model, real=real)
            self.assertEqual([port.dtype.name for port in (*loaded.inputs, *loaded.outputs)], [kind, kind, "int32"])
            for call in (loaded, loaded.compile(), loaded.evaluate):
                y, z = call(numpy.array([-1, 2], kind))
                self.assertEqual((y.dtype.name, y.tolist(), z.dtype.name, z.tolist()), (kind, [0, 2], "int32", [0, 2]))


class Copies(Case):
    def test_copies_share_prepared_weights(self):
        """Copies share the weights in the layout of the kernels."""
        text = """
        import nn;
        graph G {
            @input { x: real[1,512,7,7]; }
            @variable { w: real[512,512,3,3]; v: real[512,512,3,3]; }
            @output { y: real[1,512,7,7]; }
            @compose { z = nn.conv(x, w); y = nn.conv(z, v); }
        }"""
        program = f"""
        import resource, sys
        sys.path.insert(0, {str(pathlib.Path(skript.__file__).parent.parent)!r})
        import numpy, skript
        model = skript.from_text({text!r}, weights="random").compile(threads=1)
        x = numpy.ones((1, 512, 7, 7), numpy.float32)
        y = model(x)
        most = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        before = most()
        copies = [model.copy() for _ in range(3)]
        for copy in copies:
            assert (copy(x) == y).all()
        print(most() - before)
        """
        grown = int(subprocess.check_output([sys.executable, "-c", textwrap.dedent(program)], text=True))
        # Before, each copy took 19 MB.
        self.assertLess(grown, 15_000)

    def counted(self):
        return skript.from_text(package.COUNTING, weights={"text.Counting.total": numpy.zeros(2, numpy.float32)})

    def test_copies_keep_state(self):
        for model in (self.counted(), self.counted().compile()):
            model([1, 2])
            for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
                self.assertEqual(other([1, 2]).tolist(), [2, 4])
            self.assertEqual(model([0, 0]).tolist(), [1, 2])

    def test_pickles(self):
        text = skript.from_text(package.SHIFTED, name="text.sknd", weights={"text.Shifted.offset": numpy.float32([1, 2, 3])}, threads=1)
        for model in (text, text.compile(), text.compile(threads=2)):
            other = pickle.loads(pickle.dumps(model))
            self.assertEqual((type(other), other.name, repr(other)), (type(model), model.name, repr(model)))
            self.assertEqual(other([1, 1, 1]).tolist(), [2, 3, 4])
        self.assertEqual(pickle.loads(pickle.dumps(text.compile(threads=2))).threads, 2)
        path = self.folder / "net.skm"
        text.save(path)
        other = pickle.loads(pickle.dumps(runtime.load(path)))
        self.assertEqual((type(other), other([1, 1, 1]).tolist()), (runtime.CompiledModel, [2, 3, 4]))

    @unittest.skipIf(onnx is None, "no package onnx")
    def test_pickles_of_onnx(self):
        here = os.getcwd()
        self.saved(relu())
        try:
            os.chdir(self.folder)
            for source in ("net.onnx", relu()):
                model = skript.load(source, bounds={"batch": 8}, shapes={"image": (None, 4)})
                other = pickle.loads(pickle.dumps(model))
                self.assertEqual(repr(other), repr(model))
                self.assertEqual(other(numpy.float32([[-1, 1, 2, 3]])).tolist(), [[0, 1, 2, 3]])
        finally:
            os.chdir(here)
        model = skript.load(self.folder / "net.onnx")
        (self.folder / "net.onnx").unlink()
        self.raises(TypeError, "net.onnx no longer exists", pickle.dumps, model)


def heeding():
    """Ctrl-C interrupts a process whose parent ignores the signal, such as a job of a script."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Gradients(Case):
    def test_a_gradient_is_a_model(self):
        model = skript.from_text(package.SCALE.replace("x[i,] * factor", "x[i,] * x[i,]"), shapes={"x": (3,)})
        gradient = skript.grad(model, ["x"])
        x, scale = package.ramp(3), numpy.array([1, 2, 3], "float32")
        y, x_grad = gradient(x, scale)
        numpy.testing.assert_allclose(y, x * x, rtol=1e-6)
        numpy.testing.assert_allclose(x_grad, 2 * x * scale, rtol=1e-6)
        twice = skript.grad(gradient, ["x"], of="x_grad")
        numpy.testing.assert_allclose(twice(x, scale, scale)[1], 2 * scale * scale, rtol=1e-6)

    def test_weights_and_element_types_are_those_of_the_model(self):
        text = """
operator product { @input { x: real[n]; w: real[n]; } @output { y: real[]; } @lower { y[] += x[i,] * w[i,], i < n; } }
graph G {
    @input { x: real[2]; }
    @variable { w: real[2]; }
    @output { y: real[]; }
    @compose { y = product(x, w); }
}"""
        w = numpy.array([3.0, 5.0])
        gradient = skript.grad(skript.from_text(text, real="f64", weights={"text.G.w": w}), ["x", "variables"])
        y, x_grad, w_grad = gradient(numpy.array([1.0, 2.0]))
        self.assertEqual((float(y), x_grad.tolist(), w_grad.tolist()), (13.0, [3.0, 5.0], [1.0, 2.0]))
        self.assertEqual(w_grad.dtype, numpy.float64)

    def test_a_gradient_of_dynamic_extents_accepts_each_length(self):
        gradient = skript.grad(skript.from_text(package.SCALE.replace("x[i,] * factor", "x[i,] ** 3.0")), ["x"])
        for n in (0, 1, 5):
            x = package.ramp(n) + 1
            numpy.testing.assert_allclose(gradient(x, numpy.float32([3] * n)).x_grad, 9 * x ** 2, rtol=1e-6)

    def test_tangents_are_products_of_jacobians_and_directions(self):
        model = skript.from_text(package.SCALE.replace("x[i,] * factor", "x[i,] ** 3.0"), shapes={"x": (3,)})
        x, direction, scale = package.ramp(3) + 1, numpy.float32([1, -2, 0.5]), numpy.float32([3, 1, 2])
        y, y_tangent = skript.grad(model, ["x"], forward=True)(x, direction)
        numpy.testing.assert_allclose(y, x ** 3, rtol=1e-6)
        numpy.testing.assert_allclose(y_tangent, 3 * x ** 2 * direction, rtol=1e-6)
        # The tangent of a gradient is the product of the Hessian and the direction.
        gradient = skript.grad(model, ["x"])
        product = skript.grad(gradient, ["x"], of=["x_grad"], forward=True)(x, scale, direction)
        numpy.testing.assert_allclose(product.x_grad_tangent, 6 * x * scale * direction, rtol=1e-6)
        self.raises(TypeError, "forward is 1: it must be True or False", skript.grad, model, ["x"], forward=1)
        self.raises(skript.Error, "no output `z`, only", skript.grad, model, ["x"], of=["z"], forward=True)

    def test_a_training_step_updates_variables(self):
        text = """
operator error { @input { x: real[n]; w: real[n]; t: real[]; } @output { y: real[]; }
    @lower { s[] += x[i,] * w[i,], i < n; y[] = (s[] - t[]) ** 2.0; } }
graph G {
    @input { x: real[2]; t: real[]; }
    @variable { w: real[2]; }
    @output { y: real[]; }
    @compose { y = error(x, w, t); }
}"""
        model = skript.from_text(text, weights={"text.G.w": numpy.array([1.0, -1.0], "float32")})
        step = skript.training_step(model, "optim.sgd{rate=0.125, momentum=0.5}", schedule="optim.staircase{every=1, decay=0.5}").compile()
        x, t, w, v = numpy.array([1.0, 2.0]), 1.5, numpy.array([1.0, -1.0]), 0
        for n in range(4):
            numpy.testing.assert_allclose(step(x.astype("float32"), numpy.float32(t)), (x @ w - t) ** 2, rtol=1e-5)
            v = 0.5 * v + 2 * (x @ w - t) * x
            w = w - 0.125 * 0.5 ** n * v
        numpy.testing.assert_allclose(step.variables["main.GTraining.w"], w, rtol=1e-5)
        self.assertEqual(step.variables["main.GTraining.schedule.step"], 4)

    def test_training_steps_that_do_not_fit_are_refused(self):
        model = skript.from_text(package.SCALE, shapes={"x": (3,)})
        self.raises(skript.Error, "int and bool", skript.training_step, model, "optim.lion")
        self.raises(TypeError, "optimizer is 1: it must be", skript.training_step, model, 1)

    def test_models_without_a_gradient_are_refused(self):
        model = skript.from_text(package.SCALE, shapes={"x": (3,)})
        self.raises(skript.Error, "no input or variable `z`, only `x`", skript.grad, model, ["z"])
        self.raises(TypeError, "wrt", skript.grad, model, 3)


class Interruption(Case):
    PROGRAM = """
    import sys, time
    sys.path.insert(0, {path!r})
    import numpy, skript
    layers = "".join("g%d = nn.linear(h%d, w); h%d = math.tanh(g%d); " % (n, n, n + 1, n) for n in range({count}))
    text = "import math; import nn; graph G {{ @input {{ h0: real[8,64]; }} @variable {{ w: real[64,64]; }} @output {{ h{count}: real[8,64]; }} @compose {{ " + layers + "}} }}"
    model = skript.from_text(text, weights="random", cache=False)
    x = numpy.ones((8, 64), numpy.float32)
    print("ready", flush=True)
    start = time.monotonic()
    try:
        model(x)
    except KeyboardInterrupt:
        print("interrupted after", time.monotonic() - start, flush=True)
        if {again}:
            print(model(x).shape, flush=True)
    """

    def interrupted(self, again):
        program = self.PROGRAM.format(path=str(pathlib.Path(skript.__file__).parent.parent), count=150, again=again)
        process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heeding)
        self.assertEqual(process.stdout.readline(), "ready\n")
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        output, errors = process.communicate(timeout=240)
        self.assertIn("interrupted after 0.", output, errors)
        self.assertEqual((process.returncode, errors), (0, ""))
        return output, time.monotonic() - begin

    def test_compilation_is_interrupted(self):
        for _ in range(3):
            self.interrupted(again=False)

    def test_the_next_call_computes(self):
        output, _ = self.interrupted(again=True)
        self.assertIn("(8, 64)", output)


class Command(Case):
    def test_interrupted_commands_leave_no_files(self):
        tool = package.ROOT / "target/release/skript"
        if not tool.exists():
            self.skipTest("no skript in target/release")
        (self.folder / "tmp").mkdir()
        environment = {**os.environ, "TMPDIR": str(self.folder / "tmp"), "XDG_CACHE_HOME": str(self.folder / "cache")}
        model = package.ROOT / "examples/perceptron"
        for seconds in (0.02, 0.1, 0.3):
            command = [tool, "run", model, "--weights", "random:1", "--output-dir", self.folder / "out"]
            process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=heeding)
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
            self.assertIn(process.wait(timeout=60), (0, 1, 2, -signal.SIGINT))
            self.assertEqual(list((self.folder / "tmp").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
