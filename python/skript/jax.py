# SPDX-License-Identifier: Apache-2.0
"""Compiled models as JAX functions. Uses only public JAX interfaces."""
import jax
import numpy


def jax_callable(model):
    """A JAX function that calls a model, also inside `jax.jit`, `jax.vmap` and `jax.lax` loops.

    The model computes on the host (`jax.pure_callback`), so arrays on other devices are copied there. Its shapes are static,
    and it has no variables that it updates. There is no gradient.

    Parameters
    ----------
    model
        a Model or a CompiledModel whose outputs have static shapes

    Raises
    ------
    ValueError
        an output has a dynamic shape
    """
    outputs = model.outputs
    for output in outputs:
        if None in output.shape:
            raise ValueError("output %s has a dynamic shape; JAX requires static shapes: load the model with `shapes`" % output)
    shapes = tuple(jax.ShapeDtypeStruct(output.shape, output.dtype) for output in outputs)

    def computed(*arguments):
        result = model(*map(numpy.asarray, arguments))
        return (result,) if len(shapes) == 1 else tuple(result)

    def called(*arguments):
        results = jax.pure_callback(computed, shapes, *arguments, vmap_method="sequential")
        return results[0] if len(results) == 1 else results

    called.__name__ = model.name or "model"
    return called
