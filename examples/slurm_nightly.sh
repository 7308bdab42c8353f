#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures this checkout beside its baseline on one GPU of a cluster: `sbatch examples/slurm_nightly.sh
# [SUITE...]`, in a checkout that the node sees; each night by a line of `scrontab -e`:
#
#   17 2 * * * cd ~/headroom && git pull --quiet && sbatch --wait examples/slurm_nightly.sh
#
# The job fails where something got worse than at the commit that ci/baseline names.
#SBATCH --job-name=headroom-nightly
#SBATCH --nodes=1
#SBATCH --gpus=1
#SBATCH --exclusive
#SBATCH --time=06:00:00
set -euo pipefail

readonly nights=out/nights
suites=("$@")
((${#suites[@]})) || suites=(configs/quickstart.yaml configs/bert_large_v100.yaml)

mkdir -p $nights
ci/nightly --history $nights/history.jsonl --out "$nights/$SLURM_JOB_ID" "${suites[@]}"
