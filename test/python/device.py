# SPDX-License-Identifier: Apache-2.0
"""Tests of models on GPUs: Vulkan by lavapipe, and CUDA by a test driver; both compute on the processor.

    device.py [--installed] [unittest arguments]

The driver is test/tools/run/inputs/cuda-driver.c; its memory of a GPU is memory of this process.
"""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LAVAPIPE = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"

if "SKRIPT_TEST_DRIVER" not in os.environ:
    # The loader searches for the driver when the process starts.
    with tempfile.TemporaryDirectory() as folder:
        source = ROOT / "test/tools/run/inputs/cuda-driver.c"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", folder + "/libcuda.so.1", source], check=True)
        found = {"SKRIPT_TEST_DRIVER": folder, "LD_LIBRARY_PATH": folder, "VK_ICD_FILENAMES": LAVAPIPE, "STUB_GRAPHS": "1"}
        found["XDG_CACHE_HOME"] = folder + "/cache"
        sys.exit(subprocess.run([sys.executable, *sys.argv], env={**os.environ, **found}).returncode)

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import package  # noqa: E402  places the packages
import numpy  # noqa: E402
import skript  # noqa: E402
import skript_runtime  # noqa: E402

SUM = (ROOT / "test/tools/run/inputs/cuda.sknd").read_text()
SCALED = """
operator scaled {
    @attrib { factor: real; }
    @input { x: real[n,m]; }
    @output { y: real[n,m]; }
    @lower { y[i,j] = x[i,j] * factor, i < n, j < m; }
}
graph Scaled {
    @input { x: real[n|8,4]; }
    @output { y: real[n,4]; z: real[n,4]; }
    @compose { y = scaled{factor = 2.0}(x); z = scaled{factor = 3.0}(y); }
}"""


class Foreign:
    """An array of another library in GPU memory, simulated by a numpy array whose capsule has a GPU device."""

    def __init__(self, array, device=(2, 0)):
        self.array, self.device, self.streams = array, device, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        capsule = self.array.__dlpack__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        # The data pointer, then the kind and the number of the device.
        fields = ctypes.cast(get(capsule, b"dltensor") + 8, ctypes.POINTER(ctypes.c_int32))
        fields[0], fields[1] = self.device
        return capsule


def aligned(values, offset=0):
    """An array whose address is a multiple of 64, plus `offset` bytes."""
    values = numpy.asarray(values)
    memory = numpy.zeros(values.nbytes + 192, numpy.uint8)
    start = -memory.ctypes.data % 64 + offset
    found = memory[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    found[...] = values
    return found


class Vulkan(unittest.TestCase):
    def setUp(self):
        self.model = skript.from_text(SCALED)
        self.there = self.model.to("vulkan")

    def test_arrays_of_numpy(self):
        self.assertEqual(self.there.device, "vulkan:0")
        self.assertEqual(self.model.to("cpu").device, "cpu")
        for n in (8, 3, 3, 0, 8):
            x = numpy.arange(4 * n, dtype=numpy.float32).reshape(n, 4)
            y, z = self.there(x)
            numpy.testing.assert_array_equal(y, 2 * x)
            numpy.testing.assert_array_equal(z, 6 * x)

    def test_arrays_on_the_device_are_inputs_and_outputs(self):
        x = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
        there = self.there.upload(x)
        self.assertEqual((there.shape, there.dtype, there.device), ((3, 4), numpy.float32, "vulkan:0"))
        self.assertEqual(repr(there), "<array of float32 (3, 4) on vulkan:0>")
        for _ in range(3):
            y, z = self.there(x=there)
            self.assertIsInstance(y, skript.DeviceArray)
            numpy.testing.assert_array_equal(y.numpy(), 2 * x)
            numpy.testing.assert_array_equal(numpy.asarray(self.there(z).z), 36 * x)
        with self.assertRaisesRegex(ValueError, r"input `x` has shape \(3, 4\)"):
            skript.from_text(SCALED.replace("n|8", "2").replace("n,4]; z: real[n", "2,4]; z: real[2")).to("vulkan")(there)
        with self.assertRaisesRegex(TypeError, "input `x` has elements of float64"):
            self.there(self.there.upload(x.astype(numpy.float64)))

    def test_arrays_of_another_model_are_copied(self):
        other = self.model.to("vulkan")
        x = numpy.arange(8, dtype=numpy.float32).reshape(2, 4)
        y, _ = self.there(other.upload(x))
        del other
        numpy.testing.assert_array_equal(y.numpy(), 2 * x)

    def test_arrays_outlive_the_model(self):
        x = numpy.ones((2, 4), numpy.float32)
        y, _ = self.there(self.there.upload(x))
        del self.there
        numpy.testing.assert_array_equal(y.numpy(), 2 * x)

    def test_a_model_on_the_processor_has_no_arrays_there(self):
        with self.assertRaisesRegex(ValueError, "the model is not on a GPU"):
            self.model.to("cpu").upload(numpy.ones(3))
        with self.assertRaisesRegex(ValueError, "there are cpu, cuda"):
            self.model.to("gpu")
        with self.assertRaisesRegex(skript.Error, "there is no Vulkan device 7"):
            self.model.to("vulkan:7")

    def test_compiled_models_keep_their_kernels(self):
        with tempfile.TemporaryDirectory() as folder:
            self.there.save(folder + "/model.skm")
            x = numpy.ones((2, 4), numpy.float32)
            for load in (skript.load, skript_runtime.load):
                loaded = load(folder + "/model.skm")
                self.assertEqual(loaded.device, "vulkan:0")
                numpy.testing.assert_array_equal(loaded(x).z, 6 * x)
            with self.assertRaisesRegex(skript_runtime.Error, "SPIR-V, which this device does not run"):
                skript_runtime.load(folder + "/model.skm", device="cuda")


class Cuda(unittest.TestCase):
    def setUp(self):
        self.there = skript.from_text(SUM).to("cuda")
        self.x, self.z = (aligned(numpy.arange(1000, dtype=numpy.float32) * k) for k in (1, 3))

    def test_arrays_of_other_libraries(self):
        x = Foreign(self.x)
        for z in (Foreign(self.z), Foreign(aligned(self.z, 4)), self.there.upload(self.z), self.z):
            for _ in range(3):
                y = self.there(x, z)
                self.assertEqual(y.device, "cuda:0")
                numpy.testing.assert_array_equal(y.numpy(), 4 * self.x)
        self.assertNotIn(None, x.streams)
        with self.assertRaisesRegex(ValueError, "input `x` is not contiguous"):
            self.there(Foreign(aligned(numpy.arange(2000, dtype=numpy.float32))[::2]), self.z)
        with self.assertRaisesRegex(TypeError, "in memory of CUDA device 2:1"):
            self.there(Foreign(self.x, (2, 1)), self.z)

    def test_outputs_are_exported(self):
        y = self.there(self.there.upload(self.x), self.z)
        self.assertEqual(y.__dlpack_device__(), (2, 0))
        with self.assertRaises(BufferError):
            y.__dlpack__(copy=True)
        # One capsule that is dropped, and one that a model consumes.
        y.__dlpack__(stream=None)

        class Exported:
            __dlpack_device__ = y.__dlpack_device__
            __dlpack__ = y.__dlpack__

        again = self.there(Exported(), self.z)
        numpy.testing.assert_array_equal(again.numpy(), 7 * self.x)

    def test_repeated_calls_are_graphs(self):
        x, z = self.there.upload(self.x), self.there.upload(self.z)
        kept = [self.there(x, z) for _ in range(3)]
        for y in kept:
            numpy.testing.assert_array_equal(y.numpy(), 4 * self.x)
        self.x[:] = 1
        for _ in range(3):
            numpy.testing.assert_array_equal(self.there(self.x, self.z), 1 + self.z)

    def test_auto_is_the_first_gpu(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(skript.from_text(SUM).to("auto").device, "cuda:0")


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--installed"])
