# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks of every kind, trained by cuDNN; prints what a forward pass kept."""
import torch
from torch import nn

STEPS, SAMPLES, INPUT, HIDDEN = 35, 20, 24, 32

KINDS = [
    (nn.LSTM, {}), (nn.GRU, {}), (nn.RNN, {}),
    (nn.LSTM, {"bidirectional": True, "dropout": 0.1}),
    (nn.LSTM, {"proj_size": 16}),
    (nn.GRU, {"bias": False}),
]


def train(kind, options):
    net = kind(INPUT, HIDDEN, num_layers=2, **options).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for dtype in (torch.float32, torch.bfloat16):
        with torch.autocast("cuda", dtype=dtype, enabled=dtype != torch.float32):
            x = torch.randn(STEPS, SAMPLES, INPUT, device="cuda", requires_grad=True)
            y, _ = net(x)
        y.sum().backward()
        optimizer.step()
    lengths = torch.tensor([STEPS] * (SAMPLES // 2) + [9] * (SAMPLES // 2))
    y, _ = net(nn.utils.rnn.pack_padded_sequence(x, lengths))
    y.data.sum().backward()
    net.eval()
    with torch.no_grad():
        net(x)
    assert all(parameter.grad is not None for parameter in net.parameters())


def kept_by_forward(**options):
    net = nn.LSTM(INPUT, HIDDEN, **options).cuda()
    x = torch.randn(STEPS, SAMPLES, INPUT, device="cuda")
    before = torch.cuda.memory_allocated()
    outputs = net(x)
    kept = torch.cuda.memory_allocated() - before
    del outputs
    return kept


for kind, options in KINDS:
    train(kind, options)
print("kept", kept_by_forward())
print("dropping", kept_by_forward(num_layers=2, dropout=0.1))
