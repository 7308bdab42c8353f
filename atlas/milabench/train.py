# SPDX-License-Identifier: Apache-2.0
"""Trains a model as milabench's benchmarks/huggingface and benchmarks/torchvision do (source.yaml)."""
import contextlib

import torch
import torchvision
import transformers

import rows

STEPS = 5

torch.set_num_threads(1)
LANGUAGE_MODELS = {
    "Bert": lambda: transformers.BertForMaskedLM(transformers.BertConfig()),
    "Reformer": lambda: transformers.ReformerForMaskedLM(
        transformers.ReformerConfig(num_buckets=128)),
    "T5": lambda: transformers.T5ForConditionalGeneration(
        transformers.T5Config(decoder_start_token_id=0)),
    "Whisper": lambda: transformers.WhisperForAudioClassification(transformers.WhisperConfig()),
}
LENGTHS = {"Bert": 512, "Reformer": 4096, "T5": 1024}
WHISPER_INPUT = (80, 3000)  # of 30 s


def make(row):
    with rows.Undrawn():
        if row["model"] in LANGUAGE_MODELS:
            return LANGUAGE_MODELS[row["model"]]()
        return getattr(torchvision.models, row["model"])()


def precision_of(row):
    """The type of autocast, and a loss scaler."""
    name = row["precision"]
    torch.backends.cuda.matmul.allow_tf32 = "tf32" in name
    torch.backends.cudnn.allow_tf32 = "tf32" in name
    is_half = "fp16" in name
    dtype = torch.float16 if is_half else torch.float32
    return dtype, torch.amp.GradScaler("cuda", enabled=is_half)


def batch_of(model, row):
    size = int(row["batch_size"])
    if row["model"] == "Whisper":
        return {"input_features": torch.zeros(size, *WHISPER_INPUT),
                "labels": torch.zeros(size, dtype=torch.int64)}
    length = LENGTHS[row["model"]]
    return {name: torch.randint(0, model.config.vocab_size, (size, length))
            for name in ("input_ids", "labels")}


def train_language(model, row):
    dtype, scaler = precision_of(row)
    model = model.cuda().train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    context = contextlib.nullcontext()
    if scaler.is_enabled():
        context = torch.amp.autocast("cuda", dtype=dtype)
    for _ in range(STEPS):
        data = {name: value.cuda() for name, value in batch_of(model, row).items()}
        with context:
            outputs = model(**data)  # kept while gradients are computed, as by the source
        # Gradients are never set to zero, as the source does not.
        scaler.scale(outputs.loss).backward()
        scaler.step(optimizer)
        scaler.update()
        del outputs


def images_of(model, row):
    """Batches as the loader gives them: from the disk, into pinned memory; or one on the GPU, whose
    labels are as many as the model gives, and whose images have 244 x 244 points there."""
    size = int(row["batch_size"])
    if row["loader"] == "none":
        images = torch.randn(size, 3, 244, 244, device="cuda")
        labels = torch.rand_like(model(images))
        while True:
            yield images, labels
    images = torch.zeros(size, 3, 224, 224).pin_memory()
    while True:
        yield images, torch.zeros(size, dtype=torch.int64).pin_memory()


def train_vision(model, row):
    dtype, scaler = precision_of(row)
    placement = {"device": "cuda", "dtype": dtype}
    model = model.cuda().train()
    if row["layout"] == "channels_last":
        placement["memory_format"] = torch.channels_last
        model = model.to(memory_format=torch.channels_last)
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    batches = images_of(model, row)
    for _ in range(STEPS):
        images, labels = next(batches)
        images, labels = images.to(**placement), labels.to("cuda")
        optimizer.zero_grad()
        with torch.amp.autocast("cuda", dtype=dtype):
            loss = criterion(model(images), labels)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()


def train(model, row):
    (train_language if row["model"] in LANGUAGE_MODELS else train_vision)(model, row)


rows.each(make, train, group="bench")
