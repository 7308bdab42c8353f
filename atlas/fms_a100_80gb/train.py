# SPDX-License-Identifier: Apache-2.0
"""Finetunes as tuning.sft_trainer of fms-hf-tuning with the benchmark's settings (source.yaml)."""
import os

import models  # first: it changes what others import
import accelerate
import torch
import yaml
from datasets import Dataset
from peft import LoraConfig
from peft.utils.other import fsdp_auto_wrap_policy
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

import fsdp
import rows

STEPS = 2
FAST = {"fast_rms_layernorm": True, "fast_rope_embeddings": True}


def framework_of(row):
    """The benchmark's files for its frameworks."""
    name, plugins = row["framework"], {}
    fast = FAST | {"fast_loss": "fused_ce_liger" if "liger" in name else True}
    if "bnb" in name:
        plugins = {"bitsandbytes": {"quant_type": "nf4", "no_peft_model": "baseline" in name}}
    elif "autogptq" in name:
        plugins = {"auto_gptq": {"kernel": "triton_v2", "from_quantized": True,
                                 "use_external_lib": False}}
    if plugins and "foak" in name:
        base = "bitsandbytes" if "bnb" in name else "auto_gptq"
        plugins["fused_ops_and_kernels"] = {"base_layer": base, "fused_lora": True, **fast}
    plugins = {"peft": {"quantization": plugins}} if plugins else plugins
    if name.startswith("foak"):
        plugins = {"training": {"fused_ops_and_kernels": fast}}
    if not plugins:
        return None
    from fms_acceleration import AccelerationFramework  # some versions look at the GPU at once
    with open(f"framework-{os.getpid()}.yaml", "w") as file:
        yaml.safe_dump({"plugins": plugins}, file)
    return AccelerationFramework(file.name)


def load_gptq(framework, folder, is_alone, **options):
    """Without a checkpoint: what one would fill is made on the meta device, then on the GPU."""
    from fms_acceleration_peft.gptqmodel import GPTQModel
    from fms_acceleration_peft.gptqmodel.models import base
    accelerate.load_checkpoint_in_model = lambda *_, **__: None
    base.convert_gptq_v1_to_v2_format = lambda model, **_: model
    base.simple_dispatch_model = \
        lambda model, _: model.to_empty(device="cuda" if is_alone else "cpu")
    from_quantized = GPTQModel.from_quantized

    def on_meta(*words, **rest):
        with torch.device("meta"):
            return from_quantized(*words, **rest)

    GPTQModel.from_quantized = on_meta
    return framework.model_loader(folder, **options)


def load(framework, folder, row, dtype):
    options = {"torch_dtype": dtype, "attn_implementation": "flash_attention_2"}
    if "autogptq" in row["framework"]:
        return load_gptq(framework, folder, row["gpus"] == "1", **options)
    if framework is not None and framework.requires_custom_loading:
        return framework.model_loader(folder, **options)
    # The machine's memory holds no such model: the pages of the file stand in for it.
    return AutoModelForCausalLM.from_pretrained(folder, low_cpu_mem_usage=True, **options)


def data_of(row, length):
    count = STEPS * int(row["batch"]) * int(row["gpus"])
    tokens = [[1] * length] * count
    words = Tokenizer(WordLevel({"<s>": 0, "<pad>": 1}, unk_token="<s>"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<s>", pad_token="<pad>")
    tokenizer.padding_side = "right"
    return tokenizer, Dataset.from_dict({"input_ids": tokens, "labels": tokens})


def one_rank(folder, row):
    dtype = getattr(torch, row["dtype"])
    mixed = {row["mixed"]: True} if row["mixed"] else {}
    settings = SFTConfig(
        output_dir="out", per_device_train_batch_size=int(row["batch"]), max_steps=STEPS,
        gradient_checkpointing=True, weight_decay=0.01, warmup_steps=10, adam_epsilon=1e-4,
        learning_rate=2e-4 if row["peft"] else 2e-5, lr_scheduler_type="linear", logging_steps=10,
        save_strategy="no", eval_strategy="no", report_to=[], skip_memory_metrics=False,
        include_tokens_per_second=True, dataset_kwargs={"skip_prepare_dataset": True},
        max_seq_length=4096, **mixed)
    framework = framework_of(row)
    model = load(framework, folder, row, dtype)
    lora = None
    if row["peft"]:
        lora = LoraConfig(r=16, lora_alpha=16, lora_dropout=0.1, task_type="CAUSAL_LM",
                          target_modules=row["targets"].split())
    names = ("requires_augmentation", "requires_agumentation")  # as older versions have it
    if any(getattr(framework, name, False) for name in names):
        model, (lora,) = framework.augmentation(model, settings, modifiable_args=(lora,))
    tokenizer, data = data_of(row, 2048 if "santacoder" in row["model"] else 4096)
    trainer = SFTTrainer(model=model, tokenizer=tokenizer, train_dataset=data, args=settings,
                         peft_config=lora)
    if trainer.is_fsdp_enabled and lora is not None:
        trainer.accelerator.state.fsdp_plugin.auto_wrap_policy = fsdp_auto_wrap_policy(model)
    if framework is not None:
        for callback in framework.get_callbacks_and_ready_for_train(model, trainer.accelerator):
            trainer.add_callback(callback)
    trainer.train()


def make(row):
    return models.write(row["model"], getattr(torch, row["dtype"]))


def train(folder, row):
    gpus = int(row["gpus"])
    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, range(gpus)))
    if gpus == 1:
        return one_rank(folder, row)
    fsdp.in_each_rank(gpus, lambda: one_rank(folder, row))


rows.each(make, train)
