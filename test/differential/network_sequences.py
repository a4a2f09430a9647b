# SPDX-License-Identifier: Apache-2.0
"""Blocks on sequences (batch, steps, features) and on rows of features (batch, features)."""

from network_blocks import MapBlocks
from network_layers import listed


class SequenceBlocks(MapBlocks):
    # Sequences -----------------------------------------------------------------------------------------------------

    def attention(self, x):
        """Attention with several heads, to the sequence itself or to an earlier one, with a residual and a normalization."""
        steps, features = x.shape[1:]
        heads = self.pick(*[h for h in (1, 2, 3, 4) if features % h == 0])
        earlier = [v for v in self.history if len(v.shape) == 3 and v.shape[0] == x.shape[0]]
        memory = self.random.choice(earlier) if earlier and self.chance(0.3) else x
        if memory is x and self.chance(0.5):
            wide = self.linear(x, 3 * features)
            query, key, value = self.split(wide, 2, [features] * 3)
        else:
            query, key, value = (self.linear(v, features) for v in (x, memory, memory))
        query, key, value = (self.heads(v, heads) for v in (query, key, value))
        scores = self.call("linalg.matmul{transB=true}(%s, %s)", [query, key], [x.shape[0], heads, steps, key.shape[2]])
        scores = self.scaled(scores, "%.3f" % (features // heads) ** -0.5)
        if self.chance(0.3):
            scores = self.binary("add", scores, self.variable(steps, key.shape[2]))
        weights = self.call("nn.softmax{axes=[%s]}(%%s)" % self.pick(3, -1), [scores], scores.shape)
        y = self.call("linalg.matmul(%s, %s)", [weights, value], [x.shape[0], heads, steps, features // heads])
        y = self.reshape(self.transpose(y, (0, 2, 1, 3)), 2, 2, [features])
        y = self.binary("add", self.linear(y, features), x)
        return self.normalized(y)

    def heads(self, x, heads):
        split = self.reshape(x, 2, 1, [heads, x.shape[2] // heads])
        return self.transpose(split, (0, 2, 1, 3))

    def transformer(self, x):
        for _ in range(self.repeats(28)):
            x = self.feed_forward(self.attention(x))
        return x

    def feed_forward(self, x):
        wide = self.activation(self.linear(x, self.pick(1, 2, 4) * x.shape[2]))
        return self.normalized(self.binary("add", self.linear(wide, x.shape[2]), x))

    def state(self, x, features):
        """The initial state of a recurrence: a variable that runs may update, or a value computed from the first step."""
        if isinstance(self.batch, int) and self.chance(0.5):
            return self.variable(self.batch, features)
        return self.unary("math.tanh", self.linear(x, features))

    def unrolled(self, x):
        """A recurrence with one statement for each step."""
        steps = self.unstack(x, 1) if self.chance(0.6) else [self.squeeze(self.slice(x, 1, t, t + 1), [1]) for t in range(x.shape[1])]
        features, cell = self.pick(1, 2, 3, 4, 6), self.pick("gru", "rnn", "lstm")
        start = state = self.state(steps[0], features)
        memory, weights, shown = state, self.weights(cell, x.shape[2], features), []
        for step in steps:
            if cell == "lstm":
                operands = [state, memory, step, *weights]
                state, memory = self.calls("nn.lstm_step(%s)" % listed(operands), operands, [state.shape, memory.shape])
            else:
                state = self.own(cell + "_cell", "", [step, state, *weights], state.shape, weight=3)
            shown.append(state)
        self.remember(start, state)
        return self.stack(shown, 1)

    def weights(self, cell, features, state):
        gates = {"gru": 3, "rnn": 1, "lstm": 4}[cell] * state
        return [self.variable(gates, features), self.variable(gates, state), self.variable(gates)]

    def looped(self, x):
        """A recurrence as a loop over steps."""
        steps, features = self.unstack(x, 1), self.pick(1, 2, 4, 6)
        cell, start = self.pick("gru", "rnn"), self.state(steps[0], features)
        operands = [start, *steps, *self.weights(cell, x.shape[2], features)]
        text = "with h = %%s for e : [%s] do { n = %s_cell(e, h, %%s, %%s, %%s); yield n, n; }" % (listed(steps), cell)
        pack = [len(steps), *start.shape]
        last, shown = self.calls(text, operands, [start.shape, pack], ["real", "pack"], weight=4)
        self.remember(start, last)
        return self.call("layout.stack{axis=1}(%s)", [shown], [x.shape[0], len(steps), features])

    def remember(self, start, last):
        """Updates the initial state with the last one, if it is a variable."""
        if start in self.network.variables and self.chance(0.6):
            self.network.updates.append((start, last))

    def lstm(self, x):
        """The loop of the library; its last state is joined to each step of the sequence."""
        weights = self.weights("lstm", x.shape[2], self.pick(1, 2, 4))
        features = weights[1].shape[1]
        order = self.transpose(self.reversed(x, 1) if self.chance(0.3) else x, (1, 0, 2))
        operands, row = [order, *weights], [x.shape[0], features]
        _, last, memory = self.calls("nn.lstm(%s)" % listed(operands), operands, [row] * 3, ["dropped", "real", "real"], weight=6)
        state = self.unsqueeze(self.pick(last, memory), 1)
        wide = self.call("layout.tile{axes=[1], repeats=[%d]}(%%s)" % x.shape[1], [state], [x.shape[0], x.shape[1], features])
        return self.concat([x, wide], 2)

    def scanned(self, x):
        sums = "math.cumsum{axis=1%s}(%%s)" % self.pick("", ", reverse=true")
        y = self.own("decayed", "", [x], x.shape) if self.chance(0.5) else self.call(sums, [x], x.shape)
        return self.scaled(y, 0.5)

    def temporal_conv(self, x):
        y = self.transpose(x, (0, 2, 1))
        channels, size = self.pick(1, 2, 4, 8), self.pick(1, 2, 3)
        text = "nn.conv{padding=[%d,%d]}(%%s, %%s)" % (size - 1, 0)
        y = self.call(text, [y, self.variable(channels, y.shape[1], size)], [x.shape[0], channels, x.shape[1]])
        return self.transpose(self.activation(y), (0, 2, 1))

    def time_shift(self, x):
        y = self.own("shifted", "{by=%d}" % self.pick(-1, 1, 2), [x], x.shape)
        return self.own("mixed", "", [x, y, self.unary("nn.sigmoid", self.linear(x, x.shape[2]))], x.shape)

    def both_ways(self, x):
        """A sequence and its reverse."""
        forth = self.scanned(x)
        back = self.reversed(self.scanned(self.reversed(x, 1)), 1)
        return self.linear(self.concat([forth, back], 2), self.pick(2, 4, 6, 8))

    # Rows ----------------------------------------------------------------------------------------------------------

    def perceptron(self, x):
        for _ in range(self.repeats(2)):
            x = self.activation(self.linear(x, self.pick(1, 2, 4, 8, 16)))
        return x

    def highway(self, x):
        for _ in range(self.repeats(5)):
            gate = self.unary("nn.sigmoid", self.linear(x, x.shape[1]))
            x = self.own("mixed", "", [self.activation(self.linear(x, x.shape[1])), x, gate], x.shape)
        return x

    def gated_rows(self, x):
        features = self.pick(1, 2, 4, 8)
        value, gate = self.split(self.linear(x, 2 * features), 1, [features] * 2)
        return self.own("gated", "", [value, gate], value.shape)

    def experts(self, x):
        """A mean of small networks, weighted by the results of another one on the same row."""
        count, features = self.random.randint(1, 6), self.pick(1, 2, 4, 8)
        gate = self.unary("nn.softmax", self.linear(x, count))
        gates = self.split(gate, 1, [1] * count) if count > 1 else [gate]
        parts = [self.binary("mul", self.activation(self.linear(x, features)), g) for g in gates]
        return self.call("math.sum_n([%s])" % listed(parts), parts, parts[0].shape)

    def crossed(self, x):
        """Products of features with the results of a layer on them."""
        for _ in range(self.repeats(4)):
            x = self.unary("math.tanh", self.binary("add", self.binary("mul", x, self.linear(x, x.shape[1])), x))
        return x


SEQUENCE_BLOCKS = {
    "attention": SequenceBlocks.attention, "transformer": SequenceBlocks.transformer, "forward": SequenceBlocks.feed_forward,
    "unrolled": SequenceBlocks.unrolled, "looped": SequenceBlocks.looped, "lstm": SequenceBlocks.lstm, "scanned": SequenceBlocks.scanned,
    "temporal": SequenceBlocks.temporal_conv, "shift": SequenceBlocks.time_shift, "both": SequenceBlocks.both_ways,
    "fan": SequenceBlocks.fan,
}
ROW_BLOCKS = {
    "perceptron": SequenceBlocks.perceptron, "highway": SequenceBlocks.highway, "gated": SequenceBlocks.gated_rows,
    "experts": SequenceBlocks.experts, "crossed": SequenceBlocks.crossed,
    "fan": SequenceBlocks.fan,
}
