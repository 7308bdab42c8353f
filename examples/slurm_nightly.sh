#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures this checkout beside a baseline on one GPU of a cluster: `sbatch examples/slurm_nightly.sh
# [SUITE...]`, in a checkout that the node sees; each night by a line of `scrontab -e`:
#
#   17 2 * * * cd ~/headroom && git pull --quiet && sbatch --wait examples/slurm_nightly.sh
#
# The job fails where something got worse. The last commit that did not is the next baseline.
#SBATCH --job-name=headroom-nightly
#SBATCH --nodes=1
#SBATCH --gpus=1
#SBATCH --exclusive
#SBATCH --time=06:00:00
set -euo pipefail

readonly kept=out/nightly # what the next night needs; and each night its own folder
suites=("$@")
((${#suites[@]})) || suites=(configs/quickstart.yaml configs/bert_large_v100.yaml)

mkdir -p $kept
baseline=$(cat $kept/baseline 2>/dev/null || git rev-parse HEAD^)
ci/nightly --baseline "$baseline" --history $kept/history.jsonl \
  --out "$kept/$SLURM_JOB_ID" "${suites[@]}"
git rev-parse HEAD >$kept/baseline
