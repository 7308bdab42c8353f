# SPDX-License-Identifier: Apache-2.0
"""Ranks of FSDP, as accelerate launch starts them."""
import os

# What accelerate launch tells its processes, by the benchmark's file and by its own defaults.
SETTINGS = {
    "ACCELERATE_USE_FSDP": "true", "ACCELERATE_MIXED_PRECISION": "no",
    "FSDP_SHARDING_STRATEGY": "1", "FSDP_OFFLOAD_PARAMS": "false", "FSDP_FORWARD_PREFETCH": "false",
    "FSDP_AUTO_WRAP_POLICY": "TRANSFORMER_BASED_WRAP", "FSDP_BACKWARD_PREFETCH": "BACKWARD_PRE",
    "FSDP_STATE_DICT_TYPE": "SHARDED_STATE_DICT", "FSDP_USE_ORIG_PARAMS": "true",
    "FSDP_CPU_RAM_EFFICIENT_LOADING": "true", "FSDP_SYNC_MODULE_STATES": "true",
    "FSDP_ACTIVATION_CHECKPOINTING": "false", "FSDP_MIN_NUM_PARAMS": "100000000",
}


def in_each_rank(count: int, work) -> None:
    """The calling process is the first rank."""
    os.environ.update(SETTINGS, WORLD_SIZE=str(count), LOCAL_WORLD_SIZE=str(count),
                      MASTER_ADDR="127.0.0.1", MASTER_PORT=str(20000 + os.getpid() % 20000))
    rank, others = 0, []
    for other in range(1, count):
        others.append(os.fork())
        if others[-1] == 0:
            rank, others = other, []
            break
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank))
    work()
    for other in others:
        os.waitpid(other, 0)
