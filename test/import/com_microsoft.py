# SPDX-License-Identifier: Apache-2.0
"""Cases of operators of com.microsoft."""

import math

import numpy as np

from cases import MICROSOFT, any_ints, case, node, quantized, random, reals, small_ints


def add_cases():
    """Adds the cases to `cases.CASES`."""
    image = reals(1, 3, 5, 5)

    # Quantized operators. Weights are small: onnxruntime's own sums of two products may saturate.
    ints = random.integers(0, 255, (1, 3, 6, 6)).astype(np.uint8)
    scales = dict(s=np.float32(.02), z=np.uint8(120), s2=np.float32(.03), z2=np.uint8(20))
    two = {"x": ints, "x2": ints[..., ::-1].copy()}
    for operator in ("QLinearAdd", "QLinearMul"):
        case(operator, [node(operator, "x s z x2 s z s2 z2", "y", domain=MICROSOFT)], two, scales)
    case("QLinearSigmoid", [node("QLinearSigmoid", "x s z s3 z3", "y", domain=MICROSOFT)], {"x": ints}, dict(scales, s3=np.float32(1 / 256), z3=np.uint8(0)))
    case("QLinearLeakyRelu", [node("QLinearLeakyRelu", "x s z s2 z2", "y", domain=MICROSOFT, alpha=.2)], {"x": ints}, scales)
    case("QLinearGlobalAveragePool", [node("QLinearGlobalAveragePool", "x s z s2 z2", "y", domain=MICROSOFT)], {"x": ints}, scales)
    case("QLinearConcat", [node("QLinearConcat", "s2 z2 x s z x2 s2 z", "y", domain=MICROSOFT, axis=1)], two, scales)
    weights = dict(b=random.integers(-60, 60, (8, 3)).astype(np.int8), bs=np.float32(.01), bz=np.int8(3), bias=reals(3))
    case("DynamicQuantizeMatMul", [node("DynamicQuantizeMatMul", "x b bs bz bias", "y", domain=MICROSOFT)], {"x": reals(5, 8)}, weights)
    case("MatMulIntegerToFloat", [node("MatMulIntegerToFloat", "x b s bs z bz bias", "y", domain=MICROSOFT)],
         {"x": random.integers(0, 200, (5, 8)).astype(np.uint8)}, dict(weights, **scales))

    by_channel = dict(quantized(w=small_ints(6, 5, 3, 3), b=random.integers(-3000, 3000, 6).astype(np.int32)), ws=random.uniform(.001, .01, 6).astype(np.float32), wz=np.zeros(6, np.int8))
    case("QLinearConv of last channels", [node("QLinearConv", "x xs xz w ws wz ys yz b", "y", domain=MICROSOFT, pads=[1] * 4, channels_last=1)],
         {"x": any_ints(np.uint8, 1, 9, 9, 5)}, by_channel, integers=1)

    # Pooling, means and selections of quantized values. onnxruntime has channels in the last dimension in optimized models.
    quantum = dict(s=np.float32(.02), z=np.uint8(120), t=np.float32(.015), u=np.uint8(100))
    pixel_rows = random.integers(0, 256, (1, 2, 7, 6)).astype(np.uint8)
    for at, window in enumerate([dict(kernel_shape=[3, 3]), dict(kernel_shape=[3, 3], pads=[1] * 4), dict(kernel_shape=[3, 3], pads=[1] * 4, count_include_pad=1),
                                 dict(kernel_shape=[3, 2], strides=[2, 2], ceil_mode=1), dict(kernel_shape=[3, 2], strides=[2, 3], ceil_mode=1, pads=[1, 0, 1, 1], count_include_pad=1),
                                 dict(kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER"), dict(kernel_shape=[2, 2], auto_pad="SAME_LOWER"),
                                 dict(kernel_shape=[3, 3], strides=[2, 1], auto_pad="VALID"), dict(kernel_shape=[2, 3], pads=[0, 2, 1, 0])]):
        for last in (0, 1):
            case(f"QLinearAveragePool {at} {last}", [node("QLinearAveragePool", "x s z t u", "y", domain=MICROSOFT, channels_last=last, **window)],
                 {"x": pixel_rows.transpose(0, 2, 3, 1).copy() if last else pixel_rows}, quantum)
    signed_rows = (pixel_rows.astype(np.int16) - 128).astype(np.int8)
    case("QLinearAveragePool of int8", [node("QLinearAveragePool", "x s z t u", "y", domain=MICROSOFT, kernel_shape=[2, 2], strides=[2, 2])], {"x": signed_rows},
         dict(quantum, z=np.int8(-3), u=np.int8(5), t=np.float32(.0005)))
    case("QLinearAveragePool of dynamic images", [node("QLinearAveragePool", "x s z t u", "y", domain=MICROSOFT, kernel_shape=[2, 2])], {"x": pixel_rows}, quantum, {"x": ["b", 2, "h", "w"]})
    case("QLinearGlobalAveragePool of last channels", [node("QLinearGlobalAveragePool", "x s z t u", "y", domain=MICROSOFT, channels_last=1)],
         {"x": pixel_rows.transpose(0, 2, 3, 1).copy()}, quantum)
    for at, window in enumerate([dict(kernel_shape=[2, 2], pads=[1] * 4), dict(kernel_shape=[3, 2], strides=[2, 2], ceil_mode=1)]):
        for kind in (np.uint8, np.int8):
            case(f"NhwcMaxPool {at} {kind.__name__}", [node("NhwcMaxPool", "x", "y", domain=MICROSOFT, **window)], {"x": pixel_rows if kind == np.uint8 else signed_rows})
    for opset in (11, 13):
        for at in (None, 0, 1, -2, 2):
            case(f"QLinearSoftmax of {opset} along {at}", [node("QLinearSoftmax", "x s z t u", "y", domain=MICROSOFT, opset=opset, **({} if at is None else dict(axis=at)))],
                 {"x": pixel_rows[0, :, :3]}, dict(quantum, t=np.float32(1 / 256), u=np.uint8(0)))
    # onnxruntime multiplies by the integer below 1 / scale, and then differs by steps.
    numbers = (pixel_rows[0].astype(np.float32) - np.float32(120)) * np.float32(.02)
    powers = np.exp(numbers - numbers.max(-1, keepdims=True))
    softmax = np.clip(np.rint(powers / powers.sum(-1, keepdims=True) / np.float32(.004)) + 10, 0, 255).astype(np.uint8)
    case("QLinearSoftmax of another scale", [node("QLinearSoftmax", "x s z t u", "y", domain=MICROSOFT, opset=13)], {"x": pixel_rows[0]}, dict(quantum, t=np.float32(.004), u=np.uint8(10)),
         expected=softmax)
    case("QLinearSoftmax of int8", [node("QLinearSoftmax", ["x", "s", "", "t", "u"], "y", domain=MICROSOFT, opset=13)], {"x": signed_rows},
         dict(s=quantum["s"], t=np.float32(1 / 256), u=np.int8(-128)))
    chosen_rows = {"c": pixel_rows[:, :1] > 99, "x": pixel_rows, "v": pixel_rows[..., ::-1].copy()}
    case("QLinearWhere", [node("QLinearWhere", "c x s z v t u t2 u2", "y", domain=MICROSOFT)], chosen_rows, dict(quantum, t2=np.float32(.037), u2=np.uint8(80)))
    # onnxruntime has schemas, but no kernels of the following operators.
    for axes, keep in (([2, 3], 1), ([-1], 0), ([0, 1, 2, 3], 0)):
        numbers = (pixel_rows.astype(np.float32) - np.float32(120)) * np.float32(.02)
        means = np.clip(np.rint(numbers.mean(tuple(axes), keepdims=bool(keep)) / np.float32(.015)) + 100, 0, 255).astype(np.uint8)
        case(f"QLinearReduceMean along {axes}", [node("QLinearReduceMean", "x s z t u", "y", domain=MICROSOFT, axes=axes, keepdims=keep)], {"x": pixel_rows}, quantum,
             expected=means)
    added, bias, skip = reals(2, 3, 8), reals(8), reals(2, 3, 8)
    case("BiasAdd", [node("BiasAdd", "x b s", "y", domain=MICROSOFT)], {"x": added, "b": bias, "s": skip}, expected=added + bias + skip)
    half = (added + bias)[..., 4:]
    gated = (added + bias)[..., :4] * half * (1 + np.vectorize(math.erf)(half / math.sqrt(2))).astype(np.float32) / 2
    case("BiasSplitGelu", [node("BiasSplitGelu", "x b", "y", domain=MICROSOFT)], {"x": added, "b": bias}, expected=gated)
    case("BiasSplitGelu of an odd number", [node("BiasSplitGelu", "x b", "y", domain=MICROSOFT)], {"x": reals(2, 7), "b": reals(7)},
         refused="the number of features must be a multiple of 2, but is 7")

    # Convolutions and products with an activation function.
    by_pixel = dict(w=reals(4, 3, 3, 3), b=reals(4))
    for function, parameters in (("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [.3]), ("LeakyRelu", [1.5]), ("Clip", [-1, .5]), ("HardSigmoid", [.3, .4]), ("HardSwish", [])):
        given = dict(activation_params=[float(p) for p in parameters]) if parameters else {}
        case(f"FusedConv and {function} {parameters}", [node("FusedConv", "x w b", "y", domain=MICROSOFT, activation=function, pads=[1] * 4, **given)], {"x": image}, by_pixel)
    case("FusedConv of a sum", [node("FusedConv", ["x", "w", "", "z"], "y", domain=MICROSOFT, activation="Relu", strides=[2, 1])], {"x": image, "z": reals(1, 4, 2, 3)},
         dict(w=by_pixel["w"]))
    case("FusedConv without an activation", [node("FusedConv", "x w b", "y", domain=MICROSOFT)], {"x": image}, by_pixel)
    case("FusedConv of another sum", [node("FusedConv", "x w b z", "y", domain=MICROSOFT)], {"x": image, "z": reals(1, 4, 3, 1)}, by_pixel,
         refused="the extents of the result and of the added tensor must be equal, but are 3 and 1")
    case("FusedConv and an unknown function", [node("FusedConv", "x w b", "y", domain=MICROSOFT, activation="Exp")], {"x": image}, by_pixel, refused='the activation "Exp" is not supported')
    case("an operator for one processor", [node("Conv", "x w b", "y", domain=MICROSOFT + ".nchwc")], {"x": image}, by_pixel, refused="save it with the optimization level `ORT_ENABLE_EXTENDED`")
    case("FusedConv without a parameter", [node("FusedConv", "x w b", "y", domain=MICROSOFT, activation="Clip", activation_params=[1.])], {"x": image}, by_pixel,
         refused='the number of parameters of the activation "Clip" must be 2, but is 1')
    case("FusedConv with another parameter", [node("FusedConv", "x w b", "y", domain=MICROSOFT, activation="LeakyRelu", activation_params=[.3, .4])], {"x": image}, by_pixel,
         refused='the number of parameters of the activation "LeakyRelu" must be 1, but is 2')
    for function in ("Softplus", "Silu", "Swish", "Elu"):
        case(f"FusedConv and {function}", [node("FusedConv", "x w b", "y", domain=MICROSOFT, activation=function)], {"x": image}, by_pixel,
             refused=f'the activation "{function}" is not supported')
    # onnxruntime has no kernel for NhwcFusedConv of 32-bit floats.
    wide_image, wide_added, wide_filter, wide_bias = reals(2, 3, 7, 5), reals(2, 4, 4, 6), reals(4, 3, 3, 2), reals(4)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(wide_image, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 2), axis=(2, 3))[:, :, ::2]
    folded = np.einsum("nchwij,ocij->nohw", windows, wide_filter) + wide_bias[:, None, None] + wide_added
    last = lambda array: array.transpose(0, 2, 3, 1).copy()
    case("NhwcFusedConv", [node("NhwcFusedConv", "x w b z", "y", domain=MICROSOFT, activation="Relu", pads=[1] * 4, strides=[2, 1])],
         {"x": last(wide_image), "z": last(wide_added)}, dict(w=wide_filter, b=wide_bias), expected=last(np.maximum(folded, 0)))
    for function, parameters in (("Relu", {}), ("Tanh", {}), ("Sigmoid", {}), ("Softplus", {}), ("Softsign", {}), ("LeakyRelu", dict(alpha=.3)), ("Elu", dict(alpha=1.5)),
                                 ("Celu", dict(alpha=.5)), ("ThresholdedRelu", dict(alpha=.5)), ("HardSigmoid", dict(alpha=.3, beta=.4)), ("Selu", dict(alpha=1.5, gamma=1.1))):
        case(f"FusedGemm and {function}", [node("FusedGemm", "x w c", "y", domain=MICROSOFT, activation=function, transB=1, beta=.5, **{f"activation_{k}": p for k, p in parameters.items()})],
             {"x": reals(3, 4)}, dict(w=reals(5, 4), c=reals(5)))
    case("FusedGemm without a parameter", [node("FusedGemm", "x w", "y", domain=MICROSOFT, activation="Elu")], {"x": reals(3, 4)}, dict(w=reals(4, 5)),
         refused='the attribute `activation_alpha`, which the activation "Elu" requires, is missing')
    for function in ("Clip", "HardSwish"):
        case(f"FusedGemm and {function}", [node("FusedGemm", "x w", "y", domain=MICROSOFT, activation=function)], {"x": reals(3, 4)}, dict(w=reals(4, 5)),
             refused=f'the activation "{function}" is not supported')

    # Embeddings of words, positions and segments.
    tables = dict(w=reals(9, 8), p=reals(6, 8), g=reals(2, 8), scale=reals(8), shift=reals(8))
    embeddings = {"i": random.integers(0, 9, (2, 4)).astype(np.int32), "k": random.integers(0, 2, (2, 4)).astype(np.int32), "m": np.array([[1, 1, 0, 2], [1, -1, 1, 1]], np.int32)}
    rows = np.array([[3, 0, 5, 1]], np.int32)
    for name, absent, ids in (("all", "", rows), ("own positions", "", np.concatenate([rows, rows + 0 * rows])), ("no segments", "k g m q", None), ("no segment ids", "k m q", None), ("no mask", "m", rows),
                              ("no positions", "q", None)):
        names = ["" if key in absent.split() else key for key in ("i", "k", "w", "p", "g", "scale", "shift", "m", "q")]
        arrays = {key: array for key, array in dict(embeddings, q=ids).items() if key in names}
        for shapes in ({}, {key: ["b", "s"] for key in arrays if key != "q"}):
            case(f"EmbedLayerNormalization, {name}, {len(shapes)} dynamic", [node("EmbedLayerNormalization", names, "y n e", domain=MICROSOFT, epsilon=1e-5)], arrays,
                 {key: table for key, table in tables.items() if key in names}, shapes, outputs="y n e")
    # Embeddings whose inputs contradict each other.
    names = ["i", "k", "w", "p", "g", "scale", "shift", "m", "q"]
    for name, changed, reason in (("mask", {"m": np.ones((3, 3), np.int32)}, "dimension 0 of the mask and the word ids must be equal, but are 3 and 2"),
                                  ("segment ids", {"k": np.zeros((1, 4), np.int32)}, "dimension 0 of the segment ids and the word ids must be equal, but are 1 and 2"),
                                  ("position ids", {"q": np.zeros((1, 3), np.int32)}, "the number of position ids and of words must be equal, but are 3 and 4"),
                                  ("scale", {"scale": reals(1)}, "the columns of the embeddings and the extent of the scale must be equal, but are 8 and 1"),
                                  ("segments", {"g": reals(2, 1)}, "the columns of the embeddings of words and segments must be equal, but are 8 and 1")):
        arrays = {**embeddings, **tables, "q": rows, **changed}
        case(f"EmbedLayerNormalization, wrong {name}", [node("EmbedLayerNormalization", names, "y n", domain=MICROSOFT)], {key: arrays[key] for key in ("i", "k", "m", "q")},
             {key: arrays[key] for key in tables}, outputs="y n", refused=reason)
    case("EmbedLayerNormalization, few positions", [node("EmbedLayerNormalization", ["i", "", "w", "p", "", "scale", "shift"], "y n", domain=MICROSOFT)], {"i": embeddings["i"]},
         dict({key: tables[key] for key in ("w", "scale", "shift")}, p=reals(2, 8)), outputs="y n", refused="there are 4 words, but embeddings of 2 positions")
    bytes_of = {key: any_ints(np.uint8, *table.shape) for key, table in tables.items()}
    table_scales = {f"{key}_scale": np.float32(.01) * (1 + at) for at, key in enumerate(tables)}
    table_scales.update({f"{key}_zero": np.uint8(100 + at) for at, key in enumerate(tables)})
    for name, absent in (("all", ""), ("no segments", "k g g_scale g_zero"), ("no mask", "m")):
        names = ["" if key in absent.split() else key for key in ("i", "k", "w", "p", "g", "scale", "shift", "m", *table_scales)]
        arrays = {key: array for key, array in embeddings.items() if key in names}
        case(f"QEmbedLayerNormalization, {name}", [node("QEmbedLayerNormalization", names, "y n", domain=MICROSOFT, epsilon=1e-5)], arrays,
             {key: array for key, array in {**bytes_of, **table_scales}.items() if key in names}, outputs="y n", close=1e-3)

    # Attention of onnxruntime.
    steps, mask = reals(2, 5, 32), np.array([[1] * 5, [1] * 3 + [0] * 2], np.int32)
    for causal in (0, 1):
        case(f"Attention {causal}", [node("Attention", "x w b mask", "y", domain=MICROSOFT, num_heads=4, unidirectional=causal)], {"x": steps, "mask": mask},
             dict(w=reals(32, 96) * np.float32(.2), b=reals(96)), {"x": ["b", "s", 32], "mask": ["b", "s"]})
    projection = dict(w=reals(32, 96) * np.float32(.2), b=reals(96))
    for name, keys in (("lengths", [3, 2]), ("ends and begins", [3, 5, 1, 0]), ("below zero", [[1, -1, 1, 0, 1], [1, 2, 0, 1, 1]]), ("one key", [[0], [0]]),
                       ("queries", random.integers(0, 2, (2, 5, 5)))):
        for causal in (0, 1):
            case(f"Attention with a mask of {name} {causal}", [node("Attention", "x w b mask", "y", domain=MICROSOFT, num_heads=4, unidirectional=causal, mask_filter_value=-5000.)],
                 {"x": steps, "mask": np.array(keys, np.int32)}, projection)
    for name, sizes in (("equal", [32, 32, 32]), ("different", [32, 32, 16])):
        case(f"Attention of {name} sizes", [node("Attention", "x w b mask", "y", domain=MICROSOFT, num_heads=4, qkv_hidden_sizes=sizes)], {"x": steps, "mask": mask},
             {key: array[..., :sum(sizes)].copy() for key, array in projection.items()})
    case("Attention of other sizes", [node("Attention", "x w b", "y", domain=MICROSOFT, num_heads=4, qkv_hidden_sizes=[32, 32, 16])], {"x": steps}, projection,
         refused="the features of the projection and the sum of `qkv_hidden_sizes` must be equal, but are 96 and 80")
    for name, heads, sizes, width, reason in (
            ("a negative size", 4, [32, 32, -32], 32, "`qkv_hidden_sizes` is [32, 32, -32], but sizes must be positive"),
            ("keys of another size", 4, [32, 28, 36], 96, "`qkv_hidden_sizes` is [32, 28, 36], but queries and keys must have the same size"),
            ("uneven heads", 4, [30, 30, 36], 96, "the number of features of all heads must be a multiple of 4, but is 30"),
            ("uneven values", 4, [32, 32, 30], 94, "the number of features of all heads must be a multiple of 4, but is 30"),
            ("uneven thirds", 4, None, 95, "the number of features of the projection must be a multiple of 3, but is 95"),
            ("uneven heads in thirds", 4, None, 90, "the number of features of all heads must be a multiple of 4, but is 30")):
        sizes = {} if sizes is None else dict(qkv_hidden_sizes=sizes)
        case(f"Attention of {name}", [node("Attention", "x w b", "y", domain=MICROSOFT, num_heads=heads, **sizes)], {"x": steps}, dict(w=reals(32, width), b=reals(width)), refused=reason)
    case("Attention with dynamic lengths", [node("Attention", "x w b mask", "y", domain=MICROSOFT, num_heads=4)], {"x": steps, "mask": np.array([5, 2], np.int32)}, projection,
         {"x": ["b", "s", 32], "mask": ["b"]})
    case("Attention with other lengths", [node("Attention", "x w b mask", "y", domain=MICROSOFT, num_heads=4)], {"x": steps, "mask": np.array([5, 2, 1], np.int32)}, projection,
         refused="the batch and the number of lengths in the mask must be equal, but are 2 and 3")
    case("Attention with a mask of rank 4", [node("Attention", "x w b mask", "y", domain=MICROSOFT, num_heads=4)], {"x": steps, "mask": np.ones((2, 1, 8, 8), np.int32)}, projection,
         refused="a mask of rank 4 is not supported")
    for name, shapes in (("static", {}), ("dynamic", {"x": ["b", "s", 32], "past": [2, "b", 4, "p", 8]})):
        case(f"Attention after a {name} past", [node("Attention", ["x", "w", "b", "", "past"], "y present", domain=MICROSOFT, num_heads=4, unidirectional=1)],
             {"x": steps, "past": reals(2, 2, 4, 3, 8)}, projection, shapes, "y present")
    # A mask has the keys of the past, too. Its dynamic dimensions may have their own names.
    past, all_keys = reals(2, 2, 4, 3, 8), random.integers(0, 2, (2, 8)).astype(np.int32)
    bytes_of_steps, scales_of_bytes = any_ints(np.uint8, 2, 5, 32), dict(xs=np.float32(.02), xz=np.uint8(110), ws=np.float32(.003), wz=np.int8(5))
    by_bytes = dict(w=small_ints(32, 96), b=projection["b"], **scales_of_bytes)
    named = {"x": ["b", "s", 32], "past": [2, "b", 4, "p", 8]}
    halves = {"q": steps, "k": reals(2, 5, 32), "v": reals(2, 5, 32), "pk": reals(2, 4, 3, 8), "pv": reals(2, 4, 3, 8)}
    names_of_halves = {**{key: ["b", "s", 32] for key in "qkv"}, "pk": ["b", 4, "p", 8], "pv": ["b", 4, "p", 8]}
    operators = (("Attention", "x w b mask past", {"x": steps, "past": past}, projection, named, "y present"),
                 ("QAttention", "x w b xs ws mask xz wz past", {"x": bytes_of_steps, "past": past}, by_bytes, named, "y present"),
                 ("MultiHeadAttention", ["q", "k", "v", "", "mask", "", "pk", "pv"], halves, {}, names_of_halves, "y nk nv"))
    for operator, operands, arrays, constants, names, results in operators:
        attend = node(operator, operands, results, domain=MICROSOFT, num_heads=4)
        near = node(operator, operands, results, domain=MICROSOFT, num_heads=4, unidirectional=1)
        masks = {"of keys": (all_keys, ["n", "total"]), "of queries": (random.integers(0, 2, (2, 5, 8)).astype(np.int32), ["n", "t", "total"]), "of lengths": (np.array([8, 4], np.int32), ["n"])}
        close = dict(close=1e-3) if operator == "QAttention" else {}
        for name, (given, dimensions) in masks.items():
            for way, shapes in (("static", {}), ("dynamic", dict(names, mask=dimensions))):
                case(f"{operator} with a past and a {way} mask {name}", [attend], dict(arrays, mask=given), constants, shapes, results, **close)
        case(f"{operator} with a past and a causal mask", [near], dict(arrays, mask=all_keys), constants, dict(names, mask=["b", "total"]), results, **close)
        wrong = {"of fewer keys": ((2, 5), "the number of keys, including those of the past, and the last extent of the mask must be equal, but are 8 and 5"),
                 "of more keys": ((2, 9), "the number of keys, including those of the past, and the last extent of the mask must be equal, but are 8 and 9"),
                 "of another batch": ((1, 8), "the batch and the first extent of the mask must be equal, but are 2 and 1"),
                 "of other queries": ((2, 8, 8), "the number of queries and the second extent of the mask must be equal, but are 5 and 8"),
                 "of queries and fewer keys": ((2, 5, 5), "the last extent of the mask must be equal, but are 8 and 5")}
        for name, (shape, reason) in wrong.items():
            bad, dimensions = np.ones(shape, np.int32), ["n", "t", "total"] if len(shape) == 3 else ["n", "total"]
            case(f"{operator} with a past and a static mask {name}", [attend], dict(arrays, mask=bad), constants, {}, results, refused=reason)
            case(f"{operator} with a past and a dynamic mask {name}", [attend], dict(arrays, mask=bad), constants, dict(names, mask=dimensions), results, refused="SK9203")
    for name, given, reason in (("one key", [[1], [1]], "the last extent of the mask must be equal, but are 8 and 1"),
                                ("ends and begins", [8, 4, 0, 1], "the batch and the number of lengths in the mask must be equal, but are 2 and 4")):
        case(f"MultiHeadAttention with a mask of {name}", [attend], dict(halves, mask=np.array(given, np.int32)), refused=reason, outputs=results)
    case("Attention with one key of another batch", [node("Attention", "x w b mask", "y", domain=MICROSOFT, num_heads=4)], {"x": steps, "mask": np.ones((3, 1), np.int32)}, projection,
         refused="the batch and the first extent of the mask must be equal, but are 2 and 3")
    case("Attention with a mask of reals", [node("Attention", "x w b mask", "y", domain=MICROSOFT, num_heads=4)], {"x": steps, "mask": np.ones((2, 1), np.float32)}, projection, refused="mask")
    case("MultiHeadAttention with a bias of fewer keys", [node("MultiHeadAttention", ["q", "k", "v", "", "", "bias", "pk", "pv"], "y nk nv", domain=MICROSOFT, num_heads=4)],
         dict(halves, bias=reals(1, 4, 5, 5)), refused="the last extent of the bias must be equal, but are 8 and 5", outputs="y nk nv")
    case("MultiHeadAttention with a bias", [node("MultiHeadAttention", ["q", "k", "v", "", "", "bias", "pk", "pv"], "y nk nv", domain=MICROSOFT, num_heads=4)],
         dict(halves, bias=reals(1, 4, 5, 8)), (), dict(names_of_halves, bias=[1, 4, "t", "total"]), "y nk nv")
    case("Attention with a present state", [node("Attention", "x w b", "y present", domain=MICROSOFT, num_heads=4)], {"x": steps}, projection, outputs="y present")
    case("Attention in a shared buffer", [node("Attention", ["x", "w", "b", "", "past"], "y present", domain=MICROSOFT, num_heads=4, past_present_share_buffer=1)],
         {"x": steps, "past": reals(2, 2, 4, 3, 8)}, projection, outputs="y present", refused="`past_present_share_buffer` is not supported")
    case("MultiHeadAttention with lengths", [node("MultiHeadAttention", "q k v b mask", "y", domain=MICROSOFT, num_heads=4)],
         {"q": steps, "k": reals(2, 6, 32), "v": reals(2, 6, 32), "mask": np.array([6, 2], np.int32)}, dict(b=reals(96)))

    # Attention whose projection is a product of bytes.
    for kind in (np.int8, np.uint8):
        ints_of = dict(w=small_ints(32, 96) if kind == np.int8 else any_ints(kind, 32, 96) // kind(2), b=reals(96), xs=np.float32(.02), ws=np.float32(.003))
        zeros = dict(xz=np.uint8(110), wz=kind(5))
        columns = dict(zeros, ws=np.abs(reals(96)) * np.float32(.003) + np.float32(.001))
        for name, more, names, arrays in (("plain", {}, "", {}), ("lengths", {}, "mask", {"mask": np.array([3, 5], np.int32)}), ("mask", zeros, "mask xz wz", {"mask": mask}),
                                          ("columns", columns, "- xz wz", {}), ("past", zeros, "- xz wz past", {"past": reals(2, 2, 4, 3, 8)})):
            names = ["x", "w", "b", "xs", "ws", *("" if key == "-" else key for key in names.split())]
            case(f"QAttention, {name}, {kind.__name__}", [node("QAttention", names, "y p" if "past" in arrays else "y", domain=MICROSOFT, num_heads=4, unidirectional=int("past" in arrays))],
                 {"x": any_ints(np.uint8, 2, 5, 32), **arrays}, {**ints_of, **more}, outputs="y p" if "past" in arrays else "y", close=1e-3, integers=2e-3)
        case(f"QAttention, zero points of columns, {kind.__name__}", [node("QAttention", ["x", "w", "b", "xs", "ws", "", "xz", "wz"], "y", domain=MICROSOFT, num_heads=4)],
             {"x": any_ints(np.uint8, 2, 5, 32)}, {**ints_of, **columns, "wz": (np.arange(96) % 7).astype(kind)}, close=1e-3)
    case("QAttention with scales of rows", [node("QAttention", "x w b xs ws", "y", domain=MICROSOFT, num_heads=4)], {"x": any_ints(np.uint8, 2, 5, 32)},
         dict(ints_of, xs=np.array([.1, .2], np.float32)), refused="a scale or zero point for each channel is not supported here")
    case("QAttention with a dynamic scale", [node("QAttention", "x w b xs ws", "y", domain=MICROSOFT, num_heads=4)], {"x": any_ints(np.uint8, 2, 5, 32), "xs": np.array([.1], np.float32)},
         {key: array for key, array in ints_of.items() if key != "xs"}, {"xs": ["n"]}, refused="the number of scales or zero points must be static")

    case("MultiHeadAttention", [node("MultiHeadAttention", "q k v b mask bias", "y", domain=MICROSOFT, num_heads=4)],
         {"q": steps, "k": reals(2, 5, 32), "v": reals(2, 5, 32), "mask": mask, "bias": reals(1, 4, 5, 5)}, dict(b=reals(96)))
    case("MultiHeadAttention cache", [node("MultiHeadAttention", ["q", "k", "v", "", "", "", "pk", "pv"], "y nk nv", domain=MICROSOFT, num_heads=4, unidirectional=1)],
         {"q": steps, "k": reals(2, 5, 32), "v": reals(2, 5, 32), "pk": reals(2, 4, 3, 8), "pv": reals(2, 4, 3, 8)},
         (), {"q": ["b", "s", 32], "k": ["b", "s", 32], "v": ["b", "s", 32], "pk": ["b", 4, "p", 8], "pv": ["b", 4, "p", 8]}, "y nk nv")
    angles = dict(cos=reals(16, 8), sin=reals(16, 8))
    for interleaved in (0, 1):
        case(f"RotaryEmbedding {interleaved}", [node("RotaryEmbedding", "x p cos sin", "y", domain=MICROSOFT, interleaved=interleaved)],
             {"x": steps, "p": random.integers(0, 16, (2, 5))}, angles)
    case("RotaryEmbedding offset", [node("RotaryEmbedding", "x p cos sin", "y", domain=MICROSOFT)], {"x": steps, "p": np.array([3])}, angles, {"x": ["b", "s", 32]})
    for name, batch, new, past, lengths, more in [("decode", 2, 1, 6, [7, 5], {}), ("window", 2, 1, 6, [7, 7], dict(local_window_size=3)),
                                                  ("cap", 2, 1, 6, [7, 6], dict(softcap=2.0, rotary_interleaved=1)), ("more", 1, 3, 6, [9], {})]:
        case(f"GroupQueryAttention {name}", [node("GroupQueryAttention", "q k v pk pv last total cos sin", "y nk nv", domain=MICROSOFT, num_heads=4, kv_num_heads=2, do_rotary=1, **more)],
             {"q": reals(batch, new, 64), "k": reals(batch, new, 32), "v": reals(batch, new, 32), "pk": reals(batch, 2, past, 16), "pv": reals(batch, 2, past, 16),
              "last": np.array(lengths, np.int32) - 1}, dict(angles, total=np.int32(past + new)),
             {"q": ["b", "s", 64], "k": ["b", "s", 32], "v": ["b", "s", 32], "pk": ["b", 2, "p", 16], "pv": ["b", 2, "p", 16], "last": ["b"]}, "y nk nv")
    case("GroupQueryAttention packed", [node("GroupQueryAttention", ["q", "", "", "", "", "last", "total", "cos", "sin"], "y nk nv", domain=MICROSOFT, num_heads=4, kv_num_heads=2, do_rotary=1)],
         {"q": reals(2, 5, 128), "last": np.array([4, 4], np.int32)}, dict(angles, total=np.int32(5)), outputs="y nk nv")

    # 4-bit weights, and products of quantized matrices.
    for more in ({}, dict(z=random.integers(0, 256, 5 * 2).astype(np.uint8)), dict(z=random.integers(0, 256, 5 * 2).astype(np.uint8), bias=reals(5))):
        names = ["x", "q", "s", *(["z" if "z" in more else ""] if more else []), *(["", "bias"] if "bias" in more else [])]
        case(f"MatMulNBits {len(more)}", [node("MatMulNBits", names, "y", domain=MICROSOFT, K=40, N=5, bits=4, block_size=16)], {"x": reals(3, 40)},
             dict(q=random.integers(0, 256, (5, 3, 8)).astype(np.uint8), s=np.abs(reals(15)), **more), close=1e-3)
    # A few rows are multiplied by packed weights, blocks of whole bytes.
    for shape, size in (((1, 64), 32), ((2, 4, 64), 16), ((1, 1, 96), 32)):
        for zeros in ([], ["z"]):
            blocks = shape[-1] // size
            weights = dict(q=random.integers(0, 256, (40, blocks, size // 2)).astype(np.uint8), s=np.abs(reals(40 * blocks)))
            more = dict(z=random.integers(0, 256, 40 * ((blocks + 1) // 2)).astype(np.uint8)) if zeros else {}
            case(f"MatMulNBits of {shape} in blocks of {size} {len(zeros)}", [node("MatMulNBits", ["x", "q", "s", *zeros], "y", domain=MICROSOFT, K=shape[-1], N=40, bits=4, block_size=size)],
                 {"x": reals(*shape)}, dict(weights, **more), close=1e-3)
    matrix = small_ints(33, 20)
    for trans, b in ((0, matrix), (1, matrix.T.copy())):
        for name, more in (("reals", "c"), ("no bias", ""), ("ints", "c ys yz")):
            names = ["x", "xs", "xz", "w", "ws", "wz", *(more.split() or [""])]
            case(f"QGemm to {name} {trans}", [node("QGemm", names, "y", domain=MICROSOFT, transB=trans, alpha=1.5)], {"x": any_ints(np.uint8, 7, 33)},
                 {key: a for key, a in quantized(w=b, c=random.integers(-900, 900, 20).astype(np.int32)).items() if key in names}, integers=1 if name == "ints" else 0.05)
    # Activations are not rounded, in contrast to onnxruntime.
    lstm = {f"{k}{at}": a for at, k, a in ((0, "w", small_ints(1, 2, 16)), (0, "r", small_ints(1, 4, 16)))}
    lstm.update(ws=np.array([.01], np.float32), wz=np.array([3], np.int8), rs=np.array([.005], np.float32), rz=np.array([-2], np.int8), b=reals(1, 32))
    case("DynamicQuantizeLSTM", [node("DynamicQuantizeLSTM", ["x", "w0", "r0", "b", "", "", "", "", "ws", "wz", "rs", "rz"], "y h c", domain=MICROSOFT, hidden_size=4)],
         {"x": reals(5, 3, 2)}, lstm, outputs="y h c", close=2e-2)
