#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two nodes of four GPUs each train together: `sbatch examples/slurm_two_nodes.sh [SUITE]`, after
# `ci/build release`, in a folder that both nodes see. Results are written by rank 0, on the first
# node.
#SBATCH --job-name=headroom
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00
set -euo pipefail

suite=${1:-configs/vit_fsdp_4gpu.yaml}

# Slurm says neither. The two ports behind this one are used; jobs on one node need other ones.
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
MASTER_PORT=$((20000 + SLURM_JOB_ID % 10000 * 3))
export MASTER_ADDR MASTER_PORT

# --kill-on-bad-exit: where one of them ends badly, none waits for it.
srun --kill-on-bad-exit=1 build/release/headroom run "$suite" --ranks "$SLURM_NTASKS" \
  --out "out/slurm-$SLURM_JOB_ID"
