# SPDX-License-Identifier: Apache-2.0
"""The engine tract, on one thread."""
import tract

import timing


def engine(path, inputs, threads):
    # Dynamic dimensions are fixed to the extents of the inputs, which is tract's best case.
    model = tract.onnx().load(path)
    for at, values in enumerate(inputs.values()):
        kind = "i64" if values.dtype == "int64" else "f32"
        model.set_input_fact(at, ",".join(map(str, (*values.shape, kind))))
    names = [model.output_name(at) for at in range(model.output_count())]
    runnable = model.into_model().into_runnable()
    tensors, results = [tract.Tensor.from_numpy(values) for values in inputs.values()], [None]

    def call():
        results[0] = runnable.run(tensors)

    return call, lambda: dict(zip(names, (value.to_numpy() for value in results[0])))


if __name__ == "__main__":
    timing.run(engine)
