# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes as the trainer of ljm565/universal-llm-trainer does, without weights (source.yaml)."""
import contextlib
import os
import sys

import torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel, MixedPrecision
from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

import checkpoint
import models
import rows

BATCH = 2
TOKENS = 8192
ASKED = 200  # tokens of a text; the mask says so of all 8,192 where the trainer is tested
STEPS = 3
TARGETS = ["q_proj", "v_proj", "k_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
PHI3_TARGETS = ["qkv_proj", "o_proj", "gate_up_proj", "down_proj"]
QUANTIZED = BitsAndBytesConfig(
    load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16, bnb_4bit_quant_type="nf4",
    bnb_4bit_use_double_quant=True)


def quantized(name):
    return AutoModelForCausalLM.from_pretrained(
        checkpoint.write(name, models.CONFIGS[name](), torch.bfloat16),
        device_map=torch.device("cuda:0"), low_cpu_mem_usage=True, use_cache=False,
        torch_dtype=torch.float32, quantization_config=QUANTIZED)


def whole(name, is_sharded):
    config = models.CONFIGS[name]()
    config.use_cache = False
    with rows.Undrawn(), torch.device("cpu" if is_sharded else "cuda:0"):
        return AutoModelForCausalLM.from_config(config, torch_dtype=torch.bfloat16)


class Unwritten(rows.Undrawn):
    """Lays a rank's shards out on the host without writing them, as a host with less memory may."""

    def __torch_function__(self, function, types, arguments=(), names=None):
        if function is torch.Tensor.pin_memory:
            return torch.empty_like(arguments[0], pin_memory=True)
        if function is torch.zeros_like and arguments[0].device.type == "cpu":
            return torch.empty_like(*arguments, **names or {})
        return super().__torch_function__(function, types, arguments, names)


class Tuned(torch.nn.Module):
    """The network with its loss: a module above that of transformers, as the trainer has it."""

    def __init__(self, name, tuned, is_sharded):
        super().__init__()
        self.model = quantized(name) if tuned == "qlora" else whole(name, is_sharded)
        self.model.enable_input_require_grads()
        self.model.gradient_checkpointing_enable()
        self.criterion = torch.nn.CrossEntropyLoss()

    def forward(self, batch):
        output = self.model(input_ids=batch["src"], attention_mask=batch["mask"],
                            output_hidden_states=False)
        logits = output.logits[:, :-1, :].reshape(-1, output.logits.size(-1))
        loss = self.criterion(logits, batch["label"][:, 1:].reshape(-1))
        del output
        return loss


def adapted(model, name):
    targets = PHI3_TARGETS if name.startswith("phi3") else TARGETS
    lora = LoraConfig(r=8, lora_alpha=16, lora_dropout=0.05, bias="none", task_type="CAUSAL_LM",
                      target_modules=targets)
    model.model = get_peft_model(model.model, lora)


def sharded(model, name):
    least = 100 if name.startswith("gemma-7b") else 10000

    def policy(**asked):
        return size_based_auto_wrap_policy(**asked, min_num_params=least)

    return FullyShardedDataParallel(
        model, auto_wrap_policy=policy, device_id=torch.cuda.current_device(), cpu_offload=CPUOffload(offload_params=True),
        mixed_precision=MixedPrecision(param_dtype=torch.float16, cast_forward_inputs=True))


def one_rank(rank, name, tuned, ranks):
    is_sharded = ranks > 1
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.backends.cudnn.deterministic = True
    torch.cuda.set_device(rank)
    if is_sharded:
        torch.distributed.init_process_group("nccl", init_method="tcp://127.0.0.1:10001",
                                             world_size=ranks, rank=rank)
        torch.distributed.barrier()
    model = Tuned(name, tuned, is_sharded)
    if tuned == "qlora":
        model = prepare_model_for_kbit_training(model)
    if tuned != "full":
        adapted(model, name)
    model.train()
    torch.utils.deterministic.fill_uninitialized_memory = not is_sharded
    if is_sharded:
        model = sharded(model, name)
        # What the host updates is none of the GPU's: an update of one number ends a batch.
        trained = [torch.nn.Parameter(torch.zeros(1))]
    else:
        trained = model.parameters()
    optimizer = torch.optim.AdamW(trained, lr=5e-5, betas=(0.9, 0.999), weight_decay=0.0)
    unwritten = Unwritten() if is_sharded else contextlib.nullcontext()
    for _ in range(STEPS):
        batch = {"src": torch.zeros(BATCH, TOKENS, dtype=torch.long),
                 "mask": torch.ones(BATCH, TOKENS, dtype=torch.long),
                 "label": torch.zeros(BATCH, TOKENS, dtype=torch.long)}
        batch["mask"][:, ASKED:] = 0
        batch = {name: tensor.pin_memory().to("cuda") for name, tensor in batch.items()}
        with unwritten:
            loss = model(batch)
            loss = loss / (1 if tuned == "full" and not is_sharded else 32)
            loss.backward()
        torch.nn.utils.clip_grad_norm_(trained if is_sharded else model.parameters(), 10.0)
        optimizer.step()
        optimizer.zero_grad()
        loss.item()
        loss.item()
    torch.cuda.reset_peak_memory_stats()  # the figure is what is reserved behind a batch
    print(torch.cuda.memory_reserved(), file=sys.stderr)


if __name__ == "__main__":
    name, tuned, ranks = sys.argv[1:]
    if ranks == "1":
        one_rank(0, name, tuned, 1)
    else:
        torch.multiprocessing.spawn(one_rank, (name, tuned, int(ranks)), int(ranks))
