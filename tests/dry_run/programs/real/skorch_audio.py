# SPDX-License-Identifier: Apache-2.0
"""skorch fits a wav2vec 2.0 of torchaudio to sounds of 5 seconds."""
import numpy
import skorch
import torch
import torchaudio


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = torchaudio.models.wav2vec2_base(aux_num_out=30)

    def forward(self, waves):
        return self.model(waves)[0].mean(1)


network = skorch.NeuralNetClassifier(
    Network, criterion=torch.nn.CrossEntropyLoss, optimizer=torch.optim.AdamW, lr=1e-3,
    batch_size=8, max_epochs=1, train_split=None, device="cuda")
network.fit(numpy.random.randn(24, 80000).astype("float32"), numpy.arange(24) % 30)
