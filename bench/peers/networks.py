# SPDX-License-Identifier: Apache-2.0
"""Complete networks: AlexNet, ResNet-50, DenseNet-121, MobileNet-v2, a BERT-like encoder, a perceptron."""
from operators import (
    add, batch_norm, concat, conv, dense, flatten, gelu, global_pool, layer_norm, linear, merge_last, pool, product, product_with_transposed,
    relu, relu6, scale, softmax, split_last, transpose,
)


def alexnet(net):
    """As in examples/alexnet: images of 224 × 224; the first fully connected layer is a convolution whose window covers its input."""
    x = net.input([1, 3, 224, 224])
    for channels, size, stride, padding, pooled in ((64, 11, 4, 0, True), (192, 5, 1, 2, True), (384, 3, 1, 1, False),
                                                    (384, 3, 1, 1, False), (256, 3, 1, 1, True), (4096, 5, 1, 0, False)):
        x = relu(net, conv(net, x, channels, size, stride, padding))
        if pooled:
            x = pool(net, x, "max", 3, 2, 0)
    x = relu(net, linear(net, flatten(net, x), 4096))
    net.output(softmax(net, linear(net, x, 1000)))


def resnet50(net):
    def normalized(x, *geometry):
        return batch_norm(net, conv(net, x, *geometry, bias=False))

    x = relu(net, normalized(net.input([1, 3, 224, 224]), 64, 7, 2))
    x = pool(net, x, "max", 3, 2, 1)
    for width, blocks, first in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for stride in [first] + [1] * (blocks - 1):
            y = relu(net, normalized(x, width, 1))
            y = relu(net, normalized(y, width, 3, stride))
            y = normalized(y, 4 * width, 1)
            shortcut = x if x.shape == y.shape else normalized(x, 4 * width, 1, stride)
            x = relu(net, add(net, y, shortcut))
    net.output(softmax(net, linear(net, global_pool(net, x), 1000)))


def densenet121(net):
    """Each layer of a block reads the results of all layers before it."""
    def activated(x):
        return relu(net, batch_norm(net, x))

    x = relu(net, batch_norm(net, conv(net, net.input([1, 3, 224, 224]), 64, 7, 2, bias=False)))
    x = pool(net, x, "max", 3, 2, 1)
    for layers in (6, 12, 24, 16):
        if layers > 6:
            x = conv(net, activated(x), x.shape[1] // 2, 1, bias=False)
            x = pool(net, x, "avg", 2, 2, 0)
        for _ in range(layers):
            y = conv(net, activated(x), 128, 1, bias=False)
            y = conv(net, activated(y), 32, 3, bias=False)
            x = concat(net, [x, y], 1)
    net.output(softmax(net, linear(net, global_pool(net, activated(x)), 1000)))


def mobilenet_v2(net):
    def normalized(x, *geometry, groups=1):
        return batch_norm(net, conv(net, x, *geometry, groups=groups, bias=False))

    x = relu6(net, normalized(net.input([1, 3, 224, 224]), 32, 3, 2))
    for factor, width, blocks, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for stride in [first] + [1] * (blocks - 1):
            y = x if factor == 1 else relu6(net, normalized(x, factor * x.shape[1], 1))
            y = relu6(net, normalized(y, y.shape[1], 3, stride, groups=y.shape[1]))
            y = normalized(y, width, 1)
            x = add(net, y, x) if y.shape == x.shape else y
    x = relu6(net, normalized(x, 1280, 1))
    net.output(softmax(net, linear(net, global_pool(net, x), 1000)))


def encoder_layer(net, x, heads):
    """Attention of each step to all steps, then a feed-forward part, both with normalized residual sums."""
    width = x.shape[-1]

    def head(value):
        return transpose(net, split_last(net, value, [heads, width // heads]), [0, 2, 1, 3])

    query, key, value = (head(dense(net, x, width, width**-0.5)) for _ in range(3))
    mixed = attention(net, query, key, value)
    mixed = dense(net, merge_last(net, transpose(net, mixed, [0, 2, 1, 3])), width)
    x = layer_norm(net, add(net, mixed, x))
    return layer_norm(net, add(net, feed_forward(net, x, 4 * width), x))


def attention(net, query, key, value):
    scores = scale(net, product_with_transposed(net, query, key), query.shape[-1] ** -0.5)
    return product(net, softmax(net, scores), value)


def feed_forward(net, x, width):
    return dense(net, gelu(net, dense(net, x, width)), x.shape[-1])


def bert(net, layers=12, steps=128, width=768, heads=12, dynamic=None):
    x = net.input([1, steps, width], dynamic)
    for _ in range(layers):
        x = encoder_layer(net, x, heads)
    net.output(x, dynamic)


def perceptron(net, batch=1, dynamic=None):
    x = net.input([batch, 784], dynamic)
    for channels in (2048, 2048):
        x = relu(net, linear(net, x, channels))
    net.output(linear(net, x, 10), dynamic)
