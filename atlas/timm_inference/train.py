# SPDX-License-Identifier: Apache-2.0
"""Runs models of timm forward as timm's own benchmark.py does with --amp (source.yaml). A step is
marked by an update that has nothing to update."""
import timm
import torch
from timm.layers import set_fast_norm
from timm.utils import reparameterize_model

import rows

STEPS = 4

torch.set_num_threads(1)
set_fast_norm()


def make(row):
    with rows.Undrawn():
        return timm.create_model(row["model"])


def run(model, row):
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    if row["reparam"] == "yes":
        model = reparameterize_model(model)
    layout = torch.channels_last if row["layout"] == "nhwc" else torch.contiguous_format
    model.cuda().to(memory_format=layout).eval()
    if row["compiled"] == "yes":
        model = torch.compile(model)
    size = int(row["image_size"])
    mark = torch.optim.SGD([torch.nn.Parameter(torch.empty(1))], lr=1.0)
    with torch.inference_mode():
        images = torch.randn(int(row["batch_size"]), 3, size, size, device="cuda").contiguous(
            memory_format=layout)
        for _ in range(STEPS):
            with torch.autocast("cuda"):
                model(images)
            torch.cuda.synchronize()
            mark.step()


rows.each(make, run)
