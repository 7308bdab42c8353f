# SPDX-License-Identifier: Apache-2.0
"""Makes lora.json: what peft says of LoRA on two models of make_golden.py, for tests/techniques to
agree with.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install torch==2.11.0 torchvision==0.26.0 \
        transformers==5.23.0 peft==0.21.2 && /tmp/golden/bin/python tests/golden/make_lora.py

Parameters and inputs are filled by make_golden.py's hash. Of a model with P tensors of its own, A
and B of the layers have the numbers P, P + 1 and so on, in the order of blocks and of the layers in
them, A before B. All in float64.
"""

import pathlib

import peft
import torch
from make_golden import (
    fill,
    fingerprint,
    make,
    make_inputs,
    next_token_loss,
    round_to_digits,
    to_lines,
    uniform,
)
from peft import LoraConfig, get_peft_model

RANK, ALPHA, CLASSES, TOKENS = 4, 6, 5, 16
TASKS = {"bert_mini": "SEQ_CLS", "gpt2_mini": "CAUSAL_LM"}
TARGETS = {  # as regular expressions; "all-linear" would take BERT's pooler as well
    ("bert_mini", "query_key_value"): r".*\.self\.(query|key|value)",
    ("bert_mini", "all_linear"): r".*\.encoder\..*(query|key|value|dense)",
    ("gpt2_mini", "query_key_value"): r".*\.c_attn",
    ("gpt2_mini", "all_linear"): r".*\.(c_attn|c_fc|c_proj)",
}


def low_rank(model):
    """A and B, in the order of blocks and of the layers in them."""
    return [(name.replace(".default", "").removeprefix("base_model.model."), parameter)
            for name, parameter in model.named_parameters() if ".lora_" in name]


def entry(name, targets):
    model = make(name, CLASSES, 0).double()
    fill(model)
    numbers = len(list(model.parameters()))
    inputs = make_inputs(name, 0, TOKENS, padded=False)
    model = get_peft_model(model, LoraConfig(
        task_type=TASKS[name], r=RANK, lora_alpha=ALPHA, target_modules=TARGETS[name, targets]))
    model = model.double()
    with torch.no_grad():
        for i, (_, parameter) in enumerate(low_rank(model)):
            parameter.copy_(uniform(numbers + i, parameter.shape) / 16)
    if name == "gpt2_mini":
        loss = next_token_loss(model(**inputs).logits, model, inputs)
    else:
        labels = torch.arange(len(inputs["input_ids"])) % CLASSES
        loss = torch.nn.functional.cross_entropy(model(**inputs).logits, labels)
    loss.backward()
    trained = [(trained_name, parameter) for trained_name, parameter in model.named_parameters()
               if parameter.requires_grad]
    gradients = [[low_rank_name, *fingerprint(parameter.grad)]
                 for low_rank_name, parameter in low_rank(model)]
    classifier = [[f"classifier.{trained_name.rsplit('.', 1)[1]}", *fingerprint(parameter.grad)]
                  for trained_name, parameter in trained if "classifier" in trained_name]
    assert len(trained) == len(gradients) + len(classifier), [n for n, _ in trained]
    merged = model.merge_and_unload()
    weights = [[weight_name, *fingerprint(parameter.detach())]
               for weight_name, parameter in merged.named_parameters()]
    return {"model": name, "targets": targets, "rank": RANK, "alpha": ALPHA, "num_classes": CLASSES,
            "image_size": 0, "tokens": TOKENS, "padded": False,
            "loss": round_to_digits(loss.item()), "gradients": gradients + classifier,
            "merged": weights}


def main():
    entries = [entry(*which) for which in TARGETS]
    values = {"peft": peft.__version__, "torch": torch.__version__.split("+")[0], "lora": entries}
    path = pathlib.Path(__file__).with_name("lora.json")
    path.write_text(to_lines(values))


main()
