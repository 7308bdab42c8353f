# SPDX-License-Identifier: Apache-2.0
"""Runs one layer of BERT, GPT-2 or T5 again and again, forward or with its gradients, as the source's
notebook does (source.yaml). A step is marked by an update that has nothing to update."""
import torch
from transformers import BertConfig, BertLayer, GPT2Config, T5Config
from transformers.models.gpt2.modeling_gpt2 import GPT2Block
from transformers.models.t5 import modeling_t5

import rows

STEPS = 6

torch.set_num_threads(1)
modeling_t5.T5LayerNorm = torch.nn.RMSNorm  # one kernel, as apex's, which the source's container has


def t5(is_decoder):
    return modeling_t5.T5Block(T5Config(
        d_model=1024, d_ff=4096, num_heads=16, use_cache=False, is_decoder=is_decoder,
        is_encoder_decoder=False))


LAYERS = {
    "bert": lambda: BertLayer(BertConfig(
        hidden_size=1024, num_attention_heads=16, intermediate_size=4096)),
    "gpt2": lambda: GPT2Block(GPT2Config(n_embd=1024, n_head=16), layer_idx=0),
    "t5_encoder": lambda: t5(is_decoder=False),
    "t5_decoder": lambda: t5(is_decoder=True),
}


def make(row):
    return LAYERS[row["layer"]]()


def run(layer, row):
    layer.half().cuda()
    x = torch.randn(int(row["batch"]), int(row["tokens"]), 1024).half().cuda()
    words = {"encoder_hidden_states": x} if row["layer"] == "t5_decoder" else {}
    mark = torch.optim.SGD([torch.nn.Parameter(torch.empty(1))], lr=1.0)
    for _ in range(STEPS):
        y = layer(x, **words)
        if row["mode"] == "full":
            y[0].sum().backward()
        mark.step()


rows.each(make, run, group="layer")
