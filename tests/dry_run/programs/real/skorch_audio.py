# SPDX-License-Identifier: Apache-2.0
"""skorch fits a Conformer of torchaudio to frames of sound."""
import numpy
import skorch
import torch
import torchaudio


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mels = torchaudio.transforms.MelSpectrogram(16000, n_mels=80, hop_length=160)
        self.layers = torchaudio.models.Conformer(80, 4, 1024, 8, 31)
        self.out = torch.nn.Linear(80, 30)

    def forward(self, waves):
        frames = self.mels(waves).transpose(1, 2)
        lengths = torch.full((len(frames),), frames.shape[1], device=frames.device)
        return self.out(self.layers(frames, lengths)[0]).mean(1)


network = skorch.NeuralNetClassifier(
    Network, criterion=torch.nn.CrossEntropyLoss, optimizer=torch.optim.AdamW, lr=1e-3,
    batch_size=16, max_epochs=1, train_split=None, device="cuda")
network.fit(numpy.random.randn(48, 80000).astype("float32"), numpy.arange(48) % 30)
