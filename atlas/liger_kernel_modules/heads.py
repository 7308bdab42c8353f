# SPDX-License-Identifier: Apache-2.0
"""Losses behind a head that the benchmarks of liger-kernel compare: Liger's, in chunks, compiled,
and the same by PyTorch. The heads of both are on the GPU. A builder gives the loss as a function of
nothing, and all that it made, which lives as long."""
import importlib

import torch
import torch.nn.functional as F
from torch import nn


def head(inputs, outputs, dtype, bias=False):
    return nn.Linear(inputs, outputs, bias=bias, dtype=dtype, device="cuda")


def random(*shape, dtype, needs_gradient=False):
    return torch.randn(*shape, dtype=dtype, device="cuda", requires_grad=needs_gradient)


def log_probabilities(logits, labels, ignored):
    """The mean of each text's."""
    mask = labels != ignored
    labels = torch.where(labels == ignored, 0, labels)
    each = torch.gather(logits.log_softmax(-1), dim=2, index=labels.unsqueeze(2)).squeeze(2)
    return (each * mask).sum(-1) / mask.sum(-1)


def cross_entropy(logits, labels, ignored=-100):
    return nn.CrossEntropyLoss(ignore_index=ignored)(
        logits.view(-1, logits.shape[-1]), labels.view(-1))


def odds_ratio(chosen, rejected):
    odds = (chosen - rejected) - (torch.log1p(-torch.exp(chosen))
                                  - torch.log1p(-torch.exp(rejected)))
    return 0.1 * F.logsigmoid(odds)


def contrast(margin):
    """CPO's loss, and SimPO's, which has a margin."""
    def of(chosen, rejected):
        logits = chosen - rejected
        logits = logits - margin if margin else logits
        return F.logsigmoid(0.1 * logits) * 1.0 + F.logsigmoid(-0.1 * logits) * 0.0
    return of


def preferred(x, weight, target):
    """The first half of the texts is what was chosen, the other what was rejected."""
    half = x.shape[0] // 2
    small = x @ weight.t()
    logits = small.float()
    loss = cross_entropy(logits[:half], target[:half])
    each = log_probabilities(logits, target, -100)
    return each[:half], each[half:], logits, loss


def of_preference(row, config, dtype):
    count, length, width, words = int(row["x"]), config["T"], config["H"], config["V"]
    plain, own = (head(width, words, dtype) for _ in range(2))
    x = random(count, length, width, dtype=dtype, needs_gradient=True)
    target = torch.randint(words, (count, length), dtype=torch.long, device="cuda")
    name = {"orpo": "ORPO", "cpo": "CPO", "simpo": "SimPO"}[row["kernel"].split("_")[2]]
    if row["provider"] == "liger":
        module = importlib.import_module(f"liger_kernel.chunked_loss.{name.lower()}_loss")
        fused = getattr(module, f"LigerFusedLinear{name}Function").apply
        return lambda: fused(x, own.weight, target), locals()
    align = odds_ratio if name == "ORPO" else contrast(5.0 if name == "SimPO" else 0)

    def loss():
        chosen, rejected, logits, loss = preferred(x, plain.weight, target)  # logits live as long
        losses = align(chosen, rejected)
        return loss * 1.0 - losses.mean() if name != "ORPO" else loss - losses.mean()
    return loss, locals()


def of_kto(row, config, dtype):
    """The inputs need no gradient, the biases have one."""
    count, length, width, words = int(row["x"]), config["T"], config["H"], config["V"]
    ignored, beta = config["ignore_index"], config["beta"]
    plain, plain_reference, own, own_reference = (head(width, words, dtype, config["bias"])
                                                  for _ in range(4))
    x = random(count, length, width, dtype=dtype)
    target = torch.randint(words, (count, length), dtype=torch.long, device="cuda")
    is_chosen = torch.randint(2, (count,), dtype=torch.bool, device="cuda")
    kl = random(1, dtype=dtype)
    padded = torch.randperm(count * length)[:torch.randint(1, count * length // 2, (1,)).item()]
    target.view(-1)[padded] = ignored
    reference = random(count, length, width, dtype=dtype)
    if row["provider"] == "liger":
        from liger_kernel.chunked_loss import LigerFusedLinearKTOLoss
        fused = LigerFusedLinearKTOLoss(ignore_index=ignored, beta=beta, use_ref_model=True)
        return lambda: fused(
            _input=x, lin_weight=own.weight, target=target, preference_labels=is_chosen,
            bias=own.bias, ref_input=reference, ref_weight=own_reference.weight,
            ref_bias=own_reference.bias, kl=kl)[0], locals()

    def of_policy():
        small = x @ plain.weight.t()
        small = small + plain.bias
        logits = small.float()
        nothing = torch.tensor(0.0, device="cuda")
        each = log_probabilities(logits, target, ignored)
        return (each[is_chosen], each[~is_chosen], logits[is_chosen], logits[~is_chosen], nothing)

    def of_reference():
        with torch.no_grad():
            logits = reference @ plain_reference.weight.t()
            logits = logits + plain_reference.bias
            each = log_probabilities(logits, target, ignored)
            return each[is_chosen], each[~is_chosen]

    def loss():
        chosen, rejected, chosen_logits, rejected_logits, nothing = of_policy()
        reference_chosen, reference_rejected = of_reference()
        good, bad = chosen - reference_chosen, rejected - reference_rejected
        losses = torch.cat((1 - F.sigmoid(beta * (good - kl)), 1 - F.sigmoid(beta * (kl - bad))), 0)
        result = nothing * 1.0 + losses.mean()
        return result, (chosen.detach().sum(), rejected.detach().sum(),
                        chosen_logits.detach().sum(), rejected_logits.detach().sum())
    return lambda: loss()[0], locals()
