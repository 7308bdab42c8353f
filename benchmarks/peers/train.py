# SPDX-License-Identifier: Apache-2.0
"""One rank of a case, in Python: its model from torchvision or transformers, its techniques from
PyTorch."""
import gc
import os
import statistics
import time
from contextlib import nullcontext
from unittest.mock import patch

import torch
import torch.distributed as dist
from not_covered import NotCovered
from optimizers import make_adalomo, make_optimizer
from torch.distributed.fsdp import fully_shard
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils.checkpoint import checkpoint
from torchvision.models import resnet50
from torchvision.models.resnet import Bottleneck, ResNet
from torchvision.models.vision_transformer import VisionTransformer
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
)

try:
    from peft import LoraConfig, get_peft_model
except ImportError:
    LoraConfig = None

COLUMNS = ("step_time_median_ns", "run_peak_allocated_bytes", "steady_peak_allocated_bytes")
MEMORY_STEPS = 2  # after the warm-up, while memory is read
MEMORY_TRIES = 5
MOST_LEFT = 2**16  # bytes that PyTorch itself keeps
SETTLE_S = 0.02

VIT = {  # patch, layers, heads, width
    "vit_ti_16": (16, 12, 3, 192),
    "vit_s_16": (16, 12, 6, 384),
    "vit_b_16": (16, 12, 12, 768),
    "vit_l_16": (16, 24, 16, 1024),
    "vit_h_14": (14, 32, 16, 1280),
}
BERT = {  # layers, heads, width
    "bert_mini": (4, 4, 256),
    "bert_base": (12, 12, 768),
    "bert_large": (24, 16, 1024),
}
GPT2 = {  # layers, heads, width
    "gpt2_mini": (4, 4, 256),
    "gpt2": (12, 12, 768),
}


class MiniResNet(ResNet):
    """torchvision's, with an eighth of the channels behind the stem."""

    def __init__(self, num_classes):
        super().__init__(Bottleneck, [2, 2, 1, 1])
        self.fc = torch.nn.Linear(self.inplanes, num_classes)

    def _make_layer(self, block, planes, *arguments, **options):
        return super()._make_layer(block, planes // 8, *arguments, **options)


RESNET = {"resnet_mini": MiniResNet, "resnet_50": resnet50}
LLAMA = {  # layers, heads, width, heads of queries a head of keys serves, vocabulary
    "llama_mini": (4, 4, 256, 2, 32000),
    "llama_1b": (16, 32, 2048, 4, 128256),
}
ROTARY = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 32.0, "low_freq_factor": 1.0,
          "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
LORA = {  # peft's task, attention's first products, its last, and the feed-forward layer's
    "bert": ("SEQ_CLS", r"self\.(query|key|value)", r"attention\.output\.dense",
             r"(intermediate|output)\.dense"),
    "distilbert": ("SEQ_CLS", r"attention\.(q|k|v)_lin", r"attention\.out_lin", r"ffn\.lin[12]"),
    "gpt2": ("CAUSAL_LM", r"attn\.c_attn", r"attn\.c_proj", r"mlp\.(c_fc|c_proj)"),
}
NO_TARGET = -100  # behind a text's last token
KNOWN = {"gradient_accumulation", "mixed_precision", "bfloat16", "sgd", "on_device_init",
         "activation_checkpointing", "chunked_loss", "optimizer_in_backward", "lora"}
JOINS_RANKS = {"ddp", "zero_1", "fsdp"}
NOT_ON_RANKS = {"gradient_accumulation", "optimizer_in_backward", "lora"}


def check(case: dict) -> None:
    unknown = set(case["techniques"]) - KNOWN - JOINS_RANKS
    if JOINS_RANKS & set(case["techniques"]):
        unknown |= NOT_ON_RANKS & set(case["techniques"])
    if unknown:
        raise NotCovered("technique " + ", ".join(sorted(unknown)))
    if (case["train"]["optimizer"]["name"] == "adalomo" and
            "gradient_accumulation" in case["techniques"]):
        raise NotCovered("adalomo after several backwards")
    sharding = case["techniques"].get("fsdp")
    if sharding and (sharding["prefetch_forward"] or not sharding["prefetch_backward"] or
                     sharding["parameter_dtype"] != "same" or sharding["reduce_dtype"] != "same" or
                     sharding["min_parameters"]):
        raise NotCovered("fsdp with other options than reshard_after_forward")
    checkpointing = case["techniques"].get("activation_checkpointing", {})
    if checkpointing.get("every", 1) != 1 or checkpointing.get("nested") or checkpointing.get(
            "reentrant"):
        raise NotCovered("activation_checkpointing other than by single blocks")
    if case["train"]["zero_grad_when"] != "after_step":
        raise NotCovered("zero_grad_when " + case["train"]["zero_grad_when"])
    if case["train"]["precision"] != "float32":
        raise NotCovered("precision " + case["train"]["precision"])
    if case["model"]["attention"] not in ("automatic", "eager", "flash", "math"):
        raise NotCovered("attention " + case["model"]["attention"])


def sized(model: dict, layers: int, heads: int, width: int) -> tuple:
    """The size of a name, with what the suite sets of it; 0 sets nothing."""
    return model["layers"] or layers, model["heads"] or heads, model["width"] or width


def make_llama(model: dict) -> LlamaForCausalLM:
    *size, queries_a_key_head, vocabulary = LLAMA[model["name"]]
    layers, heads, width = sized(model, *size)
    return LlamaForCausalLM(LlamaConfig(
        num_hidden_layers=layers, num_attention_heads=heads, hidden_size=width,
        num_key_value_heads=heads // queries_a_key_head, intermediate_size=4 * width,
        vocab_size=vocabulary, max_position_embeddings=131072, rms_norm_eps=1e-5,
        tie_word_embeddings=True, rope_parameters=dict(ROTARY), use_cache=False,
        attention_dropout=model["dropout"],
        attn_implementation="eager" if model["attention"] == "eager" else "sdpa"))


def make_model(case: dict):
    """The model and its repeated layers."""
    model, name = case["model"], case["model"]["name"]
    if name in VIT:
        if model["attention"] == "eager":
            raise NotCovered("eager attention in torchvision")
        patch, *size = VIT[name]
        layers, heads, width = sized(model, *size)
        made = VisionTransformer(
            case["data"]["image_size"], patch, layers, heads, width, 4 * width,
            dropout=model["dropout"], num_classes=model["num_classes"])
        return made, list(made.encoder.layers)
    if name in RESNET:
        made = RESNET[name](num_classes=model["num_classes"])
        return made, [module for module in made.modules() if isinstance(module, Bottleneck)]
    text = {"num_labels": model["num_classes"],
            "attn_implementation": "eager" if model["attention"] == "eager" else "sdpa"}
    if name in BERT:
        layers, heads, width = sized(model, *BERT[name])
        made = BertForSequenceClassification(BertConfig(
            num_hidden_layers=layers, num_attention_heads=heads, hidden_size=width,
            intermediate_size=4 * width, hidden_dropout_prob=model["dropout"],
            attention_probs_dropout_prob=model["dropout"], **text))
        return made, list(made.bert.encoder.layer)
    if name == "distilbert":
        layers, heads, width = sized(model, 6, 12, 768)
        made = DistilBertForSequenceClassification(DistilBertConfig(
            n_layers=layers, n_heads=heads, dim=width, hidden_dim=4 * width,
            dropout=model["dropout"], attention_dropout=model["dropout"],
            seq_classif_dropout=model["dropout"], **text))
        return made, list(made.distilbert.transformer.layer)
    if name in GPT2:
        layers, heads, width = sized(model, *GPT2[name])
        made = GPT2LMHeadModel(GPT2Config(
            n_layer=layers, n_head=heads, n_embd=width, resid_pdrop=model["dropout"],
            embd_pdrop=model["dropout"], attn_pdrop=model["dropout"], use_cache=False,
            attn_implementation=text["attn_implementation"]))
        return made, list(made.transformer.h)
    if name in LLAMA:
        made = make_llama(model)
        return made, list(made.model.layers)
    raise NotCovered("model " + name)


def add_lora(model, case: dict):
    options = case["techniques"]["lora"]
    family = case["model"]["name"].split("_")[0]
    if family not in LORA or LoraConfig is None:
        raise NotCovered("lora of " + case["model"]["name"] + ", or without peft")
    task, *layers = LORA[family]
    count = 1 + ("query_key_value", "attention", "all_linear").index(options["targets"])
    config = LoraConfig(task_type=task, r=options["rank"], lora_alpha=options["alpha"],
                        target_modules=rf".*({'|'.join(layers[:count])})")
    return get_peft_model(model, config, autocast_adapter_dtype=False)


def make_batch(case: dict):
    data, size = case["data"], case["train"]["batch_size"]
    labels = torch.randint(case["model"]["num_classes"], (size,))
    if case["model"]["name"] in VIT | RESNET:
        return torch.randn(size, 3, data["image_size"], data["image_size"]), labels
    tokens = torch.randint(100, 30000, (size, data["sequence_length"]))
    if case["model"]["name"] in GPT2 or case["model"]["name"] in LLAMA:
        labels = torch.nn.functional.pad(tokens, (0, 1), value=NO_TARGET)[:, 1:]
    return tokens, labels


class Case:
    """A model, its optimizer and a batch; `step` is one update."""

    def __init__(self, case: dict, device="cpu"):
        torch.manual_seed(case["train"]["seed"])
        self.train, self.techniques, self.device = case["train"], case["techniques"], device
        self.model, layers = make_model(case)
        self.model.train()
        self.dtype = torch.bfloat16 if "bfloat16" in self.techniques else torch.float32
        self.model.to(device).to(self.dtype)
        if "lora" in self.techniques:
            self.model = add_lora(self.model, case)
        if "activation_checkpointing" in self.techniques:
            for layer in layers:
                layer.forward = self.checkpointed(layer.forward)
        self.attention = {
            # Of ours on the CPU, and on a GPU where products are in 16 bits.
            "automatic": [SDPBackend.FLASH_ATTENTION],
            "flash": [SDPBackend.FLASH_ATTENTION],
            "math": [SDPBackend.MATH],
        }.get(case["model"]["attention"])
        self.share(layers)
        self.set_optimizer()
        self.inputs, self.labels = make_batch(case)

    @staticmethod
    def checkpointed(forward):
        return lambda *args, **options: checkpoint(forward, *args, use_reentrant=False, **options)

    def share(self, layers) -> None:
        """Among ranks: a unit for each block and one for the rest, or replicas."""
        if "fsdp" in self.techniques:
            reshard = self.techniques["fsdp"]["reshard_after_forward"]
            for layer in layers:
                fully_shard(layer, reshard_after_forward=reshard)
            fully_shard(self.model)
        elif JOINS_RANKS & set(self.techniques):
            options = self.techniques.get("ddp", {})
            self.model = DistributedDataParallel(
                self.model, bucket_cap_mb=options.get("bucket_mib", 25),
                gradient_as_bucket_view=options.get("gradient_as_bucket_view", False))

    def set_optimizer(self) -> None:
        options = self.train["optimizer"]
        if "sgd" in self.techniques:
            options = options | self.techniques["sgd"] | {"name": "sgd"}
        self.optimizer = None
        self.hooks = []
        trained = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        self.backward = torch.Tensor.backward
        if options["name"] == "adalomo" and "optimizer_in_backward" in self.techniques:
            adalomo = make_adalomo(options, self.model)
            self.backward = lambda loss: adalomo.fused_backward(loss, options["lr"])
            return
        if "optimizer_in_backward" not in self.techniques:
            self.optimizer = make_optimizer(options, trained, shared="zero_1" in self.techniques)
            return
        self.hooks = [self.update_in_backward(parameter, make_optimizer(options, [parameter]))
                      for parameter in trained]

    @staticmethod
    def update_in_backward(parameter, optimizer):
        def update(_):
            optimizer.step()
            optimizer.zero_grad()

        return parameter.register_post_accumulate_grad_hook(update)

    def close(self) -> None:
        """A hook keeps its parameter, which keeps the hook, where no collector of garbage sees."""
        for hook in self.hooks:
            hook.remove()
        for parameter in self.model.parameters():  # AdaLomo's keeps no handle of its hooks
            parameter._backward_hooks = None

    def loss(self, inputs, labels):
        precision = self.techniques.get("mixed_precision")
        autocast = (torch.autocast(self.device, getattr(torch, precision["dtype"])) if precision
                    else nullcontext())
        with autocast:
            if "chunked_loss" in self.techniques:
                return self.chunked_loss(inputs, labels, self.techniques["chunked_loss"]["chunks"])
            output = self.model(inputs.to(self.dtype) if inputs.is_floating_point() else inputs)
        logits = output if torch.is_tensor(output) else output.logits
        return self.cross_entropy(logits, labels)

    @staticmethod
    def cross_entropy(logits, labels, **options):
        return torch.nn.functional.cross_entropy(
            logits.float().flatten(0, -2), labels.flatten(), **options)

    def chunked_loss(self, inputs, labels, chunks):
        """Of some tokens at a time, each with a checkpoint of its own."""
        def of_some(hidden, targets):
            return self.cross_entropy(self.model.lm_head(hidden), targets, reduction="sum")

        hidden = self.model.base_model(inputs).last_hidden_state
        parts = zip(hidden.chunk(chunks, 1), labels.chunk(chunks, 1))
        total = sum(checkpoint(of_some, *part, use_reentrant=False) for part in parts)
        return total / (labels != NO_TARGET).sum()

    def step(self) -> None:
        parts = self.techniques.get("gradient_accumulation", {}).get("micro_batches", 1)
        total = len(self.labels)
        inputs_there, labels_there = self.inputs.to(self.device), self.labels.to(self.device)
        attention = sdpa_kernel(self.attention) if self.attention else nullcontext()
        with attention:  # in backward as well, where checkpoints run again
            for inputs, labels in zip(inputs_there.chunk(parts), labels_there.chunk(parts)):
                self.backward(self.loss(inputs, labels) * (len(labels) / total))
        if self.train["max_gradient_norm"]:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.train["max_gradient_norm"])
        if self.optimizer:
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=self.train["zero_grad"] == "to_none")


def measure_time(case: dict) -> int:
    """Median nanoseconds of a step."""
    trained = Case(case)
    samples = []
    for number in range(case["train"]["warmup_steps"] + case["train"]["steps"]):
        start = time.perf_counter_ns()
        trained.step()
        if number >= case["train"]["warmup_steps"]:
            samples.append(time.perf_counter_ns() - start)
    trained.close()
    return int(statistics.median(samples))


def wait_and_settle(work, *arguments, wait=dist.Work.wait):
    """gloo's thread drops its tensors just after it has said that it is done. The profiler does not
    see what is freed there, so that the caller has to be the last one."""
    done = wait(work, *arguments)
    time.sleep(SETTLE_S)
    return done


def measure_memory(case: dict) -> tuple:
    """Peak of the bytes allocated over the whole run, and from the end of the warm-up on."""
    for _ in range(MEMORY_TRIES):
        *peaks, left = follow_memory(case)
        left = torch.tensor(left)
        if dist.is_initialized():  # all ranks try again, or none
            dist.all_reduce(left, op=dist.ReduceOp.MAX)
        if left <= MOST_LEFT:
            return peaks
    raise RuntimeError(f"{left} bytes were freed where the profiler did not see it")


def follow_memory(case: dict) -> tuple:
    """Both peaks, and the bytes of which no release was seen once all was dropped."""
    cpu = [ProfilerActivity.CPU]
    with (profile(activities=cpu, profile_memory=True, acc_events=True) as profiler,
          patch.object(dist.Work, "wait", wait_and_settle)):
        trained = Case(case)
        for _ in range(case["train"]["warmup_steps"]):
            trained.step()
        with record_function("steady"):
            for _ in range(MEMORY_STEPS):
                trained.step()
        trained.close()
        del trained
        gc.collect()
    events = sorted(profiler.profiler.kineto_results.events(), key=lambda event: event.start_ns())
    live = run_peak = steady_peak = 0
    steady = False
    for event in events:
        if event.name() == "steady":
            steady, steady_peak = True, live
        elif event.name() == "[memory]":
            live += event.nbytes()
            run_peak = max(run_peak, live)
            steady_peak = max(steady_peak, live) if steady else 0
    return run_peak, steady_peak, live


def join_ranks(case: dict) -> None:
    """As ours do: gloo on the loopback interface, and a file to meet at."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    store = dist.FileStore(case["store"], case["ranks"])
    dist.init_process_group("gloo", store=store, rank=case["rank"], world_size=case["ranks"])


def measure(case: dict) -> dict:
    """Of the rank case["rank"], which meets the others at the file case["store"]."""
    check(case)
    if JOINS_RANKS & set(case["techniques"]):
        join_ranks(case)
    # Memory in a second run of its own: what the profiler keeps must not cost time in the first.
    step_time = measure_time(case)
    gc.collect()  # what is freed later would count as freed in the second
    result = dict(zip(COLUMNS, (step_time, *measure_memory(case))))
    if dist.is_initialized():
        dist.destroy_process_group()
    return result
