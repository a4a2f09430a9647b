#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gradients of ONNX networks that torch exported, by all of their weights and inputs, against those of torch: at most 1e-3 of the largest
element. Tangents are compared by their products with random directions. The networks have the layers of their names, and few channels.
Without torch, nothing is compared.

    networks.py [--only PART]
"""
import argparse
import io
import logging
import pathlib
import re
import sys
import time
import warnings

try:
    import torch
    import torchvision
except ImportError:
    sys.exit(print("gradients of networks: skipped, because torch and torchvision are missing (test/import/networks-setup.sh)"))

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "import"))
import package  # noqa: E402,F401  places the packages
from torch_networks import recurrent, unet  # noqa: E402
import numpy as np  # noqa: E402
import skript  # noqa: E402

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
nn = torch.nn


def image(size, channels=3):
    return torch.rand(2, channels, size, size) * 2 - 1


def resnet():
    """ResNet-18 with four channels in place of 64."""
    block = torchvision.models.resnet.BasicBlock
    module = torchvision.models.ResNet(block, [1, 1, 1, 1], num_classes=5)
    scaled = nn.Sequential(*[narrow(part, 16) for part in list(module.children())[:-1]])
    return nn.Sequential(scaled, nn.Flatten(), nn.Linear(32, 5)), (image(32),)


def narrow(module, factor):
    """The module with fewer channels."""
    for name, part in module.named_children():
        setattr(module, name, narrow(part, factor))
    less = lambda count: max(1, count // factor) if count > 3 else count  # noqa: E731
    if isinstance(module, nn.Conv2d):
        return nn.Conv2d(less(module.in_channels), less(module.out_channels), module.kernel_size, module.stride, module.padding,
                         groups=less(module.groups) if module.groups > 1 else 1, bias=module.bias is not None)
    if isinstance(module, nn.BatchNorm2d):
        return nn.BatchNorm2d(less(module.num_features))
    return module


def mobilenet():
    """The inverted residuals of MobileNet-v2."""
    settings = [[1, 8, 1, 1], [6, 8, 2, 2]]
    return torchvision.models.MobileNetV2(num_classes=5, width_mult=1.0, inverted_residual_setting=settings, round_nearest=4,
                                          dropout=0.0), (image(16),)


def vit():
    return torchvision.models.VisionTransformer(image_size=16, patch_size=8, num_layers=2, num_heads=2, hidden_dim=8, mlp_dim=16,
                                                num_classes=5), (image(16),)


def transformer():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), (torch.rand(2, 5, 8),)


NETWORKS = {
    "ResNet": resnet, "MobileNet": mobilenet, "ViT": vit, "transformer": transformer,
    "LSTM": lambda: recurrent(11, 6, 5, length=4), "U-Net": lambda: unet((4, 4, 8), size=8, batch=2),
}


def exported(module, arguments):
    file = io.BytesIO()
    names = ["input_%d" % at for at in range(len(arguments))]
    torch.onnx.export(module, arguments, file, dynamo=False, do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE,
                      opset_version=17, input_names=names, output_names=["output"])
    return file.getvalue()


def identifier(name):
    return ("w_" if name[0].isdigit() else "") + re.sub(r"\W", "_", name) + "_grad"


def compare(build):
    """The largest difference relative to the largest element of its gradient, and the number of gradients."""
    module, arguments = build()
    module.eval()
    # Weights of equal elements are trained, too. torch shares equal tensors, so that they differ.
    for at, parameter in enumerate(module.parameters()):
        if parameter.dim() > 1:
            nn.init.uniform_(parameter, -0.5, 0.5)
        else:
            nn.init.constant_(parameter, 0.2 + 0.01 * at)
    model = skript.load(exported(module, arguments), trainable=True)
    reals = [at for at, argument in enumerate(arguments) if argument.is_floating_point()]
    for at in reals:
        arguments[at].requires_grad_()
    output = module(*arguments)
    seed = torch.rand_like(output) + 0.5
    (output * seed).sum().backward()
    gradient = skript.grad(model, ["variables"] + ["input_%d" % at for at in reals])
    values = [argument.detach().numpy() for argument in arguments]
    results = gradient(*values, seed.numpy())
    results = {name: np.asarray(value) for name, value in results._asdict().items()}
    wanted = {identifier(name): parameter.grad for name, parameter in module.named_parameters()}
    wanted.update({identifier("input_%d" % at): arguments[at].grad for at in reals})
    missing = sorted(set(wanted) - set(results))
    assert not missing, "no gradients %s, only %s" % (missing, sorted(results))
    worst = 0.0
    for name, grad in wanted.items():
        grad = grad.numpy()
        assert results[name].shape == grad.shape, (name, results[name].shape, grad.shape)
        # Gradients that are zero but for rounding, as of the biases of keys, are compared with 1e-3.
        worst = max(worst, np.abs(results[name] - grad).max() / max(np.abs(grad).max(), 1e-3))
    return max(worst, tangent_difference(model, values, seed.numpy(), wanted)), len(wanted)


def tangent_difference(model, values, seed, wanted):
    """The difference between seed · J direction by tangents and by torch's gradients, relative to the largest possible one."""
    draw = np.random.default_rng(5)
    directions = {name.removesuffix("_grad"): draw.uniform(-1, 1, grad.shape).astype("float32") for name, grad in wanted.items()}
    tangent = skript.grad(model, ["variables"] + [name for name in directions if name.startswith("input_")], forward=True)
    output = tangent(*values, **{name + "_tangent": direction for name, direction in directions.items()})
    ours = float((seed * output.output_tangent).sum())
    parts = [(directions[name.removesuffix("_grad")], grad.numpy()) for name, grad in wanted.items()]
    theirs = float(sum((direction * grad).sum() for direction, grad in parts))
    return abs(ours - theirs) / sum(np.linalg.norm(direction) * np.linalg.norm(grad) for direction, grad in parts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    wrong = []
    for name, build in NETWORKS.items():
        if arguments.only not in name:
            continue
        torch.manual_seed(3)
        begun = time.monotonic()
        worst, count = compare(build)
        print("%s: %d gradients, largest difference %.1e, %.1f s" % (name, count, worst, time.monotonic() - begun), flush=True)
        if not worst <= 1e-3:
            wrong.append(name)
    if wrong:
        sys.exit("gradients differ from torch's: " + ", ".join(wrong))


main()
