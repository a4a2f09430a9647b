# SPDX-License-Identifier: Apache-2.0
"""Calls of operators of the library for random models, each with the kind and shape of its result."""


def called(random, x, scope, functions):
    """The text of a call on `x`, and the kind and the shape of the result; `None` if the drawn operator does not accept it."""
    calls = [elementwise, elementwise, pairwise, pairwise, compared, selected, reduced, reduced, indices, moved, cut, joined, resized, converted, product, scanned, gathered]
    return random.choice(calls)(random, x, scope, functions)


def elementwise(random, x, scope, functions):
    if x.kind == "bool":
        return "math.not(%s)" % x.name, "bool", x.shape
    if x.kind == "int":
        return "math.%s(%s)" % (random.choice(["neg", "abs", "sign"]), x.name), "int", x.shape
    names = ["math.neg", "math.abs", "math.sign", "math.floor", "math.ceil", "math.round", "math.sqr", "nn.relu", "nn.relu{max=6.0}"]
    if functions:
        names += ["math.exp", "math.tanh", "nn.sigmoid", "nn.gelu", "nn.softplus", "math.sin", "nn.silu", "nn.elu"]
        if x.shape:
            names += ["nn.softmax{axes=[%d]}" % random.randrange(len(x.shape))] * 3
    return "%s(%s)" % (random.choice(names), x.name), "real", x.shape


def partner(random, x, scope):
    """A value that is broadcast with `x`, the last dimensions with each other, and the shape of the result."""
    fitting = []
    for y in scope:
        if y.kind != x.kind:
            continue
        longer, shorter = (x, y) if len(x.shape) >= len(y.shape) else (y, x)
        rest = len(longer.shape) - len(shorter.shape)
        pairs = list(zip(longer.shape[rest:], shorter.shape))
        if all(a == b or a == 1 or b == 1 for a, b in pairs):
            shape = longer.shape[:rest] + [b if a == 1 else a for a, b in pairs]
            fitting.append((y, shape))
    return random.choice(fitting)


def pairwise(random, x, scope, functions):
    y, shape = partner(random, x, scope)
    names = {"real": ["add", "sub", "mul", "min", "max"], "int": ["add", "sub", "mul", "min", "max", "div", "mod"], "bool": ["and", "or", "xor"]}
    return "math.%s(%s, %s)" % (random.choice(names[x.kind]), x.name, y.name), x.kind, shape


def compared(random, x, scope, functions):
    if x.kind == "bool":
        return None
    y, shape = partner(random, x, scope)
    return "math.%s(%s, %s)" % (random.choice(["lt", "gt", "le", "ge", "eq", "ne"]), x.name, y.name), "bool", shape


def selected(random, x, scope, functions):
    conditions = [c for c in scope if c.kind == "bool" and (c.shape == x.shape or not c.shape)]
    others = [y for y in scope if y.form() == x.form()]
    if not conditions:
        return None
    return "math.select(%s, %s, %s)" % (random.choice(conditions).name, x.name, random.choice(others).name), x.kind, x.shape


def reduced(random, x, scope, functions):
    if not x.shape or x.kind == "int":
        return None
    axes = sorted(random.sample(range(len(x.shape)), random.randint(1, len(x.shape))))
    squeeze = random.random() < 0.5
    shape = [e if a not in axes else 1 for a, e in enumerate(x.shape) if a not in axes or not squeeze]
    name = random.choice(["any", "all"] if x.kind == "bool" else ["sum", "max", "min", "mean"])
    return "math.%s_reduce{axes=%s, squeeze=%s}(%s)" % (name, axes, str(squeeze).lower(), x.name), x.kind, shape


def indices(random, x, scope, functions):
    if not x.shape or x.kind != "real":
        return None
    axis = random.randrange(len(x.shape))
    shape = [1 if a == axis else e for a, e in enumerate(x.shape)]
    return "math.arg%s{axis=%d}(%s)" % (random.choice(["min", "max"]), axis, x.name), "int", shape


def moved(random, x, scope, functions):
    rank = len(x.shape)
    choice = random.choice(["transpose", "unsqueeze", "flatten", "reverse"])
    if choice == "unsqueeze":
        axis = random.randint(0, rank)
        return "layout.unsqueeze{axes=[%d]}(%s)" % (axis, x.name), x.kind, x.shape[:axis] + [1] + x.shape[axis:]
    if not rank:
        return None
    if choice == "transpose":
        order = random.sample(range(rank), rank)
        return "layout.transpose{perm=%s}(%s)" % (order, x.name), x.kind, [x.shape[a] for a in order]
    if any(e == "n" for e in x.shape):
        return None
    if choice == "flatten":
        volume = 1
        for extent in x.shape:
            volume *= extent
        return "layout.flatten{axis=0}(%s)" % x.name, x.kind, [volume]
    axis = random.randrange(rank)
    if not x.shape[axis]:
        return None
    text = "layout.slice{axes=[%d], begin=[-1], end=[%d], stride=[-1]}(%s)" % (axis, -x.shape[axis] - 1, x.name)
    return text, x.kind, x.shape


def cut(random, x, scope, functions):
    axes = [a for a, e in enumerate(x.shape) if e != "n" and e > 0]
    if not axes:
        return None
    axis = random.choice(axes)
    begin = random.randrange(x.shape[axis])
    end, stride = random.randint(begin + 1, x.shape[axis]), random.choice([1, 1, 2])
    shape = x.shape[:axis] + [(end - begin - 1) // stride + 1] + x.shape[axis + 1:]
    return "layout.slice{axes=[%d], begin=[%d], end=[%d], stride=[%d]}(%s)" % (axis, begin, end, stride, x.name), x.kind, shape


def joined(random, x, scope, functions):
    if not x.shape:
        return None
    axis = random.randrange(len(x.shape))
    without = lambda v: v.shape[:axis] + v.shape[axis + 1:]
    fitting = [v for v in scope if v.kind == x.kind and len(v.shape) == len(x.shape) and without(v) == without(x) and v.shape[axis] != "n"]
    if x.shape[axis] == "n" or sum(map(lambda v: v.shape[axis], fitting)) > 400:
        return None
    values = [x] + [random.choice(fitting) for _ in range(random.randint(0, 2))]
    shape = x.shape[:axis] + [sum(v.shape[axis] for v in values)] + x.shape[axis + 1:]
    return "layout.concat{axis=%d}([%s])" % (axis, ", ".join(v.name for v in values)), x.kind, shape


def resized(random, x, scope, functions):
    axes = [a for a, e in enumerate(x.shape) if e != "n" and 0 < e < 40]
    if not axes:
        return None
    axis = random.choice(axes)
    with_extent = lambda e: x.shape[:axis] + [e] + x.shape[axis + 1:]
    if random.random() < 0.4:
        count = random.randint(1, 3)
        return "layout.tile{axes=[%d], repeats=[%d]}(%s)" % (axis, count, x.name), x.kind, with_extent(count * x.shape[axis])
    before, after = random.randint(0, 2), random.randint(0, 2)
    method = random.choice(["CONSTANT", "REPLICATE"] + ["REFLECT"] * (x.shape[axis] > 2))
    text = "layout.pad{axes=[%d], padding=[%d,%d], method='%s'}(%s)" % (axis, before, after, method, x.name)
    return text, x.kind, with_extent(before + x.shape[axis] + after)


def converted(random, x, scope, functions):
    kind = random.choice(["real", "int", "bool"])
    return "layout.cast<%s>(%s)" % (kind, x.name), kind, x.shape


def product(random, x, scope, functions):
    if x.kind != "real" or len(x.shape) != 2:
        return None
    fitting = [y for y in scope if y.kind == "real" and len(y.shape) == 2 and x.shape[1] in y.shape]
    if not fitting:
        return None
    y = random.choice(fitting)
    if y.shape[0] == x.shape[1]:
        return "linalg.matmul(%s, %s)" % (x.name, y.name), "real", [x.shape[0], y.shape[1]]
    return "linalg.matmul{transB=true}(%s, %s)" % (x.name, y.name), "real", [x.shape[0], y.shape[0]]


def scanned(random, x, scope, functions):
    if x.kind != "real" or not x.shape:
        return None
    flags = [str(random.random() < 0.5).lower() for _ in range(2)]
    return "math.cumsum{axis=%d, exclusive=%s, reverse=%s}(%s)" % (random.randrange(len(x.shape)), *flags, x.name), "real", x.shape


def gathered(random, x, scope, functions):
    rows = [y for y in scope if y.kind == "int" and len(y.shape) <= 2]
    axes = [a for a, e in enumerate(x.shape) if e != "n" and e > 0]
    if not rows or not axes:
        return None
    axis, y = random.choice(axes), random.choice(rows)
    return "layout.gather{axis=%d}(%s, %s)" % (axis, x.name, y.name), x.kind, x.shape[:axis] + y.shape + x.shape[axis + 1:]
