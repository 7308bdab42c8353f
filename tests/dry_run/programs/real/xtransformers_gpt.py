# SPDX-License-Identifier: Apache-2.0
"""A decoder of x-transformers: rotary embeddings, grouped heads, SwiGLU; Lion."""
import torch
from lion_pytorch import Lion
from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

model = AutoregressiveWrapper(TransformerWrapper(
    num_tokens=50257, max_seq_len=1024, attn_layers=Decoder(
        dim=1024, depth=12, heads=16, attn_kv_heads=4, rotary_pos_emb=True, attn_flash=True,
        ff_swish=True, ff_glu=True, use_rmsnorm=True))).cuda()
optimizer = Lion(model.parameters(), lr=1e-4, weight_decay=0.1)
for _ in range(3):
    for _ in range(2):  # accumulated
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(torch.randint(0, 50257, (8, 1025), device="cuda"))
        (loss / 2).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    optimizer.zero_grad()
