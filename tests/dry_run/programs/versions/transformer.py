# SPDX-License-Identifier: Apache-2.0
"""Trains a Transformer: autocast to bfloat16, scaled_dot_product_attention, checkpointed layers,
AdamW. The same for every PyTorch since 2.1."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

TOKENS = 32000
WIDTH = 512
HEADS = 8
LAYERS = 4
BATCH = 8
LENGTH = 512
STEPS = 3


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.wide = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(0.1)
        )

    def forward(self, x):  # (BATCH, LENGTH, WIDTH)
        heads = self.qkv(self.norms[0](x)).view(BATCH, LENGTH, 3, HEADS, WIDTH // HEADS)
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=0.1, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))
        return x + self.wide(self.norms[1](x))


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(TOKENS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, TOKENS)

    def forward(self, tokens):
        x = self.tokens(tokens)
        for index, layer in enumerate(self.layers):
            x = checkpoint(layer, x, use_reentrant=False) if index % 2 else layer(x)
        return self.head(x)


torch.manual_seed(1)
network = Network().cuda()
optimizer = torch.optim.AdamW(network.parameters(), lr=1e-4)
for _ in range(STEPS):
    tokens = torch.randint(TOKENS, (BATCH, LENGTH + 1), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        scores = network(tokens[:, :-1])
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

print("allocated", torch.cuda.max_memory_allocated())
print("reserved", torch.cuda.max_memory_reserved())
