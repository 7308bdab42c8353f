# SPDX-License-Identifier: Apache-2.0
"""GaLore projects the gradients of a Llama's matrices to a low rank, by an SVD."""
import sys

import torch
from galore_torch import GaLoreAdamW
from transformers import LlamaForCausalLM

model = LlamaForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32).cuda()
wide = [each for name, each in model.named_parameters() if "mlp" in name or "self_attn" in name]
ids = set(map(id, wide))
rest = [each for each in model.parameters() if id(each) not in ids]
optimizer = GaLoreAdamW([{"params": rest}, {
    "params": wide, "rank": 128, "update_proj_gap": 200, "scale": 0.25, "proj_type": "std"}])
for _ in range(2):
    words = torch.randint(0, 30, (4, 512), device="cuda")
    model(words, labels=words).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
