# SPDX-License-Identifier: Apache-2.0
"""How long an LSTM of cuDNN takes: its time steps follow each other, the samples go together."""
import torch
from torch import nn


def seconds_of(steps, samples):
    net = nn.LSTM(512, 512).cuda()
    x = torch.randn(steps, samples, 512, device="cuda")
    net(x)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    net(x)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3


assert 1.9 < seconds_of(400, 8) / seconds_of(200, 8) < 2.1, "twice the steps"
assert seconds_of(400, 8) / seconds_of(200, 16) > 1.8, "as many numbers in half the steps"
