# SPDX-License-Identifier: Apache-2.0
"""One rank of a case, in Python: its model from torchvision or transformers, its techniques from
PyTorch."""
import gc
import os
import pathlib
import statistics
import sys
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
from torchvision.models.resnet import Bottleneck

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/golden"))
from references import BERTS, BIGBIRDS, DISTILBERTS, GPT2S, LLAMAS, RESNETS, VITS, make

try:
    from peft import LoraConfig, get_peft_model
except ImportError:
    LoraConfig = None

COLUMNS = ("step_time_median_ns", "run_peak_allocated_bytes", "steady_peak_allocated_bytes")
MEMORY_STEPS = 2  # after the warm-up, while memory is read
MEMORY_TRIES = 5
MOST_LEFT = 2**16  # bytes that PyTorch itself keeps
SETTLE_S = 0.02

LAYERS = [  # of which models, and where the repeated layers are; those of a ResNet lie scattered
    (VITS, "encoder.layers"),
    (BERTS, "bert.encoder.layer"),
    (DISTILBERTS, "distilbert.transformer.layer"),
    (GPT2S, "transformer.h"),
    (LLAMAS, "model.layers"),
]
FEED_FORWARD = [  # in a layer: the nonlinear function, and the product that reads its result
    (BERTS, "intermediate.intermediate_act_fn", "output.dense"),
    (DISTILBERTS, "ffn.activation", "ffn.lin2"),
    (GPT2S, "mlp.act", "mlp.c_proj"),
]
LORA = {  # peft's task, attention's first products, its last, and the feed-forward layer's
    "bert": ("SEQ_CLS", r"self\.(query|key|value)", r"attention\.output\.dense",
             r"(intermediate|output)\.dense"),
    "distilbert": ("SEQ_CLS", r"attention\.(q|k|v)_lin", r"attention\.out_lin", r"ffn\.lin[12]"),
    "gpt2": ("CAUSAL_LM", r"attn\.c_attn", r"attn\.c_proj", r"mlp\.(c_fc|c_proj)"),
}
NO_TARGET = -100  # behind a text's last token
KNOWN = {"gradient_accumulation", "mixed_precision", "bfloat16", "sgd", "on_device_init",
         "activation_checkpointing", "recomputed_nonlinearity", "chunked_loss",
         "optimizer_in_backward", "lora", "cuda_graphs"}
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
    if {"cuda_graphs", "gradient_accumulation"} <= set(case["techniques"]):
        raise NotCovered("cuda_graphs of micro-batches")
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


def make_model(case: dict):
    """The model and its repeated layers."""
    model, name = case["model"], case["model"]["name"]
    eager = model["attention"] == "eager"
    if name in VITS and eager:
        raise NotCovered("eager attention in torchvision")
    if name in BIGBIRDS:  # transformers' has other operators: plan_bigbird.py
        raise NotCovered("model " + name)
    size = {key: model[key] for key in ("layers", "width", "heads") if model.get(key)}
    made = make(name, model["num_classes"], case["data"].get("image_size"), model["dropout"], size,
                "eager" if eager else "sdpa")
    if name in RESNETS:
        return made, [module for module in made.modules() if isinstance(module, Bottleneck)]
    path = next(path for names, path in LAYERS if name in names)
    return made, list(made.get_submodule(path))


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


def checkpointed(forward):
    return lambda *args, **options: checkpoint(forward, *args, use_reentrant=False, **options)


def recompute_nonlinearity(layers: list, name: str) -> None:
    """One checkpoint around the function and the product: around the function alone, the product
    would keep its result."""
    found = next((paths for names, *paths in FEED_FORWARD if name in names), None)
    if found is None:
        raise NotCovered("recomputed_nonlinearity of " + name)
    for layer in layers:
        nonlinear, product = (layer.get_submodule(path) for path in found)
        layer.set_submodule(found[0], torch.nn.Identity())
        product.forward = checkpointed(
            lambda x, first=nonlinear, second=product.forward: second(first(x)))


def make_batch(case: dict):
    data, size = case["data"], case["train"]["batch_size"]
    labels = torch.randint(case["model"]["num_classes"], (size,))
    if case["model"]["name"] in VITS | RESNETS:
        return torch.randn(size, 3, data["image_size"], data["image_size"]), labels
    tokens = torch.randint(100, 30000, (size, data["sequence_length"]))
    if case["model"]["name"] in GPT2S | LLAMAS:
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
        if "recomputed_nonlinearity" in self.techniques:
            recompute_nonlinearity(layers, case["model"]["name"])
        if "activation_checkpointing" in self.techniques:
            for layer in layers:
                layer.forward = checkpointed(layer.forward)
        self.attention = {
            # Of ours on the CPU, and on a GPU where products are in 16 bits.
            "automatic": [SDPBackend.FLASH_ATTENTION],
            "flash": [SDPBackend.FLASH_ATTENTION],
            "math": [SDPBackend.MATH],
        }.get(case["model"]["attention"])
        self.share(layers)
        self.set_optimizer()
        self.inputs, self.labels = make_batch(case)
        self.steps = 0
        self.graph = None
        self.stream = torch.cuda.Stream() if "cuda_graphs" in self.techniques else None

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
        attention = sdpa_kernel(self.attention) if self.attention else nullcontext()
        # In backward as well, where checkpoints run again. Without a stream the second is nothing.
        with attention, torch.cuda.stream(self.stream):
            self.record_gradients() if self.stream and self.steps else self.make_gradients()
            self.update()
        self.steps += 1

    def record_gradients(self) -> None:
        """In the second step; all others launch what it recorded."""
        inputs, labels = self.inputs.to(self.device), self.labels.to(self.device)
        if self.graph is None:
            self.graph, self.recorded = torch.cuda.CUDAGraph(), (inputs, labels)
            with torch.cuda.graph(self.graph, stream=self.stream):
                self.backward(self.loss(inputs, labels))
        else:
            self.recorded[0].copy_(inputs)
            self.recorded[1].copy_(labels)
        self.graph.replay()

    def make_gradients(self) -> None:
        parts = self.techniques.get("gradient_accumulation", {}).get("micro_batches", 1)
        total = len(self.labels)
        inputs_there, labels_there = self.inputs.to(self.device), self.labels.to(self.device)
        for inputs, labels in zip(inputs_there.chunk(parts), labels_there.chunk(parts)):
            self.backward(self.loss(inputs, labels) * (len(labels) / total))

    def update(self) -> None:
        if self.train["max_gradient_norm"]:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.train["max_gradient_norm"])
        if self.optimizer:
            self.optimizer.step()
            if self.graph is None:  # which writes to the gradients' memory, wherever that is
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
