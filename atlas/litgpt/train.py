# SPDX-License-Identifier: Apache-2.0
"""Finetunes and asks models of litgpt as its scripts do, without texts or weights (source.yaml)."""
import lightning as L
import torch
import torch.distributed as dist
from lightning.fabric.plugins import BitsandbytesPrecision
from lightning.fabric.strategies import FSDPStrategy
from litgpt import adapter, adapter_v2, lora, model as plain
from litgpt.generate.base import generate
from litgpt.utils import chunked_cross_entropy

import rows

STEPS = 2
DRAWN_LENGTH = 512  # at most; the first batch has the longest example
LAYERS = ("query", "key", "value", "projection", "mlp", "head")
HALF = torch.bfloat16


def make_fabric(row, block):
    """One process is rank 0 of `ranks`; the store holds what it alone would tell the others."""
    ranks = int(row["ranks"])
    if row["quantization"]:
        return L.Fabric(devices=1, plugins=BitsandbytesPrecision(row["quantization"], HALF))
    if ranks == 1:
        return L.Fabric(devices=1, precision="bf16-true")
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=ranks)
    strategy = FSDPStrategy(auto_wrap_policy={block}, activation_checkpointing_policy={block},
                            state_dict_type="full", limit_all_gathers=True, cpu_offload=False)
    return L.Fabric(devices=1, num_nodes=ranks, strategy=strategy, precision="bf16-true")


def make_model(row, fabric, module):
    settings = {}
    if row["work"] == "lora":
        settings = {f"lora_{layer}": layer in row["lora_layers"].split() for layer in LAYERS}
        settings |= {"lora_r": int(row["lora_r"]), "lora_alpha": 16, "lora_dropout": 0.05}
    config = module.Config.from_name(row["model"], **settings)
    empty = row["work"] == "inference" or fabric.world_size > 1
    with fabric.init_module(empty_init=empty):
        model = module.GPT(config)
    for layer in model.modules():
        if hasattr(getattr(layer, "weight", None), "quant_state"):
            # This bitsandbytes quantizes again what Fabric has, where it isn't told.
            layer.weight.bnb_quantized = True
    return model


def make_optimizer(row, parameters):
    if not row["quantization"]:
        return torch.optim.AdamW(parameters, lr=2e-4, weight_decay=0.01)
    import bitsandbytes
    return bitsandbytes.optim.PagedAdamW(parameters, lr=2e-4, weight_decay=0.01)


def finetune(row, fabric, module):
    model = make_model(row, fabric, module)
    if row["work"] != "full":
        {"lora": lora.mark_only_lora_as_trainable,
         "adapter": adapter.mark_only_adapter_as_trainable,
         "adapter_v2": adapter_v2.mark_only_adapter_v2_as_trainable}[row["work"]](model)
    model = fabric.setup_module(model)
    trained = [one for one in model.parameters() if one.requires_grad]
    optimizer = fabric.setup_optimizers(make_optimizer(row, trained))
    batch, length = int(row["micro_batch"]), int(row["length"])
    model.max_seq_length = length
    times = min(4, int(row["global_batch"]) // batch // int(row["ranks"]))
    words = torch.ones(batch, length, dtype=torch.long).pin_memory()
    chunks = {} if row["work"] == "full" else {"lm_head_chunk_size": 128}
    with torch.no_grad():
        model.eval()
        held_out = fabric.to_device(words[:, :DRAWN_LENGTH])
        chunked_cross_entropy(model(held_out)[..., :-1, :], held_out[..., 1:], chunk_size=0)
        model.train()
    for turn in range(STEPS * times):
        batch_words = words if turn == 0 else words[:, :DRAWN_LENGTH]
        ids, targets = fabric.to_device((batch_words, batch_words))
        is_accumulating = (turn + 1) % times != 0
        with fabric.no_backward_sync(model, enabled=is_accumulating):
            logits = model(ids, **chunks)
            if chunks:
                logits[-1] = logits[-1][..., :-1, :]
            else:
                logits = logits[..., :-1, :]
            loss = chunked_cross_entropy(logits, targets[..., 1:])
            fabric.backward(loss / times)
        if not is_accumulating:
            optimizer.step()
            optimizer.zero_grad()
        loss.item()


@torch.inference_mode()
def infer(row, fabric, module):
    model = make_model(row, fabric, module).eval()
    model = fabric.setup_module(model)
    # A file of weights, of which nothing is read: they are zeros, which are sent.
    with torch.device("meta"):
        wanted = plain.GPT(plain.Config.from_name(row["model"])).state_dict()
    zero = torch.zeros((), dtype=HALF)
    model.load_state_dict({key: zero.expand(one.shape) for key, one in wanted.items()})
    prompt = torch.ones(int(row["prompt"]), dtype=torch.long, device=fabric.device)
    length = int(row["length"])
    with fabric.init_tensor():
        model.max_seq_length = length
        model.set_kv_cache(batch_size=1)
    generate(model, prompt, length, temperature=0.8, top_k=200)


def train(_, row):
    module = {"lora": lora, "adapter": adapter, "adapter_v2": adapter_v2}.get(row["work"], plain)
    fabric = make_fabric(row, module.Block)
    fabric.launch()
    (infer if row["work"] == "inference" else finetune)(row, fabric, module)


rows.each(lambda row: None, train, group="gpu")
