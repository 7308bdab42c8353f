# SPDX-License-Identifier: Apache-2.0
"""train.py MODEL BATCH PRECISION OPTIMIZER [OPTIONS]: trains a model of torchvision, transformers
or PyTorch on random data, with random weights, made on the GPU; as one line of JSON, what it took.

PRECISION   float32, tf32, float16 (autocast and a loss scaler), autocast (in bfloat16), bfloat16
OPTIMIZER   sgd (with momentum), adamw, fused_adamw
OPTIONS     in one word: channels_last, benchmark (cuDNN's), checkpointing, eager (attention)
"""
import contextlib
import json
import statistics
import sys

import models
import torch

STEPS = 8
WARMUP = 3


def precision_of(name, model):
    """The model, the context of its forward and a loss scaler."""
    torch.set_float32_matmul_precision("high" if name == "tf32" else "highest")
    context, scaler = contextlib.nullcontext, torch.amp.GradScaler(enabled=name == "float16")
    if name in ("float16", "autocast"):
        dtype = torch.float16 if name == "float16" else torch.bfloat16
        def context():
            return torch.autocast("cuda", dtype=dtype)
    return model.bfloat16() if name == "bfloat16" else model, context, scaler


def optimizer_of(name, parameters):
    if name == "sgd":
        return torch.optim.SGD(parameters, lr=1e-3, momentum=0.9)
    return torch.optim.AdamW(parameters, lr=1e-5, fused=name == "fused_adamw")


class Training:
    def __init__(self, model, batch, precision, optimizer, options=""):
        options = options.split()
        torch.manual_seed(0)
        torch.backends.cudnn.benchmark = "benchmark" in options
        with torch.device("cuda"):
            self.model, self.inputs, self.loss_of = models.make(model, int(batch), options)
        self.model.train()
        self.model, self.context, self.scaler = precision_of(precision, self.model)
        if precision == "bfloat16":
            self.inputs = {name: value.bfloat16() if value.is_floating_point() else value
                           for name, value in self.inputs.items()}
        if "channels_last" in options:
            self.model = self.model.to(memory_format=torch.channels_last)
            self.inputs = {name: value.to(memory_format=torch.channels_last) if value.dim() == 4
                           else value for name, value in self.inputs.items()}
        self.optimizer = optimizer_of(optimizer, self.model.parameters())

    def step(self):
        with self.context():
            loss = self.loss_of(self.model, self.inputs)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()
        return loss.detach()

    def times(self, steps):
        """Seconds of each step, from event to event; the host runs ahead as far as it can."""
        events = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
        events[0].record()
        for event in events[1:]:
            self.step()
            event.record()
        events[-1].synchronize()
        return [first.elapsed_time(last) / 1e3 for first, last in zip(events, events[1:])]


def main():
    training = Training(*sys.argv[1:])
    times = training.times(STEPS)
    print(json.dumps({"allocated": torch.cuda.max_memory_allocated(),
                      "reserved": torch.cuda.max_memory_reserved(),
                      "step_s": statistics.median(times[WARMUP:])}))


if __name__ == "__main__":
    main()
