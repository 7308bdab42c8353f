# SPDX-License-Identifier: Apache-2.0
"""WaveGlow, which turns sound into noise by flows that can be run back, and its training, as
NVIDIA's DeepLearningExamples have them (source.yaml)."""
import torch
from torch import nn
from torch.nn.utils import weight_norm

import replica

SAMPLES, MELS, FRAMES = 8000, 80, 32  # of a segment; a frame begins every 256 samples
FLOWS, GROUP, EARLY_EVERY, EARLY = 12, 8, 4, 2
LAYERS, WIDTH = 8, 512


@torch.jit.script
def gated(one, other, width: int):
    both = one + other
    return torch.tanh(both[:, :width, :]) * torch.sigmoid(both[:, width:, :])


class Coupling(nn.Module):
    def __init__(self, channels):
        super().__init__()
        mels, ones = MELS * GROUP, range(LAYERS)
        self.start = weight_norm(nn.Conv1d(channels, WIDTH, 1))
        self.inner = nn.ModuleList(weight_norm(nn.Conv1d(
            WIDTH, 2 * WIDTH, 3, dilation=2**i, padding=2**i)) for i in ones)
        self.spectra = nn.ModuleList(weight_norm(nn.Conv1d(mels, 2 * WIDTH, 1)) for _ in ones)
        self.outer = nn.ModuleList(weight_norm(nn.Conv1d(
            WIDTH, 2 * WIDTH if i < LAYERS - 1 else WIDTH, 1)) for i in ones)
        self.end = nn.Conv1d(WIDTH, 2 * channels, 1)

    def forward(self, sound, spectrum):
        sound = self.start(sound)
        output = 0
        for inner, of_spectrum, outer in zip(self.inner, self.spectra, self.outer):
            made = outer(gated(inner(sound), of_spectrum(spectrum), WIDTH))
            if made.size(1) > WIDTH:
                sound = made[:, :WIDTH, :] + sound
                made = made[:, WIDTH:, :]
            output += made
        return self.end(output)


class WaveGlow(nn.Module):
    def __init__(self):
        super().__init__()
        self.upsample = nn.ConvTranspose1d(MELS, MELS, 1024, stride=256)
        widths = [GROUP - EARLY * (i // EARLY_EVERY) for i in range(FLOWS)]
        self.mixes = nn.ModuleList(nn.Conv1d(width, width, 1, bias=False) for width in widths)
        self.couplings = nn.ModuleList(Coupling(width // 2) for width in widths)

    def forward(self, spectrum, sound):
        spectrum = self.upsample(spectrum)[:, :, :sound.size(1)]
        spectrum = spectrum.unfold(2, GROUP, GROUP).permute(0, 2, 1, 3)
        spectrum = spectrum.contiguous().flatten(2).permute(0, 2, 1)
        sound = sound.unfold(1, GROUP, GROUP).permute(0, 2, 1)
        ended, scales, determinants = [], [], []
        for i, (mix, coupling) in enumerate(zip(self.mixes, self.couplings)):
            if i % EARLY_EVERY == 0 and i > 0:
                ended.append(sound[:, :EARLY, :])
                sound = sound[:, EARLY:, :]
            determinant = torch.logdet(mix.weight.squeeze().unsqueeze(0).float()).squeeze()
            determinants.append(sound.size(0) * sound.size(2) * determinant)
            sound = mix(sound)
            half = sound.size(1) // 2
            kept, moved = sound[:, :half, :], sound[:, half:, :]
            made = coupling(kept, spectrum)
            scales.append(made[:, half:, :])
            sound = torch.cat([kept, torch.exp(scales[-1]) * moved + made[:, :half, :]], 1)
        return torch.cat([*ended, sound], 1), scales, determinants


def loss_of(noise, scales, determinants):
    total = torch.sum(noise * noise) / 2
    return (total - sum(torch.sum(scale) for scale in scales) - sum(determinants)) / noise.numel()


def train(model, batch, ranks, steps):
    torch.backends.cudnn.benchmark = True
    model = replica.of(model.cuda().train(), ranks)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    spectrum, sound = torch.empty(batch, MELS, FRAMES), torch.empty(batch, SAMPLES)
    for _ in range(steps):
        model.zero_grad()
        loss = loss_of(*model(spectrum.cuda(), sound.cuda()))
        loss.item()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 65504)
        optimizer.step()
        model.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
