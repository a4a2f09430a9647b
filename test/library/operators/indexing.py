# SPDX-License-Identifier: Apache-2.0
"""Gathering, scattering, searching and grids: loops and numpy's indexing."""
import numpy as np

from cases import BOTH, Case, StorageTypes, points, random


def gathering():
    draw = random("gathering")
    for shape, axis, index_shape in [((5,), 0, (3,)), ((5,), -1, ()), ((4, 3), 0, (2,)), ((4, 3), 1, (2, 2)), ((4, 3), -2, (1,)), ((2, 3, 4), 1, (5,)),
                                     ((2, 3, 4), 2, ()), ((2, 3, 4), -3, (2, 1)), ((4, 3), 0, (0,)), ((3, 0), 0, (2,))]:
        for kind in ("real", "int", "bool"):
            for edition in BOTH:
                x = draw.of(kind, shape)
                index = draw.int(index_shape, 0, shape[axis])
                yield Case("layout.gather", [x, index], np.take(x, index, axis=axis), {"axis": axis}, edition=edition)
    # data, number of batch dimensions, dimensions of positions, length of a coordinate
    for shape, batch, places, d in [((5,), None, (3,), 1), ((4, 3), None, (2,), 1), ((4, 3), None, (2,), 2), ((4, 3), None, (), 2), ((2, 3, 4), None, (2, 2), 3),
                                    ((2, 3, 4), 1, (5,), 1), ((2, 3, 4), 1, (2,), 2), ((2, 3, 4), 2, (1,), 1), ((2, 3, 4), None, (3,), 2), ((4, 3), None, (0,), 2)]:
        for kind in ("real", "int", "bool"):
            for edition in BOTH:
                b = batch or 0
                x = draw.of(kind, shape)
                where = shape[:b] + places
                index = np.stack([draw.int(where, 0, shape[b + i]) for i in range(d)], axis=-1)
                y = np.zeros(where + shape[b + d:], dtype=x.dtype)
                for at in points(where):
                    y[at] = x[at[:b] + tuple(index[at])]
                yield Case("layout.gather_nd", [x, index], y, {"batch_dims": batch}, edition=edition)
                flat = np.arange(int(np.prod(shape[b:b + d])))
                count = int(np.prod(places))
                if count > len(flat):
                    continue
                # The positions of a batch item are distinct: the order of equal ones is tested below.
                index = np.zeros(where + (d,), dtype=np.int64)
                for at in points(shape[:b]):
                    picked = draw.permutation(len(flat))[:count]
                    index[at] = np.stack(np.unravel_index(picked, shape[b:b + d]), axis=-1).reshape(places + (d,))
                updates = draw.of(kind, where + shape[b + d:])
                y = x.copy()
                for at in points(where):
                    y[at[:b] + tuple(index[at])] = updates[at]
                yield Case("layout.scatter_nd", [x, index, updates], y, {"batch_dims": batch}, edition=edition)
    for shape, axis, count in [((5,), 0, 3), ((5,), -1, 1), ((4, 3), 0, 2), ((4, 3), 1, 3), ((4, 3), -1, 1), ((2, 5, 3), 1, 4), ((2, 5, 3), -3, 1), ((4, 3), 0, 0), ((2, 2, 4), 2, 7)]:
        for kind in ("real", "int", "bool"):
            for edition in BOTH:
                x = draw.of(kind, shape)
                a = axis % len(shape)
                places = shape[:a] + (count,) + shape[a + 1:]
                index = draw.int(places, 0, shape[a])  # of equal positions, the last one is effective
                updates = draw.of(kind, places)
                y = x.copy()
                for at in points(places):
                    y[at[:a] + (int(index[at]),) + at[a + 1:]] = updates[at]
                yield Case("layout.scatter", [x, index, updates], y, {"axis": axis}, edition=edition)
    x = np.zeros(3, dtype=np.float32)
    index = np.array([[1], [2], [1]])
    yield Case("layout.scatter_nd", [x, index, np.array([1, 2, 3], np.float32)], np.array([0, 3, 2], np.float32), label="the last wins")


def searching():
    draw = random("layout.nonzero")
    for shape in [(1,), (6,), (0,), (2, 3), (2, 2, 3), (1, 4)]:
        for kind in ("real", "int", "bool"):
            for edition in BOTH:
                x = np.asarray(draw.of(kind, shape) * draw.bool(shape)).astype({"real": np.float32, "int": np.int64, "bool": bool}[kind])
                yield Case("layout.nonzero", [x], np.stack(np.nonzero(x)).astype(np.int64), edition=edition,
                           declared={"y0": "int[%d,~|%d]" % (len(shape), int(np.prod(shape)))})
    x = np.array([0.0, -0.0, np.nan, np.inf, 1e-7 if StorageTypes.real == "f16" else 1e-38], dtype=np.float32)
    yield Case("layout.nonzero", [x], np.array([[2, 3, 4]]), declared={"y0": "int[1,~|5]"}, label="specials")
    draw = random("algo.top_k")
    for shape, axis, k in [((5,), None, 3), ((5,), 0, 1), ((5,), -1, 5), ((5,), 0, 9), ((4, 3), None, 2), ((4, 3), 1, 1), ((4, 3), -1, 2), ((2, 5, 3), 1, 3), ((1, 1), 0, 1)]:
        for largest in (None, True, False):
            for ordered in (None, True):
                for edition in BOTH:
                    x = draw.int(shape, 0, 5).astype(np.float32)  # with ties: in order of position
                    a = axis or 0
                    order = np.argsort(-x if largest is not False else x, axis=a, kind="stable").take(range(min(k, shape[a])), axis=a)
                    yield Case("algo.top_k", [x], [np.take_along_axis(x, order, a), order.astype(np.int64)],
                               {"k": k, "axis": axis, "largest": largest, "sorted": ordered}, edition=edition)
    for largest in (True, False):  # any order
        x = draw.real((9,))
        want = np.sort(x)[-4:] if largest else np.sort(x)[:4]
        check = lambda got, want=want: None if np.array_equal(np.sort(got), want) else "other elements: %s" % got  # noqa: E731
        positions = lambda got, want=want, x=x: None if np.array_equal(np.sort(x[got]), want) else "other positions: %s" % got  # noqa: E731
        yield Case("algo.top_k", [x], [check, positions], {"k": 4, "largest": largest, "sorted": False},
                   declared={"y0": "real[4]", "y1": "int[4]"})


def suppressed(boxes, scores, centered, limit, overlap, least):
    rows = []
    if centered:
        x, y, w, h = np.moveaxis(boxes, -1, 0)
        boxes = np.stack([y - h / 2, x - w / 2, y + h / 2, x + w / 2], axis=-1)
    low, high = np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])
    area = np.prod(high - low, axis=-1)
    for b in range(scores.shape[0]):
        for c in range(scores.shape[1]):
            taken = []
            for n in sorted(range(scores.shape[2]), key=lambda n: (-scores[b, c, n], -n)):
                if len(taken) >= limit or (least is not None and not scores[b, c, n] > np.float32(least)):
                    continue
                common = [np.prod(np.maximum(np.minimum(high[b, n], high[b, m]) - np.maximum(low[b, n], low[b, m]), 0)) for m in taken]
                ratios = [i / (area[b, n] + area[b, m] - i) for i, m in zip(common, taken)]
                if all(not r > overlap for r in ratios):
                    taken.append(n)
            rows += [(b, c, n) for n in taken]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def boxes():
    draw = random("algo.nonmax_suppress")
    for batch, classes, count in [(1, 1, 1), (1, 1, 6), (1, 2, 8), (2, 2, 7), (2, 1, 20)]:
        for centered in (None, False, True):
            for limit in (None, 0, 1, 3):
                for overlap, least in [(None, None), (0.5, None), (0.3, 0.4), (0.97, 0.2)]:
                    corners = draw.real((batch, count, 2), 0, 4)
                    size = draw.real((batch, count, 2), 0.5, 3)
                    b = np.concatenate([corners + size / 2, size] if centered else [corners, corners + size], axis=-1).astype(np.float32)
                    s = draw.real((batch, classes, count), 0, 1)
                    rows = suppressed(b, s, bool(centered), count if limit is None else limit, overlap or 0.0, least)
                    yield Case("algo.nonmax_suppress", [b, s], rows,
                               {"box_format": None if centered is None else "CENTER" if centered else "CORNERS", "max_outputs_per_class": limit,
                                "iou_threshold": overlap, "score_threshold": least},
                               declared={"y0": "int[~|%d,3]" % (batch * classes * (count if limit is None else limit))}, edition=BOTH[count % 2])


def grids():
    draw = random("misc.mesh_grid")
    for extents in [(1,), (4,), (2, 3), (3, 1), (2, 3, 4), (2, 1, 2, 3), (0, 2)]:
        for edition in BOTH:
            xs = [draw.real((n,)) for n in extents]
            yield Case("misc.mesh_grid", [xs], [[g.copy() for g in np.meshgrid(*xs, indexing="ij")]], edition=edition)


def cases():
    yield from gathering()
    yield from searching()
    yield from boxes()
    yield from grids()
