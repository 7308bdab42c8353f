# SPDX-License-Identifier: Apache-2.0
"""Trains by compiled flex_attention, over documents, with a mask that is compiled as well. It ends
with an error where the mask is another one than a host without a GPU makes."""
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

LENGTH, DOCUMENT, HEADS, WIDTH = 2048, 512, 4, 64


def within_document(batch, head, query, key):
    return (query >= key) & (query // DOCUMENT == key // DOCUMENT)


made = torch.compile(create_block_mask)(within_document, None, None, LENGTH, LENGTH, device="cuda")
known = create_block_mask(within_document, None, None, LENGTH, LENGTH, device="cpu")
for name in ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices",
             "q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices"):
    assert torch.equal(getattr(made, name).cpu(), getattr(known, name)), name

attend = torch.compile(flex_attention)
q, k, v = (torch.randn(1, HEADS, LENGTH, WIDTH, device="cuda", dtype=torch.bfloat16,
                       requires_grad=True) for _ in range(3))
optimizer = torch.optim.SGD([q, k, v], lr=0.1)
for _ in range(4):
    attend(q, k, v, block_mask=made).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
