# SPDX-License-Identifier: Apache-2.0
"""Writes a model folder and files of data: data.py FOLDER"""
import pathlib
import shutil
import sys

import numpy

folder = pathlib.Path(sys.argv[1])
(folder / "net").mkdir(parents=True)
shutil.copy(pathlib.Path(__file__).parent / "net.sknd", folder / "net/main.sknd")
# Ranges by hand: x from -0.5 to 2; h = 2 x0 from 0 to 4; w has a scale for each row, and last.w for each of its rows.
w = numpy.array([[2, 0, 0, 0], [0, 0, 0, 0], [0, 0.5, 0, 0]], numpy.float32)
numpy.savez(folder / "net/main.npz", **{"main.Net.w": w, "main.Net.y.w": numpy.array([[1, 0, 0], [0, 0, -4]], numpy.float32)})
x = numpy.zeros((10, 4), numpy.float32)
x[:, 0] = numpy.linspace(-0.5, 2, 10)
x[:, 1] = numpy.linspace(2, 0, 10)
numpy.savez(folder / "data.npz", x=x)
numpy.savez(folder / "batches.npz", x=x[:, None])
numpy.savez(folder / "none.npz", x=x[:0])
numpy.savez(folder / "wide.npz", x=numpy.zeros((3, 5), numpy.float32))
numpy.savez(folder / "rank.npz", x=numpy.zeros((3, 1, 1, 4), numpy.float32))
numpy.savez(folder / "other.npz", z=x)
numpy.savez(folder / "zeros.npz", x=0 * x)
x[7, 2] = numpy.nan
numpy.savez(folder / "nan.npz", x=x)
(folder / "arrays").mkdir()
numpy.save(folder / "arrays/x.npy", numpy.nan_to_num(x))
(folder / "empty").mkdir()
