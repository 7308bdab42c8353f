# SPDX-License-Identifier: Apache-2.0
"""Mixtures of experts that ask on the host how many tokens go to whom, each as a package does. A
plan loads experts evenly."""
import torch
from torch import nn
from torch.nn.functional import one_hot

TOKENS, EXPERTS, CHOSEN, WIDTH = 4096, 8, 2, 256
EACH = TOKENS * CHOSEN // EXPERTS


def by_one_hot(experts, x, chosen):
    """transformers: tokens by a mask for each expert that any token goes to."""
    masks = one_hot(chosen, num_classes=EXPERTS).permute(2, 1, 0)
    hit = torch.greater(masks.sum(dim=(-1, -2)), 0).nonzero()
    assert hit.shape == (EXPERTS, 1), hit.shape
    for expert in hit.flatten():
        _, tokens = torch.where(masks[expert])
        yield experts[expert], x[tokens]


def by_number(experts, x, chosen):
    """Mistral's reference: tokens whose choice is the expert's number."""
    for number, expert in enumerate(experts):
        tokens, _ = torch.where(chosen == number)
        yield expert, x[tokens]


def by_comparison(experts, x, chosen):
    """The same of all experts at once."""
    masks = chosen[..., None] == torch.arange(EXPERTS, device="cuda")
    for number, expert in enumerate(experts):
        tokens, _ = torch.where(masks[..., number])
        yield expert, x[tokens]


def by_counts(experts, x, chosen):
    """DeepSeek's own code: tokens in the order of experts, cut by how many each has."""
    counts = chosen.new_zeros((TOKENS, EXPERTS)).scatter_(1, chosen, 1).sum(dim=0)
    order = chosen.view(-1).argsort()
    yield from zip(experts, x[order // CHOSEN].split(counts.tolist()))


def by_histogram(experts, x, chosen):
    """torchtitan and torchtune: the same by a histogram; Megatron by a map of bools."""
    counts = torch.histc(chosen.view(-1), bins=EXPERTS, min=0, max=EXPERTS)
    assert torch.bincount(chosen.view(-1), minlength=EXPERTS).tolist() == counts.tolist()
    sent = torch.zeros(TOKENS, EXPERTS, device="cuda").int().scatter(1, chosen, 1).bool()
    assert sent.sum(dim=0).tolist() == counts.tolist()
    everywhere = torch.arange(TOKENS, device="cuda").expand(EXPERTS, -1)
    order = everywhere.masked_select(sent.T.contiguous())
    yield from zip(experts, x[order].split(counts.tolist()))


def by_ends(experts, x, chosen):
    """transformers, where PyTorch has no grouped product: rows up to where each expert's end."""
    numbers, order = torch.sort(chosen.view(-1))
    counts = torch.histc(numbers.int(), bins=EXPERTS, min=0, max=EXPERTS - 1)
    begin = 0
    for expert, end in zip(experts, torch.cumsum(counts, dim=0, dtype=torch.int32).tolist()):
        yield expert, x[order // CHOSEN][begin:end]
        begin = end


router = nn.Linear(WIDTH, EXPERTS).cuda()
experts = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(EXPERTS)).cuda()
for route in (by_one_hot, by_number, by_comparison, by_counts, by_histogram, by_ends):
    x = torch.randn(TOKENS, WIDTH, device="cuda")
    _, chosen = router(x).softmax(dim=-1).topk(CHOSEN, dim=-1)
    parts = [(expert(part), len(part)) for expert, part in route(experts, x, chosen)]
    assert [count for _, count in parts] == [EACH] * EXPERTS, (route, [c for _, c in parts])
    sum(part.sum() for part, _ in parts).backward()
print("allocated", torch.cuda.max_memory_allocated())
print("reserved", torch.cuda.max_memory_reserved())

# Where they can't all get as many, there are as many in all.
scores = torch.erf(torch.randn(91, EXPERTS, device="cuda"))  # which a plan does not compute
few = scores.topk(CHOSEN, 1)[1]
counts = torch.zeros(91, EXPERTS, device="cuda").scatter(1, few, 1).long().sum(0)
assert counts.sum() == 91 * CHOSEN and counts.max() - counts.min() == 1, counts
