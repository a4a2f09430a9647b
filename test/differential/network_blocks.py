# SPDX-License-Identifier: Apache-2.0
"""Blocks of convolutional networks: each maps a tensor (batch, channels, height, width) to another."""

from network_layers import MOST_CHANNELS, Layers, volume


class MapBlocks(Layers):
    """Blocks of random sizes; `left()` is the number of operators that may still be added to the network."""

    def left(self):
        return max(self.target - self.count, 1)

    def channels(self):
        return self.pick(1, 2, 3, 4, 4, 6, 8, 8, 12, 16)

    def kernel(self):
        return self.pick((1, 1), (3, 3), (3, 3), (1, 3), (3, 1), (5, 5), (2, 2))

    def conv_unit(self, x, channels=None, size=None, stride=(1, 1)):
        """A convolution with normalization and activation, in one of their orders."""
        channels, size = channels or self.channels(), size or self.kernel()
        order = self.pick("cna", "cna", "nac", "ca", "can")
        for step in order:
            if step == "c":
                x = self.conv(x, channels, size, stride, self.pick((1, 1), (1, 1), (1, 1), (2, 2)))
            else:
                x = self.batch_norm(x) if step == "n" else self.activation(x)
        return x

    def plain(self, x):
        stride = self.pick(1, 1, 1, 2)
        return self.conv_unit(x, stride=(stride, stride))

    def residual(self, x):
        for _ in range(self.repeats(9)):
            if self.chance(0.1) and x.shape[1] <= MOST_CHANNELS:
                label = self.label()
                x = self.call("%s: unit_block{channels=%d}(%%s)" % (label, x.shape[1]), [x], x.shape, weight=4)
                continue
            grows = self.chance(0.2) or x.shape[1] > MOST_CHANNELS
            channels = self.channels() if grows else x.shape[1]
            inner = max(channels // 2, 1) if self.chance(0.4) else channels
            y = self.conv_unit(x, inner, self.pick((1, 1), (3, 3)))
            y = self.batch_norm(self.conv(y, channels, (3, 3)))
            shortcut = self.conv(x, channels) if grows else x
            y = self.squeezed(y) if self.chance(0.2) else y
            x = self.activation(self.binary("add", y, shortcut))
            x = self.scaled(x, 0.5) if self.chance(0.3) else x
        return x

    def dense(self, x):
        """Each layer reads the results of all previous ones; the head that follows supports maps of any size."""
        features, growth, pairwise = [x], self.pick(1, 2, 4, 4), self.chance(0.2)
        for _ in range(self.repeats(4 if self.chance(0.8) else 6)):
            y = self.concat(features, 1) if len(features) > 1 else x
            y = self.activation(self.batch_norm(y)) if self.chance(0.7) else self.unary("nn.relu", self.batch_norm(y))
            if self.chance(0.15):
                y = self.activation(self.conv(y, 2 * growth))
            features = ([y] if pairwise and len(features) > 4 else features) + [self.conv(y, growth, self.pick((3, 3), (3, 3), (1, 1)))]
        y = self.concat(features, 1)
        return self.conv_unit(y, size=(1, 1)) if self.chance(0.5) else self.unary("nn.relu", self.batch_norm(y))

    def inception(self, x):
        branches = []
        for _ in range(self.random.randint(2, 5)):
            y = self.pool(x, 3, 1) if self.chance(0.25) else x
            for _ in range(self.random.randint(1, 3)):
                y = self.conv_unit(y, self.pick(1, 2, 3, 4, 6), self.pick((1, 1), (3, 3), (5, 5), (1, 3), (3, 1)))
            branches.append(y)
        if self.chance(0.2):
            branches.append(x)
        branches += [branches[0]] if self.chance(0.1) else []
        return self.concat(branches, 1)

    def squeezed(self, x):
        """Squeeze and excite: channels are weighted by the results of a small network on their means."""
        middle = max(x.shape[1] // self.pick(2, 4), 1)
        if self.chance(0.5):
            y = self.mean_over_maps(x, False)
            y = self.conv(self.unary("nn.relu", self.conv(y, middle)), x.shape[1])
        else:
            y = self.mean_over_maps(x, True)
            y = self.linear(self.unary("nn.relu", self.linear(y, middle)), x.shape[1])
            y = self.call("layout.unsqueeze{axes=[2,3]}(%s)", [y], y.shape + [1, 1])
        return self.binary("mul", x, self.unary("nn.sigmoid", y))

    def spatial_attention(self, x):
        shape = [x.shape[0], 1, *x.shape[2:]]
        means = [self.call("math.%s_reduce{axes=[1]}(%%s)" % name, [x], shape) for name in ("mean", "max")]
        y = self.unary("nn.sigmoid", self.conv(self.concat(means, 1), 1, (3, 3)))
        return self.binary("mul", x, y)

    def encoder_decoder(self, x):
        """Downsampling and upsampling; each level is joined with the one of the same size."""
        levels = []
        for _ in range(self.random.randint(1, 4)):
            x = self.conv_unit(x)
            levels.append(x)
            x = self.down(x)
        x = self.conv_unit(x)
        for level in reversed(levels):
            x = self.up(x, level)
            if self.chance(0.5):
                x = self.concat([x, level], 1)
            else:
                x = self.binary("add", x if x.shape[1] == level.shape[1] else self.conv(x, level.shape[1]), level)
            x = self.conv_unit(x)
        return x

    def down(self, x):
        halves = all(extent % 2 == 0 for extent in x.shape[2:])
        way = self.pick("pool", "stride", "area", "depth")
        if way == "area" and halves:
            return self.call("image.area_downsample{axes=[2,3], factor=[2,2]}(%s)", [x], x.shape[:2] + [e // 2 for e in x.shape[2:]])
        if way == "depth" and halves and x.shape[1] <= 8:
            return self.call("layout.space_to_depth{block_size=[2,2]}(%s)", [x], [x.shape[0], 4 * x.shape[1]] + [e // 2 for e in x.shape[2:]])
        return self.conv(x, self.channels(), (3, 3), (2, 2)) if way == "stride" else self.pool(x, self.pick(2, 3), 2)

    def up(self, x, level):
        """Upsamples to the height and width of `level`."""
        if x.shape[2:] == level.shape[2:]:
            return x
        shape = x.shape[:2] + [2 * extent for extent in x.shape[2:]]
        way = self.pick("nearest", "linear", "deconv", "depth", "resize")
        if way == "resize":
            text = "image.linear_resize{axes=[2,3], size=%s}(%%s)" % level.shape[2:]
            return self.call(text, [x], x.shape[:2] + level.shape[2:])
        if way == "deconv":
            y = self.deconv(x, self.channels(), 2)
        elif way == "depth" and x.shape[1] % 4 == 0:
            y = self.call("layout.depth_to_space{block_size=[2,2]}(%s)", [x], [x.shape[0], x.shape[1] // 4] + shape[2:])
        else:
            y = self.call("image.%s_upsample{axes=[2,3], factor=[2,2]}(%%s)" % self.pick("nearest", "linear"), [x], shape)
        for axis in (2, 3):
            if y.shape[axis] > level.shape[axis]:
                y = self.slice(y, axis, 0, level.shape[axis])
        return y

    def separable(self, x):
        """An inverted residual of a depthwise convolution, or a shuffled group convolution."""
        if x.shape[1] % 2 == 0 and self.chance(0.4):
            kept, y = self.split(x, 1, [x.shape[1] // 2] * 2)
            y = self.activation(self.conv(y, y.shape[1], (3, 3), groups=self.pick(0, 1)))
            return self.call("layout.shuffle{axis=1, groups=2}(%s)", [self.concat([kept, y], 1)], x.shape)
        wide = self.conv_unit(x, min(2 * x.shape[1], MOST_CHANNELS), (1, 1))
        y = self.batch_norm(self.conv(wide, wide.shape[1], (3, 3), groups=self.pick(0, wide.shape[1])))
        y = self.batch_norm(self.conv(self.activation(y), x.shape[1]))
        return self.binary("add", y, x)

    def pyramid(self, x):
        """Pools of several sizes beside each other."""
        levels = [x]
        for _ in range(self.random.randint(1, 3)):
            y = self.pool(x, self.pick(2, 3, 5), 1) if self.chance(0.5) else self.mean_over_maps(x, False)
            y = self.conv_unit(y, self.pick(1, 2, 4), (1, 1))
            if y.shape[2:] != x.shape[2:]:
                y = self.call("layout.broadcast{axes=[2,3], shape=%s}(%%s)" % x.shape[2:], [y], y.shape[:2] + x.shape[2:])
            levels.append(y)
        return self.concat(levels, 1)

    def fan(self, x):
        """Many small branches on one tensor or on its slices, which are joined, sometimes twice."""
        axis = 1 if len(x.shape) == 4 else len(x.shape) - 1
        count = min(self.pick(4, 8, 16, 33, 34, 40, 64), max(self.left(), 2))
        sources = [x] * count
        if self.chance(0.4) and 1 < x.shape[axis] <= count:
            sources = self.split(x, axis, [1] * x.shape[axis])
        layers = [self.activation, self.batch_norm, lambda v: self.scaled(v, self.pick(0.5, 0.25)), self.slope]
        branches = [self.random.choice(layers if len(x.shape) == 4 else layers[::2])(v) for v in sources]
        if x.shape[axis] > 2 and sources[0] is x:
            begin = self.random.randrange(x.shape[axis])
            branches = [self.slice(v, axis, begin, begin + 1) if self.chance(0.7) else v for v in branches]
        y = self.concat(branches, axis)
        if self.chance(0.4):
            z = self.concat(branches[::-1], axis)
            y = self.binary(self.pick("add", "mul"), self.activation(y), self.activation(z))
        y = self.batch_norm(y) if len(x.shape) == 4 else self.activation(y)
        return y

    def slope(self, x):
        return self.call("nn.prelu(%s, %s)", [x, self.variable(x.shape[1])], x.shape)

    def response(self, x):
        return self.call("nn.local_response_norm{size=[%d], alpha=0.1}(%%s)" % self.pick(1, 2, 3, 5), [x], x.shape)

    def branch(self, x):
        """One of two layers, selected by data."""
        if not hasattr(self, "flag"):
            self.flag = self.input([], "bool")
        text = "if %s then { r = nn.relu(%s); s = math.mul(r, 0.75); yield s; } else math.tanh(%s)"
        return self.call(text, [self.flag, x, x], x.shape, weight=3)

    def repeats(self, operators):
        """The number of repetitions of a unit of operators: few, or as many as fit."""
        fitting = max(self.left() // operators, 1)
        return min(fitting, self.pick(1, 2, 3, 4, 8, 16, 36, 64, 10**6))

    def narrow(self, x):
        """Few channels and small extents, so that a long network is small."""
        if x.shape[1] > MOST_CHANNELS:
            x = self.conv(x, self.channels())
        while volume(x.shape[2:]) > 64:
            x = self.pool(x, 2, 2)
        return x


MAP_BLOCKS = {
    "plain": MapBlocks.plain, "residual": MapBlocks.residual, "dense": MapBlocks.dense, "inception": MapBlocks.inception,
    "squeeze": MapBlocks.squeezed, "spatial": MapBlocks.spatial_attention, "encoder": MapBlocks.encoder_decoder,
    "separable": MapBlocks.separable, "pyramid": MapBlocks.pyramid, "response": MapBlocks.response, "fan": MapBlocks.fan, "branch": MapBlocks.branch,
}
