# SPDX-License-Identifier: Apache-2.0
"""Runs models that the package skript compiled (.skm); needs neither a compiler nor LLVM.

    >>> import skript_runtime
    >>> model = skript_runtime.load("model.skm")
    >>> y = model(x)
"""
from ._runtime import CompiledModel, DeviceArray, Diagnostic, Error, Port, __version__, load

__all__ = ["CompiledModel", "DeviceArray", "Diagnostic", "Error", "Port", "__version__", "load"]
