# SPDX-License-Identifier: Apache-2.0
"""Trains transformers' wav2vec 2.0 for recognizing speech, on five seconds of sound."""
import torch
from transformers import Wav2Vec2Config, Wav2Vec2ForCTC

model = Wav2Vec2ForCTC(Wav2Vec2Config(ctc_loss_reduction="mean")).cuda()
model.train()
optimizer = torch.optim.AdamW(model.parameters(), 1e-5)
for _ in range(4):
    loss = model(torch.randn(8, 80000, device="cuda"),
                 labels=torch.randint(1, 32, (8, 50), device="cuda")).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(loss.item())
