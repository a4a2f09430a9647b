# SPDX-License-Identifier: Apache-2.0
"""Tests of ONNX models: names, types, options, errors.

    imported.py [--installed] [unittest arguments]
"""
import importlib
import pathlib
import resource
import sys
import tempfile
import unittest
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import package  # noqa: E402  places the packages
import numpy  # noqa: E402
import skript  # noqa: E402

ROOT = package.ROOT


class Onnx(unittest.TestCase):
    def setUp(self):
        try:
            import onnx
        except ImportError:
            self.skipTest("no package onnx")
        self.onnx = onnx
        helper, kinds = onnx.helper, onnx.TensorProto
        nodes = [
            helper.make_node("MatMul", ["in.1", "w"], ["h"]),
            helper.make_node("Relu", ["h"], ["out"]),
            helper.make_node("ArgMax", ["h"], ["best"], axis=1, keepdims=0),
            helper.make_node("Cast", ["best"], ["best32"], to=kinds.INT32),
        ]
        self.w = numpy.random.default_rng(1).standard_normal((4, 3)).astype(numpy.float32)
        graph = helper.make_graph(
            nodes,
            "net",
            [helper.make_tensor_value_info("in.1", kinds.FLOAT, ["batch", 4])],
            [helper.make_tensor_value_info("out", kinds.FLOAT, ["batch", 3]), helper.make_tensor_value_info("best32", kinds.INT32, ["batch"])],
            [onnx.numpy_helper.from_array(self.w, "w")],
        )
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "net.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), self.path)

    def tearDown(self):
        self.folder.cleanup()

    def test_models_of_onnx(self):
        model = skript.load(self.path, bounds={"batch": 16})
        self.assertEqual(model.inputs[0].bounds, (16, 4))
        x = numpy.random.default_rng(2).standard_normal((5, 4)).astype(numpy.float32)
        out, best = model(x)
        numpy.testing.assert_allclose(out, numpy.maximum(x @ self.w, 0), rtol=1e-5, atol=1e-6)
        self.assertEqual(best.dtype, numpy.int32)
        self.assertEqual(best.tolist(), (x @ self.w).argmax(1).tolist())
        # The ONNX name.
        numpy.testing.assert_array_equal(model(**{"in.1": x})[0], out)
        self.assertEqual(skript.load(self.path, shapes={"in.1": (2, 4)}).inputs[0].shape, (2, 4))
        self.assertEqual(sorted(p.name for p in self.path.parent.iterdir()), ["net.onnx"])

    def test_saved_models_keep_names_and_types(self):
        model = skript.load(self.path, bounds={"batch": 16})
        x = numpy.random.default_rng(2).standard_normal((5, 4)).astype(numpy.float32)
        wanted = model(x)
        self.assertEqual([port.dtype for port in model.outputs], [numpy.float32, numpy.int32])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "net.skm"
            model.save(path)
            runtime = importlib.import_module("skript_runtime")
            for package in (skript, runtime):
                loaded = package.load(path)
                (port,) = loaded.inputs
                self.assertEqual(port.aliases, ["in.1"])
                self.assertEqual([port.dtype for port in loaded.outputs], [numpy.float32, numpy.int32])
                for found in (loaded(x), loaded(**{"in.1": x}), loaded(**{port.name: x})):
                    self.assertEqual(found.best32.dtype, numpy.int32)
                    numpy.testing.assert_array_equal(found.best32, wanted.best32)
                    numpy.testing.assert_array_equal(found[0], wanted.out)
                with self.assertRaisesRegex(TypeError, "`in.1` is passed twice"):
                    loaded(x, **{"in.1": x})

    def test_ints_of_onnx_are_checked(self):
        onnx, kinds = self.onnx, self.onnx.TensorProto
        path = self.path.parent / "ints.onnx"
        for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64"):
            kind = getattr(kinds, name.upper())
            ports = [onnx.helper.make_tensor_value_info(p, kind, [2]) for p in "xy"]
            graph = onnx.helper.make_graph([onnx.helper.make_node("Add", ["x", "x"], ["y"])], "net", ports[:1], ports[1:])
            onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9), path)
            model = skript.load(path)
            self.assertEqual((model.inputs[0].dtype, model.outputs[0].dtype), (name, name))
            ends = numpy.iinfo(name)
            x = numpy.array([ends.min, ends.max], name)
            with numpy.errstate(over="ignore"):
                doubled = x + x
            compiled = model.compile()
            self.assertEqual(compiled.inputs[0].dtype, name)
            compiled.save(path.with_suffix(".skm"))
            for call in (model, model.evaluate, compiled, skript.load(path.with_suffix(".skm"))):
                y = call(x)
                self.assertEqual((y.dtype, y.tolist()), (name, doubled.tolist()))
                # A type with a larger range, and Python numbers.
                self.assertEqual(call(numpy.array([3, 100])).tolist(), call(numpy.array([3, 100], name)).tolist())
                self.assertEqual(call([3, 100]).tolist(), call(numpy.array([3, 100], name)).tolist())
                for wrong in (ends.min - 1, ends.max + 1):
                    if -(2**63) <= wrong < 2**63:
                        text = f"SK9103.*input `x`: element 1 is {wrong}, which does not fit {name[0]}{name.strip('uint')} "
                        for array in (numpy.array([0, wrong]), [0, wrong]):
                            with self.assertRaisesRegex(skript.Error, text) as caught:
                                call(array)
                            self.assertEqual(caught.exception.code, "SK9103")
                for array, kind in ((numpy.zeros(2, numpy.float32), "float32"), ([0.5, 1], "float64"), (["1", "2"], "<U1")):
                    with self.assertRaisesRegex(TypeError, f"elements of {kind}, the model expects {name}"):
                        call(array)

    def test_constants_and_structure_of_onnx(self):
        onnx, kinds = self.onnx, self.onnx.TensorProto
        helper, path = onnx.helper, self.path.parent / "shaped.onnx"
        ports = [helper.make_tensor_value_info("x", kinds.FLOAT, [6]), helper.make_tensor_value_info("shape.1", kinds.INT64, [2])]
        nodes = [helper.make_node("Reshape", ["x", "shape.1"], ["a"])]
        nodes += [helper.make_node(*of) for of in (("Exp", "a", "b"), ("Tanh", "b", "c"), ("Exp", "c", "d"), ("Tanh", "d", "y"))]
        graph = helper.make_graph(nodes, "net", ports, [helper.make_tensor_value_info("y", kinds.FLOAT, None)])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
        x = numpy.arange(6, dtype=numpy.float32) / 9
        expected = numpy.tanh(numpy.exp(numpy.tanh(numpy.exp(x)))).reshape(2, 3)
        # The values of a call decide the shape.
        model = skript.load(path)
        self.assertEqual([port.name for port in model.inputs], ["x", "shape_1"])
        for shape in ([2, 3], [3, 2], [2, 3]):
            numpy.testing.assert_allclose(model(x, shape), expected.reshape(shape), rtol=1e-6)
            numpy.testing.assert_allclose(model.evaluate(x, **{"shape.1": shape}), expected.reshape(shape), rtol=1e-6)
        with self.assertRaisesRegex(skript.Error, "Reshape"):
            model(x, [4, 2])
        with self.assertRaisesRegex(skript.Error, "--constant shape.1=FILE.npy(?s:.*)help: options of skript.load: --constant is constants") as caught:
            model.to_mlir()
        self.assertIn("constants=", caught.exception.help)
        for shape in ([2, 3], (2, -1), numpy.array([2, 3], numpy.int32)):
            model = skript.load(path, constants={"shape.1": shape}, structure=True)
            self.assertEqual([port.name for port in model.inputs], ["x"])
            numpy.testing.assert_allclose(model(x), expected, rtol=1e-6)
        for options, kind, text in [
            (dict(constants={"shape": [2, 3]}), skript.Error, "no input `shape`; its inputs are `x`, `shape.1`"),
            (dict(constants={"shape.1": [2.0, 3.0]}), skript.Error, "elements of type f64, but the model declares i64"),
            (dict(constants={"shape.1": ["a"]}), TypeError, "the constant `shape.1` has elements of <U1"),
        ]:
            with self.assertRaisesRegex(kind, text):
                skript.load(path, **options)
        with self.assertRaisesRegex(ValueError, "constants, structure and trainable are for ONNX models"):
            skript.load(ROOT / "examples/perceptron", structure=True)

    def test_shapes_of_onnx(self):
        """`image` is a module of the standard library, so the graph has a different name for the input."""
        onnx, kinds = self.onnx, self.onnx.TensorProto
        helper, path = onnx.helper, self.path.parent / "image.onnx"
        ports = [helper.make_tensor_value_info(name, kinds.INT32, ["batch", 3, "size"]) for name in ("image", "y")]
        graph = helper.make_graph([helper.make_node("Add", ["image", "image"], ["y"])], "net", ports[:1], ports[1:])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
        for name in ("image", "x_image"):
            for shape, found, bounds in [((2, 3, 4), (2, 3, 4), (2, 3, 4)), ([None, 3, 4], (None, 3, 4), (9, 3, 4)), ((-1, 3, None), (None, 3, None), (9, 3, 1024))]:
                some = {"batch": 9} if bounds[0] == 9 else {}
                (port,) = skript.load(path, shapes={name: shape}, bounds=some).inputs
                self.assertEqual((port.name, port.shape, port.bounds), ("x_image", found, bounds))
        for options, kind, text in [
            (dict(shapes={"x": (2, 3, 4)}), skript.Error, "no input `x`; its inputs are `image`"),
            (dict(shapes={"image": (-2, 3, 4)}), ValueError, "the shape of `image` is .-2, 3, 4.: it must be a list of extents, with None or -1"),
            (dict(shapes={"image": "abc"}), ValueError, "the shape of `image` is abc"),
            (dict(shapes={"image": (2, 3, 4), "x_image": (2, 3, 5)}), skript.Error, "the shape of the input `image` is passed twice"),
            (
                dict(shapes={"image": (2, 3, None)}, constants={"image": numpy.zeros((2, 4, 3), numpy.int32)}),
                skript.Error,
                r"the constant `image` has the shape \[2, 4, 3\], but the shape \[2, 3, \?\] is passed for it",
            ),
            (dict(bounds={"batch": 0}), skript.Error, "the upper bound of the dynamic dimension `batch` is 0: it must be at least 1"),
            (dict(bounds={"batch": "4"}), ValueError, "`batch` is '4': it must be an int"),
            (dict(bounds={"batch": -1}), ValueError, "the upper bound of the dynamic dimension `batch` is -1: it must be an int"),
        ]:
            with self.assertRaisesRegex(kind, text):
                skript.load(path, **options)
        text = "graph G { @input { x: real[n|8]; } @output { y: real[n]; } @compose { y = x; } }"
        with self.assertRaisesRegex(ValueError, "the shape of `x` is .None,.: it must be a list of all extents"):
            skript.from_text(text, shapes={"x": (None,)})
        with self.assertRaisesRegex(skript.Error, "SK3003.*(?s:.*)--bound is bounds={…}, --input-shape is shapes={…}"):
            skript.load(path, bounds={"batch": 10**9, "size": 10**9})

    def test_byte_orders(self):
        onnx, kinds = self.onnx, self.onnx.TensorProto
        helper, path = onnx.helper, self.path.parent / "order.onnx"
        for name in ("int16", "int32", "int64", "uint32", "float32", "float16"):
            kind = helper.np_dtype_to_tensor_dtype(numpy.dtype(name))
            ports = [helper.make_tensor_value_info(p, kind, [3]) for p in "xky"]
            graph = helper.make_graph([helper.make_node("Add", ["x", "k"], ["y"])], "net", ports[:2], ports[2:])
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
            x = numpy.array([1, 2, 300], name)
            other = x.astype(x.dtype.newbyteorder(">"))
            self.assertEqual(skript.load(path)(other, k=x).tolist(), [2, 4, 600])
            self.assertEqual(skript.load(path, constants={"k": other})(other).tolist(), [2, 4, 600])
            if "int" in name:
                # A wider type whose values fit.
                self.assertEqual(skript.load(path)(x.astype(">i8"), k=x).tolist(), [2, 4, 600])

    def test_memory_of_large_bounds(self):
        onnx, kinds = self.onnx, self.onnx.TensorProto
        helper, path = onnx.helper, self.path.parent / "large.onnx"
        axes = [onnx.numpy_helper.from_array(numpy.array([n]), name) for n, name in ((1, "one"), (2, "two"))]
        nodes = [helper.make_node(*of) for of in (("Unsqueeze", ["x", "two"], ["a"]), ("Unsqueeze", ["x", "one"], ["b"]), ("MatMul", ["a", "b"], ["c"]))]
        nodes += [helper.make_node("Softmax", ["c"], ["s"], axis=1), helper.make_node("ReduceMax", ["s"], ["y"], keepdims=0)]
        ports = [helper.make_tensor_value_info("x", kinds.FLOAT, ["k", "n"]), helper.make_tensor_value_info("y", kinds.FLOAT, [])]
        graph = helper.make_graph(nodes, "net", ports[:1], ports[1:], axes)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
        x = numpy.ones((2, 2), numpy.float32)
        self.assertEqual(skript.load(path, bounds={"k": 2, "n": 2})(x), 0.5)
        # More memory than the limit of the process, and more than code may use.
        limits = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (1 << 38, limits[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_AS, limits)
        for k, reason in ((200, "no memory for an arena of 7.*"), (1000, r"needs \d+ bytes .* at most 1099511627776 .*")):
            with self.subTest(k=k):
                options = dict(bounds={"k": k, "n": 30000}, cache=False)
                model = skript.load(path, **options)
                # The code for the shapes of calls requires less memory.
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    self.assertEqual(model(x), 0.5)
                    for n in range(1, 20):
                        self.assertEqual(model(numpy.ones((1, n), numpy.float32)), numpy.float32(1) / numpy.float32(n))
                    self.assertEqual(model(x), 0.5)
                    self.assertEqual(model.evaluate(x), 0.5)
                    self.assertEqual(skript.load(path, specialize=True, **options)(x), 0.5)
                with self.assertRaisesRegex(skript.Error, reason + "(?s:.*)--bound is bounds={…}.*--specialize is specialize=True"):
                    model.compile()

    def test_calls_with_new_shapes(self):
        """The first shapes have specialized code. Later shapes share dynamic code, unless it does not broadcast an extent of 1."""
        onnx, kinds = self.onnx, self.onnx.TensorProto
        helper, path = onnx.helper, self.path.parent / "shapes.onnx"
        ports = [helper.make_tensor_value_info(*of) for of in (("x", kinds.FLOAT, ["b", "t"]), ("at", kinds.FLOAT, ["?", "t"]))]
        graph = helper.make_graph([helper.make_node("Add", ["x", "at"], ["y"])], "net", ports, [helper.make_tensor_value_info("y", kinds.FLOAT, None)])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
        model = skript.load(path, cache=False)
        self.assertEqual(repr(model.inputs[1]), "<at: float32(?, t)>")
        shapes = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (5, 1), (1, 7), (40, 40), (0, 0), (2, 1), (41, 1)]
        for rows, others in shapes:
            for length in (3, 130):
                x = numpy.random.default_rng(rows).standard_normal((rows, length)).astype(numpy.float32)
                at = numpy.arange(others * length, dtype=numpy.float32).reshape(others, length)
                numpy.testing.assert_array_equal(model(x, at), x + at)
        with self.assertRaises(skript.Error):
            model(numpy.zeros((3, 4), numpy.float32), numpy.zeros((2, 4), numpy.float32))

    def test_code_for_shapes(self):
        """A shape that calls decide is fixed by `compile` and `save`, too."""
        onnx, kinds = self.onnx, self.onnx.TensorProto
        helper, path = onnx.helper, self.path.parent / "reshaped.onnx"
        ports = [helper.make_tensor_value_info("x", kinds.FLOAT, ["n", "t"])]
        nodes = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Expand", ["one", "s"], ["e"]), helper.make_node("Add", ["x", "e"], ["y"])]
        one = onnx.numpy_helper.from_array(numpy.ones(1, numpy.float32), "one")
        graph = helper.make_graph(nodes, "net", ports, [helper.make_tensor_value_info("y", kinds.FLOAT, None)], [one])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
        x = numpy.ones((3, 5), numpy.float32)
        for model in (skript.load(path), skript.load(path, bounds={"n": 8, "t": 8})):
            compiled = model.compile(shapes={"x": (3, 5)})
            self.assertEqual(compiled.inputs[0].shape, (3, 5))
            numpy.testing.assert_array_equal(compiled(x), x + 1)
            saved = self.path.parent / "reshaped.skm"
            model.save(saved, shapes={"x": (3, 5)})
            numpy.testing.assert_array_equal(skript.load(saved)(x), x + 1)
            with self.assertRaises(skript.Error):
                model.compile(shapes={"x": (3, 5, 1)})

    def test_names_of_onnx_come_first(self):
        """`a_b` is the name of the first input in SkriptND, and that of the second one in ONNX."""
        onnx, kinds = self.onnx, self.onnx.TensorProto
        helper, path = onnx.helper, self.path.parent / "names.onnx"
        ports = [helper.make_tensor_value_info(name, kinds.FLOAT, [2]) for name in ("a.b", "a_b", "y")]
        graph = helper.make_graph([helper.make_node("Sub", ["a.b", "a_b"], ["y"])], "net", ports[:2], ports[2:])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
        model = skript.load(path)
        self.assertEqual([(port.name, port.aliases) for port in model.inputs], [("a_b", ["a.b"]), ("a_b_2", ["a_b"])])
        compiled = model.compile()
        compiled.save(path.with_suffix(".skm"))
        a, b = numpy.float32([5, 7]), numpy.float32([1, 2])
        for call in (model, model.evaluate, compiled, skript.load(path.with_suffix(".skm"))):
            for arguments in ({"a.b": a, "a_b": b}, {"a_b": b, "a.b": a}, {"a.b": a, "a_b_2": b}):
                self.assertEqual(call(**arguments).tolist(), [4, 5])
            self.assertEqual(call(a, a_b=b).tolist(), [4, 5])
            with self.assertRaisesRegex(TypeError, "`a_b_2` is passed twice"):
                call(a_b=b, a_b_2=b)

    def test_output_names_of_onnx(self):
        """`sum` is a name of the standard library, so the graph has a different name for the input."""
        onnx = self.onnx
        helper, kinds = onnx.helper, onnx.TensorProto
        port = lambda name: helper.make_tensor_value_info(name, kinds.FLOAT, [2])  # noqa: E731
        nodes = [helper.make_node("Neg", ["x"], ["graph"]), helper.make_node("Abs", ["x"], ["a/b"])]
        graph = helper.make_graph(nodes, "net", [port("x")], [port("graph"), port("a/b")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), self.path)
        model = skript.load(self.path)
        found = model([1, -2])
        self.assertEqual(found.graph.tolist(), [-1, 2])
        self.assertEqual(getattr(found, "a/b").tolist(), [1, 2])

    def test_models_that_are_refused(self):
        self.path.write_bytes(b"\x08\x08nothing")
        with self.assertRaisesRegex(skript.Error, "net.onnx"):
            skript.load(self.path)


if __name__ == "__main__":
    unittest.main()
