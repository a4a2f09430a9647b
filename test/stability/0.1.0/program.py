# SPDX-License-Identifier: Apache-2.0
"""The Python API as version 0.1.0 has it."""
import sys

import numpy
import skript
import skript_runtime

folder, out = sys.argv[1:]
x = numpy.load(f"{folder}/x.npy")
y, total = numpy.load(f"{folder}/y.npy"), numpy.load(f"{folder}/total.npy")

model = skript.load(f"{folder}/net.sknd", threads=1)
assert [port.name for port in model.inputs] == ["x"]
assert model.inputs[0].shape == (None, 4) and model.inputs[0].bounds == (16, 4)
assert [port.name for port in model.variables] == ["net.Net.filter", "net.Net.bias"]
for result in (model(x), model(x=x), model.evaluate(x)):
    assert numpy.allclose(result.y, y, atol=1e-5) and numpy.allclose(result.total, total, atol=1e-5)
compiled = model.compile(threads=1)
assert compiled.bench(x, seconds=0.01).best > 0
compiled.save(f"{out}/saved.skm")
assert numpy.allclose(skript_runtime.load(f"{out}/saved.skm")(x)[0], y, atol=1e-5)
assert "stablehlo" in model.to_stablehlo() and "skript.formula" in model.to_mlir()
try:
    skript.from_text("graph G {")
except skript.Error as error:
    assert error.code == "SK1602" and error.line == 1
else:
    raise AssertionError("a wrong text was accepted")
