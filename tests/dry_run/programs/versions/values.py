# SPDX-License-Identifier: Apache-2.0
"""What a program sends to the device, makes there of small tensors and reads back is what it would
be on a GPU: by such values programs steer. The same for every PyTorch since 2.1."""
import torch
import torch.distributed as dist
from torch.distributions import Categorical, MultivariateNormal, Normal

from results import (computed_on, found_on, indexed_on, measured_on, sorted_on, spread_on,
                     written_on)

FIRST, SECOND = (3, 1, 4, 1, 5, 9, 2, 6), (2, 7, 1, 8, 2, 8, 1, 8)
INTEGERS = (torch.int64, torch.int32)
ALL = (*INTEGERS, torch.float32, torch.float64, torch.float16, torch.bool)
NARROW = (torch.uint8, torch.int8, torch.int16)


def unknown(*shape, dtype=torch.float32) -> torch.Tensor:
    """On the device, which a plan does not compute."""
    return torch.erf(torch.randn(shape, device="cuda")).to(dtype)


def made_on(device: str) -> dict:
    """Tensors by what they are; those of a device and of the host must agree."""
    def tensor(values, dtype=torch.int64):
        return torch.tensor(values, dtype=dtype).to(device)

    first, second = tensor(FIRST), tensor(SECOND)
    same = first == second
    made = {
        "sent": first,
        "zeros": torch.zeros(5, device=device),
        "true": torch.ones(5, dtype=torch.bool, device=device),
        "full": torch.full((7,), 1.5, dtype=torch.float16, device=device),
        "number added": first + 5,
        "added": torch.add(first, second, alpha=2),
        "sum": first.sum(),
        "largest": first.max(),
        "largest of int32": first.int().max(),
        "smallest in rows of int32": first.int().view(2, 4).amin(1),
        "sums so far": first.cumsum(0),
        "sums so far in int32": first.cumsum(0, dtype=torch.int32),
        "sums so far of rows": first.view(2, 4).cumsum(1),
        "sums so far of columns": first.view(2, 2, 2).cumsum(1),
        "how many so far": same.cumsum(0),
        "turned around": first.flip(0),
        "some turned around": tensor(FIRST, torch.int32)[1:6].flip(0),
        "rows turned around": first.view(2, 4).flip(0, 1),
        "columns turned around": first.view(2, 4).flip(1),
        "joined": torch.cat((first[:3], second)),
        "joined in rows": torch.cat((first.view(2, 4), second.view(2, 4)[:, :3]), 1),
        "joined in long rows": torch.cat((first.view(2, 4), second.view(2, 4)), 1),
        "joined of turned": torch.cat((first.view(2, 4).t(), second.view(2, 4).t()), 1),
        "joined in a middle": torch.cat((same.view(2, 2, 2), ~same.view(2, 2, 2)), 1),
        "stacked": torch.stack((first, second, first), 1),
        "some differ": same.all(),
        "none differs": (first == first).all(),
        "both hold": same & (first == first),
        "one does not": (tensor(3) == 3).all() & (tensor(4) == 5).all(),
        "not": ~same,
        "how many are the same": same.sum(),
        "whether none is masked": torch.ones(2, 8192, device=device).bool().sum() == 16384,
        "converted": tensor((2.75, -3.5, 0), torch.float32).long(),
        "widened": first.float().double(),
        "range": torch.arange(3, 40, 2, device=device),
        "range of int32": torch.arange(9, dtype=torch.int32, device=device),
        "range of doubles": torch.arange(0, 2, 0.25, dtype=torch.float64, device=device),
        "rates": torch.linspace(0, 0.5, 9, device=device),  # which float32 has exactly
    }
    made |= computed_on(device)
    made |= found_on(device)
    if not torch.__version__.startswith("2.1."):
        made |= spread_on(device)
    for dtype in ALL:
        made[f"equal {dtype}"] = tensor(FIRST, dtype) == tensor(SECOND, dtype)
    for dtype in (*INTEGERS, *NARROW, torch.float32, torch.float64, torch.float16, torch.bfloat16):
        made[f"at least a number {dtype}"] = tensor(FIRST, dtype) >= 4
        made[f"less {dtype}"] = tensor(FIRST, dtype) < tensor(SECOND, dtype)
    for dtype in NARROW:
        made[f"computed {dtype}"] = tensor(FIRST, dtype) * 3 + tensor(SECOND, dtype) - 2
        made[f"largest {dtype}"] = tensor(FIRST, dtype).max()
        made[f"one of each {dtype}"] = torch.unique(tensor(FIRST, dtype))
    for dtype in (*INTEGERS, torch.float32, torch.float64):
        made[f"equals a number {dtype}"] = tensor(FIRST, dtype) == 1
        made[f"is another number {dtype}"] = tensor(FIRST, dtype) != 1
    return made


def check_alike(made):
    on_host = made("cpu")
    for name, value in made("cuda").items():
        assert torch.equal(value.cpu(), on_host[name]), (name, value.cpu(), on_host[name])


def check_objects():
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
    sent = [{"words": list(range(300))}, "text"]
    heard, of_all = list(sent), [None]
    dist.broadcast_object_list(heard, src=0)
    dist.all_gather_object(of_all, sent)
    assert heard == sent and of_all == [sent]
    dist.destroy_process_group()


def check_what_nobody_computed():
    """A loss is finite, and of a mask all is kept."""
    loss, scores = unknown(), unknown(100)
    assert torch.isfinite(loss) and not torch.isnan(loss)
    assert (scores > 0).all() and (scores[:1] > 0).all()
    assert not (scores > 0).any() and (scores[:1] > 0).any() and not scores[0] < 0
    assert scores[0] > 1e-10 and not scores[0] > 5 and len(scores[:1][scores[:1] > 5]) == 1
    assert 1 / scores.sum().item() == 1  # as programs divide by norms
    assert len(scores[scores > 0]) == 100 and len(torch.unique(scores)) == 1
    assert len(torch.unique(scores.half())) == 1
    check_what_is_distinct()
    check_what_is_drawn()
    check_what_others_leave()
    tokens, ends = unknown(4, 6, dtype=torch.int64), torch.tensor([1, 2]).cuda()
    if not torch.__version__.startswith("2.1."):
        assert not torch.isin(tokens, ends).all()  # so that texts go on
    likely = [each.softmax(-1).tolist() for each in (unknown(2, 4), unknown(3).double())]
    assert likely == [[[0.25] * 4] * 2, [1 / 3] * 3]  # so that a host can draw by them
    begins = (unknown(64, dtype=torch.int64) != 1).cumsum(0)
    assert (begins == 0).all()  # so that texts are not packed


def check_what_others_leave():
    """Kernels that nobody follows may write anywhere. What was sent counts, and is no guess."""
    mask = torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0]]).cuda()
    ones = torch.ones(7, dtype=torch.int64, device="cuda")
    torch.randn(100, device="cuda").kthvalue(3)
    assert ones.cumsum(0).tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert ones.float().long().cumsum(0).tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert mask.sum(-1, dtype=torch.int32).max() == 3
    # Adam counts its steps so below torch.set_default_device("cuda").
    # Newer versions lay lists out in another way, which is not followed.
    steps = [torch.zeros((), device="cuda") for _ in range(200)]
    torch._foreach_add_(steps, 1)
    if int(torch.__version__.split(".")[1]) < 12:
        assert steps[0].item() == 1 and steps[-1].item() == 1
    assert ((mask > 0) & (mask < 2)).tolist() == [[True] * 3 + [False], [True] * 2 + [False] * 2]
    if not torch.__version__.startswith("2.1."):
        assert torch.eye(3, device="cuda").bool().nonzero().tolist() == [[0, 0], [1, 1], [2, 2]]
        table = torch.zeros(2, 6, dtype=torch.int64, device="cuda")
        table[:, :2] = 9
        table[:, 3] = torch.tensor([4, 5]).cuda()
        assert table.tolist() == [[9, 9, 0, 4, 0, 0], [9, 9, 0, 5, 0, 0]]


def check_what_is_drawn():
    """Deviations that nobody computed are valid, however many there are."""
    for shape in ((), (1, 1), (8, 3)):
        for dtype in (torch.float32, torch.bfloat16):
            deviations = unknown(*shape, dtype=dtype).exp()
            Normal(torch.zeros_like(deviations), deviations).sample()
            torch.nn.functional.gaussian_nll_loss(deviations, deviations, deviations)
    # It asks whether the windows leave a gap, which is an error.
    window = torch.hann_window(64, device="cuda")
    spectrum = torch.stft(unknown(640), 64, window=window, return_complex=True)
    assert torch.istft(spectrum, 64, window=window).shape == (640,)
    Categorical(logits=unknown(1, 2)).log_prob(unknown(1, dtype=torch.int64))  # which is checked
    assert unknown(9).clamp(min=2).ceil().long().sum() == 18  # so that sizes are
    assert unknown(9).sum() != 0  # as weights are checked


def check_what_is_distinct():
    """Rows, and the places of a sparse tensor, of which nobody knows better."""
    places, rows = unknown(2, 3000, dtype=torch.int64), unknown(3000, 3)
    sparse = torch.sparse_coo_tensor(places, torch.ones(3000, device="cuda"), (50, 50))
    assert sparse.coalesce()._nnz() == 3000
    assert len(torch.unique(rows, dim=0)) == len(torch.unique(rows, dim=0, return_counts=True)[1])
    assert len(torch.unique(rows, dim=0)) == 3000


def check_what_an_index_says():
    if torch.__version__.startswith("2.1."):
        return  # elements that lie apart are not followed there
    check_alike(indexed_on)
    check_alike(written_on)
    check_alike(sorted_on)
    # Where something was added that nobody knows, zeros do not stay.
    places, sums = unknown(9, dtype=torch.int64), torch.zeros(4, device="cuda")
    sums.scatter_add_(0, places, torch.ones(9, device="cuda"))
    assert len(sums.nonzero()) == 4
    # Samplers of detectors choose by chance, and know how many.
    masks = [torch.zeros(1000, dtype=torch.uint8, device="cuda") for _ in range(2)]
    for mask, count in zip(masks, (30, 50)):
        mask[unknown(count, dtype=torch.int64)] = 1
    assert len(torch.where(masks[0] | masks[1])[0]) == 80
    assert len(torch.where(torch.cat(masks))[0]) == 80
    masks[1] = torch.zeros_like(masks[0])
    masks[1][torch.tensor([5, 9, 700], device="cuda")] = 1
    assert len(torch.where(masks[0] | masks[1])[0]) == 33
    assert len(torch.where(torch.cat(masks))[0]) == 33
    assert unknown(5).argsort().tolist() == [0, 1, 2, 3, 4]  # valid places
    lengths, order = torch.tensor([3, 5, 2]).cuda().sort(descending=True)
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        torch.randn(3, 5, 4, device="cuda")[order], lengths.cpu(), batch_first=True)
    assert packed.batch_sizes.tolist() == [3, 3, 2, 1, 1]


def check_what_is_random():
    """What GPUs draw, of a generator that begins anew."""
    def is_near(numbers, expected):
        torch.testing.assert_close(numbers.cpu(), torch.tensor(expected), rtol=1e-4, atol=1e-4)

    torch.manual_seed(0)
    is_near(torch.rand(5, device="cuda"), [0.3990, 0.5167, 0.0249, 0.9401, 0.9459])
    torch.manual_seed(0)
    is_near(torch.randn(5, device="cuda"), [-0.9247, -0.4253, -2.6438, 0.1452, -0.1209])
    # As others' GPUs drew them: issues 79496 and 158398 of pytorch/pytorch.
    torch.manual_seed(10)
    is_near(torch.randn(3, device="cuda"), [-0.1029, 1.6810, -0.2708])
    torch.manual_seed(42)
    is_near(torch.randn(3, device="cuda"), [0.1940, 2.1614, -0.1721])
    assert sorted(torch.randperm(50, device="cuda").tolist()) == list(range(50))
    kept = torch.rand(1000, device="cuda") < 0.8
    halves = [len(torch.ones(1000, device="cuda")[each]) for each in (kept, ~kept)]
    assert 750 < halves[0] < 850 and sum(halves) == 1000
    dice = torch.randint(1, 7, (600,), device="cuda")
    assert torch.unique(dice).tolist() == [1, 2, 3, 4, 5, 6]
    assert (torch.empty(9, dtype=torch.float64, device="cuda").uniform_(2, 3) >= 2).all()
    while not torch.empty(2, 2, device="cuda").bernoulli_(0.3).bool().all():
        pass


check_alike(made_on)
check_alike(measured_on)
check_what_is_random()
check_what_nobody_computed()
check_what_an_index_says()
check_objects()
# They check what they are given, and refuse what is not valid.
Normal(torch.zeros(96, device="cuda"), torch.ones(96, device="cuda"))
MultivariateNormal(torch.zeros(96, device="cuda"), torch.eye(96, device="cuda"))

print("allocated", torch.cuda.max_memory_allocated())
print("reserved", torch.cuda.max_memory_reserved())
