# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes Llama 2 as optimum-benchmark's PyTorch backend does, without weights (source.yaml)."""
import sys
import tempfile

import torch
from datasets import Dataset
from peft import LoraConfig, get_peft_model
from safetensors.torch import save_model
from transformers import (
    AutoModelForCausalLM, BitsAndBytesConfig, GPTQConfig, LlamaConfig, Trainer, TrainingArguments)

TOKENS = 256
SAMPLES = 160
STEPS = 4
SIZES = {  # width, of the feed-forward, layers and heads
    "7b": (4096, 11008, 32), "13b": (5120, 13824, 40)}
QUANTIZATIONS = {
    "bnb-4bit": lambda: BitsAndBytesConfig(load_in_4bit=True,
                                           bnb_4bit_compute_dtype=torch.float16),
    "gptq-4bit": lambda: GPTQConfig(bits=4, disable_exllama=True)}


def load(size, quantization):
    width, inner, layers = SIZES[size]
    config = LlamaConfig(
        vocab_size=32000, hidden_size=width, intermediate_size=inner, num_hidden_layers=layers,
        num_attention_heads=layers, max_position_embeddings=4096, rms_norm_eps=1e-5,
        pad_token_id=0, torch_dtype="float16", architectures=["LlamaForCausalLM"])
    options = {"torch_dtype": torch.float16, "_fast_init": False}
    if quantization:
        options["quantization_config"] = QUANTIZATIONS[quantization]()
        options["low_cpu_mem_usage"] = True
        config.quantization_config = options["quantization_config"].to_dict()
    if quantization == "gptq-4bit":
        options["device_map"] = torch.device("cuda")
    with tempfile.TemporaryDirectory() as folder:
        config.save_pretrained(folder)
        save_model(torch.nn.Linear(1, 1), f"{folder}/model.safetensors", metadata={"format": "pt"})
        if quantization:
            return AutoModelForCausalLM.from_pretrained(folder, **options)
        with torch.device("cuda"):
            model = AutoModelForCausalLM.from_pretrained(folder, **options)
    for weight in model.parameters():
        weight.data.normal_(mean=0.0, std=0.2)
    model.tie_weights()
    return model


def train(size, trained, quantization, batch):
    model = load(size, quantization)
    if trained == "lora":
        model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=8, lora_alpha=8,
                                                 lora_dropout=0))
    ones = [[1] * TOKENS] * SAMPLES
    texts = Dataset.from_dict({"input_ids": ones, "attention_mask": ones, "labels": ones})
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(folder, per_device_train_batch_size=int(batch),
                                      max_steps=STEPS, report_to="none", disable_tqdm=True)
        Trainer(model, arguments, train_dataset=texts.with_format("torch")).train()


train(*sys.argv[1:])
