# SPDX-License-Identifier: Apache-2.0
"""The operator calls of a graph: as text, as a page in notebooks, and for Graphviz."""
import collections.abc
import html
import typing

# Notebooks store displayed pages in their files. A table of at most MAX_ROWS rows replaces a page of more than MAX_PAGE_BYTES.
MAX_PAGE_BYTES = 4_000_000
MAX_ROWS = 200
# The height of a page in a notebook, in pixels.
HEIGHT = 600


class Tensor(typing.NamedTuple):
    """A tensor between calls: a number that identifies it, its name (empty if the text has none), its type and shape."""

    id: int
    name: str
    type: str

    def __str__(self):
        return "%s: %s" % (self.name or "_%d" % self.id, self.type)


class Call(typing.NamedTuple):
    """An operator call: the operator, the label of the call (or None), operands and results."""

    operator: str
    label: typing.Optional[str]
    inputs: typing.List[Tensor]
    outputs: typing.List[Tensor]

    def __str__(self):
        names = ", ".join(t.name or "_%d" % t.id for t in self.inputs)
        results = ", ".join(map(str, self.outputs))
        is_name = self.label in [t.name for t in self.outputs]
        label = "%s: " % self.label if self.label and not is_name else ""
        return "%s = %s%s(%s)" % (results, label, self.operator, names)


class Graph(collections.abc.Sequence):
    """The operator calls of a graph, in its order. Calls inside of branches, loops and operators are not listed."""

    def __init__(self, name, calls, inputs, outputs, model=None):
        tensors = lambda all_of: [Tensor(*t) for t in all_of]  # noqa: E731
        self.name = name
        self._model = model
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self._calls = [Call(operator, label, tensors(i), tensors(o)) for operator, label, i, o in calls]

    def __len__(self):
        return len(self._calls)

    def __getitem__(self, position):
        return self._calls[position]

    def __str__(self):
        ports = lambda all_of: ", ".join("%s: %s" % port for port in all_of)  # noqa: E731
        head = "graph %s(%s) -> (%s)" % (self.name, ports(self.inputs), ports(self.outputs))
        return "\n".join([head, *("    " + str(call) for call in self._calls)])

    def __repr__(self):
        return "<graph %s with %d calls>" % (self.name, len(self))

    def to_dot(self):
        """The graph in the language of Graphviz: operators are boxes, tensors are edges."""
        quoted = lambda text: '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')  # noqa: E731
        lines = ["digraph %s {" % quoted(self.name), "  node [shape=box];"]
        source = {}
        for name, kind in self.inputs:
            lines.append("  %s [shape=ellipse,label=%s];" % (quoted("in " + name), quoted("%s: %s" % (name, kind))))
            source[name] = quoted("in " + name)
        producers = {}
        for at, call in enumerate(self._calls):
            lines.append("  c%d [label=%s];" % (at, quoted(call.operator)))
            for tensor in call.inputs:
                origin = producers.get(tensor.id) or source.get(tensor.name)
                if origin:
                    lines.append("  %s -> c%d [label=%s];" % (origin, at, quoted(tensor.type)))
            for tensor in call.outputs:
                producers[tensor.id] = "c%d" % at
                source.setdefault(tensor.name, "c%d" % at)
        for name, kind in self.outputs:
            lines.append("  %s [shape=ellipse,label=%s];" % (quoted("out " + name), quoted("%s: %s" % (name, kind))))
            if name in source:
                lines.append("  %s -> %s;" % (source[name], quoted("out " + name)))
        return "\n".join([*lines, "}", ""])

    def _repr_html_(self):
        page = self._model.to_html(weights=False) if self._model is not None else ""
        if not 0 < len(page.encode()) <= MAX_PAGE_BYTES:
            return self._table()
        frame = "<iframe title='%s' sandbox='allow-scripts' style='width:100%%;height:%dpx;border:1px solid #8888' srcdoc='%s'></iframe>"
        return frame % (html.escape(self.name), HEIGHT, html.escape(page))

    def _table(self):
        cell = lambda text: "<td style='text-align:left'>%s</td>" % html.escape(text)  # noqa: E731
        rows = []
        for call in self._calls[:MAX_ROWS]:
            names = ", ".join(t.name or "_%d" % t.id for t in call.inputs)
            rows.append("<tr>%s%s%s</tr>" % (cell(call.operator), cell(names), cell(", ".join(map(str, call.outputs)))))
        if len(self) > MAX_ROWS:
            rows.append("<tr><td colspan=3>… and %d more calls</td></tr>" % (len(self) - MAX_ROWS))
        ports = lambda all_of: html.escape(", ".join("%s: %s" % port for port in all_of))  # noqa: E731
        head = "<b>%s</b> (%s) → (%s)" % (html.escape(self.name), ports(self.inputs), ports(self.outputs))
        table = "<table><tr><th>operator</th><th>operands</th><th>results</th></tr>%s</table>" % "".join(rows)
        return "<div>%s%s</div>" % (head, table if rows else "")
