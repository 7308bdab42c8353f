# SPDX-License-Identifier: Apache-2.0
"""What a program sends to the device, makes there of small tensors and reads back is what it would
be on a GPU: by such values programs steer. The same for every PyTorch since 2.1."""
import torch
import torch.distributed as dist
from torch.distributions import MultivariateNormal, Normal

FIRST, SECOND = (3, 1, 4, 1, 5, 9, 2, 6), (2, 7, 1, 8, 2, 8, 1, 8)
INTEGERS = (torch.int64, torch.int32)
ALL = (*INTEGERS, torch.float32, torch.float64, torch.float16, torch.bool)


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
    for dtype in ALL:
        made[f"equal {dtype}"] = tensor(FIRST, dtype) == tensor(SECOND, dtype)
    for dtype in (*INTEGERS, torch.float32, torch.float64):
        made[f"equals a number {dtype}"] = tensor(FIRST, dtype) == 1
        made[f"is another number {dtype}"] = tensor(FIRST, dtype) != 1
    return made


def check_values():
    on_host = made_on("cpu")
    for name, value in made_on("cuda").items():
        assert torch.equal(value.cpu(), on_host[name]), (name, value.cpu(), on_host[name])


def check_objects():
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
    sent = [{"words": list(range(300))}, "text"]
    heard, of_all = list(sent), [None]
    dist.broadcast_object_list(heard, src=0)
    dist.all_gather_object(of_all, sent)
    assert heard == sent and of_all == [sent]
    dist.destroy_process_group()


check_values()
check_objects()
# They check what they are given, and refuse what is not valid.
Normal(torch.zeros(96, device="cuda"), torch.ones(96, device="cuda"))
MultivariateNormal(torch.zeros(96, device="cuda"), torch.eye(96, device="cuda"))

print("allocated", torch.cuda.max_memory_allocated())
print("reserved", torch.cuda.max_memory_reserved())
