# SPDX-License-Identifier: Apache-2.0
"""Equivalent rewritings of random models: operations that keep a tensor as it is follow some statements of the graph."""

import re

SAME = """operator same {
    @dtype { T: type; }
    @input { x: T[s..]; }
    @output { y: T[s..]; }
    @lower { y[i..] = x[i..], i < s; }
}
"""


def rewritten(model, random):
    """The text of a model with the same results."""
    head, _, graph = model.text().rpartition("graph G {")
    lines, names = [], {}
    for line in graph.split("\n"):
        for name, other in names.items():
            line = re.sub(r"\b%s\b" % name, other, line)
        lines.append(line)
        left = re.match(r"        ([\w, ]+) = ", line)
        for name in left.group(1).split(", ") if left else []:
            value = model.values.get(name)
            if value and value.length is None and random.random() < 0.4:
                names[name] = name + "_"
                lines += ["        " + text for text in kept(value, name, names[name], random)]
    text = SAME + head + "graph G {" + "\n".join(lines)
    imports = "".join("import %s;\n" % m for m in ("layout", "linalg", "math", "nn") if m + "." in text)
    return imports + re.sub(r"(?m)^import \w+;\n", "", text)


def kept(value, name, result, random):
    """Statements that assign a tensor to another name."""
    rank, last = len(value.shape), "%s = %%s;" % result
    ways = ["same(%s)" % name, "{ yield %s; }" % name, "if true then same(%s) else { yield %s; }" % (name, name),
            "with %s_c = %s do..(1) { yield %s_c; }" % (name, name, name), "layout.cast<%s>(%s)" % (value.kind, name)]
    if rank:
        axis = random.randrange(rank)
        ways.append("layout.concat{axis=%d}([%s])" % (axis, name))
        ways.append("layout.tile{axes=[%d], repeats=[1]}(%s)" % (axis, name))
    pairs = []
    if value.kind != "int":
        # The negative of the smallest int is clamped, so two of them change it.
        pairs.append(("math.%s(%s)", "math.%s(%s)", ["not" if value.kind == "bool" else "neg"] * 2))
    axis = random.randint(0, rank)
    pairs.append(("layout.unsqueeze{axes=[%s]}(%s)", "layout.squeeze{axes=[%s]}(%s)", [axis, axis]))
    if rank > 1:
        order = random.sample(range(rank), rank)
        pairs.append(("layout.transpose{perm=%s}(%s)", "layout.transpose{perm=%s}(%s)", [order, [order.index(a) for a in range(rank)]]))
    chosen = random.choice(ways + pairs)
    if isinstance(chosen, str):
        return [last % chosen]
    there, back, arguments = chosen
    return ["%s_t = %s;" % (name, there % (arguments[0], name)), last % (back % (arguments[1], name + "_t"))]
