# SPDX-License-Identifier: Apache-2.0
"""Translates by transformers' T5 with 4 beams, 64 tokens a step."""
import steps
import torch
from transformers import T5Config, T5ForConditionalGeneration

torch.manual_seed(0)
with torch.device("cuda"):
    model = T5ForConditionalGeneration(T5Config(decoder_start_token_id=0)).half().eval()
    tokens = torch.randint(2, 32000, (16, 256))


@torch.no_grad()
def step():
    return model.generate(tokens, num_beams=4, min_new_tokens=64, max_new_tokens=64,
                          do_sample=False)[0, 0]


steps.run(step)
