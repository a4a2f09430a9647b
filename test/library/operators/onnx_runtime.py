# SPDX-License-Identifier: Apache-2.0
"""Operators of ONNX without a numpy equivalent: windows, normalizations, resizing, recurrence, sorting, scattering. Expected
values are the CPU results of ONNX Runtime on models with one node."""
import itertools

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from cases import BOTH, Case, random

T = {"rtol": 5e-5, "atol": 1e-5}
TYPES = {"f": TensorProto.FLOAT, "i": TensorProto.INT64, "b": TensorProto.BOOL}
OPSET = 20
onnxruntime.set_default_logger_severity(4)


def node(op, inputs, results=1, **attributes):
    """Results of one ONNX operation. `None` inputs are omitted, `None` attributes have their defaults."""
    names = ["" if x is None else "x%d" % n for n, x in enumerate(inputs)]
    # ONNX computes in f32, independent of the storage types.
    given = {n: x.astype(np.float32) if x.dtype == np.float64 else x for n, x in zip(names, inputs) if x is not None}
    outputs = ["y%d" % n for n in range(results)]
    attributes = {k: v for k, v in attributes.items() if v is not None}
    declared = [helper.make_tensor_value_info(n, TYPES[x.dtype.kind], x.shape) for n, x in given.items()]
    graph = helper.make_graph([helper.make_node(op, names, outputs, **attributes)], "g", declared,
                              [helper.make_empty_tensor_value_info(y) for y in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(onnx.shape_inference.infer_shapes(model).SerializeToString(), options)
    return session.run(outputs, given)


def one(op, inputs, **attributes):
    return node(op, inputs, **attributes)[0]


def editions(cases):
    """The cases of each edition in sequence."""
    for at, case in enumerate(cases):
        case.edition = BOTH[at % 2]
        yield case


# spatial extents, filter, stride, dilation, padding (`None`: as much as needed; `padding_align` selects the side of an odd element)
WINDOWS = [((9,), [3], [1], [1], [1, 1]), ((9,), [4], [2], [1], [2, 1]), ((11,), [3], [3], [2], [0, 2]), ((8,), [3], [2], [1], None),
           ((7, 9), [3, 3], [2, 2], [1, 1], [1, 1, 1, 1]), ((7, 9), [3, 2], [1, 3], [2, 1], [2, 0, 1, 1]), ((8, 8), [5, 3], [1, 1], [1, 1], None),
           ((10, 6), [1, 1], [2, 1], [1, 1], [0, 0, 0, 0]), ((5, 6, 4), [3, 2, 2], [1, 2, 1], [1, 1, 2], [1, 1, 0, 1, 0, 1]), ((4, 4, 4), [2, 2, 2], [2, 2, 2], [1, 1, 1], None)]


def placed(padding, align):
    return {"pads": padding} if padding is not None else {"auto_pad": "SAME_" + align}


def convolutions():
    draw = random("onnx conv")
    for (spatial, size, stride, dilation, padding), (c, n, groups), align in itertools.product(WINDOWS, [(3, 4, 1), (4, 6, 2), (4, 4, 4)], ("UPPER", "LOWER")):
        if padding is not None and align == "LOWER":
            continue
        x, f, bias = draw.real((2, c) + spatial), draw.real([n, c // groups] + size), draw.real((n,))
        y = one("Conv", [x, f, bias], strides=stride, dilations=dilation, group=groups, **placed(padding, align))
        yield Case("nn.conv", [x, f, bias], y, {"stride": stride, "dilation": dilation, "padding": padding, "padding_align": align, "groups": groups}, **T)


def deconvolutions():
    draw = random("onnx deconv")
    for (spatial, size, stride, dilation, padding), (c, n, groups) in itertools.product(WINDOWS, [(3, 4, 1), (4, 6, 2), (4, 4, 4)]):
        if padding is None:
            continue
        x, f, bias = draw.real((2, c) + spatial), draw.real([c, n // groups] + size), draw.real((n,))
        for more in (0, max(stride) - 1):
            rest = [min(more, s - 1) for s in stride]
            y = one("ConvTranspose", [x, f, bias], strides=stride, dilations=dilation, group=groups, pads=padding, output_padding=rest)
            yield Case("nn.deconv", [x, f, bias], y, {"stride": stride, "dilation": dilation, "padding": padding, "groups": groups,
                                                      "output_size": list(y.shape[2:]) if more else None}, **T)


def pooling():
    draw = random("onnx pool")
    for spatial, size, stride, dilation, padding in WINDOWS:
        # ONNX requires padding smaller than the window.
        if padding is not None and any(p >= s for p, s in zip(padding, size * 2)):
            continue
        x = draw.real((2, 3) + spatial)
        common = {"kernel_shape": size, "strides": stride, **placed(padding, "UPPER")}
        attributes = {"size": size, "stride": stride, "padding": padding}
        gaps = {"dilation": dilation, **attributes}
        yield Case("nn.max_pool", [x], one("MaxPool", [x], dilations=dilation, **common), gaps)
        # ONNX omits windows that begin behind the input.
        if padding is not None and not any(starts_outside(*sides) for sides in zip(spatial, size, stride, dilation, padding, padding[len(size):])):
            y = one("MaxPool", [x], dilations=dilation, ceil_mode=1, **common)
            yield Case("nn.max_pool", [x], y, {**gaps, "ceil_mode": True})
        for border in (True, False):
            y = one("AveragePool", [x], dilations=dilation, count_include_pad=int(not border), **common)
            yield Case("nn.avg_pool", [x], y, {**gaps, "ignore_border": border}, **T)
        if set(dilation) == {1}:
            for p in (1, 2, 3):
                yield Case("nn.lp_pool", [x], one("LpPool", [x], p=p, **common), {**attributes, "p": float(p)}, **T)


def starts_outside(extent, size, stride, dilation, before, behind):
    """Whether the first element of the last window, with a number of windows that is rounded up, is behind the input."""
    steps = -(-(extent + before + behind - (size - 1) * dilation - 1) // stride)
    return steps * stride >= extent + before


def activations():
    draw = random("onnx activations")
    for shape in [(2, 5), (3,), (1, 2, 3, 2), ()]:
        x = draw.real(shape)
        for name, op, attributes, theirs in [
                ("relu", "Relu", {}, {}), ("relu", "LeakyRelu", {"alpha": 0.125}, {"alpha": 0.125}), ("elu", "Elu", {"alpha": 0.5}, {"alpha": 0.5}), ("elu", "Elu", {}, {}),
                ("selu", "Selu", {}, {}), ("selu", "Selu", {"alpha": 1.5, "lambda": 0.75}, {"alpha": 1.5, "gamma": 0.75}), ("gelu", "Gelu", {}, {}),
                ("gelu", "Gelu", {"approximate": "TANH"}, {"approximate": "tanh"}), ("sigmoid", "Sigmoid", {}, {}), ("softplus", "Softplus", {}, {}), ("erf", "Erf", {}, {}),
                ("thresholded_relu", "ThresholdedRelu", {"theta": 0.75}, {"alpha": 0.75})]:
            yield Case("nn." + name, [x], one(op, [x], **theirs), attributes, rtol=2e-5, atol=2e-6)
        if len(shape) > 1:
            alpha = draw.real((shape[1],))
            yield Case("nn.prelu", [x, alpha], one("PRelu", [x, alpha.reshape([-1] + [1] * (len(shape) - 2))]))
        for axis in range(len(shape)):
            yield Case("nn.softmax", [x], one("Softmax", [x], axis=axis), {"axes": [axis]})


def normalizations():
    draw = random("onnx normalizations")
    for spatial in [(), (5,), (4, 3), (2, 3, 2)]:
        c = 4
        x = draw.real((2, c) + spatial)
        mean, scale, bias, variance = draw.real((c,)), draw.real((c,)), draw.real((c,)), draw.real((c,), 0.1, 2)
        for epsilon in (None, 0.125):
            y = one("BatchNormalization", [x, scale, bias, mean, variance], epsilon=epsilon)
            yield Case("nn.batch_norm", [x, mean, variance, bias, scale], y, {"epsilon": epsilon}, **T)
            if spatial:
                y = one("InstanceNormalization", [x, scale, bias], epsilon=epsilon)
                yield Case("nn.mean_variance_norm", [x, bias, scale], y, {"epsilon": epsilon}, **T)
        if len(spatial) == 2:
            for size, alpha, beta, bias in [(3, 0.5, 0.75, 1.0), (1, 2.0, 0.5, 0.25), (5, 1e-3, 1.0, 2.0)]:
                y = one("LRN", [x], size=size, alpha=alpha, beta=beta, bias=bias)
                yield Case("nn.local_response_norm", [x], y, {"size": [size], "alpha": alpha, "beta": beta, "bias": bias}, **T)
        for axis, p in itertools.product(range(x.ndim), (1, 2)):
            yield Case("nn.l%d_norm" % p, [x], one("LpNormalization", [x], axis=axis, p=p), {"axes": [axis]}, **T)


TRANSFORMS = {"SYMMETRIC": "half_pixel", "ASYMMETRIC": "asymmetric", "ALIGNED": "align_corners"}
# extents, extents of the result
SIZES = [((1, 1, 5, 6), (1, 1, 9, 4)), ((1, 2, 4, 4), (1, 2, 7, 8)), ((1, 1, 8, 7), (1, 1, 3, 5)), ((2, 1, 3, 5), (2, 1, 3, 10)), ((1, 1, 6, 6), (1, 1, 2, 12))]


def resizing():
    draw = random("onnx resize")
    for (shape, result), (ours, theirs) in itertools.product(SIZES, TRANSFORMS.items()):
        x = draw.real(shape)
        size = np.array(result, dtype=np.int64)

        def resize(**attributes):
            return one("Resize", [x, None, None, size], coordinate_transformation_mode=theirs, **attributes)

        common = {"size": list(result), "coordinate_transform": ours}
        for rounding in ("ROUND_PREFER_FLOOR", "ROUND_PREFER_CEIL", "FLOOR", "CEIL"):
            y = resize(mode="nearest", nearest_mode=rounding.lower())
            yield Case("image.nearest_resize", [x], y, {**common, "rounding_method": rounding})
            yield Case("image.resize", [x], y, {**common, "mode": "NEAREST", "rounding_method": rounding})
        # For smaller results, `antialias` does not widen the linear filter, unlike in ONNX.
        yield Case("image.linear_resize", [x], resize(mode="linear"), {**common, "antialias": False}, **T)
        for antialias in (False, True):
            for a in (-0.75, -0.5):
                y = resize(mode="cubic", antialias=int(antialias), cubic_coeff_a=a)
                yield Case("image.cubic_resize", [x], y, {**common, "antialias": antialias, "coeff_a": a}, **T)


def sampling():
    draw = random("onnx grid")
    for spatial, places in [((4, 5), (3, 4)), ((1, 6), (2, 2)), ((3, 4, 2), (2, 3, 2))]:
        x = draw.real((2, 3) + spatial)
        grid = draw.real((2,) + places + (len(spatial),), -1.4, 1.4)
        for (mode, theirs), (padding, border), aligned in itertools.product(
                {"NEAREST": "nearest", "LINEAR": "linear", "CUBIC": "cubic"}.items(), {"ZEROS": "zeros", "REPLICATE": "border", "REFLECT": "reflection"}.items(), (False, True)):
            if mode == "CUBIC" and len(spatial) > 2:
                continue  # omitted by ONNX
            y = one("GridSample", [x, grid], mode=theirs, padding_mode=border, align_corners=int(aligned))
            yield Case("image.grid_sample", [x, grid], y, {"mode": mode, "padding": padding, "aligned": aligned}, **T)


def recurrences():
    draw = random("onnx lstm")
    for s, b, c, n in [(1, 1, 1, 1), (4, 2, 3, 2), (3, 1, 2, 4)]:
        x, h, cell = draw.real((s, b, c)), draw.real((b, n)), draw.real((b, n))
        w, r, bias = draw.real((4 * n, c), -1, 1), draw.real((4 * n, n), -1, 1), draw.real((4 * n,), -1, 1)

        def gates(m):
            """Reorders the gates from i, f, g, o, as in the library, to i, o, f, g, as in ONNX."""
            i, f, g, o = np.split(m, 4)
            return np.concatenate([i, o, f, g])[None]

        both = np.concatenate([gates(bias), np.zeros((1, 4 * n), np.float32)], 1)
        y, last, state = node("LSTM", [x, gates(w), gates(r), both, None, h[None], cell[None]], 3, hidden_size=n)
        yield Case("nn.lstm", [x, w, r, bias, h, cell], [y[:, 0], last[0], state[0]], **T)
        if s == 1:
            yield Case("nn.lstm_step", [h, cell, x[0], w, r, bias], [last[0], state[0]], **T)


def order():
    draw = random("onnx order")
    for shape in [(6,), (3, 4), (2, 3, 4)]:
        for axis, largest, k in itertools.product(range(len(shape)), (True, False), (1, 3)):
            x = draw.int(shape, -3, 4).astype(np.float32)
            k = min(k, shape[axis])
            values, places = node("TopK", [x, np.array([k], dtype=np.int64)], 2, axis=axis, largest=int(largest))
            yield Case("algo.top_k", [x], [values, places], {"k": k, "axis": axis, "largest": largest})
            name = "argmax" if largest else "argmin"
            yield Case("math." + name, [x], one("ArgMax" if largest else "ArgMin", [x], axis=axis, keepdims=0), {"axis": axis, "squeeze": True})
        for axis, exclusive, reverse in itertools.product(range(len(shape)), (False, True), (False, True)):
            x = draw.real(shape)
            y = one("CumSum", [x, np.array(axis, dtype=np.int64)], exclusive=int(exclusive), reverse=int(reverse))
            yield Case("math.cumsum", [x], y, {"axis": axis, "exclusive": exclusive, "reverse": reverse}, **T)
        x = draw.int(shape, -1, 2).astype(np.float32)
        y = one("NonZero", [x])
        yield Case("layout.nonzero", [x], y, declared={"y0": "int[%d,~|%d]" % (len(shape), x.size)})


def suppression():
    draw = random("onnx nms")
    for b, c, n, most, iou, score in [(1, 1, 6, 3, 0.3, 0.0), (2, 2, 5, 5, 0.5, 0.25), (1, 3, 8, 2, 0.1, 0.5), (1, 1, 4, 4, 0.0, None)]:
        corner = draw.real((b, n, 2), 0, 4)
        boxes = np.concatenate([corner, corner + draw.real((b, n, 2), 0.5, 3)], -1)
        # All scores are different, because ONNX does not define the order of equal ones.
        scores = (draw.permutation(b * c * n).reshape(b, c, n) / (b * c * n)).astype(np.float32)
        limits = [np.array(x, dtype) for x, dtype in ((most, np.int64), (iou, np.float32))] + ([] if score is None else [np.array(score, np.float32)])
        for form in (0, 1):
            given = boxes if form == 0 else np.concatenate([(boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]], -1)
            y = one("NonMaxSuppression", [given, scores] + limits, center_point_box=form)
            yield Case("algo.nonmax_suppress", [given, scores], y, declared={"y0": "int[~|%d,3]" % (b * c * most)}, attributes={
                "box_format": ("CORNERS", "CENTER")[form], "max_outputs_per_class": most, "iou_threshold": iou, "score_threshold": score})


def layouts():
    draw = random("onnx layout")
    for method, theirs in {"CONSTANT": "constant", "REFLECT": "reflect", "REPLICATE": "edge"}.items():
        for shape, padding in [((5,), [2, 1]), ((3, 4), [1, 2, 0, 3]), ((2, 3, 4), [0, 1, 2, 1, 0, 3])]:
            x = draw.real(shape)
            y = one("Pad", [x, np.array(padding, dtype=np.int64)], mode=theirs)
            yield Case("layout.pad", [x], y, {"padding": padding, "method": method})
    for block in (2, 3):
        x = draw.real((2, 2 * block * block, 3, 2))
        for first, mode in ((True, "DCR"), (False, "CRD")):
            y = one("DepthToSpace", [x], blocksize=block, mode=mode)
            yield Case("layout.depth_to_space", [x], y, {"block_size": [block] * 2, "blocks_first": first})
        x = draw.real((1, 3, 2 * block, block))
        yield Case("layout.space_to_depth", [x], one("SpaceToDepth", [x], blocksize=block), {"block_size": [block] * 2})
    for shape, axis, many in [((5,), 0, (3,)), ((4, 3), 1, (2, 2)), ((2, 4, 3), 1, (3,)), ((2, 3), 0, ())]:
        x, places = draw.real(shape), draw.int(many, 0, shape[axis])
        yield Case("layout.gather", [x, places], one("Gather", [x, places], axis=axis), {"axis": axis}, types="<real>")
    for shape, axis, count in [((5,), 0, 3), ((4, 3), 0, 2), ((2, 4, 3), 1, 4)]:
        x = draw.real(shape)
        part = shape[:axis] + (count,) + shape[axis + 1:]
        places = np.argsort(draw.real(shape), axis)[tuple(slice(n) for n in part)].astype(np.int64)
        updates = draw.real(part)
        yield Case("layout.scatter", [x, places, updates], one("ScatterElements", [x, places, updates], axis=axis), {"axis": axis})
    for shape, batch, many, depth in [((4, 3), 0, (2,), 1), ((4, 3), 0, (5,), 2), ((2, 3, 4), 1, (2, 3), 1), ((2, 2, 3, 2), 1, (2, 4), 2)]:
        x = draw.real(shape)
        places = np.stack([draw.int(many, 0, n) for n in shape[batch:batch + depth]], -1)
        yield Case("layout.gather_nd", [x, places], one("GatherND", [x, places], batch_dims=batch), {"batch_dims": batch})
    x, places, updates = draw.real((5, 3)), np.array([[3], [0]], dtype=np.int64), draw.real((2, 3))
    yield Case("layout.scatter_nd", [x, places, updates], one("ScatterND", [x, places, updates]))


def products():
    draw = random("onnx products")
    for a, b in [((2, 3), (3, 4)), ((2, 2, 3), (3, 2)), ((5, 1, 2, 3), (4, 3, 2))]:
        x, y = draw.real(a), draw.real(b)
        yield Case("linalg.matmul", [x, y], one("MatMul", [x, y]), **T)
    for left, right in itertools.product((False, True), repeat=2):
        x, y, z = draw.real((3, 2) if left else (2, 3)), draw.real((4, 3) if right else (3, 4)), draw.real((2, 4))
        yield Case("linalg.matmul", [x, y, z], one("Gemm", [x, y, z], transA=int(left), transB=int(right)), {"transA": left, "transB": right}, **T)


def cases():
    for family in (convolutions, deconvolutions, pooling, activations, normalizations, resizing, sampling, recurrences, order, suppression, layouts, products):
        yield from editions(family())
