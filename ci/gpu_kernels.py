# SPDX-License-Identifier: Apache-2.0
"""ci/gpu_kernels.py FILE: times single kernels by CUDA's events, and writes nanoseconds by name;
and how many launches a stream holds. Under `headroom plan` the events are those of the dry run's
clock: the same file, planned."""
import json
import statistics
import sys
import time

import torch
from torch.nn import functional

REPEATS = 20


def time_of(work) -> float:
    """The median, in nanoseconds, behind one call that is not timed."""
    work()
    times = []
    for _ in range(REPEATS):
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record()
        work()
        last.record()
        last.synchronize()
        times.append(1e6 * first.elapsed_time(last))
    return statistics.median(times)


def make(*sizes, dtype=torch.bfloat16):
    return torch.randn(sizes, device="cuda", dtype=dtype)


def kernels():
    """(name, what to call)"""
    for size in (512, 1024, 2048, 4096, 8192):
        for dtype in (torch.bfloat16, torch.float16, torch.float32):
            a, b = make(size, size, dtype=dtype), make(size, size, dtype=dtype)
            yield f"product {size} {dtype}", lambda: a @ b
    for rows, width, inner in ((12608, 4096, 1024), (12608, 1024, 4096), (4096, 128256, 4096),
                               (49152, 3072, 768), (49152, 768, 3072)):
        a, b = make(rows, inner), make(inner, width)
        yield f"product {rows} x {width} x {inner}", lambda: a @ b
    a, b = make(8192, 8192), make(8192, 8192)
    for _ in range(14_000):  # 20 s of an H100: whether it slows down, as its power has a limit
        a @ b
    yield "product 8192 behind 20 s of them", lambda: a @ b
    for count in (2**16, 2**20, 2**24, 2**28):
        a, b = make(count), make(count)
        yield f"add {count}", lambda: torch.add(a, b)
    for rows in (1024, 65536):
        x = make(rows, 1024)
        yield f"layer norm {rows}", lambda: functional.layer_norm(x, (1024,))
        yield f"softmax {rows}", lambda: functional.softmax(x, -1)
        yield f"transposed copy {rows}", lambda: x.t().contiguous()
        yield f"sum of rows {rows}", lambda: x.sum(0)
    for length, causal in ((256, False), (1024, False), (1024, True), (8192, True)):
        q = make(4, 16, length, 64)
        yield (f"attention {length}{' causal' if causal else ''}",
               lambda: functional.scaled_dot_product_attention(q, q, q, is_causal=causal))
    image, filters = make(64, 64, 56, 56), make(64, 64, 3, 3)
    yield "convolution 3 x 3", lambda: functional.conv2d(image, filters, padding=1)
    host = torch.empty(2**28, dtype=torch.uint8, pin_memory=True)
    yield "copy to the device", lambda: host.to("cuda", non_blocking=True)


def launches_before_a_wait() -> int:
    """Behind a kernel of a second. 0: the host never waits, as in a plan."""
    one = make(1)
    torch.cuda.synchronize()
    torch.cuda._sleep(2 * 10**9)  # clocks
    for launches in range(1, 8192):
        begin = time.perf_counter()
        one.add_(1)
        if time.perf_counter() - begin > 0.05:
            return launches
    return 0


def main():
    with torch.no_grad():
        times = {name: time_of(work) for name, work in kernels()}
        launches = launches_before_a_wait()
    with open(sys.argv[1], "w") as file:
        json.dump({"ns": times, "launches_before_a_wait": launches}, file, indent=1)


main()
