# SPDX-License-Identifier: Apache-2.0
"""Prints the results of a shared object's functions for embedded weights: embedded.py MODEL.so FOLDER-OF-RUN_SHARED."""
import ctypes
import os
import sys

sys.path.append(sys.argv[2])
import numpy as np
from run_shared import VARIABLE, Error, load, ports, tensor

library = load(os.path.abspath(sys.argv[1]))
error = Error()
print("create:", library.skript_create(b"folder", ctypes.byref(error)), error.text.decode())
instance = ctypes.c_void_p(library.skript_create(None, ctypes.byref(error)))
for number, port in enumerate(ports(library, VARIABLE)):
    types = {3: np.float32, 2: np.int64}
    array = np.zeros([port.bounds[n] for n in range(port.rank)], types[port.type])
    value = tensor(array)
    for name in ["skript_read_variable", "skript_write_variable"]:
        error.text = b""
        function = getattr(library, name)
        status = function(instance, ctypes.c_size_t(number), ctypes.byref(value), ctypes.byref(error))
        print(name, status, array.ravel()[:2].tolist(), error.text.decode())
library.skript_free(instance)
