# SPDX-License-Identifier: Apache-2.0
"""Trains ResNet-50, BERT or WaveGlow as the source does (source.yaml)."""
import torch
import torchvision
from torch import nn

import bert
import replica
import rows
import waveglow

STEPS = 5

torch.set_num_threads(1)
torch.backends.cuda.matmul.allow_tf32 = True  # as in the source's container


def make(row):
    if row["model"] == "resnet50":
        return torchvision.models.resnet50()
    if row["model"] == "waveglow":
        return waveglow.WaveGlow()
    return bert.Bert(row["model"].removeprefix("bert_"))


def train_images(model, half, batch, ranks):
    torch.backends.cudnn.benchmark = True
    model = replica.of(model.cuda().train(), ranks)
    images = torch.empty(batch, 3, 224, 224, device="cuda")
    labels = torch.ones(batch, dtype=torch.long, device="cuda")
    of_norms = [weight for name, weight in model.named_parameters() if "bn" in name]
    others = [weight for name, weight in model.named_parameters() if "bn" not in name]
    optimizer = torch.optim.SGD(
        [{"params": of_norms, "weight_decay": 0}, {"params": others, "weight_decay": 1e-4}],
        lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda", init_scale=256, growth_interval=10**9, enabled=half)
    loss_of = nn.CrossEntropyLoss()
    for _ in range(STEPS):
        with torch.autocast("cuda", torch.float16, enabled=half):
            loss = loss_of(model(images), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        loss.item()


def train(model, row):
    half, batch, ranks = row["precision"] == "half", int(row["batch"]), int(row["ranks"])
    if row["model"] == "resnet50":
        train_images(model, half, batch, ranks)
    elif row["model"] == "waveglow":
        waveglow.train(model, batch, ranks, STEPS)
    else:
        bert.train(model, half, batch, ranks, STEPS)


rows.each(make, train)
