# SPDX-License-Identifier: Apache-2.0
"""Creating, reshaping, joining, slicing and reordering tensors: numpy's reshape, transpose, concatenate, pad and indexing."""
import numpy as np

from cases import BOTH, Case, random

KIND = ("real", "int", "bool")


def creation():
    for name, editions in (("constant", BOTH), ("tensor", BOTH)):
        operator = "layout." + name
        draw = random(operator)
        for at, shape in enumerate([[], [1], [0], [4], [2, 3], [2, 0], [2, 1, 3], [1, 2, 1, 2, 1, 2, 1, 2]]):
            volume = int(np.prod(shape))
            for kind in KIND:
                for edition in editions:
                    x = draw.of(kind, tuple(shape))
                    if volume > 0:
                        yield Case(operator, [], x, {"shape": shape, "value": x.reshape(-1).tolist()}, edition=edition)
                    one = draw.of(kind)
                    want = np.full(shape, one)
                    yield Case(operator, [], want, {"shape": shape, "value": one.tolist()}, edition=edition)
        if name == "tensor":
            yield Case(operator, [], np.asarray(2.5, np.float32), {"value": 2.5}, edition="khronos")
    draw = random("layout.uniform")
    for shape in [[], [1], [0], [4], [2, 3], [2, 1, 3]]:
        for kind in KIND:
            for edition in BOTH:
                one = draw.of(kind)
                yield Case("layout.uniform", [one], np.full(shape, one), {"shape": shape}, edition=edition)
    for first, last, stride in [(0, 5, None), (2, 9, 3), (-3, 4, 2), (5, 0, -1), (5, -5, -3), (3, 3, None), (3, 3, -2), (0, 1, 7)]:
        for edition in BOTH:
            yield Case("layout.range", [], np.arange(first, last, stride or 1), {"first": first, "last": last, "stride": stride},
                       edition=edition)
            first_, last_ = float(first), float(last)
            yield Case("layout.range", [], np.arange(first, last, stride or 1).astype(np.float32),
                       {"first": first_, "last": last_, "stride": None if stride is None else float(stride)}, edition=edition)
    for first, last, stride in [(0.0, 1.0, 0.25), (0.5, 2.1, 0.5), (1.0, -1.0, -0.75)]:
        count = int(np.ceil((last - first) / stride))
        yield Case("layout.range", [], (first + stride * np.arange(count)).astype(np.float32),
                   {"first": first, "last": last, "stride": stride})
    draw = random("layout.shape")
    for shape in [(), (1,), (0,), (5,), (2, 3), (4, 0, 2), (2, 1, 3, 4), (1,) * 8]:
        for kind in KIND:
            for edition in BOTH:
                yield Case("layout.shape", [draw.of(kind, shape)], np.array(shape, dtype=np.int64), edition=edition)


def views():
    draw = random("views")
    # shape, axis, rank, new shape, result
    for shape, axis, rank, new, result in [
            ((6,), None, None, [2, 3], (2, 3)), ((2, 3), None, None, [6], (6,)), ((2, 3), None, None, [-1], (6,)),
            ((2, 3, 4), None, None, [4, -1], (4, 6)), ((2, 3, 4), 1, None, [12], (2, 12)), ((2, 3, 4), 1, 2, [2, 6], (2, 2, 6)),
            ((2, 3, 4), 1, 1, [3, 1], (2, 3, 1, 4)), ((2, 3, 4), 0, 2, [-1], (6, 4)), ((2, 3, 4), -1, 1, [2, 2], (2, 3, 2, 2)),
            ((2, 3, 4), -2, 2, [-1], (2, 12)), ((2, 3, 4), 2, 0, [1], (2, 3, 1, 4)), ((2, 3, 4), 0, 0, [1, 1], (1, 1, 2, 3, 4)),
            ((1, 1), None, None, [], ()), ((), None, None, [1, 1], (1, 1)), ((2, 0), None, None, [0, 5], (0, 5)),
            ((2, 3, 4, 5), 1, 2, [2, 2, 3], (2, 2, 2, 3, 5)), ((24,), None, None, [1, 2, 1, 3, 1, 4, 1, 1], (1, 2, 1, 3, 1, 4, 1, 1))]:
        for kind in KIND:
            for edition in BOTH:
                x = draw.of(kind, shape)
                yield Case("layout.reshape", [x], x.reshape(result), {"axis": axis, "rank": rank, "shape": new}, edition=edition)
    for shape, axis, rank, result in [
            ((2, 3), None, None, (6,)), ((2, 3, 4), 1, None, (2, 12)), ((2, 3, 4), 0, 2, (6, 4)), ((2, 3, 4), -2, None, (2, 12)),
            ((2, 3, 4), -3, 2, (6, 4)), ((5,), None, None, (5,)), ((), None, None, (1,)), ((2, 3), 1, 0, (2, 1, 3)),
            ((2, 3), 0, 0, (1, 2, 3)), ((2, 0, 3), None, None, (0,)), ((2, 3, 4, 5), 1, 2, (2, 12, 5)), ((2, 3), 1, 1, (2, 3)),
            ((1, 2, 1, 2, 1, 2, 1, 3), 2, 5, (1, 2, 4, 3))]:
        for kind in KIND:
            for edition in BOTH:
                x = draw.of(kind, shape)
                yield Case("layout.flatten", [x], x.reshape(result), {"axis": axis, "rank": rank}, edition=edition)
    for shape, axis, new in [((6,), 0, [2, 3]), ((6,), -1, [3, 2]), ((2, 6), 1, [2, 3]), ((2, 6), -1, [1, 6]), ((6, 2), 0, [3, 1, 2]),
                             ((2, 1), 1, []), ((2, 1, 3), -2, []), ((0, 2), 0, [0, 3]), ((2, 12, 5), -2, [2, 3, 2])]:
        for kind in KIND:
            for edition in BOTH:
                x = draw.of(kind, shape)
                at = axis % len(shape)
                yield Case("layout.unflatten", [x], x.reshape(list(shape[:at]) + new + list(shape[at + 1:])),
                           {"axis": axis, "shape": new}, edition=edition)
    for shape, axes in [((1,), [0]), ((1, 3), [0]), ((3, 1), [-1]), ((1, 3, 1), [0, 2]), ((1, 3, 1), [-1, 0]), ((2, 3), []),
                        ((1, 1), [1]), ((0, 1), [1]), ((1, 2, 1, 3, 1), [4, 0, 2]), ((1,) * 8, [0, 1, 2, 3, 4, 5, 6, 7])]:
        for kind in KIND:
            for edition in BOTH:
                x = draw.of(kind, shape)
                yield Case("layout.squeeze", [x], np.squeeze(x, axis=tuple(axes)) if axes else x.copy(), {"axes": axes}, edition=edition)
    for shape, axes in [((), [0]), ((), [0, 1]), ((3,), [0]), ((3,), [1]), ((3,), [-1]), ((3,), [0, 2]), ((2, 3), [1]), ((2, 3), [0, -1]),
                        ((2, 3), [3, 0]), ((0,), [0]), ((2, 3), []), ((2, 3, 4), [0, 2, 4, -1])]:
        for kind in KIND:
            for edition in BOTH:
                x = draw.of(kind, shape)
                yield Case("layout.unsqueeze", [x], np.expand_dims(x, tuple(axes)), {"axes": axes}, edition=edition)


def joining():
    draw = random("joining")
    for shapes, axis in [([(3,)], 0), ([(3,), (2,)], 0), ([(3,), (0,), (1,)], -1), ([(2, 3), (2, 3)], 0), ([(2, 3), (2, 3)], 1),
                         ([(2, 1), (2, 4), (2, 2)], -1), ([(1, 3), (2, 3)], -2), ([(2, 2, 3), (2, 1, 3)], 1), ([(2, 0), (2, 0)], 1),
                         ([(1, 2, 1, 2), (1, 2, 3, 2)], 2), ([(1,)] * 9, 0)]:
        for kind in KIND:
            for edition in BOTH:
                xs = [draw.of(kind, s) for s in shapes]
                yield Case("layout.concat", [xs], np.concatenate(xs, axis), {"axis": axis}, edition=edition)
    for shape, axis, count, sizes in [((6,), 0, 3, None), ((6,), -1, 1, None), ((6,), 0, None, [1, 3, 2]), ((4, 6), 1, 2, None),
                                      ((4, 6), 0, 4, None), ((4, 6), -1, None, [6]), ((4, 6), 1, None, [0, 6]), ((4, 6), 1, None, [2, 2, 2]),
                                      ((2, 6, 3), 1, 3, None), ((2, 6, 3), -2, None, [5, 1]), ((2, 6, 3), 1, 2, [3, 3]), ((0, 4), 1, 2, None)]:
        for kind in KIND:
            for edition in BOTH:
                x = draw.of(kind, shape)
                cuts = np.cumsum(sizes)[:-1] if sizes else count
                yield Case("layout.split", [x], [np.split(x, cuts, axis)], {"axis": axis, "count": count, "sizes": sizes}, edition=edition)
    for shape, axis in [((), 0), ((3,), 0), ((3,), 1), ((2, 3), 0), ((2, 3), 1), ((2, 3), 2), ((0,), 0), ((2, 1, 3), 2)]:
        for count in (1, 2, 4):
            for kind in KIND:
                xs = [draw.of(kind, shape) for _ in range(count)]
                yield Case("layout.stack", [xs], np.stack(xs, axis), {"axis": axis}, edition=BOTH[count % 2])
                xs = [np.expand_dims(x, axis) for x in xs]
                yield Case("layout.stack", [xs], np.concatenate(xs, axis), {"axis": axis, "squeeze": True}, edition=BOTH[count % 2])
    for shape, axis in [((3,), 0), ((3,), -1), ((1,), 0), ((2, 3), 0), ((2, 3), 1), ((2, 3), -1), ((4, 0), 0), ((2, 3, 2), 1), ((2, 3, 2), -3)]:
        for squeeze in (None, True, False):
            for kind in KIND:
                for edition in BOTH:
                    x = draw.of(kind, shape)
                    parts = np.split(x, shape[axis], axis)
                    if squeeze is not False:
                        parts = [np.squeeze(p, axis) for p in parts]
                    yield Case("layout.unstack", [x], [parts], {"axis": axis, "squeeze": squeeze}, edition=edition)


def expanding():
    draw = random("expanding")
    for shape, axes, repeats in [((3,), None, [2]), ((1,), None, [5]), ((2, 3), None, [2, 3]), ((2, 3), [1], [2]), ((2, 3), [-2], [3]),
                                 ((2, 3), [1, 0], [2, 1]), ((2, 1, 3), [1], [4]), ((0, 2), [1], [2]), ((), None, []), ((2, 3, 2, 1), [0, 3], [2, 3])]:
        for kind in KIND:
            for edition in BOTH:
                x = draw.of(kind, shape)
                all_repeats = [1] * len(shape)
                for a, r in zip(axes if axes is not None else range(len(shape)), repeats):
                    all_repeats[a] = r
                yield Case("layout.tile", [x], np.tile(x, all_repeats), {"axes": axes, "repeats": repeats}, edition=edition)
    for shape, axes, new in [((1,), None, [4]), ((1, 3), None, [2, 3]), ((1, 3), [0], [5]), ((1, 3), [-2], [2]), ((2, 1, 1), [2, 1], [3, 4]),
                             ((2, 3), None, [2, 3]), ((1, 1, 1), None, [2, 1, 3]), ((), None, []), ((0, 1), [1], [3])]:
        for kind in KIND:
            for edition in BOTH:
                x = draw.of(kind, shape)
                target = list(shape)
                for a, n in zip(axes if axes is not None else range(len(shape)), new):
                    target[a] = n
                yield Case("layout.broadcast", [x], np.broadcast_to(x, target).copy(), {"axes": axes, "shape": new}, edition=edition)
    for shape, axes, new in [((2, 3), None, [1, 3]), ((2, 3), [1], [1]), ((2, 1), None, [1, 4])]:
        x = draw.real(shape)
        target = list(shape)
        for a, n in zip(axes if axes is not None else range(len(shape)), new):
            target[a] = max(target[a], n)
        yield Case("layout.broadcast", [x], np.broadcast_to(x, target).copy(), {"axes": axes, "shape": new}, edition="khronos")
    modes = {"CONSTANT": "constant", "REFLECT": "reflect", "REPLICATE": "edge", "SYMMETRIC": "symmetric"}
    for shape, axes, padding in [((4,), None, [1, 2]), ((4,), [0], [3, 0]), ((4,), None, [0, 0]), ((3, 4), None, [1, 0, 2, 1]), ((3, 4), [1], [2, 2]),
                                 ((3, 4), [-1, 0], [3, 1, 0, 2]), ((2, 3, 4), [1], [1, 2]), ((2, 3, 4), [2, 0], [0, 1, 3, 1]), ((1, 2), [1], [1, 1])]:
        for method, mode in [(None, "constant"), *modes.items()]:
            for kind in KIND:
                for edition in BOTH:
                    x = draw.of(kind, shape)
                    widths = [(0, 0)] * len(shape)
                    k = len(padding) // 2
                    for at, a in enumerate(axes if axes is not None else range(len(shape))):
                        widths[a] = (padding[at], padding[k + at])
                    yield Case("layout.pad", [x], np.pad(x, widths, mode), {"axes": axes, "padding": padding, "method": method}, edition=edition)
                    if method == "CONSTANT":
                        value = draw.of(kind)
                        yield Case("layout.pad", [x, value], np.pad(x, widths, mode, constant_values=value),
                                   {"axes": axes, "padding": padding, "method": method}, edition=edition)
    x = np.zeros((0, 2), dtype=np.float32)
    yield Case("layout.pad", [x, "1.0"], np.ones((3, 2), np.float32), {"axes": [0], "padding": [1, 2]})
    for x in (np.array(5, np.int64),):
        yield Case("layout.pad", [x], x, {"padding": []})


def slices():
    operator = "layout.slice"
    draw = random(operator)
    for shape, axes, begin, end, stride in [
            ((6,), None, [1], [4], None), ((6,), None, [0], [6], [2]), ((6,), [0], [1], [6], [3]), ((7,), None, [5], [0], [-2]),
            ((4, 5), [1], [1], [4], None), ((4, 5), [0, 1], [1, 0], [3, 5], [1, 2]), ((4, 5), [-1], [0], [99], None), ((4, 5), [1, 0], [2, 1], [5, 4], [2, 1]),
            ((4, 5), [0], [2], [2], None), ((2, 3, 4), [2], [3], [0], [-1]), ((2, 3, 4), [1], [0], [3], [2])]:
        for kind in KIND:
            for edition in BOTH:
                yield slice_case(draw.of(kind, shape), axes, begin, end, stride, edition, wrap=False)
    for shape, axes, begin, end, stride in [((6,), None, [-4], [-1], None), ((6,), None, [-1], [-7], [-1]), ((6,), None, [5], [-7], [-1]), ((6,), None, [0], [-2], [2]),
                                            ((4, 5), [1], [-3], [5], None), ((4, 5), None, [-4, -2], [-1, -1], None), ((6,), None, [6], [9], None)]:
        yield slice_case(draw.real(shape), axes, begin, end, stride, "draft6", wrap=True)
    # khronos: -1 is before the first element.
    for shape, axes, begin, end, stride in [((6,), None, [5], [-1], [-1]), ((6,), None, [4], [-1], [-2]), ((4, 5), [1], [3], [-9], [-1])]:
        x = draw.real(shape)
        index = [slice(None)] * len(shape)
        for a, b, s in zip(axes or range(len(shape)), begin, stride):
            index[a] = list(range(b, -1, s))
        yield Case(operator, [x], x[tuple(index)].copy(), {"axes": axes, "begin": begin, "end": end, "stride": stride}, edition="khronos")


def slice_case(x, axes, begin, end, stride, edition, wrap):
    for at, a in enumerate(axes if axes is not None else range(x.ndim)):
        extent, b, e, s = x.shape[a], begin[at], end[at], stride[at] if stride else 1
        if wrap:
            b, e = (b + extent if b < 0 else b), (e + extent if e < 0 else e)
        picked = [i for i in range(b, e, s) if 0 <= i < extent]
        if a == (axes[0] if axes is not None else 0):
            found = x
        found = np.take(found, np.array(picked, dtype=np.int64), axis=a)
    return Case("layout.slice", [x], found, {"axes": axes, "begin": begin, "end": end, "stride": stride}, edition=edition)


def reordering():
    draw = random("reordering")
    for shape, axis, perm, order in [((3,), None, None, [0]), ((2, 3), None, None, [1, 0]), ((2, 3), None, [0, 1], [0, 1]), ((2, 3, 4), None, [1, 2, 0], [1, 2, 0]),
                                     ((2, 3, 4), None, [-1, 0, 1], [2, 0, 1]), ((2, 3, 4), 1, [2, 1], [0, 2, 1]), ((2, 3, 4), -2, [-1, -2], [0, 2, 1]),
                                     ((2, 3, 4), None, None, [2, 1, 0]), ((), None, None, []), ((2, 0, 3), None, [2, 0, 1], [2, 0, 1]),
                                     ((2, 1, 3, 1, 2), None, [4, 2, 0, 1, 3], [4, 2, 0, 1, 3]), ((2, 3, 4), 2, [2], [0, 1, 2]), ((1, 2, 1, 2, 1, 2, 1, 3), None, None, list(range(7, -1, -1)))]:
        for kind in KIND:
            for edition in BOTH:
                x = draw.of(kind, shape)
                yield Case("layout.transpose", [x], np.transpose(x, order).copy(), {"axis": axis, "perm": perm}, edition=edition)
    for shape, axis, groups in [((6,), 0, 2), ((6,), -1, 3), ((2, 6), 1, 2), ((2, 6, 3), 1, 3), ((2, 6, 3), -2, 2), ((6, 2), 0, 1), ((6, 2), 0, 6), ((2, 0), 1, 2)]:
        for kind in KIND:
            for edition in BOTH:
                x = draw.of(kind, shape)
                a = axis % len(shape)
                split = x.reshape(shape[:a] + (groups, shape[a] // groups) + shape[a + 1:])
                yield Case("layout.shuffle", [x], np.swapaxes(split, a, a + 1).reshape(shape).copy(), {"axis": axis, "groups": groups}, edition=edition)
    for spatial, block in [((4,), [2]), ((4, 6), [2, 3]), ((3, 2), [1, 2]), ((2, 2, 4), [2, 1, 2]), ((3,), [3]), ((4, 4), [1, 1])]:
        for format_ in (None, "NCX", "NXC"):
            for first in (None, False):
                for kind in KIND[:2]:
                    attributes = {"block_size": block, "blocks_first": first, "data_format": format_}
                    for edition in BOTH:
                        x = draw.of(kind, shaped(2, 3, spatial, format_))
                        y = space_to_batch(x, block, first is not False, format_, edition == "draft6")
                        yield Case("layout.space_to_batch", [x], y, attributes, edition=edition)
                        yield Case("layout.batch_to_space", [y], x, attributes, edition=edition)
                        y = space_to_depth(x, block, first is not False, format_)
                        yield Case("layout.space_to_depth", [x], y, attributes, edition=edition)
                        yield Case("layout.depth_to_space", [y], x, attributes, edition=edition)


def shaped(b, c, spatial, format_):
    return (b,) + tuple(spatial) + (c,) if format_ == "NXC" else (b, c) + tuple(spatial)


def channels_first(x, format_):
    return np.moveaxis(x, -1, 1) if format_ == "NXC" else x


def channels_back(x, format_):
    return np.moveaxis(x, 1, -1).copy() if format_ == "NXC" else x.copy()


def space_to_batch(x, block, first, format_, block_outer):
    """Moves element (b, c, i) to batch (block index, b) or (b, block index), where i = block·rest + block index, or
    i = rest count · block index + rest if the block is the outer factor."""
    x = channels_first(x, format_)
    b, c, *s = x.shape
    rest = [n // k for n, k in zip(s, block)]
    volume = int(np.prod(block))
    y = np.zeros([volume * b, c] + rest, dtype=x.dtype)
    for index in np.ndindex(*x.shape):
        bi, ci, *i = index
        if block_outer:
            q, r = [n // m for n, m in zip(i, rest)], [n % m for n, m in zip(i, rest)]
        else:
            q, r = [n % k for n, k in zip(i, block)], [n // k for n, k in zip(i, block)]
        flat = int(np.ravel_multi_index(q, block))
        y[(flat * b + bi if first else bi * volume + flat, ci, *r)] = x[index]
    return channels_back(y, format_)


def space_to_depth(x, block, first, format_):
    x = channels_first(x, format_)
    b, c, *s = x.shape
    volume = int(np.prod(block))
    y = np.zeros([b, volume * c] + [n // k for n, k in zip(s, block)], dtype=x.dtype)
    for index in np.ndindex(*x.shape):
        bi, ci, *i = index
        flat = int(np.ravel_multi_index([n % k for n, k in zip(i, block)], block))
        y[(bi, flat * c + ci if first else ci * volume + flat, *[n // k for n, k in zip(i, block)])] = x[index]
    return channels_back(y, format_)


def cases():
    yield from creation()
    yield from views()
    yield from joining()
    yield from expanding()
    yield from slices()
    yield from reordering()
