# SPDX-License-Identifier: Apache-2.0
"""Models in SkriptND, ONNX and StableHLO: checked, compiled, and called with numpy arrays.

    >>> import skript
    >>> model = skript.load("model.onnx")       # a folder, .sknd, .onnx, .mlir or .skm
    >>> model.inputs, model.outputs
    >>> y = model(x)                            # compiled for this processor by the first call
    >>> fast = model.compile(target="x86-64-v3", threads=2)
    >>> there = model.to("cuda")                # or "vulkan", "auto": uses arrays on the GPU in place
    >>> fast.save("model.skm")                  # skript.load and the package skript-runtime read it
    >>> print(skript.operators["nn.conv"])      # the documentation of an operator

Errors of models raise `skript.Error`, whose text contains lines of the document; wrong arguments raise TypeError and ValueError.
"""
from ._skript import (
    CompiledModel,
    DeviceArray,
    Diagnostic,
    Error,
    Model,
    Operator,
    Port,
    Program,
    __version__,
    from_text,
    grad,
    load,
    training_step,
)
from .library import Operators

operators = Operators()

__all__ = [
    "CompiledModel",
    "DeviceArray",
    "Diagnostic",
    "Error",
    "Model",
    "Operator",
    "Operators",
    "Port",
    "Program",
    "__version__",
    "from_text",
    "from_torch",
    "grad",
    "jax_callable",
    "load",
    "operators",
    "training_step",
]


def jax_callable(model):
    """A JAX function that calls the compiled model, also inside `jax.jit`; `skript.jax` has the details."""
    from .jax import jax_callable as wrapped

    return wrapped(model)


def from_torch(module, args=(), kwargs=None, dynamic_shapes=None, **options):
    """Converts a torch.nn.Module to a Model, by an example call; `skript.torch.from_torch` has the details."""
    return _torch().from_torch(module, args, kwargs, dynamic_shapes, **options)


def _torch():
    import importlib.util

    if importlib.util.find_spec("torch") is None:
        raise ImportError("skript.from_torch and skript.TorchModule need the package torch: pip install torch")
    from . import torch

    return torch


def __getattr__(name):
    if name == "TorchModule":
        return _torch().TorchModule
    raise AttributeError("module 'skript' has no attribute %r" % name)
