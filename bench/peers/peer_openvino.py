# SPDX-License-Identifier: Apache-2.0
"""OpenVINO on the CPU in f32, optimized for latency; inputs are tensors that share memory with the caller."""
import timing


def engine(model, inputs, threads):
    # Imported here, in the process that timing.py forks for each request: the library sometimes hangs in processes that are forked
    # after the import.
    import openvino

    core = openvino.Core()
    # The caller has pinned the process.
    hints = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1, "ENABLE_CPU_PINNING": False}
    core.set_property("CPU", {"INFERENCE_NUM_THREADS": threads, **hints})
    compiled = core.compile_model(core.read_model(model), "CPU")
    request = compiled.create_infer_request()
    for name, values in inputs.items():
        request.set_tensor(name, openvino.Tensor(values, shared_memory=True))

    def outputs():
        return {output.get_any_name(): request.get_tensor(output).data.copy() for output in compiled.outputs}

    return request.infer, outputs


if __name__ == "__main__":
    timing.run(engine)
