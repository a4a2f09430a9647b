# SPDX-License-Identifier: Apache-2.0
"""Tests of skript.from_torch and skript.TorchModule, compared with torch.

    torch_modules.py [unittest arguments]

Does nothing without the packages torch and onnx, which `make test` does not install: torch is gigabytes. Exports by
torch.export need onnxscript, too.
"""
import importlib.util
import pathlib
import sys
import unittest
import unittest.mock
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import package  # noqa: E402, F401  (the package as it was built)

HAS = {name: importlib.util.find_spec(name) is not None for name in ("torch", "onnx", "onnxscript", "ml_dtypes")}
if not HAS["torch"]:
    print("torch_modules: skipped, there is no package torch")
    sys.exit(0)

import torch  # noqa: E402
from torch import nn  # noqa: E402

import skript  # noqa: E402

# The available exporters: TorchScript and torch.export.
EXPORTERS = [False] * HAS["onnx"] + [True] * (HAS["onnx"] and HAS["onnxscript"])
for name in ("onnx", "onnxscript"):
    if not HAS[name]:
        print("torch_modules: exports are not tested fully, there is no package " + name)


class Convolutional(nn.Module):
    """Dropout and normalization behave differently in training."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(8 * 4 * 4, 5)

    def forward(self, image):
        return self.head(self.drop(self.features(image).flatten(1)))


class Attention(nn.Module):
    """Several inputs and outputs, a keyword argument, dynamic lengths, whole numbers."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 16)
        self.inner = nn.Linear(16, 48)
        self.norm = nn.LayerNorm(16)

    def forward(self, tokens, scale):
        q, k, v = self.inner(self.norm(self.embedding(tokens))).chunk(3, -1)
        weights = torch.softmax(q @ k.transpose(-1, -2) * scale, -1)
        return weights @ v, weights.argmax(-1)


def compared(test, module, model, *args, **kwargs):
    with torch.no_grad():
        wanted = module.eval()(*args, **kwargs)
    found = skript.TorchModule(model)(*args, **kwargs)
    many = lambda value: value if isinstance(value, tuple) else (value,)  # noqa: E731
    test.assertEqual(len(many(found)), len(many(wanted)))
    for ours, theirs in zip(many(found), many(wanted)):
        test.assertIsInstance(ours, torch.Tensor)
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


class Exports(unittest.TestCase):
    def setUp(self):
        if not EXPORTERS:
            self.skipTest("no package onnx")
        torch.manual_seed(1)
        warnings.simplefilter("ignore")

    def test_a_convolutional_network(self):
        for dynamo in EXPORTERS:
            with self.subTest(dynamo=dynamo):
                module, x = Convolutional(), torch.randn(2, 3, 8, 8)
                module(torch.randn(4, 3, 8, 8))
                module.drop.eval()
                shapes = {"image": {0: "batch"}}
                model = skript.from_torch(module, (x,), dynamic_shapes=shapes, bounds={"batch": 4}, dynamo=dynamo)
                modes = (module.training, module.features.training, module.drop.training)
                self.assertEqual(modes, (True, True, False))
                self.assertEqual(model.inputs[0].bounds, (4, 3, 8, 8))
                for batch in (1, 2, 4):
                    compared(self, module, model, torch.randn(batch, 3, 8, 8))
                names = " ".join(str(v) for v in model.variables)
                self.assertIn("head_weight", names.replace(".", "_"))

    def test_inputs_and_outputs(self):
        for dynamo in EXPORTERS:
            with self.subTest(dynamo=dynamo):
                module, tokens = Attention(), torch.randint(11, (2, 6))
                scale = torch.tensor(0.25)
                length = torch.export.Dim("length", min=2, max=9)
                shapes = {"tokens": {1: length}, "scale": None}
                model = skript.from_torch(module, tokens, {"scale": scale}, shapes, dynamo=dynamo)
                self.assertEqual(model.inputs[0].bounds, (2, 9))
                for count in (3, 9):
                    compared(self, module, model, torch.randint(11, (2, count)), scale=scale)
                # By position.
                model = skript.from_torch(module, (tokens, scale), dynamo=dynamo)
                compared(self, module, model, tokens, scale)

    def test_other_types(self):
        for dynamo in EXPORTERS:
            module = nn.Sequential(nn.Linear(4, 3), nn.GELU()).double()
            model = skript.from_torch(module, torch.randn(2, 4, dtype=torch.float64), dynamo=dynamo)
            compared(self, module, model, torch.randn(2, 4, dtype=torch.float64))

    def test_failures(self):
        class Failing(nn.Module):
            def forward(self, x):
                raise ValueError("deliberate")

        for dynamo in EXPORTERS:
            with self.assertRaisesRegex(RuntimeError, "cannot export Failing: (.|\n)*deliberate"):
                skript.from_torch(Failing(), torch.ones(1), dynamo=dynamo)
        with self.assertRaisesRegex(TypeError, "not function"):
            skript.from_torch(lambda x: x, torch.ones(1))
        with self.assertRaisesRegex(ValueError, "2 entries, but there are 1"):
            skript.from_torch(nn.Linear(1, 1), torch.ones(1, 1), dynamic_shapes=({}, {}))

    def test_missing_packages(self):
        find = importlib.util.find_spec
        for missing, dynamo in (("onnx", None), ("onnx", False), ("onnxscript", True)):
            hidden = lambda name: None if name == missing else find(name)  # noqa: B023, E731
            with unittest.mock.patch("importlib.util.find_spec", hidden):
                with self.assertRaisesRegex(ImportError, "pip install onnx"):
                    skript.from_torch(nn.Linear(1, 1), torch.ones(1, 1), dynamo=dynamo)


    def test_documentation(self):
        names = {"skript": skript}
        (block,) = [block for block in package.blocks("torch") if "import torch" in block]
        exec(block, names)
        self.assertEqual(names["y"].shape, (5, 3))
        torch.testing.assert_close(names["y"].sum(-1), torch.ones(5))


class Modules(unittest.TestCase):
    def test_memory_is_shared(self):
        """Writes by torch change a result that shares memory with an input; torch may also write to results."""
        module = skript.TorchModule(skript.from_text(package.TWO))
        a, b = torch.randn(2, 3), torch.randn(2, 3, requires_grad=True)
        result = module(a, b=b)
        torch.testing.assert_close(result.sum, a + b.detach())
        torch.testing.assert_close(result.difference, a - b.detach())
        result.sum.mul_(0)
        self.assertEqual(list(module.parameters()), [])
        self.assertIn("Two", repr(module))

    def test_layouts(self):
        module = skript.TorchModule(skript.from_text(package.TWO))
        a, b = torch.randn(3, 2).T, torch.randn(4, 6)[::2, ::2]
        torch.testing.assert_close(module(a, b).sum, a + b)

    def test_modules_in_modules(self):
        network = nn.Sequential(skript.TorchModule(skript.from_text(package.SCALE)), nn.Softmax(-1))
        torch.testing.assert_close(network(torch.tensor([1.0, 2.0])), torch.softmax(torch.tensor([2.0, 4.0]), -1))

    def test_narrow_types(self):
        for real, dtype in (("f16", torch.float16), ("bf16", torch.bfloat16)):
            if real == "bf16" and not HAS["ml_dtypes"]:
                continue
            module = skript.TorchModule(skript.from_text(package.SCALE, real=real))
            for x in (torch.tensor([1.5, -2, 0.1], dtype=dtype), torch.ones(6, dtype=dtype)[::2], torch.ones(0, dtype=dtype)):
                result = module(x)
                self.assertEqual(result.dtype, dtype)
                torch.testing.assert_close(result, x * 2, rtol=0, atol=0)

    def test_packs(self):
        module = skript.TorchModule(skript.from_text(package.PACKS))
        y, zs = module([torch.tensor([n, n + 1.0]) for n in (1, 3, 5)])
        self.assertEqual((y.tolist(), [z.tolist() for z in zs]), ([1, 2, 3, 4, 5, 6], [[1, 2], [3, 4], [5, 6]]))

    def test_what_is_refused(self):
        module = skript.TorchModule(skript.from_text(package.SCALE))
        with self.assertRaisesRegex(TypeError, "`x` has an unsupported element type"):
            module(torch.ones(2, dtype=torch.complex64))
        with self.assertRaisesRegex(TypeError, "float64"):
            module(torch.ones(2, dtype=torch.float64))
        with self.assertRaisesRegex(TypeError, "input `x` is in memory of CUDA device 2:0"):
            module(Elsewhere())

    def test_nothing_leaks(self):
        module = skript.TorchModule(skript.from_text(package.SCALE))
        x = torch.ones(8)
        weak = torch.ones(8)
        count = weak.untyped_storage()._use_count() if hasattr(weak.untyped_storage(), "_use_count") else None
        for _ in range(100):
            module(x)
            module(weak)
        if count is not None:
            self.assertEqual(weak.untyped_storage()._use_count(), count)


class Elsewhere:
    """A tensor on a GPU."""

    def __dlpack__(self, **options):
        raise AssertionError("the device was not asked for")

    def __dlpack_device__(self):
        return (2, 0)


if __name__ == "__main__":
    unittest.main()
