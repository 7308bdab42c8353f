# SPDX-License-Identifier: Apache-2.0
"""Trains models of timm as timm's own training script does by its defaults (source.yaml)."""
import timm
import torch
from timm.data.loader import PrefetchLoader
from timm.loss import LabelSmoothingCrossEntropy
from timm.optim import create_optimizer_v2

import rows

STEPS = 3

torch.set_num_threads(1)


def make(row):
    with rows.Undrawn():
        return timm.create_model(row["model"])


def train(model, row):
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    model.cuda().train()
    optimizer = create_optimizer_v2(model, opt="sgd", lr=0.05, momentum=0.9, weight_decay=2e-5)
    batch = int(row["batch_size"])
    images = torch.zeros(batch, *model.default_cfg["input_size"], dtype=torch.uint8)
    labels = torch.zeros(batch, dtype=torch.long)
    loader = PrefetchLoader([(images, labels)] * STEPS, device=torch.device("cuda"))
    loss_of = LabelSmoothingCrossEntropy(smoothing=0.1).cuda()
    for step, (image, label) in enumerate(loader):
        loss = loss_of(model(image), label)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        loss.item()
        if step == 0:  # samples a second apart miss most of the trials (source.yaml)
            torch.cuda.reset_peak_memory_stats()


rows.each(make, train)
