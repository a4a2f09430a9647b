#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Common networks in reduced configurations, exported by torch, compared with onnxruntime.

The weights are random. A network is equal if the largest difference of each output is at most 1e-3 of its largest element.
A network that torch cannot export is listed and is not an error; a network that is refused or differs is one.

Usage: torch_networks.py [--only PART] [--exporter legacy|dynamo] [--table FILE] [--skript FILE] [--keep FOLDER] [--structure] [--list]
"""

import argparse
import contextlib
import io
import json
import logging
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402

from tolerance import TOLERANCE  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXPORTERS = ("legacy", "dynamo")


def image(size=64, batch=1):
    return (torch.rand(batch, 3, size, size) * 2 - 1,)


def vision(name, size=64, **options):
    """A network of torchvision with ten classes."""
    def build():
        import torchvision
        make = getattr(torchvision.models, name, None) or getattr(torchvision.models.segmentation, name)
        return make(weights=None, num_classes=10, **options), image(size)
    return build


def segmentation(name, size=64):
    def build():
        import torchvision
        module = getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None, num_classes=4)
        return Picked(module, "out"), image(size)
    return build


class Picked(nn.Module):
    """One result of a module, by name or number."""

    def __init__(self, module, key):
        super().__init__()
        self.module, self.key = module, key

    def forward(self, *arguments):
        return self.module(*arguments)[self.key]


class Hidden(nn.Module):
    """The first result of a network from `transformers` that takes tokens and a mask."""

    traced = False

    def __init__(self, module, masked, causal=False):
        super().__init__()
        self.module, self.masked, self.causal = module, masked, causal

    def forward(self, tokens, mask=None):
        if self.causal and self.traced:
            # The code of `transformers` that computes this from the mask cannot be traced.
            causal = torch.ones(tokens.shape[1], tokens.shape[1]).tril() * mask[:, None, None, :]
            mask = (1 - causal) * torch.finfo(torch.float32).min
        options = {"attention_mask": mask} if self.masked else {}
        return self.module(tokens, return_dict=True, **options)[0]


SMALL = dict(vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, max_position_embeddings=64)


def words(model, config, masked=True, causal=None, **options):
    """A network of `transformers` on two sentences of nine tokens."""
    def build():
        import transformers
        settings = getattr(transformers, config)(**options)
        settings._attn_implementation = "eager"
        module = getattr(transformers, model)(settings)
        if hasattr(module.config, "use_cache"):
            module.config.use_cache = False
        tokens = torch.randint(3, 90, (2, 9))
        return Hidden(module, masked, "CausalLM" in model if causal is None else causal), (tokens, torch.ones(2, 9, dtype=torch.int64)) if masked else (tokens,)
    return build


def pictures(model, config, size=32, **options):
    """A network of `transformers` on a picture."""
    def build():
        import transformers
        settings = getattr(transformers, config)(**options)
        settings._attn_implementation = "eager"
        return Hidden(getattr(transformers, model)(settings), False), image(size)
    return build


def gated(**more):
    return {**SMALL, "num_key_value_heads": 2, "use_cache": False, **more}


def mixer():
    class Block(nn.Module):
        def __init__(self, tokens, channels):
            super().__init__()
            self.before, self.after = nn.LayerNorm(channels), nn.LayerNorm(channels)
            self.across = nn.Sequential(nn.Linear(tokens, 32), nn.GELU(), nn.Linear(32, tokens))
            self.along = nn.Sequential(nn.Linear(channels, 64), nn.GELU(), nn.Linear(64, channels))

        def forward(self, x):
            x = x + self.across(self.before(x).transpose(1, 2)).transpose(1, 2)
            return x + self.along(self.after(x))

    class Mixer(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv2d(3, 24, 8, 8)
            self.blocks = nn.Sequential(Block(16, 24), Block(16, 24))
            self.head = nn.Linear(24, 10)

        def forward(self, x):
            return self.head(self.blocks(self.patches(x).flatten(2).transpose(1, 2)).mean(1))
    return Mixer(), image(32)


def unet(widths=(8, 16, 32), size=32, batch=1):
    narrow, middle, wide = widths

    def double(inside, outside):
        return nn.Sequential(nn.Conv2d(inside, outside, 3, padding=1), nn.BatchNorm2d(outside), nn.ReLU(),
                             nn.Conv2d(outside, outside, 3, padding=1), nn.BatchNorm2d(outside), nn.ReLU())

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second, self.third = double(3, narrow), double(narrow, middle), double(middle, wide)
            self.up = nn.ConvTranspose2d(wide, middle, 2, 2)
            self.fourth, self.fifth = double(2 * middle, middle), double(middle + narrow, narrow)
            self.last = nn.Conv2d(narrow, 2, 1)

        def forward(self, x):
            a = self.first(x)
            b = self.second(nn.functional.max_pool2d(a, 2))
            c = self.third(nn.functional.max_pool2d(b, 2))
            d = self.fourth(torch.cat([self.up(c), b], 1))
            wide = nn.functional.interpolate(d, scale_factor=2, mode="bilinear", align_corners=False)
            return self.last(self.fifth(torch.cat([wide, a], 1)))
    return UNet(), image(size, batch)


def recurrent(words=99, embedded=24, hidden=32, length=7):
    class Language(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.head = nn.Embedding(words, embedded), nn.Linear(hidden, words)
            self.lstm = nn.LSTM(embedded, hidden, 2, batch_first=True)

        def forward(self, tokens):
            return self.head(self.lstm(self.embedding(tokens))[0])
    return Language(), (torch.randint(0, words, (2, length)),)


def diffusion():
    import diffusers
    module = diffusers.UNet2DConditionModel(
        sample_size=16, in_channels=4, out_channels=4, layers_per_block=1, block_out_channels=(32, 64), norm_num_groups=8,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=32, attention_head_dim=8)

    class Noise(nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, x, step, context):
            return self.module(x, step, context, return_dict=False)[0]
    return Noise(), (torch.randn(1, 4, 16, 16), torch.tensor([7]), torch.randn(1, 5, 32))


def sounds(model, config, **options):
    """A network of `transformers` on a recording."""
    def build():
        import transformers
        settings = getattr(transformers, config)(**options)
        settings._attn_implementation = "eager"
        return Hidden(getattr(transformers, model)(settings), False), (torch.randn(1, 800),)
    return build


HEARING = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, conv_dim=(16, 16, 16), conv_stride=(5, 2, 2),
               conv_kernel=(10, 3, 3), num_feat_extract_layers=3, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4, vocab_size=32)


def translation(model, config, **options):
    """An encoder with a decoder of `transformers`, on two sentences each."""
    def build():
        import transformers
        settings = getattr(transformers, config)(**options)
        settings._attn_implementation = "eager"
        settings.use_cache = False
        module = getattr(transformers, model)(settings)

        class Both(nn.Module):
            def __init__(self):
                super().__init__()
                self.module = module

            def forward(self, source, target):
                return self.module(input_ids=source, decoder_input_ids=target, return_dict=True)[0]
        return Both(), (torch.randint(3, 90, (2, 9)), torch.randint(3, 90, (2, 7)))
    return build


def detection():
    import transformers
    backbone = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], layer_type="basic",
                                         out_features=["stage4"])
    settings = transformers.DetrConfig(
        use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=backbone, d_model=32, encoder_layers=2,
        decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, num_queries=6, num_labels=5)
    settings._attn_implementation = "eager"
    module = transformers.DetrForObjectDetection(settings)

    class Boxes(nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, x, mask):
            found = self.module(pixel_values=x, pixel_mask=mask)
            return found.logits, found.pred_boxes
    return Boxes(), (*image(64), torch.ones(1, 64, 64, dtype=torch.int64))


def autoencoder():
    import diffusers
    module = diffusers.AutoencoderKL(
        block_out_channels=(16, 32), down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2,
        latent_channels=4, norm_num_groups=8, sample_size=32)

    class Back(nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, x):
            return self.module.decode(self.module.encode(x).latent_dist.mode()).sample
    return Back(), image(32)


def both_towers():
    import transformers
    text = dict(vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, max_position_embeddings=16, eos_token_id=98)
    vision = dict(image_size=32, patch_size=8, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
    settings = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=16)
    settings._attn_implementation = "eager"
    module = transformers.CLIPModel(settings)

    class Towers(nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, tokens, x, mask):
            found = self.module(input_ids=tokens, pixel_values=x, attention_mask=mask)
            return found.logits_per_image, found.text_embeds, found.image_embeds
    return Towers(), (torch.randint(3, 90, (2, 9)), *image(32), torch.ones(2, 9, dtype=torch.int64))


class Detector(nn.Module):
    """The detections of a torchvision detector in a picture."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, picture):
        found = self.module([picture])[0]
        return found["boxes"], found["scores"], found["labels"]

    def calibrate(self, picture):
        """Computes the statistics of normalizations from pictures: with other statistics, scores would differ only by rounding, which would decide the order of the boxes."""
        for part in self.modules():
            if isinstance(part, nn.modules.batchnorm._BatchNorm):
                part.momentum = None
                part.reset_running_stats()
                part.train()
        with torch.no_grad():
            self.module([picture, picture.flip(-1)])
        self.eval()


def detector(name, **options):
    def build():
        import torchvision
        make = getattr(torchvision.models.detection, name)
        return Detector(make(weights=None, weights_backbone=None, num_classes=4, **options)), (torch.rand(3, 96, 96),)
    return build


class Packed(nn.Module):
    """A recurrence over sequences of different lengths."""

    def __init__(self, kind):
        super().__init__()
        self.layer = getattr(nn, kind)(3, 4, batch_first=True, bidirectional=True)

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(self.layer(packed)[0], batch_first=True)


def packed(kind):
    return lambda: (Packed(kind), (torch.randn(3, 5, 3), torch.tensor([5, 2, 3])))


def bags(mode):
    return lambda: (nn.EmbeddingBag(10, 3, mode=mode), (torch.tensor([1, 2, 4, 5, 4, 3, 2, 9]), torch.tensor([0, 3])))


NETWORKS = {
    "AlexNet": vision("alexnet", 224),
    "ResNet-18": vision("resnet18"),
    "ResNet-50": vision("resnet50"),
    "ResNeXt-50": vision("resnext50_32x4d"),
    "DenseNet-121": vision("densenet121"),
    "SqueezeNet 1.1": vision("squeezenet1_1"),
    "ShuffleNet v2": vision("shufflenet_v2_x0_5"),
    "MobileNet v2": vision("mobilenet_v2"),
    "MobileNet v3 small": vision("mobilenet_v3_small"),
    "MNASNet": vision("mnasnet0_5"),
    "EfficientNet B0": vision("efficientnet_b0"),
    "EfficientNet v2 S": vision("efficientnet_v2_s"),
    "ConvNeXt tiny": vision("convnext_tiny"),
    "RegNet Y 400MF": vision("regnet_y_400mf"),
    "Inception v3": vision("inception_v3", 96, aux_logits=False, init_weights=False),
    "GoogLeNet": vision("googlenet", aux_logits=False, init_weights=False),
    "VGG-11": vision("vgg11_bn", 224),
    "DeepLab v3": segmentation("deeplabv3_mobilenet_v3_large"),
    "FCN": segmentation("fcn_resnet50", 32),
    "LR-ASPP": segmentation("lraspp_mobilenet_v3_large"),
    "ViT": lambda: (__import__("torchvision").models.VisionTransformer(32, 8, 2, 4, 48, 96, num_classes=10), image(32)),
    "Swin": lambda: (__import__("torchvision").models.SwinTransformer([4, 4], 24, [2, 2], [2, 4], [4, 4], num_classes=10), image(64)),
    "Swin v2": lambda: (__import__("torchvision").models.SwinTransformer(
        [4, 4], 24, [2, 2], [2, 4], [4, 4], num_classes=10,
        block=__import__("torchvision").models.swin_transformer.SwinTransformerBlockV2,
        downsample_layer=__import__("torchvision").models.swin_transformer.PatchMergingV2), image(64)),
    "MaxViT": lambda: (__import__("torchvision").models.MaxVit((64, 64), 16, 4, [16, 32], [1, 1], 8, 0.1, num_classes=10), image(64)),
    "MLP-Mixer": mixer,
    "BERT": words("BertModel", "BertConfig", **SMALL),
    "RoBERTa": words("RobertaModel", "RobertaConfig", **SMALL),
    "DistilBERT": words("DistilBertModel", "DistilBertConfig", vocab_size=99, dim=32, hidden_dim=64, n_layers=2, n_heads=4, max_position_embeddings=64),
    "ALBERT": words("AlbertModel", "AlbertConfig", embedding_size=16, **SMALL),
    "ELECTRA": words("ElectraModel", "ElectraConfig", embedding_size=16, **SMALL),
    "DeBERTa": words("DebertaModel", "DebertaConfig", relative_attention=True, pos_att_type=["p2c", "c2p"], **SMALL),
    "DeBERTa v2": words("DebertaV2Model", "DebertaV2Config", relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=16, **SMALL),
    "GPT-2": words("GPT2LMHeadModel", "GPT2Config", causal=True, vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64, use_cache=False),
    "GPT-NeoX": words("GPTNeoXForCausalLM", "GPTNeoXConfig", use_cache=False, **SMALL),
    "Llama": words("LlamaForCausalLM", "LlamaConfig", **gated()),
    "Qwen2": words("Qwen2ForCausalLM", "Qwen2Config", **gated()),
    "Qwen3": words("Qwen3ForCausalLM", "Qwen3Config", **gated(head_dim=8)),
    "Mistral": words("MistralForCausalLM", "MistralConfig", **gated(sliding_window=4)),
    "Gemma": words("GemmaForCausalLM", "GemmaConfig", **gated(head_dim=8)),
    "Gemma 2": words("Gemma2ForCausalLM", "Gemma2Config", **gated(head_dim=8, sliding_window=4)),
    "Phi": words("PhiForCausalLM", "PhiConfig", **gated()),
    "Phi-3": words("Phi3ForCausalLM", "Phi3Config", **gated(pad_token_id=0)),
    "OPT": words("OPTForCausalLM", "OPTConfig", causal=False, vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                 ffn_dim=64, max_position_embeddings=64, word_embed_proj_dim=32, use_cache=False),
    "BLOOM": words("BloomForCausalLM", "BloomConfig", causal=False, vocab_size=99, hidden_size=32, n_layer=2,
                   n_head=4, use_cache=False),
    "T5 encoder": words("T5EncoderModel", "T5Config", vocab_size=99, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4),
    "MPNet": words("MPNetModel", "MPNetConfig", **SMALL),
    "Whisper encoder": lambda: (lambda t: (Hidden(t.models.whisper.modeling_whisper.WhisperEncoder(t.WhisperConfig(
        d_model=32, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=64, num_mel_bins=20, max_source_positions=16,
        vocab_size=99, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)), False),
        (torch.randn(1, 20, 32),)))(__import__("transformers")),
    "BEiT": pictures("BeitModel", "BeitConfig", image_size=32, patch_size=8, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                     intermediate_size=64, use_relative_position_bias=True),
    "DINOv2": pictures("Dinov2Model", "Dinov2Config", image_size=32, patch_size=8, hidden_size=32, num_hidden_layers=2, num_attention_heads=4),
    "SegFormer": pictures("SegformerModel", "SegformerConfig", size=64, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1],
                          num_attention_heads=[1, 2, 3, 4]),
    "MobileViT": pictures("MobileViTModel", "MobileViTConfig", size=64, hidden_sizes=[16, 20, 24], neck_hidden_sizes=[8, 8, 12, 16, 20, 24, 32],
                          image_size=64),
    "CLIP": both_towers,
    "wav2vec 2": sounds("Wav2Vec2Model", "Wav2Vec2Config", **HEARING),
    "HuBERT": sounds("HubertModel", "HubertConfig", **HEARING),
    "DETR": detection,
    "BART": translation("BartModel", "BartConfig", vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                        decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=64),
    "T5": translation("T5Model", "T5Config", vocab_size=99, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4),
    "ModernBERT": words("ModernBertModel", "ModernBertConfig", **SMALL, pad_token_id=0, bos_token_id=1, eos_token_id=2, cls_token_id=1,
                        sep_token_id=2, reference_compile=False, local_attention=8),
    "Falcon": words("FalconForCausalLM", "FalconConfig", vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, use_cache=False),
    "Mamba": words("MambaForCausalLM", "MambaConfig", masked=False, causal=False, vocab_size=99, hidden_size=32, state_size=8,
                   num_hidden_layers=2, use_cache=False),
    "RWKV": words("RwkvForCausalLM", "RwkvConfig", masked=False, causal=False, vocab_size=99, context_length=16, hidden_size=32,
                  num_hidden_layers=2, use_cache=False),
    "Mixtral": words("MixtralForCausalLM", "MixtralConfig", **gated(num_local_experts=4, num_experts_per_tok=2)),
    "XLM-RoBERTa": words("XLMRobertaModel", "XLMRobertaConfig", **SMALL),
    "GPT-J": words("GPTJForCausalLM", "GPTJConfig", masked=False, causal=False, vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64,
                   rotary_dim=4, use_cache=False),
    "Cohere": words("CohereForCausalLM", "CohereConfig", **gated()),
    "StableLM": words("StableLmForCausalLM", "StableLmConfig", **gated()),
    "OLMo 2": words("Olmo2ForCausalLM", "Olmo2Config", **gated()),
    "Granite": words("GraniteForCausalLM", "GraniteConfig", **gated()),
    "GLM": words("GlmForCausalLM", "GlmConfig", **gated(head_dim=8, pad_token_id=0)),
    "Gemma 3": words("Gemma3ForCausalLM", "Gemma3TextConfig", **gated(head_dim=8, sliding_window=4)),
    "SigLIP": pictures("SiglipVisionModel", "SiglipVisionConfig", image_size=32, patch_size=8, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                       intermediate_size=64),
    "ConvNeXt v2": pictures("ConvNextV2Model", "ConvNextV2Config", hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1]),
    "PVT": pictures("PvtModel", "PvtConfig", size=64, image_size=64, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 3, 4]),
    "PoolFormer": pictures("PoolFormerModel", "PoolFormerConfig", size=64, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1]),
    "LeViT": pictures("LevitModel", "LevitConfig", size=64, image_size=64, hidden_sizes=[16, 24, 32], num_attention_heads=[2, 3, 4], depths=[1, 1, 1],
                      key_dim=[8, 8, 8]),
    "FNet": words("FNetModel", "FNetConfig", masked=False, vocab_size=99, hidden_size=32, num_hidden_layers=2, intermediate_size=64,
                  max_position_embeddings=64),
    "SqueezeBERT": words("SqueezeBertModel", "SqueezeBertConfig", **SMALL, embedding_size=32),
    "MobileBERT": words("MobileBertModel", "MobileBertConfig", **SMALL, embedding_size=16, true_hidden_size=32, intra_bottleneck_size=32),
    "RoFormer": words("RoFormerModel", "RoFormerConfig", **SMALL, embedding_size=32),
    "ConvBERT": words("ConvBertModel", "ConvBertConfig", **SMALL, embedding_size=32),
    "Data2Vec": words("Data2VecTextModel", "Data2VecTextConfig", **SMALL),
    "XLNet": words("XLNetModel", "XLNetConfig", masked=False, vocab_size=99, d_model=32, n_layer=2, n_head=4, d_inner=64),
    "Diffusion autoencoder": autoencoder,
    "U-Net": unet,
    "LSTM language model": recurrent,
    "Diffusion U-Net": diffusion,
    "Longformer": words("LongformerModel", "LongformerConfig", vocab_size=99, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
                        max_position_embeddings=70, attention_window=[4, 4]),
    "LED": translation("LEDModel", "LEDConfig", vocab_size=99, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
                       encoder_ffn_dim=32, decoder_ffn_dim=32, attention_window=4, max_encoder_position_embeddings=64, max_decoder_position_embeddings=64),
    **{f"Packed {kind}": packed(kind) for kind in ("LSTM", "GRU", "RNN")},
    **{f"EmbeddingBag {mode}": bags(mode) for mode in ("sum", "mean", "max")},
    "Faster R-CNN": detector("fasterrcnn_mobilenet_v3_large_320_fpn", min_size=96, max_size=96, rpn_pre_nms_top_n_test=50, rpn_post_nms_top_n_test=20),
    "RetinaNet": detector("retinanet_resnet50_fpn", min_size=96, max_size=96, score_thresh=0.01, detections_per_img=20),
    "SSDlite": detector("ssdlite320_mobilenet_v3_large", detections_per_img=20),
}


def randomize(module):
    """Sets weights and statistics of normalizations so that results are neither zero nor equal."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for weight in module.parameters():
            if weight.dim() > 1 and not weight.any():
                weight.normal_(0, 0.1, generator=generator)
    for part in module.modules():
        if isinstance(part, nn.modules.batchnorm._BatchNorm) and part.running_var is not None:
            part.running_mean.normal_(0, 0.1, generator=generator)
            part.running_var.uniform_(0.5, 1.5, generator=generator)


def export(module, arguments, exporter, path):
    """Writes the model. Returns the reason if torch cannot export it."""
    sink = io.StringIO()
    Hidden.traced = exporter == "legacy"
    try:
        with contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink), torch.no_grad():
            torch.onnx.export(module, arguments, str(path), dynamo=exporter == "dynamo")
    except Exception as error:  # torch raises whatever the network's code raises
        lines = str(error).strip().splitlines() or [type(error).__name__]
        return lines[0]
    return None


def attempt(build, exporter, folder, options):
    """The state, its message, and the number of nodes of the model."""
    torch.manual_seed(1)
    module, arguments = build()
    module = module.eval()
    randomize(module)
    if isinstance(module, Detector):
        module.calibrate(*arguments)
    path = folder / "model.onnx"
    reason = export(module, arguments, exporter, path)
    if reason is not None:
        return "not exported", reason, 0
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
        feeds = {value.name: argument.numpy() for value, argument in zip(session.get_inputs(), arguments)}
        expected = session.run(None, feeds)
    except Exception as error:
        return "not run by onnxruntime", str(error).strip().splitlines()[0], 0
    import onnx
    nodes = len(onnx.load(path, load_external_data=False).graph.node)
    command = [options.skript, "import", str(path), "-o", str(folder / "model"), "--message-format", "short"]
    command += ["--structure"] * options.structure
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        return "refused", first_line(done.stderr), nodes
    names = json.loads((folder / "model/import.json").read_text())
    command = [options.skript, "run", str(folder / "model"), "--output-dir", str(folder / "out"), "--no-cache", "--message-format", "short"]
    known = {value["onnx"]: value["skript"] for value in names["inputs"]}
    for name, array in feeds.items():
        if name in known:
            np.save(folder / f"{known[name]}.npy", np.ascontiguousarray(array).reshape(array.shape))
            command += ["--input", f"{known[name]}={folder / known[name]}.npy"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    if done.returncode:
        return "failed", first_line(done.stderr), nodes
    worst = 0.0
    for value, wanted in zip(names["outputs"], expected):
        got = np.load(folder / "out" / f"{value['skript']}.npy")
        if got.shape != wanted.shape or got.dtype != wanted.dtype:
            return "wrong", f"{got.dtype}{list(got.shape)}, not {wanted.dtype}{list(wanted.shape)}", nodes
        if not wanted.size:
            continue
        if not np.isfinite(wanted).all():
            return "not run by onnxruntime", "results that are not finite", nodes
        got, wanted = got.astype(np.float64), wanted.astype(np.float64)
        if not np.abs(wanted).max() > 0:
            return "wrong", "the network gives nothing but zeros", nodes
        worst = max(worst, float(np.abs(got - wanted).max() / max(np.abs(wanted).max(), 1e-30)))
    return ("equal" if worst <= TOLERANCE else "wrong"), f"{worst:.1e}", nodes


def first_line(text):
    lines = [line for line in text.strip().splitlines() if "error" in line] or text.strip().splitlines() or ["no message"]
    return re.sub(r"^\S*/(?=[^/ ]*$|model)", "", lines[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--exporter", choices=EXPORTERS)
    parser.add_argument("--table")
    parser.add_argument("--keep")
    parser.add_argument("--structure", action="store_true", help="import with operators for repeated blocks")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--skript", default=str(ROOT / "target/release/skript"))
    options = parser.parse_args()
    if options.list:
        print("\n".join(NETWORKS))
        return 0
    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)
    results, bad = {}, 0
    for name, build in NETWORKS.items():
        if options.only.lower() not in name.lower():
            continue
        for exporter in [options.exporter] if options.exporter else EXPORTERS:
            begin = time.monotonic()
            folder = pathlib.Path(tempfile.mkdtemp(prefix="networks-"))
            try:
                state, text, nodes = attempt(build, exporter, folder, options)
            except subprocess.TimeoutExpired as error:
                state, text, nodes = "failed", f"more than {error.timeout:.0f} s", 0
            except Exception as error:  # a network whose construction fails is an error of this file
                state, text, nodes = "failed", f"{type(error).__name__}: {error}", 0
            if options.keep and state not in ("equal", "not exported"):
                shutil.copytree(folder, pathlib.Path(options.keep) / f"{name} {exporter}".replace(" ", "-"), dirs_exist_ok=True)
            shutil.rmtree(folder)
            bad += state in ("refused", "failed", "wrong")
            results[name, exporter] = state, text, nodes
            print(f"{name}, {exporter}: {state}, {text[:300]} ({nodes} nodes, {time.monotonic() - begin:.0f} s)", flush=True)
    counts = {state: sum(r[0] == state for r in results.values()) for state in sorted({r[0] for r in results.values()})}
    print(f"{len(results)} models of torch {torch.__version__}: " + ", ".join(f"{n} {state}" for state, n in counts.items()))
    if options.table:
        pathlib.Path(options.table).write_text(page(results))
    return 1 if bad else 0


def page(results):
    """The page of results, in Markdown."""
    import torchvision
    import transformers
    equal = sum(r[0] == "equal" for r in results.values())
    lines = [
        "# Networks exported by torch", "",
        "Written by `make test-networks`, which exports networks of torchvision, transformers and diffusers in reduced",
        "configurations with random weights, imports and runs them, and compares with onnxruntime. The numbers are the largest",
        "difference of an output in relation to its largest element; at most 1e-3 is equal.", "",
        f"torch {torch.__version__.split('+')[0]}, torchvision {torchvision.__version__.split('+')[0]}, transformers {transformers.__version__}, "
        f"onnxruntime {onnxruntime.__version__}: {equal} of {len(results)} models are equal.", "",
        "| network | legacy exporter | nodes | dynamo exporter | nodes |", "|---|---|---|---|---|"]
    for name in dict.fromkeys(name for name, _ in results):
        cells = []
        for exporter in EXPORTERS:
            state, text, nodes = results.get((name, exporter), ("not tried", "", 0))
            cells += [text if state == "equal" else state, str(nodes or "")]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
