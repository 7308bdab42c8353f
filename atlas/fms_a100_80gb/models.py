# SPDX-License-Identifier: Apache-2.0
"""The models, by configuration alone: checkpoints of the right size, with no byte on the disk."""
import json
import math
import os

import torch
from transformers import modeling_flash_attention_utils as attention

# Models ask whether a zero is in the mask, and whether positions go back, as of several texts in a
# row. Neither is so, and a plan does not know: it computes nothing.
torch.Tensor.__contains__ = lambda tensor, element: False
attend = attention._flash_attention_forward
attention._flash_attention_forward = \
    lambda *tensors, position_ids=None, **options: attend(*tensors, **options)

from transformers import AutoModelForCausalLM, GPTBigCodeConfig, GraniteConfig  # noqa: E402
from transformers import LlamaConfig, MistralConfig, MixtralConfig  # noqa: E402

EXPERTS = 8
# Each but PowerLM has a token more than on the hub: the trainer adds one for padding. santacoder's
# embedding is larger than its tokenizer there, and is cut to it.
SANTACODER = GPTBigCodeConfig(
    vocab_size=49158, n_positions=2048, n_embd=2048, n_layer=24, n_head=16, n_inner=8192,
    activation_function="gelu_pytorch_tanh")
MISTRAL = MistralConfig(vocab_size=32001)
MIXTRAL = MixtralConfig(vocab_size=32001, num_local_experts=EXPERTS, num_experts_per_tok=2,
                        max_position_embeddings=32768, rope_theta=1e6, sliding_window=None)
LLAMA = LlamaConfig(
    vocab_size=32001, hidden_size=8192, intermediate_size=28672, num_hidden_layers=80,
    num_attention_heads=64, num_key_value_heads=8, max_position_embeddings=4096)
LLAMA3 = LlamaConfig(
    vocab_size=128258, hidden_size=4096, intermediate_size=14336, num_hidden_layers=32,
    num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=8192, rope_theta=5e5)
POWER = GraniteConfig(
    vocab_size=49152, hidden_size=2304, intermediate_size=9216, num_hidden_layers=40,
    num_attention_heads=36, num_key_value_heads=36, max_position_embeddings=4096,
    tie_word_embeddings=True, attention_dropout=0.1, embedding_multiplier=12.0, logits_scaling=9.0,
    residual_multiplier=0.22, attention_multiplier=0.015625, attention_bias=True, mlp_bias=True)
CONFIGS = {
    "bigcode/gpt_bigcode-santacoder": SANTACODER,
    "mistralai/Mistral-7B-v0.1": MISTRAL,
    "mistralai/Mixtral-8x7B-Instruct-v0.1": MIXTRAL,
    "NousResearch/Llama-2-70b-hf": LLAMA,
    "TheBloke/Mistral-7B-v0.1-GPTQ": MISTRAL,
    "TheBloke/Mixtral-8x7B-Instruct-v0.1-GPTQ": MIXTRAL,
    "TheBloke/Llama-2-70B-GPTQ": LLAMA,
    "meta-llama/Meta-Llama-3-8B": LLAMA3,
    "TechxGenus/Meta-Llama-3-8B-GPTQ": LLAMA3,
    "ibm/PowerLM-3b": POWER,
}
# Of weights that share a scale; of the others, all of a row do.
GROUPS = {"TheBloke/Mistral-7B-v0.1-GPTQ": 128, "TechxGenus/Meta-Llama-3-8B-GPTQ": 128}
MOST_BYTES = 4 * 2**30  # of a file: one that is larger than memory cannot be mapped
TYPES = {torch.bfloat16: "BF16", torch.float16: "F16"}
where = torch.where


def where_even(condition, *others):
    """Mixtral asks which tokens go to an expert, and a plan does not know: as many to each."""
    if others or not condition.is_cuda:
        return where(condition, *others)
    tokens = torch.arange(condition.numel() // EXPERTS, device=condition.device)
    return torch.zeros_like(tokens), tokens % condition.shape[1]


def write(name: str, dtype: torch.dtype) -> str:
    """The checkpoint's folder: its file is a head and a hole, which reads as zeros."""
    folder = os.path.abspath(name.split("/")[1])
    os.makedirs(folder, exist_ok=True)
    config = CONFIGS[name]
    if config is MIXTRAL:
        torch.where = where_even
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, torch_dtype=dtype)
    config.architectures = [type(model).__name__]
    config.save_pretrained(folder)
    if "GPTQ" in name:
        with open(f"{folder}/quantize_config.json", "w") as file:
            json.dump({"bits": 4, "group_size": GROUPS.get(name, -1), "desc_act": True,
                       "sym": True}, file)
    tied = set(model._tied_weights_keys or ()) if config.tie_word_embeddings else set()
    files = [({"__metadata__": {"format": "pt"}}, [0])]
    for key, tensor in model.state_dict().items():
        if key in tied:
            continue
        size = math.prod(tensor.shape) * dtype.itemsize
        if files[-1][1][0] + size > MOST_BYTES:
            files.append(({"__metadata__": {"format": "pt"}}, [0]))
        head, end = files[-1]
        head[key] = {"dtype": TYPES[dtype], "shape": list(tensor.shape),
                     "data_offsets": [end[0], end[0] + size]}
        end[0] += size
    where = {}
    for at, (head, end) in enumerate(files, 1):
        name = f"model-{at:05}-of-{len(files):05}.safetensors" if len(files) > 1 \
            else "model.safetensors"
        where |= {key: name for key in head if key != "__metadata__"}
        text = json.dumps(head).encode()
        text += b" " * (-len(text) % 8)
        with open(f"{folder}/{name}", "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            file.truncate(8 + len(text) + end[0])
    with open(f"{folder}/model.safetensors.index.json", "w") as file:
        json.dump({"metadata": {}, "weight_map": where}, file)
    return folder
