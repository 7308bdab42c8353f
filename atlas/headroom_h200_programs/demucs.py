# SPDX-License-Identifier: Apache-2.0
"""Trains torchaudio's Hybrid Demucs: transposed convolutions, spectra and LSTMs on 5 s of music."""
import steps
import torch
import torchaudio

torch.manual_seed(0)
with torch.device("cuda"):
    model = torchaudio.models.hdemucs_medium(["drums", "bass", "other", "vocals"]).train()
    music, parts = torch.randn(4, 2, 220500), torch.randn(4, 4, 2, 220500)
optimizer = torch.optim.Adam(model.parameters(), 1e-4)
steps.trained(optimizer, lambda: (model(music) - parts).abs().mean())
