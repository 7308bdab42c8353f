# SPDX-License-Identifier: Apache-2.0
"""The pattern of allocations of github.com/pytorch/pytorch/pull/193400 (issue 123548): each cycle
allocates 91 and 45.5 MiB, then 2 MiB that stay, and frees the two; 64 MiB stay throughout. Prints
what is allocated and reserved, in MiB, after every twentieth."""
import torch

MIB = 1 << 20


def block(size):
    return torch.empty(int(size * MIB), dtype=torch.uint8, device="cuda")


kept = [block(64)]
for cycle in range(101):
    large, small = block(91), block(45.5)
    kept.append(block(2))
    del large, small
    if cycle % 20 == 0:
        print(f"cycle {cycle}", torch.cuda.memory_allocated() // MIB,
              torch.cuda.memory_reserved() // MIB, flush=True)
