# SPDX-License-Identifier: Apache-2.0
"""Trains torchaudio's Conformer on spectra with CTC's loss; utterances differ in length."""
import steps
import torch
import torchaudio

torch.manual_seed(0)
with torch.device("cuda"):
    model = torchaudio.models.Conformer(input_dim=80, num_heads=4, ffn_dim=1024, num_layers=12,
                                        depthwise_conv_kernel_size=31)
    last = torch.nn.Linear(80, 500)
    spectra = torch.randn(32, 800, 80)
    lengths = 800 - 10 * torch.arange(32)
    words = torch.randint(1, 500, (32, 60))
    word_lengths = torch.full((32,), 60)
optimizer = torch.optim.AdamW([*model.parameters(), *last.parameters()], 1e-4)


def loss_of():
    out, out_lengths = model(spectra, lengths)
    return torch.nn.functional.ctc_loss(last(out).log_softmax(-1).transpose(0, 1), words,
                                        out_lengths, word_lengths)


steps.trained(optimizer, loss_of)
