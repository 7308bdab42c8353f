# SPDX-License-Identifier: Apache-2.0
"""Distillation and GRPO, as heads.py has the other losses."""
import torch
import torch.nn.functional as F

from heads import cross_entropy, head, random


def divergence(student, teacher):
    log_student, log_teacher = F.log_softmax(student, dim=-1), F.log_softmax(teacher, dim=-1)
    middle = 0.5 * log_student.exp() + (1 - 0.5) * log_teacher.exp()
    log_middle = middle.log()
    of_student, of_teacher = (F.kl_div(log_middle, one, reduction="batchmean", log_target=True)
                              for one in (log_student, log_teacher))
    return 0.5 * of_teacher + (1 - 0.5) * of_student


def cosine(student, teacher):
    student, teacher = F.normalize(student, p=2, dim=-1), F.normalize(teacher, p=2, dim=-1)
    return (1.0 * (1 - F.cosine_similarity(student, teacher, dim=-1))).mean()


def of_distillation(row, config, dtype):
    """The student is half as wide as the teacher, whose logits need no gradient."""
    count, width, words = int(row["x"]), config["H"], config["V"]
    plain, plain_teacher, own, own_teacher = (head(one, words, dtype)
                                              for one in (width // 2, width) * 2)
    drawn = torch.rand(count, width // 2, device="cuda", dtype=dtype)
    x, same = (drawn.detach().clone().requires_grad_(True) for _ in range(2))
    y = torch.rand(count, width, device="cuda", dtype=dtype)
    target = torch.randint(0, words, (count,), device="cuda", dtype=torch.long)
    is_cosine = row["kernel"] == "distill_cosine_loss"
    if row["provider"] == "liger":
        if is_cosine:
            from liger_kernel.chunked_loss.cosine_similarity_loss import \
                LigerFusedLinearCosineSimilarityFunction as Fused
        else:
            from liger_kernel.chunked_loss.jsd_loss import LigerFusedLinearJSDFunction as Fused
        between = (own.bias, own_teacher.bias) if is_cosine else ()
        return lambda: Fused.apply(x, own.weight, y, own_teacher.weight, target, *between,
                                   0.5, 0.5), locals()

    def logits_of():
        small = same @ plain.weight.t()
        with torch.no_grad():
            small_teacher = y @ plain_teacher.weight.t()
        student, teacher = small.view(count, -1).float(), small_teacher.view(count, -1).float()
        assert not torch.all(target == -100)
        return student, teacher, cross_entropy(student, target)

    def loss():
        student, teacher, hard = logits_of()
        student /= 1.0
        teacher /= 1.0
        soft = (cosine if is_cosine else divergence)(student, teacher)
        return 0.5 * hard + 0.5 * soft
    return loss, locals()


def of_grpo(row, config, dtype):
    """The policy is its own predecessor: ratios are 1, and have a gradient."""
    count, length, width, words = int(row["x"]), config["T"], config["H"], config["V"]
    level = config["importance_sampling_level"]
    plain, plain_reference, own, own_reference = (head(width, words, dtype) for _ in range(4))
    x = random(count, length, width, dtype=dtype, needs_gradient=True)
    chosen = torch.randint(0, words, (count, length), dtype=torch.long, device="cuda")
    mask = torch.ones(count, length, device="cuda")
    advantages = random(count, dtype=dtype)
    reference = random(count, length, width, dtype=dtype)
    if row["provider"] != "torch":
        from liger_kernel.chunked_loss import LigerFusedLinearGRPOLoss
        fused = LigerFusedLinearGRPOLoss(
            beta=0.1, epsilon_low=0.2, epsilon_high=0.2, temperature=1.0, use_ref_model=True,
            compiled=True, loss_type="bnpo", importance_sampling_level=level)
        return lambda: fused(x, own.weight, chosen, mask, advantages, None, None, None, reference,
                             own_reference.weight, None)[0], locals()

    def mean(of_token):
        return (of_token * mask).sum() / torch.clamp(mask.sum(), min=1.0)

    def loss():
        logits = x @ plain.weight.t()
        logps = F.log_softmax(logits.float(), dim=-1)
        each = logps.gather(dim=-1, index=chosen.unsqueeze(-1)).squeeze(-1)
        with torch.no_grad():
            reference_logits = reference @ plain_reference.weight.t()
            reference_logps = F.log_softmax(reference_logits.float(), dim=-1)
            of_reference = reference_logps.gather(dim=-1, index=chosen.unsqueeze(-1)).squeeze(-1)
        weights = each - each.detach()
        if level == "sequence":
            weights = (weights * mask).sum(-1) / mask.sum(-1).clamp(min=1.0)
            weights = weights.unsqueeze(-1)
        ratio = torch.exp(weights)
        clipped = torch.clamp(ratio, 1 - 0.2, 1 + 0.2)
        of_token = -torch.min(ratio * advantages.unsqueeze(1), clipped * advantages.unsqueeze(1))
        change = of_reference.float() - each
        divergence = torch.exp(change) - change - 1.0
        of_token = of_token + 0.1 * divergence
        return mean(of_token), mean(divergence)
    return lambda: loss()[0], locals()
