# SPDX-License-Identifier: Apache-2.0
"""Trains models of timm as timm's own benchmark.py does with --amp (source.yaml)."""
import timm
import torch
from timm.data import resolve_data_config
from timm.optim import create_optimizer_v2

import rows

STEPS = 3

torch.set_num_threads(1)


def make(row):
    with rows.Undrawn():
        return timm.create_model(row["model"])


def train(model, row):
    torch.backends.cudnn.benchmark = True
    layout = torch.channels_last if row["layout"] == "nhwc" else torch.contiguous_format
    model.cuda().to(memory_format=layout).train()
    loss_of = torch.nn.CrossEntropyLoss().cuda()
    optimizer = create_optimizer_v2(model, opt="sgd", lr=1e-4)
    size = resolve_data_config({}, model=model)["input_size"]
    images = torch.randn(int(row["batch_size"]), *size, device="cuda").contiguous(
        memory_format=layout)
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=False)  # the default of PyTorch 1.12
        with torch.autocast("cuda"):
            output = model(images)
            if isinstance(output, tuple):
                output = output[0]
            target = torch.empty(len(output), device="cuda", dtype=torch.long).random_(
                model.num_classes)
            loss_of(output, target).backward()
        optimizer.step()
        torch.cuda.synchronize()


rows.each(make, train)
