# SPDX-License-Identifier: Apache-2.0
"""A checkpoint for transformers' from_pretrained with no byte on the disk: each file is a head and a
hole, which reads as zeros."""
import json
import math
import os

import torch
from transformers import AutoModelForCausalLM

MOST_BYTES = 4 * 2**30  # of a file: one that is larger than memory cannot be mapped
TYPES = {torch.bfloat16: "BF16", torch.float16: "F16"}


def write(name: str, config, dtype: torch.dtype) -> str:
    """The checkpoint's folder, in the current one."""
    folder = os.path.abspath(name)
    os.makedirs(folder, exist_ok=True)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, torch_dtype=dtype)
    config.architectures = [type(model).__name__]
    config.save_pretrained(folder)
    tied = set(model._tied_weights_keys or ()) if config.tie_word_embeddings else set()
    files = [({}, 0)]
    for key, tensor in model.state_dict().items():
        if key in tied:
            continue
        size = math.prod(tensor.shape) * dtype.itemsize
        if files[-1][1] + size > MOST_BYTES:
            files.append(({}, 0))
        tensors, end = files[-1]
        tensors[key] = {"dtype": TYPES[dtype], "shape": list(tensor.shape),
                        "data_offsets": [end, end + size]}
        files[-1] = (tensors, end + size)
    weights = {}
    for at, (tensors, end) in enumerate(files, 1):
        file_name = f"model-{at:05}-of-{len(files):05}.safetensors"
        weights |= dict.fromkeys(tensors, file_name)
        head = json.dumps({"__metadata__": {"format": "pt"}} | tensors).encode()
        head += b" " * (-len(head) % 8)
        with open(f"{folder}/{file_name}", "wb") as file:
            file.write(len(head).to_bytes(8, "little") + head)
            file.truncate(8 + len(head) + end)
    with open(f"{folder}/model.safetensors.index.json", "w") as file:
        json.dump({"metadata": {}, "weight_map": weights}, file)
    return folder
