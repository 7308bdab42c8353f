# SPDX-License-Identifier: Apache-2.0
"""measure.py memory|times OUT [KERNELS]: trains the rows of rows.csv on this machine's GPU.

memory   each row in a process of its own, several at once: peaks, and NVML's bytes of the process
times    one after the other in one process: times of steps; and into the file KERNELS the time of
         each kernel of one more step, by PyTorch's profiler

OUT gets a line of JSON for each row, as soon as it is there.
"""
import collections
import csv
import gc
import json
import os
import subprocess
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

WORDS = ("model", "batch", "precision", "optimizer", "options")
AT_ONCE = 5  # whose memory has room for
SECONDS = 90  # a row in a process of its own


def train_here(row):
    """Of train.py, and what NVML says of this process while its context is there."""
    import pynvml
    import train
    sys.argv[1:] = row
    train.main()
    pynvml.nvmlInit()
    processes = pynvml.nvmlDeviceGetComputeRunningProcesses(pynvml.nvmlDeviceGetHandleByIndex(0))
    used = [process.usedGpuMemory for process in processes if process.pid == os.getpid()]
    print(json.dumps({"driver": used[0] if used else None, "processes": len(processes)}))


def measure_memory(row):
    begin = time.monotonic()
    try:
        ended = subprocess.run([sys.executable, __file__, "row", *row], text=True,
                               capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return {"error": f"longer than {SECONDS} s"}
    found = {"seconds": time.monotonic() - begin}
    for line in ended.stdout.splitlines():
        if line.startswith("{"):
            found |= json.loads(line)
    return found if ended.returncode == 0 else found | {"error": ended.stderr[-1500:]}


def kernels_of(training, torch):
    """By name: how often in a step, and microseconds of all."""
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        training.step()
        torch.cuda.synchronize()
    found = collections.defaultdict(lambda: [0, 0.0])
    host = [0, 0.0]
    for event in profiler.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            found[event.name][0] += 1
            found[event.name][1] += event.device_time
        elif event.name.startswith(("cudaLaunchKernel", "cuLaunchKernel")):
            host[0] += 1
            host[1] += event.cpu_time
    return {"kernels": dict(found), "launches": host}


def measure_times(row):
    import torch
    import train
    gc.collect()
    torch.cuda.empty_cache()
    begin = time.monotonic()
    training = train.Training(*row)
    times = training.times(train.WARMUP)  # warms up
    torch.cuda.synchronize()
    first = time.monotonic()
    training.step()
    torch.cuda.synchronize()
    alone = time.monotonic() - first  # host and GPU, from nothing queued
    first = time.monotonic()
    training.step()
    host = time.monotonic() - first
    torch.cuda.synchronize()
    times = training.times(train.STEPS)
    found = {"times_s": times, "alone_s": alone, "host_s": host}
    if len(sys.argv) > 3:
        with open(sys.argv[3], "a") as file:
            print(json.dumps({"row": row} | kernels_of(training, torch)), file=file)
    return found | {"seconds": time.monotonic() - begin}


def tried(measure, row):
    try:
        return measure(row)
    except Exception:  # the next row goes on
        return {"error": traceback.format_exc()[-1500:]}


def main():
    what, out = sys.argv[1:3]
    with open(Path(__file__).with_name("rows.csv"), newline="") as lines:
        rows = [[row[column] for column in WORDS] for row in csv.DictReader(lines)]
    with open(out, "a") as file:
        def keep(row, found):
            print(json.dumps({"row": row} | found), file=file, flush=True)
        if what == "times":
            for row in rows:
                keep(row, tried(measure_times, row))
            return
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = pool.map(lambda row: tried(measure_memory, row), rows)
            for row, of_row in zip(rows, found):
                keep(row, of_row)


if __name__ == "__main__":
    if sys.argv[1] == "row":  # of measure_memory()
        train_here(sys.argv[2:])
    else:
        main()
