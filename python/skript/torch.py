# SPDX-License-Identifier: Apache-2.0
"""Converts torch modules to models, and models to torch modules."""
import contextlib
import importlib.util
import inspect
import pathlib
import tempfile

import numpy
import torch

from . import _skript


def from_torch(module, args=(), kwargs=None, dynamic_shapes=None, *, bounds=None, dynamo=None, **options):
    """Converts a torch module, in evaluation mode, to a Model by `torch.onnx.export`.

    Parameters
    ----------
    module
        a torch.nn.Module
    args
        the positional arguments of an example call: a tuple, or one tensor
    kwargs
        its keyword arguments
    dynamic_shapes
        the dynamic dimensions of arguments, as torch.export has them: a tuple for `args`, or a dict by names of arguments,
        of dicts from dimensions to names or to `torch.export.Dim`: `{"x": {0: "batch"}}`
    bounds
        upper bounds of dynamic dimensions, by their names; the default is the `max` of a `Dim`, or 1024
    dynamo
        whether torch.export is used (True) or TorchScript (False); torch.export, where its package onnxscript is, if it is
        not set
    options
        options of `load`

    Raises
    ------
    ImportError
        a package is missing that torch.onnx.export needs
    RuntimeError
        the export fails
    skript.Error
        the exported model has an operator that is not supported

    Examples
    --------
    >>> model = skript.from_torch(module, x, dynamic_shapes={"x": {0: "batch"}}, bounds={"batch": 8})
    >>> y = model(x)
    """
    if not isinstance(module, torch.nn.Module):
        raise TypeError("from_torch converts a torch.nn.Module, not %s" % type(module).__name__)
    args = args if isinstance(args, tuple) else (args,)
    kwargs = dict(kwargs or {})
    wanted = ("onnx",) if dynamo is False else ("onnx", "onnxscript")
    missing = [name for name in wanted if importlib.util.find_spec(name) is None]
    if "onnx" in missing or dynamo and missing:
        raise ImportError("torch.onnx.export needs the package %s: pip install %s" % (missing[0], " ".join(wanted)))
    dynamo = not missing if dynamo is None else dynamo
    shapes = _by_name(module, args, kwargs, dynamic_shapes)
    bounds = {**_declared_bounds(shapes), **(bounds or {})}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / (type(module).__name__ + ".onnx")
        with _evaluating(module), torch.no_grad():
            try:
                export = _exported if dynamo else _scripted
                export(module, args, kwargs, shapes, path)
            except Exception as error:
                text = "torch.onnx.export cannot export %s: %s" % (type(module).__name__, error)
                raise RuntimeError(text) from error
        return _skript.load(path, bounds=bounds or None, **options)


@contextlib.contextmanager
def _evaluating(module):
    """Evaluation mode; afterwards, each submodule has its previous mode."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode


def _names(module, args, kwargs):
    """The names of the arguments, in the order of `forward`."""
    bound = inspect.signature(module.forward).bind(*args, **kwargs)
    return list(bound.arguments)


def _by_name(module, args, kwargs, shapes):
    """The dynamic dimensions by names of arguments, as names or as Dim."""
    if shapes is None:
        return {}
    if not isinstance(shapes, dict):
        names = _names(module, args, kwargs)
        if len(shapes) > len(names):
            raise ValueError("dynamic_shapes has %d entries, but there are %d arguments" % (len(shapes), len(names)))
        shapes = dict(zip(names, shapes))
    return {name: dimensions for name, dimensions in shapes.items() if dimensions}


def _dimensions(shapes):
    for dimensions in shapes.values():
        if isinstance(dimensions, dict):
            yield from dimensions.values()


def _declared_bounds(shapes):
    """The maxima of named dimensions."""
    found = {}
    for dimension in _dimensions(shapes):
        maximum, name = getattr(dimension, "max", None), getattr(dimension, "__name__", None)
        if isinstance(maximum, int) and name and maximum < 1 << 31:
            found[name] = maximum
    return found


def _exported(module, args, kwargs, shapes, path):
    """Exports by torch.export."""
    dynamic = None
    if shapes:
        names = {}
        dims = lambda d: names.setdefault(d, torch.export.Dim(d)) if isinstance(d, str) else d  # noqa: E731
        dynamic = {name: None for name in _names(module, args, kwargs)}
        for name, dimensions in shapes.items():
            is_dict = isinstance(dimensions, dict)
            dynamic[name] = {at: dims(d) for at, d in dimensions.items()} if is_dict else dimensions
    torch.onnx.export(module, args, path, kwargs=kwargs, dynamo=True, dynamic_shapes=dynamic, verbose=False)


def _scripted(module, args, kwargs, shapes, path):
    """Exports by TorchScript, which expects dimensions by names of inputs."""
    names = _names(module, args, kwargs)
    label = lambda d: d if isinstance(d, str) else d.__name__  # noqa: E731
    axes = {name: {at: label(d) for at, d in dimensions.items()} for name, dimensions in shapes.items()}
    torch.onnx.export(module, args, str(path), kwargs=kwargs, dynamo=False, input_names=names, dynamic_axes=axes or None)


class TorchModule(torch.nn.Module):
    """A model as a torch.nn.Module: tensors in and out, which share memory with the arrays of the model.

    Tensors are on the CPU; a model on a GPU (`Model.to`) also takes those on it, and then returns such. The model has no gradient, and its variables are no parameters of the module: train the module
    that it was made from. Inputs are not copied if they are contiguous.

    Examples
    --------
    >>> network = torch.nn.Sequential(skript.TorchModule(model), torch.nn.Softmax(-1))
    """

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *args, **kwargs):
        """Calls the model with tensors, in the order of its inputs or by their names."""
        result = self.model(*map(_plain, args), **{name: _plain(value) for name, value in kwargs.items()})
        return _tensors(result)

    def extra_repr(self):
        return repr(self.model)


def _plain(value):
    """Detaches an argument, because tensors with gradients do not support DLPack."""
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _tensors(value):
    """Arrays as tensors that share their memory."""
    if isinstance(value, list):
        return [_tensors(item) for item in value]
    if isinstance(value, tuple):
        return type(value)(*map(_tensors, value)) if hasattr(value, "_fields") else tuple(map(_tensors, value))
    if isinstance(value, _skript.DeviceArray):
        return torch.from_dlpack(value)
    if value.dtype.name == "bfloat16":
        return torch.from_numpy(value.view(numpy.int16)).view(torch.bfloat16)
    return torch.from_numpy(value)
