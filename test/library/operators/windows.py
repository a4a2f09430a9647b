# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling: loops over windows, in f64. Positions are those that the standard library's table defines."""
import itertools

import numpy as np

from cases import BOTH, Case, f32, points, random

T = {"rtol": 2e-5, "atol": 1e-5}


def window(extent, size, stride, dilation, padding, align, ceil):
    """The extent of the output, and the padding before the input."""
    reach = (size - 1) * dilation + 1
    if padding is None:
        count = -(-extent // stride) if ceil else extent // stride
        total = (count - 1) * stride + reach - extent
        before = -(-total // 2) if align == "LOWER" else total // 2
    else:
        before, total = padding[0], padding[0] + padding[1]
    rest = extent + total - reach
    return (-(-rest // stride) if ceil else rest // stride) + 1, before


def settled(values, count, default):
    return [default] * count if values is None else [values] * count if isinstance(values, int) else values


def to_ncx(x, format_):
    return x if format_ in (None, "NCX") else np.moveaxis(x, -1, 1) if format_ == "NXC" else np.moveaxis(x, [-1, -2], [0, 1])


def from_ncx(x, format_):
    return (x if format_ in (None, "NCX") else np.moveaxis(x, 1, -1) if format_ == "NXC" else np.moveaxis(x, [0, 1], [-1, -2])).copy()


def filter_from_ncx(f, format_):
    if format_ == "CXN":
        return np.moveaxis(f, 0, -1).copy()
    return from_ncx(f, format_)


def conv(x, f, bias, stride, dilation, padding, align, ceil, groups):
    """All in order NCX."""
    b, c, *s = x.shape
    n, fc, *size = f.shape
    d = len(s)
    groups = groups or c
    spans = [window(s[i], size[i], stride[i], dilation[i], None if padding is None else (padding[i], padding[d + i]), align, ceil) for i in range(d)]
    y = np.zeros([b, n] + [o for o, _ in spans])
    for at in points(y.shape[2:]):
        for tap in points(size):
            place = tuple(at[i] * stride[i] + tap[i] * dilation[i] - spans[i][1] for i in range(d))
            if all(0 <= p < e for p, e in zip(place, s)):
                for g in range(groups):
                    rows = slice(g * (n // groups), (g + 1) * (n // groups))
                    taken = x[(slice(None), slice(g * fc, (g + 1) * fc)) + place].astype(np.float64)
                    y[(slice(None), rows) + at] += taken @ f[(rows, slice(None)) + tap].T
    return y + (0 if bias is None else bias.reshape([1, -1] + [1] * d))


def deconv(x, f, bias, stride, dilation, padding, align, output_size, groups):
    b, c, *s = x.shape
    _, fc, *size = f.shape
    d = len(s)
    groups = groups or c
    m = c // groups
    reach = [(size[i] - 1) * dilation[i] + 1 for i in range(d)]
    total = [reach[i] - stride[i] if padding is None else padding[i] + padding[d + i] for i in range(d)]
    before = [(-(-total[i] // 2) if align == "LOWER" else total[i] // 2) if padding is None else padding[i] for i in range(d)]
    extents = output_size or [(s[i] - 1) * stride[i] + reach[i] - total[i] for i in range(d)]
    y = np.zeros([b, fc * groups] + list(extents))
    for at in points(s):
        for tap in points(size):
            place = tuple(at[i] * stride[i] + tap[i] * dilation[i] - before[i] for i in range(d))
            if all(0 <= p < e for p, e in zip(place, extents)):
                for g in range(groups):
                    taken = x[(slice(None), slice(g * m, (g + 1) * m)) + at].astype(np.float64)
                    y[(slice(None), slice(g * fc, (g + 1) * fc)) + place] += taken @ f[(slice(g * m, (g + 1) * m), slice(None)) + tap]
    return y + (0 if bias is None else bias.reshape([1, -1] + [1] * d))


# spatial extents, filter, stride, dilation, padding
WINDOWS = [((5,), [3], None, None, None), ((5,), [3], [2], None, [0, 0]), ((1,), [1], None, None, [0, 0]), ((7,), [3], [1], [2], [2, 1]), ((8,), [2], [2], None, None),
           ((7,), [3], [2], None, None), ((5, 4), [3, 3], None, None, None), ((5, 4), [3, 2], [2, 1], [1, 2], [1, 0, 1, 2]), ((5, 6), [1, 1], [2, 3], None, [0, 0, 0, 0]),
           ((6, 5), [2, 3], [2, 2], None, None), ((4, 4), [4, 4], None, None, [0, 0, 0, 0]), ((3, 4, 3), [2, 2, 2], [1, 2, 1], None, [0, 1, 0, 1, 0, 1]), ((3, 3, 3), [3, 1, 2], None, None, None),
           ((9,), [3], [3], [1], [1, 1]), ((4,), [2], [1], [3], None)]


def convolutions():
    draw = random("conv")
    for at, (spatial, size, stride, dilation, padding) in enumerate(WINDOWS):
        d = len(spatial)
        variants = [dict(b=2, c=3, n=4), dict(b=1, c=4, n=6, groups=2), dict(b=1, c=3, n=6, groups=0), dict(b=1, c=2, n=2, ceil_mode=True),
                    dict(b=2, c=2, n=3, padding_align="LOWER"), dict(b=1, c=2, n=3, padding_align="UPPER", ceil_mode=True)]
        variants += [dict(b=2, c=2, n=4, data_format=x, filter_format=y, groups=2) for x, y in itertools.product(("NCX", "NXC", "XCN"), ("NCX", "NXC", "XCN", "CXN"))]
        for more, variant in enumerate(variants):
            variant = dict(variant)
            b, c, n = (variant.pop(k) for k in "bcn")
            groups = variant.get("groups", 1)
            x, f, bias = draw.real((b, c) + spatial), draw.real([n, c // (groups or c)] + size), draw.real((n,))
            if (at + more) % 2:
                bias = None
            attributes = {"stride": stride, "dilation": dilation, "padding": padding, **variant}
            settings = (settled(stride, d, 1), settled(dilation, d, 1), padding, variant.get("padding_align"))
            if padding is None and any((size[i] - 1) * settings[1][i] + 1 < settings[0][i] for i in range(d)):
                continue
            y = conv(x, f, bias, *settings, variant.get("ceil_mode"), groups)
            stored = [from_ncx(x, variant.get("data_format")), filter_from_ncx(f, variant.get("filter_format"))]
            yield Case("nn.conv", stored + ([] if bias is None else [bias]), f32(from_ncx(y, variant.get("data_format"))), attributes, edition=BOTH[(at + more // 2) % 2], **T)
            if not set(variant) & {"padding_align", "data_format", "ceil_mode"}:
                use_bias = None if bias is not None else False
                yield Case("layer.conv", [x], f32(y), {**attributes, "channels": n, "size": size, "use_bias": use_bias},
                           variables={"filter": f} if bias is None else {"filter": f, "bias": bias}, edition=BOTH[at % 2], **T)


def deconvolutions():
    draw = random("deconv")
    for at, (spatial, size, stride, dilation, padding) in enumerate(WINDOWS):
        d = len(spatial)
        steps, gaps = settled(stride, d, 1), settled(dilation, d, 1)
        reach = [(size[i] - 1) * gaps[i] + 1 for i in range(d)]
        if padding is None and any(r < s for r, s in zip(reach, steps)):
            continue
        variants = [dict(b=2, c=3, n=2), dict(b=1, c=4, n=3, groups=2), dict(b=1, c=3, n=2, groups=0), dict(b=1, c=2, n=2, padding_align="LOWER"), dict(b=1, c=2, n=1, more=True)]
        variants += [dict(b=2, c=2, n=2, data_format=x, filter_format=y, groups=2) for x, y in itertools.product(("NCX", "NXC", "XCN"), ("NCX", "NXC", "XCN", "CXN"))]
        for other, variant in enumerate(variants):
            variant = dict(variant)
            b, c, n = (variant.pop(k) for k in "bcn")
            groups = variant.get("groups", 1)
            total = [reach[i] - steps[i] if padding is None else padding[i] + padding[d + i] for i in range(d)]
            extents = [(spatial[i] - 1) * steps[i] + reach[i] - total[i] for i in range(d)]
            output_size = None
            if variant.pop("more", False):
                output_size = [extents[i] + steps[i] - 1 for i in range(d)]
            if any(e < 1 for e in extents):
                continue
            x, f = draw.real((b, c) + spatial), draw.real([c, n] + size)
            bias = draw.real((n * (groups or c),)) if (at + other) % 2 else None
            y = deconv(x, f, bias, steps, gaps, padding, variant.get("padding_align"), output_size, groups)
            attributes = {"stride": stride, "dilation": dilation, "padding": padding, "output_size": output_size, **variant}
            stored = [from_ncx(x, variant.get("data_format")), filter_from_ncx(f, variant.get("filter_format"))]
            yield Case("nn.deconv", stored + ([] if bias is None else [bias]), f32(from_ncx(y, variant.get("data_format"))), attributes, edition=BOTH[(at + other // 2) % 2], **T)
            if not set(variant) & {"padding_align", "data_format"}:
                yield Case("layer.deconv", [x], f32(y), {**attributes, "channels": n, "size": size, "use_bias": None if bias is not None else False},
                           variables={"filter": f} if bias is None else {"filter": f, "bias": bias}, edition=BOTH[at % 2], **T)


def pooled(x, axes, size, stride, dilation, padding, align, ceil, reduce):
    """`reduce` of the elements of each window that are inside of the input."""
    k = len(axes)
    spans = [window(x.shape[a], size[i], stride[i], dilation[i], None if padding is None else (padding[i], padding[k + i]), align, ceil) for i, a in enumerate(axes)]
    shape = list(x.shape)
    for a, (extent, _) in zip(axes, spans):
        shape[a] = extent
    y = np.zeros(shape)
    for at in points(shape):
        found = []
        for tap in points(size):
            place = list(at)
            for i, a in enumerate(axes):
                place[a] = at[a] * stride[i] + tap[i] * dilation[i] - spans[i][1]
            if all(0 <= place[a] < x.shape[a] for a in axes):
                found.append(float(x[tuple(place)]))
        y[at] = reduce(np.array(found))
    return y


# shape, axes
POOLED = [((2, 2, 6), None), ((1, 2, 5, 4), None), ((6, 3), [0]), ((2, 5), [-1]), ((2, 5, 4, 3), [1, 2]), ((5, 4), [1, 0]), ((1, 1, 3, 4, 3), None)]


def pooling():
    draw = random("pool")
    with np.errstate(all="ignore"):
        for at, (shape, axes) in enumerate(POOLED):
            where = list(range(2, len(shape))) if axes is None else [a % len(shape) for a in axes]
            k = len(where)
            for more, (size, stride, dilation, padding) in enumerate([(2, None, None, None), (2, 2, None, 0), (3, 2, None, 1), (3, 1, None, None), (2, 1, 2, 0), (2, 3, None, 1), (3, 2, 1, None), (1, 1, None, 0)]):
                steps, gaps = [stride or 1] * k, [dilation or 1] * k
                pads = None if padding is None else [padding] * (2 * k)
                if (size - 1) * gaps[0] + 1 > min(shape[a] for a in where) + 2 * (padding or 0) or (padding is None and (size - 1) * gaps[0] + 1 < steps[0]):
                    continue
                for ceil, align in [(None, None), (True, "UPPER"), (False, "LOWER")]:
                    if ceil and padding is not None and any(starts_outside(shape[a], size, steps[0], gaps[0], padding) for a in where):
                        continue  # results of windows without elements are unspecified
                    x = draw.real(shape)
                    attributes = {"axes": axes, "size": [size] * k, "stride": None if stride is None else steps, "dilation": None if dilation is None else gaps,
                                  "padding": pads, "ceil_mode": ceil, "padding_align": align}
                    run = lambda values, reduce: pooled(values, where, [size] * k, steps, gaps, pads, align, ceil, reduce)  # noqa: E731
                    edition = BOTH[(at + more) % 2]
                    wide = x.astype(np.float64)
                    yield Case("nn.max_pool", [x], f32(run(wide, np.max)), attributes, edition=edition)
                    yield Case("nn.sum_pool", [x], f32(run(wide, np.sum)), attributes, edition=edition, **T)
                    volume = size ** k
                    for border in (None, True, False):
                        mean = (lambda e: np.sum(e) / volume) if border is False else np.mean
                        yield Case("nn.avg_pool", [x], f32(run(wide, mean)), {**attributes, "ignore_border": border}, edition=edition, **T)
                        yield Case("nn.rms_pool", [x], f32(np.sqrt(run(wide * wide, mean))), {**attributes, "ignore_border": border}, edition=edition, **T)
                    for p in (1.0, 2.0, 3.0):
                        yield Case("nn.lp_pool", [x], f32(run(np.abs(wide) ** p, np.sum) ** (1 / p)), {**attributes, "p": p}, edition=edition, rtol=5e-5)
    x = np.full((1, 1, 4), -np.inf, dtype=np.float32)
    yield Case("nn.max_pool", [x], np.full((1, 1, 4), -np.inf, np.float32), {"size": [3], "padding": [1, 1]}, label="infinite")
    x = np.array([[[1, np.nan, 2, 3, 4, np.inf]]], dtype=np.float32)
    yield Case("nn.max_pool", [x], np.array([[[np.nan, np.nan, 3, 4, np.inf]]], np.float32), {"size": [2], "padding": [0, 0]}, label="specials")


def starts_outside(extent, size, stride, dilation, padding):
    count, before = window(extent, size, stride, dilation, (padding, padding), None, True)
    return (count - 1) * stride - before >= extent or all(not 0 <= (count - 1) * stride - before + t * dilation < extent for t in range(size))


def cases():
    yield from convolutions()
    yield from deconvolutions()
    yield from pooling()
