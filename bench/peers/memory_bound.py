# SPDX-License-Identifier: Apache-2.0
"""Memory-bound workloads and elementwise functions in three sizes: large, within the L2 cache (1 MB), and with odd extents."""
import operators as op

LARGE, SMALL, ODD = GROUPS = ("memory", "memory-l2", "memory-odd")


def on_one(add):
    """One operator on one input."""
    return lambda net, shape: net.output(add(net, net.input(shape)))


def unary(text, operator):
    return on_one(lambda net, x: op.unary(net, x, text, operator))


def add(net, shape):
    net.output(op.add(net, net.input(shape), net.input(shape)))


def concat(net, shapes):
    net.output(op.concat(net, [net.input(shape) for shape in shapes], 1))


def embedding(net, sizes):
    count, *table = sizes
    net.output(op.gather(net, net.variable(table), net.input([count], integers=table[0])))


def argmax(net, shape):
    net.output(op.argmax(net, net.input(shape)), integers=True)


def top_k(net, sizes):
    k, *shape = sizes
    values, indices = op.top_k(net, net.input(shape), k)
    net.output(values)
    net.output(indices, integers=True)


def resized(resize):
    return lambda net, sizes: net.output(resize(net, net.input(sizes[:4]), sizes[4:]))


def pool(kind, stride):
    return on_one(lambda net, x: op.pool(net, x, kind, 3, stride, 1))


def chain(net, x):
    """Eight elementwise operators."""
    steps = [("math.sub", "Sub", 0.5), ("math.mul", "Mul", 1.75), ("math.max", "Max", -2.0), ("math.add", "Add", 0.25)]
    for text, operator, number in steps:
        x = op.with_scalar(net, x, text, operator, number)
    x = op.with_scalar(net, op.relu(net, x), "math.mul", "Mul", 0.5)
    return op.unary(net, op.with_scalar(net, x, "math.min", "Min", 3.0), "math.sqrt", "Sqrt")


def by_group(large, small, odd):
    """A label and a shape for each group."""
    return dict(zip(GROUPS, (large, small, odd)))


FLAT = by_group(("4 M", [4 << 20]), ("96 K", [96 << 10]), ("1234577", [1234577]))
ROWS = by_group(("4096×1024", [4096, 1024]), ("96×1024", [96, 1024]), ("1009×773", [1009, 773]))
CLASSES = by_group(("4096×1000", [4096, 1000]), ("96×1000", [96, 1000]), ("1511×997", [1511, 997]))
MAPS = by_group(("64×112²", [1, 64, 112, 112]), ("32×56²", [1, 32, 56, 56]), ("37×59×61", [1, 37, 59, 61]))
IMAGES = by_group(("64×128²", [1, 64, 128, 128]), ("16×64²", [1, 16, 64, 64]), ("24×131×127", [1, 24, 131, 127]))
RESIZED = by_group(
    ("64×56² to 112²", [1, 64, 56, 56, 112, 112]), ("16×28² to 56²", [1, 16, 28, 28, 56, 56]), ("19×37×41 to 83×97", [1, 19, 37, 41, 83, 97])
)
# A title with a `%s` for the size, the function that adds the operator, and the sizes.
OPERATORS = [
    ("softmax %s", on_one(op.softmax), CLASSES),
    ("log-softmax %s", on_one(op.log_softmax), CLASSES),
    ("layer norm %s", on_one(op.layer_norm), ROWS),
    ("RMS norm %s", on_one(op.rms_norm), ROWS),
    ("instance norm %s", on_one(op.instance_norm), IMAGES),
    ("group norm of 8, %s", on_one(lambda net, x: op.group_norm(net, x, 8)), IMAGES),
    ("batch norm %s", on_one(op.batch_norm), MAPS),
    ("gelu, %s", on_one(op.gelu), {**FLAT, LARGE: ("16 M", [16 << 20])}),
    ("gelu by tanh, %s", on_one(op.gelu_by_tanh), FLAT),
    ("tanh, %s", unary("math.tanh", "Tanh"), FLAT),
    ("sigmoid, %s", unary("nn.sigmoid", "Sigmoid"), FLAT),
    ("exp, %s", unary("math.exp", "Exp"), FLAT),
    ("silu, %s", on_one(op.silu), FLAT),
    ("mish, %s", on_one(op.mish), FLAT),
    ("relu, %s", unary("nn.relu", "Relu"), FLAT),
    ("chain of 8, %s", on_one(chain), FLAT),
    ("add, %s", add, FLAT),
    ("add per channel %s", on_one(op.add_channels), MAPS),
    ("max pool 3×3/2, %s", pool("max", 2), MAPS),
    ("average pool 3×3, %s", pool("avg", 1), {**MAPS, LARGE: ("64×56²", [1, 64, 56, 56])}),
    (
        "global pool %s",
        on_one(op.global_pool),
        by_group(("512×28²", [1, 512, 28, 28]), ("128×28²", [1, 128, 28, 28]), ("131×19×23", [1, 131, 19, 23])),
    ),
    ("sum over axis 0, %s", on_one(lambda net, x: op.total(net, x, 0)), ROWS),
    ("sum over axis 1, %s", on_one(lambda net, x: op.total(net, x, 1)), ROWS),
    ("argmax %s", argmax, CLASSES),
    ("cumulative sum along axis 0, %s", on_one(lambda net, x: op.cumulative_sum(net, x, 0)), ROWS),
    ("cumulative sum along axis 1, %s", on_one(lambda net, x: op.cumulative_sum(net, x, 1)), ROWS),
    (
        "transposition %s",
        on_one(lambda net, x: op.transpose(net, x, [1, 0])),
        by_group(("2048²", [2048, 2048]), ("320²", [320, 320]), ("1009×773", [1009, 773])),
    ),
    (
        "transposition of rank 3, %s",
        on_one(lambda net, x: op.transpose(net, x, [2, 0, 1])),
        by_group(("256×256×64", [256, 256, 64]), ("40×40×64", [40, 40, 64]), ("67×129×53", [67, 129, 53])),
    ),
    ("bilinear %s", resized(op.resize), RESIZED),
    ("nearest %s", resized(op.resize_nearest), RESIZED),
    (
        "concat %s",
        concat,
        by_group(
            ("3 × 64×112²", [[1, 64, 112, 112]] * 3),
            ("3 × 8×64²", [[1, 8, 64, 64]] * 3),
            ("of 13, 17 and 29, 47×43", [[1, n, 47, 43] for n in (13, 17, 29)]),
        ),
    ),
    (
        "embedding %s",
        embedding,
        by_group(("512 of 30522×768", [512, 30522, 768]), ("128 of 500×256", [128, 500, 256]), ("211 of 5003×301", [211, 5003, 301])),
    ),
    (
        "top-k, %s",
        top_k,
        by_group(("4 of 500×5000", [4, 500, 5000]), ("4 of 40×2500", [4, 40, 2500]), ("7 of 307×1511", [7, 307, 1511])),
    ),
]


def workload(title, build, size):
    label, shape = size
    return title % label, lambda net: build(net, shape)


WORKLOADS = {group: [workload(title, build, sizes[group]) for title, build, sizes in OPERATORS] for group in GROUPS}
