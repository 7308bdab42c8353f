#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plans a suite on many machines of a cluster: `sbatch examples/slurm_shards.sh SUITE`, in a checkout
# that the nodes see. Behind the last one the results are one folder:
#
#   ./headroom merge out/shards/JOB --out out/merged
#
# Killed or cut off, a shard goes on with `--resume`: send the same array again with SHARDS_OF=JOB.
# `run` in the place of `plan` measures: then ask for a GPU and --exclusive, and nodes that are alike.
#SBATCH --job-name=headroom-shards
#SBATCH --array=1-8
#SBATCH --cpus-per-task=4
#SBATCH --mem-per-cpu=2G
#SBATCH --time=02:00:00
set -euo pipefail

readonly out=out/shards/${SHARDS_OF:-$SLURM_ARRAY_JOB_ID}/$SLURM_ARRAY_TASK_ID
./headroom plan "$1" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
  --jobs "$SLURM_CPUS_PER_TASK" --out "$out" ${SHARDS_OF:+--resume}
