# SPDX-License-Identifier: Apache-2.0
"""Makes models.json: what the Python references of the models say, for tests/models to agree with.

Regenerate with one command, from the root of the project (any environment will do):

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install torch==2.11.0 torchvision==0.26.0 \
        transformers==5.23.0 && /tmp/golden/bin/python tests/golden/make_golden.py

The file holds no weights. Both sides fill parameters and inputs by the same hash: value i of tensor
number n (parameters count from 0 in the order of named_parameters, inputs have the number 1000000)
is `scale * uniform(n * 2**32 + i)`, where uniform takes the upper 24 bits of splitmix64 to [-1, 1).
The scale is 1 for images and 1/16 for parameters; one-dimensional weights (of layer normalisations)
have 1 added. Buffers are as the model makes them. All of it is exact in float32.
tests/models/golden.cpp is the other side.

A model with batch normalisation is compared while it trains; the file then has its buffers after
that forward pass as well, and the logits of the same inputs in evaluation behind it.

Values were computed in float64, so that they are the same on every machine to more digits than a
test in float32 could see. What the Llama of transformers does in float32 whatever its weights are
(frequencies, normalisations, softmax) is in float64 here as well.
"""

import json
import pathlib

import numpy as np
import torch
import torchvision
import transformers
from torchvision.models.resnet import Bottleneck
from transformers.models.big_bird.modeling_big_bird import BigBirdBlockSparseAttention

from references import (
    GPT2S,
    LLAMAS,
    RESNETS,
    SIZED,
    VITS,
    bigbird_config,
    in_float64,
    make,
)

INPUTS = 1_000_000  # the number of the tensor of inputs
BATCH = 3


def splitmix64(counter):
    with np.errstate(over="ignore"):
        z = counter + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def hashes(number, count):
    return splitmix64(np.uint64(number << 32) + np.arange(count, dtype=np.uint64))


def uniform(number, shape):
    upper = hashes(number, int(np.prod(shape))) >> np.uint64(40)
    return torch.from_numpy(upper.astype(np.float64) / 2**23 - 1.0).reshape(shape)


def fill(model):
    with torch.no_grad():
        for number, (name, parameter) in enumerate(model.named_parameters()):
            values = uniform(number, parameter.shape) / 16
            if parameter.dim() == 1 and name.endswith("weight"):
                values += 1
            parameter.copy_(values.float())


# Of so many tokens' scores the file keeps one of each 4096.
LOGIT_STRIDE = 4096


LAYER_PREFIXES = (
    "encoder.layers.encoder_layer_",
    "bert.encoder.layer.",
    "distilbert.transformer.layer.",
    "transformer.h.",
    "model.layers.",
)


def fold_layers(parameters):
    """The parameters of layer 0 with {} for its number, and how many such layers there are."""
    folded, layers = [], 0
    for name, shape in parameters:
        prefix = next((p for p in LAYER_PREFIXES if name.startswith(p)), None)
        if prefix is None:
            folded.append([name, shape])
            continue
        number, rest = name.removeprefix(prefix).split(".", 1)
        layers = max(layers, int(number) + 1)
        entry = [f"{prefix}{{}}.{rest}", shape]
        assert number == "0" or entry in folded, name
        if number == "0":
            folded.append(entry)
    return folded, layers


def sized(name, size):
    """How an entry of the file begins."""
    return {"model": name} | ({"size": size} if size else {})


def structure(name, classes, image_size, size=None):
    with torch.device("meta"):
        model = make(name, classes, image_size, size=size)
    parameters = [(n, list(p.shape)) for n, p in model.named_parameters()]
    buffers = [(n, list(b.shape)) for n, b in model.named_buffers() if n in model.state_dict()]
    # lm_head.weight is the embedding's weight under a second name.
    assert {n for n, _ in parameters + buffers} == set(model.state_dict()) - {"lm_head.weight"}
    folded, layers = fold_layers(parameters)
    if name in RESNETS:
        layers = sum(isinstance(module, Bottleneck) for module in model.modules())
    return sized(name, size) | {
        "num_classes": classes,
        "image_size": image_size,
        "parameter_count": sum(p.numel() for p in model.parameters()),
        "layers": layers,
        "parameters": folded,
    } | ({"has_attention": False, "buffers": buffers} if name in RESNETS else {})


def make_inputs(name, image_size, tokens, padded):
    if name in VITS or name in RESNETS:
        return {"images": uniform(INPUTS, (BATCH, 3, image_size, image_size))}
    ids = (hashes(INPUTS, BATCH * tokens) % np.uint64(30522)).astype(np.int64)
    ids = torch.from_numpy(ids).reshape(BATCH, tokens)
    mask = torch.ones_like(ids)
    for sample in range(BATCH):  # sample b lacks its last 3 b tokens
        ids[sample, tokens - 3 * sample :] = 0
        if padded:
            mask[sample, tokens - 3 * sample :] = 0
    return {"input_ids": ids, "attention_mask": mask}


def fingerprint(gradient):
    if gradient is None:  # nothing that the loss depends on reads the parameter
        return [0.0] * 5
    flat = gradient.flatten()
    entries = [flat[k * (flat.numel() - 1) // 3].item() for k in range(4)]
    return [round_to_digits(v) for v in [flat.norm().item(), *entries]]


def round_to_digits(value):
    return float(f"{value:.12g}")


def next_token_loss(output, model, inputs):
    """As model(labels=...) has it, but for a step of its own that rounds logits to float32."""
    ids = inputs["input_ids"]
    loss = torch.nn.functional.cross_entropy(output[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    torch.testing.assert_close(loss, model(**inputs, labels=ids).loss.double(), rtol=1e-5, atol=0)
    return loss


def parity(
    name,
    classes,
    image_size=0,
    tokens=0,
    padded=False,
    gradients=True,
    size=None,
    training=False,
):
    """`training` matters to BigBird, which reads random blocks only then, and to batch
    normalisation: no dropout here."""
    inputs = make_inputs(name, image_size, tokens, padded)
    with in_float64(name):
        model = make(name, classes, image_size, size=size).train(training)
        fill(model)
        model = model.double()
        output = model(inputs["images"]) if "images" in inputs else model(**inputs).logits
        if name in GPT2S or name in LLAMAS:
            loss = next_token_loss(output, model, inputs)
            output = output[..., ::LOGIT_STRIDE].flatten(0, 1)
        else:
            loss = torch.nn.functional.cross_entropy(output, torch.arange(BATCH) % classes)
        loss.backward()
    return sized(name, size) | {
        "num_classes": classes,
        "image_size": image_size,
        "tokens": tokens,
        "padded": padded,
        "training": training,
        "logits": rows_of(output),
        "loss": round_to_digits(loss.item()),
        "gradients": [[n, *fingerprint(p.grad)] for n, p in model.named_parameters()]
        if gradients
        else [],
    } | (after_a_batch(model, inputs) if name in RESNETS else {})


def after_a_batch(model, inputs):
    return {
        "has_attention": False,
        "buffers": [[n, *fingerprint(b.double())] for n, b in model.named_buffers()],
        "evaluation": rows_of(model.eval()(inputs["images"])),
    }


def rows_of(logits):
    return [[round_to_digits(v) for v in row] for row in logits.tolist()]


def dropouts(name, classes, image_size=0, tokens=0):
    """The shapes of what is dropped from in one training step, in order."""
    model = make(name, classes, image_size, dropout=0.1).train()
    inputs = make_inputs(name, image_size, tokens, padded=False)
    with torch.profiler.profile(record_shapes=True) as profile:
        model(inputs["images"].float()) if name in VITS else model(**inputs)
    return {
        "model": name,
        "num_classes": classes,
        "image_size": image_size,
        "tokens": tokens,
        "padded": False,
        "shapes": [e.input_shapes[0] for e in profile.events() if e.name == "aten::dropout"],
    }


def inputs_of(name):
    return {"image_size": 32} if name in VITS else {"tokens": 16}


class Drawn(Exception):
    pass


def random_blocks(name, tokens, seed):
    """The random blocks that a layer of BigBird reads in training: all, and folded to a number."""

    def catch(_, indices):
        raise Drawn(indices)

    attention = BigBirdBlockSparseAttention(bigbird_config(name, 0.0), seed).train()
    attention.torch_gather_b2 = catch
    counts = torch.ones(1, tokens)
    blocks = counts.view(1, -1, attention.block_size)
    try:
        attention(
            torch.zeros(1, tokens, attention.all_head_size),
            from_blocked_mask=blocks,
            to_blocked_mask=blocks,
        )
    except Drawn as drawn:
        numbers = drawn.args[0].flatten().tolist()
    folded = 0
    for number in numbers:
        folded = (folded * 31 + number) % 2**64
    return {
        "model": name,
        "tokens": tokens,
        "seed": seed,
        "count": len(numbers),
        "first": numbers[:12],
        "folded": folded,
    }


def main():
    golden = {
        "made_with": {m.__name__: m.__version__ for m in (torch, torchvision, transformers)},
        "structures": [
            structure("vit_mini", 10, 224),
            structure("vit_ti_16", 10, 224),
            structure("vit_s_16", 10, 224),
            structure("vit_b_16", 1000, 224),
            structure("vit_l_16", 10, 224),
            structure("vit_h_14", 10, 518),
            structure("bert_mini", 2, 0),
            structure("bert_base", 2, 0),
            structure("bert_large", 2, 0),
            structure("distilbert", 2, 0),
            structure("bigbird_mini", 2, 0),
            structure("bigbird_roberta_base", 2, 0),
            structure("gpt2_mini", 2, 0),
            structure("gpt2", 2, 0),
            structure("gpt2_xl", 2, 0),
            structure("gpt2_7_5b", 2, 0),
            structure("resnet_mini", 10, 224),
            structure("resnet_50", 1000, 224),
            structure("llama_mini", 2, 0),
            structure("llama_1b", 2, 0),
            *(structure(name, 2, 32 if name in VITS else 0, size) for name, size in SIZED.items()),
        ],
        "parity": [
            parity("vit_mini", 10, image_size=32),
            parity("vit_ti_16", 10, image_size=64),
            parity("vit_b_16", 10, image_size=32, gradients=False),
            parity("bert_mini", 3, tokens=16),
            parity("bert_mini", 3, tokens=16, padded=True),
            parity("distilbert", 3, tokens=16),
            parity("distilbert", 3, tokens=16, padded=True),
            parity("bigbird_mini", 3, tokens=16),
            parity("bigbird_mini", 3, tokens=16, padded=True),
            parity("bigbird_mini", 3, tokens=96, training=True),
            parity("bigbird_mini", 3, tokens=100, padded=True, training=True),
            parity("bigbird_mini", 3, tokens=100, padded=True),
            parity("bigbird_mini", 3, tokens=1024, training=True, gradients=False),
            parity("gpt2_mini", 3, tokens=16),
            parity("gpt2_mini", 3, tokens=16, padded=True),
            parity("gpt2", 3, tokens=16),
            parity("resnet_mini", 10, image_size=64, training=True),
            parity("resnet_50", 10, image_size=64, training=True),
            parity("llama_mini", 3, tokens=16),
            parity("llama_mini", 3, tokens=16, padded=True),
            *(parity(name, 3, **inputs_of(name), size=size) for name, size in SIZED.items()),
        ],
        "dropouts": [
            dropouts("vit_ti_16", 10, image_size=32),
            dropouts("bert_mini", 3, tokens=16),
            dropouts("distilbert", 3, tokens=16),
            dropouts("bigbird_mini", 3, tokens=16),
            dropouts("bigbird_mini", 3, tokens=100),
            dropouts("gpt2_mini", 3, tokens=16),
            dropouts("llama_mini", 3, tokens=16),
        ],
        "random_blocks": [
            random_blocks("bigbird_mini", 96, 0),
            random_blocks("bigbird_mini", 1024, 3),
            *(
                random_blocks("bigbird_roberta_base", tokens, seed)
                for tokens in (768, 1024, 2048, 3072, 4096)
                for seed in (0, 11)
            ),
        ],
    }
    path = pathlib.Path(__file__).with_name("models.json")
    path.write_text(to_lines(golden))


def to_lines(golden):
    """JSON with one parameter a line."""
    text = json.dumps(golden, separators=(",", ": "))
    for old, new in (("[[", "[\n["), ("],[", "],\n["), ('{"model"', '\n{"model"')):
        text = text.replace(old, new)
    return text + "\n"


if __name__ == "__main__":
    main()
