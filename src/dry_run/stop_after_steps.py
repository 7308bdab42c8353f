# SPDX-License-Identifier: Apache-2.0
"""Ends a program of PyTorch after so many steps of its optimizers, as sys.exit() would. Run by the
dry run in the program."""
import collections
import os
import sys

MOST = int(os.environ["HEADROOM_DRY_RUN_STEPS"])
steps = collections.Counter()


def after_step(optimizer, arguments, options):
    steps[id(optimizer)] += 1
    # Optimizers in turns end together; one that steps more seldom than others keeps none going.
    if min(steps.values()) >= MOST or max(steps.values()) > MOST:
        sys.exit(0)


def begin():
    from torch.optim import optimizer
    optimizer.register_optimizer_step_post_hook(after_step)


once_initialized(begin)
