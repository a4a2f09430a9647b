# SPDX-License-Identifier: Apache-2.0
"""Networks of random blocks, which are determined by their seeds."""

import math

from network_blocks import MAP_BLOCKS
from network_layers import MOST_CHANNELS, volume
from network_model import LARGEST_INT
from network_sequences import ROW_BLOCKS, SEQUENCE_BLOCKS, SequenceBlocks

# By rank of the tensor that a block maps to another of the same rank.
BLOCKS = {4: MAP_BLOCKS, 3: SEQUENCE_BLOCKS, 2: ROW_BLOCKS}
KINDS = sorted({name for blocks in BLOCKS.values() for name in blocks})


class Generator(SequenceBlocks):
    """One network of about `target` operators from blocks of these `kinds`, or of all kinds if it is empty."""

    def __init__(self, seed, least, most, kinds=()):
        super().__init__(seed)
        self.target = round(math.exp(self.random.uniform(math.log(least), math.log(most))))
        self.kinds = kinds or self.drawn_kinds()
        self.history, self.taps, self.concluded = [], [], []
        trunk = self.begin()
        since = 0
        while self.count < self.target:
            trunk = self.block(trunk)
            since += 1
            if since > 2 or self.chance(0.2):
                trunk, since = self.normalized(trunk), 0
            trunk = self.joined(trunk)
            self.history.append(trunk)
            if self.count < self.target and self.chance(0.12):
                trunk = self.moved(trunk)
        self.conclude(trunk)

    def drawn_kinds(self):
        """A few kinds of blocks, or all of them: long networks of one kind are as frequent as mixed ones."""
        if self.chance(0.4):
            return [self.random.choice(KINDS) for _ in range(self.random.randint(1, 3))]
        return KINDS

    def begin(self):
        ranks = [rank for rank, blocks in BLOCKS.items() for _ in range({4: 4, 3: 2, 2: 1}[rank]) if set(blocks) & set(self.kinds)]
        rank = self.random.choice(ranks)
        if rank == 4:
            side = self.pick(1, 1, 1, 1, 1, 2, 3, 4, 5, 7, 8)
            other = side if self.chance(0.7) else self.pick(1, 2, 5, 8)
            return self.input([self.batch, self.pick(1, 2, 3, 4, 8, 16), side, other])
        if rank == 2:
            return self.input([self.batch, self.pick(1, 2, 4, 6, 12)])
        steps, features = self.random.randint(1, 6), self.pick(2, 3, 4, 6, 8)
        if self.chance(0.7):
            return self.input([self.batch, steps, features])
        words = self.input([self.batch, steps], "int")
        table = self.variable(LARGEST_INT + 1, features)
        rows = self.call("layout.gather{axis=0}(%s, %s)", [table, words], [self.batch, steps, features])
        return self.binary("add", rows, self.variable(steps, features))

    def block(self, trunk):
        blocks = BLOCKS[len(trunk.shape)]
        names = [name for name in self.kinds if name in blocks]
        if not names:
            return self.moved(trunk)
        if len(trunk.shape) == 4:
            trunk = self.narrow(trunk)
        elif trunk.shape[-1] > MOST_CHANNELS:
            trunk = self.linear(trunk, self.pick(2, 4, 8))
        return blocks[self.random.choice(names)](self, trunk)

    def joined(self, trunk):
        """Adds an earlier tensor of the same shape, or one that differs in its channels."""
        if not self.chance(0.25):
            return trunk
        axis = 1 if len(trunk.shape) == 4 else len(trunk.shape) - 1
        without = lambda shape: shape[:axis] + shape[axis + 1 :]
        earlier = [v for v in self.history if len(v.shape) == len(trunk.shape) and without(v.shape) == without(trunk.shape)]
        if not earlier:
            return trunk
        other = self.random.choice(earlier)
        if other.shape == trunk.shape and self.chance(0.7):
            return self.binary(self.pick("add", "add", "sub", "max", "min"), trunk, other)
        return self.concat([trunk, other] if self.chance(0.5) else [other, trunk], axis)

    # From one rank to another --------------------------------------------------------------------------------------

    def moved(self, trunk):
        """The tensor converted to another rank for which the kinds include blocks."""
        ranks = [rank for rank, blocks in BLOCKS.items() if set(blocks) & set(self.kinds)]
        others = [rank for rank in ranks if rank != len(trunk.shape)]
        if not others:
            return trunk
        target = self.random.choice(others)
        if len(trunk.shape) == 4:
            trunk = self.narrow(trunk)
        ways = {(4, 3): self.map_to_sequence, (4, 2): self.map_to_row, (3, 4): self.sequence_to_map,
                (3, 2): self.sequence_to_row, (2, 4): self.row_to_map, (2, 3): self.row_to_sequence}
        return ways[len(trunk.shape), target](trunk)

    def map_to_sequence(self, x):
        while volume(x.shape[2:]) > 6:
            x = self.pool(x, 2, 2)
        rows = self.reshape(x, 2, 2, [volume(x.shape[2:])])
        return self.linear(self.transpose(rows, (0, 2, 1)), self.pick(2, 4, 6, 8))

    def map_to_row(self, x):
        if self.chance(0.5):
            return self.mean_over_maps(x, True)
        if self.chance(0.3) and x.shape[2:] == [1, 1]:
            return self.squeeze(x, [2, 3])
        return self.linear(self.flatten(x, 1), self.channels())

    def sequence_to_map(self, x):
        steps = x.shape[1]
        height = self.pick(*[h for h in range(1, steps + 1) if steps % h == 0])
        return self.reshape(self.transpose(x, (0, 2, 1)), 2, 1, [height, steps // height])

    def sequence_to_row(self, x):
        way = self.pick("last", "mean", "flat")
        if way == "last":
            return self.squeeze(self.slice(x, 1, x.shape[1] - 1, x.shape[1]), [1])
        if way == "mean":
            return self.call("math.mean_reduce{axes=[1], squeeze=true}(%s)", [x], [x.shape[0], x.shape[2]])
        return self.linear(self.flatten(x, 1), self.pick(1, 2, 4, 8))

    def row_to_map(self, x):
        if self.chance(0.4):
            return self.unsqueeze(self.unsqueeze(x, 2), 3)
        shape = [self.pick(1, 2, 4), self.pick(1, 2, 3), self.pick(1, 2, 4)]
        return self.reshape(self.linear(x, volume(shape)), 1, 1, shape)

    def row_to_sequence(self, x):
        shape = [self.random.randint(1, 6), self.pick(2, 4, 6)]
        return self.reshape(self.linear(x, volume(shape)), 1, 1, shape)

    # Outputs -------------------------------------------------------------------------------------------------------

    def conclude(self, trunk):
        """Adds outputs: common and rare ends of networks."""
        self.results = [self.head(trunk)]
        ways = [self.reshaped, self.cut, self.several, self.again, self.tapped, self.passed, self.whole, self.counted]
        for way in self.random.sample(ways, self.random.randint(0, 4)):
            way(trunk)
        for number, value in enumerate(self.results):
            name = "y%d" % number
            # The result of a statement may have the name of the output.
            own = value.name.startswith("t") and all(value is not other for _, other in self.network.outputs) and self.chance(0.7)
            if own:
                value.name = name
            self.network.outputs.append((name, value))

    def head(self, trunk):
        if len(trunk.shape) == 4 and self.chance(0.75):
            y = self.mean_over_maps(trunk, False)
            y = self.reshape(y, 1, 3, [trunk.shape[1]]) if self.chance(0.5) else self.flatten(y, 1)
            if self.chance(0.5):
                return y
            return self.unary("nn.softmax", self.linear(y, self.pick(2, 5, 10)))
        return trunk

    def reshaped(self, trunk):
        self.results.append(self.flatten(trunk, self.pick(*range(1, len(trunk.shape)))))
        if isinstance(trunk.shape[0], int) and self.chance(0.5):
            self.results.append(self.flatten(trunk, 0))
        if self.chance(0.3):
            self.results.append(self.unsqueeze(self.results[0], self.pick(0, 1)))

    def cut(self, trunk):
        axis = self.random.randrange(1, len(trunk.shape))
        extent = trunk.shape[axis]
        begin = self.random.randrange(extent)
        self.results.append(self.slice(trunk, axis, begin, self.random.randint(begin + 1, extent), self.pick(1, 1, 2)))
        if self.chance(0.3):
            self.results += self.split(trunk, axis, [1] * extent if extent < 4 else [1, extent - 1])
        if self.chance(0.3):
            self.results.append(self.reversed(trunk, axis))

    def several(self, trunk):
        """A concatenation of parts that may also be outputs."""
        y = self.activation(trunk)
        self.results.append(self.concat([trunk, y, trunk] if self.chance(0.3) else [trunk, y], 1))
        self.results += [y] if self.chance(0.4) else []

    def again(self, trunk):
        """Several names of one value."""
        self.results += [self.pick(trunk, self.results[0])] * self.random.randint(1, 2)
        if self.chance(0.4):
            self.results.append(self.unary("math.iden", self.results[0]))

    def tapped(self, trunk):
        """Tensors that later statements also read."""
        values = [v for s in self.network.statements for v in s.results if v.kind == "real"]
        self.results += [self.random.choice(values) for _ in range(self.random.randint(1, 4))]

    def passed(self, trunk):
        """An input or a variable, unchanged or reshaped."""
        given = self.random.choice(self.network.inputs + self.network.variables)
        self.results.append(given)
        if len(given.shape) > 1 and self.chance(0.5):
            self.results.append(self.flatten(given, 1))

    def whole(self, trunk):
        """The mean of all elements, a scalar, or of rows."""
        axes = self.pick("", "{axes=[0]}", "{axes=[-1], squeeze=true}")
        shape = {"": [1] * len(trunk.shape), "{axes=[0]}": [1] + trunk.shape[1:]}.get(axes, trunk.shape[:-1])
        self.results.append(self.call("math.mean_reduce%s(%%s)" % axes, [trunk], shape))

    def counted(self, trunk):
        """Ints and bools, computed from inputs only, so that they do not depend on rounding."""
        x = self.network.inputs[0]
        if x.kind != "real":
            self.results.append(self.call("math.eq(%s, 3)", [x], x.shape, "bool"))
            return
        self.results.append(self.call("math.argmax{axis=%d}(%%s)" % (len(x.shape) - 1), [x], x.shape[:-1] + [1], "int"))
        flags = self.call("math.gt(%s, 0.25)", [x], x.shape, "bool")
        self.results.append(flags)
        self.results.append(self.call("layout.cast<real>(%s)", [flags], x.shape))


def generate(seed, least, most, kinds=()):
    """The network of a seed: a list of tensors and statements, without those that no output depends on."""
    return Generator(seed, least, most, kinds).network.live()
