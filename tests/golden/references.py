# SPDX-License-Identifier: Apache-2.0
"""The Python references of the models, by the names and sizes that headroom has them under."""

import contextlib
from unittest import mock

import torch
import torchvision
from torchvision.models.resnet import Bottleneck, ResNet
from torchvision.models.vision_transformer import VisionTransformer
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BigBirdConfig,
    BigBirdForSequenceClassification,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
)

# name: (patch, layers, heads, width); the first three are not among torchvision's builders
VITS = {
    "vit_mini": (16, 6, 2, 64),
    "vit_ti_16": (16, 12, 3, 192),
    "vit_s_16": (16, 12, 6, 384),
    "vit_b_16": (16, 12, 12, 768),
    "vit_l_16": (16, 24, 16, 1024),
    "vit_h_14": (14, 32, 16, 1280),
}
BERTS = {  # name: (width, layers, heads, intermediate)
    "bert_mini": (256, 4, 4, 1024),
    "bert_base": (768, 12, 12, 3072),
    "bert_large": (1024, 24, 16, 4096),
}
BIGBIRDS = {  # name: (width, layers, heads, intermediate, block, positions)
    "bigbird_mini": (64, 4, 2, 256, 8, 1024),
    "bigbird_roberta_base": (768, 12, 12, 3072, 64, 4096),
}
GPT2S = {  # name: (layers, width, heads, vocabulary, positions)
    "gpt2_mini": (4, 256, 4, 50257, 1024),
    "gpt2": (12, 768, 12, 50257, 1024),
    "gpt2_xl": (48, 1600, 25, 50257, 1024),
    "gpt2_7_5b": (36, 4096, 32, 51200, 2048),
}
class MiniResNet(ResNet):
    """torchvision's, with an eighth of the channels behind the stem."""

    def __init__(self, num_classes):
        super().__init__(Bottleneck, [2, 2, 1, 1])
        self.fc = torch.nn.Linear(self.inplanes, num_classes)

    def _make_layer(self, block, planes, *arguments, **options):
        return super()._make_layer(block, planes // 8, *arguments, **options)


RESNETS = {"resnet_mini": MiniResNet, "resnet_50": torchvision.models.resnet50}

LLAMAS = {  # name: (layers, width, heads, heads of keys, intermediate, vocabulary)
    "llama_mini": (4, 256, 4, 2, 1024, 32000),
    "llama_1b": (16, 2048, 32, 8, 8192, 128256),
}
SIZED = {  # of each family one of a size that no name has
    "vit_mini": {"layers": 2, "width": 48, "heads": 3},
    "bert_mini": {"layers": 1, "width": 48, "heads": 3},
    "distilbert": {"layers": 2, "width": 48, "heads": 4},
    "gpt2_mini": {"layers": 2, "width": 40, "heads": 5},
    "llama_mini": {"layers": 2, "width": 96, "heads": 6},
}


def make_llama(name, dropout, size):
    layers, width, heads, key_heads, intermediate, vocabulary = LLAMAS[name]
    if size:
        key_heads, intermediate = key_heads * size["heads"] // heads, 4 * size["width"]
        layers, width, heads = size["layers"], size["width"], size["heads"]
    return LlamaForCausalLM(
        LlamaConfig(
            num_hidden_layers=layers,
            hidden_size=width,
            num_attention_heads=heads,
            num_key_value_heads=key_heads,
            intermediate_size=intermediate,
            vocab_size=vocabulary,
            max_position_embeddings=131072,
            rms_norm_eps=1e-5,
            tie_word_embeddings=True,
            rope_parameters={
                "rope_type": "llama3",
                "rope_theta": 500000.0,
                "factor": 32.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192,
            },
            attention_dropout=dropout,
            attn_implementation="eager",
        )
    )


class Float64Torch:
    """torch, but that its float32 is float64."""

    float = float32 = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


def in_float64(name):
    """While a Llama is made and runs."""
    patches = contextlib.ExitStack()
    if name in LLAMAS:
        for module in ("models.llama.modeling_llama", "modeling_rope_utils"):
            patches.enter_context(mock.patch(f"transformers.{module}.torch", Float64Torch()))
    return patches


def make(name, classes, image_size, dropout=0.0, size=None):
    """`size`: layers, width and heads other than the name's."""
    if name in LLAMAS:
        return make_llama(name, dropout, size)
    if name in VITS:
        patch, layers, heads, width = VITS[name]
        if size:
            layers, width, heads = size["layers"], size["width"], size["heads"]
        if hasattr(torchvision.models, name):
            builder = getattr(torchvision.models, name)
            return builder(num_classes=classes, image_size=image_size, dropout=dropout)
        return VisionTransformer(
            image_size, patch, layers, heads, width, 4 * width, dropout, num_classes=classes
        )
    if name in RESNETS:
        return RESNETS[name](num_classes=classes)
    if name in GPT2S:
        layers, width, heads, vocabulary, positions = GPT2S[name]
        if size:
            layers, width, heads = size["layers"], size["width"], size["heads"]
        return GPT2LMHeadModel(
            GPT2Config(
                n_layer=layers,
                n_embd=width,
                n_head=heads,
                vocab_size=vocabulary,
                n_positions=positions,
                embd_pdrop=dropout,
                attn_pdrop=dropout,
                resid_pdrop=dropout,
                attn_implementation="eager",
            )
        )
    options = {"num_labels": classes, "attn_implementation": "eager"}
    if name in BIGBIRDS:
        return BigBirdForSequenceClassification(bigbird_config(name, dropout, num_labels=classes))
    if name in BERTS:
        width, layers, heads, intermediate = BERTS[name]
        if size:
            layers, width, heads = size["layers"], size["width"], size["heads"]
            intermediate = 4 * width
        return BertForSequenceClassification(
            BertConfig(
                hidden_size=width,
                num_hidden_layers=layers,
                num_attention_heads=heads,
                intermediate_size=intermediate,
                hidden_dropout_prob=dropout,
                attention_probs_dropout_prob=dropout,
                **options,
            )
        )
    if size:
        options |= {"n_layers": size["layers"], "dim": size["width"], "n_heads": size["heads"]}
        options["hidden_dim"] = 4 * size["width"]
    return DistilBertForSequenceClassification(
        DistilBertConfig(
            dropout=dropout, attention_dropout=dropout, seq_classif_dropout=dropout, **options
        )
    )


def bigbird_config(name, dropout, **options):
    width, layers, heads, intermediate, block, positions = BIGBIRDS[name]
    return BigBirdConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=intermediate,
        block_size=block,
        max_position_embeddings=positions,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        **options,
    )
