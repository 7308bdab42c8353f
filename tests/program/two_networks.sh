#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a program as two ranks, as srun would, in two networks that one cable joins: 10.9.0.1, which
# is rank 0's, and 10.9.0.2. Within `unshare --net`. Exit code 77: no second network can be made.
#
#     unshare --net tests/program/two_networks.sh PROGRAM ARGUMENTS
set -u
ip link set lo up || exit 77
unshare --net sleep 300 &
other=$!
trap 'kill $other' EXIT
while [ "$(readlink /proc/$other/ns/net)" = "$(readlink /proc/$$/ns/net)" ]; do sleep 0.01; done
in_other="nsenter --target $other --net"
ip link add here type veth peer name there netns $other &&
  ip addr add 10.9.0.1/24 dev here && ip link set here up &&
  $in_other ip link set lo up &&
  $in_other ip addr add 10.9.0.2/24 dev there && $in_other ip link set there up || exit 77

export MASTER_ADDR=10.9.0.1 MASTER_PORT=29500 SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=0
SLURM_PROCID=1 $in_other "$@" &
agent=$!
SLURM_PROCID=0 "$@"
code=$?
wait $agent || code=$?
exit $code
