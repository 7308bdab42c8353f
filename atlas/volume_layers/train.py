# SPDX-License-Identifier: Apache-2.0
"""Runs one 3-d convolution or batch normalization forward or backward again and again, as the source's
script does (source.yaml). A step is marked by an update that has nothing to update."""
import torch
from torch import nn

import rows

STEPS = 6
FORMATS = {"contiguous": torch.contiguous_format, "channels-last-3d": torch.channels_last_3d}

torch.set_num_threads(1)


def make(row):
    if row["layer"] == "norm":
        return nn.BatchNorm3d(int(row["channels"]))
    return nn.Conv3d(int(row["channels"]), int(row["made"]), int(row["kernel"]), int(row["stride"]),
                     int(row["padding"])).half()


def run(layer, row):
    memory_format = FORMATS[row["format"]]
    layer.cuda().to(memory_format=memory_format)
    sizes = int(row["batch"]), int(row["channels"]), *[int(row["size"])] * 3
    x = torch.randn(sizes, dtype=torch.half, device="cuda").to(memory_format=memory_format)
    y = layer(x.requires_grad_())
    gradient = torch.randn_like(y)
    mark = torch.optim.SGD([torch.nn.Parameter(torch.empty(1))], lr=1.0)
    for _ in range(STEPS):
        if row["pass"] == "forward":
            layer(x)
        else:
            y.backward(gradient, retain_graph=True)
        mark.step()


rows.each(make, run, group="key")
