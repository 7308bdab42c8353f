# SPDX-License-Identifier: Apache-2.0
"""Trains GRUs by torchaudio's loss of a transducer on utterances that differ in length."""
import steps
import torch
import torchaudio
from torch import nn

torch.manual_seed(0)
with torch.device("cuda"):
    encoder = nn.GRU(80, 512, 4, batch_first=True, bidirectional=True)
    words = nn.Embedding(128, 512)
    predictor = nn.GRU(512, 512, 1, batch_first=True)
    of_sound, of_words, last = nn.Linear(1024, 512), nn.Linear(512, 512), nn.Linear(512, 128)
    spectra, spoken = torch.randn(16, 300, 80), torch.randint(1, 128, (16, 40))
    lengths = (300 - 8 * torch.arange(16)).int()
    spoken_lengths = (40 - torch.arange(16)).int()
parts = nn.ModuleList([encoder, words, predictor, of_sound, of_words, last])
optimizer = torch.optim.Adam(parts.parameters(), 1e-4)


def loss_of():
    sound = of_sound(encoder(spectra)[0])
    before = of_words(predictor(words(nn.functional.pad(spoken, (1, 0))))[0])
    joint = last(torch.tanh(sound[:, :, None] + before[:, None]))
    return torchaudio.functional.rnnt_loss(joint, spoken.int(), lengths, spoken_lengths, blank=0)


steps.trained(optimizer, loss_of)
