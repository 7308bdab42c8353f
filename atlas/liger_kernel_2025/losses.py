# SPDX-License-Identifier: Apache-2.0
"""Losses and layers that the benchmarks of liger-kernel compare, Liger's and PyTorch's."""
import torch
import torch.nn.functional as F
from torch import nn


def jsd(log_q, log_p):
    """Jensen-Shannon divergence as the benchmark of 2024 has it."""
    kl = nn.KLDivLoss(reduction="batchmean", log_target=True)
    middle = 0.5 * (torch.exp(log_q) + torch.exp(log_p))
    log_middle = torch.log(middle)
    return 0.5 * (kl(log_middle, log_q) + kl(log_middle, log_p))


def lerped_jsd(log_q, log_p, reduction):
    """As the later ones have it: the mean is a lerp, and its logarithm is taken twice."""
    kl = nn.KLDivLoss(reduction=reduction, log_target=True)
    log_p, log_q = log_p.float(), log_q.float()
    middle = torch.lerp(torch.exp(log_q), torch.exp(log_p), 0.5)
    if reduction == "none":
        loss = 0.5 * kl(torch.log(middle), log_p).sum(dim=-1) \
            + 0.5 * kl(torch.log(middle), log_q).sum(dim=-1)
        return (loss / log_q.shape[0]).sum()
    return 0.5 * kl(torch.log(middle), log_p) + 0.5 * kl(torch.log(middle), log_q)


def tvd(p, q):
    distance = torch.abs(p - q) / 2.0
    return torch.sum(distance) / p.size(0)


def of_words(row, config):
    """Logits, and the loss as a function of nothing."""
    name, with_liger = row["kernel"], row["provider"] == "liger"
    per_words = "vocab_size" in config
    count, words = (int(row["x"]), config["vocab_size"]) if per_words \
        else (config["B"] * config["T"], int(row["x"]))
    of = F.log_softmax if name == "jsd" else F.softmax
    logits = of(torch.randn(count, words, requires_grad=True, device="cuda"), dim=-1)
    target = of(torch.randn(count, words, device="cuda"), dim=-1)
    if name == "tvd":
        from liger_kernel.transformers.tvd import LigerTVDLoss
        loss = LigerTVDLoss(reduction="batchmean") if with_liger else tvd
    else:
        from liger_kernel.transformers.jsd import LigerJSD
        loss = LigerJSD() if with_liger else jsd
        if per_words and not with_liger:
            return logits, lambda: lerped_jsd(logits, target, "none")
    return logits, lambda: loss(logits, target)


def of_head(row, config, dtype):
    """The loss with the linear layer before it. The layers of both forms are on the GPU; those of
    jsd share their weights."""
    count, width, words = int(row["x"]), config["H"], config["V"]
    with_liger = row["provider"] == "liger"
    if row["kernel"] == "fused_linear_cross_entropy":
        from liger_kernel.transformers.fused_linear_cross_entropy import \
            LigerFusedLinearCrossEntropyLoss
        heads = [nn.Linear(width, words, bias=False, dtype=dtype).cuda() for _ in range(2)]
        x = torch.randn(count, width, requires_grad=True, dtype=dtype, device="cuda")
        target = torch.randint(words, (count, 1), device="cuda").squeeze(1)
        fused, plain = LigerFusedLinearCrossEntropyLoss(), nn.CrossEntropyLoss()

        def of_plain():
            logits = heads[0](x)
            return plain(logits, target)
        return (lambda: fused(heads[1].weight, x, target)) if with_liger else of_plain
    from liger_kernel.transformers.fused_linear_jsd import LigerFusedLinearJSD
    student, teacher = (nn.Linear(width, words, bias=False, dtype=dtype, device="cuda")
                        for _ in range(2))
    x = torch.rand(count, width, requires_grad=True, dtype=dtype, device="cuda")
    y = torch.rand(count, width, dtype=dtype, device="cuda")
    fused = LigerFusedLinearJSD(0.5, 1.0)

    def plain_jsd():
        student_logits, teacher_logits = student(x), teacher(y)
        q = torch.log_softmax(student_logits / 1.0, dim=-1)
        p = torch.log_softmax(teacher_logits / 1.0, dim=-1)
        return lerped_jsd(q, p, "batchmean").to(dtype)
    inputs = x, student.weight, y, teacher.weight
    if row["liger"] != "0.3.1":
        inputs += (None,)  # labels, which came later
    return (lambda: fused(*inputs)) if with_liger else plain_jsd


def sparsemax(x):
    ordered, _ = torch.sort(x, dim=-1, descending=True)
    sums = torch.cumsum(ordered, dim=-1)
    count = torch.arange(1, x.size(-1) + 1, device=x.device, dtype=x.dtype).view(1, -1)
    bound = 1 + count * ordered
    support = bound > sums
    size = support.sum(dim=-1, keepdim=True).clamp(min=1)
    total = (ordered * support).sum(dim=-1, keepdim=True)
    threshold = (total - 1) / size
    return torch.clamp(x - threshold, min=0)


class AddNorm(nn.Module):
    """The sum of x and residual in float32, and its RMSNorm."""

    def __init__(self, width, eps, norm=None):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.norm = norm(width, eps, in_place=False) if norm else None
        self.eps = eps

    def forward(self, x, residual):
        dtype = x.dtype
        x = x.to(torch.float32)
        residual = residual.to(torch.float32)
        x = x + residual
        residual = x
        if self.norm:
            x = self.norm(x)
        else:
            variance = x.pow(2).mean(-1, keepdim=True)
            x = x * torch.rsqrt(variance + self.eps)
        return self.weight * x.to(dtype), residual.to(dtype)
