# SPDX-License-Identifier: Apache-2.0
"""The Python references of the models, by the names and sizes that headroom has them under. Golden
values are made of them, and benchmarks/peers trains them."""

import contextlib
from unittest import mock

import torch
from torchvision.models import resnet50
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

# Feed-forward layers are four times as wide as their model.
VITS = {
    "vit_mini": {"patch": 16, "layers": 6, "width": 64, "heads": 2},
    "vit_ti_16": {"patch": 16, "layers": 12, "width": 192, "heads": 3},
    "vit_s_16": {"patch": 16, "layers": 12, "width": 384, "heads": 6},
    "vit_b_16": {"patch": 16, "layers": 12, "width": 768, "heads": 12},
    "vit_l_16": {"patch": 16, "layers": 24, "width": 1024, "heads": 16},
    "vit_h_14": {"patch": 14, "layers": 32, "width": 1280, "heads": 16},
}
BERTS = {
    "bert_mini": {"layers": 4, "width": 256, "heads": 4},
    "bert_base": {"layers": 12, "width": 768, "heads": 12},
    "bert_large": {"layers": 24, "width": 1024, "heads": 16},
}
DISTILBERTS = {"distilbert": {"layers": 6, "width": 768, "heads": 12}}
BIGBIRD = {"layers": 12, "width": 768, "heads": 12, "block": 64, "positions": 4096}
BIGBIRDS = {  # with the tokens of a block, and of the longest text
    "bigbird_mini": {"layers": 4, "width": 64, "heads": 2, "block": 8, "positions": 1024},
    "bigbird_roberta_base": BIGBIRD,
}
GPT2S = {
    "gpt2_mini": {"layers": 4, "width": 256, "heads": 4, "vocabulary": 50257, "positions": 1024},
    "gpt2": {"layers": 12, "width": 768, "heads": 12, "vocabulary": 50257, "positions": 1024},
    "gpt2_xl": {"layers": 48, "width": 1600, "heads": 25, "vocabulary": 50257, "positions": 1024},
    "gpt2_7_5b": {"layers": 36, "width": 4096, "heads": 32, "vocabulary": 51200, "positions": 2048},
}
LLAMAS = {  # with the heads of queries that one of keys serves
    "llama_mini": {"layers": 4, "width": 256, "heads": 4, "served": 2, "vocabulary": 32000},
    "llama_1b": {"layers": 16, "width": 2048, "heads": 32, "served": 4, "vocabulary": 128256},
}
ROTARY = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 32.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
SIZED = {  # of each family one of a size that no name has
    "vit_mini": {"layers": 2, "width": 48, "heads": 3},
    "bert_mini": {"layers": 1, "width": 48, "heads": 3},
    "distilbert": {"layers": 2, "width": 48, "heads": 4},
    "gpt2_mini": {"layers": 2, "width": 40, "heads": 5},
    "llama_mini": {"layers": 2, "width": 96, "heads": 6},
}


class MiniResNet(ResNet):
    """torchvision's, with an eighth of the channels behind the stem."""

    def __init__(self, num_classes):
        super().__init__(Bottleneck, [2, 2, 1, 1])
        self.fc = torch.nn.Linear(self.inplanes, num_classes)

    def _make_layer(self, block, planes, *arguments, **options):
        return super()._make_layer(block, planes // 8, *arguments, **options)


RESNETS = {"resnet_mini": MiniResNet, "resnet_50": resnet50}


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


def make(name, classes, image_size, dropout=0.0, size=None, attention="eager"):
    """`size`: of layers, width and heads those that are not the name's. `attention`: that of
    transformers; torchvision has one alone."""
    size = size or {}
    if name in RESNETS:
        return RESNETS[name](num_classes=classes)
    if name in VITS:
        return make_vit(VITS[name] | size, classes, image_size, dropout)
    options = {"attn_implementation": attention}
    if name in GPT2S:
        return GPT2LMHeadModel(gpt2_config(GPT2S[name] | size, dropout, **options))
    if name in LLAMAS:
        return LlamaForCausalLM(llama_config(LLAMAS[name] | size, dropout, **options))
    if name in BIGBIRDS:
        return BigBirdForSequenceClassification(bigbird_config(name, dropout, num_labels=classes))
    options["num_labels"] = classes
    if name in BERTS:
        return BertForSequenceClassification(bert_config(BERTS[name] | size, dropout, **options))
    config = distilbert_config(DISTILBERTS[name] | size, dropout, **options)
    return DistilBertForSequenceClassification(config)


def make_vit(size, classes, image_size, dropout):
    layers, width, heads = size["layers"], size["width"], size["heads"]
    return VisionTransformer(
        image_size, size["patch"], layers, heads, width, 4 * width, dropout, num_classes=classes
    )


def gpt2_config(size, dropout, **options):
    return GPT2Config(
        n_layer=size["layers"],
        n_embd=size["width"],
        n_head=size["heads"],
        vocab_size=size["vocabulary"],
        n_positions=size["positions"],
        embd_pdrop=dropout,
        attn_pdrop=dropout,
        resid_pdrop=dropout,
        use_cache=False,
        **options,
    )


def llama_config(size, dropout, **options):
    return LlamaConfig(
        num_hidden_layers=size["layers"],
        hidden_size=size["width"],
        num_attention_heads=size["heads"],
        num_key_value_heads=size["heads"] // size["served"],
        intermediate_size=4 * size["width"],
        vocab_size=size["vocabulary"],
        max_position_embeddings=131072,
        rms_norm_eps=1e-5,
        tie_word_embeddings=True,
        rope_parameters=dict(ROTARY),
        attention_dropout=dropout,
        use_cache=False,
        **options,
    )


def bert_config(size, dropout, **options):
    return BertConfig(
        num_hidden_layers=size["layers"],
        hidden_size=size["width"],
        num_attention_heads=size["heads"],
        intermediate_size=4 * size["width"],
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        **options,
    )


def distilbert_config(size, dropout, **options):
    return DistilBertConfig(
        n_layers=size["layers"],
        dim=size["width"],
        n_heads=size["heads"],
        hidden_dim=4 * size["width"],
        dropout=dropout,
        attention_dropout=dropout,
        seq_classif_dropout=dropout,
        **options,
    )


def bigbird_config(name, dropout, **options):
    size = BIGBIRDS[name]
    return BigBirdConfig(
        num_hidden_layers=size["layers"],
        hidden_size=size["width"],
        num_attention_heads=size["heads"],
        intermediate_size=4 * size["width"],
        block_size=size["block"],
        max_position_embeddings=size["positions"],
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        **options,
    )
