# SPDX-License-Identifier: Apache-2.0
"""Trains networks of linear layers whose shape a rule gives (source.yaml)."""
import torch
from torch import nn

import rows

SAMPLES = 4096
EPOCHS = 2
MOST = 3  # full batches of an epoch; more of them are the same
FUNCTIONS = {"relu": nn.ReLU, "leaky_relu": nn.LeakyReLU, "prelu": nn.PReLU, "elu": nn.ELU,
             "selu": nn.SELU, "tanh": nn.Tanh, "softplus": nn.Softplus, "swish": nn.SiLU,
             "mish": nn.Mish, "gelu": nn.GELU, "identity": nn.Identity}


def widths(row):
    """Of the layers before the last."""
    width, least, depth = (int(row[name]) for name in ("input", "output", "depth"))
    rule = row["arch"]
    if rule == "uniform":
        return [width] * depth
    step = (width - least) // depth
    found = []
    for _ in range(depth + (rule == "bottleneck")):
        width = max(width - step if rule == "gradual" else int(width * 0.5), least)
        found.append(width)
    return found


def make_model(row):
    layers, width = [], int(row["input"])
    for wide in widths(row):
        layers.append(nn.Linear(width, wide))
        if row["batchnorm"] == "True":
            layers.append(nn.BatchNorm1d(wide))
        layers.append(FUNCTIONS[row["act"]]())
        if row["dropout"] == "True":
            layers.append(nn.Dropout(float(row["dropout_rate"])))
        width = wide
    layers.append(nn.Linear(width, int(row["output"])))
    if row["step"] == "2":
        layers.append(nn.Softmax(dim=1))
    return nn.Sequential(*layers)


def batches(row):
    batch = int(row["batch"])
    full, rest = divmod(SAMPLES, batch)
    return ([batch] * min(full, MOST) + [rest] * (rest > 0)) * EPOCHS


def train(_, row):
    with torch.device("meta"):  # its weights need no values
        model = make_model(row)
    model.to_empty(device="cuda")
    # torchsummary tells each layer's shapes by a batch of two.
    probe = torch.rand(2, 1, int(row["input"]), device="cuda")
    model(probe.view(2, -1) if row["step"] == "2" else probe)
    loss_of = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters())
    for batch in batches(row):
        inputs = torch.zeros(batch, int(row["input"])).cuda()
        labels = torch.zeros(batch, dtype=torch.long).cuda()
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = loss_of(outputs, labels)
        loss.backward()
        optimizer.step()
        loss.item()


rows.each(lambda row: None, train, group="step")
