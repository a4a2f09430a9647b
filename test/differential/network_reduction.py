# SPDX-License-Identifier: Apache-2.0
"""Shrinks a failing network to one output, then to few statements, while it still fails."""

from network_model import Network, Statement, Value


def reduce(network, fails, attempts=400):
    """The smallest network found for which `fails(network)` is true; `attempts` limits the number of calls."""
    left = [attempts]

    def better(candidate):
        left[0] -= 1
        return left[0] >= 0 and fails(candidate)

    network = fewer_outputs(network, better)
    before = None
    while before != network.write() and left[0] > 0:
        before = network.write()
        network = cut(network, better)
        network = bypass(network, better)
    return network


def with_parts(network, outputs=None, updates=None):
    copy = Network()
    copy.inputs, copy.variables, copy.statements = network.inputs, network.variables, network.statements
    copy.outputs = network.outputs if outputs is None else outputs
    copy.updates = network.updates if updates is None else updates
    return copy.live()


def fewer_outputs(network, better):
    """Keeps one output if one suffices, otherwise removes unnecessary ones."""
    candidates = [with_parts(network, updates=[])] if network.updates else []
    candidates += [with_parts(network, [output], []) for output in network.outputs]
    network = next(filter(better, candidates), network)
    for output in list(network.outputs):
        candidate = with_parts(network, [other for other in network.outputs if other is not output])
        if len(network.outputs) > 1 and better(candidate):
            network = candidate
    return network


def replaced(network, values, dropped=(), inputs=()):
    """A copy with some values replaced, by name, and without some statements."""
    copy = Network()
    of = lambda value: values.get(value.name, value)
    copy.inputs, copy.variables = network.inputs + list(inputs), network.variables
    copy.statements = [Statement(s.results, s.text, [of(value) for value in s.operands], s.packed)
                       for s in network.statements if s not in dropped]
    copy.outputs = [(name, of(value)) for name, value in network.outputs]
    copy.updates = [(variable, of(value)) for variable, value in network.updates]
    return copy.live()


def cut(network, better):
    """Replaces results by inputs: first those of many statements at once, then of single ones."""
    size = max(len(network.statements) // 2, 1)
    while True:
        at = 0
        while at < len(network.statements):
            chunk = network.statements[at : at + size]
            results = [value for statement in chunk for value in statement.results if value.kind != "dropped"]
            if any(value.kind == "pack" for value in results):
                at += size
                continue
            known = {value.name for value in network.inputs}
            fresh = [Value("c_" + v.name, v.shape, v.kind) for v in results if "c_" + v.name not in known]
            candidate = replaced(network, dict(zip((v.name for v in results), fresh)), chunk, fresh)
            if better(candidate):
                network = candidate
            else:
                at += size
        if size == 1:
            return network
        size = (size + 1) // 2


def bypass(network, better):
    """Replaces results of statements by an operand of the same shape, from the last statement on."""
    for statement in reversed(network.statements):
        if len(statement.results) != 1 or statement not in network.statements:
            continue
        result = statement.results[0]
        for operand in statement.operands:
            if operand.signature() == result.signature():
                candidate = replaced(network, {result.name: operand}, [statement])
                if better(candidate):
                    network = candidate
                    break
    return network
