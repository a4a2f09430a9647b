# SPDX-License-Identifier: Apache-2.0
"""The operators of the standard library as a mapping."""
import collections.abc
import difflib

from . import _skript


class Operators(collections.abc.Mapping):
    """The operators of the standard library by name: `operators["nn.conv"].signature`.

    `operators.find("pool")` lists the operators with `pool` in their names.
    """

    def __init__(self):
        self._known = None

    def _all(self):
        if self._known is None:
            self._known = {operator.name: operator for operator in _skript.operators()}
        return self._known

    def __getitem__(self, name):
        try:
            return self._all()[name]
        except KeyError:
            near = difflib.get_close_matches(str(name), self._all(), 1)
            hint = "; did you mean %r?" % near[0] if near else ""
            raise KeyError("the library has no operator %r%s" % (name, hint)) from None

    def __iter__(self):
        return iter(self._all())

    def __len__(self):
        return len(self._all())

    def find(self, part):
        """The operators with `part` in their name."""
        return [operator for name, operator in self._all().items() if part in name]

    def __repr__(self):
        return "<%d operators of the library>" % len(self)
